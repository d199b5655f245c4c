"""Probabilities on demand, and what a model is worth: the cross-validation behind both."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tordinal.calibration import (
    Calibration,
    agree_with,
    fit_calibration,
    identity_calibration,
)
from tordinal.distances import Matrix
from tordinal.fitting import Recipe, held_out
from tordinal.kernels import Kernel, Precomputed
from tordinal.losses import Logistic
from tordinal.metrics import mean_absolute_error, mean_zero_one_error
from tordinal.model_selection import content_folds, take
from tordinal.reduction import UNLABELED, Ranks

__all__ = ["Calibrator", "Evidence"]

Array = NDArray[np.float64]
Index = NDArray[np.int64]

N_SPLITS = 5
MOST_LABELED, MOST_UNLABELED = 5000, 2000  # rows that take part


@dataclass(frozen=True)
class Evidence:
    """What models say of labelled rows whose labels they had not seen.

    Attributes
    ----------
    rows : ndarray
        The rows, by their position among the training rows.
    ranks : ndarray of shape (len(rows),)
        The ranks they were given.
    probability : ndarray of shape (len(rows), n_classes)
        Probabilities of the classes.
    errors : dict of str to (float, float)
        Zero-one and absolute error by model: "this model", "supervised", "transductive".
    spread : dict of str to float
        Standard deviation of the distances behind each absolute error.
    verdict : str
        Whether unlabelled rows helped, in one line.
    """

    rows: Index
    ranks: Ranks
    probability: Array
    errors: dict[str, tuple[float, float]]
    spread: dict[str, float]
    verdict: str


class Calibrator:
    """Holds what the cross-validation of a fit needs, until it is asked for; then what came of it.

    Rows are copied: what becomes of the user's own after the fit does not matter.
    """

    def __init__(
        self,
        recipe: Recipe,
        kernel: Kernel,
        X: Matrix,
        rank: Ranks,
        weight: Array,
        n_classes: int,
        *,
        transductive: bool,
    ):
        self.n_classes = n_classes
        self.own_probabilities = isinstance(recipe.loss, Logistic)
        self._calibration: Calibration | None = None
        self._setup: Any = (recipe, kernel, transductive and bool((rank == UNLABELED).any()))
        rank = np.where(weight > 0, rank, UNLABELED)
        labeled, unlabeled = np.flatnonzero(rank != UNLABELED), np.flatnonzero(rank == UNLABELED)
        # Evenly spread, so that the choice does not depend on chance.
        rows = np.concatenate(
            [_spread(labeled, MOST_LABELED), _spread(unlabeled, MOST_UNLABELED)[: len(unlabeled)]]
        )
        rows = np.sort(rows if self._setup[2] else _spread(labeled, MOST_LABELED))
        pairwise = isinstance(kernel, Precomputed)
        self._data: Any = (take(X, rows, rows, pairwise=pairwise).copy(), rank[rows], weight[rows])
        self._rows: Any = rows

    @cached_property
    def _held_out(self) -> tuple[Index, Array, Ranks]:
        """Rows held out, by their place among those kept, with distances and labels."""
        recipe, _, transductive = self._setup
        return self._cross_validate(recipe, transductive=transductive)

    def _cross_validate(self, recipe: Recipe, *, transductive: bool) -> tuple[Index, Array, Ranks]:
        """Hold out labelled rows in turn and see where a model that has not seen them puts them."""
        X, rank, weight = self._data
        kernel, m = self._setup[1], self.n_classes - 1
        parts = [(np.empty(0, dtype=np.int64), np.empty((0, m)), np.empty(0, dtype=np.int64))]
        try:
            fold = content_folds(X, rank, N_SPLITS)
        except ValueError:  # too few labels to hold any out
            return parts[0]
        data = recipe.hold(kernel, X, self.n_classes)
        for k in range(N_SPLITS):
            seen = rank[(fold != k) & (rank != UNLABELED)]
            if len(np.unique(seen)) >= 2:
                held = held_out(
                    recipe, data, rank, weight, self.n_classes, fold, k,
                    transductive=transductive, refine=True,
                )  # fmt: skip
                parts.append(held)
        rows, distances, labels = (np.concatenate(part) for part in zip(*parts, strict=True))
        return rows, distances, labels

    def calibration(self) -> Calibration:
        """The calibration of the fitted model."""
        if self._calibration is None:
            if self.own_probabilities:
                self._calibration = identity_calibration(self.n_classes - 1)
            else:
                _, rank, weight = self._data
                rows, distances, _ = self._held_out
                self._calibration = fit_calibration(distances, rank[rows], weight[rows])
        return self._calibration

    def evidence(self) -> Evidence:
        """Errors of the model, and of the same without unlabelled rows, on the same folds."""
        if self._data is None:
            raise ValueError("this copy of the model holds no training rows any more")
        recipe, _, transductive = self._setup
        rank = self._data[1]
        rows, distances, _ = self._held_out
        own = (distances > 0).sum(axis=1)
        p = agree_with(self.calibration().probabilities(distances), own)
        if len(rows) == 0:
            return Evidence(rows, own, p, {}, {}, "too few ratings for an estimate of the error")
        errors = {"this model": _errors(rank[rows], own)}
        spread = {"this model": float(np.std(np.abs(rank[rows] - own)))}
        setup = f"({N_SPLITS}-fold, {len(rows)} labels)"
        mae = errors["this model"][1]
        if not transductive:
            verdict = f"supervised only: MAE {mae:.2f} {setup}"
            return Evidence(self._rows[rows], own, p, errors, spread, verdict)
        plain = replace(recipe, C2_max=None)
        others, distances, _ = self._cross_validate(plain, transductive=False)
        plainly = (distances > 0).sum(axis=1)
        errors["supervised"] = _errors(rank[others], plainly)
        spread["supervised"] = float(np.std(np.abs(rank[others] - plainly)))
        helps = "helps" if mae < errors["supervised"][1] else "does not help"
        verdict = (
            f"transduction {helps} here: MAE {mae:.2f} against {errors['supervised'][1]:.2f} "
            f"supervised {setup}"
        )
        return Evidence(self._rows[rows], own, p, errors, spread, verdict)

    def settled(self, calibration: Calibration | None = None) -> "Calibrator":
        """A copy with the calibration, its own or another, and without the rows."""
        return Calibrator.of(calibration or self.calibration(), self.own_probabilities)

    @classmethod
    def of(cls, calibration: Calibration, own_probabilities: bool) -> "Calibrator":
        """A calibration that is settled, without rows."""
        slim = cls.__new__(cls)
        slim.n_classes, slim.own_probabilities = len(calibration.offsets) + 1, own_probabilities
        slim._calibration = calibration
        slim._setup = slim._data = slim._rows = None
        return slim


def _spread(rows: Index, most: int) -> Index:
    """At most so many of some rows, evenly spread."""
    if len(rows) <= most:
        return rows
    return rows[np.linspace(0, len(rows) - 1, most).astype(np.int64)]


def _errors(truth: Ranks, predicted: Ranks) -> tuple[float, float]:
    return mean_zero_one_error(truth, predicted), mean_absolute_error(truth, predicted)

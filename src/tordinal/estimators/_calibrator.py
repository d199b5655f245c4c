"""Probabilities on demand, and estimated errors: the cross-validation behind both."""

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
from tordinal.engines.cuda.device import resolve_engine
from tordinal.fitting import Recipe, held_out
from tordinal.kernels import Kernel, Precomputed
from tordinal.losses import Logistic
from tordinal.metrics import mean_absolute_error, mean_zero_one_error
from tordinal.model_selection import content_folds, take
from tordinal.reduction import UNLABELED, Ranks
from tordinal.training_set import TrainingSet

__all__ = ["Calibrator", "Evidence"]

Array = NDArray[np.float64]
Index = NDArray[np.int64]

N_SPLITS = 5
MOST_LABELED, MOST_UNLABELED = 5000, 2000  # rows that take part at most


@dataclass(frozen=True)
class Evidence:
    """Predictions of models for labelled rows whose labels they had not seen.

    Attributes
    ----------
    rows : ndarray
        The rows, by their position among the training rows.
    ranks : ndarray of shape (len(rows),)
        Their predicted ranks.
    probability : ndarray of shape (len(rows), n_classes)
        Probabilities of the classes.
    errors : dict of str to (float, float)
        Zero-one and absolute error by model: "this model", "supervised", "transductive".
    spread : dict of str to float
        Standard deviation of the distances behind each absolute error; "difference": of the
        difference, row by row, between those with unlabelled rows and those without.
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
    """Keeps the rows for the cross-validation of a fit until it is needed; then its results.

    Rows are copied, so changing X after the fit has no effect. They are freed as soon as no other
    result needs them.
    """

    def __init__(self, recipe: Recipe, kernel: Kernel, rows: TrainingSet, *, transductive: bool):
        self.n_classes = rows.n_classes
        self.own_probabilities = isinstance(recipe.loss, Logistic)
        self._calibration: Calibration | None = None
        self._setup: Any = (recipe, kernel, transductive and bool(rows.unlabeled.any()))
        rank = np.where(rows.weight > 0, rows.rank, UNLABELED)
        labeled, unlabeled = np.flatnonzero(rank != UNLABELED), np.flatnonzero(rank == UNLABELED)
        # Evenly spread, so that the choice does not depend on chance.
        kept = [_spread(labeled, MOST_LABELED)]
        if self._setup[2]:
            kept.append(_spread(unlabeled, MOST_UNLABELED))
        self._kept: Any = np.sort(np.concatenate(kept))
        pairwise = isinstance(kernel, Precomputed)
        self._rows: Any = TrainingSet(
            take(rows.X, self._kept, self._kept, pairwise=pairwise),  # indexing copies
            rank[self._kept], rows.weight[self._kept], rows.n_classes,
        )  # fmt: skip

    @cached_property
    def _held_out(self) -> tuple[Index, Array]:
        """Held-out rows, by their position among those kept, with their distances."""
        recipe, _, transductive = self._setup
        result = self._cross_validate(recipe, transductive=transductive)
        if not transductive:
            self._free_rows()
        return result

    @cached_property
    def _held_out_supervised(self) -> tuple[Index, Array]:
        """The same for the model without unlabelled rows; the rows are freed afterwards."""
        result = self._cross_validate(replace(self._setup[0], C2_max=None), transductive=False)
        self._free_rows()
        return result

    def _free_rows(self) -> None:
        self._rows = replace(self._rows, X=None)

    def _cross_validate(self, recipe: Recipe, *, transductive: bool) -> tuple[Index, Array]:
        """Hold out labelled rows in turn and predict them with a model that has not seen them."""
        kept, distances = [np.empty(0, dtype=np.int64)], [np.empty((0, self.n_classes - 1))]
        rows, kernel = self._rows, self._setup[1]
        try:
            fold = content_folds(rows.X, rows.rank, N_SPLITS)
        except ValueError:  # too few labels to hold any out
            return kept[0], distances[0]
        if recipe.engine == "cuda":  # a saved model may be where there is no GPU
            recipe = replace(recipe, engine=resolve_engine("auto", len(rows.rank)))
        data = recipe.hold(kernel, rows.X, self.n_classes)
        for k in range(N_SPLITS):
            hidden = np.flatnonzero(fold == k)
            if len(np.unique(rows.rank[(fold != k) & ~rows.unlabeled])) >= 2:
                d, _ = held_out(recipe, rows, data, hidden, transductive=transductive, refine=True)
                kept.append(hidden)
                distances.append(d)
        return np.concatenate(kept), np.concatenate(distances)

    def calibration(self) -> Calibration:
        """The calibration of the fitted model."""
        if self._calibration is None:
            if self.own_probabilities:
                self._calibration = identity_calibration(self.n_classes - 1)
            else:
                held, distances = self._held_out
                rank, weight = self._rows.rank[held], self._rows.weight[held]
                self._calibration = fit_calibration(distances, rank, weight)
        return self._calibration

    def evidence(self) -> Evidence:
        """Errors of the model with and without unlabelled rows, on the same folds."""
        if self._rows is None:
            raise ValueError(
                "this model keeps no training rows to estimate its errors from: it is a compact "
                "copy or a member of an ensemble. Call evidence() of the original model."
            )
        _, _, transductive = self._setup
        rank = self._rows.rank
        rows, distances = self._held_out
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
            return Evidence(self._kept[rows], own, p, errors, spread, verdict)
        others, distances = self._held_out_supervised
        supervised = (distances > 0).sum(axis=1)
        errors["supervised"] = _errors(rank[others], supervised)
        spread["supervised"] = float(np.std(np.abs(rank[others] - supervised)))
        if np.array_equal(rows, others):
            gain = np.abs(rank[others] - supervised) - np.abs(rank[rows] - own)
            spread["difference"] = float(np.std(gain))
        helps = "helps" if mae < errors["supervised"][1] else "does not help"
        verdict = (
            f"transduction {helps} here: MAE {mae:.2f} against {errors['supervised'][1]:.2f} "
            f"supervised {setup}"
        )
        return Evidence(self._kept[rows], own, p, errors, spread, verdict)

    def settled(self, calibration: Calibration | None = None) -> "Calibrator":
        """A copy with a calibration, its own or another, and without the rows."""
        return Calibrator.of(calibration or self.calibration(), self.own_probabilities)

    @classmethod
    def of(cls, calibration: Calibration, own_probabilities: bool) -> "Calibrator":
        """From a known calibration, without rows."""
        slim = cls.__new__(cls)
        slim.n_classes, slim.own_probabilities = len(calibration.offsets) + 1, own_probabilities
        slim._calibration = calibration
        slim._setup = slim._rows = slim._kept = None
        return slim


def _spread(rows: Index, most: int) -> Index:
    """At most `most` of some rows, evenly spaced."""
    if len(rows) <= most:
        return rows
    return rows[np.linspace(0, len(rows) - 1, most).astype(np.int64)]


def _errors(truth: Ranks, predicted: Ranks) -> tuple[float, float]:
    return mean_zero_one_error(truth, predicted), mean_absolute_error(truth, predicted)

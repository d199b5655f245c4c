"""Trainings on rows of a cluster: Newton's method, whose steps are sums over blocks."""

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from tordinal.engines.dask import pieces
from tordinal.engines.dask.data import BlockedData
from tordinal.engines.dask.parts import PartRows, Parts
from tordinal.fitting import calibration_from_folds, training_tol
from tordinal.losses import swap_gain, wrong_side_loss
from tordinal.problem import Problem
from tordinal.reduction import Ranks
from tordinal.solvers.newton.equations import Equations, equations_for
from tordinal.solvers.newton.features import FeatureDescent
from tordinal.solvers.solver import COARSE, check_costs
from tordinal.solvers.tuning import NEWTON
from tordinal.swapping import Gain

__all__ = ["ClusterFit", "ClusterTrainer"]

Array = NDArray[np.float64]

MOST_SAMPLED = 100_000  # projections that are sent to the driver, for calibrated probabilities


@dataclass(frozen=True)
class ClusterFit:
    """A trained model; its projections stay with the rows.

    Attributes
    ----------
    w, thresholds : ndarray
        Weights of the scaled features, and thresholds.
    costs : (float, float)
        C1 and C2.
    objective, n_iter, violation, converged, next_start
        As of `Solution`.
    """

    w: Array
    thresholds: Array
    costs: tuple[float, float]
    objective: float
    n_iter: int
    violation: float
    converged: bool
    next_start: "ClusterFit | None" = None


class ClusterTrainer:
    """Trains on the rows of all parts.

    Parameters
    ----------
    parts : Parts
        Where the rows are.
    problem : Problem
        The problem to solve.
    data : BlockedData
        Their number of features, and the scale.
    tol, max_iter
        Tolerance and limit.
    """

    coarse = COARSE

    def __init__(
        self, parts: Parts, problem: Problem, data: BlockedData, tol: float, max_iter: int
    ):
        self.problem, self.scale = problem.scaled(data.scale), data.scale
        self.tol, self.limit = tol, np.inf if max_iter < 0 else max_iter
        self.gain: Gain = partial(swap_gain, problem.loss)
        self.wrong_side_loss: Gain = partial(wrong_side_loss, problem.loss)
        shape = (data.n_features, data.scale, data.few_features)
        self.labeled, self.rows = (PartRows(parts, which, *shape) for which in ("labeled", "all"))
        self._equations: dict[str, Equations] = {}

    def train(
        self, C1: float, C2: float, warm: ClusterFit | None, precision: float,
        hidden_fold: int | None = None,
    ) -> ClusterFit:  # fmt: skip
        """Solve (4) for the current labels of the rows, without those of `hidden_fold`."""
        check_costs(self.scale, max(C1, C2))
        rows = self.rows if C2 > 0.0 else self.labeled
        total = rows.sum(pieces.set_costs, self.scale * C1, self.scale * C2, hidden_fold)
        descent = FeatureDescent(rows, self.problem, self._equations_for(rows), total)
        swapped = warm is not None and warm.costs == (C1, C2)
        unchanged = self._objective(rows, warm) if swapped and warm is not None else np.inf
        width = None
        if warm is None:
            rows.sum(pieces.start_cold, self.problem)
        else:
            start = warm.next_start or warm
            descent.w, descent.t = start.w.copy(), start.thresholds.copy()
            rows.project(start.w)
            width = NEWTON.new_ranks_width if swapped else NEWTON.new_costs_width
        tol = training_tol(self.tol, precision)
        steps, violation = descent.run(tol, self.limit, width)
        fit = ClusterFit(
            descent.w, descent.thresholds(), (C1, C2), np.inf, steps, violation, violation <= tol
        )
        # Trainings have moved the projections, of all rows where the labelled ones are among them.
        self.rows.projected_by(None)
        fit = replace(fit, objective=self._objective(rows, fit))
        if not fit.converged:
            fit = self._fall_back_to_zero(rows, fit)
        if unchanged < fit.objective:
            assert warm is not None
            # A swap may gain less than a training to the tolerance loses (docs/mathematics.md).
            return replace(
                fit, w=warm.w, thresholds=warm.thresholds, objective=unchanged, next_start=fit
            )
        return fit

    def posteriors(self, supervised: ClusterFit, n_labeled: int, n_unlabeled: int) -> Array:
        """Calibrated class probabilities of unlabelled rows, an even sample if there are many.

        The calibration uses labelled rows that were held out in folds, as on one machine.
        """

        def held_out_fold(k: int) -> tuple[Array, Ranks]:
            fit = self.train(supervised.costs[0], 0.0, None, 1.0, hidden_fold=k)
            share = min(1.0, MOST_SAMPLED / n_labeled)
            h, rank = self.labeled.sum(pieces.fold_projections, k, share)
            return np.concatenate(h)[:, None] - fit.thresholds, np.concatenate(rank)

        calibration = calibration_from_folds(held_out_fold)
        self.rows.project(supervised.w)
        h = self.rows.sum(pieces.free_projections, min(1.0, MOST_SAMPLED / n_unlabeled))
        return calibration.probabilities(np.concatenate(h)[:, None] - supervised.thresholds)

    def _objective(self, rows: PartRows, fit: ClusterFit) -> float:
        rows.project(fit.w)
        penalty = 0.5 * float(fit.w @ fit.w) + self.problem.coupling.penalty(fit.thresholds)
        return (penalty + rows.sum(pieces.losses, self.problem, fit.thresholds)) / self.scale

    def _fall_back_to_zero(self, rows: PartRows, fit: ClusterFit) -> ClusterFit:
        """The fit, or w = 0 if that has a lower objective."""
        nothing = replace(fit, w=np.zeros_like(fit.w), thresholds=np.zeros_like(fit.thresholds))
        value = self._objective(rows, nothing)
        return replace(nothing, objective=value) if value < fit.objective else fit

    def _equations_for(self, rows: PartRows) -> Equations:
        if rows.which not in self._equations:
            self._equations[rows.which] = equations_for(rows, self.problem.smooth)
        return self._equations[rows.which]

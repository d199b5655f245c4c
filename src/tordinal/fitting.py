"""Fitting a model to rows: kernel and solver, the C2 schedule, class counts, Algorithm 1.

Estimators, their search, calibration and tables all fit models with this module: they pass a
`Recipe` and get a `Model`, or predictions for rows whose labels were hidden.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tordinal.calibration import Calibration, fit_calibration
from tordinal.class_ratios import predicted_counts, resolve_ratio
from tordinal.couplings import Coupling, Reduction
from tordinal.distances import Matrix
from tordinal.engines.host.gram import Gram
from tordinal.engines.host.pseudo_labels import HostLabels
from tordinal.engines.host.rows import Rows
from tordinal.kernels import Kernel, make_kernel
from tordinal.labels import FOLDS, folds_by_rank
from tordinal.losses import Hinge, Loss, swap_gain, wrong_side_loss
from tordinal.problem import Problem
from tordinal.projection import Projection
from tordinal.reduction import UNLABELED, Ranks
from tordinal.solvers import Solution, Solver, hold, solver_for
from tordinal.swapping import Gain
from tordinal.training_set import TrainingSet
from tordinal.transduction import CostSchedule, Transduction, class_counts, transduce

__all__ = ["Budget", "Model", "Recipe", "SolverTrainer", "fit_model", "held_out"]

Array = NDArray[np.float64]
Index = NDArray[np.int64]
COARSEST = 0.1  # largest tolerance of any training; solutions at larger ones are useless
Note = Callable[[dict[str, float], Any], bool]


@dataclass(frozen=True)
class Recipe:
    """How to fit: the parameters of the estimators, checked.

    Attributes
    ----------
    C : float
        Cost of labelled rows, C1.
    kernel, gamma, degree, coef0
        The kernel and its parameters.
    loss : Loss
        The loss.
    coupling : Coupling
        How thresholds are coupled.
    C2_start, C2_factor, C2_max : float
        The schedule of C2.
    swaps : str or int
        How labels are swapped between two trainings.
    class_ratio : str or ndarray of shape (n_classes,)
        Class proportions of the unlabelled rows.
    tol, max_iter, cache_size
        Tolerance and limits.
    engine : {"host", "cuda"}
        Where kernel values are, and what works with them.
    rough : bool
        Whether Algorithm 1 may stop short of small gains, as in a search.
    """

    C: float = 1.0
    kernel: Any = "linear"
    gamma: float | str = "scale"
    degree: float = 3
    coef0: float = 0.0
    loss: Loss = Hinge()  # noqa: RUF009
    coupling: Coupling = Reduction()  # noqa: RUF009
    C2_start: float = 1e-5
    C2_factor: float = 2.0
    C2_max: float | None = None
    swaps: str | int = "single"
    class_ratio: Any = "labeled"
    tol: float = 1e-3
    max_iter: int = -1
    cache_size: float = 2500
    rough: bool = False
    engine: str = "host"

    def kernel_for(self, X: Matrix) -> Kernel:
        """The kernel with its parameters computed for some rows."""
        return make_kernel(self.kernel, X, self.gamma, self.degree, self.coef0)

    def problem(self, n_classes: int) -> Problem:
        """The problem to solve."""
        return Problem(self.loss, self.coupling, n_classes - 1)

    def hold(self, kernel: Kernel, X: Matrix, n_classes: int) -> Gram | Rows:
        """The rows in the form that is solved fastest."""
        return hold(
            kernel, X, self.problem(n_classes), self.cache_size, self.tol, engine=self.engine
        )

    @property
    def schedule(self) -> CostSchedule:
        """The costs of Algorithm 1, and how it swaps."""
        return CostSchedule(
            self.C, self.C2_start, self.C2_factor, self.C2_max, self.swaps, self.rough
        )

    def n_levels(self, rank: Ranks) -> int:
        """How many levels a fit has: the supervised training, and each value of C2."""
        return 1 + (len(self.schedule) if (rank == UNLABELED).any() else 0)


@dataclass
class Model:
    """A fitted model.

    Attributes
    ----------
    projection : Projection
        How rows are projected.
    thresholds : ndarray of shape (n_thresholds,)
        Thresholds on the same scale.
    transduction : Transduction
        What Algorithm 1 ended with; without unlabelled rows, the one training.
    """

    projection: Projection
    thresholds: Array
    transduction: Transduction

    @property
    def solution(self) -> Solution:
        """The last training."""
        return self.transduction.fit


@dataclass
class SolverTrainer:
    """The `Trainer` of `transduce` for a solver."""

    solver: Solver
    labels: HostLabels
    tol: float
    max_iter: int
    on_chunk: Callable[[int, float], None] | None = None

    @property
    def coarse(self) -> float:
        """How much coarser than the last training the others are."""
        return self.solver.coarse

    def train(self, C1: float, C2: float, warm: Solution | None, precision: float) -> Solution:
        """Solve (4) with y fixed."""
        return self.solver.solve(
            self.labels.y, self.labels.costs(C1, C2), warm=warm,
            tol=training_tol(self.tol, precision), max_iter=self.max_iter,
            on_chunk=self.on_chunk,
        )  # fmt: skip

    @property
    def gain(self) -> Gain:
        """Decrease of the loss when a row changes sides."""
        return partial(swap_gain, self.solver.loss)

    @property
    def wrong_side_loss(self) -> Gain:
        """The loss on the wrong side of a threshold."""
        return partial(wrong_side_loss, self.solver.loss)


def training_tol(tol: float, precision: float) -> float:
    """The tolerance of a training, limited to `COARSEST` unless the user asks for a larger one.

    Examples
    --------
    >>> training_tol(1e-3, 10.0), training_tol(0.05, 10.0), training_tol(0.5, 10.0)
    (0.01, 0.1, 0.5)
    """
    return min(tol * precision, max(tol, COARSEST))


@dataclass
class Budget:
    """Solver iterations that a run of Algorithm 1 may take: it stops at the level that exceeds it.

    Attributes
    ----------
    limit : float
        How many.
    spent : float
        How many were taken.
    """

    limit: float
    spent: float = 0.0

    def __call__(self, record: dict[str, float], fit: Any) -> bool:
        """Count a training; return whether to stop after it."""
        self.spent += record["n_iter"]
        return self.exceeded

    @property
    def exceeded(self) -> bool:
        """Whether more iterations were taken than allowed."""
        return self.spent > self.limit


def run_algorithm_1(
    recipe: Recipe,
    solver: Solver,
    rows: TrainingSet,
    on_training: Note | None = None,
    on_chunk: Callable[[int, float], None] | None = None,
) -> Transduction:
    """Algorithm 1 with a solver; without unlabelled rows, one training."""
    recipe.n_levels(rows.rank)  # raises an error for a schedule with too many levels
    labels = solver.data.pseudo_labels(rows.rank, rows.weight)

    def counts(supervised: Any) -> Index:
        def posteriors() -> Array:
            calibration = _calibrated(recipe, solver, rows)
            distances = supervised.h[rows.unlabeled, None] - supervised.thresholds
            return calibration.probabilities(distances)

        ratio = resolve_ratio(
            recipe.class_ratio, rows.rank, supervised, rows.n_classes, posteriors, rows.weight
        )
        return class_counts(
            ratio, labels.n_unlabeled, lambda: predicted_counts(supervised, rows.unlabeled)
        )

    trainer = SolverTrainer(solver, labels, recipe.tol, recipe.max_iter, on_chunk)
    return transduce(trainer, labels, recipe.schedule, counts, on_training)


def _calibrated(recipe: Recipe, solver: Solver, rows: TrainingSet) -> Calibration:
    """How distances of the supervised model become probabilities, from rows held out in folds."""
    fold = folds_by_rank(rows.rank)

    def held_out_fold(k: int) -> tuple[Array, Ranks]:
        hidden = fold == k
        cost = np.where(rows.unlabeled | hidden, 0.0, recipe.C * rows.weight)
        if not (hidden.any() and (cost > 0).any()):
            return np.empty((0, rows.n_classes - 1)), rows.rank[:0]
        fit = solver.solve(rows.rank, cost, tol=recipe.tol, max_iter=recipe.max_iter)
        return fit.h[hidden, None] - fit.thresholds, rows.rank[hidden]

    return calibration_from_folds(held_out_fold)


def calibration_from_folds(held_out_fold: Callable[[int], tuple[Array, Ranks]]) -> Calibration:
    """Calibrate on the distances and ranks of the rows of each fold."""
    distances, ranks = zip(*map(held_out_fold, range(FOLDS)), strict=True)
    y = np.concatenate(ranks)
    return fit_calibration(np.concatenate(distances), y, np.ones(len(y)))


def fit_model(
    recipe: Recipe,
    rows: TrainingSet,
    *,
    kernel: Kernel | None = None,
    data: Gram | Rows | None = None,
    share: float = 1.0,
    progress: Any = None,
) -> Model:
    """Fit a model to rows.

    Parameters
    ----------
    recipe : Recipe
        How.
    rows : TrainingSet
        To what.
    kernel : Kernel, optional
        The kernel, if it exists already.
    data : Gram or Rows, optional
        The rows as the solver holds them, if they exist already.
    share : float
        Share of the memory for kernel values, where several models are fitted at the same time.
    progress : Progress, optional
        Where progress is reported.

    Returns
    -------
    model : Model
        The fitted model, brought to rounding accuracy where that is quick.
    """
    kernel = recipe.kernel_for(rows.X) if kernel is None else kernel
    data = recipe.hold(kernel, rows.X, rows.n_classes) if data is None else data
    solver = solver_for(data, recipe.problem(rows.n_classes), share)
    listeners = (progress.training, progress.chunk) if progress is not None else (None, None)
    result = run_algorithm_1(recipe, solver, rows, *listeners)
    result.fit = solver.refine(result.fit)
    a = result.fit.coefficients
    projection = Projection.of(kernel, rows.X, a, data.linear_coef(a, result.fit.coef))
    shift = data.shift(a, projection.coef)
    return Model(projection, result.fit.thresholds + shift, result)


def held_out(
    recipe: Recipe,
    rows: TrainingSet,
    data: Gram | Rows,
    hidden: Index,
    *,
    transductive: bool,
    refine: bool = False,
    share: float = 1.0,
    budget: Budget | None = None,
) -> tuple[Array, Ranks]:
    """Predict rows with a model that has not seen their labels.

    Parameters
    ----------
    recipe : Recipe
        How to fit it.
    rows : TrainingSet
        All rows, labelled or not.
    data : Gram or Rows
        The same rows as the solver holds them.
    hidden : ndarray of int
        The rows whose labels are hidden.
    transductive : bool
        Whether unlabelled rows, with the hidden ones among them, take part.
    refine : bool
        Whether to bring the model to rounding accuracy where that is quick.
    share : float
        Share of the memory for kernel values.
    budget : Budget or None
        Solver iterations that Algorithm 1 may take.

    Returns
    -------
    distances : ndarray of shape (len(hidden), n_thresholds)
        Distances of the hidden rows to the thresholds.
    labels : ndarray of shape (len(hidden),)
        Their ranks: those that Algorithm 1 ends with, or by the thresholds.
    """
    rank = rows.rank.copy()
    rank[hidden] = UNLABELED
    visible = replace(rows, rank=rank)
    solver = solver_for(data, recipe.problem(rows.n_classes), share)
    if transductive and visible.unlabeled.any():
        result = run_algorithm_1(recipe, solver, visible, budget)
        fit = solver.refine(result.fit) if refine else result.fit
        return fit.h[hidden, None] - fit.thresholds, result.labels.y[hidden]
    cost = np.where(visible.unlabeled, 0.0, recipe.C * rows.weight)
    fit = solver.solve(rank, cost, tol=recipe.tol, max_iter=recipe.max_iter)
    fit = solver.refine(fit) if refine else fit
    distances = fit.h[hidden, None] - fit.thresholds
    return distances, (distances > 0).sum(axis=1)

"""TOR: transductive ordinal regression, Algorithm 1 with (10) or any other loss of Table II."""

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval, StrOptions

from tordinal.estimators._base import KERNEL_CONSTRAINTS, LOSS_CONSTRAINT, ThresholdClassifier
from tordinal.estimators._progress import Progress
from tordinal.losses import check_loss, swap_gain
from tordinal.reduction import UNLABELED, Ranks, ranks
from tordinal.solvers import Solution, Solver
from tordinal.transduction import Fit, c2_schedule, class_counts, transduce

Array = NDArray[np.float64]

SCHEDULE_CONSTRAINTS: dict[str, list[Any]] = {
    "C2_start": [Interval(Real, 0.0, None, closed="neither")],
    "C2_factor": [Interval(Real, 1.0, None, closed="neither")],
    "C2_max": [Interval(Real, 0.0, None, closed="neither"), None],
    "swaps": [StrOptions({"single", "all", "optimal"}), Interval(Integral, 1, None, closed="left")],
}


@dataclass
class SolverTrainer:
    """Trains with a solver, as `transduce` asks for it."""

    solver: Solver
    n_thresholds: int
    tol: float
    max_iter: int
    progress: Progress | None = None

    def train(self, y: Ranks, cost: Array, warm: Solution | None, precision: float) -> Solution:
        """Solve (4) with y fixed."""
        on_chunk = self.progress.chunk if self.progress is not None else None
        return self.solver.solve(
            y, cost, self.n_thresholds,
            warm=warm, tol=self.tol * precision, max_iter=self.max_iter, on_chunk=on_chunk,
        )  # fmt: skip

    def gain(self, d: Array) -> Array:
        """Decrease of the loss when a row changes sides."""
        return swap_gain(self.solver.loss, d)


class TOR(ThresholdClassifier):
    """Transductive ordinal regression: unlabelled rows help to rate each other.

    Algorithm 1 of the paper. A supervised model gives the unlabelled rows pseudo-labels in the wanted class proportions.
    Then their cost C2 rises step by step, and at each step labels are swapped between neighbouring classes and the model
    is trained again, until no swap lowers the objective (10).

    Parameters
    ----------
    C : float, default=1.0
        Cost of a loss at one threshold for labelled rows, C1 in the paper.
    kernel : {"linear", "perceptron", "rbf", "poly", "laplacian", "precomputed"} or callable, default="linear"
        Kernel. "perceptron" is ``-|x - x'|``, the paper's choice for its benchmark sets.
    gamma : {"scale", "auto"} or float, default="scale"
        Coefficient of the rbf, poly and laplacian kernels, as in scikit-learn.
    degree : float, default=3
        Degree of the poly kernel.
    coef0 : float, default=0.0
        Constant of the poly kernel.
    loss : {"hinge", "squared_hinge", "logistic", "square", "laplacian"} or object, default="hinge"
        Loss of Table II, or an object that follows the protocol of `tordinal.losses`.
    classes : array-like, default=None
        All labels from the lowest to the highest. None: the labels found, sorted.
    C2_start : float, default=1e-5
        First cost of unlabelled rows.
    C2_factor : float, default=2.0
        Factor by which that cost rises.
    C2_max : float, default=None
        Where the rise ends, exactly. None: the paper's loop, which ends before `C`. A lower value suits data with far more
        unlabelled than labelled rows.
    swaps : {"single", "all", "optimal"} or int, default="single"
        How labels are exchanged between two trainings. "single" is the paper: one pair per class boundary, the one with
        the largest decrease. A number: so many pairs per boundary; "all": every pair there is. "optimal": the labels of
        least loss for the model at hand, which are a sort.
    class_ratio : {"labeled", "predicted", "blended", "uniform"} or array-like of shape (n_classes,), default="labeled"
        Class proportions of the pseudo-labels: those of the labelled rows (the paper), those that the supervised model
        predicts for the unlabelled rows, the mean of the two, equal shares, or the given ones.
    tol : float, default=1e-3
        Largest violation of the optimality conditions (hinge, laplacian) or relative gradient (the smooth losses).
    max_iter : int, default=-1
        Solver steps at most in one training; -1 for no limit.
    cache_size : float, default=2500
        Memory for kernel values in MB. Beyond it kernel rows are computed when needed.
    verbose : int, default=0
        Whether to print progress.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels from the lowest rank to the highest.
    transduction_ : ndarray of shape (n_samples,)
        The label of every training row: given, or the pseudo-label that Algorithm 1 ends with.
    thresholds_ : ndarray of shape (n_classes - 1,)
        Ascending thresholds on the scale of `predict_projection`.
    history_ : list of dict
        One record per training: ``C2``, ``objective``, the ``swaps`` made after it, and its solver steps ``n_iter``. The
        first one, with ``C2`` 0, is the supervised model.
    initial_labels_ : ndarray of shape (n_samples,)
        The labels of Algorithm 2, before any swap.
    objective_ : float
        Value of (10) at the end.
    support_, support_vectors_, dual_coef_, coef_ : ndarray
        The model, as in `REDSVM`.
    n_iter_ : int
        Solver steps in all trainings.

    See Also
    --------
    REDSVM : The same model without unlabelled rows, which TOR equals when there are none.

    References
    ----------
    C.-W. Seah, I. W. Tsang and Y.-S. Ong, "Transductive Ordinal Regression", IEEE Transactions on Neural Networks and
    Learning Systems, 2012.

    Examples
    --------
    >>> import numpy as np
    >>> from tordinal import TOR
    >>> X = np.array([[0.0], [0.1], [0.2], [1.0], [1.1], [1.2], [2.0], [2.1], [2.2]])
    >>> y = [1, -1, -1, 2, -1, -1, 3, -1, -1]  # -1: not labelled
    >>> TOR(C=10).fit(X, y).transduction_
    array([1, 1, 1, 2, 2, 2, 3, 3, 3])
    """

    _transductive = True
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **KERNEL_CONSTRAINTS,
        **SCHEDULE_CONSTRAINTS,
        "loss": LOSS_CONSTRAINT,
        "class_ratio": [StrOptions({"labeled", "predicted", "blended", "uniform"}), "array-like"],
    }

    def __init__(
        self,
        C: float = 1.0,
        *,
        kernel: Any = "linear",
        gamma: float | str = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        loss: Any = "hinge",
        classes: ArrayLike | None = None,
        C2_start: float = 1e-5,
        C2_factor: float = 2.0,
        C2_max: float | None = None,
        swaps: int | str = "single",
        class_ratio: str | ArrayLike = "labeled",
        tol: float = 1e-3,
        max_iter: int = -1,
        cache_size: float = 2500,
        verbose: int = 0,
    ):
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.loss = loss
        self.classes = classes
        self.C2_start = C2_start
        self.C2_factor = C2_factor
        self.C2_max = C2_max
        self.swaps = swaps
        self.class_ratio = class_ratio
        self.tol = tol
        self.max_iter = max_iter
        self.cache_size = cache_size
        self.verbose = verbose

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> "TOR":
        """Fit the model to labelled and unlabelled rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            All rows; with ``kernel="precomputed"`` the matrix of kernel values between them.
        y : array-like of shape (n_samples,)
            Labels. None, NaN, pandas NA and, in integer labels, -1 (unless `classes` has it) mark unlabelled rows.
        sample_weight : array-like of shape (n_samples,), default=None
            Factor of each row's cost.

        Returns
        -------
        self : TOR
            The fitted model.
        """
        loss = check_loss(self.loss)
        X, rank, weight = self._read(X, y, sample_weight)
        class_ratio = check_class_ratio(self.class_ratio, len(self.classes_))
        unlabeled = rank == UNLABELED
        schedule = list(c2_schedule(self.C, self.C2_start, self.C2_factor, self.C2_max)) if unlabeled.any() else []

        def counts(supervised: Fit) -> NDArray[np.int64]:
            ratio = resolve_ratio(class_ratio, rank, supervised, len(self.classes_))
            return class_counts(ratio, int(unlabeled.sum()))

        with Progress(self, n_levels=1 + len(schedule)) as progress:
            solver = self._solver(X, loss)
            trainer = SolverTrainer(solver, len(self.classes_) - 1, self.tol, self.max_iter, progress)
            result = transduce(trainer, rank, weight, self.C, schedule, counts, self.swaps, progress.training)
            result.fit = solver.refine(result.fit)
        self._warn_unless_converged(result.fit)
        self._keep(X, rank, weight, result.fit)
        self.transduction_ = self.classes_[result.y]
        self.initial_labels_ = self.classes_[result.initial]
        self.history_ = result.history
        self.objective_ = result.fit.objective
        self.n_iter_ = int(sum(record["n_iter"] for record in result.history))
        return self


def check_class_ratio(class_ratio: Any, n_classes: int) -> str | Array:
    """Settle the parameter `class_ratio`: a name, or K proportions, scaled to sum to 1."""
    if isinstance(class_ratio, str):
        return class_ratio
    ratio = np.asarray(class_ratio, dtype=np.float64)
    if ratio.shape != (n_classes,) or not np.isfinite(ratio).all() or (ratio < 0).any() or ratio.sum() <= 0:
        raise ValueError(
            f"class_ratio={class_ratio!r} must be a name or {n_classes} proportions, one per class, none negative "
            "and not all zero."
        )
    return ratio / ratio.sum()


def resolve_ratio(class_ratio: str | Array, rank: Ranks, supervised: Fit | None, n_classes: int) -> Array:
    """Proportions of the classes among the unlabelled rows."""
    if not isinstance(class_ratio, str):
        return class_ratio
    unlabeled = rank == UNLABELED
    labeled = np.bincount(rank[~unlabeled], minlength=n_classes) / np.sum(~unlabeled)  # Algorithm 2, line 4
    if class_ratio == "labeled":
        return labeled
    if class_ratio == "uniform":
        return np.full(n_classes, 1.0 / n_classes)
    assert supervised is not None
    predicted = np.bincount(ranks(supervised.h[unlabeled], supervised.thresholds), minlength=n_classes)
    return predicted / predicted.sum() if class_ratio == "predicted" else 0.5 * (labeled + predicted / predicted.sum())

"""M-TSVM: one transductive SVM per class against the rest, the paper's comparison without ordinal knowledge."""

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike, NDArray
from sklearn.base import _fit_context
from sklearn.utils._param_validation import StrOptions

from tordinal.estimators._base import KERNEL_CONSTRAINTS, LOSS_CONSTRAINT, KernelClassifier
from tordinal.estimators._progress import Progress
from tordinal.estimators.tor import SCHEDULE_CONSTRAINTS, SolverTrainer, check_class_ratio, resolve_ratio
from tordinal.kernels import Gram, LinearFeatures
from tordinal.losses import Loss, check_loss
from tordinal.reduction import UNLABELED, Ranks
from tordinal.solvers import make_solver
from tordinal.transduction import Transduction, c2_schedule, class_counts, transduce

Array = NDArray[np.float64]


class MTSVM(KernelClassifier):
    """Multi-class transductive SVM, one class against the rest.

    Each class is a two-class TOR problem, which is the binary TSVM, with the class's share as balance constraint (section
    V of the paper). A row gets the class with the largest decision value. The order of the classes plays no part.

    Parameters
    ----------
    C : float, default=1.0
        Cost of a loss for labelled rows.
    kernel : {"linear", "perceptron", "rbf", "poly", "laplacian", "precomputed"} or callable, default="linear"
        Kernel, as in `TOR`.
    gamma : {"scale", "auto"} or float, default="scale"
        Coefficient of the rbf, poly and laplacian kernels, as in scikit-learn.
    degree : float, default=3
        Degree of the poly kernel.
    coef0 : float, default=0.0
        Constant of the poly kernel.
    loss : {"hinge", "squared_hinge", "logistic", "square", "laplacian"} or object, default="hinge"
        Loss of Table II, or an object that follows the protocol of `tordinal.losses`.
    classes : array-like, default=None
        All labels. None: the labels found, sorted.
    C2_start, C2_factor, C2_max : float
        Schedule of the cost of unlabelled rows, as in `TOR`.
    swaps : {"single", "all", "optimal"} or int, default="single"
        How labels are exchanged between two trainings, as in `TOR`.
    class_ratio : {"labeled", "uniform"} or array-like of shape (n_classes,), default="labeled"
        Class proportions of the unlabelled rows.
    tol : float, default=1e-3
        Tolerance of a training, as in `TOR`.
    max_iter : int, default=-1
        Solver steps at most in one training; -1 for no limit.
    cache_size : float, default=2500
        Memory for kernel values in MB.
    n_jobs : int, default=None
        Classes trained at the same time, in threads that share one kernel matrix. -1 uses all cores.
    verbose : int, default=0
        Whether to print progress.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels.
    transduction_ : ndarray of shape (n_samples,)
        The label of every training row: given, or by the largest decision value. With two classes, the pseudo-labels
        of the one problem there is.
    pseudo_labels_ : ndarray of shape (n_samples, n_problems)
        Which rows each two-class problem ends with as its own; the sums over unlabelled rows follow the class ratio.
    histories_ : list of list of dict
        The history of each two-class problem, as ``TOR.history_``.
    intercept_ : ndarray of shape (n_problems,)
        Constants of the decision functions.
    support_, support_vectors_, dual_coef_, coef_ : ndarray
        The models; one row of `dual_coef_` and `coef_` per two-class problem.
    n_iter_ : int
        Solver steps in all trainings.

    Examples
    --------
    >>> import numpy as np
    >>> from tordinal import MTSVM
    >>> X = np.array([[0.0, 0.0], [0.1, 0.0], [5.0, 0.0], [5.1, 0.0], [0.0, 5.0], [0.1, 5.1]])
    >>> MTSVM(C=10).fit(X, [1, -1, 2, -1, 3, -1]).transduction_
    array([1, 1, 2, 2, 3, 3])
    """

    _transductive = True
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **KERNEL_CONSTRAINTS,
        **SCHEDULE_CONSTRAINTS,
        "loss": LOSS_CONSTRAINT,
        "class_ratio": [StrOptions({"labeled", "uniform"}), "array-like"],
        "n_jobs": [None, Integral],
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
        n_jobs: int | None = None,
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
        self.n_jobs = n_jobs
        self.verbose = verbose

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> "MTSVM":
        """Fit one transductive SVM per class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            All rows; with ``kernel="precomputed"`` the matrix of kernel values between them.
        y : array-like of shape (n_samples,)
            Labels; unlabelled rows are marked as in `TOR`.
        sample_weight : array-like of shape (n_samples,), default=None
            Factor of each row's cost.

        Returns
        -------
        self : MTSVM
            The fitted model.
        """
        loss = check_loss(self.loss)
        X, rank, weight = self._read(X, y, sample_weight)
        n_classes = len(self.classes_)
        ratio = resolve_ratio(check_class_ratio(self.class_ratio, n_classes), rank, None, n_classes)
        # Two classes are one problem: its mirror image would say the same.
        positives = [1] if n_classes == 2 else list(range(n_classes))
        with Progress(self, n_levels=len(positives)) as progress:
            held = self._hold(X, loss)
            problems = Parallel(n_jobs=self.n_jobs, prefer="threads", return_as="generator")(
                delayed(self._one_against_rest)(held, loss, rank, weight, k, ratio[k]) for k in positives
            )
            results = []
            for k, result in zip(positives, problems, strict=True):
                progress.problem(f"class {self.classes_[k]}")
                results.append(result)
        for result in results:
            self._warn_unless_converged(result.fit)
        fits = [result.fit for result in results]
        coef = np.array([fit.coef for fit in fits]) if fits[0].coef is not None else None
        shift = self._keep_weights(X, np.column_stack([fit.coefficients for fit in fits]), coef)
        self.intercept_ = -np.array([result.fit.thresholds[0] for result in results]) - shift
        self.pseudo_labels_ = np.column_stack([result.y == 1 for result in results])
        self.histories_ = [result.history for result in results]
        self.n_iter_ = int(sum(record["n_iter"] for history in self.histories_ for record in history))
        found = results[0].y if n_classes == 2 else np.argmax([r.fit.h - r.fit.thresholds[0] for r in results], axis=0)
        self.transduction_ = self.classes_[np.where(rank == UNLABELED, found, rank)]
        return self

    def _one_against_rest(
        self, held: Gram | LinearFeatures, loss: Loss, rank: Ranks, weight: Array, k: int, share: float
    ) -> Transduction:
        """The binary TSVM of class k: TOR with two ranks."""
        unlabeled = rank == UNLABELED
        y = np.where(unlabeled, UNLABELED, (rank == k).astype(np.int64))
        if isinstance(held, Gram) and not held.full:  # a cache of rows serves one solver at a time
            held = Gram(held.kernel, held.X, self.cache_size / len(self.classes_))
        schedule = list(c2_schedule(self.C, self.C2_start, self.C2_factor, self.C2_max)) if unlabeled.any() else []
        solver = make_solver(held, loss)
        trainer = SolverTrainer(solver, 1, self.tol, self.max_iter)
        counts = class_counts(np.array([1.0 - share, share]), int(unlabeled.sum()))
        result = transduce(trainer, y, weight, self.C, schedule, lambda _: counts, self.swaps)
        result.fit = solver.refine(result.fit)
        return result

    def decision_function(self, X: ArrayLike) -> Array:
        """Decision value of each class for each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        values : ndarray of shape (n_samples, n_classes) or, with two classes, (n_samples,)
            Positive where the class's own SVM claims the row.
        """
        values = self._project(X) + self.intercept_
        return values[:, 0] if values.shape[1] == 1 else values

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Predict the class with the largest decision value.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Labels from `classes_`.
        """
        values = self.decision_function(X)
        return self.classes_[(values > 0).astype(int) if values.ndim == 1 else np.argmax(values, axis=1)]

"""M-TSVM: one transductive SVM per class against the rest, which ignores the order."""

from collections.abc import Callable
from dataclasses import replace
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from joblib import delayed
from numpy.typing import ArrayLike, NDArray

from tordinal._sklearn import StrOptions, fit_context
from tordinal.class_ratios import resolve_ratio
from tordinal.engines.host.gram import Gram
from tordinal.engines.host.rows import Rows
from tordinal.estimators._base import (
    KERNEL_CONSTRAINTS,
    LOSS_CONSTRAINT,
    SCHEDULE_CONSTRAINTS,
    KernelClassifier,
    keep_parameters,
    warn_unless_converged,
)
from tordinal.fitting import Model, Recipe, fit_model
from tordinal.kernels import Kernel
from tordinal.parallel import in_order
from tordinal.progress import Progress
from tordinal.projection import Projection
from tordinal.reduction import UNLABELED
from tordinal.training_set import TrainingSet

Array = NDArray[np.float64]

TIES = 6  # decimals of decision values that are not rounding


class MTSVM(KernelClassifier):
    """Multi-class transductive SVM, one class against the rest.

    Each class is a two-class TOR problem, which is the binary TSVM, with the class's share as
    balance constraint (section V of the paper). A row gets the class with the largest decision
    value. The order of the classes is ignored.

    Parameters
    ----------
    C : float, default=1.0
        Cost of a loss for labelled rows. A larger one follows the labels more closely.
    kernel, gamma, degree, coef0, loss
        Kernel and loss, as in `TOR`.
    classes : array-like, default=None
        All labels. None: the labels in y, sorted.
    C2_start, C2_factor, C2_max : float
        Schedule of the cost of unlabelled rows, as in `TOR`.
    swaps : {"single", "all", "optimal"} or int, default="single"
        How labels are swapped between two trainings, as in `TOR`.
    class_ratio : {"labeled", "uniform"} or array-like of shape (n_classes,), default="labeled"
        Class proportions of the unlabelled rows. Pass the true ones where you know them.
    tol, max_iter, cache_size, engine, callback, verbose
        As in `TOR`.
    n_jobs : int, default=None
        Classes trained at the same time, in threads that share one kernel matrix. -1: all cores.
        Worth it for thousands of rows.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels.
    transduction_ : ndarray of shape (n_samples,)
        The label of every training row: given, or by the largest decision value. With two classes,
        the pseudo-labels of the only problem.
    pseudo_labels_ : ndarray of shape (n_samples, n_problems)
        Which rows each two-class problem assigns to its class; the sums over unlabelled rows follow
        the class ratio.
    histories_ : list of list of dict
        The history of each two-class problem, as ``TOR.history_``.
    intercept_ : ndarray of shape (n_problems,)
        Constants of the decision functions.
    support_, support_vectors_, dual_coef_, coef_ : ndarray
        The models; one row of `dual_coef_` and `coef_` per two-class problem.
    n_iter_ : int
        Solver iterations in all trainings.

    See Also
    --------
    TOR : Unlabelled rows with ordered classes.
    TORCV : Chooses among models by cross-validation.

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

    n_jobs: int | None

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
        engine: str = "host",
        n_jobs: int | None = None,
        callback: Callable[[str, int, int], None] | None = None,
        verbose: int = 0,
    ):
        keep_parameters(self, locals())

    @fit_context(prefer_skip_nested_validation=True)
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
        rows = self._read(X, y, sample_weight)
        X, rank, n_classes = rows.X, rows.rank, rows.n_classes
        recipe = self._recipe(len(rank))
        ratio = resolve_ratio(recipe.class_ratio, rank, None, n_classes, weight=rows.weight)
        # Two classes are one problem: the other one is its mirror image.
        positives = [1] if n_classes == 2 else list(range(n_classes))
        with Progress(self, n_levels=len(positives)) as progress:
            kernel = recipe.kernel_for(X)
            data = recipe.hold(kernel, X, 2)
            problems = in_order(
                (
                    delayed(_one_against_rest)(
                        recipe, rows, kernel, data, k, ratio[k], 1 / n_classes
                    )
                    for k in positives
                ),
                self.n_jobs,
            )
            models = []
            for k, model in zip(positives, problems, strict=True):
                progress.problem(f"class {self.classes_[k]}")
                models.append(model)
        fits = [model.solution for model in models]
        for fit in fits:
            warn_unless_converged(self, fit)
        projections = [model.projection for model in models]
        coef = None
        if all(projection.coef is not None for projection in projections):
            coef = np.array([projection.coef for projection in projections])
        a = np.column_stack([fit.coefficients for fit in fits])
        self._keep_projection(Projection.of(kernel, X, a, coef))
        self.intercept_ = -np.array([model.thresholds[0] for model in models])
        results = [model.transduction for model in models]
        self.pseudo_labels_ = np.column_stack([result.labels.y == 1 for result in results])
        self.histories_ = [result.history for result in results]
        self.n_iter_ = int(sum(r["n_iter"] for history in self.histories_ for r in history))
        margins = np.column_stack([fit.h - fit.thresholds[0] for fit in fits])
        labels = results[0].labels.y if n_classes == 2 else _largest(margins, self.intercept_)
        self.transduction_ = self.classes_[np.where(rank == UNLABELED, labels, rank)]
        return self

    def decision_function(self, X: ArrayLike) -> Array:
        """Decision value of each class for each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        values : ndarray of shape (n_samples, n_classes) or, with two classes, (n_samples,)
            Positive where the SVM of the class accepts the row.
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
        return self.classes_[
            (values > 0).astype(int) if values.ndim == 1 else _largest(values, self.intercept_)
        ]


def _largest(values: Array, intercept: Array) -> NDArray[np.int64]:
    """The class with the largest value; of those that tie, the one with the largest intercept.

    Rows on the margins of two classes have the same value, -1, for both, except for rounding.
    Unlike their positions, intercepts do not depend on the order of the classes.
    """
    by_intercept = np.argsort(-intercept, kind="stable")
    return by_intercept[np.argmax(np.round(values[:, by_intercept], TIES), axis=1)]


def _one_against_rest(
    recipe: Recipe,
    rows: TrainingSet,
    kernel: Kernel,
    data: Gram | Rows,
    k: int,
    ratio: float,
    share: float,
) -> Model:
    """The binary TSVM of class k: TOR with two ranks."""
    y = np.where(rows.unlabeled, UNLABELED, (rows.rank == k).astype(np.int64))
    binary = replace(recipe, class_ratio=np.array([1.0 - ratio, ratio]))
    two_classes = replace(rows, rank=y, n_classes=2)
    return fit_model(binary, two_classes, kernel=kernel, data=data, share=share)

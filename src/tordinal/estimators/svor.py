"""SVOR-IMC and SVOR-EXC: support vector ordinal regression (Chu and Keerthi 2007)."""

from typing import Any, ClassVar

import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.base import _fit_context
from sklearn.utils._param_validation import StrOptions

from tordinal.estimators._base import KERNEL_CONSTRAINTS, ThresholdClassifier
from tordinal.kernels import Gram, Matrix, centred
from tordinal.losses import Hinge
from tordinal.solvers import SMO


class SVOR(ThresholdClassifier):
    """Support vector ordinal regression with implicit or explicit constraints on the thresholds.

    Like `REDSVM`, but the thresholds are not regularised. With implicit constraints (SVOR-IMC) every row counts at every
    threshold, which orders them by itself. With explicit constraints (SVOR-EXC) a row counts only at the two
    thresholds beside its rank, and their order is a constraint.

    Parameters
    ----------
    C : float, default=1.0
        Cost of a loss at one threshold.
    constraints : {"implicit", "explicit"}, default="implicit"
        SVOR-IMC or SVOR-EXC.
    kernel : {"linear", "perceptron", "rbf", "poly", "laplacian", "precomputed"} or callable, default="linear"
        Kernel, as in `REDSVM`.
    gamma : {"scale", "auto"} or float, default="scale"
        Coefficient of the rbf, poly and laplacian kernels, as in scikit-learn.
    degree : float, default=3
        Degree of the poly kernel.
    coef0 : float, default=0.0
        Constant of the poly kernel.
    classes : array-like, default=None
        All labels from the lowest to the highest. None: the labels found, sorted.
    tol : float, default=1e-3
        Largest violation of the optimality conditions.
    max_iter : int, default=-1
        Solver steps at most; -1 for no limit.
    cache_size : float, default=2500
        Memory for kernel values in MB. Beyond it kernel rows are computed when needed.
    verbose : int, default=0
        Whether to print progress.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels from the lowest rank to the highest.
    thresholds_ : ndarray of shape (n_classes - 1,)
        Ascending thresholds on the scale of `predict_projection`.
    support_, support_vectors_, dual_coef_, coef_ : ndarray
        The model, as in `REDSVM`.
    objective_ : float
        Value of the objective.
    history_ : list of dict
        One record of the training, as in `REDSVM`.
    n_iter_ : int
        Solver steps.

    References
    ----------
    W. Chu and S. S. Keerthi, "Support Vector Ordinal Regression", Neural Computation 19(3), 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from tordinal import SVOR
    >>> X, y = np.arange(9.0)[:, None], [1, 1, 1, 2, 2, 2, 3, 3, 3]
    >>> SVOR(C=10, constraints="explicit").fit(X, y).predict([[0.5], [4.2], [8.8]])
    array([1, 2, 3])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **KERNEL_CONSTRAINTS,
        "constraints": [StrOptions({"implicit", "explicit"})],
    }

    def __init__(
        self,
        C: float = 1.0,
        *,
        constraints: str = "implicit",
        kernel: Any = "linear",
        gamma: float | str = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        classes: ArrayLike | None = None,
        tol: float = 1e-3,
        max_iter: int = -1,
        cache_size: float = 2500,
        verbose: int = 0,
    ):
        self.C = C
        self.constraints = constraints
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.classes = classes
        self.tol = tol
        self.max_iter = max_iter
        self.cache_size = cache_size
        self.verbose = verbose

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> "SVOR":
        """Fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows; with ``kernel="precomputed"`` the matrix of kernel values between them.
        y : array-like of shape (n_samples,)
            Their labels; none may be missing.
        sample_weight : array-like of shape (n_samples,), default=None
            Factor of each row's cost.

        Returns
        -------
        self : SVOR
            The fitted model.
        """

        def solver(rows: Matrix) -> SMO:
            kernel = self._resolve_kernel(rows)
            plain = centred(rows) if self.kernel == "linear" and not sp.issparse(rows) else rows
            return SMO(Gram(kernel, plain, self.cache_size), Hinge(), self.constraints)

        return self._fit_supervised(X, y, sample_weight, solver)

"""RED-SVM (9): the reduction of ordinal regression to one binary SVM (Li and Lin 2007)."""

from typing import Any, ClassVar

from numpy.typing import ArrayLike
from sklearn.base import _fit_context

from tordinal.estimators._base import KERNEL_CONSTRAINTS, LOSS_CONSTRAINT, ThresholdClassifier
from tordinal.losses import check_loss


class REDSVM(ThresholdClassifier):
    """Supervised ordinal regression by reduction to a binary SVM.

    Minimises (9): one projection, ordered thresholds, a loss at every threshold.

    Parameters
    ----------
    C : float, default=1.0
        Cost of a loss at one threshold, C1 in the paper.
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
    tol : float, default=1e-3
        Largest violation of the optimality conditions (hinge, laplacian) or relative gradient (the smooth losses).
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
    support_ : ndarray of shape (n_SV,)
        Indices of the support vectors.
    support_vectors_ : {ndarray, sparse matrix} of shape (n_SV, n_features)
        Support vectors; empty with ``kernel="precomputed"``.
    dual_coef_ : ndarray of shape (n_SV,)
        Their weights in the projection.
    coef_ : ndarray of shape (n_features,)
        Weights of the features, with the linear kernel.
    objective_ : float
        Value of (9).
    history_ : list of dict
        One record of the training: ``C2`` (0), ``objective``, ``swaps`` (0), ``n_iter``.
    n_iter_ : int
        Solver steps.

    See Also
    --------
    TOR : The same model with unlabelled rows.

    References
    ----------
    L. Li and H.-T. Lin, "Ordinal regression by extended binary classification", NIPS 2006.

    Examples
    --------
    >>> import numpy as np
    >>> from tordinal import REDSVM
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]])
    >>> model = REDSVM(C=10).fit(X, ["poor", "poor", "fair", "fair", "good", "good"])
    >>> model.classes_.tolist()
    ['fair', 'good', 'poor']
    >>> model = REDSVM(C=10, classes=["poor", "fair", "good"])
    >>> model.fit(X, ["poor", "poor", "fair", "fair", "good", "good"]).predict([[0.2], [2.4], [9.0]]).tolist()
    ['poor', 'fair', 'good']
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {**KERNEL_CONSTRAINTS, "loss": LOSS_CONSTRAINT}

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
        self.tol = tol
        self.max_iter = max_iter
        self.cache_size = cache_size
        self.verbose = verbose

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> "REDSVM":
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
        self : REDSVM
            The fitted model.
        """
        loss = check_loss(self.loss)
        return self._fit_supervised(X, y, sample_weight, lambda rows: self._solver(rows, loss))

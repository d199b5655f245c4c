"""RED-SVM (9): the reduction of ordinal regression to one binary SVM (Li and Lin 2007)."""

from collections.abc import Callable
from typing import Any, ClassVar

from numpy.typing import ArrayLike

from tordinal._sklearn import fit_context
from tordinal.estimators._base import (
    KERNEL_CONSTRAINTS,
    LOSS_CONSTRAINT,
    ThresholdClassifier,
    keep_parameters,
)


class REDSVM(ThresholdClassifier):
    """Supervised ordinal regression by reduction to a binary SVM.

    Minimises (9): one projection, ordered thresholds, a loss at every threshold.

    Parameters
    ----------
    C : float, default=1.0
        Cost of a loss at one threshold, C1 in the paper. A larger one follows the labels more
        closely. Search powers of ten.
    kernel : str or callable, default="linear"
        "linear", "perceptron", "rbf", "poly", "laplacian", "precomputed" or a function.
        "perceptron" is ``-|x - x'|``, the paper's choice for its benchmark sets. Use "linear" for
        texts and for many rows, "perceptron" or "rbf" for tables of some thousand rows.
    gamma : {"scale", "auto"} or float, default="scale"
        Coefficient of the rbf, poly and laplacian kernels, as in scikit-learn. With a larger one
        each row influences nearer rows only.
    degree : float, default=3
        Degree of the poly kernel. A higher one allows more curved boundaries.
    coef0 : float, default=0.0
        Constant of the poly kernel. A larger one gives lower powers more weight.
    loss : {"hinge", "squared_hinge", "logistic", "square", "laplacian"} or object, default="hinge"
        Loss of Table II, or an object that follows the protocol of `tordinal.losses`. The hinge is
        robust to wrong labels, "logistic" has probabilities of its own, and smooth losses suit many
        rows.
    classes : array-like, default=None
        All labels from the lowest to the highest. None: the labels in y, sorted. Needed where that
        order is wrong, as for words, or where a class has no label yet.
    tol : float, default=1e-3
        How far from optimal the solution may be: largest violation of the optimality conditions,
        or, for models solved in their features and for smooth losses, distance of the objective.
        Lower it to compare solutions digit by digit.
    max_iter : int, default=-1
        Solver iterations at most; -1 for the solver's own limit. Set it where a fit must end soon;
        a warning says if it did not converge.
    cache_size : float, default=2500
        Memory for kernel values in MB. Beyond it kernel rows are computed when needed. Raise it for
        more than 25,000 rows where there is memory.
    engine : {"host", "cuda", "auto"}, default="host"
        Where kernel values are and solvers work on them: this machine, or an NVIDIA GPU (needs
        ``pip install "tordinal[cuda]"``). "auto" takes a GPU where there is one and the rows are
        many enough for it to be faster. Linear models with fewer features than rows are always
        solved on this machine.
    callback : callable, default=None
        Called with the current task, the steps done and the number of steps.
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
        Support vectors, with kernels other than "linear" and "precomputed".
    dual_coef_ : ndarray of shape (n_SV,)
        Their weights in the projection.
    coef_ : ndarray of shape (n_features,)
        Weights of the features, with the linear kernel.
    objective_ : float
        Value of (9).
    history_ : list of dict
        One record of the training: ``C2`` (0), ``objective``, ``swaps`` (0), ``n_iter``.
    n_iter_ : int
        Solver iterations.

    See Also
    --------
    TOR : The same model with unlabelled rows.
    SVOR : Thresholds without a penalty, with implicit or explicit constraints.
    TORCV : Chooses among models by cross-validation.

    References
    ----------
    L. Li and H.-T. Lin, "Ordinal regression by extended binary classification", NIPS 2006.

    Examples
    --------
    >>> import numpy as np
    >>> from tordinal import REDSVM
    >>> X, y = np.arange(6.0)[:, None], ["poor", "poor", "fair", "fair", "good", "good"]
    >>> model = REDSVM(C=10, classes=["poor", "fair", "good"]).fit(X, y)
    >>> model.predict([[0.2], [2.4], [9.0]]).tolist()
    ['poor', 'fair', 'good']
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **KERNEL_CONSTRAINTS,
        "loss": LOSS_CONSTRAINT,
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
        tol: float = 1e-3,
        max_iter: int = -1,
        cache_size: float = 2500,
        engine: str = "host",
        callback: Callable[[str, int, int], None] | None = None,
        verbose: int = 0,
    ):
        keep_parameters(self, locals())

    @fit_context(prefer_skip_nested_validation=True)
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
        self._fit(X, y, sample_weight)
        return self

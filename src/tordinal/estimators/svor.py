"""SVOR-IMC and SVOR-EXC: support vector ordinal regression (Chu and Keerthi 2007)."""

from collections.abc import Callable
from typing import Any, ClassVar

from numpy.typing import ArrayLike

from tordinal._sklearn import NameOf, fit_context
from tordinal.couplings import Coupling, Explicit, Implicit
from tordinal.estimators._base import KERNEL_CONSTRAINTS, ThresholdClassifier, keep_parameters

CONSTRAINTS: dict[str, type[Coupling]] = {"implicit": Implicit, "explicit": Explicit}


class SVOR(ThresholdClassifier):
    """Support vector ordinal regression with implicit or explicit constraints on the thresholds.

    Like `REDSVM`, but the thresholds are not regularised. With implicit constraints (SVOR-IMC)
    every row counts at every threshold, which keeps them in order. With explicit constraints
    (SVOR-EXC) a row counts only at the two thresholds beside its rank, and their order is a
    constraint.

    Parameters
    ----------
    C : float, default=1.0
        Cost of a loss at one threshold. A larger one follows the labels more closely.
    constraints : {"implicit", "explicit"}, default="implicit"
        SVOR-IMC or SVOR-EXC. Both are about as accurate; explicit constraints use fewer losses per
        row.
    kernel, gamma, degree, coef0
        The kernel, as in `REDSVM`.
    classes : array-like, default=None
        All labels from the lowest to the highest. None: the labels in y, sorted. Needed where that
        order is wrong, as for words, or where a class has no label yet.
    tol, max_iter, cache_size, engine, callback, verbose
        As in `REDSVM`.

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
        Solver iterations.

    See Also
    --------
    REDSVM : The same with a penalty on the thresholds.
    TOR : Labelled and unlabelled rows.

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
        "constraints": [NameOf(CONSTRAINTS)],
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
        engine: str = "host",
        callback: Callable[[str, int, int], None] | None = None,
        verbose: int = 0,
    ):
        keep_parameters(self, locals())

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> "SVOR":
        """Fit the model; parameters as in `REDSVM.fit`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows, or the matrix of kernel values between them.
        y : array-like of shape (n_samples,)
            Their labels; none may be missing.
        sample_weight : array-like of shape (n_samples,), default=None
            Factor of each row's cost.

        Returns
        -------
        self : SVOR
            The fitted model.
        """
        self._fit(X, y, sample_weight, CONSTRAINTS[self.constraints]())
        return self

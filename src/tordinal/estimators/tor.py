"""TOR: transductive ordinal regression, Algorithm 1 with (10) or any other loss of Table II."""

from collections.abc import Callable
from typing import Any, ClassVar

from numpy.typing import ArrayLike

from tordinal._sklearn import StrOptions, fit_context
from tordinal.estimators._base import (
    KERNEL_CONSTRAINTS,
    LOSS_CONSTRAINT,
    SCHEDULE_CONSTRAINTS,
    ThresholdClassifier,
    keep_parameters,
)
from tordinal.fitting import Model


class TOR(ThresholdClassifier):
    """Transductive ordinal regression: unlabelled rows help to rate each other.

    Algorithm 1 of the paper. A supervised model gives the unlabelled rows pseudo-labels in the
    given class proportions. Then their cost C2 rises step by step, and at each step labels are
    swapped between neighbouring classes and the model is trained again, until no swap lowers the
    objective (10).

    Parameters
    ----------
    C : float, default=1.0
        Cost of a loss at one threshold for labelled rows, C1 in the paper. A larger one follows the
        labels more closely. Search powers of ten, or let `TORCV` do so.
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
    C2_start : float, default=1e-5
        First cost of unlabelled rows. A larger one, such as 0.001, saves trainings.
    C2_factor : float, default=2.0
        Factor by which that cost rises. A larger one saves trainings; the weight of the unlabelled
        rows then grows less gradually.
    C2_max : float, default=None
        Largest C2, exactly. None: the paper's loop, which ends before `C`. A lower value
        suits data with far more unlabelled than labelled rows.
    swaps : {"single", "all", "optimal"} or int, default="single"
        How labels are swapped between two trainings. "single" is the paper: one pair per class
        boundary, the one with the largest decrease. A number: that many pairs per boundary; "all":
        all pairs. "optimal": the labels of least loss for the current model, which sorting finds.
        "all" and "optimal" need far fewer trainings; "optimal" can get stuck at a poor start.
    class_ratio : str or array-like of shape (n_classes,), default="labeled"
        Class proportions of the pseudo-labels: those of the labelled rows ("labeled", the paper),
        those that the supervised model predicts for the unlabelled rows ("predicted"), the mean of
        the two ("blended"), those most likely by its calibrated probabilities, shrunk towards those
        of the labelled rows if they are uncertain ("estimated", see
        `tordinal.class_ratios.estimate_ratio`), equal shares ("uniform"), or the given ones. Pass
        the true ones where you know them; with few labels "estimated" or "blended" is safer.
    tol : float, default=1e-3
        Tolerance of the last training, as in `REDSVM`. Earlier trainings use ten times this
        tolerance, thirty times for smooth losses with a kernel.
    max_iter : int, default=-1
        Solver iterations at most in one training; -1 for the solver's own limit. Set it where a fit
        must end soon.
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
    transduction_ : ndarray of shape (n_samples,)
        The label of every training row: given, or the pseudo-label that Algorithm 1 ends with.
    thresholds_ : ndarray of shape (n_classes - 1,)
        Ascending thresholds on the scale of `predict_projection`.
    history_ : list of dict
        One record per training: ``C2``, ``objective``, the ``swaps`` made after it, and its solver
        iterations ``n_iter``. The first one, with ``C2`` 0, is the supervised model.
    initial_labels_ : ndarray of shape (n_samples,)
        The labels of Algorithm 2, before any swap.
    objective_ : float
        Value of (10) at the end.
    support_, support_vectors_, dual_coef_, coef_ : ndarray
        The model, as in `REDSVM`.
    n_iter_ : int
        Solver iterations in all trainings.

    See Also
    --------
    REDSVM : The same model without unlabelled rows, which TOR equals when there are none.
    TORCV : Chooses the parameters, and whether unlabelled rows help.
    MTSVM : Unlabelled rows without an order of the classes.
    tordinal.dask.TOR : The same on rows of a Dask cluster.

    References
    ----------
    C.-W. Seah, I. W. Tsang and Y.-S. Ong, "Transductive Ordinal Regression", IEEE Transactions on
    Neural Networks and Learning Systems, 2012.

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
        "class_ratio": [
            StrOptions({"labeled", "predicted", "blended", "estimated", "uniform"}),
            "array-like",
        ],
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
        engine: str = "host",
        callback: Callable[[str, int, int], None] | None = None,
        verbose: int = 0,
    ):
        keep_parameters(self, locals())

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> "TOR":
        """Fit the model to labelled and unlabelled rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            All rows; with ``kernel="precomputed"`` the matrix of kernel values between them.
        y : array-like of shape (n_samples,)
            Labels. None, NaN, pandas NA and, in integer labels, -1 (unless `classes` has it) mark
            unlabelled rows.
        sample_weight : array-like of shape (n_samples,), default=None
            Factor of each row's cost.

        Returns
        -------
        self : TOR
            The fitted model.
        """
        self._fit(X, y, sample_weight)
        return self

    def _fit(self, *args: Any, **options: Any) -> Model:
        model = super()._fit(*args, **options)
        self.transduction_ = self.classes_[model.transduction.labels.y]
        self.initial_labels_ = self.classes_[model.transduction.labels.initial]
        return model

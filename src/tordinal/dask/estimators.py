"""TOR and RED-SVM for rows on a Dask cluster, with the API of the local estimators."""

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

import tordinal.estimators as local
from tordinal._sklearn import fit_context
from tordinal.dask._base import ClusterClassifier
from tordinal.engines.dask.data import BlockedData
from tordinal.engines.dask.parts import Parts
from tordinal.estimators._base import (
    SCHEDULE_CONSTRAINTS,
    keep_parameters,
)
from tordinal.transduction import CostSchedule, Transduction

__all__ = ["REDSVM", "TOR"]


class REDSVM(ClusterClassifier):
    """RED-SVM with the linear kernel, on rows of a Dask cluster.

    The model of `tordinal.REDSVM`, from rows that stay on their workers: messages are of the size
    of the weights and thresholds.

    Parameters
    ----------
    C : float, default=1.0
        Cost of the loss terms.
    loss : str or object, default="hinge"
        As in `tordinal.REDSVM`.
    classes : array-like, default=None
        All labels from the lowest to the highest. None: the labels in y, sorted.
    tol : float, default=1e-3
        How far from optimal the model may be: its duality gap, or the square root of half of
        Newton's decrement of a smooth loss, relative to the objective.
    max_iter : int, default=-1
        Newton iterations at most; -1 for the solver's own limit.
    callback : callable, default=None
        Called with the current task, the steps done and the number of steps.
    client : distributed.Client, default=None
        The cluster. None: the client of this process.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weights of the features.
    thresholds_ : ndarray of shape (n_classes - 1,)
        Thresholds, ascending.
    classes_ : ndarray of shape (n_classes,)
        Labels from the lowest rank to the highest.
    objective_ : float
        The objective.
    history_ : list of dict
        One record per training.
    n_iter_ : int
        Newton iterations.
    n_round_trips_ : int
        Round trips: messages to each worker.
    n_bytes_ : int
        Bytes of the arrays in all of them and in their answers.

    See Also
    --------
    tordinal.REDSVM : The same on one machine, with kernels.
    TOR : With unlabelled rows.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from tordinal.dask import REDSVM  # doctest: +SKIP
    >>> client = Client()  # doctest: +SKIP
    >>> model = REDSVM().fit(X, y)  # doctest: +SKIP
    """

    def __init__(
        self,
        C: float = 1.0,
        *,
        loss: Any = "hinge",
        classes: Any = None,
        tol: float = 1e-3,
        max_iter: int = -1,
        callback: Callable[[str, int, int], None] | None = None,
        client: Any = None,
    ):
        keep_parameters(self, locals())

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "REDSVM":
        """Fit the model.

        Parameters
        ----------
        X : Dask array of shape (n_samples, n_features)
            Rows in dense or CSR blocks, all columns in one; sizes of blocks may be unknown.
        y : Dask array or Series of shape (n_samples,)
            Labels in the same blocks; or a NumPy array, if sizes of blocks are known.
        sample_weight : Dask array, Series or ndarray of shape (n_samples,), optional
            Factors of the rows' costs.

        Returns
        -------
        self : REDSVM
            The fitted model.
        """
        self._fit(X, y, sample_weight)
        return self


class TOR(ClusterClassifier):
    """Transductive ordinal regression with the linear kernel, on rows of a Dask cluster.

    The problem and Algorithm 1 of `tordinal.TOR`. Labels, projections and pseudo-labels stay with
    the rows. A lost worker costs the level of C2 at which it was lost.

    Parameters
    ----------
    C : float, default=1.0
        Cost of labelled rows, C1.
    loss : str or object, default="hinge"
        As in `tordinal.TOR`.
    C2_start, C2_factor : float, default=1e-5 and 2
        First value of C2, and its factor from one level to the next.
    C2_max : float, default=None
        The last value of C2. None: levels below C, as in the paper.
    swaps : {"single", "all", "optimal"} or int, default="all"
        As in `tordinal.TOR`, where "single" is the default: on millions of rows, with one pair
        per training, it would take forever.
    class_ratio : str or array-like of shape (n_classes,), default="labeled"
        As in `tordinal.TOR`.
    classes, tol, max_iter, callback, client
        As in `tordinal.dask.REDSVM`.

    Attributes
    ----------
    coef_, thresholds_, classes_, objective_, history_, n_iter_, n_round_trips_, n_bytes_
        As of `tordinal.dask.REDSVM`.
    transduction_ : Dask array of shape (n_samples,)
        The label of every row, given or found, on the workers.

    See Also
    --------
    tordinal.TOR : The same on one machine, with kernels.
    REDSVM : Without unlabelled rows.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from tordinal.dask import TOR  # doctest: +SKIP
    >>> client = Client()  # doctest: +SKIP
    >>> model = TOR(swaps="optimal").fit(X, y)  # doctest: +SKIP
    >>> model.transduction_.compute()  # doctest: +SKIP
    """

    _transductive = True
    C2_start: float
    C2_factor: float
    C2_max: float | None
    swaps: str | int
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **ClusterClassifier._parameter_constraints,
        **SCHEDULE_CONSTRAINTS,
        "class_ratio": local.TOR._parameter_constraints["class_ratio"],
    }

    def __init__(
        self,
        C: float = 1.0,
        *,
        loss: Any = "hinge",
        C2_start: float = 1e-5,
        C2_factor: float = 2.0,
        C2_max: float | None = None,
        swaps: str | int = "all",
        class_ratio: Any = "labeled",
        classes: Any = None,
        tol: float = 1e-3,
        max_iter: int = -1,
        callback: Callable[[str, int, int], None] | None = None,
        client: Any = None,
    ):
        keep_parameters(self, locals())

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "TOR":
        """Fit the model and label all rows.

        Parameters
        ----------
        X : Dask array of shape (n_samples, n_features)
            Rows in dense or CSR blocks, all columns in one; sizes of blocks may be unknown.
        y : Dask array or Series of shape (n_samples,)
            Labels in the same blocks; -1, None and NaN mark unlabelled rows.
        sample_weight : Dask array, Series or ndarray of shape (n_samples,), optional
            Factors of the rows' costs.

        Returns
        -------
        self : TOR
            The fitted model.
        """
        self._fit(X, y, sample_weight)
        return self

    def _schedule(self) -> CostSchedule:
        return CostSchedule(self.C, self.C2_start, self.C2_factor, self.C2_max, self.swaps)

    def _keep(self, result: Transduction, data: BlockedData, parts: Parts) -> None:
        import dask.array as da
        from dask.delayed import delayed

        super()._keep(result, data, parts)
        labels = parts.safely(partial(parts.labels, self.classes_))
        blocks = [
            da.from_delayed(delayed(f), shape=(n,), dtype=self.classes_.dtype)
            for f, n in zip(labels, data.sizes, strict=True)
        ]
        self.transduction_ = da.concatenate(blocks)

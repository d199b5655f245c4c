"""The base class of TOR and RED-SVM on a cluster: fitting, prediction, local copies."""

import copy
import uuid
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

import tordinal.estimators as local
from tordinal.calibration import identity_calibration
from tordinal.class_ratios import check_class_ratio, ratio_of_counts
from tordinal.couplings import Reduction
from tordinal.dask.trainer import ClusterFit, ClusterTrainer
from tordinal.engines.dask import pieces
from tordinal.engines.dask.data import BlockedData, is_dask
from tordinal.engines.dask.parts import Parts
from tordinal.engines.dask.pseudo_labels import ClusterLabels
from tordinal.estimators import Calibrator
from tordinal.estimators._base import (
    KERNEL_CONSTRAINTS,
    LOSS_CONSTRAINT,
    warn_unless_converged,
)
from tordinal.kernels import Linear
from tordinal.losses import Logistic, check_loss
from tordinal.problem import Problem
from tordinal.projection import Projection
from tordinal.reduction import ranks
from tordinal.threads import one_thread_each
from tordinal.transduction import CostSchedule, Transduction, class_counts, transduce

__all__ = ["ClusterClassifier"]

Array = NDArray[np.float64]


class ClusterClassifier(ClassifierMixin, BaseEstimator):
    """Base class of TOR and RED-SVM on a cluster."""

    _transductive = False
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **{name: KERNEL_CONSTRAINTS[name] for name in ("C", "classes", "tol", "max_iter")},
        "loss": LOSS_CONSTRAINT,
        "callback": KERNEL_CONSTRAINTS["callback"],
        "client": "no_validation",
    }
    C: float
    loss: Any
    classes: Any
    tol: float
    max_iter: int
    callback: Callable[[str, int, int], None] | None
    client: Any

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        client = _client(self.client)
        token = uuid.uuid4().hex[:12]
        data = BlockedData(client, X, y, sample_weight, self.classes, token, self._transductive)
        self.classes_, self.n_features_in_ = data.classes, data.n_features
        K = len(self.classes_)
        parts: Parts | None = None
        try:
            parts = Parts(client, data.prepared, token, _warn_about_lost_worker)
            stored = sum(parts.safely(partial(parts.each, "stored")))
            if stored:
                warnings.warn(
                    f"{stored} of {len(data.prepared)} blocks of X do not fit into the memory of "
                    "the workers and are read from their disks at every pass, which is slower; "
                    "add workers or memory to keep them all",
                    UserWarning,
                    stacklevel=3,
                )
            problem = Problem(check_loss(self.loss), Reduction(), K - 1)
            trainer = ClusterTrainer(parts, problem, data, self.tol, self.max_iter)
            counting = partial(trainer.rows.sum, pieces.given_weights, K)
            given, free = parts.safely(counting)
            self._check(int(free), float(given.sum()))
            labels = ClusterLabels(trainer.rows, trainer.problem, sum(data.sizes), int(free))
            schedule = self._schedule()
            with one_thread_each():  # threads that wait busily would slow down workers beside them
                counts = self._class_counts(trainer, given, sum(data.sizes), int(free))
                result = transduce(
                    trainer, labels, schedule, counts,
                    self._listener(1 + len(schedule) if free else 1), parts.protect,
                )  # fmt: skip
            self._keep(result, data, parts)
        finally:
            # Also after Ctrl-C: running passes end, and nothing stays on the workers.
            if parts is not None:
                parts.release()
            client.cancel(data.prepared)

    def _check(self, free: int, weight: float) -> None:
        if weight <= 0:
            raise ValueError(
                "sample_weight: every labelled row has weight 0, so there is nothing to learn from"
            )
        if free and not self._transductive:
            raise ValueError(
                f"y: {free} labels are missing. REDSVM is supervised: use tordinal.dask.TOR, which "
                "learns from unlabelled rows too, or drop those rows."
            )

    def _schedule(self) -> CostSchedule:
        """The costs of Algorithm 1."""
        return CostSchedule(self.C)

    def _class_counts(self, trainer: ClusterTrainer, given: Any, n_rows: int, free: int) -> Any:
        """How many pseudo-labels of each class there are, for a supervised fit."""
        ratio = check_class_ratio(getattr(self, "class_ratio", "labeled"), len(given))

        def counts(fit: ClusterFit) -> Any:
            predicted = partial(trainer.rows.sum, pieces.predicted_counts, fit.thresholds)
            posteriors = partial(trainer.posteriors, fit, n_rows - free, free)
            shares = ratio_of_counts(ratio, given, predicted, posteriors)
            return class_counts(shares, free, predicted)

        return counts

    def _listener(self, n_levels: int) -> Any:
        """Report each value of C2 to the callback."""
        seen: set[float] = set()

        def listen(record: dict[str, float], fit: Any) -> bool:
            seen.add(record["C2"])
            if self.callback is not None:
                self.callback(type(self).__name__, len(seen) - 1, n_levels)
            return False

        return listen

    def _keep(self, result: Transduction, data: BlockedData, parts: Parts) -> None:
        fit = result.fit
        shift = 0.0 if data.centre is None else float(fit.w @ data.centre) / np.sqrt(data.scale)
        self.coef_ = fit.w / np.sqrt(data.scale)
        self.thresholds_, self.objective_ = fit.thresholds + shift, fit.objective
        self.history_ = result.history
        self.n_iter_ = int(sum(record["n_iter"] for record in result.history))
        self.n_round_trips_, self.n_bytes_ = parts.round_trips, parts.bytes
        warn_unless_converged(self, fit)

    @property
    def n_exchanges_(self) -> int:
        """Former name of `n_round_trips_`."""
        warnings.warn(
            "n_exchanges_ is now n_round_trips_; the old name will be removed in version 0.4",
            FutureWarning,
            stacklevel=2,
        )
        return self.n_round_trips_

    def predict_projection(self, X: Any) -> Any:
        """Project rows on the ordinal axis: h(x).

        Parameters
        ----------
        X : {array-like, sparse matrix, Dask array} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        h : ndarray or Dask array of shape (n_samples,)
            The higher, the higher the rank. A Dask array if X is one.
        """
        check_is_fitted(self)
        if is_dask(X):
            return X.map_blocks(_project, coef=self.coef_, drop_axis=1, dtype=np.float64)
        return self._local_shape(X)

    def _local_shape(self, X: Any) -> Array:
        X = X if hasattr(X, "shape") else np.asarray(X)
        if X.ndim != 2 or X.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has shape {X.shape}, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features"
            )
        return _project(X, self.coef_)

    def predict(self, X: Any) -> Any:
        """Predict the label of each row: one rank for each threshold below h(x).

        Parameters
        ----------
        X : {array-like, sparse matrix, Dask array} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        y : ndarray or Dask array of shape (n_samples,)
            Labels from `classes_`.
        """
        h = self.predict_projection(X)
        if is_dask(h):
            return h.map_blocks(
                _labels, thresholds=self.thresholds_, classes=self.classes_,
                dtype=self.classes_.dtype,
            )  # fmt: skip
        return _labels(h, self.thresholds_, self.classes_)

    def to_local(
        self, like: Any = None, X: Any = None, *, columns: Any = None, n_features: int | None = None
    ) -> Any:
        """Convert to the estimator for one machine, which can be saved.

        Parameters
        ----------
        like : tordinal.TOR or tordinal.REDSVM, default=None
            A model with the same settings, fitted on this machine to some of the rows. Its
            calibration is used, rescaled to this model's projection.
        X : {array-like, sparse matrix} of shape (n_samples, n_features), default=None
            Rows on which the scales of both projections are compared.
        columns : array-like of int, default=None
            Places of this model's features among those of the new one; the others get weight 0.
            None: they are the same.
        n_features : int, default=None
            Number of features of the new one, with `columns`.

        Returns
        -------
        model : tordinal.TOR or tordinal.REDSVM
            Fitted, with the same predictions. Without `like` its probabilities come from the
            logistic curve with slope 1, as there are no rows for a calibration.
        """
        check_is_fitted(self)
        kind: Any = local.TOR if self._transductive else local.REDSVM
        names = set(kind._get_param_names())
        given = {k: v for k, v in self.get_params(deep=False).items() if k in names}
        model = kind(kernel="linear", **{**given, "callback": None})
        coef = self.coef_.copy()
        if columns is not None:
            coef = np.zeros(n_features or int(np.max(columns)) + 1)
            coef[columns] = self.coef_
        model.classes_, model.n_features_in_ = self.classes_, len(coef)
        none = np.empty(0)
        model._keep_projection(Projection(Linear(), none.astype(np.int64), none, None, coef))
        for name in ("thresholds_", "objective_", "history_", "n_iter_"):
            setattr(model, name, copy.deepcopy(getattr(self, name)))
        own = isinstance(check_loss(self.loss), Logistic)
        calibration = identity_calibration(len(self.thresholds_))
        if like is not None and not own:
            calibration = like.compact()._calibrator.calibration()
            mine, other = (np.std(m.predict_projection(X)) for m in (self, like))
            factor = float(other / mine) if mine > 0 else 1.0
            calibration = replace(calibration, slope=factor * calibration.slope)
        model._calibrator = Calibrator.of(calibration, own)
        return model


def _client(given: Any) -> Any:
    from distributed import default_client

    if given is not None:
        return given
    try:
        return default_client()
    except ValueError:
        raise ValueError(
            "client: this process has no Dask client; create one first, for example "
            "client = distributed.Client(), which uses the cores of this machine"
        ) from None


def _project(X: Any, coef: Array) -> Array:
    return np.asarray(X @ coef, dtype=np.float64).ravel()


def _labels(h: Array, thresholds: Array, classes: NDArray[Any]) -> NDArray[Any]:
    return classes[ranks(np.asarray(h), thresholds)]


def _warn_about_lost_worker(message: str) -> None:
    warnings.warn(
        f"a worker was lost ({message}); its rows are loaded again and the last level repeated",
        RuntimeWarning,
        stacklevel=2,
    )

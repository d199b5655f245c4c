"""Probabilities on demand: the cross-validation behind `predict_proba`, at its first call."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from tordinal.calibration import Calibration, fit_calibration, identity_calibration
from tordinal.kernels import Matrix
from tordinal.model_selection import content_folds, take
from tordinal.reduction import UNLABELED, Ranks

Array = NDArray[np.float64]

N_SPLITS = 5


class Calibrator:
    """Holds the training data of a fit until its probabilities are first asked for, then their calibration."""

    def __init__(self, X: Matrix, rank: Ranks, weight: Array):
        self._data: Any = (X, rank, weight)
        self._held_out: tuple[NDArray[np.int64], Array] | None = None
        self._calibration: Calibration | None = None

    def held_out(self, model: Any) -> tuple[NDArray[np.int64], Array]:
        """Rows held out in the cross-validation of a fitted model, and their distances to the thresholds."""
        if self._held_out is None:
            self._held_out = cross_validate(model, len(model.thresholds_), *self._data)
        return self._held_out

    def calibration(self, model: Any) -> Calibration:
        """The calibration of a fitted model."""
        if self._calibration is None:
            if getattr(model, "loss", None) == "logistic":
                self._calibration = identity_calibration(len(model.thresholds_))
            else:
                _, rank, weight = self._data
                rows, distances = self.held_out(model)
                self._calibration = fit_calibration(distances, rank[rows], weight[rows])
            self._data = None
        return self._calibration


def cross_validate(model: Any, m: int, X: Matrix, rank: Ranks, weight: Array) -> tuple[NDArray[np.int64], Array]:
    """Hold out labelled rows in turn and measure how far a model that has not seen their labels puts them.

    Parameters
    ----------
    model : estimator with thresholds
        The model; clones of it are fitted.
    m : int
        Number of thresholds.
    X : matrix
        Its rows, or their kernel matrix.
    rank : ndarray of shape (n_samples,)
        Ranks, -1 for unlabelled rows.
    weight : ndarray of shape (n_samples,)
        Weights of the rows; those of weight 0 have no label here.

    Returns
    -------
    rows : ndarray
        The rows that were held out; none if there are too few labels.
    distances : ndarray of shape (len(rows), n_thresholds)
        Their distances to the thresholds.
    """
    pairwise = model.kernel == "precomputed"
    transductive = model._transductive and bool((rank == UNLABELED).any())
    rank = np.where(weight > 0, rank, UNLABELED)
    rows, distances = [np.empty(0, dtype=np.int64)], [np.empty((0, m))]
    try:
        fold = content_folds(X, rank, N_SPLITS)
    except ValueError:  # too few labels to hold any out
        return rows[0], distances[0]
    for k in range(N_SPLITS):
        held = np.flatnonzero(fold == k)
        visible = np.where(fold == k, UNLABELED, rank)
        # A model with unlabelled rows keeps the held-out ones among them.
        train = np.arange(len(rank)) if transductive else np.flatnonzero(visible != UNLABELED)
        if len(np.unique(visible[visible != UNLABELED])) < 2:
            continue
        part = clone(model).set_params(classes=list(range(m + 1)), verbose=0)
        part.fit(take(X, train, train, pairwise=pairwise), visible[train], sample_weight=weight[train])
        h = part.predict_projection(take(X, held, train, pairwise=pairwise))
        rows.append(held)
        distances.append(h[:, None] - part.thresholds_)
    return np.concatenate(rows), np.concatenate(distances)

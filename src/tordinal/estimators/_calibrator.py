"""Probabilities on demand: the cross-validation behind `predict_proba`, at its first call."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from tordinal.calibration import Calibration, fit_calibration, identity_calibration
from tordinal.kernels import Matrix
from tordinal.model_selection import content_folds, take
from tordinal.reduction import UNLABELED, Ranks

N_SPLITS = 5


class Calibrator:
    """Holds the training data of a fit until its probabilities are first asked for, then their calibration."""

    def __init__(self, X: Matrix, rank: Ranks, weight: NDArray[np.float64]):
        self._data: Any = (X, rank, weight)
        self._calibration: Calibration | None = None

    def calibration(self, model: Any) -> Calibration:
        """The calibration of a fitted model."""
        if self._calibration is None:
            if getattr(model, "loss", None) == "logistic":
                self._calibration = identity_calibration(len(model.thresholds_))
            else:
                self._calibration = fit_calibration(*self._held_out(model))
            self._data = None
        return self._calibration

    def _held_out(self, model: Any) -> tuple[NDArray[np.float64], Ranks, NDArray[np.float64]]:
        """Distances to thresholds of labelled rows that the fold's model did not see the label of."""
        X, rank, weight = self._data
        m = len(model.thresholds_)
        pairwise = model.kernel == "precomputed"
        transductive = model._transductive and bool((rank == UNLABELED).any())
        rank = np.where(weight > 0, rank, UNLABELED)
        distances, y, w = [np.empty((0, m))], [np.empty(0, dtype=np.int64)], [np.empty(0)]
        try:
            fold = content_folds(X, rank, N_SPLITS)
        except ValueError:  # too few labels to hold any out
            return distances[0], y[0], w[0]
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
            distances.append(h[:, None] - part.thresholds_)
            y.append(rank[held])
            w.append(weight[held])
        return np.concatenate(distances), np.concatenate(y), np.concatenate(w)

"""Errors of ordinal predictions: the paper's (12) and (13)."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike


def mean_zero_one_error(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """Share of wrong labels, equation 12.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        True and predicted labels.

    Returns
    -------
    error : float
        Between 0 and 1.

    Examples
    --------
    >>> mean_zero_one_error([1, 2, 3, 4], [1, 2, 3, 1])
    0.25
    """
    true, predicted = _pair(y_true, y_pred)
    return float(np.mean(true != predicted))


def mean_absolute_error(y_true: ArrayLike, y_pred: ArrayLike, *, classes: ArrayLike | None = None) -> float:
    """Mean distance between true and predicted ranks, equation 13.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        True and predicted labels.
    classes : array-like, default=None
        All labels from the lowest to the highest. None: the labels are numbers and count as they are.

    Returns
    -------
    error : float
        In ranks.

    Examples
    --------
    >>> mean_absolute_error([1, 2, 3, 4], [1, 2, 3, 1])
    0.75
    >>> mean_absolute_error(["poor", "good"], ["fair", "good"], classes=["poor", "fair", "good"])
    0.5
    """
    true, predicted = _pair(y_true, y_pred)
    if classes is not None:
        rank = {label: k for k, label in enumerate(np.asarray(classes).tolist())}
        true = np.array([rank[label] for label in true.tolist()])
        predicted = np.array([rank[label] for label in predicted.tolist()])
    elif true.dtype.kind not in "biuf":
        raise ValueError("y_true holds labels that are not numbers: pass classes=[...] with their order")
    return float(np.mean(np.abs(true.astype(np.float64) - predicted.astype(np.float64))))


def _pair(y_true: ArrayLike, y_pred: ArrayLike) -> tuple[Any, Any]:
    true, predicted = np.asarray(y_true), np.asarray(y_pred)
    if true.shape != predicted.shape or true.ndim != 1 or len(true) == 0:
        raise ValueError(
            f"y_true and y_pred must hold one label for each of the same rows, got shapes {true.shape} and {predicted.shape}"
        )
    return true, predicted

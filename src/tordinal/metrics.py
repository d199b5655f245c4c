"""Errors of ordinal predictions: the paper's (12) and (13), and other common ones.

Every function takes ``ignore_unlabeled=True`` to exclude rows whose true label is -1 (in integer
labels), None or NaN. `SCORERS` holds each of them as a scorer for scikit-learn's searches, which
excludes such rows.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tordinal.labels import label_array, unlabeled_rows

Array = NDArray[np.float64]


def mean_zero_one_error(
    y_true: ArrayLike, y_pred: ArrayLike, *, ignore_unlabeled: bool = False
) -> float:
    """Share of wrong labels, equation 12.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        True and predicted labels.
    ignore_unlabeled : bool, default=False
        Whether to exclude rows without a true label.

    Returns
    -------
    error : float
        Between 0 and 1.

    See Also
    --------
    mean_absolute_error : How far off, not only how often.

    Examples
    --------
    >>> mean_zero_one_error([1, 2, 3, 4], [1, 2, 3, 1])
    0.25
    """
    true, predicted = _pair(y_true, y_pred, ignore_unlabeled)
    return float(np.mean(true != predicted))


def mean_absolute_error(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    classes: ArrayLike | None = None,
    ignore_unlabeled: bool = False,
) -> float:
    """Mean distance between true and predicted ranks, equation 13.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        True and predicted labels.
    classes : array-like, default=None
        All labels from the lowest to the highest. None: the labels are
        numbers, whose differences count.
    ignore_unlabeled : bool, default=False
        Whether to exclude rows without a true label.

    Returns
    -------
    error : float
        In ranks.

    See Also
    --------
    macro_mean_absolute_error : Rare classes count as much as common ones.
    mean_zero_one_error : How often, not how far off.

    Examples
    --------
    >>> mean_absolute_error([1, 2, 3, 4], [1, 2, 3, 1])
    0.75
    >>> mean_absolute_error(["poor", "good"], ["fair", "good"], classes=["poor", "fair", "good"])
    0.5
    """
    true, predicted = _ranks(*_pair(y_true, y_pred, ignore_unlabeled), classes)
    return float(np.mean(np.abs(true - predicted)))


def macro_mean_absolute_error(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    classes: ArrayLike | None = None,
    ignore_unlabeled: bool = False,
) -> float:
    """Mean absolute error averaged over the true classes: rare ones count as much as common ones.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        True and predicted labels.
    classes : array-like, default=None
        All labels from the lowest to the highest. None: the labels are
        numbers, whose differences count.
    ignore_unlabeled : bool, default=False
        Whether to exclude rows without a true label.

    Returns
    -------
    error : float
        In ranks.

    See Also
    --------
    mean_absolute_error : Every row counts the same.

    Examples
    --------
    >>> macro_mean_absolute_error([1, 1, 1, 2], [1, 1, 1, 1])
    0.5
    """
    true, predicted = _ranks(*_pair(y_true, y_pred, ignore_unlabeled), classes)
    return float(np.mean([np.mean(np.abs(predicted[true == k] - k)) for k in np.unique(true)]))


def quadratic_weighted_kappa(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    classes: ArrayLike | None = None,
    ignore_unlabeled: bool = False,
) -> float:
    """Cohen's kappa with quadratic weights: 1 for perfect agreement, 0 for chance.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        True and predicted labels.
    classes : array-like, default=None
        All labels from the lowest to the highest. None: the labels are
        numbers, whose differences count.
    ignore_unlabeled : bool, default=False
        Whether to exclude rows without a true label.

    Returns
    -------
    kappa : float
        At most 1.

    See Also
    --------
    mean_absolute_error : The error in ranks.

    Examples
    --------
    >>> quadratic_weighted_kappa([1, 2, 3], [1, 2, 3])
    1.0
    """
    true, predicted = _ranks(*_pair(y_true, y_pred, ignore_unlabeled), classes)
    by_chance = true.var() + predicted.var() + (true.mean() - predicted.mean()) ** 2
    if by_chance == 0:
        return 1.0  # one label only, and all agree
    return float(1.0 - np.mean((true - predicted) ** 2) / by_chance)


def ranked_probability_score(
    y_true: ArrayLike,
    y_proba: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    ignore_unlabeled: bool = False,
) -> float:
    """Mean squared distance between the predicted and true cumulative distributions; 0 is perfect.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels.
    y_proba : array-like of shape (n_samples, n_classes)
        Predicted class probabilities.
    labels : array-like of shape (n_classes,), default=None
        The classes of the columns from the lowest to the highest. None: the sorted labels found.
    ignore_unlabeled : bool, default=False
        Whether to exclude rows without a true label.

    Returns
    -------
    score : float
        The sum over the K - 1 cumulative probabilities, averaged over rows.

    See Also
    --------
    mean_absolute_error : For predicted ranks instead of probabilities.

    Examples
    --------
    >>> ranked_probability_score([1, 2], [[1.0, 0.0], [0.5, 0.5]])
    0.125
    """
    true, p = label_array(y_true), np.asarray(y_proba, dtype=np.float64)
    if len(true) != len(p):
        raise ValueError(f"y_true has {len(true)} rows and y_proba {len(p)}")
    keep = ~unlabeled_rows(true) if ignore_unlabeled else np.ones(len(true), dtype=bool)
    true, p = true[keep], p[keep]
    if len(true) == 0:
        raise ValueError("y_true holds no label, so there is no score to measure")
    order = np.unique(true) if labels is None else np.asarray(labels)
    if p.ndim != 2 or p.shape != (len(true), len(order)):
        raise ValueError(
            f"y_proba has shape {p.shape}, but there are {len(true)} rows and {len(order)} "
            "classes. Pass labels=classes_."
        )
    rank = _encode(true, order)
    steps = np.cumsum(p, axis=1)[:, :-1] - (rank[:, None] <= np.arange(len(order) - 1))
    return float(np.mean((steps**2).sum(axis=1)))


def _pair(y_true: ArrayLike, y_pred: ArrayLike, ignore_unlabeled: bool) -> tuple[Any, Any]:
    true, predicted = label_array(y_true), label_array(y_pred)
    if true.shape != predicted.shape or true.ndim != 1:
        raise ValueError(
            "y_true and y_pred must hold one label for each of the same rows, "
            f"got shapes {true.shape} and {predicted.shape}"
        )
    if ignore_unlabeled:
        keep = ~unlabeled_rows(true)
        true, predicted = true[keep], predicted[keep]
    if len(true) == 0:
        raise ValueError("y_true holds no label, so there is no error to measure")
    return true, predicted


def _ranks(true: Any, predicted: Any, classes: ArrayLike | None) -> tuple[Array, Array]:
    if classes is not None:
        order = np.asarray(classes)
        return _encode(true, order).astype(np.float64), _encode(predicted, order).astype(np.float64)
    try:
        return np.asarray(true, dtype=np.float64), np.asarray(predicted, dtype=np.float64)
    except ValueError:
        raise ValueError(
            "y_true holds labels that are not numbers: pass classes=[...] with their order"
        ) from None


def _encode(labels: Any, order: Any) -> NDArray[np.int64]:
    rank = {label: k for k, label in enumerate(order.tolist())}
    try:
        return np.array([rank[label] for label in labels.tolist()], dtype=np.int64)
    except KeyError as error:
        raise ValueError(
            f"the label {error.args[0]!r} is not among the classes {order.tolist()}"
        ) from None


@dataclass(frozen=True)
class _Scorer:
    """A scorer that knows the estimator's classes, and excludes rows without a label."""

    metric: Callable[..., float]
    sign: float
    method: str = "predict"
    order: str = "classes"  # the parameter of the metric for the classes; empty if it has none

    def __call__(self, estimator: Any, X: Any, y: ArrayLike) -> float:
        classes = getattr(estimator, "classes_", None)
        labels = label_array(y)
        labeled = ~unlabeled_rows(labels)
        if classes is not None:  # -1 may be one of them
            labeled |= np.isin(labels, classes)
        found = getattr(estimator, self.method)(X)
        options = {self.order: classes} if self.order else {}
        return self.sign * self.metric(labels[labeled], np.asarray(found)[labeled], **options)


SCORERS: dict[str, Any] = {
    "neg_mean_zero_one_error": _Scorer(mean_zero_one_error, -1.0, order=""),
    "neg_mean_absolute_error": _Scorer(mean_absolute_error, -1.0),
    "neg_macro_mean_absolute_error": _Scorer(macro_mean_absolute_error, -1.0),
    "quadratic_weighted_kappa": _Scorer(quadratic_weighted_kappa, 1.0),
    "neg_ranked_probability_score": _Scorer(
        ranked_probability_score, -1.0, "predict_proba", "labels"
    ),
}

"""Class proportions of the unlabelled rows: as labelled, as predicted, in between, or estimated."""

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tordinal.reduction import UNLABELED, Ranks, ranks

__all__ = [
    "check_class_ratio",
    "estimate_ratio",
    "predicted_counts",
    "ratio_of_counts",
    "resolve_ratio",
]

Array = NDArray[np.float64]

PULL = 800.0  # labels at which the labelled ratio counts as much as perfect posteriors
EM_STEPS, EM_TOLERANCE = 1000, 1e-6


class Projected(Protocol):
    """A supervised model: its projections and thresholds."""

    @property
    def h(self) -> Array:
        """Projections of all rows."""

    @property
    def thresholds(self) -> Array:
        """Thresholds."""


def check_class_ratio(class_ratio: Any, n_classes: int) -> str | Array:
    """Resolve the parameter `class_ratio`: a name, or K proportions, scaled to sum to 1."""
    if isinstance(class_ratio, str):
        return class_ratio
    ratio = np.asarray(class_ratio, dtype=np.float64)
    given = ratio.shape == (n_classes,) and np.isfinite(ratio).all()
    if not given or (ratio < 0).any() or ratio.sum() <= 0:
        raise ValueError(
            f"class_ratio={class_ratio!r} must be a name or {n_classes} proportions, one per "
            "class, none negative and not all zero."
        )
    return ratio / ratio.sum()


def resolve_ratio(
    class_ratio: str | Array,
    rank: Ranks,
    supervised: Projected | None,
    n_classes: int,
    posteriors: Callable[[], Array] | None = None,
    weight: Array | None = None,
) -> Array:
    """Proportions of the classes among the unlabelled rows.

    Parameters
    ----------
    class_ratio : str or ndarray of shape (n_classes,)
        A name, or the proportions.
    rank : ndarray of shape (n_rows,)
        Ranks, `UNLABELED` where there is none.
    supervised : Projected or None
        The model of the labelled rows, for "predicted" and "blended".
    n_classes : int
        K.
    posteriors : callable or None
        Makes calibrated class probabilities of the unlabelled rows, for "estimated".
    weight : ndarray of shape (n_rows,) or None
        How much each labelled row counts; None: all alike.

    Returns
    -------
    ratio : ndarray of shape (n_classes,)
        The proportions; they sum to 1.
    """
    unlabeled = rank == UNLABELED
    counted = None if weight is None else weight[~unlabeled]
    given = np.bincount(rank[~unlabeled], weights=counted, minlength=n_classes)

    def predicted() -> NDArray[np.int64]:
        assert supervised is not None
        return predicted_counts(supervised, unlabeled)

    return ratio_of_counts(class_ratio, given, predicted, posteriors)


def predicted_counts(supervised: Projected, unlabeled: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Count the unlabelled rows by the class that a model predicts."""
    predicted = ranks(supervised.h[unlabeled], supervised.thresholds)
    return np.bincount(predicted, minlength=len(supervised.thresholds) + 1)


def ratio_of_counts(
    class_ratio: str | Array,
    given: NDArray[Any],
    predicted: Callable[[], NDArray[np.int64]],
    posteriors: Callable[[], Array] | None = None,
) -> Array:
    """Proportions of the classes among the unlabelled rows, from counts alone.

    Parameters
    ----------
    class_ratio : str or ndarray of shape (n_classes,)
        A name, or the proportions.
    given : ndarray of shape (n_classes,)
        Labelled rows by class, or the sums of their weights.
    predicted : callable
        Counts unlabelled rows by the class that the supervised model gives them.
    posteriors : callable or None
        As in `resolve_ratio`.

    Returns
    -------
    ratio : ndarray of shape (n_classes,)
        The proportions; they sum to 1.

    Examples
    --------
    >>> import numpy as np
    >>> ratio_of_counts("blended", np.array([1, 3]), lambda: np.array([30, 10]))
    array([0.5, 0.5])
    """
    if not isinstance(class_ratio, str):
        return class_ratio
    labeled = given / given.sum()  # Algorithm 2, line 4
    if class_ratio == "labeled":
        return labeled
    if class_ratio == "uniform":
        return np.full(len(given), 1.0 / len(given))
    if class_ratio == "estimated":
        assert posteriors is not None
        return estimate_ratio(posteriors(), labeled, int(given.sum()))
    counts = predicted()
    share = counts / counts.sum()
    return share if class_ratio == "predicted" else 0.5 * (labeled + share)


def estimate_ratio(posteriors: Array, labeled: Array, n_labels: int) -> Array:
    """The most likely class ratio of some rows, shrunk towards that of the labelled ones.

    The EM iteration of Saerens, Latinne and Decaestecker (2002): posteriors that were right for the
    labelled ratio are reweighted for the current estimate, and their mean is the next estimate.
    Where the posteriors are uninformative it runs to extremes, and many labels determine the ratio
    well without it. So the labelled ratio takes part with the weight n / (n + 800 i^2) of its n
    labels, where i is the share of the classes' entropy that the posteriors remove.

    Parameters
    ----------
    posteriors : ndarray of shape (n_rows, n_classes)
        Class probabilities by a model of the labelled rows.
    labeled : ndarray of shape (n_classes,)
        Class ratio of the labelled rows.
    n_labels : int
        Their number.

    Returns
    -------
    ratio : ndarray of shape (n_classes,)
        The estimate; it sums to 1.

    See Also
    --------
    tordinal.TOR : Takes it as `class_ratio`.
    tordinal.inference.estimate_shares : Shares with intervals.

    Examples
    --------
    >>> import numpy as np
    >>> p = np.array([[0.99, 0.01]] * 80 + [[0.01, 0.99]] * 20)
    >>> estimate_ratio(p, np.array([0.5, 0.5]), n_labels=100).round(2)
    array([0.76, 0.24])
    """
    prior = np.maximum(labeled, 1e-9)
    ratio = prior / prior.sum()
    share = n_labels / (n_labels + PULL * _information(posteriors) ** 2)
    for _ in range(EM_STEPS):
        weighted = posteriors * (ratio / prior)
        weighted /= weighted.sum(axis=1, keepdims=True)
        last, ratio = ratio, share * labeled + (1.0 - share) * weighted.mean(axis=0)
        if float(np.abs(ratio - last).max()) < EM_TOLERANCE:
            break
    return ratio / ratio.sum()


def _information(posteriors: Array) -> float:
    """Share of the entropy of the classes that the posteriors remove, between 0 and 1."""
    before = _entropy(posteriors.mean(axis=0))
    return max(0.0, 1.0 - float(_entropy(posteriors).mean()) / float(before)) if before > 0 else 0.0


def _entropy(p: Array) -> Array:
    return -np.sum(p * np.log(np.maximum(p, 1e-300)), axis=-1)

"""Pseudo-labels of some rows at fixed (h, t): Algorithm 2's sort, and lines 9 to 15 of Algorithm 1.

Functions of arrays. The rows may be all rows of a machine or one block of many.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from tordinal.reduction import Ranks, ranks

__all__ = [
    "Gain",
    "Swaps",
    "greatest_losses",
    "initial_labels",
    "labeling_gain",
    "misplaced",
    "optimal_labels",
    "swap_labels",
]

Array = NDArray[np.float64]
Index = NDArray[np.int64]
Gain = Callable[[Array], Array]  # decrease of the loss when a row at d on the wrong side swaps
Swaps = int | str


def initial_labels(h: Array, counts: Index) -> Ranks:
    """Algorithm 2, lines 7 to 11: sort by projection and assign the ranks in the given numbers.

    Examples
    --------
    >>> import numpy as np
    >>> initial_labels(np.array([0.3, -1.0, 2.0]), np.array([1, 2]))
    array([1, 0, 1])
    """
    y = np.empty(len(h), dtype=np.int64)
    y[np.argsort(h, kind="stable")] = np.repeat(np.arange(len(counts)), counts)
    return y


def swap_labels(
    h: Array, t: Array, y: Ranks, weight: Array, gain: Gain, swaps: Swaps
) -> tuple[Ranks, int]:
    """Swap labels between unlabelled rows: the new labels, and the number of pairs swapped.

    Class counts are kept. Lines 9 to 15 of Algorithm 1, or with ``swaps="optimal"`` the labels of
    least loss: see `optimal_labels`. A swap whose measured gain is not positive is not made.

    Parameters
    ----------
    h, t : ndarray
        Projections of the rows, and thresholds.
    y : ndarray of shape (n_rows,)
        Their pseudo-labels.
    weight : ndarray of shape (n_rows,)
        Factors of their costs.
    gain : callable
        The decrease of the loss.
    swaps : {"single", "all", "optimal"} or int
        Pairs per class boundary, or the exact step.
    """
    if swaps == "optimal":
        new = optimal_labels(h, y)
        if labeling_gain(h, t, y, new, weight, gain) <= 0:
            return y, 0
        return new, int(np.maximum(new - y, 0).sum())
    most = {"single": 1, "all": len(y)}[swaps] if isinstance(swaps, str) else swaps
    # Only rows on a wrong side of some threshold can be swapped: few, compared with all.
    wrong = np.flatnonzero(ranks(h, t) != y)
    h, rank, weight = h[wrong], y[wrong], weight[wrong]
    n_swaps = 0
    for k in range(len(t)):  # line 9
        above, below = misplaced(h, rank, weight, k, t[k], gain)
        n = min(len(above), len(below), most)
        rank[above[:n]], rank[below[:n]] = k + 1, k  # lines 12 and 13
        n_swaps += n
    new = y.copy()
    new[wrong] = rank
    return new, n_swaps


def misplaced(
    h: Array, y: Ranks, weight: Array, k: int, t: float, gain: Gain
) -> tuple[Index, Index]:
    """Rows that satisfy condition (5) at t_k: labelled k but above, and labelled k + 1 but not.

    Those with the largest decrease of the loss come first (line 11), ties by the larger violation.
    """
    above = _by_gain(np.flatnonzero((y == k) & (h > t)), h - t, weight, gain)
    below = _by_gain(np.flatnonzero((y == k + 1) & (h <= t)), t - h, weight, gain)
    return above, below


def _by_gain(rows: Index, d: Array, weight: Array, gain: Gain) -> Index:
    return rows[np.lexsort((-d[rows], -weight[rows] * gain(d[rows])))]


def optimal_labels(h: Array, y: Ranks) -> Ranks:
    """The labels of least loss with the class counts of y: sort by h and assign the ranks.

    Rows of equal h keep the order of their labels, so that equal rows never swap labels back and
    forth.

    Examples
    --------
    >>> import numpy as np
    >>> optimal_labels(np.array([0.5, 0.1, 0.1]), np.array([0, 1, 0]))
    array([1, 0, 0])
    """
    new = np.empty_like(y)
    new[np.lexsort((y, h))] = np.sort(y)
    return new


def labeling_gain(h: Array, t: Array, old: Ranks, new: Ranks, weight: Array, gain: Gain) -> float:
    """How much the loss at (h, t) falls from the old ranks to the new, in units of C2."""
    total = 0.0
    for k in range(len(t)):
        up = np.flatnonzero((old <= k) & (new > k))
        down = np.flatnonzero((old > k) & (new <= k))
        total += float(weight[up] @ gain(h[up] - t[k]))
        total += float(weight[down] @ gain(t[k] - h[down]))
    return total


def greatest_losses(h: Array, t: Array, weight: Array, wrong_side_loss: Gain) -> float:
    """A bound of the loss of the rows with any labels, in units of C2."""
    farthest = np.abs(h[:, None] - t).max(axis=1, initial=0.0)
    return len(t) * float(weight @ wrong_side_loss(farthest))

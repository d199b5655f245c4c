"""Ranks from a number."""

import numbers
from typing import Any, Literal, overload

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray


@overload
def quantize(
    target: ArrayLike, n_ranks: int = 5, *, return_sizes: Literal[False] = False
) -> NDArray[np.int64]: ...


@overload
def quantize(
    target: ArrayLike, n_ranks: int = 5, *, return_sizes: Literal[True]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]: ...


def quantize(target: ArrayLike, n_ranks: int = 5, *, return_sizes: bool = False) -> Any:
    """Cut a number into ranks of equal frequency, without splitting ties.

    Cuts lie between distinct values, where the sizes of the ranks have the least sum of squares:
    they are as even as ties allow. `return_sizes` returns how even.

    Parameters
    ----------
    target : array-like of shape (n_samples,)
        Numbers.
    n_ranks : int, default=5
        Number of ranks K.
    return_sizes : bool, default=False
        Whether to return the sizes of the ranks too.

    Returns
    -------
    ranks : ndarray of shape (n_samples,)
        Ranks 1 .. K.
    sizes : ndarray of shape (n_ranks,)
        Rows of each rank, with `return_sizes`.

    Examples
    --------
    >>> quantize([0.0, 0.0, 0.0, 1.0, 2.0, 7.0], n_ranks=3)
    array([1, 1, 1, 2, 3, 3])
    >>> quantize([0.0, 0.0, 0.0, 1.0, 2.0, 7.0], n_ranks=3, return_sizes=True)[1]
    array([3, 1, 2])
    """
    try:
        values = np.asarray(target, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError("target must be a list of finite numbers") from None
    if values.ndim != 1 or not np.isfinite(values).all():
        raise ValueError("target must be a list of finite numbers")
    if not isinstance(n_ranks, numbers.Integral):
        raise ValueError(f"n_ranks={n_ranks!r} must be a whole number")
    distinct, counts = np.unique(values, return_counts=True)
    if n_ranks < 2 or len(distinct) < n_ranks:
        raise ValueError(
            f"n_ranks={n_ranks} must be at least 2 and at most {len(distinct)}, "
            "the distinct values of target"
        )
    below = np.concatenate([[0], np.cumsum(counts)]).astype(np.float64)
    cuts = _even_cuts(below, int(n_ranks))
    ranks = 1 + np.searchsorted(distinct[cuts - 1], values, side="left")
    return (ranks, np.bincount(ranks)[1:]) if return_sizes else ranks


@njit(cache=True)
def _even_cuts(below, n_ranks):
    """How many distinct values lie below each cut; below[j] rows have one of the j lowest values.

    cost[j] is the least sum of squared sizes of k ranks over the first j values. The best place of
    the last cut never moves left as j grows: once it is known for the middle j, lower j search only
    to its left and higher j only to its right.
    """
    m = len(below) - 1
    cost = below**2
    best = np.zeros((n_ranks, m + 1), dtype=np.int64)
    for k in range(1, n_ranks):
        new = np.full(m + 1, np.inf)
        todo = [(k + 1, m, k, m)]
        while len(todo) > 0:
            first, last, low, high = todo.pop()
            j = (first + last) // 2
            for i in range(low, min(high, j - 1) + 1):
                value = cost[i] + (below[j] - below[i]) ** 2
                if value < new[j]:
                    new[j] = value
                    best[k, j] = i
            if first < j:
                todo.append((first, j - 1, low, best[k, j]))
            if j < last:
                todo.append((j + 1, last, best[k, j], high))
        cost = new
    cuts = np.empty(n_ranks - 1, dtype=np.int64)
    j = m
    for k in range(n_ranks - 1, 0, -1):
        j = best[k, j]
        cuts[k - 1] = j
    return cuts

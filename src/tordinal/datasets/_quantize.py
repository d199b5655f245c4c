"""Ranks from a number."""

import numpy as np
from numpy.typing import ArrayLike, NDArray


def quantize(target: ArrayLike, n_ranks: int = 5) -> NDArray[np.int64]:
    """Cut a number into ranks of equal frequency, without splitting ties.

    Each cut is put between two distinct values, where the share of rows below it is nearest to k / n_ranks. With many
    equal values the ranks are as even as ties allow; ``numpy.bincount`` of the result says how even.

    Parameters
    ----------
    target : array-like of shape (n_samples,)
        Numbers.
    n_ranks : int, default=5
        Number of ranks K.

    Returns
    -------
    ranks : ndarray of shape (n_samples,)
        Ranks 1 .. K.

    Examples
    --------
    >>> quantize([0.0, 0.0, 0.0, 1.0, 2.0, 7.0], n_ranks=3)
    array([1, 1, 1, 2, 3, 3])
    """
    values = np.asarray(target, dtype=np.float64)
    if values.ndim != 1 or not np.isfinite(values).all():
        raise ValueError("target must be a list of finite numbers")
    distinct, counts = np.unique(values, return_counts=True)
    if n_ranks < 2 or len(distinct) < n_ranks:
        raise ValueError(
            f"n_ranks={n_ranks} must be at least 2 and at most {len(distinct)}, the distinct values of target"
        )
    below = np.cumsum(counts)[:-1]  # rows below a cut after each distinct value but the last
    cuts: list[int] = []
    for k in range(1, n_ranks):
        # Leave a distinct value for each rank still to come.
        first, last = (cuts[-1] + 1 if cuts else 0), len(below) - (n_ranks - 1 - k)
        cuts.append(first + int(np.argmin(np.abs(below[first:last] - k / n_ranks * len(values)))))
    return 1 + np.searchsorted(distinct[cuts], values, side="left")

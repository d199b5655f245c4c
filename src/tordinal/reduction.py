"""Equations 1 to 3: ranks and signs, thresholds and ranks.

Inside the library a rank is an integer 0 .. K-1 (the paper counts from 1) and an unlabelled row has
the rank `UNLABELED`. Threshold k = 0 .. K-2 lies between the ranks k and k + 1.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

UNLABELED = -1

Ranks = NDArray[np.int64]
Array = NDArray[np.float64]


def signs(y: Ranks, n_thresholds: int) -> Array:
    """Equation 1: s_ik = +1 where the rank lies above threshold k, else -1.

    Examples
    --------
    >>> import numpy as np
    >>> signs(np.array([0, 2]), 2)
    array([[-1., -1.],
           [ 1.,  1.]])
    """
    return np.where(np.asarray(y)[:, None] > np.arange(n_thresholds), 1.0, -1.0)


def ranks(h: ArrayLike, thresholds: ArrayLike) -> Ranks:
    """Equation 3: the rank of each projection is the number of thresholds below it.

    Examples
    --------
    >>> ranks([-3.0, 0.0, 5.0], [-1.0, 1.0])
    array([0, 1, 2])
    """
    h = np.asarray(h)
    rank = np.zeros(len(h), dtype=np.int64)
    for t in np.asarray(thresholds):  # a pass each, which is quicker than short sums by row
        rank += h > t
    return rank

"""Rows at random."""

from typing import Any

import numpy as np

from tordinal.active.base import Pool, Scores, Strategy

__all__ = ["Random"]


class Random(Strategy):
    """Choose rows uniformly at random, without replacement.

    Parameters
    ----------
    classes : array-like, default=None
        All ratings from the lowest to the highest. Needed only if -1 is one of them.
    random_state : int, RandomState or None, default=0
        Seed. An int gives other rows once there are more ratings.

    See Also
    --------
    Coverage : Rows that cover the data.
    Mixture : A strategy with a share of random rows.

    Examples
    --------
    >>> from tordinal.active import Random
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [1, None, None, 2]
    >>> rows, probabilities = Random().query(X, y, 2)
    >>> sorted(rows.tolist()), probabilities.tolist()
    ([1, 2], [0.5, 1.0])
    """

    def __init__(self, *, classes: Any = None, random_state: Any = 0):
        self.classes = classes
        self.random_state = random_state

    def _scores(self, pool: Pool) -> Scores:
        return lambda: np.zeros(len(pool.rank))

"""Rows that cover the data, for the time before there is a model."""

from typing import Any

from tordinal.active.base import Array, Pool, Scores, Strategy, in_proportion

__all__ = ["Coverage"]


class Coverage(Strategy):
    """Choose rows far from those that are rated or chosen, as k-means++ chooses its centres.

    A row is drawn with a probability in proportion to its squared distance to the nearest rated or
    chosen row, the very first one uniformly. No ratings are needed. A farthest row would always be
    an outlier; a drawn one rarely is.

    Parameters
    ----------
    classes : array-like, default=None
        All ratings from the lowest to the highest. Needed only if -1 is one of them.
    random_state : int, RandomState or None, default=0
        Seed. An int gives other rows once there are more ratings.

    See Also
    --------
    ExpectedError : Once two classes are rated.
    Random : Rows uniformly at random.

    References
    ----------
    D. Arthur and S. Vassilvitskii, "k-means++: the advantages of careful seeding", SODA 2007.

    Examples
    --------
    >>> from tordinal.active import Coverage
    >>> X = [[0.0], [0.0], [0.0], [9.0], [9.0], [9.0]]
    >>> rows, _ = Coverage().query(X, [None] * 6, 2)
    >>> sorted(X[i][0] for i in rows)
    [0.0, 9.0]
    """

    def __init__(self, *, classes: Any = None, random_state: Any = 0):
        self.classes = classes
        self.random_state = random_state

    def _scores(self, pool: Pool) -> Scores:
        return lambda: pool.nearest() ** 2

    def _distribution(self, scores: Array, pool: Pool) -> Array:
        return in_proportion(scores, pool)

"""He's expected cost minimisation: the rating after which the pool is expected to cost least."""

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.cluster import KMeans

from tordinal._sklearn import Interval
from tordinal.active.base import Array, Pool, Scores, Strategy, in_proportion
from tordinal.distances import squared_distances
from tordinal.kernels import RBF
from tordinal.model_selection import content_codes

__all__ = ["ExpectedCost"]

Index = NDArray[np.int64]

UNCERTAINTY = 0.1  # weight of the margin beside the expected cost, as published
KMEANS_ROWS = 2000  # rows that are clustered; more change little and take long


class ExpectedCost(Strategy):
    """Choose the rows after whose rating the unrated rows are expected to cost least.

    He's method. The rows are clustered into one cluster more than there are rated rows, and the
    rows in the middle of clusters without a rated row are the candidates. For each candidate and
    each rank it could have, a kernel ridge regression onto the squared distances between ranks
    (KELMOR) is fitted, and the absolute error that it expects of the unrated rows is averaged over
    the ranks with their probabilities. The best candidate has the smallest sum of 0.9 times this
    cost and 0.1 times its margin, the difference between its two largest probabilities. For n rows
    there are n more clusters than rated rows, and the n best candidates are chosen. Until two
    classes are rated, rows are drawn as in `Coverage`.

    Parameters
    ----------
    C : float, default=100
        Cost of the kernel ridge regression.
    gamma : float, default=0.1
        Coefficient of its rbf kernel. The default, as published, is meant for scaled features.
    max_rows : int, default=1000
        Unrated rows over which the cost is averaged at most, drawn at random. The published method
        takes all.
    classes : array-like, default=None
        All ratings from the lowest to the highest. None: those in y, sorted.
    random_state : int, RandomState or None, default=0
        Seed of the clusters and of the rows over which the cost is averaged.

    See Also
    --------
    ExpectedError : Faster, and with probabilities of choice.

    References
    ----------
    D. He, "Active learning for ordinal classification based on expected cost minimization",
    Scientific Reports 12, 2022.

    Examples
    --------
    >>> import numpy as np
    >>> from tordinal.active import ExpectedCost
    >>> X, y = np.arange(9.0)[:, None], [1, None, None, None, None, None, None, None, 2]
    >>> rows, probabilities = ExpectedCost().query(X, y, 1)
    >>> int(rows[0]) in (3, 4, 5)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Strategy._parameter_constraints,
        "C": [Interval(Real, 0.0, None, closed="neither")],
        "gamma": [Interval(Real, 0.0, None, closed="neither")],
        "max_rows": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        C: float = 100,
        *,
        gamma: float = 0.1,
        max_rows: int = 1000,
        classes: Any = None,
        random_state: Any = 0,
    ):
        self.C = C
        self.gamma = gamma
        self.max_rows = max_rows
        self.classes = classes
        self.random_state = random_state

    def _scores(self, pool: Pool) -> Scores:
        if not pool.several_classes_rated:
            return lambda: pool.nearest() ** 2
        assert pool.classes is not None
        candidates = _candidates(pool)
        scores = np.zeros(len(pool.rank))
        scores[candidates] = 1.0 / (self._cost(pool, candidates) + 1e-12)
        return lambda: scores

    def _distribution(self, scores: Array, pool: Pool) -> Array:
        if not pool.several_classes_rated:
            return in_proportion(scores, pool)
        return super()._distribution(scores, pool)

    def _cost(self, pool: Pool, candidates: Index) -> Array:
        """What each candidate is chosen by; the smallest is the best."""
        assert pool.classes is not None
        ranks = np.arange(len(pool.classes))
        codes = np.square(ranks[:, None] - ranks).astype(np.float64)
        distance = np.abs(ranks[:, None] - ranks)
        kernel, rated = RBF(self.gamma), pool.X[pool.rated]
        unrated = np.flatnonzero(pool.candidates)
        if len(unrated) > self.max_rows:
            unrated = pool.rng.choice(unrated, self.max_rows, replace=False)
        K_rated, K_unrated = kernel(rated, rated), kernel(pool.X[unrated], rated)
        ridge = K_rated + np.eye(len(K_rated)) / self.C
        weights = np.linalg.solve(ridge, codes[pool.rank[pool.rated]])
        K_candidates = kernel(pool.X[candidates], rated)
        between = kernel(pool.X[unrated], pool.X[candidates])
        now = K_unrated @ weights
        p = _probabilities(K_candidates @ weights, codes)
        updates = np.linalg.solve(ridge, K_candidates.T)
        cost = np.empty(len(candidates))
        for i in range(len(candidates)):
            # One more row changes the predictions along one direction: the inverse of a matrix
            # that has grown by one row.
            pivot = 1.0 + 1.0 / self.C - K_candidates[i] @ updates[:, i]
            direction = (between[:, i] - K_unrated @ updates[:, i]) / pivot
            missing = codes - K_candidates[i] @ weights  # by the rank it could have
            after = now + direction[None, :, None] * missing[:, None, :]
            q = _probabilities(after.reshape(-1, len(ranks)), codes)
            # As published: the error of the most probable rank.
            expected = (q * distance[q.argmax(axis=1)]).sum(axis=1)
            cost[i] = p[i] @ expected.reshape(len(ranks), -1).mean(axis=1)
        largest = np.sort(p, axis=1)[:, -2:]
        return (1.0 - UNCERTAINTY) * cost + UNCERTAINTY * (largest[:, 1] - largest[:, 0])


def _probabilities(predicted: Array, codes: Array) -> Array:
    """Class probabilities: softmax of the negative distances to the codes of the ranks."""
    return softmax(-np.sqrt(squared_distances(predicted, codes)), axis=1)


def _candidates(pool: Pool) -> Index:
    """The rows next to the centres of clusters without a rated row."""
    rows = np.arange(len(pool.rank))
    if len(rows) > KMEANS_ROWS:
        drawn = pool.rng.permutation(np.flatnonzero(pool.candidates))[:KMEANS_ROWS]
        rows = np.union1d(drawn, pool.rated)
    X = pool.X[rows]
    if sp.issparse(X):  # KMeans takes short indices only
        X = sp.csr_matrix((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), X.shape)
    n_clusters = min(len(pool.rated) + pool.n_wanted, len(np.unique(content_codes(X))))
    seed = int(pool.rng.integers(2**31 - 1))
    means = KMeans(n_clusters, n_init=1, random_state=seed).fit(X)
    taken = np.unique(means.labels_[pool.rank[rows] != -1])
    middle = []
    for k in np.setdiff1d(np.unique(means.labels_), taken):
        members = np.flatnonzero(means.labels_ == k)
        offset = squared_distances(X[members], means.cluster_centers_[k : k + 1])[:, 0]
        middle.append(rows[members[np.argmin(offset)]])
    return np.array(middle, dtype=np.int64)

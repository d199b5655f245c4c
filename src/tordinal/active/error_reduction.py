"""Rows whose ratings are expected to reduce the error of the finished table most."""

from numbers import Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from tordinal._sklearn import HasMethods, Interval
from tordinal.active._probabilistic import class_probabilities
from tordinal.active.base import Array, Pool, Scores, Strategy, in_proportion
from tordinal.active.expected_error import expected_absolute_error
from tordinal.distances import Matrix, products, squared_distances

__all__ = ["ExpectedErrorReduction"]

# Rows that are looked at; time grows with their square and cube.
MOST_ROWS, MOST_RATED = 1000, 500
NOISE = np.array([0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4])  # variances, relative to the prior's
# The power is SIGNAL / noise. 3.2 rather than 1.6: obesity and housing gain more than stock loses.
SIGNAL, LEAST_POWER, LARGEST_POWER = 3.2, 4.0, 32.0


class ExpectedErrorReduction(Strategy):
    """Choose rows whose ratings are expected to reduce the error of the finished table most.

    A rating removes the error of its own row, expected to be that of the best rank under the row's
    class probabilities. It also makes predictions of similar rows better: a Gaussian process of
    the ratings, with the kernel of the default model, says how much it reduces their variance, and
    their expected errors shrink in proportion to the standard deviation. The score of a row is the
    sum of both. Rows of one query count as rated for those that follow, so they are not alike.

    Rows are drawn with a probability in proportion to a power of their score. Where the features
    explain the ratings well, a large power takes nearly always one of the best rows; where ratings
    are mostly noise scores say little, and a small one draws more evenly. Of more than 1,000
    unrated rows it looks at a random 1,000, others for each row that it chooses. Until two classes
    are rated, rows are drawn as in `Coverage`.

    Parameters
    ----------
    estimator : estimator with `predict_proba`, default=None
        What predicts the class probabilities; it is cloned and fitted to the rated rows, or to all
        if it is a transductive estimator of tordinal. None: `REDSVM` with C=10 and the perceptron
        kernel, for sparse rows with C=1 and the linear one.
    power : float or None, default=None
        Rows are drawn with a probability in proportion to this power of their score. None: between
        4 and 32, in inverse proportion to the variance of the noise that the Gaussian process
        finds in the ratings.
    classes : array-like, default=None
        All ratings from the lowest to the highest. None: those in y, sorted.
    random_state : int, RandomState or None, default=0
        Seed. An int gives other random numbers once there are more ratings.

    See Also
    --------
    ExpectedError : The expected error of each row alone: much faster.
    Mixture : The same with a share of audit rows.

    References
    ----------
    N. Roy and A. McCallum, "Toward optimal active learning through sampling estimation of error
    reduction", ICML 2001.

    Examples
    --------
    >>> import numpy as np
    >>> from tordinal.active import ExpectedErrorReduction
    >>> X, y = np.arange(10.0)[:, None], [1, 1, 1, None, None, None, None, 2, 2, 2]
    >>> rows, probabilities = ExpectedErrorReduction().query(X, y, 1)
    >>> int(rows[0]) in (4, 5)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Strategy._parameter_constraints,
        "estimator": [HasMethods(["fit", "predict_proba"]), None],
        "power": [Interval(Real, 0.0, None, closed="neither"), None],
    }
    estimator: Any
    power: float | None

    def __init__(
        self,
        estimator: Any = None,
        *,
        power: float | None = None,
        classes: Any = None,
        random_state: Any = 0,
    ):
        self.estimator = estimator
        self.power = power
        self.classes = classes
        self.random_state = random_state

    def _scores(self, pool: Pool) -> Scores:
        if not pool.several_classes_rated and pool.proba is None:
            return lambda: pool.nearest() ** 2
        p = class_probabilities(self.estimator, pool) if pool.proba is None else pool.proba
        error = expected_absolute_error(p)
        process = _GaussianProcess(pool)
        power = self.power
        if power is None:
            power = float(np.clip(SIGNAL / process.noise, LEAST_POWER, LARGEST_POWER))

        def scores() -> Array:
            nonlocal process
            if pool.sample is None:
                process.add_chosen()
            elif pool.chosen:  # what was chosen says something about the sample: draw another
                process = _GaussianProcess(pool, process.noise)
            rows, score = process.rows, np.zeros(len(error))
            score[rows] = error[rows] + process.reduction(error)
            score[~pool.candidates] = 0.0
            return np.asarray((score / (score.max() or 1.0)) ** power)

        return scores

    def _distribution(self, scores: Array, pool: Pool) -> Array:
        return in_proportion(scores, pool)


class _GaussianProcess:
    """What is uncertain about rows given the ratings, in units of the mean variance before them.

    Attributes
    ----------
    rows : ndarray
        Unrated rows that are looked at.
    noise : float
        Variance of the noise of one rating; it is estimated where it is not given.
    """

    def __init__(self, pool: Pool, noise: float | None = None):
        self.rows, self._pool = np.flatnonzero(pool.candidates), pool
        self._n_added = len(pool.chosen)
        pool.sample = None
        if len(self.rows) > MOST_ROWS:
            self.rows = np.sort(pool.rng.choice(self.rows, MOST_ROWS, replace=False))
            pool.sample = np.isin(np.arange(len(pool.rank)), self.rows)
        n, rated = len(self.rows), pool.rated
        if len(rated) > MOST_RATED:
            rated = np.sort(pool.rng.choice(rated, MOST_RATED, replace=False))
        known = np.concatenate([rated, np.array(pool.chosen, dtype=np.int64)])
        prior = _kernel(pool.X[np.concatenate([self.rows, known])], n)
        values, vectors = np.linalg.eigh(prior[n:, n:])
        values = np.maximum(values, 0.0)
        if noise is None:
            noise = _estimate_noise(values, vectors, pool.rank[known])
        self.noise = noise
        explained = prior[:n, n:] @ (vectors / np.sqrt(values + self.noise))
        # Single precision is enough for a score, and halves the time of each row chosen.
        self._covariance = (prior[:n, :n] - explained @ explained.T).astype(np.float32)

    def add_chosen(self) -> None:
        """Count the rows of the query that were chosen since the last call as rated."""
        new = self._pool.chosen[self._n_added :]
        self._n_added += len(new)
        for i in np.flatnonzero(np.isin(self.rows, new)):
            column = self._covariance[i] / np.sqrt(max(self._covariance[i, i], 0.0) + self.noise)
            self._covariance -= np.outer(column, column)

    def reduction(self, error: Array) -> Array:
        """By how much a rating of each row would reduce the expected errors of the other rows."""
        left = (self._pool.candidates * error)[self.rows].astype(np.float32)
        variance = np.maximum(self._covariance.diagonal(), 0.0)
        left /= variance + self.noise
        # The row's own error is removed, not only reduced.
        effect = np.square(self._covariance) @ left - variance**2 * left
        # The rows stand for all; a standard deviation shrinks half as fast as its variance.
        looked_at = self._pool.candidates[self.rows].sum()
        share = 0.5 * self._pool.candidates.sum() / max(looked_at, 1)
        return np.asarray(share * np.maximum(effect, 0.0) / (variance + self.noise))


def _kernel(X: Matrix, n: int) -> Array:
    """The kernel of the default model and a constant, scaled so that unrated rows have a mean of 1.

    The perceptron kernel -|x - x'| becomes positive definite when it is centred, here at the first
    n rows.
    """
    if sp.issparse(X):
        K = products(X, X)
    else:
        K = -np.sqrt(squared_distances(X, X))
        mean = K[:, :n].mean(axis=1)
        K += mean[:n].mean() - mean - mean[:, None]
    return np.asarray(1.0 + K / (K.diagonal()[:n].mean() or 1.0))


def _estimate_noise(values: Array, vectors: Array, rank: Any) -> float:
    """Variance of the noise relative to that of the signal: its mean given the ratings.

    The likelihood is that of a Gaussian process whose scale is the most probable one. Few ratings
    do not tell noise from signal, so a mean (of logarithms) is better than the most probable value.
    """
    n = len(rank)
    if len(np.unique(rank)) < 2:
        return float(np.exp(np.log(NOISE).mean()))
    energy = (vectors.T @ (rank - rank.mean())) ** 2
    spread = values + NOISE[:, None]
    scale = np.maximum((energy / spread).mean(axis=1), 1e-9)
    likelihood = -0.5 * (n * np.log(scale) + np.log(spread).sum(axis=1))
    weight = np.exp(likelihood - likelihood.max())
    return float(np.exp(weight @ np.log(NOISE) / weight.sum()))

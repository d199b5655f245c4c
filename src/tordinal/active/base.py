"""What all strategies share: reading rows and ratings, and drawing rows one after the other."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_array, check_random_state

from tordinal.distances import Matrix, squared_distances
from tordinal.labels import encode_labels, label_array, single_column, unlabeled_rows
from tordinal.model_selection import content_codes
from tordinal.reduction import UNLABELED, Ranks

__all__ = ["Pool", "Scores", "Strategy"]

Array = NDArray[np.float64]
Index = NDArray[np.int64]
Scores = Callable[[], Array]  # the score of every row, given the rows chosen so far; never negative

BLOCK = 64  # rows whose distances to all others are held at once


@dataclass
class Pool:
    """Rows and ratings of one query, in the order of what the rows hold.

    In this order nothing that is computed depends on how the user's rows are sorted.

    Attributes
    ----------
    X : matrix of shape (n_rows, n_features)
        All rows.
    labels : ndarray of shape (n_rows,)
        Their labels as the user gave them.
    rank : ndarray of shape (n_rows,)
        Their ranks, -1 where unrated. With fewer than two classes rated and no `classes`: 0.
    classes : ndarray or None
        Labels from the lowest rank to the highest; None where that is not known yet.
    proba : ndarray of shape (n_rows, n_classes) or None
        Class probabilities that the user passed.
    n_wanted : int
        Rows that the query is to choose.
    rng : Generator
        Source of all random numbers.
    chosen : list of int
        Rows chosen so far.
    sample : ndarray of shape (n_rows,) or None
        Where a strategy looks at some candidates only: a uniform sample of them, drawn anew for
        each row, which others than these cannot be. None: all candidates.
    """

    X: Matrix
    labels: NDArray[Any]
    rank: Ranks
    classes: NDArray[Any] | None
    proba: Array | None
    n_wanted: int
    rng: np.random.Generator
    chosen: list[int] = field(default_factory=list)
    sample: NDArray[np.bool_] | None = None
    _nearest: Array | None = None
    _n_seen: int = 0

    def __post_init__(self) -> None:
        self.candidates = self.rank == UNLABELED  # unrated and not chosen yet

    @property
    def rated(self) -> Index:
        """Rated rows."""
        return np.flatnonzero(self.rank != UNLABELED)

    @property
    def several_classes_rated(self) -> bool:
        """Whether a model can be fitted."""
        return len(np.unique(self.rank[self.rated])) >= 2

    @property
    def in_question(self) -> NDArray[np.bool_]:
        """Candidates among which the next row is chosen."""
        return self.candidates if self.sample is None else self.candidates & self.sample

    def choose(self, row: int) -> None:
        """Take a row out of the candidates."""
        self.chosen.append(row)
        self.candidates[row] = False

    def nearest(self) -> Array:
        """Distance of each row to the nearest one that is rated or chosen; infinite if none is."""
        if self._nearest is None:
            self._nearest = np.full(len(self.rank), np.inf)
            rows = np.concatenate([self.rated, np.array(self.chosen, dtype=np.int64)])
        else:
            rows = np.array(self.chosen[self._n_seen :], dtype=np.int64)
        self._n_seen = len(self.chosen)
        for start in range(0, len(rows), BLOCK):
            block = self.X[rows[start : start + BLOCK]]
            distance = np.sqrt(squared_distances(self.X, block).min(axis=1))
            self._nearest = np.minimum(self._nearest, distance)
        return self._nearest


class Strategy(BaseEstimator, ABC):
    """Chooses which rows to rate next."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "classes": ["array-like", None],
        "random_state": ["random_state"],
    }
    classes: Any
    random_state: Any

    def query(self, X: Any, y: Any, n: int = 1, *, y_proba: Any = None) -> tuple[Index, Array]:
        """Choose unrated rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_rows, n_features)
            All rows, rated and unrated.
        y : array-like of shape (n_rows,)
            Ratings; unrated rows have None, NaN or, among integers, -1, as in `TOR`.
        n : int, default=1
            How many rows to choose.
        y_proba : array-like of shape (n_rows, n_classes), default=None
            Class probabilities of all rows, for strategies that need them. None: those of the
            strategy's own estimator.

        Returns
        -------
        rows : ndarray of shape (n_chosen,)
            Unrated rows in the order in which they were chosen: `n` of them, or all there are.
        probabilities : ndarray of shape (n_chosen,)
            The probability with which each was chosen, given the ratings and the rows chosen
            before it. Where the strategy looks at a random sample of the rows: that of being in the
            sample times that of being chosen from it.
        """
        self._validate_params()
        if not isinstance(n, Integral) or n < 0:
            raise ValueError(f"n={n!r} must be an integer of at least 0: the rows to choose.")
        pool, order = self._read(X, y, int(n), y_proba)
        scores = self._scores(pool) if pool.n_wanted else None
        rows, probabilities = [], []
        for _ in range(pool.n_wanted):
            assert scores is not None
            row, probability = self._draw(scores(), pool)
            pool.choose(row)
            rows.append(row)
            probabilities.append(probability)
        return order[np.array(rows, dtype=np.int64)], np.array(probabilities, dtype=np.float64)

    @abstractmethod
    def _scores(self, pool: Pool) -> Scores:
        """Prepare the function that scores all rows, given the rows chosen so far."""

    def _distribution(self, scores: Array, pool: Pool) -> Array:
        """Probability of each row to be the next: the best one, ties at random."""
        return best_of(scores, pool)

    def _draw(self, scores: Array, pool: Pool) -> tuple[int, float]:
        """The next row, and the probability with which it was drawn."""
        p = self._distribution(scores, pool)
        row = int(pool.rng.choice(len(p), p=p))
        return row, float(p[row] * pool.in_question.sum() / pool.candidates.sum())

    def _read(self, X: Any, y: Any, n: int, y_proba: Any) -> tuple[Pool, Index]:
        """Check the input. Returns the pool and, for each of its rows, the user's row."""
        X = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32])
        y = single_column(y)
        labels = label_array(y)
        if labels.ndim != 1 or len(labels) != X.shape[0]:
            raise ValueError(
                f"X has {X.shape[0]} rows but y has the shape {labels.shape}. Pass one rating per "
                "row, None or -1 for the unrated ones."
            )
        classes, rank = read_ratings(y, self.classes)
        order = np.lexsort((rank, content_codes(X)))
        proba = None if y_proba is None else _check_proba(y_proba, len(rank), classes)[order]
        n_rated = int((rank != UNLABELED).sum())
        n_wanted = min(n, len(rank) - n_rated)
        rng = generator(self.random_state, n_rated)
        return Pool(X[order], labels[order], rank[order], classes, proba, n_wanted, rng), order


def read_ratings(y: Any, classes: Any) -> tuple[NDArray[Any] | None, Ranks]:
    """Classes and ranks as `encode_labels`, also where no row or only one class is rated.

    Examples
    --------
    >>> read_ratings([None, None, 3], None)
    (None, array([-1, -1,  0]))
    """
    labels = label_array(y)
    unrated = unlabeled_rows(labels)
    order = None if classes is None else np.asarray(classes)
    if order is not None and UNLABELED in order.tolist():
        unrated &= np.array([label != UNLABELED for label in labels.tolist()], dtype=bool)
    if len(set(labels[~unrated].tolist())) >= 2:
        return encode_labels(y, classes, transductive=True)
    rank = np.where(unrated, UNLABELED, 0)
    if order is not None and not unrated.all():
        label = labels[~unrated][0]
        if label not in order.tolist():
            raise ValueError(
                f"y: the label {label!r} is not among classes={order.tolist()}. Add it to "
                "`classes` or mark the row as unrated (None)."
            )
        rank[~unrated] = order.tolist().index(label)
    return order, rank


def generator(random_state: Any, n_rated: int) -> np.random.Generator:
    """Random numbers that differ from query to query, though the seed is the same.

    With one stream for all queries, a strategy that is asked for one row at a time would throw the
    same coin each time.
    """
    if isinstance(random_state, Integral):
        return np.random.default_rng([int(random_state), n_rated])
    return np.random.default_rng(check_random_state(random_state).randint(2**31 - 1, size=4))


def best_of(scores: Array, pool: Pool) -> Array:
    """The uniform distribution over the candidates of the largest score."""
    best = pool.in_question & (scores == scores[pool.in_question].max())
    return best / best.sum()


def in_proportion(weight: Array, pool: Pool) -> Array:
    """The distribution over candidates in proportion to weights; uniform where all of them are 0.

    Infinite weights count as equal.
    """
    finite = np.where(np.isinf(weight), 1.0, weight)
    weight = np.where(pool.in_question, finite, 0.0)
    largest = weight.max()
    if largest <= 0:
        return pool.in_question / pool.in_question.sum()
    weight = weight / largest
    return weight / weight.sum()


def _check_proba(y_proba: Any, n_rows: int, classes: NDArray[Any] | None) -> Array:
    p = check_array(y_proba, dtype=np.float64, input_name="y_proba")
    if len(p) != n_rows or (classes is not None and p.shape[1] != len(classes)):
        width = "n_classes" if classes is None else len(classes)
        raise ValueError(
            f"y_proba has the shape {p.shape}, but must have ({n_rows}, {width}): one row of class "
            "probabilities for each row of X. If a class has no rating yet, pass `classes`."
        )
    if (p < 0).any() or not np.allclose(p.sum(axis=1), 1.0, atol=1e-6):
        raise ValueError(
            "y_proba must hold probabilities: none negative, and each row with the sum 1."
        )
    return p

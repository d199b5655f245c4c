"""Raters: agreement between two, rows to discuss, second looks, and agreement with oneself."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tordinal.metrics import quadratic_weighted_kappa
from tordinal.reduction import Ranks
from tordinal.tables.logged_ratings import LoggedRatings

__all__ = ["Agreement", "agreement", "repeats_to_ask", "second_looks", "self_agreement"]

DIFFERENT = 2  # ranks between a rating and the prediction from which the row is shown again
FEWEST = 5  # rows below which agreement is not computed
LEVEL = 0.9  # of the interval
SAMPLES = 1000  # of the bootstrap


@dataclass(frozen=True)
class Agreement:
    """Agreement of two ratings of the same rows.

    Attributes
    ----------
    n : int
        Rows that were rated twice.
    same : float
        Share of them with the same rating.
    off : float
        Mean distance of the two ratings, in steps.
    low, high : float
        Interval of `off` at 90 %.
    kappa : float
        Cohen's kappa with quadratic weights: 1 for perfect agreement, 0 for chance. NaN where both
        gave all rows one rating.
    to_discuss : list of (int, object, object)
        Rows with different ratings and these two, the furthest apart first.
    """

    n: int
    same: float
    off: float
    low: float
    high: float
    kappa: float
    to_discuss: list[tuple[int, Any, Any]]

    @property
    def floor(self) -> float:
        """The least error of any prediction of these ratings: half of `off`.

        Two ratings that are `off` steps apart are off by half of that, on average, from whatever
        lies between them.
        """
        return self.off / 2.0

    def __str__(self) -> str:
        return self.describe("rated twice")

    def describe(self, rated: str) -> str:
        """The agreement in one sentence; `rated` says how the rows were rated."""
        if self.n < FEWEST:
            return f"Only {self.n} rows were {rated}: too few to tell how well ratings agree."
        kappa = "" if np.isnan(self.kappa) else f", weighted kappa {self.kappa:.2f}"
        return (
            f"Of {self.n:,} rows {rated}, {100 * self.same:.0f} % have the same rating; the two "
            f"are {self.off:.2f} steps apart on average ({self.low:.2f} to {self.high:.2f}){kappa}."
        )


def agreement(logged: LoggedRatings, one: str, other: str) -> Agreement | None:
    """Agreement of two raters on the rows that both have rated.

    Parameters
    ----------
    logged : LoggedRatings
        The ratings of a log.
    one, other : str
        Two raters.

    Returns
    -------
    agreement : Agreement or None
        None where they share no row.

    Examples
    --------
    >>> from tordinal.tables.rating_events import Event
    >>> def rated(rating, rater):
    ...     return {rater: Event(event="rate", rating=rating, rater=rater)}
    >>> ratings = {i: rated(i % 3, "A") | rated(max(i % 3, 1), "B") for i in range(9)}
    >>> print(agreement(LoggedRatings([0, 1, 2], 9, ratings), "A", "B"))
    Of 9 rows rated twice, 67 % have the same rating; the two are 0.33 steps apart on average \
(0.11 to 0.56), weighted kappa 0.67.
    """
    mine, theirs = logged.of(one), logged.of(other)
    rows = [i for i in mine if i in theirs]
    return _agreement(rows, [mine[i] for i in rows], [theirs[i] for i in rows], logged.classes)


def self_agreement(logged: LoggedRatings, rater: str) -> Agreement | None:
    """Agreement of a rater with themselves, on rows that they rated twice.

    Parameters
    ----------
    logged : LoggedRatings
        The ratings of a log.
    rater : str
        The rater.

    Returns
    -------
    agreement : Agreement or None
        Its `floor` is the error that no model can be below; None where no row was asked twice.
    """
    first = logged.of(rater)
    again = {i: e.rating for i, e in logged.repeats if e.rater == rater and i in first}
    rows = list(again)
    return _agreement(rows, [first[i] for i in rows], [again[i] for i in rows], logged.classes)


def _agreement(
    rows: Sequence[int], one: Sequence[Any], other: Sequence[Any], classes: Sequence[Any]
) -> Agreement | None:
    if not rows:
        return None
    a = np.array([classes.index(rating) for rating in one])
    b = np.array([classes.index(rating) for rating in other])
    distance = np.abs(a - b)
    rng = np.random.default_rng(0)
    means = distance[rng.integers(len(rows), size=(SAMPLES, len(rows)))].mean(axis=1)
    low, high = np.quantile(means, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    constant = len(np.union1d(a, b)) == 1
    kappa = (
        float("nan") if constant else quadratic_weighted_kappa(a, b, classes=range(len(classes)))
    )
    apart = [int(j) for j in np.argsort(-distance, kind="stable") if distance[j]]
    return Agreement(
        len(rows), float(np.mean(a == b)), float(distance.mean()), float(low), float(high), kappa,
        [(rows[j], one[j], other[j]) for j in apart],
    )  # fmt: skip


def second_looks(
    truth: Ranks, probability: NDArray[np.float64], held_out: NDArray[np.int64]
) -> list[int]:
    """Rows whose rating is two or more ranks from the prediction of a model that has not seen it.

    Parameters
    ----------
    truth : ndarray of shape (n_held_out,)
        Ranks that were given.
    probability : ndarray of shape (n_held_out, n_classes)
        Class probabilities by models that have not seen them.
    held_out : ndarray of shape (n_held_out,)
        Places of the rows.

    Returns
    -------
    rows : list of int
        Places, those first whose own rating the model thinks the least probable.

    Examples
    --------
    >>> import numpy as np
    >>> p = np.array([[0.1, 0.1, 0.8], [0.8, 0.1, 0.1], [0.0, 0.1, 0.9]])
    >>> second_looks(np.array([0, 0, 0]), p, np.array([5, 7, 9]))
    [9, 5]
    """
    # The median: where the rating is most probably near, even if no rank is very probable.
    median = (np.cumsum(probability, axis=1) < 0.5).sum(axis=1)
    odd = np.flatnonzero(np.abs(median - truth) >= DIFFERENT)
    own = probability[odd, truth[odd]]
    return [int(held_out[j]) for j in odd[np.lexsort((held_out[odd], own))]]


def repeats_to_ask(logged: LoggedRatings, rater: str, n: int, seed: int = 0) -> list[int]:
    """Rows to ask a rater again, drawn uniformly from the older half of their ratings.

    Parameters
    ----------
    logged : LoggedRatings
        The ratings of a log.
    rater : str
        The rater.
    n : int
        How many rows.
    seed : int
        Seed.

    Returns
    -------
    rows : list of int
        Rows that were not asked twice yet; at most n.
    """
    asked = {i for i, e in logged.repeats if e.rater == rater}
    mine = [(found[rater].time, i) for i, found in logged.ratings.items() if rater in found]
    older = [i for _, i in sorted(mine)[: len(mine) // 2] if i not in asked]
    rng = np.random.default_rng([seed, len(mine), len(asked)])
    return [int(i) for i in rng.permutation(np.array(older, dtype=np.int64))[:n]]

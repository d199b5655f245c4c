"""How the rated rows of a table were chosen, and the weights that follow from it.

Rows that were chosen for being difficult are not a random sample. Each was drawn with a known
probability, so weights make up for it: those of LURE (`tordinal.active.lure_weights`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tordinal.active import lure_weights
from tordinal.tables.logged_ratings import LoggedRatings

__all__ = ["Draw", "Selection", "drawn_in", "select_rows"]

Array = NDArray[np.float64]
FEWEST = 5  # drawn and rated rows below which the ratings count as a random sample


@dataclass(frozen=True)
class Draw:
    """The draw of one row.

    Attributes
    ----------
    place : int
        Place of the row in the table.
    probability : float
        With which it was drawn, given the rows drawn before.
    n_left : int
        Rows without a rating among which it was drawn.
    audit : bool
        Whether it was drawn uniformly.
    """

    place: int
    probability: float
    n_left: int
    audit: bool


@dataclass(frozen=True)
class Selection:
    """How the rated rows were chosen: first some at random, then others with known probabilities.

    Attributes
    ----------
    first : tuple of int
        Rated rows without a recorded draw. They count as a random sample of the table.
    draws : tuple of Draw
        Rated rows whose draws are recorded, in the order in which they were drawn.
    n_rows : int
        Rows of the table.

    Examples
    --------
    >>> draws = (Draw(3, 0.25, 4, True), Draw(0, 2 / 3, 3, False), Draw(2, 1 / 4, 2, False))
    >>> selection = Selection((4,), draws, 5)
    >>> selection.weights().round(2).tolist()
    [0.75, 0.0, 2.0, 1.0, 1.0]
    """

    first: tuple[int, ...]
    draws: tuple[Draw, ...]
    n_rows: int

    def weights(self) -> Array:
        """The weight of each row of the table; 0 where it is not rated.

        A mean over rated rows with these weights estimates the mean over all rows.
        """
        n_first, n_drawn = len(self.first), len(self.draws)
        n_left = self.n_rows - np.arange(n_first + n_drawn)
        # Skipped rows are gone from the sequence, so what counts is how much more or less probable
        # than a uniform draw each one was.
        relative = np.ones(n_first + n_drawn)
        relative[n_first:] = [d.probability * d.n_left for d in self.draws]
        weights = np.zeros(self.n_rows)
        order = [*self.first, *(d.place for d in self.draws)]
        q = np.minimum(relative / n_left, 1.0)
        weights[order] = np.maximum(lure_weights(q, self.n_rows), 0.0)
        return weights

    def probabilities(self) -> Array:
        """The probability with which each rated row was rated, for `tordinal.inference`.

        NaN where it is not rated. Those that make the weights: rows of average weight were rated
        with a probability of the share of rated rows.
        """
        weights = self.weights()
        n_rated = len(self.first) + len(self.draws)
        chosen = np.full(self.n_rows, np.nan)
        rated = [*self.first, *(d.place for d in self.draws)]
        with np.errstate(divide="ignore"):
            chosen[rated] = np.minimum(n_rated / (self.n_rows * weights[rated]), 1.0)
        return chosen

    def __str__(self) -> str:
        n = len(self.draws)
        audit = sum(d.audit for d in self.draws)
        others = (
            f"; the other {len(self.first):,} count as a random sample of the table"
            if self.first
            else ""
        )
        return (
            f"{n:,} rated rows were drawn with recorded probabilities, {audit:,} of them "
            "uniformly: errors, shares and averages are weighted by these, so that difficult rows "
            f"count no more than their share{others}"
        )


def select_rows(
    rated: NDArray[np.bool_], draws: Sequence[Draw], places: Sequence[int]
) -> Selection | None:
    """How rated rows were chosen.

    Parameters
    ----------
    rated : ndarray of bool, shape (n_rows,)
        Which rows are rated.
    draws : sequence of Draw
        Recorded draws; those of rows without a rating are dropped, as are later draws of a row.
    places : sequence of int
        The place of each of the rows in the table of the draws.

    Returns
    -------
    selection : Selection or None
        None where too few draws are recorded for weights to mean much.
    """
    row_at = {place: i for i, place in enumerate(places)}
    kept: dict[int, Draw] = {}
    # With fewer rows left it was drawn later; files of several rounds may come in any order.
    for draw in sorted(draws, key=lambda d: -d.n_left):
        row = row_at.get(draw.place)
        if row is not None and rated[row]:
            kept.setdefault(row, replace(draw, place=row))
    if len(kept) < FEWEST:
        return None
    others = tuple(int(i) for i in np.flatnonzero(rated) if i not in kept)
    return Selection(others, tuple(kept.values()), len(rated))


def drawn_in(logged: LoggedRatings) -> list[Draw]:
    """The draws that a log records."""
    return [
        Draw(c.place, c.probability, c.n_left, c.audit)
        for c in logged.choices
        if c.state == "rated"
    ]

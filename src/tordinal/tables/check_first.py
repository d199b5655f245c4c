"""Rows to check first: possible slips, equal rows rated differently, predictions in doubt."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from tordinal.tables.fingerprints import fingerprints
from tordinal.tables.results import Rating

__all__ = ["CONTRADICTED", "DOUBTFUL", "DUPLICATE", "describe_checks", "rows_to_check"]

Index = NDArray[np.int64]

CONTRADICTED = "contradicted"
DUPLICATE = "rated differently"
DOUBTFUL = "large expected error"
STEPS_OFF = 2  # ranks from which a prediction contradicts a given rating
MOST_DOUBTFUL = 10


def rows_to_check(rating: Rating, table: Mapping[str, Sequence[Any]]) -> pd.DataFrame:
    """Rows whose rating, given or predicted, should be checked first.

    Parameters
    ----------
    rating : Rating
        A rated table.
    table : mapping of str to sequence
        Cells by column.

    Returns
    -------
    rows : DataFrame
        `row` (its place, from 0), `why`, `rating` (given or predicted), `other` and
        `expected_error` in steps. `why` is "contradicted": models that had not seen the given
        rating predict `other`, which differs by two steps or more; "rated differently": `other`
        is given to a row with equal cells in the columns that the model uses, named in `like`; or
        "large expected error": a predicted rating. The most doubtful come first in each.
    """
    classes = rating.target.classes
    rank, given = rating.target.rank, rating.given
    steps = np.abs(np.arange(len(classes))[:, None] - np.arange(len(classes)))
    found: list[tuple[int, str, Any, Any, float, int | None]] = []

    # The median, for any cost of errors.
    held, median = rating.held_out, (rating.cv_probability.cumsum(axis=1) >= 0.5).argmax(axis=1)
    slips = np.flatnonzero(np.abs(median - rank[held]) >= STEPS_OFF)
    distance = (rating.cv_probability * steps[rank[held]]).sum(axis=1)
    for i in slips[np.argsort(-distance[slips], kind="stable")]:
        row = int(held[i])
        other = classes[int(median[i])]
        found.append((row, CONTRADICTED, classes[rank[row]], other, float(distance[i]), None))

    for row, like in _differing_twins(rating, table):
        off = float(abs(rank[row] - rank[like]))
        found.append((row, DUPLICATE, classes[rank[row]], classes[rank[like]], off, like))

    unrated = np.flatnonzero(~given)
    expected = (rating.probability[unrated] * steps[rating.rank[unrated]]).sum(axis=1)
    for i in np.argsort(-expected, kind="stable")[:MOST_DOUBTFUL]:
        row = int(unrated[i])
        found.append((row, DOUBTFUL, classes[rating.rank[row]], None, float(expected[i]), None))

    columns = ["row", "why", "rating", "other", "expected_error", "like"]
    # Objects first: ratings keep their types, which may differ.
    frame = pd.DataFrame(found, columns=columns, dtype=object)
    return frame.astype({"row": np.int64, "why": str, "expected_error": float, "like": "Int64"})


def _differing_twins(rating: Rating, table: Mapping[str, Sequence[Any]]) -> list[tuple[int, int]]:
    """Pairs of rated rows with equal cells and other ratings, the largest difference first."""
    rated = np.flatnonzero(rating.given)
    used = rating.model.used
    codes = fingerprints({name: [table[name][i] for i in rated.tolist()] for name in used}, used)
    rank = rating.target.rank[rated]
    pairs = []
    order = np.argsort(codes, kind="stable")
    for own in np.split(order, np.flatnonzero(np.diff(codes[order])) + 1):
        low, high = own[np.argmin(rank[own])], own[np.argmax(rank[own])]
        if rank[low] != rank[high]:
            pairs.append((rank[high] - rank[low], int(rated[low]), int(rated[high])))
    return [(low, high) for _, low, high in sorted(pairs, key=lambda pair: (-pair[0], pair[1]))]


def describe_checks(rows: pd.DataFrame) -> str:
    """How many given ratings are to be checked, in one line; empty if none is.

    Examples
    --------
    >>> rows = pd.DataFrame({"why": ["contradicted", "contradicted", "large expected error"]})
    >>> describe_checks(rows)
    'To check first: 2 given ratings that the model contradicts by 2 steps or more.'
    """
    n_slips, n_twins = (int((rows["why"] == why).sum()) for why in (CONTRADICTED, DUPLICATE))
    parts = []
    if n_slips:
        parts.append(
            f"{n_slips:,} given rating{'s' * (n_slips > 1)} that the model contradicts by "
            f"{STEPS_OFF} steps or more"
        )
    if n_twins:
        parts.append(f"{n_twins:,} pair{'s' * (n_twins > 1)} of equal rows with different ratings")
    return f"To check first: {' and '.join(parts)}." if parts else ""

"""Averages, class shares and groups of a rated table, with confidence intervals."""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from tordinal.inference import (
    TableEstimates,
    check_representative,
    estimate_table,
    selection_probabilities,
)
from tordinal.inference.difference import FEWEST
from tordinal.tables.group_names import group_names
from tordinal.tables.results import Rating
from tordinal.tables.table import Table
from tordinal.tables.values import number, visible
from tordinal.tables.vectors import owner_of

__all__ = [
    "assumption",
    "describe",
    "estimate_groups",
    "estimate_rating",
    "largest_groups",
    "prediction_shift_note",
    "representativeness_note",
]


LARGEST = 1e100  # ratings beyond are averaged as ranks: squares of their sums would overflow
MOST_NAMED = 3  # columns that are named if rated and unrated rows differ
# Standard errors of the difference of mean predicted ranks: 0 of 48 random samples of 100 ratings
# had a larger difference, and 45 of 48 samples with a bias; docs/notes.
SHIFTED = 2.5


def estimate_rating(
    rating: Rating, groups: Any = None, reweight: bool = False
) -> TableEstimates | None:
    """Estimate the average and the shares of all rows, and by group.

    Ratings that the model has not seen correct its predictions, so the intervals hold for a
    model of any quality, if the rated rows are a random sample or their draws are recorded
    (`Rating.selection`).

    Parameters
    ----------
    rating : Rating
        The rated rows.
    groups : sequence or None
        The group of each row.
    reweight : bool
        Whether given ratings are weighed by how rarely rows like theirs are rated, if it is not
        recorded how they were drawn.

    Returns
    -------
    estimates : TableEstimates or None
        None where the rows are a sample of the table only, or no rating could be held out.
    """
    if rating.whole is not None or len(rating.held_out) == 0:
        return None
    p = rating.probability.copy()
    p[rating.held_out] = rating.cv_probability
    scores = scale_of(rating.target.classes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # too few ratings: the estimate then has no interval
        return estimate_table(
            rating.target.rank, p, groups=groups, classes=range(p.shape[1]), scores=scores,
            probabilities=_probabilities(rating, reweight),
        )  # fmt: skip


def _probabilities(rating: Rating, reweight: bool) -> NDArray[np.float64] | None:
    """The probability that each row was rated: as recorded, or by its features."""
    if rating.selection is not None:
        return rating.selection.probabilities()
    given = rating.given
    if not reweight or min(given.sum(), (~given).sum()) < FEWEST:
        return None
    return selection_probabilities(rating.X, given)


def scale_of(classes: Sequence[Any]) -> NDArray[np.float64]:
    """The numbers of the ratings; ranks from 1 if they are words, or beyond the range of floats.

    Examples
    --------
    >>> scale_of(["1", "2", "5"]), scale_of(["poor", "good"])
    (array([1., 2., 5.]), array([1., 2.]))
    """
    values = [number(c) for c in classes]
    if _are_averaged_as_ranks(values):
        return np.arange(1.0, len(classes) + 1)
    return np.array(values, dtype=np.float64)


def _are_averaged_as_ranks(values: Sequence[float | None]) -> bool:
    too_large = any(v is None or abs(v) > LARGEST for v in values)
    return too_large or len(set(values)) < len(values)  # 10^17 and 10^17 + 1 are one float


def estimate_groups(
    rating: Rating, table: Table | Mapping[str, Sequence[Any]], by: Sequence[str],
    reweight: bool = False,
) -> pd.DataFrame:  # fmt: skip
    """Estimate average and shares for each group, of each of some columns.

    Returns
    -------
    groups : DataFrame
        One row per group with the columns `column`, `group`, `rows`, `ratings`, `average`,
        `average_low`, `average_high` and, for each rating, ``share_<rating>`` with its interval;
        groups with the highest average first.
    """
    decimal = getattr(table, "decimal", ".")
    parts = [
        _groups_of(rating, name, group_names(name, table[name], decimal), reweight) for name in by
    ]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()


def _groups_of(rating: Rating, name: str, names: list[str | None], reweight: bool) -> pd.DataFrame:
    groups = np.array(names, dtype=object)
    estimates = estimate_rating(rating, groups, reweight)
    if estimates is None or estimates.groups is None:
        return pd.DataFrame()
    long = estimates.groups
    mean = long[long["quantity"] == "mean"].set_index("group")
    wide = pd.DataFrame({
        "column": name, "group": mean.index, "rows": mean["n_rows"].to_numpy(),
        "ratings": mean["n_rated"].to_numpy(), "average": mean["value"].to_numpy(),
        "average_low": mean["low"].to_numpy(), "average_high": mean["high"].to_numpy(),
    })  # fmt: skip
    shares = long[long["quantity"] == "share"]
    for k, label in enumerate(rating.target.classes):
        share = shares[shares["rating"] == k].set_index("group").loc[mean.index]
        for suffix, column in (("", "value"), ("_low", "low"), ("_high", "high")):
            wide[f"share_{label}{suffix}"] = share[column].to_numpy()
    return wide.sort_values(["average", "group"], ascending=[False, True], ignore_index=True)


def largest_groups(groups: pd.DataFrame, most: int) -> pd.DataFrame:
    """The groups of one column with the most rows, in the given order.

    Examples
    --------
    >>> groups = pd.DataFrame({"group": ["a", "b", "c"], "rows": [5, 1, 9]})
    >>> largest_groups(groups, 2)["group"].tolist()
    ['a', 'c']
    """
    order = np.argsort(-groups["rows"].to_numpy(), kind="stable")
    return groups.iloc[np.sort(order[:most])]


def describe(rating: Rating, estimates: TableEstimates) -> str:
    """The average and the most frequent rating of the whole table, in one sentence."""
    mean, classes = estimates.mean, rating.target.classes
    unit = (
        f" on the scale from 1 ({visible(str(classes[0]))}) to "
        f"{len(classes)} ({visible(str(classes[-1]))})"
    ) if _are_averaged_as_ranks([number(c) for c in classes]) else ""  # fmt: skip
    if np.isnan(mean.low):
        return f"Average of all rows: {_short(mean.value)}{unit}; too few ratings for an interval."
    k = int(estimates.shares["value"].to_numpy().argmax())
    share = estimates.shares.iloc[k]
    return (
        f"Average of all {mean.n_rows:,} rows: {_short(mean.value)}{unit} (90 % interval "
        f"{_short(mean.low)} to {_short(mean.high)}). The most frequent rating is "
        f"{visible(str(classes[k]))}, with {100 * share['value']:.0f} % of the rows "
        f"({100 * share['low']:.0f} to {100 * share['high']:.0f} %). {assumption(rating)}"
    )


def assumption(rating: Rating) -> str:
    """The assumption behind the estimates, in one sentence."""
    if rating.selection is None and rating.reweighted:
        return "This holds as far as the columns explain which rows are rated."
    if rating.selection is None and rating.differs:
        return "This probably does not hold, because rated and unrated rows differ: see the note."
    if rating.selection is None:
        return "This holds if the rated rows are a random sample."
    if rating.selection.first:
        return (
            "Ratings are weighted by the probabilities with which their rows were drawn; the "
            f"{len(rating.selection.first):,} without a recorded probability count as a random "
            "sample."
        )
    return "Ratings are weighted by the probabilities with which their rows were drawn."


def _short(value: float) -> str:
    """A number with two decimals, or three digits where it is large."""
    return f"{value:.2f}" if abs(value) < 10 else f"{value:.3g}"


def representativeness_note(rating: Rating, *, reweighted: bool = False) -> str | None:
    """A note if rated and unrated rows differ visibly, with the columns."""
    given = rating.given
    if rating.whole is not None or rating.selection is not None:
        return None
    if min(given.sum(), (~given).sum()) < FEWEST:
        return None
    result = check_representative(rating.X, given)
    if result.representative:
        return None
    names = rating.model.encoder.get_feature_names_out()
    differing = [owner_of(names[int(f.removeprefix("x"))][0]) for f in result.features["feature"]]
    columns = list(dict.fromkeys(differing))[:MOST_NAMED]
    where = f"column{'s' * (len(columns) > 1)} {', '.join(columns)}"
    start = f"rated and unrated rows differ, most in the {where}: "
    if reweighted:
        return (
            f"{start}averages and shares of the whole table weigh the given ratings by how rarely "
            "rows like theirs are rated, which helps as far as the columns explain the choice"
        )
    return (
        f"{start}the rated rows are probably not a random sample, so averages and shares of the "
        "whole table can be wrong; `reweight` weighs given ratings by how rarely rows like theirs "
        "are rated"
    )


def prediction_shift_note(rating: Rating) -> str | None:
    """A note if the model predicts other ratings for rated rows than for the rest.

    Models that have not seen a rating predict it as they predict the unrated rows, so in a random
    sample both have the same mean except for chance.
    """
    rated, unrated = rating.cv_probability, rating.probability[~rating.given]
    if rating.whole is not None or rating.selection is not None:
        return None
    if min(len(rated), len(unrated)) < FEWEST:
        return None
    scores = scale_of(rating.target.classes)
    ours, theirs = rated @ scores, unrated @ scores
    error = np.sqrt(ours.var(ddof=1) / len(ours) + theirs.var(ddof=1) / len(theirs))
    difference = float(ours.mean() - theirs.mean())
    if abs(difference) <= SHIFTED * error:
        return None
    way = "higher" if difference > 0 else "lower"
    return (
        f"the rated rows have {way} ratings than the rest: models that had not seen a rating "
        f"predict {_short(float(ours.mean()))} on average for rated rows and "
        f"{_short(float(theirs.mean()))} for the others; unless they were chosen so on purpose, "
        "confidences can be too high, and a random sample of ratings is safer"
    )

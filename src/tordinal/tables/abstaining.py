"""The effect of abstaining: the error of the rows that are kept, by their share."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from tordinal.tables.expected_error import FEWEST, mean_margin, share_margin
from tordinal.tables.results import Rating

__all__ = ["abstain_curve", "describe_abstaining"]

SHARES = (1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1)


def abstain_curve(rating: Rating, abstain: float | None = None) -> pd.DataFrame:
    """Errors of held-out rows above a confidence, and how many of the unrated rows are above it.

    Parameters
    ----------
    rating : Rating
        A rated table.
    abstain : float or None
        A confidence to include.

    Returns
    -------
    curve : DataFrame
        `confidence` from which rows are kept, `share` of the unrated rows that are, the `ratings`
        among the held-out ones that the errors are those of, `accuracy` and `mae` with their
        margins. Rows with fewer than 10 such ratings are excluded. The share falls from row to
        row.
    """
    columns = [
        "confidence", "share", "ratings", "accuracy", "accuracy_margin", "mae", "mae_margin",
    ]  # fmt: skip
    rows = np.arange(len(rating.cv_rank))
    held = rating.cv_probability[rows, rating.cv_rank]
    off = np.abs(rating.cv_rank - rating.target.rank[rating.held_out])
    asked = rating.confidence[~rating.given]
    if len(held) < FEWEST or len(asked) == 0:
        return pd.DataFrame(columns=columns)
    bounds = [0.0, *(float(np.quantile(asked, 1.0 - share)) for share in SHARES[1:])]
    bounds += [] if abstain is None else [abstain]
    found = []
    for bound in sorted(set(bounds)):
        kept: NDArray[Any] = off[held >= bound]
        n = len(kept)
        if n < FEWEST:
            continue
        right, mae = float(np.mean(kept == 0)), float(kept.mean())
        found.append((
            bound, float(np.mean(asked >= bound)), n, right, share_margin(right, n), mae,
            mean_margin(float(kept.std()), n),
        ))  # fmt: skip
    return pd.DataFrame(found, columns=columns)


def describe_abstaining(rating: Rating, abstain: float) -> str:
    """The effect of leaving rows below a confidence unrated, in one sentence."""
    curve = abstain_curve(rating, abstain)
    mine = curve[curve["confidence"] == abstain]
    if len(curve) == 0 or len(mine) == 0:
        return (
            f"Too few held-out ratings have a confidence of {abstain:g} or more to estimate the "
            "error of the rows that are kept."
        )
    kept, every = mine.iloc[0], curve.iloc[0]
    return (
        f"{100 * kept['share']:.0f} % of the rows without a rating have a confidence of "
        f"{abstain:g} or more. Of these, {100 * kept['accuracy']:.0f} % "
        f"(± {100 * kept['accuracy_margin']:.0f}) are expected to be exactly right, and they are "
        f"off by {kept['mae']:.2f} steps on average (± {kept['mae_margin']:.2f}). Of all rows, "
        f"{100 * every['accuracy']:.0f} % are, off by {every['mae']:.2f} steps."
    )

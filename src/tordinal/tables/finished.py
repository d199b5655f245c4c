"""The error of the finished table: rated rows have their ratings, the others predictions."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tordinal.active import estimate_error
from tordinal.reduction import Ranks
from tordinal.tables.expected_error import effective_size, mean_margin, weighted_spread
from tordinal.tables.selection import Selection

__all__ = ["FinishedError", "estimate_finished"]

FEWEST = 10  # ratings below which no error is estimated
Z_90 = 1.64  # of an interval that covers 90 %


@dataclass(frozen=True)
class FinishedError:
    """The estimated mean absolute error of the finished table.

    Attributes
    ----------
    error : float
        The estimate, in steps between ratings.
    low, high : float
        Its interval, which covers the truth in 9 of 10 cases if it is read once.
    low_anytime, high_anytime : float
        A 90 % interval that is valid at all numbers of ratings together, so it may decide when to
        stop. It rests on rows that were drawn uniformly, and is wide while these are few.
    n_ratings, n_uniform : int
        Ratings on which the estimate rests, and those of rows that were drawn uniformly.
    """

    error: float
    low: float
    high: float
    low_anytime: float
    high_anytime: float
    n_ratings: int
    n_uniform: int

    def __str__(self) -> str:
        return (
            f"The finished table would be off by {self.error:.2f} steps on average "
            f"({self.low:.2f} to {self.high:.2f})."
        )


def estimate_finished(
    truth: Ranks,
    predicted: Ranks,
    held_out: NDArray[np.int64],
    selection: Selection,
    n_classes: int,
) -> FinishedError | None:
    """Estimate the error of the finished table from predictions of held-out rows.

    Parameters
    ----------
    truth, predicted : ndarray of shape (n_held_out,)
        Ranks of rows whose rating was hidden from the model in cross-validation.
    held_out : ndarray of shape (n_held_out,)
        Their places in the table.
    selection : Selection
        How the rated rows were chosen.
    n_classes : int
        Number of ratings on the scale.

    Returns
    -------
    error : FinishedError or None
        None with fewer than 10 ratings.

    Examples
    --------
    >>> import numpy as np
    >>> selection = Selection(tuple(range(40)), (), 80)
    >>> truth = np.arange(40) % 4
    >>> predicted = np.where(np.arange(40) < 30, truth, 0)
    >>> print(estimate_finished(truth, predicted, np.arange(40), selection, 4))
    The finished table would be off by 0.21 steps on average (0.00 to 0.42).
    """
    if len(truth) < FEWEST:
        return None
    loss = dict(zip(held_out.tolist(), np.abs(predicted - truth).astype(float), strict=True))
    weight = selection.weights()
    # In the order of choice. Rows drawn before any record count as drawn uniformly.
    first = [i for i in selection.first if i in loss]
    draws = [d for d in selection.draws if d.place in loss]
    order = [*first, *(d.place for d in draws)]
    l, w = np.array([loss[i] for i in order]), weight[order]
    n_rows, n = selection.n_rows, len(order)
    n_rated = len(selection.first) + len(selection.draws)
    share_left = (n_rows - n_rated) / n_rows
    everywhere = float(np.average(l, weights=w)) if w.sum() else float(l.mean())
    error = max(everywhere - float(l.mean()) * n_rated / n_rows, 0.0)
    w = w if w.sum() else np.ones(n)
    # The estimate is a weighted sum of the losses. Those of the rows that are left vary by
    # themselves, which counts most once few are left.
    share = w / w.sum() - n_rated / n_rows / n
    counts = share**2 if share.any() else w
    spread = float(np.sqrt(np.average((l - np.average(l, weights=w)) ** 2, weights=counts)))
    size = effective_size(w)
    of_estimate = mean_margin(spread, size) * np.sqrt(size * np.sum(share**2))
    of_rest = Z_90 * weighted_spread(l, w) * np.sqrt(share_left / n_rows)
    margin = float(np.hypot(of_estimate, of_rest))
    audit = np.array([True] * len(first) + [d.audit for d in draws])
    low_anytime, high_anytime = 0.0, share_left * (n_classes - 1.0)
    if audit.any() and n < n_rows:
        left = n_rows - np.arange(n)
        found = estimate_error(
            l, np.full(n, 1.0) / left, n_rows, audit=audit, rated_as_correct=True, confidence=0.9,
            max_loss=n_classes - 1.0,
        )  # fmt: skip
        low_anytime, high_anytime = max(found.low, 0.0), min(found.high, high_anytime)
    anytime = (low_anytime, max(high_anytime, low_anytime))
    low, high = max(error - margin, 0.0), error + margin
    return FinishedError(error, low, high, *anytime, n, int(audit.sum()))

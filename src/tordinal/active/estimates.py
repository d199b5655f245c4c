"""The error on all rows, from rows that were chosen with known probabilities."""

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import t as student

__all__ = ["ErrorEstimate", "estimate_error", "lure_weights"]

Array = NDArray[np.float64]

GRID = 1000  # steps between 0 and the largest loss; the interval is wider by one at each end
MOST_STAKE = (
    0.75  # of the capital that one row can lose; 0.5 is longer with few rows, 0.9 with many
)


@dataclass(frozen=True)
class ErrorEstimate:
    """A mean over all rows with its interval.

    Attributes
    ----------
    error : float
        The estimate.
    low, high : float
        Ends of the interval.
    n_rows_used : int
        Ratings on which it rests.
    """

    error: float
    low: float
    high: float
    n_rows_used: int


def lure_weights(probabilities: ArrayLike, n_rows: int) -> Array:
    """Weights with which the mean loss of chosen rows is unbiased for the mean over all rows.

    The levelled unbiased risk estimator (LURE) for rows chosen one after the other without
    replacement. With rows chosen uniformly all weights are 1.

    Parameters
    ----------
    probabilities : array-like of shape (n_chosen,)
        The probability with which each row was chosen, in the order of choice, given those before.
        Every row that was left must have had a positive probability at each choice.
    n_rows : int
        Rows among which the first one was chosen.

    Returns
    -------
    weights : ndarray of shape (n_chosen,)
        ``mean(weights * losses)`` is the estimate.

    See Also
    --------
    estimate_error : The error with an interval.

    References
    ----------
    S. Farquhar, Y. Gal and T. Rainforth, "On statistical bias in active learning: how and when to
    fix it", ICLR 2021.

    Examples
    --------
    >>> lure_weights([0.25, 1 / 3], 4).round(12).tolist()
    [1.0, 1.0]
    """
    q = _checked_probabilities(probabilities, n_rows)
    n_left = n_rows - np.arange(len(q))  # before each choice
    if len(q) == n_rows:
        return np.ones(n_rows)
    return 1.0 + (n_rows - len(q)) / (n_left - 1.0) * (1.0 / (n_left * q) - 1.0)


def estimate_error(
    losses: ArrayLike,
    probabilities: ArrayLike,
    n_rows: int,
    *,
    audit: ArrayLike | None = None,
    rated_as_correct: bool = False,
    confidence: float = 0.95,
    interval: str | None = None,
    max_loss: float | None = None,
) -> ErrorEstimate:
    """Estimate a model's mean loss on all rows from the ratings of chosen rows.

    The losses must come from predictions that did not depend on the ratings of the chosen rows: of
    a model that was fitted to other rows or, approximately, from cross-validation.

    Parameters
    ----------
    losses : array-like of shape (n_chosen,)
        The loss of each chosen row, such as the distance between predicted rank and rating, in the
        order of choice.
    probabilities : array-like of shape (n_chosen,)
        The probability with which each was chosen, as `query` returns it.
    n_rows : int
        Rows among which the first one was chosen: all that were unrated then.
    audit : array-like of bool, shape (n_chosen,), default=None
        Rows that were drawn uniformly from all rows left (`Mixture.audit_`). The estimate then
        rests on them, and on no weights. None: on all rows, weighted by `lure_weights`.
    rated_as_correct : bool, default=False
        Whether to estimate the error of the finished table, in which the chosen rows have their
        ratings and so no error.
    confidence : float, default=0.95
        Probability with which the interval holds the truth.
    interval : {"anytime", "approximate"}, default=None
        "anytime": holds at all times at once with at least that probability, however often one
        looks, whenever one stops and however few the rows are (a confidence sequence by betting).
        It needs `audit` and `max_loss`. "approximate": Student's interval, for one look; much too
        short where errors are rare and few rows were drawn uniformly. None: "anytime" where `audit`
        and `max_loss` are given, else "approximate".
    max_loss : float, default=None
        The largest loss possible: for the absolute error of K ranks K - 1.

    Returns
    -------
    estimate : ErrorEstimate
        The mean loss with its interval.

    See Also
    --------
    lure_weights : Weights alone.
    Mixture : Records which rows are audit rows.

    References
    ----------
    I. Waudby-Smith and A. Ramdas, "Estimating means of bounded random variables by betting",
    Journal of the Royal Statistical Society B 86, 2024.

    Examples
    --------
    >>> from tordinal.active import estimate_error
    >>> estimate = estimate_error([1, 0, 0, 1], [1 / 8, 1 / 7, 1 / 6, 1 / 5], 8)
    >>> round(estimate.error, 3), estimate.n_rows_used
    (0.5, 4)
    """
    loss = np.asarray(losses, dtype=np.float64)
    q = _checked_probabilities(probabilities, n_rows)
    if loss.shape != q.shape or not np.isfinite(loss).all() or (loss < 0).any():
        raise ValueError(
            f"losses must hold one number of at least 0 for each of the {len(q)} probabilities, "
            f"got the shape {loss.shape}."
        )
    if max_loss is not None and (loss > max_loss).any():
        raise ValueError(f"losses: {np.max(loss):g} is larger than max_loss={max_loss:g}.")
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"confidence={confidence} must lie between 0 and 1.")
    if interval not in (None, "anytime", "approximate"):
        raise ValueError(f"interval={interval!r} must be 'anytime', 'approximate' or None.")
    bounded = audit is not None and max_loss is not None
    if interval == "anytime" and not bounded:
        raise ValueError("interval='anytime' needs audit and max_loss. Pass both.")
    n_left = n_rows - np.arange(len(loss))
    used = np.ones(len(loss), dtype=bool)
    if audit is not None:
        used, q = np.asarray(audit, dtype=bool), 1.0 / n_left
        if used.shape != loss.shape:
            raise ValueError(f"audit has the shape {used.shape}, but there are {len(loss)} losses.")
    if not used.any():
        raise ValueError("no row was drawn uniformly, so there is no error to estimate")
    known = loss.sum() / n_rows
    before = (np.cumsum(loss) - loss) / n_rows
    # No truth lies outside: all rows left have no error, or the largest one.
    least = known
    most = np.inf if max_loss is None else known + (n_rows - len(loss)) * max_loss / n_rows
    if len(loss) == n_rows:
        error, low, high = known, known, known
    else:
        single = (before + loss / (n_rows * q))[used]  # each unbiased, given the rows before it
        share = (1.0 / (n_left * (n_left - 1.0)))[used]
        share = share / share.sum()
        error = float(share @ single)
        if max_loss is not None and bounded and interval != "approximate":
            room = n_left / n_rows * max_loss
            low, high = _betting(loss[used], before[used], room[used], max_loss, 1.0 - confidence)
        else:
            low, high = _student(single, share, error, confidence)
        low, high = min(max(low, least), most), max(min(high, most), least)
    shift = known if rated_as_correct else 0.0
    return ErrorEstimate(
        float(error - shift), float(low - shift), float(high - shift), int(used.sum())
    )


def _student(single: Array, share: Array, error: float, confidence: float) -> tuple[float, float]:
    n = len(single)
    if n < 2:
        return -np.inf, np.inf
    deviation = np.sqrt(n / (n - 1) * share**2 @ (single - error) ** 2)
    half = float(student.ppf(0.5 + confidence / 2, n - 1) * deviation)
    return error - half, error + half


def _betting(
    loss: Array, before: Array, room: Array, max_loss: float, alpha: float
) -> tuple[float, float]:
    """Means that no bettor has become rich against.

    For each mean on a grid two gamblers bet against it, one that the losses are higher and one that
    they are lower. If it is the true mean their capital is a martingale, and reaches 2 / alpha with
    a probability of alpha / 2 at most, at any time. Their stakes only decide how short the interval
    is; stakes for one number of rows make it 15 % shorter at 100 rows, and no shorter at 25.
    """
    means = np.linspace(0.0, max_loss, GRID + 1)
    x = loss / max_loss
    kept = np.ones(len(means), dtype=bool)
    higher, lower = np.zeros(len(means)), np.zeros(len(means))  # logarithms of the capital
    total, squares = 0.5, 0.25
    for t in range(len(x)):
        expected = (means - before[t]) / room[t]  # of x, if this is the mean over all rows
        kept &= (expected >= -1e-12) & (expected <= 1.0 + 1e-12)
        expected = np.clip(expected, 1e-12, 1.0 - 1e-12)
        variance = squares / (t + 1)
        stake = np.sqrt(2.0 * np.log(2.0 / alpha) / (variance * (t + 1) * np.log(t + 2)))
        gain = x[t] - expected
        higher += np.log1p(np.minimum(stake, MOST_STAKE / expected) * gain)
        lower += np.log1p(-np.minimum(stake, MOST_STAKE / (1.0 - expected)) * gain)
        kept &= np.maximum(higher, lower) < np.log(2.0 / alpha)
        total += x[t]
        squares += (x[t] - total / (t + 2)) ** 2
    inside = means[kept]
    if len(inside) == 0:  # between two points of the grid, or the design was not as claimed
        inside = means[[np.argmin(np.maximum(higher, lower))]]
    step = max_loss / GRID
    return float(inside[0] - step), float(inside[-1] + step)


def _checked_probabilities(probabilities: Any, n_rows: int) -> Array:
    q = np.asarray(probabilities, dtype=np.float64)
    if not isinstance(n_rows, Integral) or q.ndim != 1 or not 0 < len(q) <= n_rows:
        raise ValueError(
            f"probabilities has the shape {q.shape} and n_rows={n_rows!r}: pass one probability "
            "for each chosen row, and the number of rows they were chosen from."
        )
    if not ((q > 0) & (q <= 1.0 + 1e-9)).all():
        raise ValueError("probabilities must lie above 0 and be at most 1.")
    return q

"""When to stop rating: the error after more ratings, and how many a goal needs."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tordinal.tables.curve import Curve

__all__ = ["Forecast", "Needed", "forecast_error", "ratings_needed"]

Array = NDArray[np.float64]

LEVEL = 0.9  # of the intervals
POINTS = 400  # numbers of ratings at which a goal is looked up
LITTLE = 0.02  # share of the error below which a gain is none


@dataclass(frozen=True)
class Forecast:
    """The error of the finished table after more ratings.

    Attributes
    ----------
    more : int
        How many more.
    now : float
        The error now.
    error, low, high : float
        The error then, with an interval of 90 %.
    """

    more: int
    now: float
    error: float
    low: float
    high: float

    @property
    def is_little(self) -> bool:
        """Whether so many more ratings hardly change the error."""
        return self.now - self.error <= LITTLE * self.now

    def __str__(self) -> str:
        if self.is_little:
            return (
                f"{self.more:,} more ratings would hardly change the error: it would stay at about "
                f"{self.now:.2f} steps."
            )
        return (
            f"{self.more:,} more ratings would bring the error from {self.now:.2f} to about "
            f"{self.error:.2f} steps ({self.low:.2f} to {self.high:.2f})."
        )


@dataclass(frozen=True)
class Needed:
    """The ratings that are still needed for an error.

    Attributes
    ----------
    goal : float
        The error of the finished table, in steps.
    more, low, high : float
        How many more ratings, with an interval of 90 %; infinite where they would not be enough.
    """

    goal: float
    more: float
    low: float
    high: float

    def __str__(self) -> str:
        if self.more == 0:
            return f"The error is {self.goal:g} steps or less already, by this estimate."
        if np.isinf(self.low):
            return f"An error of {self.goal:g} steps is out of reach, by this estimate."
        high = "no upper limit is known" if np.isinf(self.high) else _rounded(self.high)
        about = "Many more" if np.isinf(self.more) else f"About {_rounded(self.more)} more"
        return (
            f"{about} ratings are needed for an error of {self.goal:g} steps "
            f"({_rounded(self.low)} to {high})."
        )


def forecast_error(
    curve: Curve, more: int, n_rows: int | None = None, error: float | None = None
) -> Forecast:
    """Forecast the error after more ratings of random rows.

    Parameters
    ----------
    curve : Curve
        The learning curve of the ratings so far.
    more : int
        How many more ratings.
    n_rows : int or None
        Rows of the table: rated rows have no error in the finished table. None: the error of
        predictions alone.
    error : float or None
        The estimated error of predictions now, if there is a better estimate than the curve's
        supervised model; its shape is then scaled to it.

    Returns
    -------
    forecast : Forecast
        The error then. Rows that are chosen well bring more.

    Examples
    --------
    >>> fits = np.array([[0.2, 2.0, 0.5]])
    >>> curve = Curve([20, 40], [0.65, 0.52], 100, now=0.4, doubled=0.3414, fits=fits)
    >>> print(forecast_error(curve, 300))
    300 more ratings would bring the error from 0.40 to about 0.30 steps (0.30 to 0.30).
    """
    n = np.array([curve.n, curve.n + more], dtype=np.float64)
    left = _share_left(n, n_rows)
    scale = 1.0 if error is None or curve.now == 0 else error / curve.now
    now, then = scale * left * _point(curve, n)
    low, high = then, then
    if len(curve.fits):
        samples = scale * left[1] * _samples(curve, n)[:, 1]
        low, high = np.quantile(samples, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Forecast(more, float(now), float(then), float(min(low, then)), float(max(high, then)))


def ratings_needed(
    curve: Curve, goal: float, n_rows: int | None = None, error: float | None = None
) -> Needed:
    """Estimate how many more ratings of random rows a goal needs.

    Parameters
    ----------
    curve, n_rows, error
        As in `forecast_error`.
    goal : float
        The error of the finished table, in steps.

    Returns
    -------
    needed : Needed
        The ratings still needed, with an interval that is as wide as the extrapolation is
        uncertain.

    Examples
    --------
    >>> fits = np.array([[0.2, 2.0, 0.5]])
    >>> curve = Curve([20, 40], [0.65, 0.52], 100, now=0.4, doubled=0.3414, fits=fits)
    >>> print(ratings_needed(curve, 0.3))
    About 300 more ratings are needed for an error of 0.3 steps (300 to 300).
    >>> print(ratings_needed(curve, 0.1))
    An error of 0.1 steps is out of reach, by this estimate.
    """
    most = max(n_rows, curve.n + 1) if n_rows is not None else 1000 * curve.n
    more = np.unique(np.round(np.geomspace(1, most - curve.n + 1, POINTS)) - 1)
    n = curve.n + more
    left = _share_left(n, n_rows)
    scale = 1.0 if error is None or curve.now == 0 else error / curve.now

    def first(errors: Array) -> float:
        reached = np.flatnonzero(left * scale * errors <= goal + 1e-12)
        return float(more[reached[0]]) if len(reached) else float("inf")

    point = first(_point(curve, n))
    found = np.sort([point, *map(first, _samples(curve, n))])
    low, high = (found[round(q * (len(found) - 1))] for q in ((1 - LEVEL) / 2, (1 + LEVEL) / 2))
    return Needed(goal, point, float(min(low, point)), float(max(high, point)))


def _rounded(n: float) -> str:
    """A number of ratings to two digits; more would be false precision.

    Examples
    --------
    >>> _rounded(7.0), _rounded(1234.0)
    ('7', '1,200')
    """
    digits = max(len(str(int(n))) - 2, 0)
    return f"{round(n / 10**digits) * 10**digits:,}"


def _point(curve: Curve, n: Array) -> Array:
    """The curve through its values at n and 2 n ratings, which falls like 1 / sqrt(n)."""
    slope = (curve.now - curve.doubled) / (1 / np.sqrt(curve.n) - 1 / np.sqrt(2 * curve.n))
    return curve.now + slope * (1 / np.sqrt(n) - 1 / np.sqrt(curve.n))


def _samples(curve: Curve, n: Array) -> Array:
    """The curves of the bootstrap samples."""
    limit, slope, power = curve.fits.T[:, :, None]
    return limit + slope * n**-power


def _share_left(n: Array, n_rows: int | None) -> Array:
    """The share of rows without a rating."""
    return np.ones(len(n)) if n_rows is None else np.maximum(1.0 - n / n_rows, 0.0)

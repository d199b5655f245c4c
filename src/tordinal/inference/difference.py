"""The difference estimator: predictions for all rows, corrected by the residuals of rated ones."""

import warnings
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

__all__ = [
    "CLASSICAL",
    "COMPLETE",
    "FEWEST",
    "TOO_FEW",
    "TUNED",
    "FittedQuantity",
    "Quantity",
    "Sample",
    "draw_sample",
    "fit_quantity",
    "interval",
    "possible_values",
]

Array = NDArray[np.float64]
Index = NDArray[np.int64]
Mask = NDArray[np.bool_]

FEWEST = 5  # ratings below which there is no interval
# Width of an interval, in units of that of the ratings alone, from which predictions are not used.
# Wilson's is wider where the share is nearer to one half. Near 1, the lower of two shares would be
# chosen; benchmarks inference.
WIDEST = 1.05
TUNED, CLASSICAL = "prediction-powered", "ratings only"
COMPLETE, TOO_FEW = "all rows rated", "too few ratings"


@dataclass(frozen=True)
class Sample:
    """The rated rows as a sample of the table.

    `weight` estimates a mean over the unrated rows: proportional to 1 / probability - 1, and it
    sums to 1. `variance` has the factor of each squared residual in the variance of the estimate.
    `share` estimates a mean over all rows: proportional to 1 / probability.
    """

    rated: Index
    unrated: Index
    weight: Array
    variance: Array
    share: Array

    @property
    def n_rows(self) -> int:
        return len(self.rated) + len(self.unrated)

    @property
    def size(self) -> float:
        """Effective number of ratings (Kish): their number where all weights are equal."""
        return float(1.0 / np.sum(self.weight**2))


@dataclass(frozen=True)
class Quantity:
    """What is averaged: a number per rated row, a prediction per row, and the scale's limits.

    `step` is the distance of two ratings; 0 where the scale is not known. A share is the mean of
    zeros and ones.
    """

    known: Array
    predicted: Array
    limits: tuple[float, float] = (-np.inf, np.inf)
    step: float = 0.0
    is_share: bool = False


@dataclass(frozen=True)
class FittedQuantity:
    """The value of a quantity, the weight of its predictions and what its interval needs.

    `gain` is the variance without predictions in units of the variance with them.
    """

    value: float
    lam: float
    variance: float
    dof: float
    gain: float = 1.0


def draw_sample(rated: Mask, probabilities: ArrayLike | None) -> Sample:
    """The rated rows as a sample, drawn at random or with given probabilities."""
    rows, others = np.flatnonzero(rated), np.flatnonzero(~rated)
    n, n_rows = len(rows), len(rated)
    if n == 0:
        raise ValueError(f"y: none of {n_rows} rows is rated. Rate at least {FEWEST} rows.")
    if n < FEWEST:
        warnings.warn(
            f"y has {n} ratings, too few for an interval: low and high are NaN. Rate at least "
            f"{FEWEST} rows.",
            stacklevel=3,
        )
    if len(others) == 0:
        return Sample(rows, others, np.full(n, 1.0 / n), np.zeros(n), np.full(n, 1.0 / n))
    if probabilities is None:
        chosen = np.full(n, n / n_rows)
    else:
        given = np.asarray(probabilities, dtype=np.float64)
        if given.shape != (n_rows,):
            raise ValueError(
                f"probabilities has shape {given.shape}, but there are {n_rows} rows. Pass one "
                "probability per row, NaN for unrated rows if unknown."
            )
        chosen = given[rows]
        wrong = ~((chosen > 0) & (chosen <= 1))
        if wrong.any():
            raise ValueError(
                f"probabilities: {int(wrong.sum())} of {n} rated rows have values outside (0, 1], "
                f"such as {chosen[wrong][0]:g}. Pass the probability with which each was chosen."
            )
    odds = 1.0 / chosen - 1.0
    if odds.sum() == 0:
        raise ValueError(
            f"probabilities are 1 for all {n} rated rows, but {len(others)} rows are not rated. "
            "Pass the probability with which each row was chosen to be rated."
        )
    scale = len(others) / (odds.sum() * n_rows)
    share = 1.0 / chosen / np.sum(1.0 / chosen)
    return Sample(rows, others, odds / odds.sum(), scale**2 * (1.0 - chosen) / chosen**2, share)


def fit_quantity(
    quantity: Quantity, sample: Sample, level: float, lam: float | None, finite: bool
) -> FittedQuantity:
    """The estimate with the weight of least variance, or without predictions if it is better."""
    without = _fit_with(0.0, 0, quantity, sample, finite)
    best = _best_weight(quantity, sample) if lam is None else lam
    if best == 0:
        return without
    fit = _fit_with(best, int(lam is None), quantity, sample, finite)
    fit = replace(fit, gain=without.variance / fit.variance if fit.variance > 0 else 1.0)
    if lam is not None or _is_narrower(fit, without, quantity, sample, level, finite):
        return fit
    return without


def _is_narrower(
    fit: FittedQuantity,
    without: FittedQuantity,
    quantity: Quantity,
    sample: Sample,
    level: float,
    finite: bool,
) -> bool:
    """Whether predictions are useful: less variance, and no visibly wider interval."""
    low, high = interval(fit, quantity, sample, level, finite)
    least, most = interval(without, quantity, sample, level, finite)
    if high - low > WIDEST * (most - least):
        return False
    return _half_width(fit, level) < _half_width(without, level)


def _best_weight(quantity: Quantity, sample: Sample) -> float:
    """The weight of the predictions that minimises the estimated variance, within [0, 1]."""
    z, f = quantity.known, quantity.predicted[sample.rated]
    dz, df = z - sample.weight @ z, f - sample.weight @ f
    scale = float(sample.variance @ df**2)
    return float(np.clip(sample.variance @ (dz * df) / scale, 0.0, 1.0)) if scale > 0 else 0.0


def _fit_with(
    lam: float, n_tuned: int, quantity: Quantity, sample: Sample, finite: bool
) -> FittedQuantity:
    """The difference estimator with a given weight of the predictions."""
    z, f = quantity.known, quantity.predicted
    residual = z - lam * f[sample.rated]
    centre = float(sample.weight @ residual)
    n_rows, n_unrated = sample.n_rows, len(sample.unrated)
    value = (z.sum() + lam * f[sample.unrated].sum() + n_unrated * centre) / n_rows
    dof = max(sample.size - 1.0 - n_tuned, 1.0)

    def variance(deviation: Array, factor: Array) -> float:
        # As if one more rating were a step off: residuals that happen to be equal prove little.
        return float(factor @ deviation**2 + factor.mean() * quantity.step**2) * sample.size / dof

    spread = variance(residual - centre, sample.variance)
    if not finite:
        spread += variance(z - sample.share @ z, sample.share) / n_rows
    low, high = possible_values(quantity, sample, finite)
    return FittedQuantity(float(np.clip(value, low, high)), lam, spread, dof)


def possible_values(quantity: Quantity, sample: Sample, finite: bool) -> tuple[float, float]:
    """Bounds of the true value: rated rows are known, others are on the scale."""
    low, high = quantity.limits
    if not finite or not np.isfinite(low):
        return low, high
    known, n_unrated = float(quantity.known.sum()), len(sample.unrated)
    return (known + n_unrated * low) / sample.n_rows, (known + n_unrated * high) / sample.n_rows


def interval(
    fit: FittedQuantity, quantity: Quantity, sample: Sample, level: float, finite: bool
) -> tuple[float, float]:
    """Wilson's interval on the scale; Student's for numbers without a scale.

    Wilson's is wider towards the middle of the scale: ratings that are nearly all at one end have
    missed the others more often than not, and Student's interval is then too high or too low.
    """
    if finite and len(sample.unrated) == 0:
        return fit.value, fit.value
    if len(sample.rated) < FEWEST:
        return float("nan"), float("nan")
    if fit.variance == 0:
        return fit.value, fit.value
    value, t = fit.value, _quantile(level, fit.dof)
    bottom, top = quantity.limits
    if np.isfinite(bottom):
        width = top - bottom
        if quantity.is_share:
            plain = float(sample.variance.sum()) + (0.0 if finite else 1 / sample.n_rows)
            size = fit.gain / plain
        else:
            size = _size_on_scale((value - bottom) / width, fit.variance / width**2, sample.size)
        low, high = (bottom + width * end for end in _wilson((value - bottom) / width, size, t))
    else:
        low, high = value - _half_width(fit, level), value + _half_width(fit, level)
    least, most = possible_values(quantity, sample, finite)
    return min(value, max(low, least)), max(value, min(high, most))


def _size_on_scale(place: float, variance: float, n: float) -> float:
    """Number of ratings, all at the ends of the scale, that would have this mean and variance."""
    place = (n * place + 0.5) / (n + 1.0)  # one more rating in the middle: not 0 at an end
    return place * (1.0 - place) / variance


def _half_width(fit: FittedQuantity, level: float) -> float:
    return _quantile(level, fit.dof) * float(np.sqrt(fit.variance))


def _quantile(level: float, dof: float) -> float:
    return float(stats.t.ppf((1.0 + level) / 2.0, dof))


def _wilson(share: float, size: float, t: float) -> tuple[float, float]:
    centre = (share + t**2 / (2 * size)) / (1 + t**2 / size)
    half = t / (1 + t**2 / size) * np.sqrt(share * (1 - share) / size + t**2 / (4 * size**2))
    return float(centre - half), float(centre + half)

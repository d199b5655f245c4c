"""Estimates for the whole table: average rating, class shares, shares at or above a rating."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from tordinal.inference.difference import (
    CLASSICAL,
    COMPLETE,
    FEWEST,
    TOO_FEW,
    TUNED,
    FittedQuantity,
    Quantity,
    Sample,
    draw_sample,
    fit_quantity,
    interval,
    possible_values,
)
from tordinal.inference.groups import estimate_by_group
from tordinal.inference.ratings import (
    LEVEL,
    check_lengths,
    check_options,
    class_scores,
    mean_quantity,
    read_numbers,
    read_ratings,
    share_quantity,
)
from tordinal.labels import label_array
from tordinal.reduction import UNLABELED, Ranks

__all__ = [
    "Estimate",
    "TableEstimates",
    "estimate_mean",
    "estimate_share_at_least",
    "estimate_shares",
    "estimate_table",
]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Estimate:
    """An estimate for the whole table.

    Attributes
    ----------
    value : float
        The estimate.
    low, high : float
        Confidence interval; NaN where `method` is "too few ratings".
    standard_error : float
        Standard error of the value.
    n_rated, n_rows : int
        Rated rows, and all rows.
    level : float
        Confidence level.
    lam : float
        Weight of the predictions between 0 (not used) and 1 (PPI++'s power-tuning parameter).
    method : {"prediction-powered", "ratings only", "all rows rated", "too few ratings"}
        How it was estimated.

    Examples
    --------
    >>> print(Estimate(3.41, 3.32, 3.5, 0.05, 60, 1000, 0.9, 0.8, "prediction-powered"))
    3.41 (90 % interval 3.32 to 3.5; 60 of 1,000 rows are rated)
    """

    value: float
    low: float
    high: float
    standard_error: float
    n_rated: int
    n_rows: int
    level: float
    lam: float
    method: str

    def __str__(self) -> str:
        rows = f"{self.n_rated:,} of {self.n_rows:,} rows are rated"
        if np.isnan(self.low):
            return f"{self.value:.3g} (too few ratings for an interval; {rows})"
        interval = f"{100 * self.level:.3g} % interval {self.low:.3g} to {self.high:.3g}"
        return f"{self.value:.3g} ({interval}; {rows})"


@dataclass(frozen=True)
class TableEstimates:
    """All estimates of a table, made by `estimate_table`.

    Attributes
    ----------
    mean : Estimate
        The average rating.
    shares : DataFrame
        The share of each class; see `estimate_shares`.
    at_least : DataFrame
        For each class but the lowest the share of rows with this rating or a higher one.
    groups : DataFrame or None
        The estimates by group; see `estimate_by_group`.
    """

    mean: Estimate
    shares: pd.DataFrame
    at_least: pd.DataFrame
    groups: pd.DataFrame | None


def estimate_mean(
    y: ArrayLike,
    predicted: ArrayLike,
    *,
    classes: Sequence[Any] | None = None,
    scores: ArrayLike | None = None,
    probabilities: ArrayLike | None = None,
    level: float = LEVEL,
    lam: float | None = None,
    finite_population: bool = True,
) -> Estimate:
    """Estimate the average rating of all rows.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Ratings; None, NaN, pandas NA and, in integer labels, -1 mark unrated rows. Where
        `predicted` has one number per row, numbers with NaN for unrated rows.
    predicted : array-like of shape (n_rows, n_classes) or (n_rows,)
        Class probabilities, or predicted numbers. Those of rated rows must come from models that
        have not seen their ratings, as from `cross_fitted_proba`.
    classes : sequence, default=None
        All ratings from the lowest to the highest, one per column of `predicted`. None: the
        ratings in y, or the order of a categorical.
    scores : array-like of shape (n_classes,), default=None
        The number of each class. None: the ratings where they are numbers, else 1, 2, ..., K.
    probabilities : array-like of shape (n_rows,), default=None
        With which probability each row was chosen to be rated; read for rated rows only. Rows that
        were rated before others were chosen have 1. None: a random sample.
    level : float, default=0.9
        Confidence level.
    lam : float, default=None
        Weight of the predictions, from 0 (ratings only) to 1. None: the one of least variance.
    finite_population : bool, default=True
        Whether the average of these very rows is asked for: rated rows are then known exactly.
        False: the expectation in the population that they were drawn from.

    Returns
    -------
    estimate : Estimate
        The average with its interval.

    See Also
    --------
    estimate_table : Average, shares and groups at once.
    estimate_by_group : The average of each group.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(1, 6, 1000)
    >>> p = 0.6 * np.eye(5)[truth - 1] + 0.08
    >>> y = np.where(np.arange(1000) < 100, truth, -1)
    >>> print(estimate_mean(y, p))
    3.06 (90 % interval 2.97 to 3.15; 100 of 1,000 rows are rated)
    """
    check_options(level, lam)
    predicted = read_numbers(predicted, "predicted")
    if predicted.ndim == 1:
        if classes is not None or scores is not None:
            raise ValueError(
                "classes and scores need class probabilities, but predicted has shape "
                f"{predicted.shape}: pass one column per class."
            )
        values = np.asarray(pd.to_numeric(label_array(y)), dtype=np.float64)
        check_lengths(values, predicted)
        if np.isinf(values).any():
            raise ValueError("y contains infinity. Remove it, or mark the row as unrated with NaN.")
        sample = draw_sample(~np.isnan(values), probabilities)
        quantity = Quantity(values[sample.rated], predicted)
    else:
        rank, p, labels = read_ratings(y, predicted, classes)
        sample = draw_sample(rank != UNLABELED, probabilities)
        quantity = mean_quantity(rank, p, class_scores(labels, scores), sample)
    return _estimate(quantity, sample, level, lam, finite_population)


def estimate_shares(
    y: ArrayLike,
    predicted: ArrayLike,
    *,
    classes: Sequence[Any] | None = None,
    probabilities: ArrayLike | None = None,
    level: float = LEVEL,
    lam: float | None = None,
    finite_population: bool = True,
) -> pd.DataFrame:
    """Estimate the share of each class among all rows.

    Intervals are Wilson's with an effective number of ratings, so that a class without a given
    rating has one too. Values are adjusted to sum to 1.

    Parameters
    ----------
    y, classes, probabilities, level, lam, finite_population
        As in `estimate_mean`.
    predicted : array-like of shape (n_rows, n_classes)
        Class probabilities, as in `estimate_mean`.

    Returns
    -------
    shares : DataFrame
        Indexed by class, with the attributes of `Estimate` as columns. `n_rated` counts the rows
        that are rated so.

    See Also
    --------
    estimate_table : Average, shares and groups at once.
    estimate_share_at_least : Shares of a rating or a higher one.

    Examples
    --------
    >>> import numpy as np
    >>> truth = np.arange(1000) % 4 // 2
    >>> p = 0.9 * np.eye(2)[truth] + 0.05
    >>> y = np.where(np.arange(1000) < 100, truth, -1)
    >>> estimate_shares(y, p)[["value", "low", "high"]].round(2).loc[1].to_dict()
    {'value': 0.5, 'low': 0.48, 'high': 0.52}
    """
    check_options(level, lam)
    rank, p, labels = read_ratings(y, predicted, classes)
    sample = draw_sample(rank != UNLABELED, probabilities)
    return _shares(rank, p, labels, sample, level, lam, finite_population)


def estimate_share_at_least(
    y: ArrayLike,
    predicted: ArrayLike,
    rating: Any,
    *,
    classes: Sequence[Any] | None = None,
    probabilities: ArrayLike | None = None,
    level: float = LEVEL,
    lam: float | None = None,
    finite_population: bool = True,
) -> Estimate:
    """Estimate the share of rows with a rating or a higher one.

    Parameters
    ----------
    y, classes, probabilities, level, lam, finite_population
        As in `estimate_mean`.
    predicted : array-like of shape (n_rows, n_classes)
        Class probabilities, as in `estimate_mean`.
    rating : object
        One of the classes.

    Returns
    -------
    estimate : Estimate
        The share with its interval.

    See Also
    --------
    estimate_shares : The share of each rating.
    estimate_table : Average, shares and groups at once.

    Examples
    --------
    >>> import numpy as np
    >>> truth = np.arange(1000) % 5 + 1
    >>> p = 0.6 * np.eye(5)[truth - 1] + 0.08
    >>> y = np.where(np.arange(1000) < 100, truth, -1)
    >>> print(estimate_share_at_least(y, p, 4))
    0.4 (90 % interval 0.366 to 0.435; 100 of 1,000 rows are rated)
    """
    check_options(level, lam)
    rank, p, labels = read_ratings(y, predicted, classes)
    k = _position(rating, labels)
    sample = draw_sample(rank != UNLABELED, probabilities)
    quantity = share_quantity(rank, p, range(k, len(labels)), sample)
    return _estimate(quantity, sample, level, lam, finite_population)


def estimate_table(
    y: ArrayLike,
    predicted: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    classes: Sequence[Any] | None = None,
    scores: ArrayLike | None = None,
    probabilities: ArrayLike | None = None,
    level: float = LEVEL,
    finite_population: bool = True,
) -> TableEstimates:
    """Estimate average rating, class shares and shares at or above each rating.

    Parameters
    ----------
    y, classes, scores, probabilities, level, finite_population
        As in `estimate_mean`.
    predicted : array-like of shape (n_rows, n_classes)
        Class probabilities, as in `estimate_mean`.
    groups : array-like of shape (n_rows,), default=None
        The group of each row, for `estimate_by_group`, which is about the rows of the table
        whatever `finite_population` is.

    Returns
    -------
    estimates : TableEstimates
        All of them.

    See Also
    --------
    cross_fitted_proba : Predictions that it needs.
    check_representative : Whether rated rows look like a random sample.
    tordinal.rate_table : The same for a table, with the models.

    Examples
    --------
    >>> import numpy as np
    >>> from tordinal import REDSVM
    >>> from tordinal.inference import cross_fitted_proba
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 2))
    >>> truth = 1 + np.digitize(X[:, 0] + 0.5 * rng.normal(size=500), [-1, 0, 1])
    >>> y = np.where(rng.permutation(500) < 60, truth, -1)
    >>> P = cross_fitted_proba(REDSVM(loss="logistic"), X, y)
    >>> estimates = estimate_table(y, P)
    >>> print(estimates.mean)
    2.5 (90 % interval 2.39 to 2.62; 60 of 500 rows are rated)
    >>> float(truth.mean().round(2))
    2.45
    >>> [round(share, 2) for share in estimates.shares["value"]]
    [0.22, 0.22, 0.4, 0.16]
    """
    check_options(level, None)
    rank, p, labels = read_ratings(y, predicted, classes)
    sample = draw_sample(rank != UNLABELED, probabilities)
    quantity = mean_quantity(rank, p, class_scores(labels, scores), sample)
    at_least = [
        _estimate(
            share_quantity(rank, p, range(k, len(labels)), sample),
            sample, level, None, finite_population,
        )
        for k in range(1, len(labels))
    ]  # fmt: skip
    return TableEstimates(
        _estimate(quantity, sample, level, None, finite_population),
        _shares(rank, p, labels, sample, level, None, finite_population),
        _frame(at_least, labels[1:]),
        None
        if groups is None
        else estimate_by_group(
            y, p, groups, classes=labels.tolist(), scores=scores, probabilities=probabilities,
            level=level,
        ),
    )  # fmt: skip


def _estimate(
    quantity: Quantity, sample: Sample, level: float, lam: float | None, finite: bool
) -> Estimate:
    """The estimate of one quantity for the whole table."""
    fit = fit_quantity(quantity, sample, level, lam, finite)
    return _with_interval(fit, quantity, sample, level, finite)


def _with_interval(
    fit: FittedQuantity, quantity: Quantity, sample: Sample, level: float, finite: bool
) -> Estimate:
    low, high = interval(fit, quantity, sample, level, finite)
    n, n_rows = len(sample.rated), sample.n_rows
    if finite and n == n_rows:
        method = COMPLETE
    elif n < FEWEST:
        method = TOO_FEW
    else:
        method = TUNED if fit.lam > 0 else CLASSICAL
    error = float(np.sqrt(fit.variance))
    return Estimate(
        fit.value, low, high, error, n_rated=n, n_rows=n_rows, level=level, lam=fit.lam,
        method=method,
    )  # fmt: skip


def _shares(
    rank: Ranks,
    p: Array,
    labels: NDArray[Any],
    sample: Sample,
    level: float,
    lam: float | None,
    finite: bool,
) -> pd.DataFrame:
    """Shares of all classes, with values that sum to 1."""
    quantities = [share_quantity(rank, p, [k], sample) for k in range(len(labels))]
    fits = [fit_quantity(quantity, sample, level, lam, finite) for quantity in quantities]
    least = np.array([possible_values(quantity, sample, finite)[0] for quantity in quantities])
    free = np.array([fit.value for fit in fits]) - least  # what the unrated rows add
    if free.sum() > 0:
        free *= (1.0 - least.sum()) / free.sum()
    estimates = [
        _with_interval(replace(fit, value=value), quantity, sample, level, finite)
        for fit, value, quantity in zip(fits, (least + free).tolist(), quantities, strict=True)
    ]
    n_rated = [int(quantity.known.sum()) for quantity in quantities]
    return _frame(estimates, labels).assign(n_rated=n_rated)


def _frame(estimates: list[Estimate], labels: NDArray[Any]) -> pd.DataFrame:
    return pd.DataFrame(estimates, index=pd.Index(labels.tolist(), name="rating"))


def _position(rating: Any, labels: NDArray[Any]) -> int:
    listed = labels.tolist()
    if rating not in listed:
        raise ValueError(f"rating={rating!r} is not among the classes {listed[:10]}.")
    return listed.index(rating)

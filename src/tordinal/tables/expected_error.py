"""The expected error in plain words, compared with always predicting the same rating."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tordinal.reduction import Ranks

__all__ = [
    "HeldOutError",
    "effective_size",
    "estimate_error",
    "mean_margin",
    "share_margin",
    "weighted_median",
    "weighted_spread",
]

Array = NDArray[np.float64]

FEWEST = 10  # held-out ratings below which no error is estimated
Z = 1.96  # of an interval that covers 95 %
# Models of different folds share most of their training rows, so held-out rows are not independent.
# 1.2: intervals cover the truth in 9 of 10 cases; benchmarks promises
WIDER = 1.2
SIGNIFICANT = 1.64  # standard errors from which a difference is significant


@dataclass(frozen=True)
class HeldOutError:
    """The error on held-out rows, and that of always predicting the same rating.

    Attributes
    ----------
    judgement : {"useful", "uncertain", "no better", "unknown"}
        Whether it is better than always predicting the same rating.
    n : int
        Held-out ratings.
    accuracy, mae : float
        Share that was exactly right, and mean absolute error in steps between ratings.
    accuracy_margin, mae_margin : float
        Half the widths of their intervals, which cover the truth in 9 of 10 cases.
    most_frequent, median : object
        The constant predictions with the best accuracy and the best MAE.
    constant_accuracy, constant_mae : float
        Accuracy and MAE of these two.
    """

    judgement: str
    n: int
    accuracy: float = 0.0
    accuracy_margin: float = 0.0
    mae: float = 0.0
    mae_margin: float = 0.0
    most_frequent: Any = None
    median: Any = None
    constant_accuracy: float = 0.0
    constant_mae: float = 0.0

    @property
    def zero_one(self) -> float:
        """Zero-one error: the share of wrong predictions."""
        return 1.0 - self.accuracy

    def __str__(self) -> str:
        if self.judgement == "unknown":
            return (
                f"Too few ratings to estimate the error: only {self.n} could be held out. "
                "Rate more rows."
            )
        result = (
            f"{100 * self.accuracy:.0f} % exactly right (± {100 * self.accuracy_margin:.0f}), "
            f"off by {self.mae:.2f} steps on average (± {self.mae_margin:.2f})"
        )
        other = "" if self.median == self.most_frequent else f"always predicting {self.median} "
        constant = (
            f"always predicting {self.most_frequent} would be "
            f"{100 * self.constant_accuracy:.0f} % right, "
            + (f"{other}would be " if other else "")
            + f"off by {self.constant_mae:.2f} steps"
        )
        if self.judgement == "useful":
            return f"Useful: {result}; {constant}."
        if self.judgement == "uncertain":
            return (
                f"Perhaps better than always predicting {self.most_frequent}: {result}; {constant}."
            )
        return (
            f"No better than always predicting {self.most_frequent}: {result}; {constant}. "
            "Rate more rows, or add more informative columns."
        )


def estimate_error(
    truth: Ranks, predicted: Ranks, classes: list[Any], weights: Array | None = None
) -> HeldOutError:
    """Estimate the error from predictions of held-out rows.

    Parameters
    ----------
    truth, predicted : ndarray of shape (n_rows,)
        Their ranks.
    classes : list
        The ratings by rank.
    weights : ndarray of shape (n_rows,) or None
        Weights that correct for how the rows were chosen (`Selection.weights`). None: a random
        sample.

    Returns
    -------
    error : HeldOutError
        Its estimates and a judgement.

    Examples
    --------
    >>> import numpy as np
    >>> truth = np.array([0, 1, 2, 1, 2] * 8)
    >>> print(estimate_error(truth, truth, ["poor", "fair", "good"]).judgement)
    useful
    """
    n = len(truth)
    if n < FEWEST:
        return HeldOutError("unknown", n)
    w = np.ones(n) if weights is None or not weights.sum() else weights
    shares = np.bincount(truth, w, minlength=len(classes)) / w.sum()
    constant, median = int(np.argmax(shares)), weighted_median(truth, weights)
    right, constant_right = (predicted == truth) * 1.0, (truth == constant) * 1.0
    off = np.abs(predicted - truth).astype(np.float64)
    constant_off = np.abs(truth - median).astype(np.float64)
    gains = [_standardized(right - constant_right, w), _standardized(constant_off - off, w)]
    best = max(gains)
    judgement = "useful" if best > SIGNIFICANT else "uncertain" if best > 0 else "no better"
    if min(gains) < -SIGNIFICANT:  # better by one error, clearly worse by the other
        judgement = "uncertain" if judgement == "useful" else "no better"
    accuracy, mae = float(np.average(right, weights=w)), float(np.average(off, weights=w))
    spread, effective = weighted_spread(off, w), effective_size(w)
    return HeldOutError(
        judgement=judgement,
        n=n,
        accuracy=accuracy,
        accuracy_margin=share_margin(accuracy, effective),
        mae=mae,
        mae_margin=mean_margin(spread, effective),
        most_frequent=classes[constant],
        median=classes[median],
        constant_accuracy=float(np.average(constant_right, weights=w)),
        constant_mae=float(np.average(constant_off, weights=w)),
    )


def weighted_median(rank: Ranks, weights: Array | None) -> int:
    """The median rank; if it lies between two, it is rounded down.

    Examples
    --------
    >>> import numpy as np
    >>> rank = np.array([0, 1, 2])
    >>> weighted_median(rank, None), weighted_median(rank, np.array([1.0, 1.0, 5.0]))
    (1, 2)
    """
    if weights is None or not weights.sum():
        return int(np.median(rank))
    total = np.cumsum(np.bincount(rank, weights))
    return int(np.searchsorted(total, 0.5 * total[-1]))


def weighted_spread(values: Array, weights: Array) -> float:
    """The standard deviation of weighted values."""
    mean = np.average(values, weights=weights)
    return float(np.sqrt(np.average((values - mean) ** 2, weights=weights)))


def effective_size(weights: Array) -> float:
    """The number of rows of equal weight with the same information (Kish).

    Examples
    --------
    >>> import numpy as np
    >>> effective_size(np.array([1.0, 1.0])), effective_size(np.array([1.0, 0.0]))
    (2.0, 1.0)
    """
    return float(weights.sum() ** 2 / np.sum(weights**2))


def _standardized(gain: Array, weights: Array) -> float:
    """A mean gain in units of its standard error."""
    mean, spread = float(np.average(gain, weights=weights)), weighted_spread(gain, weights)
    if spread == 0.0:
        return float(np.sign(mean)) * np.inf if mean else 0.0
    return mean / spread * float(np.sqrt(effective_size(weights)))


def share_margin(share: float, n: float) -> float:
    """Half the width of a share's interval: Wilson's, which is also valid near 0 and 1."""
    half = Z / (1 + Z**2 / n) * float(np.sqrt(share * (1 - share) / n + Z**2 / (4 * n**2)))
    return WIDER * half


def mean_margin(spread: float, n: float) -> float:
    """Half the width of a mean distance's interval, with one row added that is off by a step."""
    return WIDER * Z * float(np.sqrt((spread**2 * n + 1.0) / (n + 1))) / np.sqrt(n)

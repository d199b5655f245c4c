"""What an answer is worth, in plain words: held-out ratings against always saying the same."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tordinal.reduction import Ranks

__all__ = ["Worth", "judge", "mean_error", "share_error"]

Array = NDArray[np.float64]

FEWEST = 10  # held-out ratings below which nothing can be told
Z = 1.96  # of an interval that covers 95 %
# Models that rate held-out rows have most of their ratings in common, so the rows are not as good
# as independent ones. By so much intervals must be wider to hold what they promise (measured:
# docs/benchmarks.md, promises).
WIDER = 1.2
SURE = 1.64  # standard errors of a difference that chance does not make


@dataclass(frozen=True)
class Worth:
    """How well held-out rows were rated, beside always giving the most frequent rating.

    Attributes
    ----------
    judgement : {"useful", "uncertain", "no better", "unknown"}
        Whether it is better than that.
    n : int
        Held-out ratings.
    right, off : float
        Share that was exactly right, and mean distance in steps.
    right_error, off_error : float
        Half the width of their intervals, which hold the truth in 9 of 10 cases.
    constant, middle : object
        The most frequent rating, and the median one: the best to give always.
    constant_right, constant_off : float
        How often the one would be right, and how far off the other.
    """

    judgement: str
    n: int
    right: float = 0.0
    right_error: float = 0.0
    off: float = 0.0
    off_error: float = 0.0
    constant: Any = None
    middle: Any = None
    constant_right: float = 0.0
    constant_off: float = 0.0

    def __str__(self) -> str:
        if self.judgement == "unknown":
            return (
                f"What this is worth cannot be told: only {self.n} ratings could be held out. "
                "Rate more rows."
            )
        figures = (
            f"{100 * self.right:.0f} % exactly right (± {100 * self.right_error:.0f}), "
            f"{self.off:.2f} steps off (± {self.off_error:.2f})"
        )
        other = "" if self.middle == self.constant else f"always saying {self.middle} "
        always = (
            f"always saying {self.constant} would be {100 * self.constant_right:.0f} % right, "
            f"{other}{self.constant_off:.2f} steps off"
        )
        if self.judgement == "useful":
            return f"Useful: {figures}; {always}."
        if self.judgement == "uncertain":
            return f"Perhaps better than always saying {self.constant}: {figures}; {always}."
        return (
            f"No better than always saying {self.constant}: {figures}; {always}. More ratings are "
            "needed, or the columns say nothing about it."
        )


def judge(truth: Ranks, predicted: Ranks, classes: list[Any]) -> Worth:
    """Judge predictions of held-out rows.

    Parameters
    ----------
    truth, predicted : ndarray of shape (n_rows,)
        Their ranks.
    classes : list
        The ratings by rank.

    Returns
    -------
    worth : Worth
        The judgement.

    Examples
    --------
    >>> import numpy as np
    >>> truth = np.array([0, 1, 2, 1, 2] * 8)
    >>> print(judge(truth, truth, ["poor", "fair", "good"]).judgement)
    useful
    """
    n = len(truth)
    if n < FEWEST:
        return Worth("unknown", n)
    constant = int(np.argmax(np.bincount(truth, minlength=len(classes))))
    right, off = (predicted == truth).astype(np.float64), np.abs(predicted - truth) * 1.0
    middle = int(np.median(truth))
    alike, far = (truth == constant).astype(np.float64), np.abs(middle - truth) * 1.0
    better = [_sure(right - alike), _sure(far - off)]
    judgement = "useful" if max(better) > SURE else "uncertain" if max(better) > 0 else "no better"
    if min(better) < -SURE:  # better in one respect, surely worse in the other
        judgement = "uncertain" if judgement == "useful" else "no better"
    return Worth(
        judgement, n, float(right.mean()), share_error(float(right.mean()), n),
        float(off.mean()), mean_error(float(off.std()), n), classes[constant], classes[middle],
        float(alike.mean()), float(far.mean()),
    )  # fmt: skip


def _sure(gain: Array) -> float:
    """A mean gain in units of its standard error."""
    mean, spread = float(gain.mean()), float(gain.std())
    if spread == 0.0:
        return float(np.sign(mean)) * np.inf if mean else 0.0
    return mean / spread * np.sqrt(len(gain))


def share_error(share: float, n: int) -> float:
    """Half the width of the interval of a share: Wilson's, which also holds near 0 and 1."""
    half = Z / (1 + Z**2 / n) * float(np.sqrt(share * (1 - share) / n + Z**2 / (4 * n**2)))
    return WIDER * half


def mean_error(spread: float, n: int) -> float:
    """Half the width of the interval of a mean distance; as if one more row were a step off."""
    return WIDER * Z * float(np.sqrt((spread**2 * n + 1.0) / (n + 1))) / np.sqrt(n)

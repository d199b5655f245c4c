"""The results of cross-validation for one candidate."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tordinal.reduction import Ranks

__all__ = ["Trial"]

Array = NDArray[np.float64]


@dataclass(eq=False)
class Trial:
    """The results of cross-validation for one candidate.

    Attributes
    ----------
    candidate : Candidate or Expert
        The candidate.
    scores : dict of int to float
        Score of each fold that was tried, the higher the better.
    distances : dict of int to ndarray
        Distances of the rows of each fold to the thresholds, for the folds of the first repeat.
    labels : dict of int to ndarray
        Their predicted ranks, for the folds of all repeats.
    dropped : bool
        Whether it was dropped from the race.
    over_budget : bool
        Whether it was dropped because it took many times as long as others.
    """

    candidate: Any
    scores: dict[int, float] = field(default_factory=dict)
    distances: dict[int, Array] = field(default_factory=dict)
    labels: dict[int, Ranks] = field(default_factory=dict)
    dropped: bool = False
    over_budget: bool = False

    def mean(self, folds: Sequence[int] | None = None) -> float:
        """Mean score, -inf where the scorer failed."""
        values = [self.scores[f] for f in (self.scores if folds is None else folds)]
        return float(np.mean(values)) if values and np.isfinite(values).all() else -np.inf

    def error(self, repeats: int) -> float:
        """Standard error of the mean score of one pass through the folds."""
        values = list(self.scores.values())
        return float(np.std(values) / np.sqrt(max(len(values) / repeats, 2)))

"""What cross-validation has found out about a candidate."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import FitFailedWarning
from sklearn.utils import Tags

from tordinal.calibration import identity_calibration
from tordinal.reduction import Ranks
from tordinal.search.candidates import Candidate

__all__ = ["HeldOut", "Trial", "score"]

Array = NDArray[np.float64]


@dataclass(eq=False)
class Trial:
    """What cross-validation found out about a candidate.

    Attributes
    ----------
    scores : dict of int to float
        Score of each fold that was tried, the higher the better.
    labels : dict of int to ndarray
        Predicted ranks of the rows of each fold.
    distances : dict of int to ndarray
        Their distances to thresholds, for the folds of the first repeat.
    dropped : bool
        Whether it is out of the race.
    exhausted : bool
        Whether that is because it took many times the work of others.
    """

    candidate: Candidate
    scores: dict[int, float] = field(default_factory=dict)
    distances: dict[int, Array] = field(default_factory=dict)
    labels: dict[int, Ranks] = field(default_factory=dict)
    dropped: bool = False
    exhausted: bool = False

    def mean(self, folds: Sequence[int] | None = None) -> float:
        """Mean score, -inf where the scorer failed."""
        values = [self.scores[f] for f in (self.scores if folds is None else folds)]
        return float(np.mean(values)) if values and np.isfinite(values).all() else -np.inf

    def error(self, repeats: int) -> float:
        """Standard error of the mean score of one pass through the folds."""
        values = list(self.scores.values())
        return float(np.std(values) / np.sqrt(max(len(values) / repeats, 2)))


class HeldOut:
    """A fold's answer, in the shape that scikit-learn's scorers ask for."""

    _estimator_type = "classifier"

    def __init__(self, tags: Tags, classes: NDArray[Any], labels: Ranks, distances: Array):
        self._tags, self.classes_ = tags, classes
        self._labels, self._distances = labels, distances

    def __sklearn_tags__(self) -> Tags:
        return self._tags

    def predict(self, X: Any) -> NDArray[Any]:
        return self.classes_[self._labels]

    def predict_proba(self, X: Any) -> Array:
        return identity_calibration(self._distances.shape[1]).probabilities(self._distances)


def score(scorer: Any, answer: HeldOut, X: Any, truth: NDArray[Any], params: Any) -> float:
    """The score of a fold. A scorer is the user's: its failure marks the candidate, no more."""
    try:
        return float(scorer(answer, X, truth))
    except Exception as error:
        warnings.warn(f"scoring failed for {params}: {error}", FitFailedWarning, stacklevel=2)
        return np.nan

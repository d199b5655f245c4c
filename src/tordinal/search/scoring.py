"""Scores of held-out rows: by the distance between ranks, or by any scorer."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import FitFailedWarning
from sklearn.metrics import get_scorer
from sklearn.utils import Tags

from tordinal.calibration import identity_calibration
from tordinal.metrics import SCORERS
from tordinal.reduction import Ranks

__all__ = ["COSTS", "HeldOut", "Scoring"]

Array = NDArray[np.float64]

COSTS: dict[str, Callable[[Ranks], Array]] = {  # of being some ranks off
    "absolute": lambda off: np.abs(off).astype(np.float64),
    "zero_one": lambda off: (off != 0).astype(np.float64),
    "both": lambda off: 0.5 * (np.abs(off) + (off != 0)),
}
ZERO_ONE_SCORERS = ("accuracy", "neg_mean_zero_one_error")


@dataclass(frozen=True)
class Scoring:
    """What candidates are compared by.

    Errors are counted row by row, so that the rows of a fold can be excluded; a scorer sees a fold
    as a whole.

    Attributes
    ----------
    cost : callable or None
        Cost of each row, from how many ranks it is off. None: there is a scorer.
    scorer : callable or None
        A scorer, as in scikit-learn.
    decides_by : str
        The cost, of `COSTS`, whose expected value the ensemble minimises.
    tags, classes
        Tags and classes of the estimator, for the scorer.
    """

    cost: Callable[[Ranks], Array] | None
    scorer: Any
    decides_by: str
    tags: Tags
    classes: NDArray[Any]

    @classmethod
    def of(cls, scoring: Any, tags: Tags, classes: NDArray[Any]) -> "Scoring":
        """From the parameter of `TORCV`: a cost, a scorer or its name, or None."""
        scoring = "both" if scoring is None else scoring
        name = scoring if isinstance(scoring, str) else ""
        if name in COSTS:
            return cls(COSTS[name], None, name, tags, classes)
        scorer = SCORERS[name] if name in SCORERS else get_scorer(scoring)
        decides_by = "zero_one" if name in ZERO_ONE_SCORERS else "absolute"
        return cls(None, scorer, decides_by, tags, classes)

    def score(self, labels: Ranks, truth: Ranks, distances: Array, X: Any, params: Any) -> float:
        """The score of a fold, the higher the better; NaN, with a warning, if the scorer fails.

        Parameters
        ----------
        labels, truth : ndarray of shape (n_rows,)
            Predicted and true ranks.
        distances : ndarray of shape (n_rows, n_classes - 1)
            Distances to the thresholds.
        X : matrix
            The rows.
        params : dict
            Parameters of the candidate, for the warning.

        Returns
        -------
        score : float
            The score.
        """
        if self.cost is not None:
            return -float(np.mean(self.cost(labels - truth)))
        answer = HeldOut(self.tags, self.classes, labels, distances)
        try:
            return float(self.scorer(answer, X, self.classes[truth]))
        except Exception as error:
            warnings.warn(f"scoring failed for {params}: {error}", FitFailedWarning, stacklevel=2)
            return np.nan


class HeldOut:
    """Predictions for a fold, in the shape that scikit-learn's scorers ask for."""

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

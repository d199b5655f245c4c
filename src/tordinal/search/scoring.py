"""Scores of held-out rows: by the distance between ranks, or by any scorer."""

import inspect
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import FitFailedWarning
from sklearn.metrics import get_scorer
from sklearn.utils import Tags

from tordinal.calibration import identity_calibration
from tordinal.costs import COSTS, check_cost, cost_matrix
from tordinal.metrics import SCORERS
from tordinal.reduction import Ranks

__all__ = ["HeldOut", "Scoring"]

Array = NDArray[np.float64]

ZERO_ONE_SCORERS = ("accuracy", "neg_mean_zero_one_error")


@dataclass(frozen=True)
class Scoring:
    """How candidates are compared.

    Errors are counted row by row, so that the rows of a fold can be excluded; a scorer sees a fold
    as a whole.

    Attributes
    ----------
    costs : ndarray of shape (n_classes, n_classes) or None
        Cost of each predicted rank (columns) for each true one (rows). None: there is a scorer.
    scorer : callable or None
        A scorer, as in scikit-learn.
    decides_by : ndarray of shape (n_classes, n_classes)
        The costs whose expected value the ensemble minimises.
    name : str
        Name of the costs in `COSTS`; empty for the user's own.
    tags, classes
        Tags and classes of the estimator, for the scorer.
    """

    costs: Array | None
    scorer: Any
    decides_by: Array
    name: str
    tags: Tags
    classes: NDArray[Any]

    @classmethod
    def of(
        cls, scoring: Any, tags: Tags, classes: NDArray[Any], cost: Any = None,
        class_weights: Array | None = None,
    ) -> "Scoring":  # fmt: skip
        """From the parameters of `TORCV`.

        Weights of classes multiply the costs: a class that counts twice costs twice as much.
        """
        n, scorer = len(classes), None
        weights = np.ones(n) if class_weights is None else class_weights
        name = scoring if isinstance(scoring, str) else "both" if scoring is None else ""
        if name not in COSTS:
            scorer = SCORERS[name] if name in SCORERS else get_scorer(scoring)
            name = "zero_one" if name in ZERO_ONE_SCORERS else "absolute"
        usual = cost_matrix(name, n)
        given = usual if cost is None else check_cost(cost, n)
        compared = given if scoring is None else usual
        if cost is not None or (weights != 1.0).any():
            name = ""
        return cls(
            None if scorer is not None else weights[:, None] * compared, scorer,
            weights[:, None] * given, name, tags, classes,
        )  # fmt: skip

    @property
    def custom(self) -> bool:
        """Whether the user gave costs: the predicted class need not be the most probable."""
        return not self.name

    @property
    def expert_costs(self) -> Array:
        """The costs that a single expert decides by: for the median, as other models, or the mode.

        The mode is for scorers and costs that count wrong ranks only.
        """
        if self.custom or self.name == "zero_one":
            return self.decides_by
        return cost_matrix("absolute", len(self.classes))

    def score(
        self, labels: Ranks, truth: Ranks, distances: Array, X: Any, params: Any, weight: Array
    ) -> float:
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
        weight : ndarray of shape (n_rows,)
            Weights of the rows. Scorers that take weights get them if they are not all 1.

        Returns
        -------
        score : float
            The score.
        """
        if self.costs is not None:
            return -float(np.average(self.costs[truth, labels], weights=weight))
        answer = HeldOut(self.tags, self.classes, labels, distances)
        given = {}
        if (weight != 1.0).any() and "sample_weight" in inspect.signature(self.scorer).parameters:
            given["sample_weight"] = weight
        try:
            return float(self.scorer(answer, X, self.classes[truth], **given))
        except Exception as error:
            warnings.warn(f"scoring failed for {params}: {error}", FitFailedWarning, stacklevel=2)
            return np.nan


class HeldOut:
    """Predictions for a fold, as an estimator for scikit-learn's scorers."""

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

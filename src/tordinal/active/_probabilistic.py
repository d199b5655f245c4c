"""Strategies that score rows by their class probabilities."""

from abc import abstractmethod
from numbers import Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

from tordinal._sklearn import HasMethods, Interval
from tordinal.active.base import Array, Pool, Scores, Strategy, in_proportion
from tordinal.distances import Matrix
from tordinal.estimators import REDSVM
from tordinal.labels import label_array

__all__ = ["ProbabilisticStrategy", "class_probabilities", "default_model"]

C = 10.0  # of the default estimator; of 0.3, 1, 10 and 100 the best on most tables with 60 ratings


class ProbabilisticStrategy(Strategy):
    """Scores rows by their class probabilities, and by their distance to rated rows.

    Until two classes are rated, rows are drawn as in `Coverage`.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Strategy._parameter_constraints,
        "estimator": [HasMethods(["fit", "predict_proba"]), None],
        "power": [Interval(Real, 0.0, None, closed="neither"), None],
        "diversity": [Interval(Real, 0.0, None, closed="left")],
    }
    estimator: Any
    power: float | None
    diversity: float

    def __init__(
        self,
        estimator: Any = None,
        *,
        power: float | None = None,
        diversity: float = 0.0,
        classes: Any = None,
        random_state: Any = 0,
    ):
        self.estimator = estimator
        self.power = power
        self.diversity = diversity
        self.classes = classes
        self.random_state = random_state

    @abstractmethod
    def _uncertainty(self, p: Array) -> Array:
        """Score of rows of class probabilities; never negative."""

    def _scores(self, pool: Pool) -> Scores:
        if pool.proba is None and not pool.several_classes_rated:
            return lambda: pool.nearest() ** 2
        p = class_probabilities(self.estimator, pool) if pool.proba is None else pool.proba
        uncertainty = self._uncertainty(p)
        if not self.diversity:
            return lambda: uncertainty

        def scores() -> Array:
            nearest = pool.nearest()
            largest = nearest[pool.candidates].max()
            if largest == 0 or np.isinf(largest):
                return uncertainty
            return uncertainty * (nearest / largest) ** self.diversity

        return scores

    def _distribution(self, scores: Array, pool: Pool) -> Array:
        if pool.proba is None and not pool.several_classes_rated:
            return in_proportion(scores, pool)
        if self.power is not None:
            largest = scores[pool.candidates].max()
            return in_proportion((scores / largest if largest else scores) ** self.power, pool)
        return super()._distribution(scores, pool)


def class_probabilities(estimator: Any, pool: Pool) -> Array:
    """Class probabilities of all rows, by an estimator that is fitted to the rated ones.

    Transductive estimators are fitted to all rows. The default is a RED-SVM.
    """
    assert pool.classes is not None
    classes = pool.classes.tolist()
    if estimator is None:
        model: Any = default_model(pool.X)
    else:
        model = clone(estimator)
    final = model.steps[-1][1] if hasattr(model, "steps") else model
    if "classes" in final.get_params() and final.classes is None:
        final.set_params(classes=classes)
    transductive = getattr(final, "_transductive", False)
    rows = np.arange(len(pool.rank)) if transductive else pool.rated
    model.fit(pool.X[rows], label_array(pool.labels[rows].tolist()))
    p = np.zeros((len(pool.rank), len(classes)))
    place = {label: k for k, label in enumerate(classes)}
    p[:, [place[label] for label in model.classes_.tolist()]] = model.predict_proba(pool.X)
    return p


def default_model(X: Matrix) -> REDSVM:
    """What predicts the probabilities unless there is another estimator: it is fitted at once."""
    return REDSVM(C=1.0, kernel="linear") if sp.issparse(X) else REDSVM(C, kernel="perceptron")

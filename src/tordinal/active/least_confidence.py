"""Rows whose most probable class is the least probable."""

from tordinal.active._probabilistic import ProbabilisticStrategy
from tordinal.active.base import Array

__all__ = ["LeastConfidence"]


class LeastConfidence(ProbabilisticStrategy):
    """Choose rows whose most probable class has the smallest probability.

    The order of the classes plays no part: a baseline.

    Parameters
    ----------
    estimator : estimator with `predict_proba`, default=None
        What predicts the class probabilities; it is cloned and fitted to the rated rows, or to all
        if it is a transductive estimator of tordinal. None: `REDSVM` with C=10 and the perceptron
        kernel, for sparse rows with C=1 and the linear one.
    power : float or None, default=None
        Rows are drawn with a probability in proportion to this power of their score. None: always
        the row with the largest score.
    diversity : float, default=0.0
        Power of the distance to the nearest rated or chosen row by which the score is multiplied.
        0: distances do not count, and the rows of one query may be much alike.
    classes : array-like, default=None
        All ratings from the lowest to the highest. None: those in y, sorted.
    random_state : int, RandomState or None, default=0
        Seed for ties, and for the rows before two classes are rated.

    See Also
    --------
    Entropy : Uncertainty over all classes.
    ExpectedError : Takes the order of the classes into account.

    Examples
    --------
    >>> from tordinal.active import LeastConfidence
    >>> p = [[0.5, 0.5], [0.9, 0.1], [0.6, 0.4]]
    >>> LeastConfidence().query([[0.0], [1.0], [2.0]], [None] * 3, 2, y_proba=p)[0].tolist()
    [0, 2]
    """

    def _uncertainty(self, p: Array) -> Array:
        return 1.0 - p.max(axis=1)

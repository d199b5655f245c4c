"""Rows whose predicted ratings are expected to be furthest off."""

from typing import Any

import numpy as np

from tordinal.active._probabilistic import ProbabilisticStrategy
from tordinal.active.base import Array

__all__ = ["ExpectedError", "expected_absolute_error"]


class ExpectedError(ProbabilisticStrategy):
    """Choose rows with a large expected absolute error.

    The expected absolute error of a row is that of the best rank under its class probabilities,
    their median. By default rows are drawn with a probability in proportion to its fourth power.
    That covers the uncertain rows where there are many of them; always taking the row with the
    largest error needs more ratings than random rows on some tables (``python -m benchmarks
    active``). Until two classes are rated, rows are drawn as in `Coverage`.

    Parameters
    ----------
    estimator : estimator with `predict_proba`, default=None
        What predicts the class probabilities; it is cloned and fitted to the rated rows, or to all
        if it is a transductive estimator of tordinal. None: `REDSVM` with C=10 and the perceptron
        kernel, for sparse rows with C=1 and the linear one.
    power : float or None, default=4.0
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
    ExpectedErrorReduction : Also counts what a rating does for similar rows.
    Mixture : The same with a share of audit rows.
    LeastConfidence : Uncertain rows, whatever the order of the classes.
    Coverage : Needs no ratings.

    Examples
    --------
    >>> import numpy as np
    >>> from tordinal.active import ExpectedError
    >>> X, y = np.arange(10.0)[:, None], [1, 1, 1, None, None, None, None, 2, 2, 2]
    >>> rows, probabilities = ExpectedError(power=None).query(X, y, 1)
    >>> int(rows[0]) in (4, 5)
    True
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        power: float | None = 4.0,
        diversity: float = 0.0,
        classes: Any = None,
        random_state: Any = 0,
    ):
        super().__init__(
            estimator, power=power, diversity=diversity, classes=classes, random_state=random_state
        )

    def _uncertainty(self, p: Array) -> Array:
        return expected_absolute_error(p)


def expected_absolute_error(p: Array) -> Array:
    """Expected distance between the true rank and the best prediction, for each row.

    Examples
    --------
    >>> import numpy as np
    >>> expected_absolute_error(np.array([[0.5, 0.0, 0.5], [0.0, 1.0, 0.0]]))
    array([1., 0.])
    """
    # The sum over thresholds of the chance of lying on the other side than the median.
    above = np.clip(1.0 - np.cumsum(p, axis=1)[:, :-1], 0.0, 1.0)
    return np.minimum(above, 1.0 - above).sum(axis=1)

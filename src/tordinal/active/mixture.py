"""A strategy whose ratings stay usable for statistics: part of the rows are a random sample."""

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tordinal._sklearn import Interval
from tordinal.active.base import Array, Index, Pool, Scores, Strategy
from tordinal.active.error_reduction import ExpectedErrorReduction

__all__ = ["Mixture"]


class Mixture(Strategy):
    """Choose rows by a strategy, and some of them uniformly at random.

    Before each row a coin is thrown: with probability `audit` the row is drawn uniformly from all
    unrated rows, otherwise by the strategy. The recorded probabilities count both ways in which a
    row can be chosen, so that `estimate_error` can be used with all ratings or with the audit rows.

    Parameters
    ----------
    strategy : Strategy, default=None
        Chooses the other rows. None: `ExpectedErrorReduction`.
    audit : float, default=0.25
        Share of rows that are drawn uniformly, above 0 and at most 1.
    random_state : int, RandomState or None, default=0
        Seed. An int gives other random numbers once there are more ratings.

    Attributes
    ----------
    audit_ : ndarray of bool
        Which rows of the last query were drawn uniformly.

    See Also
    --------
    ExpectedErrorReduction : The strategy that it mixes by default.
    estimate_error : The error on all rows from its choices.

    Examples
    --------
    >>> import numpy as np
    >>> from tordinal.active import ExpectedError, Mixture
    >>> X, y = np.arange(8.0)[:, None], [1, 1, None, None, None, None, 2, 2]
    >>> strategy = Mixture(ExpectedError(), audit=0.5)
    >>> rows, probabilities = strategy.query(X, y, 2)
    >>> len(rows), bool((probabilities >= 0.5 / 4).all()), strategy.audit_.shape
    (2, True, (2,))
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "random_state": ["random_state"],
        "strategy": [Strategy, None],
        "audit": [Interval(Real, 0.0, 1.0, closed="right")],
    }
    audit_: NDArray[np.bool_]

    def __init__(
        self,
        strategy: Strategy | None = None,
        *,
        audit: float = 0.25,
        random_state: Any = 0,
    ):
        self.strategy = strategy
        self.audit = audit
        self.random_state = random_state

    def query(self, X: Any, y: Any, n: int = 1, *, y_proba: Any = None) -> tuple[Index, Array]:
        self._validate_params()
        self._inner._validate_params()
        self._flags: list[bool] = []
        chosen = super().query(X, y, n, y_proba=y_proba)
        self.audit_ = np.array(self._flags, dtype=bool)
        return chosen

    @property
    def classes(self) -> Any:
        """Those of the strategy."""
        return self._inner.classes

    @property
    def _inner(self) -> Strategy:
        return ExpectedErrorReduction() if self.strategy is None else self.strategy

    def _scores(self, pool: Pool) -> Scores:
        return self._inner._scores(pool)

    def _distribution(self, scores: Array, pool: Pool) -> Array:
        return self._inner._distribution(scores, pool)

    def _draw(self, scores: Array, pool: Pool) -> tuple[int, float]:
        # A uniform draw from a uniform sample is uniform over all candidates. Drawn from the same
        # sample as the others, it has weights that vary much less.
        share = pool.in_question.sum() / pool.candidates.sum()
        uniform = pool.in_question / pool.in_question.sum()
        chosen = self._distribution(scores, pool)
        is_audit = bool(pool.rng.random() < self.audit)
        self._flags.append(is_audit)
        row = int(pool.rng.choice(len(chosen), p=uniform if is_audit else chosen))
        return row, float(share * (self.audit * uniform[row] + (1.0 - self.audit) * chosen[row]))

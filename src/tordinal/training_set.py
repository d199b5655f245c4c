"""The rows of a fit with their ranks and weights, which always travel together."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tordinal.reduction import UNLABELED, Ranks

__all__ = ["TrainingSet"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class TrainingSet:
    """The rows of a fit.

    Attributes
    ----------
    X : matrix
        Training rows, or their kernel values for a precomputed kernel.
    rank : ndarray of shape (n_rows,)
        Given ranks, `UNLABELED` where there is none.
    weight : ndarray of shape (n_rows,)
        Factors of the rows' costs.
    n_classes : int
        K.

    Examples
    --------
    >>> import numpy as np
    >>> rows = TrainingSet(np.zeros((3, 1)), np.array([0, -1, 1]), np.ones(3), 2)
    >>> rows.unlabeled
    array([False,  True, False])
    """

    X: Any
    rank: Ranks
    weight: Array
    n_classes: int

    @cached_property
    def unlabeled(self) -> NDArray[np.bool_]:
        """Which rows have no given rank."""
        return self.rank == UNLABELED

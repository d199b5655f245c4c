"""What an engine provides, as protocols: the seam between what is solved and where it runs."""

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tordinal.reduction import Ranks
from tordinal.swapping import Gain, Swaps

__all__ = ["Block", "Fit", "PseudoLabels", "deferred", "light", "project"]

Array = NDArray[np.float64]
Index = NDArray[np.int64]


class Fit(Protocol):
    """A trained threshold model. Projections of the rows stay where the rows live."""

    @property
    def thresholds(self) -> Array: ...

    @property
    def objective(self) -> float: ...

    @property
    def n_iter(self) -> int: ...

    @property
    def converged(self) -> bool: ...


class PseudoLabels(Protocol):
    """Labels of all rows, given or found, where the rows live."""

    n_rows: int
    n_unlabeled: int

    def assign(self, supervised: Any, counts: Callable[[Any], Index]) -> None:
        """Algorithm 2: sort unlabelled rows by projection and hand out the class counts."""

    def swap(self, fit: Any, gain: Gain, swaps: Swaps) -> int:
        """Lines 9 to 15 of Algorithm 1 at a fit; the number of pairs. Keeps the labels before."""

    def gain(self, fit: Any, gain: Gain) -> float:
        """How much the loss at the fit falls from the labels before the swap to those after it."""

    def undo(self) -> None:
        """Return to the labels before the last swap."""

    def greatest_losses(self, fit: Any, wrong_side_loss: Gain) -> float:
        """A bound of the losses of all unlabelled rows at a fit, in units of C2."""


class Block:
    """Some rows, with one entry each of the vectors that a solver keeps.

    Attributes
    ----------
    X : DenseBlock or SparseBlock
        Products with the rows.
    y, cost : ndarray of shape (n_rows,)
        Their ranks and costs.
    h, z : ndarray of shape (n_rows,)
        Their projections, and how those change along a direction.
    u : ndarray of shape (n_rows, n_thresholds)
        Multipliers of a piecewise linear loss.
    pull, D : ndarray of shape (n_rows,)
        Derivatives in h and curvatures at the last evaluation.
    """

    y: Ranks
    cost: Array
    h: Array
    z: Array
    u: Array
    pull: Array
    D: Array

    def __init__(self, X: Any):
        self.X: Any = X


def light(work: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a function of a block as too quick to be worth a second thread."""
    work.light = True  # type: ignore[attr-defined]
    return work


def deferred(work: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a function of a block that returns nothing: it can wait for the next one that does."""
    work.deferred = True  # type: ignore[attr-defined]
    return work


@deferred
def project(block: Block, w: Array) -> None:
    """Set h = X w."""
    block.h = block.X.dot(w)

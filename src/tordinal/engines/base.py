"""What an engine provides, as protocols: the seam between what is solved and where it runs."""

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tordinal.swapping import Gain, Swaps

__all__ = ["Fit", "PseudoLabels"]

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

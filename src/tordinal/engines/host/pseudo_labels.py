"""Pseudo-labels of rows on this machine."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tordinal.reduction import UNLABELED, Ranks
from tordinal.swapping import (
    Gain,
    Swaps,
    greatest_losses,
    initial_labels,
    labeling_gain,
    swap_labels,
)

__all__ = ["HostLabels"]

Array = NDArray[np.float64]
Index = NDArray[np.int64]


class HostLabels:
    """Labels of all rows in one array.

    Parameters
    ----------
    rank : ndarray of shape (n_rows,)
        Given ranks, `UNLABELED` where there is none.
    weight : ndarray of shape (n_rows,)
        Factors of the rows' costs.

    Attributes
    ----------
    y : ndarray of shape (n_rows,)
        Given and pseudo ranks; before `assign`, the given ones.
    initial : ndarray of shape (n_rows,)
        The ranks by `assign`, before any swap.
    unlabeled : ndarray of shape (n_rows,)
        Which rows have no given rank.

    Examples
    --------
    >>> import numpy as np
    >>> from types import SimpleNamespace
    >>> labels = HostLabels(np.array([0, 1, -1, -1]), np.ones(4))
    >>> fit = SimpleNamespace(h=np.array([-1.0, 1.0, 0.5, -0.5]), thresholds=np.array([0.0]))
    >>> labels.assign(fit, lambda fit: np.array([1, 1]))
    >>> labels.y
    array([0, 1, 1, 0])
    """

    def __init__(self, rank: Ranks, weight: Array):
        self.y = self.initial = self._before = rank
        self.weight = weight
        self.unlabeled = rank == UNLABELED
        self._free = np.flatnonzero(self.unlabeled)
        self.n_rows, self.n_unlabeled = len(rank), len(self._free)

    def costs(self, C1: float, C2: float) -> Array:
        """C_i of each row."""
        return np.where(self.unlabeled, C2, C1) * self.weight

    def assign(self, supervised: Any, counts: Callable[[Any], Index]) -> None:
        """Sort unlabelled rows by projection and assign ranks by the class counts."""
        self._relabel(initial_labels(supervised.h[self._free], counts(supervised)))
        self.initial = self.y

    def swap(self, fit: Any, gain: Gain, swaps: Swaps) -> int:
        """Swap labels of unlabelled rows; the number of pairs."""
        free = self._free
        new, n_swaps = swap_labels(
            fit.h[free], fit.thresholds, self.y[free], self.weight[free], gain, swaps
        )
        self._relabel(new)
        return n_swaps

    def gain(self, fit: Any, gain: Gain) -> float:
        """How much the loss falls from the labels before the last swap to the present ones."""
        return labeling_gain(fit.h, fit.thresholds, self._before, self.y, self.weight, gain)

    def undo(self) -> None:
        """Return to the labels before the last swap."""
        self.y = self._before

    def greatest_losses(self, fit: Any, wrong_side_loss: Gain) -> float:
        """A bound of the losses of all unlabelled rows at a fit."""
        free = self._free
        return greatest_losses(fit.h[free], fit.thresholds, self.weight[free], wrong_side_loss)

    def _relabel(self, new: Ranks) -> None:
        self._before, self.y = self.y, self.y.copy()
        self.y[self._free] = new

"""Pseudo-labels of rows whose projections are on a GPU."""

from typing import Any

import numpy as np

from tordinal.engines.host.pseudo_labels import HostLabels
from tordinal.reduction import Ranks
from tordinal.swapping import Gain, Swaps, labeling_gain, swap_labels

__all__ = ["CudaLabels"]


class CudaLabels(HostLabels):
    """Labels of all rows; the device finds the few rows whose labels can be swapped.

    A row can be swapped if it lies on the wrong side of a threshold. Only such rows, with their
    projections, are copied to the host, where `swap_labels` chooses among them.

    Parameters
    ----------
    rank, weight : ndarray of shape (n_rows,)
        As in `HostLabels`.
    device : Device
        Where projections are.
    """

    def __init__(self, rank: Ranks, weight: Any, device: Any):
        super().__init__(rank, weight)
        self.device = device
        self._unlabeled_there = device.put(self.unlabeled)
        self._y_there = device.put(self.y)
        self._there = self.y  # what `_y_there` holds

    def swap(self, fit: Any, gain: Gain, swaps: Swaps) -> int:
        """Swap labels of unlabelled rows; the number of pairs."""
        state = getattr(fit, "model", None)
        if state is None or swaps == "optimal":
            return super().swap(fit, gain, swaps)
        self._update_device()
        xp = self.device.xp
        t = self.device.put(fit.thresholds)
        rank = (state.h[:, None] > t).sum(axis=1)
        found = xp.flatnonzero((rank != self._y_there) & self._unlabeled_there)
        rows, h = self.device.get(found), self.device.get(state.h[found])
        changed, n_swaps = swap_labels(
            h, fit.thresholds, self.y[rows], self.weight[rows], gain, swaps
        )
        new = self.y.copy()
        new[rows] = changed
        self._relabel(new[self._free])
        return n_swaps

    def gain(self, fit: Any, gain: Gain) -> float:
        """How much the loss falls from the labels before the last swap to the present ones."""
        state = getattr(fit, "model", None)
        rows = np.flatnonzero(self._before != self.y)
        if state is None:
            return super().gain(fit, gain)
        return labeling_gain(
            self.device.get(state.h[self.device.put(rows)]), fit.thresholds, self._before[rows],
            self.y[rows], self.weight[rows], gain,
        )  # fmt: skip

    def _update_device(self) -> None:
        rows = np.flatnonzero(self._there != self.y)
        if len(rows):
            self._y_there[self.device.put(rows)] = self.device.put(self.y[rows])
        self._there = self.y

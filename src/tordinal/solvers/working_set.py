"""The rows that SMO is at work on, with their kernel values in a small matrix of their own.

Near the optimum most variables are pressed against their bounds, and a step that reads whole kernel rows mostly looks at rows
that cannot move. So steps are taken on the few that can, whose kernel values fit a cache of the processor; the gradient of all
rows follows afterwards from what has changed. Trainings that follow each other work on almost the same rows, so those are kept.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tordinal.kernels import Gram
from tordinal.threads import in_parts

__all__ = ["WorkingSet"]

Index = NDArray[np.int64]

LARGEST, SHARE = 3000, 0.25  # rows of a working set at most, and their share of all rows
TILE = 32
STALE = 3  # a set so many times larger than needed is made anew


class WorkingSet:
    """Rows and their kernel values.

    Parameters
    ----------
    gram : Gram
        The kernel of all rows, held in full.

    Attributes
    ----------
    index : ndarray
        Which rows are in the set.
    rows : ndarray of shape (capacity, capacity)
        Their kernel values, in the upper left corner; with `slot`, `last_used` and `diagonal` as in `Gram`.
    """

    def __init__(self, gram: Gram):
        self.gram = gram
        self.capacity = min(LARGEST, int(SHARE * len(gram)))
        self.index: Index = np.empty(0, dtype=np.int64)
        self._inside = np.zeros(len(gram), dtype=np.bool_)
        self.rows = np.empty((0, 0), dtype=gram.rows.dtype)
        self.slot, self.last_used = np.arange(self.capacity), np.zeros(self.capacity, dtype=np.int64)
        self.diagonal = np.empty(0)

    def take(self, wanted: Index) -> None:
        """Bring rows into the set, of which there is room for `capacity`."""
        if len(self.rows) == 0:
            self.rows = np.empty((self.capacity, self.capacity), dtype=self.gram.rows.dtype)
        new = wanted[~self._inside[wanted]]
        if len(self.index) + len(new) > self.capacity or len(self.index) > STALE * max(len(wanted), LARGEST // 16):
            self._inside[self.index] = False
            self.index, new = self.index[:0], wanted
        known = len(self.index)
        self.index = np.concatenate([self.index, new])
        self._inside[new] = True
        self.diagonal = self.gram.diagonal[self.index]
        in_parts(
            len(new), lambda p: _copy(self.gram.rows, self.index, known + p.start, known + p.stop, self.rows),
            size=len(new) * len(self.index),
        )  # fmt: skip
        _mirror(self.rows, known, len(self.index))


@njit(cache=True, nogil=True)
def _copy(gram, index, start, stop, kernel):
    """Copy the kernel values of the rows at some positions with those before them."""
    for p in range(start, stop):
        values = gram[index[p]]
        for q in range(np.uint64(p + 1)):
            kernel[p, q] = values[np.uint64(index[q])]


@njit(cache=True, nogil=True)
def _mirror(kernel, known, size):
    """Fill the other triangle from position `known` on, tile by tile so that both sides stay in the cache."""
    for start in range(0, size, TILE):
        for first in range(known, size, TILE):
            for p in range(start, min(start + TILE, size)):
                for q in range(max(first, p + 1), min(first + TILE, size)):
                    kernel[p, q] = kernel[q, p]

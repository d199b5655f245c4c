"""The rows that SMO works on, with their kernel values in a small separate matrix.

Most variables are at their bounds, and a step that reads whole kernel rows mostly
reads rows that cannot move. So steps are taken on a few thousand rows at most, whose kernel
values fit a cache of the processor; the gradient of all rows follows afterwards from what has
changed. Trainings that follow each other work on almost the same rows, so those are kept.
"""

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tordinal.engines.base import KernelMatrix
from tordinal.solvers.tuning import SMO as TUNING

__all__ = ["WorkingSet"]

Index = NDArray[np.int64]

TILE = 32


class WorkingSet:
    """Rows and their kernel values, in single precision.

    Parameters
    ----------
    gram : KernelMatrix
        The kernel of all rows.
    most : int
        Up to this many rows, all of them are in the set.

    Attributes
    ----------
    index : ndarray
        Which rows are in the set.
    matrix : ndarray of shape (capacity, capacity)
        Their kernel values, in the upper left corner.
    whole : bool
        Whether all rows are in the set, always.
    """

    def __init__(self, gram: KernelMatrix, most: int):
        self.gram = gram
        self.whole = gram.full and gram.n_rows <= most
        self.capacity = min(TUNING.capacity, gram.n_rows)
        self.index: Index = np.empty(0, dtype=np.int64)
        self.matrix: Any = None
        self._all: Any = None
        self._inside = np.zeros(gram.n_rows, dtype=np.bool_)
        self._last_chosen = np.zeros(gram.n_rows, dtype=np.int64)  # when each row was last chosen
        self._clock = 0

    def begin(self, used: Index) -> None:
        """Prepare for a training on some rows."""
        if not self.whole or np.array_equal(used, self.index):
            return
        self.index = used
        if len(used) < self.gram.n_rows:
            self.matrix = self.gram.block(used, used).astype(np.float32, copy=False)
        else:
            self._all = np.asarray(self.gram.rows, np.float32) if self._all is None else self._all
            self.matrix = self._all

    def take(self, chosen: Index) -> None:
        """Bring rows into the set; those that were least recently chosen are dropped."""
        if self.whole:
            return
        if self.matrix is None:
            self.matrix = np.empty((self.capacity, self.capacity), dtype=np.float32)
        self._clock += 1
        self._last_chosen[chosen] = self._clock
        new = chosen[~self._inside[chosen]]
        room = self.capacity - len(self.index)
        replaced = np.empty(0, dtype=np.int64)
        if len(new) > room:
            oldest = np.argsort(self._last_chosen[self.index], kind="stable")
            replaced = np.sort(oldest[: len(new) - room])
            self._inside[self.index[replaced]] = False
        places = np.concatenate([replaced, np.arange(len(self.index), self.capacity)])[: len(new)]
        size = len(self.index) + len(new) - len(replaced)
        index = np.empty(size, dtype=np.int64)
        index[: len(self.index)] = self.index
        index[places] = new
        self.index = index
        self._inside[new] = True
        if len(new):
            values = self.gram.block(new, index).astype(np.float32, copy=False)
            _place(self.matrix, places, values)


@njit(cache=True, nogil=True)
def _place(matrix, places, values):
    """Write rows into a symmetric matrix; the other triangle in tiles, which stay in the cache."""
    new, size = values.shape
    for p in range(new):
        row = matrix[places[p]]
        for q in range(size):  # an assignment of slices would take two seconds to compile
            row[q] = values[p, q]
    for first in range(0, new, TILE):
        for start in range(0, size, TILE):
            for q in range(start, min(start + TILE, size)):
                row = matrix[q]
                for p in range(first, min(first + TILE, new)):
                    row[places[p]] = values[p, q]

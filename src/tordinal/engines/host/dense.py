"""Products with dense rows of few features, and their weighted normal matrix."""

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = ["DenseBlock"]

Array = NDArray[np.float64]
FAST = {"contract", "reassoc", "nsz"}

UPDATES = 1000  # updates of sums after which they are recomputed, for accuracy
OFTEN = 2  # all rows are read if more than one in this many has changed


class DenseBlock:
    """Some rows of a dense matrix.

    Products read the rows from memory, which takes twice as long in double precision. A search
    that only needs a good direction can use single precision.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        The rows.

    Attributes
    ----------
    rows : ndarray of shape (n_rows, n_features)
        The rows in the present precision.
    """

    dense = True

    def __init__(self, X: Any):
        self.exact = self.rows = X
        self._single: Any = None
        self.n_rows, self.n_features = X.shape
        self._weights: Array | None = None  # of the stored sums
        self._sums: Array = np.empty(0)
        self._updates = 0

    def use(self, *, single: bool) -> None:
        """Choose the precision of the products."""
        if single and self._single is None:
            self._single = self.exact.astype(np.float32)
        rows = self._single if single else self.exact
        if rows is not self.rows:
            self.rows, self._weights = rows, None

    def dot(self, v: Array) -> Array:
        """X v."""
        if self.rows is self.exact:
            return self.rows @ v
        products = np.empty(self.n_rows)
        _dot(self.rows, v.astype(self.rows.dtype), products)
        return products

    def exact_dot(self, v: Array) -> Array:
        """X v in double precision."""
        return self.exact @ v

    def transposed_dot(self, U: Array) -> Array:
        """X'U. Where few rows of U have changed since the last call, only those are read."""
        last, sums = self._weights, self._sums.copy()
        known = last is not None and last.shape == U.shape and self._updates < UPDATES
        if known and _add_changes(self.rows, last, U, sums, len(U) // OFTEN):
            self._updates += 1
        else:
            sums = np.asarray((U.T.astype(self.rows.dtype) @ self.rows), dtype=np.float64)
            self._updates = 0
        self._weights, self._sums = U, sums
        return sums.T

    def curved(self, D: Array, v: Array) -> Array:
        """X'(D (X v))."""
        dtype = self.rows.dtype
        sums = np.zeros(self.n_features, dtype)
        _curved(self.rows, D.astype(dtype), v.astype(dtype), sums)
        return np.asarray(sums, dtype=np.float64)

    def normal(self, D: Array) -> Any:
        """X'DX."""
        active = np.flatnonzero(D)
        rows = self.rows[active] * np.sqrt(D[active])[:, None].astype(self.rows.dtype)
        return rows.T @ rows

    def curvature_diagonal(self, D: Array) -> Array:
        """The diagonal of X'DX."""
        return np.asarray(D.astype(self.rows.dtype) @ self.rows**2, dtype=np.float64)


@njit(cache=True, nogil=True, fastmath=FAST)
def _dot(rows, v, products):
    """X v, in half the time that BLAS takes for rows that come from main memory."""
    for i in range(rows.shape[0]):
        total = v.dtype.type(0.0)
        for j in range(rows.shape[1]):
            total += rows[i, j] * v[j]
        products[i] = total


@njit(cache=True, nogil=True, fastmath=FAST)
def _curved(rows, D, v, sums):
    """Add X'(D (X v)) to sums; each row comes from memory once."""
    for i in range(rows.shape[0]):
        if D[i] == 0.0:
            continue
        total = v.dtype.type(0.0)
        for j in range(rows.shape[1]):
            total += rows[i, j] * v[j]
        total *= D[i]
        for j in range(rows.shape[1]):
            sums[j] += total * rows[i, j]


@njit(cache=True, nogil=True, fastmath=FAST)
def _add_changes(rows, last, U, sums, most):
    """Add (U - last)'X to sums, row by row; false, with invalid sums, if too many changed."""
    n, m = U.shape
    changed = 0
    for i in range(n):
        differs = False
        for k in range(m):
            differs |= U[i, k] != last[i, k]
        if not differs:
            continue
        changed += 1
        if changed > most:
            return False
        for k in range(m):
            change = U[i, k] - last[i, k]
            if change != 0.0:
                for j in range(rows.shape[1]):
                    sums[k, j] += change * rows[i, j]
    return True

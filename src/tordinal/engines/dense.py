"""Products with dense rows of few features, and their weighted normal matrix."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["DenseBlock"]

Array = NDArray[np.float64]

UPDATES = 50  # changes of sums after which they are computed anew, for accuracy


class DenseBlock:
    """Some rows of a dense matrix.

    Products read the rows from memory, which takes twice as long in double precision. For a search
    that only needs a good direction they can be had in single precision.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        The rows.

    Attributes
    ----------
    rows : ndarray of shape (n_rows, n_features)
        The rows in the precision of the moment.
    """

    few_features = True

    def __init__(self, X: Any):
        self.exact = self.rows = X
        self._single: Any = None
        self.n_rows, self.n_features = X.shape
        self._weights: Array | None = None  # of the sums at hand
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
        return np.asarray(self.rows @ v.astype(self.rows.dtype), dtype=np.float64)

    def exact_dot(self, v: Array) -> Array:
        """X v in double precision."""
        return self.exact @ v

    def transposed_dot(self, U: Array) -> Array:
        """X'U. Where few rows of U are others than last time, only those are looked at."""
        last = self._weights
        if last is None or last.shape != U.shape or self._updates >= UPDATES:
            changed = None
        else:
            changed = np.flatnonzero((last != U).any(axis=1))
        if changed is None or 2 * len(changed) >= len(U):
            self._sums, self._updates = self._products(U, self.rows), 0
        elif len(changed):
            assert last is not None
            change = self._products(U[changed] - last[changed], self.rows[changed])
            self._sums, self._updates = self._sums + change, self._updates + 1
        self._weights = U
        return self._sums

    @staticmethod
    def _products(U: Array, rows: Any) -> Array:
        return np.asarray((U.T.astype(rows.dtype) @ rows).T, dtype=np.float64)

    def curved(self, D: Array, v: Array) -> Array:
        """X'(D (X v))."""
        Xv = self.rows @ v.astype(self.rows.dtype)
        return np.asarray((D * Xv).astype(self.rows.dtype) @ self.rows, dtype=np.float64)

    def normal(self, D: Array) -> Any:
        """X'DX."""
        active = np.flatnonzero(D)
        rows = self.rows[active] * np.sqrt(D[active])[:, None].astype(self.rows.dtype)
        return rows.T @ rows

    def squared_norms(self) -> Array:
        """|x_i|^2."""
        return np.einsum("ij,ij->i", self.exact, self.exact)

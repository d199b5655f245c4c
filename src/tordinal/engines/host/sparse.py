"""Products with the rows of a CSR matrix: compiled loops over the non-zeros, nothing copied.

float32 stays float32, and sums are in double precision. Indices are unsigned: for signed ones the
compiler must allow for counting from the end, which makes a loop over the non-zeros more than twice
as slow.
"""

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = ["SparseBlock"]

Array = NDArray[np.float64]
Index = NDArray[np.int64]


class SparseBlock:
    """Some rows of a CSR matrix.

    Parameters
    ----------
    X : CSR matrix of shape (n_rows, n_features)
        The matrix.
    rows : slice
        Which of its rows.
    """

    dense = False

    def __init__(self, X: Any, rows: slice):
        self.matrix = (X.data, X.indices, X.indptr[rows.start : rows.stop + 1])
        self.n_rows, self.n_features = rows.stop - rows.start, X.shape[1]

    def dot(self, v: Array) -> Array:
        """X v."""
        out = np.empty(self.n_rows)
        _dot(*self.matrix, v, out)
        return out

    exact_dot = dot

    def transposed_dot(self, U: Array) -> Array:
        """X'U for a vector or a matrix U; rows of zeros are passed over."""
        out = np.zeros((self.n_features, *U.shape[1:]))
        if U.ndim == 1:
            _scatter(*self.matrix, U, out)
        else:
            _scatter_columns(*self.matrix, U, out)
        return out

    def curved(self, D: Array, v: Array) -> Array:
        """X'(D (X v))."""
        out = np.zeros(self.n_features)
        _curved(*self.matrix, D, v, out)
        return out

    def curvature_diagonal(self, D: Array) -> Array:
        """The diagonal of X'DX."""
        out = np.zeros(self.n_features)
        _scatter_squares(*self.matrix, D, out)
        return out


@njit(cache=True, nogil=True, inline="always")
def _span(indptr, i):
    """Where the non-zeros of row i lie."""
    return np.uint64(indptr[i]), np.uint64(indptr[i + 1])


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def _dot(data, indices, indptr, v, out):
    for i in range(out.shape[0]):
        begin, end = _span(indptr, i)
        total = 0.0
        for p in range(begin, end):
            total += data[p] * v[np.uint32(indices[p])]
        out[i] = total


@njit(cache=True, nogil=True)
def _scatter(data, indices, indptr, u, out):
    for i in range(u.shape[0]):
        if u[i] != 0.0:
            begin, end = _span(indptr, i)
            for p in range(begin, end):
                out[np.uint32(indices[p])] += u[i] * data[p]


@njit(cache=True, nogil=True)
def _scatter_squares(data, indices, indptr, u, out):
    for i in range(u.shape[0]):
        if u[i] != 0.0:
            begin, end = _span(indptr, i)
            for p in range(begin, end):
                out[np.uint32(indices[p])] += u[i] * data[p] * data[p]


@njit(cache=True, nogil=True)
def _scatter_columns(data, indices, indptr, U, out):
    for i in range(U.shape[0]):
        if not U[i].any():
            continue
        begin, end = _span(indptr, i)
        for p in range(begin, end):
            f = np.uint32(indices[p])
            for k in range(np.uint32(U.shape[1])):
                out[f, k] += U[i, k] * data[p]


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def _curved(data, indices, indptr, D, v, out):
    """X'(D (X v)) in one pass: a row is still in the cache when it is needed again."""
    for i in range(D.shape[0]):
        if D[i] == 0.0:
            continue
        begin, end = _span(indptr, i)
        total = 0.0
        for p in range(begin, end):
            total += data[p] * v[np.uint32(indices[p])]
        total *= D[i]
        for p in range(begin, end):
            out[np.uint32(indices[p])] += total * data[p]

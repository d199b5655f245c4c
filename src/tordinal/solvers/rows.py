"""Training rows as operators: the products that Newton's method needs, for dense arrays and for CSR matrices.

Products with a CSR matrix are compiled loops over its rows, on all cores. Nothing is copied: those over some of the rows only
take their index. float32 stays float32, and sums are in double precision.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numba import njit
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from tordinal.threads import in_parts

__all__ = ["DenseRows", "SparseRows", "as_rows"]

Array = NDArray[np.float64]
Index = NDArray[np.int64]

MAX_CG, SETTLED = 200, 0.25  # iterations of conjugate gradients at most, and how little the last one may add


def as_rows(X: Any) -> "DenseRows | SparseRows":
    """The operator for a matrix."""
    return SparseRows(X) if sp.issparse(X) else DenseRows(X)


class DenseRows:
    """Rows with few dense features.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Rows.
    """

    def __init__(self, X: Any):
        self.X = np.ascontiguousarray(X, dtype=np.float64)
        self.n_rows, self.n_features = X.shape
        self.every = slice(None)

    def take(self, index: Index) -> "DenseRows":
        """Some of the rows, for good."""
        return self if len(index) == self.n_rows else DenseRows(self.X[index])

    def dot(self, v: Array) -> Array:
        """X v."""
        return self.X @ v

    def transposed_dot(self, U: Array, rows: Index | slice = slice(None)) -> Array:
        """X'U over some of the rows, for a vector or a matrix U that has those rows."""
        return self.X[rows].T @ U

    def newton_direction(self, rows: Index | slice, D: Array, cross: Array, M: Any, right: Array) -> Array:
        """Solve (I + X'DX - cross M^-1 cross') v = right, over some rows of curvature D, with the matrix formed."""
        X = self.X[rows]
        H = np.eye(self.n_features) + (X.T * D) @ X - cross @ cho_solve(M, cross.T)
        scale = 1.0 / np.sqrt(np.maximum(np.diag(H), 1.0))  # features may differ by orders of magnitude
        H *= scale[:, None] * scale
        H[np.diag_indices_from(H)] += 1e-13
        return scale * cho_solve(cho_factor(H), scale * right)


class SparseRows:
    """Rows of a CSR matrix.

    Parameters
    ----------
    X : CSR matrix of shape (n_samples, n_features)
        Rows.
    """

    def __init__(self, X: Any):
        self.X = X
        self.n_rows, self.n_features = X.shape
        self.every = np.arange(self.n_rows)

    def take(self, index: Index) -> "SparseRows":
        """Some of the rows, for good."""
        return self if len(index) == self.n_rows else SparseRows(self.X[index])

    def dot(self, v: Array) -> Array:
        """X v."""
        out = np.empty(self.n_rows)
        self._loop(_dot, self.every, v, out)
        return out

    def transposed_dot(self, U: Array, rows: Index | None = None) -> Array:
        """X'U over some of the rows, for a vector or a matrix U that has those rows."""
        rows = self.every if rows is None else rows
        if U.ndim == 1:
            return self._sum(_scatter, rows, (self.n_features,), U)
        return self._sum(_scatter_columns, rows, (self.n_features, U.shape[1]), np.ascontiguousarray(U))

    def squared_norms(self) -> Array:
        """|x_i|^2."""
        out = np.empty(self.n_rows)
        self._loop(_squared_norms, self.every, out)
        return out

    def newton_direction(self, rows: Index, D: Array, cross: Array, M: Any, right: Array) -> Array:
        """Solve (I + X'DX - cross M^-1 cross') v = right by conjugate gradients, preconditioned by the diagonal.

        They stop where another iteration would no longer add much to the decrease that the quadratic model promises
        (Nash and Sofer): what counts is a good direction, not an accurate solution.
        """
        scale = 1.0 / (1.0 + self._sum(_scatter_squares, rows, (self.n_features,), D))
        v, r = np.zeros_like(right), right
        p = q = scale * r
        size, promised = float(r @ q), 0.0
        for iteration in range(1, MAX_CG + 1):
            if size == 0.0:
                break
            H_p = p + self._sum(_hessian_dot, rows, (self.n_features,), D, p) - cross @ cho_solve(M, cross.T @ p)
            step = size / float(p @ H_p)
            v, r = v + step * p, r - step * H_p
            promised += 0.5 * step * size
            if iteration * step * size <= SETTLED * promised:
                break
            q = scale * r
            size, last = float(r @ q), size
            p = q + size / last * p
        return v

    def _loop(self, loop: Any, rows: Index, *arrays: Array) -> None:
        """Run a compiled loop that writes one value per row."""
        X = self.X
        in_parts(len(rows), lambda p: loop(X.data, X.indices, X.indptr, rows, *arrays, p.start, p.stop), size=X.nnz)

    def _sum(self, loop: Any, rows: Index, shape: tuple[int, ...], *arrays: Array) -> Array:
        """Run a compiled loop that adds to an array of the features, and add up what the cores found."""
        X = self.X

        def part(p: slice) -> Array:
            out = np.zeros(shape)
            loop(X.data, X.indices, X.indptr, rows, *arrays, out, p.start, p.stop)
            return out

        return np.sum(in_parts(len(rows), part, size=X.nnz), axis=0)


# Indices are unsigned: for signed ones the compiler must allow for counting from the end, which makes a loop over the
# non-zeros more than twice as slow.


@njit(cache=True, nogil=True, inline="always")
def _span(indptr, i):
    """Where the non-zeros of row i lie."""
    return np.uint64(indptr[i]), np.uint64(indptr[i + 1])


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def _dot(data, indices, indptr, rows, v, out, start, stop):
    for j in range(start, stop):
        begin, end = _span(indptr, rows[j])
        total = 0.0
        for p in range(begin, end):
            total += data[p] * v[np.uint32(indices[p])]
        out[j] = total


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def _squared_norms(data, indices, indptr, rows, out, start, stop):
    for j in range(start, stop):
        begin, end = _span(indptr, rows[j])
        total = 0.0
        for p in range(begin, end):
            total += data[p] * data[p]
        out[j] = total


@njit(cache=True, nogil=True)
def _scatter(data, indices, indptr, rows, u, out, start, stop):
    for j in range(start, stop):
        if u[j] != 0.0:
            begin, end = _span(indptr, rows[j])
            for p in range(begin, end):
                out[np.uint32(indices[p])] += u[j] * data[p]


@njit(cache=True, nogil=True)
def _scatter_squares(data, indices, indptr, rows, u, out, start, stop):
    for j in range(start, stop):
        if u[j] != 0.0:
            begin, end = _span(indptr, rows[j])
            for p in range(begin, end):
                out[np.uint32(indices[p])] += u[j] * data[p] * data[p]


@njit(cache=True, nogil=True)
def _scatter_columns(data, indices, indptr, rows, U, out, start, stop):
    for j in range(start, stop):
        if not U[j].any():
            continue
        begin, end = _span(indptr, rows[j])
        for p in range(begin, end):
            f = np.uint32(indices[p])
            for k in range(np.uint32(U.shape[1])):
                out[f, k] += U[j, k] * data[p]


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def _hessian_dot(data, indices, indptr, rows, D, v, out, start, stop):
    """X'(D (X v)) in one pass: a row is still in the cache when it is needed again."""
    for j in range(start, stop):
        if D[j] == 0.0:
            continue
        begin, end = _span(indptr, rows[j])
        total = 0.0
        for p in range(begin, end):
            total += data[p] * v[np.uint32(indices[p])]
        total *= D[j]
        for p in range(begin, end):
            out[np.uint32(indices[p])] += total * data[p]

"""Distances and inner products between rows, dense or CSR.

Distances are computed from differences wherever cancellation could bite, so that |x - x| is exactly
0 and close pairs keep their relative accuracy however far from the origin the features lie.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numba import njit
from numpy.typing import NDArray
from sklearn.metrics.pairwise import manhattan_distances

__all__ = ["Matrix", "manhattan", "products", "squared_distances", "squared_norms"]

Matrix = Any  # a dense array or a CSR matrix with one row per sample
Array = NDArray[np.float64]

DIRECT_FEATURES = 64  # up to here differences are as fast as a matrix product, and exact
# Below this share of |x|^2 + |x'|^2 a squared distance is computed again from differences.
CANCELLATION = 1e-4


def products(A: Matrix, B: Matrix) -> Array:
    """Inner products of the rows of A with the rows of B."""
    if sp.issparse(A) or sp.issparse(B):
        product = A @ B.T
        return np.asarray(product.toarray() if sp.issparse(product) else product, np.float64)
    return np.asarray(A, dtype=np.float64) @ np.asarray(B, dtype=np.float64).T


def squared_norms(X: Matrix) -> Array:
    """|x|^2 of each row."""
    if sp.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1), dtype=np.float64).ravel()
    X = np.asarray(X, dtype=np.float64)
    return np.einsum("ij,ij->i", X, X)


def squared_distances(A: Matrix, B: Matrix) -> Array:
    """|a - b|^2 for all pairs of rows, accurate also where a and b are close or far out."""
    out = np.empty((A.shape[0], B.shape[0]))
    if sp.issparse(A) or sp.issparse(B):
        A, B = _sorted_csr(A), _sorted_csr(B)
        a, b = squared_norms(A), squared_norms(B)
        np.subtract(a[:, None] + b, 2.0 * products(A, B), out=out)
        _correct_sparse(
            out, a, b, A.data, A.indices, A.indptr, B.data, B.indices, B.indptr, CANCELLATION
        )
        return out
    A, B = np.asarray(A, dtype=np.float64), np.asarray(B, dtype=np.float64)
    if A.shape[1] <= DIRECT_FEATURES:
        _direct_distances(np.ascontiguousarray(A), np.ascontiguousarray(B.T), out)
        return out
    centre = B.mean(axis=0)
    A, B = np.ascontiguousarray(A - centre), np.ascontiguousarray(B - centre)
    a, b = squared_norms(A), squared_norms(B)
    np.subtract(a[:, None] + b, 2.0 * (A @ B.T), out=out)
    _correct_dense(out, a, b, A, B, CANCELLATION)
    return out


def manhattan(A: Matrix, B: Matrix) -> Array:
    """The sum of absolute differences for all pairs of rows."""
    if sp.issparse(A) or sp.issparse(B):
        return manhattan_distances(_sorted_csr(A), _sorted_csr(B))
    out = np.empty((A.shape[0], B.shape[0]))
    columns = np.ascontiguousarray(np.asarray(B, dtype=np.float64).T)
    _direct_manhattan(np.ascontiguousarray(A, dtype=np.float64), columns, out)
    return out


def _sorted_csr(X: Matrix) -> Any:
    X = sp.csr_array(X, dtype=np.float64)
    if not X.has_canonical_format:
        X = X.copy()  # the buffers may be the caller's
        X.sum_duplicates()
    return X


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def _direct_distances(A, BT, out):
    d = A.shape[1]
    for i in range(A.shape[0]):
        row = out[i]
        row[:] = 0.0
        for f in range(0, d - 3, 4):  # four at a time, so that sums are read and written less often
            x, y, z, w = A[i, f], A[i, f + 1], A[i, f + 2], A[i, f + 3]
            X, Y, Z, W = BT[f], BT[f + 1], BT[f + 2], BT[f + 3]
            for j in range(row.shape[0]):
                dx, dy, dz, dw = X[j] - x, Y[j] - y, Z[j] - z, W[j] - w
                row[j] += dx * dx + dy * dy + dz * dz + dw * dw
        for f in range(d - d % 4, d):
            x, X = A[i, f], BT[f]
            for j in range(row.shape[0]):
                dx = X[j] - x
                row[j] += dx * dx


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def _direct_manhattan(A, BT, out):
    for i in range(A.shape[0]):
        row = out[i]
        row[:] = 0.0
        for f in range(A.shape[1]):
            x, column = A[i, f], BT[f]
            for j in range(row.shape[0]):
                row[j] += abs(column[j] - x)


@njit(cache=True, nogil=True)
def _correct_dense(squared, a, b, A, B, share):
    for i in range(squared.shape[0]):
        for j in range(squared.shape[1]):
            if squared[i, j] < share * (a[i] + b[j]):
                total = 0.0
                for f in range(A.shape[1]):
                    difference = A[i, f] - B[j, f]
                    total += difference * difference
                squared[i, j] = total


@njit(cache=True, nogil=True)
def _correct_sparse(squared, a, b, A, A_col, A_ptr, B, B_col, B_ptr, share):
    for i in range(squared.shape[0]):
        for j in range(squared.shape[1]):
            if squared[i, j] < share * (a[i] + b[j]):
                p, q, total = A_ptr[i], B_ptr[j], 0.0
                while p < A_ptr[i + 1] or q < B_ptr[j + 1]:
                    if q == B_ptr[j + 1] or (p < A_ptr[i + 1] and A_col[p] < B_col[q]):
                        difference = A[p]
                        p += 1
                    elif p == A_ptr[i + 1] or B_col[q] < A_col[p]:
                        difference = B[q]
                        q += 1
                    else:
                        difference = A[p] - B[q]
                        p += 1
                        q += 1
                    total += difference * difference
                squared[i, j] = total

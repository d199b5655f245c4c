"""Kernel functions, and how a Gram matrix is held: full, or as cached rows.

Distances are computed from differences wherever cancellation could bite, so that |x - x| is exactly 0 and close
pairs keep their relative accuracy however far from the origin the features lie.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from numba import njit
from numpy.typing import NDArray
from sklearn.metrics.pairwise import manhattan_distances

from tordinal.threads import BLOCK, blocks, n_threads, thread_pool

Matrix = Any  # a dense array or a CSR matrix with one row per sample
Array = NDArray[np.float64]

KERNELS = ("linear", "perceptron", "rbf", "poly", "laplacian", "precomputed")
DIRECT_FEATURES = 64  # up to here differences are as fast as a matrix product, and exact
CANCELLATION = 1e-4  # below this share of |x|^2 + |x'|^2 a squared distance is computed again from differences
FEW_FEATURES = 300  # up to here a linear model is solved in its features
PARALLEL_WORK = 1_000_000  # kernel values from which a combination of rows is worth a second core
SINGLE_PRECISION_ROWS = 1024  # Gram matrices of more rows are held in float32


@dataclass(frozen=True)
class Kernel:
    """A kernel function with its parameters settled.

    Parameters
    ----------
    name : str or callable
        One of `KERNELS`, or a function of two matrices that returns the matrix of kernel values.
    gamma, degree, coef0 : float
        Parameters of rbf, laplacian and poly, as in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> Kernel("perceptron")(np.array([[0.0], [3.0]]), np.array([[4.0]]))
    array([[-4.],
           [-1.]])
    """

    name: str | Callable[..., Any] = "linear"
    gamma: float = 1.0
    degree: float = 3
    coef0: float = 0.0

    def __call__(self, A: Matrix, B: Matrix) -> Array:
        """Kernel values between the rows of A and the rows of B, in float64."""
        if callable(self.name):
            values = np.asarray(self.name(A, B), dtype=np.float64)
            if values.shape != (A.shape[0], B.shape[0]):
                raise ValueError(
                    f"kernel={self.name!r} returned an array of shape {values.shape} for {A.shape[0]} and {B.shape[0]} rows"
                )
            return values
        if self.name == "precomputed":
            return np.asarray(A, dtype=np.float64)
        if self.name == "linear":
            return _product(A, B)
        if self.name == "poly":
            return (self.gamma * _product(A, B) + self.coef0) ** self.degree
        if self.name == "laplacian":
            return np.exp(-self.gamma * _manhattan(A, B))
        squared = squared_distances(A, B)
        if self.name == "perceptron":
            return -np.sqrt(squared, out=squared)
        return np.exp(np.multiply(squared, -self.gamma, out=squared), out=squared)

    def diagonal(self, X: Matrix) -> Array:
        """k(x, x) for every row."""
        n = X.shape[0]
        if self.name == "precomputed":
            return np.diagonal(X).astype(np.float64)
        if callable(self.name):
            return np.array([self(X[i : i + 1], X[i : i + 1])[0, 0] for i in range(n)])
        if self.name == "perceptron":
            return np.zeros(n)
        if self.name in ("rbf", "laplacian"):
            return np.ones(n)
        norms = _squared_norms(X)
        return norms if self.name == "linear" else (self.gamma * norms + self.coef0) ** self.degree


def resolve_gamma(gamma: float | str, X: Matrix) -> float:
    """The number behind ``gamma="scale"`` (1 / (features x variance), as in scikit-learn) or ``"auto"``."""
    if not isinstance(gamma, str):
        return float(gamma)
    if gamma == "auto":
        return 1.0 / X.shape[1]
    if sp.issparse(X):
        mean = X.mean()
        variance = float(X.multiply(X).mean() - mean * mean)
    else:
        variance = float(np.var(X, dtype=np.float64))
    return 1.0 / (X.shape[1] * variance) if variance > 0 else 1.0


def squared_distances(A: Matrix, B: Matrix) -> Array:
    """|a - b|^2 for all pairs of rows, accurate also where a and b are close or far from the origin."""
    out = np.empty((A.shape[0], B.shape[0]))
    if sp.issparse(A) or sp.issparse(B):
        A, B = _sorted_csr(A), _sorted_csr(B)
        a, b = _squared_norms(A), _squared_norms(B)
        np.subtract(a[:, None] + b, 2.0 * _product(A, B), out=out)
        _mend_sparse(out, a, b, A.data, A.indices, A.indptr, B.data, B.indices, B.indptr, CANCELLATION)
        return out
    A, B = np.asarray(A, dtype=np.float64), np.asarray(B, dtype=np.float64)
    if A.shape[1] <= DIRECT_FEATURES:
        _direct_distances(np.ascontiguousarray(A), np.ascontiguousarray(B.T), out)
        return out
    centre = B.mean(axis=0)
    A, B = np.ascontiguousarray(A - centre), np.ascontiguousarray(B - centre)
    a, b = _squared_norms(A), _squared_norms(B)
    np.subtract(a[:, None] + b, 2.0 * (A @ B.T), out=out)
    _mend_dense(out, a, b, A, B, CANCELLATION)
    return out


def _product(A: Matrix, B: Matrix) -> Array:
    if sp.issparse(A) or sp.issparse(B):
        product = A @ B.T
        return np.asarray(product.toarray() if sp.issparse(product) else product, dtype=np.float64)
    return np.asarray(A, dtype=np.float64) @ np.asarray(B, dtype=np.float64).T


def _squared_norms(X: Matrix) -> Array:
    if sp.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1), dtype=np.float64).ravel()
    X = np.asarray(X, dtype=np.float64)
    return np.einsum("ij,ij->i", X, X)


def _manhattan(A: Matrix, B: Matrix) -> Array:
    if sp.issparse(A) or sp.issparse(B):
        return manhattan_distances(_sorted_csr(A), _sorted_csr(B))
    out = np.empty((A.shape[0], B.shape[0]))
    _direct_manhattan(
        np.ascontiguousarray(A, dtype=np.float64), np.ascontiguousarray(np.asarray(B, dtype=np.float64).T), out
    )
    return out


def _sorted_csr(X: Matrix) -> Any:
    X = sp.csr_array(X, dtype=np.float64)
    if not X.has_canonical_format:
        X = X.copy()  # the buffers may be the caller's
        X.sum_duplicates()
    return X


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def _direct_distances(A, BT, out):
    for i in range(A.shape[0]):
        row = out[i]
        row[:] = 0.0
        for f in range(A.shape[1]):
            x, column = A[i, f], BT[f]
            for j in range(row.shape[0]):
                difference = column[j] - x
                row[j] += difference * difference


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
def _mend_dense(squared, a, b, A, B, share):
    for i in range(squared.shape[0]):
        for j in range(squared.shape[1]):
            if squared[i, j] < share * (a[i] + b[j]):
                total = 0.0
                for f in range(A.shape[1]):
                    difference = A[i, f] - B[j, f]
                    total += difference * difference
                squared[i, j] = total


@njit(cache=True, nogil=True)
def _mend_sparse(squared, a, b, A, A_col, A_ptr, B, B_col, B_ptr, share):
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


@dataclass(frozen=True)
class LinearFeatures:
    """Training rows of a linear kernel that is better not made a matrix: many sparse rows, or few dense features.

    Parameters
    ----------
    X : {ndarray, CSR matrix} of shape (n_samples, n_features)
        Rows; dense ones are centred.
    """

    X: Matrix

    def __len__(self) -> int:
        return int(self.X.shape[0])


def centred(X: Array) -> Array:
    """Features less their means."""
    return X - X.mean(axis=0, dtype=np.float64)


def hold_kernel(kernel: Kernel, X: Matrix, cache_size: float, *, smooth: bool) -> "Gram | LinearFeatures":
    """Hold the kernel of the training rows in the way that suits it: as a matrix, as cached rows, or as features.

    Linear models of more than a thousand rows are solved in their features, unless those are dense and many. Dense features
    of the linear kernel are centred. As b is free this changes nothing but a common shift of h and t, and it keeps the
    kernel values small and accurate.
    """
    # Newton's method needs a matrix that rounding has not made indefinite; SMO's steps do not mind.
    if kernel.name != "linear":
        return Gram(kernel, X, cache_size, double=smooth)
    n, d = X.shape
    many = n > SINGLE_PRECISION_ROWS
    if sp.issparse(X):
        in_features = many
        if many and smooth and d <= FEW_FEATURES and 8 * n * d <= cache_size * 2**20:
            X = X.toarray()  # a system of few features is quicker formed than iterated on
    else:
        X, in_features = centred(X), many and d <= FEW_FEATURES
    return LinearFeatures(X) if in_features else Gram(kernel, X, cache_size, double=smooth)


class Gram:
    """The symmetric matrix of kernel values between training rows, as far as memory allows.

    If it fits `cache_size` (in MB) all rows are there from the start. Otherwise rows are computed when they are
    fetched, and the least recently used ones make room. Either way row i lies in ``rows[slot[i]]``, so that the
    solver's compiled loop reads both in the same way.

    Attributes
    ----------
    rows : ndarray of shape (n_slots, n_samples)
        Kernel rows, in float64 for small problems (and, with `double`, wherever they fit) and in float32 for others.
    slot : ndarray of shape (n_samples,)
        Where each row lies, -1 if it is not held.
    last_used : ndarray of shape (n_samples,)
        When the solver last used each row.
    diagonal : ndarray of shape (n_samples,)
        k(x_i, x_i).

    Examples
    --------
    >>> import numpy as np
    >>> gram = Gram(Kernel("linear"), np.array([[1.0], [2.0]]), cache_size=1)
    >>> gram.rows
    array([[1., 2.],
           [2., 4.]])
    """

    def __init__(self, kernel: Kernel, X: Matrix, cache_size: float, *, double: bool = False):
        self.kernel, self.X = kernel, X
        n = X.shape[0]
        double = n <= SINGLE_PRECISION_ROWS or (double and 8 * n * n <= cache_size * 2**20)
        dtype = np.float64 if double else np.float32
        held = int(cache_size * 2**20 / (n * np.dtype(dtype).itemsize))
        self.full = held >= n
        self.diagonal = kernel.diagonal(X)
        self.last_used = np.zeros(n, dtype=np.int64)
        if self.full:
            self.rows = np.empty((n, n), dtype=dtype)
            self.slot = np.arange(n, dtype=np.int64)
            self._fill()
        else:
            # Two rows take part in a step of SMO, so fewer than two would never do.
            self.rows = np.empty((max(held, 2), n), dtype=dtype)
            self.slot = np.full(n, -1, dtype=np.int64)
            self._owner = np.full(len(self.rows), -1, dtype=np.int64)

    def __len__(self) -> int:
        return len(self.slot)

    def _fill(self) -> None:
        """Compute the upper triangle block by block on all cores, and mirror it."""
        pieces = list(blocks(len(self), BLOCK))
        whole = self.kernel.name == "precomputed"

        def fill(p: slice, q: slice) -> None:
            self.rows[p, q] = self.X[p, q] if whole else self._check(self.kernel(self.X[p], self.X[q]))
            if p != q:
                self.rows[q, p] = self.rows[p, q].T

        pairs = [(p, q) for b, p in enumerate(pieces) for q in pieces[b:]]
        if len(pairs) == 1 or callable(self.kernel.name):
            for p, q in pairs:
                fill(p, q)
            return
        with ThreadPoolExecutor(n_threads()) as pool:
            try:
                for done in [pool.submit(fill, p, q) for p, q in pairs]:
                    done.result()
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    def _check(self, block: Array) -> Array:
        if not np.isfinite(block).all():
            raise ValueError(
                f"kernel={self.kernel.name!r} gave NaN or infinity. Check its parameters and the scale of X."
            )
        return block

    def fetch(self, i: int) -> None:
        """Make row i present, in place of the row that was used longest ago."""
        empty = np.flatnonzero(self._owner < 0)
        place = int(empty[0]) if len(empty) else int(np.argmin(self.last_used[self._owner]))
        if self._owner[place] >= 0:
            self.slot[self._owner[place]] = -1
        self.rows[place] = self.compute([i])[0]
        self._owner[place], self.slot[i] = i, place

    def compute(self, index: Any) -> Array:
        """Kernel rows of the given training rows, computed anew."""
        if self.kernel.name == "precomputed":
            return np.asarray(self.X[index], dtype=np.float64)
        return self._check(self.kernel(self.X[index], self.X))

    def row(self, i: int) -> Array:
        """Row i in float64."""
        return self.rows[i].astype(np.float64) if self.full else self.compute([i])[0]

    def combine(self, index: NDArray[np.int64], coefficients: Array) -> Array:
        """The combination of the rows `index` with these coefficients: K[:, index] @ coefficients."""
        if len(index) > len(self) // 2:
            v = np.zeros(len(self))
            v[index] = coefficients
            return self.times(v)
        total = np.zeros(len(self))
        if self.full:
            work = partial(_combine, self.rows, index, coefficients, total)
            threads = n_threads() if len(index) * len(self) >= PARALLEL_WORK else 1
            if threads == 1:
                work(0, len(self))
            else:
                pieces = blocks(len(self), -(-len(self) // threads))
                list(thread_pool().map(lambda piece: work(piece.start, piece.stop), pieces))
            return total
        for piece in blocks(len(index), 64):
            part = index[piece]
            total += coefficients[piece] @ self.compute(part)
        return total

    def times(self, v: Array) -> Array:
        """K v, accumulated in float64, in blocks on all cores."""
        out = np.empty(len(self))

        def times(p: slice) -> None:
            if self.full:
                _row_products(self.rows[p], v, out[p])
            else:
                for q in blocks(p.stop - p.start):
                    part = np.arange(p.start, p.stop)[q]
                    out[part] = self.compute(part) @ v

        threads = n_threads()
        if len(self) <= SINGLE_PRECISION_ROWS or threads == 1:
            times(slice(0, len(self)))
        else:
            list(thread_pool().map(times, blocks(len(self), min(BLOCK, -(-len(self) // (2 * threads))))))
        return out

    def times_single(self, v: Array) -> Array:
        """K v in the precision in which K is held: several times faster, for search directions."""
        return (self.rows @ v.astype(self.rows.dtype)).astype(np.float64) if self.full else self.times(v)


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def _combine(rows, index, coefficients, out, start, stop):
    """Add to some columns of the result, which stay in the cache, what each row contributes."""
    total = out[start:stop]
    for j in range(len(index)):
        row, weight = rows[index[j], start:stop], coefficients[j]
        for p in range(total.shape[0]):
            total[p] += weight * row[p]


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def _row_products(rows, v, out):
    for i in range(rows.shape[0]):
        row, total = rows[i], 0.0
        for j in range(row.shape[0]):
            total += row[j] * v[j]
        out[i] = total

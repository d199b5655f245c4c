"""Linear algebra that the solvers share: factors and conjugate gradients."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.linalg.blas import dsyrk, dtrsm, dtrsv, ssyrk, strsm, strsv
from scipy.linalg.lapack import dpotrf, dpotrs, dpstrf, spotrf, spotrs

from tordinal.engines.host.rows import power_of_four

__all__ = [
    "Factor", "add_squares", "cholesky_solve", "conjugate_gradients", "low_rank_root",
    "square_root",
]  # fmt: skip

Array = NDArray[np.float64]
Index = NDArray[np.int64]

JITTER = {np.dtype(np.float64): 1e-13, np.dtype(np.float32): 1e-6}  # added to a diagonal of 1
MAX_TRIES = 12  # each with a jitter ten times as large
RANK = 1e-13  # share of the largest diagonal element that is rounding
ZERO_MATRIX = 1e-12  # elements of a matrix that is zero except for rounding
RANK_RESIDUAL = 1e-5  # share of NOT_POSITIVE that a root of low rank may leave on the diagonal
GROWTH = 10.0  # of rounding errors in a factorisation with pivoting
NOT_POSITIVE = 1e-6  # largest error of a square root, as a share of the diagonal


class Factor:
    """Cholesky's factor of a positive matrix, whose rows may differ by orders of magnitude.

    Rows and columns are scaled to a diagonal of 1 first. Where rounding has made the matrix
    indefinite, the diagonal is raised until it is not. LAPACK is called directly: a solver has
    thousands of small systems.

    Parameters
    ----------
    A : ndarray of shape (n, n)
        The matrix, in single or double precision; only its upper triangle is read.
    shift : float
        Added to its diagonal.
    less : ndarray of shape (n,) or None
        A vector whose outer product is subtracted: A + shift I - less less'. A - less less' has no
        negative eigenvalues, except by rounding.
    """

    def __init__(self, A: Any, shift: float = 0.0, less: Array | None = None):
        numbers = np.finfo(A.dtype)
        least: Any = numbers.tiny
        if less is not None:  # the difference may be rounding, and negative
            less = less.astype(A.dtype)
            least = np.maximum(shift, 4.0 * numbers.eps * less * less + numbers.tiny)
        else:
            less = np.zeros(len(A), A.dtype)
        diagonal = np.maximum(A.diagonal() + shift - less * less, least)
        self.scale = (1.0 / np.sqrt(diagonal)).astype(A.dtype)
        potrf = spotrf if A.dtype == np.float32 else dpotrf
        jitter = JITTER[A.dtype]
        for _ in range(MAX_TRIES):
            scaled = np.empty_like(A, order="C")
            _scale(A, less, self.scale, scaled)
            scaled.flat[:: len(A) + 1] = 1.0 + jitter
            # The upper triangle in C's order is the lower one in Fortran's.
            self.lower, failed = potrf(scaled.T, lower=1, clean=0, overwrite_a=1)
            if not failed:
                return
            jitter *= 10.0
        raise np.linalg.LinAlgError("the matrix is not positive")

    def solve(self, right: Array) -> Array:
        """A^-1 right, for a vector or a matrix."""
        return np.asarray(self.backward(self.forward(right)), dtype=np.float64)

    def forward(self, right: Any) -> Any:
        """G^-1 right with A = G G', in the factor's precision."""
        return self._half((self._scales(right) * right).astype(self.lower.dtype), 0)

    def backward(self, right: Any) -> Any:
        """G'^-1 right."""
        return self._scales(right) * self._half(right, 1)

    def _scales(self, right: Any) -> Any:
        return self.scale if right.ndim == 1 else self.scale[:, None]

    def _half(self, right: Any, trans: int) -> Any:
        single = self.lower.dtype == np.float32
        if right.ndim == 1:
            return (strsv if single else dtrsv)(self.lower, right, lower=1, trans=trans)
        return (strsm if single else dtrsm)(1.0, self.lower, right, lower=1, trans_a=trans)


@njit(cache=True, nogil=True)
def _scale(A, less, scale, out):
    """The upper triangle of A - less less', its rows and columns multiplied by a scale."""
    for i in range(len(A)):
        # Slices that start at 0 are what compilers turn into SIMD code.
        of, to, less_of, scale_of = A[i, i:], out[i, i:], less[i:], scale[i:]
        for j in range(len(of)):
            to[j] = (of[j] * scale[i] - less[i] * scale[i] * less_of[j]) * scale_of[j]


def cholesky_solve(lower: Any, right: Array) -> Array:
    """Solve with a lower factor in its own precision.

    For one right-hand side LAPACK's own routine is up to ten times slower than two calls of BLAS.
    """
    single = lower.dtype == np.float32
    right = np.asarray(right, dtype=lower.dtype)
    if right.ndim == 1:
        trsv = strsv if single else dtrsv
        solution = trsv(lower, trsv(lower, right, lower=1), lower=1, trans=1, overwrite_x=1)
    else:
        solution = (spotrs if single else dpotrs)(lower, right, lower=1)[0]
    return np.asarray(solution, dtype=np.float64)


def square_root(A: Array, rounding: float = 0.0) -> tuple[Array, Index] | None:
    """Rows L with L L' = A for a positive semi-definite matrix; None for any other.

    Cholesky's method with pivoting, which stops when the rest is rounding. Also returned are the
    pivots: as many of its rows as it has columns, which form a lower triangle. Elements of A may
    have errors of the size of `rounding`, which make it indefinite.
    """
    top = float(np.max(A.diagonal(), initial=0.0))
    if top <= 0.0:
        nothing = float(np.abs(A).max()) <= ZERO_MATRIX
        return (np.zeros((len(A), 1)), np.empty(0, dtype=np.int64)) if nothing else None
    factor, pivots, rank, _ = dpstrf(A, lower=1, tol=max(RANK * top, rounding))
    lower = np.tril(factor)[:, :rank]
    rows = np.empty_like(lower, order="C")
    rows[pivots - 1] = lower
    near = np.abs(rows @ rows.T - A).max() <= max(NOT_POSITIVE * top, GROWTH * rounding)
    return (rows, pivots[:rank].astype(np.int64) - 1) if near else None


def low_rank_root(
    diagonal: Array, row: Callable[[int], Array], most: int
) -> tuple[Array, Index] | None:
    """Rows L with L L' = A for a positive semi-definite matrix of low rank, from some of its rows.

    Cholesky's method with pivoting, as in `square_root`, but it needs one row of A at a time, and
    memory for L alone.

    Parameters
    ----------
    diagonal : ndarray of shape (n,)
        The diagonal of A.
    row : callable
        Gives a row of A by its index, in double precision.
    most : int
        The largest rank of interest.

    Returns
    -------
    root : (ndarray of shape (n, rank), ndarray of shape (rank,)) or None
        L and its pivots; None if the rank is larger, or A has a negative eigenvalue.

    Examples
    --------
    >>> B = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    >>> A = B @ B.T
    >>> L, pivots = low_rank_root(A.diagonal(), lambda i: A[i], most=3)
    >>> L.shape, bool(np.allclose(L @ L.T, A))
    ((3, 2), True)
    """
    n, left = len(diagonal), np.array(diagonal, dtype=np.float64)
    top = float(np.max(left, initial=0.0))
    L, pivots = np.zeros((n, most)), np.empty(0, dtype=np.int64)
    for j in range(most):
        p = int(np.argmax(left))
        if left[p] <= RANK * top:
            break
        column = row(p) - L[:, :j] @ L[p, :j]
        column[pivots] = 0.0
        L[:, j] = column / np.sqrt(left[p])
        left -= L[:, j] ** 2
        pivots = np.append(pivots, p)
        left[pivots] = 0.0
    if float(np.abs(left).max(initial=0.0)) > NOT_POSITIVE * RANK_RESIDUAL * top or not len(pivots):
        return None
    return np.ascontiguousarray(L[:, : len(pivots)]), pivots


def add_squares(A: Any, U: Any, weights: Array) -> None:
    """Add U' diag(weights) U to the upper triangle of a matrix in C's order, in place."""
    assert A.flags.c_contiguous  # BLAS would change a copy of any other
    syrk = ssyrk if A.dtype == np.float32 else dsyrk
    for sign in (1.0, -1.0):
        some = np.flatnonzero(sign * weights > 0)
        if len(some) == 0:
            continue
        rows = U[some] * np.sqrt(np.abs(weights[some])).astype(U.dtype)[:, None]
        syrk(sign, rows.T, beta=1.0, c=A.T, lower=1, overwrite_c=1)


def conjugate_gradients(
    product: Callable[[Array], Array],
    precondition: Callable[[Array], Array],
    right: Array,
    limit: int,
    settled: float,
) -> tuple[Array, int]:
    """Solve A v = right for a positive A; v and the iterations taken.

    They stop when another iteration would add little to the decrease of the quadratic model (Nash
    and Sofer): a good direction is enough, an accurate solution is not needed.
    """
    # Curvatures along a huge right-hand side would overflow.
    unit = power_of_four(float(np.abs(right).max(initial=0.0)))
    v, r = np.zeros_like(right), right / unit
    p = q = precondition(r)
    size, promised, iteration = float(r @ q), 0.0, 0
    while size > 0.0 and iteration < limit:
        iteration += 1
        A_p = product(p)
        bend = float(p @ A_p)
        if not 0.0 < bend < np.inf:  # rounding: return the direction so far
            break
        step = size / bend
        v, r = v + step * p, r - step * A_p
        promised += 0.5 * step * size
        if iteration * step * size <= settled * promised:
            break
        q = precondition(r)
        size, last = float(r @ q), size
        p = q + (size / last) * p
    return unit * v, iteration

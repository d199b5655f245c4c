"""Where a kernel model runs: kernel values between training rows on this machine.

A solver knows the kernel matrix K only through this interface: its diagonal, products K v,
combinations of some of its rows, and blocks of some rows with each other. As far as memory allows
the matrix is held in full; otherwise rows are computed when they are needed and the most recently
used ones are kept.
"""

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tordinal.distances import Matrix
from tordinal.engines.host.pseudo_labels import HostLabels
from tordinal.engines.host.rows import power_of_four, size_of
from tordinal.engines.host.symmetric import symmetric_times
from tordinal.kernels import Custom, Kernel, Linear, Precomputed
from tordinal.reduction import Ranks
from tordinal.threads import BLOCK, blocks, in_blocks, in_parts, n_threads

__all__ = ["Gram"]

Array = NDArray[np.float64]
Index = NDArray[np.int64]

SINGLE_PRECISION_ROWS = 1024  # matrices of more rows are held in float32
SAMPLE = 32  # rows from which the scale of a kernel is taken
FAR = 100.0  # a mean is subtracted if its square is this many times the variance
EPSILON = np.finfo(np.float64).eps
ERRORS = 4.0 * EPSILON  # of a kernel value and its product with a weight
VALUE_ERRORS = 32.0 * EPSILON  # of a kernel value that is centred, relative to the largest
RESOLVED = 1024.0 * EPSILON  # least variance, relative to the values, that is not mostly rounding
BATCH = 256  # rows that are computed together if they are not cached


class Gram:
    """The symmetric matrix of kernel values between training rows, divided by `scale`.

    Parameters
    ----------
    kernel : Kernel
        The kernel function.
    X : matrix
        Training rows, or their kernel values for a precomputed kernel.
    cache_size : float
        Memory for kernel values in MB.
    double : bool
        Whether to hold them in double precision wherever they fit; small matrices always are.
    centre : ndarray of shape (n_features,) or None
        What was subtracted from the features of a linear kernel.

    Attributes
    ----------
    scale : float
        About the variance of a row in the feature space, a power of four. All values are divided by
        it, so that they are neither large nor small, and fit single precision.
    full : bool
        Whether the matrix is held in full.
    rows : ndarray of shape (n_rows, n_rows)
        The matrix, if it is.
    offset : ndarray of shape (n_rows,) or None
        If values hardly differ, because rows are far from the origin, offset_i + offset_j is
        subtracted, which moves the origin of the feature space to about the mean of the rows. As
        the weights of the rows sum to zero, this only shifts all projections by a constant.
    diagonal : ndarray of shape (n_rows,)
        k(x_i, x_i) minus the offsets, divided by the scale.
    magnitude : float
        About the largest kernel value, before anything is subtracted.
    accuracy : float
        About the error of a kernel value.
    resolved : bool
        Whether kernel values differ between rows by more than rounding.

    Examples
    --------
    >>> import numpy as np
    >>> from tordinal.kernels import Linear
    >>> gram = Gram(Linear(), np.array([[1.0], [2.0]]), cache_size=1)
    >>> gram.rows * gram.scale
    array([[1., 2.],
           [2., 4.]])
    """

    in_features = False
    device: Any = None

    def __sizeof__(self) -> int:
        """Size in bytes, so that a cluster sends it once and not with every task."""
        return object.__sizeof__(self) + size_of(vars(self).values())

    def __init__(
        self,
        kernel: Kernel,
        X: Matrix,
        cache_size: float,
        *,
        double: bool = False,
        centre: Array | None = None,
    ):
        self.kernel, self.X, self.cache_size, self.double = kernel, X, cache_size, double
        self.centre = centre
        n = self.n_rows = int(X.shape[0])
        self.scale = 1.0
        self.offset: Array | None = None
        diagonal = self._check(kernel.diagonal(X))
        self.magnitude, self.resolved = float(np.abs(diagonal).max()), True
        self.offset, self.scale = self._offset_and_scale(diagonal)
        self.accuracy = float(VALUE_ERRORS * self.magnitude)
        if centre is not None:
            self.magnitude += float(centre @ centre)
        far = 0.0 if self.offset is None else 2.0 * self.offset
        self.diagonal = (diagonal - far) / self.scale
        self._hold(double or n <= SINGLE_PRECISION_ROWS)

    def _hold(self, wanted: bool) -> None:
        """Hold the matrix or some rows of it, in double precision if wanted and possible."""
        n, size = self.n_rows, self.cache_size * 2**20
        double = n <= SINGLE_PRECISION_ROWS or (wanted and 8 * n * n <= size)
        self.dtype = np.dtype(np.float64 if double else np.float32)
        held = int(size / (n * self.dtype.itemsize))
        self.full = held >= n
        if self.full:
            self.rows = np.empty((n, n), dtype=self.dtype)
            self._fill()
        else:
            self._cache = RowCache(n, held, self.dtype)

    def _offset_and_scale(self, diagonal: Array) -> tuple[Array | None, float]:
        """Estimated on a sample: products with the mean row if it is far, and the variance."""
        some = np.unique(np.linspace(0, self.n_rows - 1, SAMPLE).astype(np.int64))
        values = self.compute(some, some)
        self.magnitude = max(self.magnitude, float(np.abs(values).max()))
        mean = float(values.mean())
        variance = float(diagonal[some].mean()) - mean
        offset = None
        if abs(mean) > FAR * variance:
            pieces = in_blocks(self.n_rows, lambda p: self.compute(p, some).mean(axis=1), BLOCK)
            offset = np.concatenate(pieces) - 0.5 * mean
            variance = float(np.mean(diagonal[some] - 2.0 * offset[some]))
            least = RESOLVED * self.magnitude
            if variance <= least:  # these rows are equal; others may differ
                variance = float(np.mean(diagonal - 2.0 * offset))
                self.resolved = bool(variance > least)
        return offset, power_of_four(variance)

    def linear_coef(self, a: Array, coef: Array | None) -> Array | None:
        """The w of a linear kernel, or None.

        It is the sum of centred rows: far from the origin, the sum of the weights, which is 0 up to
        rounding, would be multiplied by large means.
        """
        if coef is not None or not isinstance(self.kernel, Linear):
            return coef
        support = np.flatnonzero(a)
        return np.asarray(self.X[support].T @ a[support], dtype=np.float64)

    def shift(self, a: Array, coef: Array | None) -> float:
        """The constant that true projections exceed those of a solver by."""
        by_offset = 0.0 if self.offset is None else float(self.offset @ a)
        by_centre = 0.0 if coef is None or self.centre is None else float(coef @ self.centre)
        return by_offset + by_centre

    def rounding(self, a: Array, coef: Array | None) -> float:
        """Bound of the rounding errors in projections that a model predicts."""
        return ERRORS * float(np.abs(a).sum()) * self.magnitude

    def uncertainty(self, a: Array) -> float:
        """About how much errors of kernel values change the objective at its minimum."""
        return 0.5 * self.accuracy * float(a @ a)

    def predicted(self, a: Array, coef: Array | None) -> tuple[Array, float]:
        """Projections that a model with these weights predicts, minus a shift; and the shift."""
        support = np.flatnonzero(a)
        coef = self.linear_coef(a, coef)
        if coef is not None:
            X = self.X if self.centre is None else self.X + self.centre
            h = np.asarray(X @ coef, dtype=np.float64)
        else:
            pieces = in_blocks(self.n_rows, lambda p: self._values(p, support) @ a[support], BLOCK)
            h = np.concatenate(pieces)
        shift = self.shift(a, coef)
        return h - shift, shift

    def private(self, share: float = 1.0) -> "Gram":
        """A matrix for one solver among several that work at the same time.

        All solvers share a full matrix. Each has its own row cache, with a share of the memory.
        """
        if self.full:
            return self
        return Gram(
            self.kernel, self.X, self.cache_size * share, double=self.double, centre=self.centre
        )

    def pseudo_labels(self, rank: Ranks, weight: Array) -> HostLabels:
        """Labels of the rows."""
        return HostLabels(rank, weight)

    def _fill(self) -> None:
        """Compute the upper triangle block by block on all cores, and mirror it."""
        pieces = list(blocks(self.n_rows, BLOCK))

        def fill(p: slice, q: slice) -> None:
            self.rows[p, q] = self.compute(p, q)
            if p != q:
                self.rows[q, p] = self.rows[p, q].T

        pairs = [(p, q) for b, p in enumerate(pieces) for q in pieces[b:]]
        if len(pairs) == 1 or isinstance(self.kernel, Custom):
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

    def _check(self, values: Array) -> Array:
        if not np.isfinite(values).all():
            raise ValueError(
                f"kernel={self.kernel!r} gave NaN or infinity. Check its parameters and the scale "
                "of X."
            )
        return values

    def _values(self, rows: Any, columns: Any) -> Array:
        """Kernel values without scale and offset."""
        if isinstance(self.kernel, Precomputed):
            return np.asarray(self.X[rows][:, columns], dtype=np.float64)
        if self.X[columns].shape[0] == 0:  # kernels accept no empty matrix
            return np.zeros((self.X[rows].shape[0], 0))
        return self._check(self.kernel(self.X[rows], self.X[columns]))

    def compute(self, rows: Any, columns: Any = slice(None)) -> Array:
        """Kernel values of some training rows with others, not from the cache."""
        values = self._values(rows, columns)
        if self.offset is not None:
            values = values - self.offset[rows][:, None] - self.offset[columns]
        return values if self.scale == 1.0 else values / self.scale

    def block(self, rows: Any, columns: Any) -> Any:
        """Kernel values of some rows with some columns."""
        if isinstance(rows, slice):
            return self.rows[rows, columns] if self.full else self.compute(rows, columns)
        if self.full:
            values = np.empty((len(rows), len(columns)), dtype=self.dtype)
            in_parts(
                len(rows),
                lambda p: _gather(self.rows, rows[p], columns, values[p]),
                size=len(rows) * len(columns),
            )
            return values
        held = self._cache.rows_of(rows, self.compute)
        return self.compute(rows, columns) if held is None else held[:, columns]

    def combine(self, index: Index, coefficients: Array) -> Array:
        """The combination of some rows: K[:, index] @ coefficients."""
        n = self.n_rows
        if self.full and len(index) > n // 2:
            v = np.zeros(n)
            v[index] = coefficients
            return self.times(v)
        total = np.zeros(n)
        if self.full:
            work = partial(_combine, self.rows, index, coefficients, total)
            in_parts(n, lambda p: work(p.start, p.stop), size=len(index) * n // 50)
            return total
        for piece in blocks(len(index), BATCH):
            held = self._cache.rows_of(index[piece], self.compute)
            values = self.compute(index[piece]) if held is None else held
            total += coefficients[piece] @ values
        return total

    def times(self, v: Array) -> Array:
        """K v, accumulated in float64, on all cores."""
        if self.full:
            return symmetric_times(self.rows, v)
        size = min(BLOCK, -(-self.n_rows // (2 * n_threads())))
        return np.concatenate(in_blocks(self.n_rows, lambda p: self.compute(p) @ v, size=size))


class RowCache:
    """The rows of a kernel matrix that were used last.

    Parameters
    ----------
    n : int
        Rows of the matrix.
    held : int
        How many are kept.
    dtype : dtype
        Their precision.
    """

    def __init__(self, n: int, held: int, dtype: Any):
        self._rows = np.empty((held, n), dtype=dtype)
        self._place = np.full(n, -1, dtype=np.int64)
        self._owner = np.full(held, -1, dtype=np.int64)
        self._used = np.zeros(held, dtype=np.int64)
        self._clock = 0

    def rows_of(self, index: Index, compute: Any) -> Any:
        """Some rows of the matrix, computed where they are not held; None if they do not fit."""
        if len(index) > len(self._owner):
            return None
        self._clock += 1
        missing = index[self._place[index] < 0]
        self._used[self._place[index][self._place[index] >= 0]] = self._clock
        if len(missing):
            places = np.argsort(self._used, kind="stable")[: len(missing)]
            evicted = self._owner[places]
            self._place[evicted[evicted >= 0]] = -1
            for piece in blocks(len(missing), BATCH):
                self._rows[places[piece]] = compute(missing[piece])
            self._owner[places], self._place[missing] = missing, places
            self._used[places] = self._clock
        return self._rows[self._place[index]]


@njit(cache=True, nogil=True)
def _gather(gram, rows, columns, out):
    for p in range(len(rows)):
        values = gram[rows[p]]
        for q in range(len(columns)):
            out[p, q] = values[np.uint64(columns[q])]


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def _combine(rows, index, coefficients, out, start, stop):
    """Add to some columns of the result, which stay in the cache, what each row contributes."""
    total = out[start:stop]
    for j in range(len(index)):
        row, weight = rows[index[j], start:stop], coefficients[j]
        for p in range(total.shape[0]):
            total[p] += weight * row[p]

"""Large matrices of Newton's method with a kernel, where the kernel matrix is: host or GPU.

Vectors are arrays of this machine; only matrices, which take nearly all of the time, live where the
kernel matrix does.
"""

from contextlib import nullcontext
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, spotrf

from tordinal.engines.base import KernelMatrix
from tordinal.engines.host.symmetric import symmetric_times
from tordinal.solvers.linalg import cholesky_solve
from tordinal.solvers.tuning import KERNEL_NEWTON as TUNING
from tordinal.threads import BLOCK, all_threads, in_blocks

__all__ = ["DeviceMatrices", "HostMatrices", "Matrices", "matrices_for"]

Array = NDArray[np.float64]
Index = NDArray[np.int64]


class Matrices(Protocol):
    """Columns of a kernel matrix, products with them, and Cholesky factors."""

    def columns(self, used: Index, J: Index, means: Array, centre: Array, dtype: Any) -> Any:
        """Kernel values K[used, J] minus `means` of their rows and `centre` of their columns."""

    def rows(self, K: Any, index: Index) -> Any:
        """Some rows of a matrix."""

    def times(self, K: Any, v: Array) -> Array:
        """K v for a vector or a matrix, in the precision of K."""

    def symmetric_times(self, K: Any, v: Array) -> Array:
        """The same for a symmetric matrix."""

    def factor(self, K: Any, root: Array, ridge: float) -> Any | None:
        """Cholesky factor of (1 + ridge) I + diag(root) K diag(root); None if it is indefinite."""

    def largest(self, K: Any, root: Array) -> float:
        """The largest absolute value in diag(root) K diag(root)."""

    def solve(self, factor: Any, right: Array) -> Array:
        """Solve with a factor in its own precision."""


def matrices_for(gram: KernelMatrix, used: Index) -> Matrices:
    """The matrices of some rows of a kernel matrix."""
    if gram.device is not None:
        return DeviceMatrices(gram)
    whole = len(used) == gram.n_rows
    held = None if not gram.full else gram.rows if whole else gram.rows[np.ix_(used, used)]
    return HostMatrices(gram, held)


class HostMatrices:
    """`Matrices` on this machine.

    Parameters
    ----------
    gram : KernelMatrix
        The kernel.
    held : ndarray or None
        K[used, used], if it is in memory.
    """

    def __init__(self, gram: KernelMatrix, held: Any):
        self.gram, self.held = gram, held

    def columns(self, used: Index, J: Index, means: Array, centre: Array, dtype: Any) -> Any:
        columns = np.empty((len(used), len(J)), dtype=dtype)

        def fill(p: slice) -> None:
            if self.held is None:
                K = self.gram.compute(used[p], used[J])
            else:
                K = self.held[p] if len(J) == len(used) else self.held[p][:, J]
            columns[p] = K - means[p, None] - centre

        in_blocks(len(used), fill, size=BLOCK)
        return columns

    def rows(self, K: Any, index: Index) -> Any:
        return K[index]

    def times(self, K: Any, v: Array) -> Array:
        return np.asarray(K @ v.astype(K.dtype), dtype=np.float64)

    def symmetric_times(self, K: Any, v: Array) -> Array:
        return np.asarray(symmetric_times(K, v.astype(K.dtype)), dtype=np.float64)

    def factor(self, K: Any, root: Array, ridge: float) -> Any | None:
        B = K * root.astype(K.dtype)[:, None]
        B *= root.astype(K.dtype)
        B.flat[:: len(B) + 1] += 1.0 + ridge
        potrf = spotrf if K.dtype == np.float32 else dpotrf
        with all_threads() if len(B) >= TUNING.threaded_rows else nullcontext():
            factor, failed = potrf(B.T, lower=1, clean=0, overwrite_a=1)
        return None if failed else factor

    def largest(self, K: Any, root: Array) -> float:
        return float(np.abs(K * root[:, None] * root).max())

    def solve(self, factor: Any, right: Array) -> Array:
        return cholesky_solve(factor, right)


class DeviceMatrices:
    """`Matrices` on a GPU.

    Parameters
    ----------
    gram : CudaGram
        The kernel.
    """

    def __init__(self, gram: Any):
        self.gram, self.device = gram, gram.device

    def columns(self, used: Index, J: Index, means: Array, centre: Array, dtype: Any) -> Any:
        put = self.device.put
        K = self.gram.values[put(used)[:, None], put(used[J])]
        return (K - put(means)[:, None] - put(centre)).astype(dtype)

    def rows(self, K: Any, index: Index) -> Any:
        return K[self.device.put(index)]

    def times(self, K: Any, v: Array) -> Array:
        return np.asarray(self.device.get(K @ self.device.put(v, K.dtype)), dtype=np.float64)

    def symmetric_times(self, K: Any, v: Array) -> Array:
        return self.times(K, v)

    def factor(self, K: Any, root: Array, ridge: float) -> Any | None:
        there = self.device.put(root, K.dtype)
        B = K * there[:, None]
        B *= there
        B.ravel()[:: len(B) + 1] += 1.0 + ridge
        return self.device.cholesky(B)

    def largest(self, K: Any, root: Array) -> float:
        there = self.device.put(root, K.dtype)
        return float(abs(K * there[:, None] * there).max())

    def solve(self, factor: Any, right: Array) -> Array:
        there = self.device.put(right, factor.dtype)
        return np.asarray(
            self.device.get(self.device.cholesky_solve(factor, there)), dtype=np.float64
        )

"""Kernel values between training rows on a GPU."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from tordinal.distances import Matrix
from tordinal.engines.cuda.device import THREADS, find_device
from tordinal.engines.cuda.pseudo_labels import CudaLabels
from tordinal.engines.host.gram import ERRORS, Gram
from tordinal.kernels import RBF, Kernel, LaplacianKernel, Linear, Perceptron, Poly
from tordinal.reduction import Ranks
from tordinal.threads import blocks

__all__ = ["CudaGram", "most_rows"]

Array = NDArray[np.float64]
Index = NDArray[np.int64]

# How kernels.cu computes a kernel: what it sums over features, and the function of that sum.
PAIRWISE = {Linear: 0, Perceptron: 1, RBF: 1, LaplacianKernel: 2, Poly: 0}
FUNCTION = {Linear: 0, Perceptron: 1, RBF: 2, LaplacianKernel: 2, Poly: 3}
UPLOADED = 1024  # rows of a matrix that are computed on the host and uploaded at a time
VECTORS = 2048  # bytes per row that solvers and features may need besides the matrix
TILE, ROWS_AT_A_TIME = 64, 4  # as in kernels.cu


class CudaGram(Gram):
    """The symmetric matrix of kernel values between training rows, in full on a GPU.

    Scale and offsets are those of `Gram`, which also computes single values in double precision.
    Kernels of dense rows are computed on the device. A precomputed matrix, a function of the user
    and kernels of sparse rows are computed on the host and uploaded.

    Parameters
    ----------
    kernel : Kernel
        The kernel function.
    X : matrix
        Training rows, or their kernel values for a precomputed kernel.
    double : bool
        Whether to hold values in double precision where they fit; small matrices always are.
    centre : ndarray of shape (n_features,) or None
        What was subtracted from the features of a linear kernel.
    device : Device, optional
        The device; None finds one.

    Attributes
    ----------
    device : Device
        Where the matrix is.
    values : device array of shape (n_rows, n_rows)
        The matrix. The other attributes are those of `Gram`, with ``full`` False: it is not held on
        the host.
    """

    def __init__(
        self,
        kernel: Kernel,
        X: Matrix,
        *,
        double: bool = False,
        centre: Array | None = None,
        device: Any = None,
    ):
        self.device = find_device() if device is None else device
        self.values: Any = None
        # The memory of the host does not matter.
        super().__init__(kernel, X, cache_size=0.0, double=double, centre=centre)

    def __del__(self) -> None:
        device = getattr(self, "device", None)
        if device is not None:
            self.values = None
            device.release()

    def _hold(self, wanted: bool) -> None:
        """Allocate the matrix and fill it, or say how many rows would fit."""
        n, free = self.n_rows, self.device.free_memory()
        largest = most_rows(free, 8)
        double = wanted and n <= largest
        self.dtype = np.dtype(np.float64 if double else np.float32)
        self.full = False
        fits = most_rows(free, self.dtype.itemsize)
        if n > fits:
            raise ValueError(
                f"engine='cuda': the kernel matrix of {n:,} rows takes {4 * n * n / 2**30:.3g} GiB "
                f"and the GPU has {free / 2**30:.3g} GiB free, enough for {fits:,} rows. Fit no "
                "more rows than that, free memory on the GPU, or use engine='host', which "
                "computes kernel rows as they are needed."
            )
        self.values = self.device.xp.empty((n, n), dtype=self.dtype)
        if type(self.kernel) in PAIRWISE and not sp.issparse(self.X):
            self._compute_on_device()
        else:
            for p in blocks(n, UPLOADED):
                values = self.compute(p).astype(self.dtype)
                self.values[p] = self.device.put(self._check(values))

    def _compute_on_device(self) -> None:
        device, kernel = self.device, self.kernel
        X = device.put(np.ascontiguousarray(self.X, dtype=np.float64))
        offset = None if self.offset is None else device.put(self.offset)
        bad = device.xp.zeros(1, dtype=np.int32)
        n_tiles = -(-self.n_rows // TILE)
        device.launch(
            "kernel_values", n_tiles * n_tiles, self.dtype, X, self.n_rows, int(X.shape[1]),
            PAIRWISE[type(kernel)], FUNCTION[type(kernel)], float(getattr(kernel, "gamma", 1.0)),
            float(getattr(kernel, "coef0", 0.0)), float(getattr(kernel, "degree", 1.0)), offset,
            float(self.scale), self.values, bad,
        )  # fmt: skip
        if int(device.get(bad)[0]):
            self._check(np.array([np.nan]))

    def private(self, share: float = 1.0) -> "CudaGram":
        """The matrix itself: all solvers share it."""
        return self

    def pseudo_labels(self, rank: Ranks, weight: Array) -> CudaLabels:
        """Labels of the rows."""
        return CudaLabels(rank, weight, self.device)

    def rounding_of(self, size: float) -> float:
        """`rounding`, given the sum of the absolute weights."""
        return ERRORS * size * self.magnitude

    def uncertainty_of(self, squares: float) -> float:
        """`uncertainty`, given the sum of the squared weights."""
        return 0.5 * self.accuracy * squares

    def combine(self, index: Index, coefficients: Array) -> Array:
        """The combination of some rows: K[:, index] @ coefficients."""
        v = np.zeros(self.n_rows)
        v[index] = coefficients
        return self.times(v)

    def times(self, v: Array) -> Array:
        """K v, accumulated in float64."""
        return self.device.get(self.device_times(self.device.put(v)))

    def device_times(self, v: Any) -> Any:
        """K v for a vector on the device."""
        out = self.device.xp.empty(self.n_rows)
        n_blocks = -(-self.n_rows // ROWS_AT_A_TIME)
        self.device.launch("times", n_blocks, self.dtype, self.values, self.n_rows, v, out)
        return out

    def device_combine(self, base: Any, index: Index, coefficients: Array) -> Any:
        """A vector on the device plus the combination of some rows."""
        device, out = self.device, self.device.xp.empty(self.n_rows)
        device.launch(
            "combine", -(-self.n_rows // THREADS), self.dtype, self.values, self.n_rows,
            device.put(index, np.int32), device.put(coefficients), len(index), base, out,
        )  # fmt: skip
        return out


def most_rows(free: int, itemsize: int) -> int:
    """The largest number of rows whose kernel matrix fits so many bytes, with vectors beside it.

    Examples
    --------
    >>> most_rows(8 * 2**30, 4)
    46085
    """
    return int((np.sqrt(VECTORS**2 + 4.0 * itemsize * max(free, 0)) - VECTORS) / (2 * itemsize))

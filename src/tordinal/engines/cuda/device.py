"""A GPU by way of CuPy: finding one, its memory, and launching the kernels of `kernels.cu`."""

from collections.abc import Callable
from functools import lru_cache
from importlib.resources import files
from typing import Any

import numpy as np

__all__ = ["ENGINES", "FEWEST_ROWS", "Device", "find_device", "resolve_engine"]

ENGINES = ("host", "cuda", "auto")
INSTALL = 'pip install "tordinal[cuda]"'
THREADS = 256  # per block
# Threads per block of SMO's steps: more rows per thread, or more records to compare.
STEP_THREADS = 256
LANES = 32
# Rows from which a GPU is faster than this machine: launches cost more than steps on few rows;
# benchmarks cuda.
FEWEST_ROWS = 3000
RESERVE = 2**28  # bytes that the driver and compiled kernels may still ask for


class Device:
    """The GPU that CuPy uses at present.

    Everything that depends on CuPy is here and in the kernels: code that has a device works with
    its array namespace `xp`.

    Parameters
    ----------
    cupy : module
        CuPy.

    Attributes
    ----------
    xp : module
        The namespace of arrays on the device.
    """

    def __init__(self, cupy: Any):
        self.xp = cupy
        self._kernels: dict[tuple[str, Any], Any] = {}
        properties = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.runtime.getDevice())
        self.name = properties["name"].decode()
        self.n_processors = int(properties["multiProcessorCount"])
        # The most blocks of a cooperative kernel; more would wait for each other forever.
        self._most_blocks: dict[Any, int] = {}

    # Arrays -------------------------------------------------------------------------------------

    def put(self, array: Any, dtype: Any = None) -> Any:
        """Copy an array to the device."""
        return self.xp.asarray(array, dtype=dtype)

    def get(self, array: Any) -> Any:
        """Copy an array from the device."""
        return self.xp.asnumpy(array)

    def free_memory(self) -> int:
        """Bytes that can be allocated."""
        pool = self.xp.get_default_memory_pool()
        free, _ = self.xp.cuda.runtime.memGetInfo()
        return int(free) + int(pool.free_bytes()) - RESERVE

    def release(self) -> None:
        """Give memory that no array uses back to the device, for other programs."""
        self.xp.get_default_memory_pool().free_all_blocks()

    # Factors ------------------------------------------------------------------------------------

    def cholesky(self, A: Any) -> Any | None:
        """The lower Cholesky factor; None if a matrix is not positive definite."""
        try:
            lower = self.xp.linalg.cholesky(A)
        except self.xp.linalg.LinAlgError:
            return None
        return lower if bool(self.xp.isfinite(lower.diagonal()).all()) else None

    def cholesky_solve(self, lower: Any, right: Any) -> Any:
        """Solve with a lower factor."""
        from cupyx.scipy.linalg import solve_triangular

        half = solve_triangular(lower, right, lower=True, check_finite=False)
        return solve_triangular(lower, half, lower=True, trans=1, check_finite=False)

    # Kernels ------------------------------------------------------------------------------------

    def launch(self, name: str, n_blocks: int, dtype: Any, *arguments: Any) -> None:
        """Run a kernel on blocks of `THREADS`; `dtype` is the type of kernel values."""
        kernel = self._kernel(name, dtype, cooperative=False)
        kernel((max(1, min(n_blocks, 2**20)),), (THREADS,), tuple(map(_typed, arguments)))

    def launch_steps(self, n_blocks: int, shared: int, dtype: Any, *arguments: Any) -> None:
        """Run `take_steps`, all of whose blocks wait for each other."""
        kernel = self._kernel("take_steps", dtype, cooperative=True)
        arguments = tuple(map(_typed, arguments))
        kernel((n_blocks,), (STEP_THREADS,), arguments, shared_mem=shared)

    def step_blocks(self, n_rows: int, dtype: Any, shared: int) -> tuple[int, int]:
        """How many blocks `take_steps` gets, and how many warps each has."""
        key = (np.dtype(dtype), shared)
        if key not in self._most_blocks:
            kernel = self._kernel("take_steps", dtype, cooperative=True)
            if shared > kernel.max_dynamic_shared_size_bytes:
                kernel.max_dynamic_shared_size_bytes = shared
            per_processor = self.xp.cuda.driver.occupancyMaxActiveBlocksPerMultiprocessor(
                kernel.kernel.ptr, STEP_THREADS, shared
            )
            # One per processor: a second one would only make the wait longer.
            self._most_blocks[key] = self.n_processors * min(int(per_processor), 1)
        most = self._most_blocks[key]
        return max(1, min(most, -(-n_rows // STEP_THREADS))), STEP_THREADS // LANES

    def _kernel(self, name: str, dtype: Any, *, cooperative: bool) -> Any:
        key = (name, np.dtype(dtype))
        if key not in self._kernels:
            value = "double" if np.dtype(dtype) == np.float64 else "float"
            module = self.xp.RawModule(
                code=source(), options=("--std=c++14", f"-DVALUE={value}"),
                enable_cooperative_groups=cooperative,
            )  # fmt: skip
            self._kernels[key] = module.get_function(name)
        return self._kernels[key]


@lru_cache(maxsize=1)
def source() -> str:
    """The kernels' source."""
    return files("tordinal.engines.cuda").joinpath("kernels.cu").read_text()


def _typed(argument: Any) -> Any:
    """An argument of a kernel in the type that it declares."""
    if isinstance(argument, (bool, int, np.integer)):
        return np.int32(argument)
    if isinstance(argument, (float, np.floating)):
        return np.float64(argument)
    return np.uintp(0) if argument is None else argument


def find_device() -> Any:
    """The GPU; an error says whether CuPy or a GPU is missing.

    Every call looks anew for the current device, so ``with cupy.cuda.Device(1):`` is respected.
    """
    try:
        import cupy
    except ImportError as error:
        raise ImportError(
            f"engine='cuda' needs CuPy, which is not installed ({error}). Install it with "
            f"{INSTALL}, or use engine='host'."
        ) from None
    try:
        number = cupy.cuda.runtime.getDevice() if cupy.cuda.runtime.getDeviceCount() else -1
    except cupy.cuda.runtime.CUDARuntimeError as error:
        raise RuntimeError(_no_gpu(str(error))) from None
    if number < 0:
        raise RuntimeError(_no_gpu("no device was found"))
    return _device(number, cupy)


@lru_cache(maxsize=8)
def _device(number: int, cupy: Any) -> Device:
    return Device(cupy)


def _no_gpu(why: str) -> str:
    return (
        f"engine='cuda' needs an NVIDIA GPU, and CuPy finds none ({why}). Check nvidia-smi and "
        "CUDA_VISIBLE_DEVICES, or use engine='host'."
    )


def resolve_engine(engine: str, n_rows: int, note: Callable[[str], None] | None = None) -> str:
    """The engine that is used: "auto" is "cuda" where there is a GPU, and rows enough for it.

    Parameters
    ----------
    engine : {"host", "cuda", "auto"}
        What the user asks for. "cuda" raises an error if it is not available.
    n_rows : int
        Number of training rows.
    note : callable, optional
        Gets a sentence about the choice that "auto" makes.

    Returns
    -------
    engine : {"host", "cuda"}
        What is used.

    Examples
    --------
    >>> resolve_engine("host", 100)
    'host'
    """
    if engine == "host":
        return "host"
    note = note or (lambda line: None)
    if engine == "auto" and n_rows < FEWEST_ROWS:
        note(f"engine='auto' uses the host, which is faster for {n_rows:,} rows")
        return "host"
    try:
        device = find_device()
    except (ImportError, RuntimeError) as error:
        if engine == "cuda":
            raise
        note(f"engine='auto' uses the host: {str(error).partition('. ')[0]}")
        return "host"
    if engine == "auto":
        note(f"engine='auto' uses the GPU ({device.name})")
    return "cuda"

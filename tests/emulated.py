"""The CUDA engine without a GPU: NumPy in place of CuPy, and the kernels compiled for the CPU."""

import ctypes
import shutil
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
import scipy.linalg

from tordinal.engines.cuda.device import Device

COMPILER = shutil.which("g++") or shutil.which("clang++")
HERE = Path(__file__).parent


@lru_cache(maxsize=2)
def library(value):
    """The kernels for one type of kernel values."""
    kernels = files("tordinal.engines.cuda").joinpath("kernels.cu")
    folder = Path(tempfile.mkdtemp())
    (folder / "kernels.cpp").write_text(f'#include "{HERE / "emulated.h"}"\n#include "{kernels}"\n')
    command = [
        COMPILER, "-O2", "-shared", "-fPIC", "-std=c++14", "-w", f"-DVALUE={value}",
        str(folder / "kernels.cpp"), "-o", str(folder / "kernels.so"),
    ]  # fmt: skip
    subprocess.run(command, check=True)
    loaded = ctypes.CDLL(str(folder / "kernels.so"))
    shutil.rmtree(folder)
    return loaded


class EmulatedDevice:
    """A `Device` that is this machine."""

    xp = np
    name = "emulated"

    def __init__(self, n_blocks=1, memory=2**33):
        if COMPILER is None:
            pytest.skip("needs g++ or clang++ to compile the CUDA kernels for the CPU")
        self.n_blocks, self.memory = n_blocks, memory
        self.released = 0

    def put(self, array, dtype=None):
        return np.array(array, dtype=dtype)

    def get(self, array):
        return np.array(array)

    def free_memory(self):
        return self.memory

    def release(self):
        self.released += 1

    cholesky = Device.cholesky

    def cholesky_solve(self, lower, right):
        return scipy.linalg.cho_solve((lower, True), right)

    def launch(self, name, n_blocks, dtype, *arguments):
        block(dtype, name, 0, 1, 0, arguments)

    def launch_steps(self, n_blocks, shared, dtype, *arguments):
        if n_blocks == 1:
            return block(dtype, "take_steps", 0, 1, shared, arguments)
        with ThreadPoolExecutor(n_blocks) as pool:
            jobs = [
                pool.submit(block, dtype, "take_steps", b, n_blocks, shared, arguments)
                for b in range(n_blocks)
            ]
            for job in jobs:
                job.result()

    def step_blocks(self, n_rows, dtype, shared):
        return min(self.n_blocks, n_rows), 1


def block(dtype, name, number, n_blocks, shared, arguments):
    """Run one block of a kernel."""
    kernels = library("double" if dtype == np.float64 else "float")
    kernels.be_block(number, n_blocks, shared)
    getattr(kernels, name)(*map(_typed, arguments))


def _typed(argument):
    if isinstance(argument, np.ndarray):
        assert argument.flags.c_contiguous
        return ctypes.c_void_p(argument.ctypes.data)
    if isinstance(argument, float):
        return ctypes.c_double(argument)
    return ctypes.c_void_p(0) if argument is None else ctypes.c_int(argument)


def use_instead_of_a_gpu(monkeypatch, device):
    """Let `find_device` find this one."""
    for module in ("device", "gram"):
        monkeypatch.setattr(f"tordinal.engines.cuda.{module}.find_device", lambda: device)

import sys
from types import SimpleNamespace

import numpy as np
import pytest
from emulated import EmulatedDevice, use_instead_of_a_gpu

from tordinal import TOR
from tordinal.engines.cuda.device import FEWEST_ROWS, find_device, resolve_engine


class CudaError(Exception):
    pass


def cupy_that_sees(n_devices):
    def count():
        if n_devices is None:
            raise CudaError("cudaErrorInsufficientDriver")
        return n_devices

    runtime = SimpleNamespace(getDeviceCount=count, getDevice=lambda: 0, CUDARuntimeError=CudaError)
    return SimpleNamespace(cuda=SimpleNamespace(runtime=runtime))


def test_without_cupy_the_error_names_the_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(ImportError, match=r'CuPy, which is not installed .*"tordinal\[cuda\]"'):
        find_device()
    with pytest.raises(ImportError, match=r'"tordinal\[cuda\]"'):
        resolve_engine("cuda", 10)


@pytest.mark.parametrize(("n_devices", "why"), [(0, "no device"), (None, "InsufficientDriver")])
def test_without_a_gpu_the_error_says_so(monkeypatch, n_devices, why):
    monkeypatch.setitem(sys.modules, "cupy", cupy_that_sees(n_devices))
    with pytest.raises(RuntimeError, match=f"needs an NVIDIA GPU, and CuPy finds none .*{why}"):
        find_device()


def test_auto_says_why_it_uses_the_host(monkeypatch):
    notes = []
    assert resolve_engine("auto", FEWEST_ROWS - 1, notes.append) == "host"
    assert "faster for" in notes.pop()
    monkeypatch.setitem(sys.modules, "cupy", None)
    assert resolve_engine("auto", FEWEST_ROWS, notes.append) == "host"
    assert notes.pop().startswith("engine='auto' uses the host: engine='cuda' needs CuPy, which")
    monkeypatch.setitem(sys.modules, "cupy", cupy_that_sees(0))
    assert resolve_engine("auto", FEWEST_ROWS, notes.append) == "host"
    assert "no device was found" in notes.pop()


def test_auto_uses_a_gpu_for_many_rows_and_says_so(monkeypatch):
    use_instead_of_a_gpu(monkeypatch, EmulatedDevice())
    notes = []
    assert resolve_engine("auto", FEWEST_ROWS, notes.append) == "cuda"
    assert notes == ["engine='auto' uses the GPU (emulated)"]
    assert resolve_engine("cuda", 3) == "cuda"


def test_an_estimator_prints_the_choice_only_if_it_is_verbose(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "cupy", None)
    X, y = np.arange(12.0)[:, None], [0, 1, 2] + [-1] * 6 + [0, 1, 2]
    TOR(engine="auto").fit(X, y)
    assert capsys.readouterr().out == ""
    TOR(engine="auto", verbose=1).fit(X, y)
    assert "[TOR] engine='auto' uses the host" in capsys.readouterr().out


@pytest.mark.cuda
def test_a_gpu_that_is_there_is_found_and_gives_memory_back():
    device = find_device()
    assert device is find_device()
    device.release()
    before = device.free_memory()
    array = device.put(np.ones(2**24))
    assert device.free_memory() <= before - 2**27
    np.testing.assert_array_equal(device.get(array[:3]), np.ones(3))
    del array
    device.release()
    assert device.free_memory() >= before - 2**22


@pytest.mark.cuda
def test_factors_of_a_gpu_are_those_of_numpy():
    device, rng = find_device(), np.random.default_rng(0)
    A = rng.normal(size=(50, 50))
    A = A @ A.T + np.eye(50)
    lower = device.cholesky(device.put(A))
    np.testing.assert_allclose(device.get(lower), np.linalg.cholesky(A), atol=1e-10)
    right = rng.normal(size=50)
    solved = device.get(device.cholesky_solve(lower, device.put(right)))
    np.testing.assert_allclose(A @ solved, right, atol=1e-10)
    assert device.cholesky(device.put(A - 100.0 * np.eye(50))) is None

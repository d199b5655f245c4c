import gc

import numpy as np
import pytest
import scipy.sparse as sp
from emulated import EmulatedDevice
from hypothesis import given
from hypothesis import strategies as st

from tordinal.engines.cuda.device import find_device
from tordinal.engines.cuda.gram import CudaGram, most_rows
from tordinal.engines.cuda.pseudo_labels import CudaLabels
from tordinal.engines.host.gram import Gram
from tordinal.kernels import Custom, Linear, Precomputed, make_kernel

NAMES = ["linear", "perceptron", "rbf", "poly", "laplacian"]
DEVICES = ["emulated", pytest.param("cuda", marks=pytest.mark.cuda)]


@pytest.fixture(params=DEVICES)
def device(request):
    return EmulatedDevice() if request.param == "emulated" else find_device()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(("n", "dtype"), [(130, np.float64), (1100, np.float32)])
def test_values_and_products_are_those_of_the_host(device, name, sparse, n, dtype):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(n, 4)) * 30.0
    rows = sp.csr_array(X) if sparse else X
    kernel = make_kernel(name, rows, 0.02)
    ours, host = CudaGram(kernel, rows, device=device), Gram(kernel, rows, cache_size=100)
    assert (ours.values.dtype, ours.full, ours.scale) == (dtype, False, host.scale)
    accuracy = 1e-10 if dtype == np.float64 else 1e-5
    values = device.get(ours.values)
    size = np.abs(host.rows).max()
    np.testing.assert_allclose(values, host.rows, rtol=accuracy, atol=accuracy * size)
    np.testing.assert_array_equal(values, values.T)
    v = rng.normal(size=n)
    bound = 20 * accuracy * size * np.sqrt(n)
    np.testing.assert_allclose(ours.times(v), host.times(v), atol=bound)
    some = np.array([1, 4, 7])
    np.testing.assert_allclose(ours.combine(some, v[some]), host.combine(some, v[some]), atol=bound)
    base = device.put(v)
    added = device.get(ours.device_combine(base, some, v[some])) - v
    np.testing.assert_allclose(added, host.combine(some, v[some]), atol=bound)


def test_matrices_and_functions_of_the_user_are_uploaded(device):
    X = np.random.default_rng(4).normal(size=(10, 3))
    K = X @ X.T
    for kernel, rows in ((Precomputed(), K), (Custom(lambda a, b: a @ b.T), X)):
        gram = CudaGram(kernel, rows, device=device)
        np.testing.assert_allclose(device.get(gram.values) * gram.scale, K)


def test_what_is_not_finite_is_an_error(device):
    X = np.full((8, 2), 1e200)
    with pytest.raises(ValueError, match="kernel"):
        CudaGram(make_kernel("poly", X, 1.0, 3, 0.0), X, device=device)
    K = np.eye(8)
    K[2, 3] = np.nan
    with pytest.raises(ValueError, match=r"kernel|finite|NaN"):
        CudaGram(Custom(lambda a, b: K[: len(a), : len(b)]), X, device=device)


def test_what_does_not_fit_is_an_error_before_anything_is_allocated():
    device = EmulatedDevice(memory=2**20)
    X = np.random.default_rng(0).normal(size=(1200, 2))
    with pytest.raises(ValueError, match=r"1,200 rows takes .* GiB .* enough for 316 rows.*host"):
        CudaGram(Linear(), X, device=device)
    assert CudaGram(Linear(), X[:316], device=device).values.shape == (316, 316)


def test_double_precision_where_it_fits():
    X = np.random.default_rng(0).normal(size=(1100, 2))
    roomy, tight = EmulatedDevice(), EmulatedDevice(memory=2**23)
    assert CudaGram(Linear(), X, double=True, device=roomy).values.dtype == np.float64
    assert CudaGram(Linear(), X, double=True, device=tight).values.dtype == np.float32


@given(st.integers(0, 2**40), st.sampled_from([4, 8]))
def test_most_rows_is_the_largest_number_that_fits(free, itemsize):
    n = most_rows(free, itemsize)
    assert itemsize * n**2 + 2048 * n <= free * (1 + 1e-12)
    assert itemsize * (n + 1) ** 2 + 2048 * (n + 1) > free * (1 - 1e-12)


def test_memory_is_given_back(device):
    gram = CudaGram(Linear(), np.random.default_rng(0).normal(size=(50, 2)), device=device)
    assert gram.private(0.5) is gram
    assert isinstance(gram.pseudo_labels(np.zeros(50, dtype=int), np.ones(50)), CudaLabels)
    before = getattr(device, "released", None)
    del gram
    gc.collect()
    if before is None:
        assert device.xp.get_default_memory_pool().used_bytes() == 0
    else:
        assert device.released > before

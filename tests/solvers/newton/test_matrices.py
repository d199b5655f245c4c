"""The same matrices on either machine."""

import numpy as np
import pytest
from emulated import EmulatedDevice

from tordinal.engines.cuda.device import find_device
from tordinal.engines.cuda.gram import CudaGram
from tordinal.engines.host.gram import Gram
from tordinal.kernels import RBF
from tordinal.solvers.newton.matrices import DeviceMatrices, HostMatrices, matrices_for

N = 40
WHERE = [
    "host", "partly held", "emulated", pytest.param("cuda", marks=pytest.mark.cuda),
]  # fmt: skip


@pytest.fixture(params=WHERE)
def matrices(request):
    X = np.random.default_rng(0).normal(size=(N, 3))
    used = np.arange(1, N, 2)
    if request.param in ("host", "partly held"):
        gram = Gram(RBF(0.3), X, 100.0 if request.param == "host" else 3 * N * 8 / 2**20)
        made, kind = matrices_for(gram, used), HostMatrices
    else:
        device = EmulatedDevice() if request.param == "emulated" else find_device()
        made, kind = matrices_for(CudaGram(RBF(0.3), X, device=device), used), DeviceMatrices
    assert isinstance(made, kind)
    distances = ((X[:, None] - X) ** 2).sum(axis=2)
    return made, used, np.exp(-0.3 * distances) / made.gram.scale


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_centred_columns_products_and_factors(matrices, dtype):
    made, used, full = matrices
    K = full[np.ix_(used, used)]
    means, accuracy = K.mean(axis=1), 1e-4 if dtype == np.float32 else 1e-10
    J = np.arange(0, len(used), 3)
    centre = means[J] - means.mean()
    expected = K[:, J] - means[:, None] - centre
    columns = made.columns(used, J, means, centre, dtype)
    assert columns.dtype == dtype
    rng = np.random.default_rng(1)
    v, V = rng.normal(size=len(J)), rng.normal(size=(len(J), 2))
    np.testing.assert_allclose(made.times(columns, v), expected @ v, atol=accuracy)
    np.testing.assert_allclose(made.times(columns, V), expected @ V, atol=accuracy)
    B = made.rows(columns, J)
    np.testing.assert_allclose(made.symmetric_times(B, v), expected[J] @ v, atol=accuracy)

    root = rng.uniform(0.0, 2.0, len(J))
    scaled = root[:, None] * expected[J] * root
    assert made.largest(B, root) == pytest.approx(np.abs(scaled).max(), rel=1e-4)
    factor = made.factor(B, root, 0.5)
    solved = made.solve(factor, v)
    assert solved.dtype == np.float64
    np.testing.assert_allclose(scaled @ solved + 1.5 * solved, v, atol=accuracy)
    np.testing.assert_allclose(made.times(columns, v), expected @ v, atol=accuracy)  # unchanged


def test_an_indefinite_matrix_has_no_factor(matrices):
    made, used, _ = matrices
    columns = made.columns(used, np.arange(4), np.full(len(used), 9.0), np.zeros(4), np.float64)
    assert made.factor(made.rows(columns, np.arange(4)), np.ones(4), 0.0) is None

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tordinal.engines.host import dense
from tordinal.engines.host.dense import DenseBlock

X = np.random.default_rng(0).normal(size=(40, 5))


@given(st.lists(st.sets(st.integers(0, 39), max_size=40), min_size=1, max_size=8))
def test_sums_follow_the_rows_that_change(changes):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dense, "UPDATES", 3)
        block, rng = DenseBlock(X), np.random.default_rng(0)
        U = rng.normal(size=(40, 2))
        for changed in changes:
            U = U.copy()
            U[list(changed)] = rng.normal(size=(len(changed), 2))
            np.testing.assert_allclose(block.transposed_dot(U), X.T @ U, atol=1e-12)


@pytest.mark.parametrize("single", [False, True])
def test_products_in_either_precision(single):
    block = DenseBlock(X)
    block.use(single=single)
    rng = np.random.default_rng(1)
    v, D = rng.normal(size=5), rng.uniform(size=40) * (np.arange(40) % 3 > 0)
    near = {"atol": 1e-5 if single else 1e-12}
    assert block.rows.dtype == (np.float32 if single else np.float64)
    np.testing.assert_allclose(block.dot(v), X @ v, **near)
    np.testing.assert_allclose(block.exact_dot(v), X @ v, atol=1e-12)
    np.testing.assert_allclose(block.normal(D), (X.T * D) @ X, **near)
    np.testing.assert_allclose(block.curved(D, v), (X.T * D) @ X @ v, **near)

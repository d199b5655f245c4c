import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tordinal import threads
from tordinal.engines.host import symmetric
from tordinal.engines.host.symmetric import symmetric_times


@given(st.integers(1, 40), st.integers(1, 5), st.sampled_from([np.float32, np.float64]))
def test_the_product_is_that_of_the_whole_matrix(n, seed, dtype):
    rng = np.random.default_rng(seed)
    K, v = rng.normal(size=(n, n)), rng.normal(size=n)
    K = (K + K.T).astype(dtype)
    assert symmetric_times(K, v) == pytest.approx(K @ v, rel=1e-12, abs=1e-12)
    single = symmetric_times(K, v.astype(np.float32))
    assert single.dtype == np.float32
    assert single == pytest.approx(K @ v, rel=1e-4, abs=1e-4)


def test_only_the_upper_triangle_is_read():
    K = np.triu(np.random.default_rng(0).normal(size=(30, 30)))
    whole = K + np.triu(K, 1).T
    spoilt = K + np.tril(np.full((30, 30), np.nan), -1)
    assert symmetric_times(spoilt, np.ones(30)) == pytest.approx(whole.sum(axis=1))


@pytest.mark.parametrize("cores", [1, 2, 5])
def test_parts_do_not_depend_on_the_number_of_cores(monkeypatch, cores):
    rng = np.random.default_rng(0)
    K, v = rng.normal(size=(203, 203)), rng.normal(size=203)
    K = K + K.T
    monkeypatch.setattr(symmetric, "LARGE", 1000)
    two = symmetric_times(K, v)
    monkeypatch.setattr(threads, "n_threads", lambda: cores)
    assert np.array_equal(symmetric_times(K, v), two)
    assert two == pytest.approx(K @ v)

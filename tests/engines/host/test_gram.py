import numpy as np
import pytest
import scipy.sparse as sp

from tordinal.engines.host import gram as module
from tordinal.engines.host.gram import Gram, RowCache
from tordinal.kernels import Custom, Linear, Poly, Precomputed, make_kernel

NAMES = ["linear", "perceptron", "rbf", "poly", "laplacian"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("sparse", [False, True])
def test_full_and_cached_gram_agree(name, sparse, monkeypatch):
    monkeypatch.setattr(module, "BLOCK", 8)  # several blocks, so that the mirrored half is tested
    X = np.random.default_rng(2).normal(size=(30, 4))
    rows = sp.csr_array(X) if sparse else X
    kernel = make_kernel(name, rows, 0.2)
    full = Gram(kernel, rows, cache_size=10)
    cached = Gram(kernel, rows, cache_size=5 * 30 * 8 / 2**20)
    assert full.full
    assert not cached.full
    assert full.scale == cached.scale
    K = kernel(rows, rows) / full.scale
    np.testing.assert_array_equal(full.rows, full.rows.T)
    np.testing.assert_allclose(full.rows, K, atol=1e-12)
    v = np.random.default_rng(3).normal(size=30)
    index, columns = np.array([1, 4, 7]), np.array([2, 3, 20, 29])
    for gram in (full, cached):
        np.testing.assert_allclose(gram.diagonal, K.diagonal(), atol=1e-12)
        np.testing.assert_allclose(gram.times(v), K @ v, atol=1e-10)
        np.testing.assert_allclose(gram.block(slice(2, 9), slice(None)), K[2:9], atol=1e-12)
        for wanted in (index, np.arange(0, 30, 2)):
            np.testing.assert_allclose(
                gram.block(wanted, columns), K[np.ix_(wanted, columns)], atol=1e-12
            )
            np.testing.assert_allclose(
                gram.combine(wanted, v[wanted]), K[:, wanted] @ v[wanted], atol=1e-10
            )


def test_the_least_recently_used_rows_make_room():
    K, computed = np.random.default_rng(0).normal(size=(6, 6)), []

    def compute(index):
        computed.extend(index.tolist())
        return K[index]

    cache = RowCache(6, 3, np.float64)
    for wanted in ([0, 1], [1, 2], [0, 3]):  # row 1 and 2 were used last when 3 needs room
        np.testing.assert_array_equal(cache.rows_of(np.array(wanted), compute), K[wanted])
    np.testing.assert_array_equal(cache.rows_of(np.array([0, 3]), compute), K[[0, 3]])
    assert computed == [0, 1, 2, 3]
    assert cache.rows_of(np.arange(4), compute) is None


def test_large_matrices_are_single_precision_and_their_scale_fits_it():
    X = np.random.default_rng(0).normal(size=(1100, 2))
    gram = Gram(Linear(), X * 1e30, cache_size=100)
    assert gram.rows.dtype == np.float32
    assert 0.1 < gram.diagonal.mean() < 10
    np.testing.assert_allclose(
        gram.rows[0].astype(np.float64) * gram.scale, X @ X[0] * 1e60, rtol=1e-5, atol=1e55
    )
    assert Gram(Linear(), X, 100, double=True).rows.dtype == np.float64


def test_precomputed_and_callable_kernels():
    X = np.random.default_rng(4).normal(size=(10, 3))
    K = X @ X.T
    for gram in (Gram(Precomputed(), K, 10), Gram(Custom(lambda a, b: a @ b.T), X, 10)):
        np.testing.assert_allclose(gram.rows * gram.scale, K)
        np.testing.assert_allclose(gram.diagonal * gram.scale, np.diag(K))


def test_a_full_matrix_serves_all_and_a_partial_one_its_solver():
    X = np.random.default_rng(4).normal(size=(50, 3))
    full, partial = Gram(Linear(), X, 10), Gram(Linear(), X, 0.01)
    assert full.private(0.5) is full
    mine = partial.private(0.5)
    assert mine is not partial
    assert mine.cache_size == 0.005


def test_kernel_values_that_are_not_numbers_are_rejected():
    with pytest.raises(ValueError, match="NaN or infinity"):
        Gram(Custom(lambda a, b: np.full((len(a), len(b)), np.nan)), np.ones((5, 2)), 10)


@pytest.mark.parametrize("centre", [None, np.array([1e8, 0.0])])
@pytest.mark.parametrize("name", ["linear", "poly"])
def test_projections_are_predicted_as_a_model_does(name, centre):
    X = np.random.default_rng(0).normal(size=(20, 2))
    rows = X if centre is None else X + centre
    kernel = make_kernel(name, rows, 1.0, 2, 1.0)
    linear = name == "linear"
    gram = Gram(kernel, X if linear else rows, 10, centre=centre if linear else None)
    a = np.linspace(-1.0, 1.0, 20)
    coef = rows.T @ a if linear else None
    h, shift = gram.predicted(a, coef)
    K = kernel(rows, rows)
    exact = X @ coef if linear else K @ a - shift
    bound = gram.rounding(a, coef)
    np.testing.assert_allclose(h, exact, atol=bound)
    assert bound < 1e-12 if centre is None else bound > 0.1


def test_values_that_differ_by_rounding_only():
    X = np.random.default_rng(0).normal(size=(40, 3))
    for offset, resolved in ((0.0, True), (1e4, True), (1e12, False)):
        assert Gram(Poly(1.0, 3), X + offset, cache_size=10).resolved is resolved
    # A sample of rows that are alike says nothing of the others.
    copies = np.repeat(X[:1] + 10.0, 1000, axis=0)
    copies[500:] += np.arange(500)[:, None] % 2
    assert Gram(Poly(1.0, 3), copies, cache_size=10).resolved

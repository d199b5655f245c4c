import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics.pairwise import laplacian_kernel, polynomial_kernel, rbf_kernel

from tordinal import kernels
from tordinal.kernels import Gram, Kernel, squared_distances


def exact_distances(A, B):
    A, B = (np.asarray(M, dtype=np.longdouble) for M in (A, B))
    return np.sqrt(((A[:, None] - B) ** 2).sum(axis=2)).astype(np.float64)


@pytest.mark.parametrize("n_features", [3, 100])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_distances_of_close_pairs_keep_their_relative_accuracy(n_features, sparse, offset):
    rng = np.random.default_rng(0)
    A = rng.normal(size=(6, n_features)) + offset
    A = np.vstack([A, A[0], A[0] + 1e-5, A[1] * (1 + 1e-9)])
    rows = sp.csr_array(A) if sparse else A
    distances = np.sqrt(squared_distances(rows, rows))
    exact = exact_distances(A, A)
    assert distances[0, 6] == 0.0
    assert (np.diag(distances) == 0).all()
    np.testing.assert_allclose(distances, exact, rtol=1e-7)


@pytest.mark.parametrize("sparse", [False, True])
def test_kernels_equal_those_of_scikit_learn(sparse):
    rng = np.random.default_rng(1)
    A, B = rng.normal(size=(7, 5)), rng.normal(size=(4, 5))
    A[2] = 0.0  # an empty row
    a, b = (sp.csr_array(A), sp.csr_array(B)) if sparse else (A, B)
    np.testing.assert_allclose(Kernel("linear")(a, b), A @ B.T, atol=1e-12)
    np.testing.assert_allclose(Kernel("rbf", 0.3)(a, b), rbf_kernel(A, B, 0.3), atol=1e-12)
    np.testing.assert_allclose(Kernel("poly", 0.3, 2, 1.0)(a, b), polynomial_kernel(A, B, 2, 0.3, 1.0), atol=1e-12)
    np.testing.assert_allclose(Kernel("laplacian", 0.3)(a, b), laplacian_kernel(A, B, 0.3), atol=1e-12)
    np.testing.assert_allclose(Kernel("perceptron")(a, b), -exact_distances(A, B), atol=1e-12)
    for name in ("linear", "rbf", "poly", "laplacian", "perceptron"):
        kernel = Kernel(name, 0.3)
        np.testing.assert_allclose(kernel.diagonal(a), np.diag(kernel(a, a)), atol=1e-12)


@pytest.mark.parametrize("name", ["linear", "perceptron", "rbf", "poly", "laplacian"])
@pytest.mark.parametrize("sparse", [False, True])
def test_full_and_cached_gram_agree(name, sparse, monkeypatch):
    monkeypatch.setattr(kernels, "BLOCK", 8)  # several blocks, so that the mirrored half is tested
    X = np.random.default_rng(2).normal(size=(30, 4))
    rows = sp.csr_array(X) if sparse else X
    full = Gram(Kernel(name, 0.2), rows, cache_size=10)
    cached = Gram(Kernel(name, 0.2), rows, cache_size=5 * 30 * 8 / 2**20)
    assert full.full
    assert not cached.full
    np.testing.assert_array_equal(full.rows, full.rows.T)
    v = np.random.default_rng(3).normal(size=30)
    for i in range(30):
        cached.fetch(i)
        np.testing.assert_allclose(cached.rows[cached.slot[i]], full.rows[i], atol=1e-12)
        assert (cached.slot >= 0).sum() <= 5
    np.testing.assert_allclose(full.times(v), full.rows @ v, atol=1e-10)
    np.testing.assert_allclose(cached.times(v), full.rows @ v, atol=1e-10)
    index = np.array([1, 4, 7])
    np.testing.assert_allclose(full.combine(index, v[index]), full.rows[:, index] @ v[index], atol=1e-12)
    np.testing.assert_allclose(cached.combine(index, v[index]), full.rows[:, index] @ v[index], atol=1e-12)


def test_the_least_recently_used_row_makes_room():
    gram = Gram(Kernel("linear"), np.eye(6), cache_size=2 * 6 * 8 / 2**20)
    gram.fetch(0)
    gram.fetch(1)
    gram.last_used[0] = 5
    gram.last_used[1] = 3
    gram.fetch(2)
    assert gram.slot[0] >= 0
    assert gram.slot[1] < 0


def test_large_gram_matrices_are_single_precision():
    assert Gram(Kernel("linear"), np.ones((2000, 1)), cache_size=100).rows.dtype == np.float32


def test_precomputed_and_callable_kernels():
    X = np.random.default_rng(4).normal(size=(10, 3))
    K = X @ X.T
    for gram in (Gram(Kernel("precomputed"), K, 10), Gram(Kernel(lambda a, b: a @ b.T), X, 10)):
        np.testing.assert_allclose(gram.rows, K)
        np.testing.assert_allclose(gram.diagonal, np.diag(K))

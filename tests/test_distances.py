import numpy as np
import pytest
import scipy.sparse as sp
from problems import two_matrices
from scipy.spatial.distance import cdist

from tordinal.distances import manhattan, products, squared_distances, squared_norms


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
    assert distances[0, 6] == 0.0
    assert (np.diag(distances) == 0).all()
    np.testing.assert_allclose(distances, exact_distances(A, A), rtol=1e-7)


@pytest.mark.parametrize("sparse", [False, True])
def test_products_norms_and_manhattan_distances(sparse):
    A, B, a, b = two_matrices(sparse)
    np.testing.assert_allclose(products(a, b), A @ B.T, atol=1e-12)
    np.testing.assert_allclose(squared_norms(a), (A**2).sum(axis=1), atol=1e-12)
    np.testing.assert_allclose(manhattan(a, b), cdist(A, B, "cityblock"), atol=1e-12)

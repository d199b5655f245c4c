import numpy as np
import pytest
import scipy.sparse as sp

from tordinal.engines.host.sparse import SparseBlock

X = sp.random_array((60, 20), density=0.2, rng=np.random.default_rng(0), format="csr")


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("piece", [slice(0, 60), slice(13, 41)])
def test_products_with_some_rows(dtype, piece):
    block, part = SparseBlock(X.astype(dtype), piece), X[piece].toarray()
    rng = np.random.default_rng(1)
    v, U = rng.normal(size=20), rng.normal(size=(len(part), 3))
    D = np.where(np.arange(len(part)) % 2, rng.uniform(size=len(part)), 0.0)
    np.testing.assert_allclose(block.dot(v), part @ v, atol=1e-6)
    np.testing.assert_allclose(block.transposed_dot(U[:, 0]), part.T @ U[:, 0], atol=1e-6)
    np.testing.assert_allclose(block.transposed_dot(U), part.T @ U, atol=1e-6)
    np.testing.assert_allclose(block.curved(D, v), (part.T * D) @ part @ v, atol=1e-6)
    np.testing.assert_allclose(block.curvature_diagonal(D), D @ part**2, atol=1e-6)

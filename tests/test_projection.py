import numpy as np
import pytest
import scipy.sparse as sp

from tordinal.kernels import RBF, Linear, Precomputed
from tordinal.projection import Projection

RNG = np.random.default_rng(0)
X, NEW, A = RNG.normal(size=(9, 3)), RNG.normal(size=(4, 3)), RNG.normal(size=9)
A[[1, 5]] = 0.0


@pytest.mark.parametrize("several", [False, True])
def test_projections_are_kernel_values_times_weights(several):
    a = np.column_stack([A, 2 * A, A**2]) if several else A
    for kernel, rows, expected in (
        (RBF(0.5), NEW, RBF(0.5)(NEW, X) @ a),
        (Linear(), NEW, NEW @ X.T @ a),
        (Precomputed(), NEW @ X.T, NEW @ X.T @ a),
    ):
        projection = Projection.of(kernel, X, a)
        np.testing.assert_allclose(projection(rows), expected, atol=1e-12)
        assert 1 not in projection.support


def test_rows_without_weight_are_not_kept():
    projection = Projection.of(RBF(0.5), X, A)
    assert len(projection.support_vectors) == 7
    assert not np.shares_memory(projection.support_vectors, X)


def test_sparse_rows_and_a_given_w():
    projection = Projection.of(Linear(), sp.csr_array(X), A, coef=np.ones(3))
    np.testing.assert_allclose(projection(sp.csr_array(NEW)), NEW.sum(axis=1))

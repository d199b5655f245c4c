import numpy as np
import pytest
import scipy.sparse as sp
from scipy.linalg import cho_factor, cho_solve

from tordinal import threads
from tordinal.solvers import rows as module
from tordinal.solvers.rows import DenseRows, SparseRows

X = sp.random_array((200, 60), density=0.1, rng=np.random.default_rng(0), format="csr")
SOME = np.arange(0, 200, 3)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("on_all_cores", [False, True])
def test_products_of_sparse_rows(dtype, on_all_cores, monkeypatch):
    if on_all_cores:
        monkeypatch.setattr(threads, "SMALL", 0)
    rows = SparseRows(X.astype(dtype))
    rng = np.random.default_rng(0)
    v, u, U = rng.normal(size=60), rng.normal(size=200), rng.normal(size=(200, 3))
    np.testing.assert_allclose(rows.dot(v), X @ v, atol=1e-5)
    np.testing.assert_allclose(rows.transposed_dot(u), X.T @ u, atol=1e-5)
    np.testing.assert_allclose(rows.transposed_dot(U), X.T @ U, atol=1e-5)
    np.testing.assert_allclose(rows.transposed_dot(U[SOME], SOME), X[SOME].T @ U[SOME], atol=1e-5)
    np.testing.assert_allclose(rows.squared_norms(), X.multiply(X).sum(axis=1), atol=1e-5)
    np.testing.assert_allclose(rows.take(SOME).dot(v), X[SOME] @ v, atol=1e-5)


def test_a_newton_direction_solves_the_system(monkeypatch):
    monkeypatch.setattr(module, "SETTLED", 1e-12)  # to the end
    rng = np.random.default_rng(0)
    E, right = rng.random((len(SOME), 2)), rng.normal(size=60)
    D = E.sum(axis=1)
    cross = X[SOME].T @ E
    M = cho_factor(np.diag(E.sum(axis=0) + 10.0))
    dense = X.toarray()[SOME]
    H = np.eye(60) + (dense.T * D) @ dense - cross @ cho_solve(M, cross.T)
    for rows in (SparseRows(X), DenseRows(X.toarray())):
        np.testing.assert_allclose(
            rows.newton_direction(SOME, D, cross, M, right), np.linalg.solve(H, right), rtol=1e-5, atol=1e-6
        )

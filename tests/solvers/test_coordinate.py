import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from tordinal.kernels import Gram, Kernel
from tordinal.losses import Hinge, Laplacian
from tordinal.solvers import SMO, CoordinateDescent
from tordinal.solvers import coordinate as module
from tordinal.solvers.solution import objective

LOSSES = [Hinge(), Laplacian()]


def problem(n=300, d=80, m=3, seed=0):
    rng = np.random.default_rng(seed)
    X = sp.random_array((n, d), density=0.1, rng=rng, format="csr")
    score = X @ rng.normal(size=d) + 0.3 * rng.normal(size=n)
    return X, np.digitize(score, np.quantile(score, np.arange(1, m + 1) / (m + 1)))


def dual_value(X, y, beta):
    """Of (11), to be maximised."""
    s = np.where(y[:, None] > np.arange(beta.shape[1]), 1.0, -1.0)
    a, c = beta.sum(axis=1), beta.sum(axis=0)
    w = X.T @ a
    return float(np.sum(s * beta) - 0.5 * w @ w - 0.5 * c @ c)


@given(seed=st.integers(0, 50), C=st.sampled_from([0.01, 1.0, 10.0]), m=st.integers(1, 4), loss=st.sampled_from(LOSSES))
def test_the_same_optimum_as_smo_and_no_duality_gap(seed, C, m, loss):
    X, y = problem(120, 40, m, seed)
    cost = C * np.random.default_rng(seed).uniform(0.0, 1.0, 120).round(1)
    found = CoordinateDescent(X, loss).solve(y, cost, m, tol=1e-5)
    peer = SMO(Gram(Kernel("linear"), X, 100), loss).solve(y, cost, m, tol=1e-6)
    assert found.converged
    assert found.objective == pytest.approx(peer.objective, rel=1e-4)
    low, high = (0.0, 1.0) if isinstance(loss, Hinge) else (-1.0, 1.0)
    signed = found.beta * np.where(y[:, None] > np.arange(m), 1.0, -1.0)
    assert (signed >= low * cost[:, None] - 1e-12).all()
    assert (signed <= high * cost[:, None] + 1e-12).all()
    assert dual_value(X, y, found.beta) == pytest.approx(found.objective, rel=2e-3)
    assert (np.diff(found.thresholds) >= 0).all()


@pytest.mark.parametrize("loss", LOSSES)
def test_warm_starts_end_where_cold_ones_do_and_sooner(loss):
    X, y = problem()
    cost = np.where(np.arange(300) < 60, 1.0, 0.05)
    solver = CoordinateDescent(X, loss)
    first = solver.solve(y, cost, 3)
    new = y.copy()
    new[[70, 80, 90, 100]] = [1, 2, 0, 3]
    warm, cold = (solver.solve(new, 1.1 * cost, 3, warm=start) for start in (first, None))
    assert warm.objective == pytest.approx(cold.objective, rel=1e-3)
    assert warm.n_iter < cold.n_iter


def test_rows_without_cost_do_not_matter():
    X, y = problem()
    cost = np.where(np.arange(300) < 100, 1.0, 0.0)
    whole = CoordinateDescent(X, Hinge()).solve(y, cost, 3, tol=1e-6)
    part = CoordinateDescent(X[:100], Hinge()).solve(y[:100], cost[:100], 3, tol=1e-6)
    assert whole.objective == pytest.approx(part.objective, rel=1e-5)
    np.testing.assert_allclose(whole.h, X @ whole.coef, atol=1e-9)
    assert not whole.beta[100:].any()


def test_the_same_problem_gives_the_same_bits_and_the_limit_holds():
    X, y = problem()
    one, two = (CoordinateDescent(X, Hinge()).solve(y, np.ones(300), 3) for _ in range(2))
    np.testing.assert_array_equal(one.beta, two.beta)
    short = CoordinateDescent(X, Hinge()).solve(y, np.full(300, 100.0), 3, max_iter=2)
    assert short.n_iter == 2
    assert not short.converged


def test_groups_of_neighbours_are_a_permutation_and_lead_to_the_same_end(monkeypatch):
    monkeypatch.setattr(module, "FULL_SHUFFLE", 50)
    rows = np.arange(3, 300, 2)
    shuffled = module._shuffled(rows, np.random.default_rng(0))
    np.testing.assert_array_equal(np.sort(shuffled), rows)
    assert (shuffled != rows).any()
    X, y = problem()
    found = CoordinateDescent(X, Hinge()).solve(y, np.ones(300), 3, tol=1e-5)
    a = found.beta.sum(axis=1)
    assert found.objective == pytest.approx(
        objective(Hinge(), y, np.ones(300), X @ (X.T @ a), a, found.thresholds), rel=1e-6
    )


def test_float32_rows_stay_float32():
    X, y = problem()
    solver = CoordinateDescent(X.astype(np.float32), Hinge())
    assert solver.X.X.dtype == np.float32
    found, double = solver.solve(y, np.ones(300), 3), CoordinateDescent(X, Hinge()).solve(y, np.ones(300), 3)
    assert found.objective == pytest.approx(double.objective, rel=1e-4)

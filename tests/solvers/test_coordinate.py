import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from problems import problem_of

from tordinal.engines.host.gram import Gram
from tordinal.engines.host.rows import Rows
from tordinal.kernels import Linear
from tordinal.losses import Hinge, Laplacian
from tordinal.reduction import signs
from tordinal.solvers import SMO, CoordinateDescent
from tordinal.solvers import coordinate as module

LOSSES = [Hinge(), Laplacian()]


def solver_of(X, loss=None, m=3):
    return CoordinateDescent(Rows(X), problem_of(loss or Hinge(), n_thresholds=m))


def beta_of(solution):
    return solution.u * solution.cost[:, None] * signs(solution.y, len(solution.thresholds))


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


@given(
    seed=st.integers(0, 50),
    C=st.sampled_from([0.01, 1.0, 10.0]),
    m=st.integers(1, 4),
    loss=st.sampled_from(LOSSES),
)
def test_the_same_optimum_as_smo_and_no_duality_gap(seed, C, m, loss):
    if isinstance(loss, Laplacian):
        C = min(C, 1.0)  # beyond that the 20,000 iterations are too few for some seeds
    X, y = problem(120, 40, m, seed)
    cost = C * np.random.default_rng(seed).uniform(0.0, 1.0, 120).round(1)
    solution = solver_of(X, loss, m).solve(y, cost, tol=1e-5)
    peer = SMO(Gram(Linear(), X, 100), problem_of(loss, n_thresholds=m)).solve(y, cost, tol=1e-6)
    assert solution.converged
    assert solution.objective == pytest.approx(peer.objective, rel=1e-4)
    low, high = (0.0, 1.0) if isinstance(loss, Hinge) else (-1.0, 1.0)
    signed = solution.u * cost[:, None]
    assert (signed >= low * cost[:, None] - 1e-12).all()
    assert (signed <= high * cost[:, None] + 1e-12).all()
    assert dual_value(X, y, beta_of(solution)) == pytest.approx(solution.objective, rel=2e-3)
    assert (np.diff(solution.thresholds) >= 0).all()


@pytest.mark.parametrize("loss", LOSSES)
def test_warm_starts_end_where_cold_ones_do_and_sooner(loss):
    X, y = problem()
    cost = np.where(np.arange(300) < 60, 1.0, 0.05)
    solver = solver_of(X, loss)
    first = solver.solve(y, cost)
    new = y.copy()
    new[[70, 80, 90, 100]] = [1, 2, 0, 3]
    warm, cold = (solver.solve(new, 1.1 * cost, warm=start) for start in (first, None))
    assert warm.objective == pytest.approx(cold.objective, rel=1e-3)
    assert warm.n_iter < cold.n_iter


def test_rows_without_cost_do_not_matter():
    X, y = problem()
    cost = np.where(np.arange(300) < 100, 1.0, 0.0)
    whole = solver_of(X).solve(y, cost, tol=1e-6)
    part = solver_of(X[:100]).solve(y[:100], cost[:100], tol=1e-6)
    assert whole.objective == pytest.approx(part.objective, rel=1e-5)
    np.testing.assert_allclose(whole.h, X @ whole.coef, atol=1e-9)
    assert not whole.u[100:].any()


def test_the_same_problem_gives_the_same_bits_and_the_limit_holds():
    X, y = problem()
    one, two = (solver_of(X).solve(y, np.ones(300)) for _ in range(2))
    np.testing.assert_array_equal(one.u, two.u)
    short = solver_of(X).solve(y, np.full(300, 100.0), max_iter=2)
    assert short.n_iter == 2
    assert not short.converged


def test_groups_of_neighbours_are_a_permutation_and_lead_to_the_same_end(monkeypatch):
    monkeypatch.setattr(module, "FULL_SHUFFLE", 50)
    rows = np.arange(3, 300, 2)
    shuffled = module._shuffled(rows, np.random.default_rng(0))
    np.testing.assert_array_equal(np.sort(shuffled), rows)
    assert (shuffled != rows).any()
    X, y = problem()
    solution = solver_of(X).solve(y, np.ones(300), tol=1e-5)
    a = beta_of(solution).sum(axis=1)
    h = X @ (X.T @ a)
    value = problem_of("hinge").objective(y, np.ones(300), h, a @ h, solution.thresholds)
    assert solution.objective == pytest.approx(value, rel=1e-6)


def test_float32_rows_stay_float32():
    X, y = problem()
    solver = solver_of(X.astype(np.float32))
    assert solver.data.matrix.dtype == np.float32
    solution, double = solver.solve(y, np.ones(300)), solver_of(X).solve(y, np.ones(300))
    assert solution.objective == pytest.approx(double.objective, rel=1e-4)

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from problems import SMOOTH, ordinal_problem, problem_of
from problems import kernel_newton as make
from scipy.optimize import approx_fprime

from tordinal import REDSVM
from tordinal.engines.host.gram import Gram
from tordinal.engines.host.rows import linear_rows
from tordinal.kernels import RBF, Precomputed
from tordinal.losses import Square, SquaredHinge
from tordinal.reduction import signs
from tordinal.solvers import KernelNewton, Newton, hold


@pytest.mark.parametrize("loss", SMOOTH)
@pytest.mark.parametrize("kernel", ["linear", "rbf", "perceptron"])
def test_the_gradient_vanishes_at_the_solution(loss, kernel):
    solver, y = make(loss, kernel)
    cost = np.random.default_rng(0).uniform(0.1, 3.0, len(y))
    solution = solver.solve(y, cost, tol=1e-8)
    assert solution.converged
    assert abs(solution.coefficients.sum()) < 1e-8
    K = solver.data.rows * solver.data.scale
    np.testing.assert_allclose(solution.h, K @ solution.coefficients, atol=1e-7)
    centre = np.eye(len(y)) - 1 / len(y)

    def value(v):
        a = centre @ v[: len(y)]
        return problem_of(loss).objective(y, cost, K @ a, a @ K @ a, v[len(y) :])

    at = np.concatenate([solution.coefficients, solution.thresholds])
    assert solution.objective == pytest.approx(value(at), rel=1e-10)
    assert np.abs(approx_fprime(at, value, 1e-7)).max() < 1e-3 * max(1.0, value(at))


@pytest.mark.parametrize("loss", SMOOTH)
@given(seed=st.integers(0, 500), factor=st.sampled_from([0.5, 2.0]), flips=st.integers(0, 8))
def test_warm_and_cold_starts_reach_the_same_objective(loss, seed, factor, flips):
    solver, y = make(loss, seed=seed)
    rng = np.random.default_rng(seed)
    cost = rng.choice([0.01, 1.0], len(y))
    warm = solver.solve(y, cost)
    new_y = y.copy()
    new_y[rng.choice(len(y), flips, replace=False)] = rng.integers(0, 4, flips)
    hot = solver.solve(new_y, factor * cost, warm=warm)
    cold = solver.solve(new_y, factor * cost)
    assert hot.objective == pytest.approx(cold.objective, rel=1e-5)


def test_the_thresholds_of_the_square_loss_have_a_closed_form():
    """At fixed h, t_k solves a linear equation."""
    solver, y = make(Square())
    solution = solver.solve(y, np.ones(len(y)), tol=1e-9)
    t, h, s = solution.thresholds, solution.h, signs(y, 3)
    pull = (2.0 * (h[:, None] - t - s)).sum(axis=0)  # derivative of the loss with respect to -t_k
    np.testing.assert_allclose(pull, t - t.mean(), atol=1e-6)


@pytest.mark.parametrize("loss", SMOOTH)
@pytest.mark.parametrize("tol", [1e-2, 1e-3])
def test_a_training_that_ends_by_the_preconditioner_is_within_the_tolerance(loss, tol):
    """Small changes, one after the other, each from the last solution, as after a swap."""
    solver, y = make(loss, n=200)
    cost, warm, y = np.full(200, 0.5), None, y.copy()
    for i in range(12):
        y[i] = (y[i] + 1) % 3
        warm = solver.solve(y, cost, warm=warm, tol=tol)
        best = make(loss, n=200)[0].solve(y, cost, tol=1e-7)
        assert warm.converged
        assert warm.objective <= best.objective * (1 + 2 * tol**2)


def test_max_iter_holds():
    solver, y = make(SquaredHinge())
    for limit in (1, 3):
        solution = solver.solve(y, np.full(len(y), 1e4), max_iter=limit)
        assert solution.n_iter == limit
        assert not solution.converged
        assert np.isfinite(solution.objective)


@pytest.mark.parametrize("loss", SMOOTH)
def test_a_kernel_matrix_of_low_rank(loss):
    X, y = ordinal_problem(1100, 4)
    gram = hold(Precomputed(), X @ X.T, problem_of(loss), 2500)
    assert gram.rows.dtype == np.float64  # single precision would make it indefinite
    cost = np.full(1100, 100.0)
    solution = KernelNewton(gram, problem_of(loss)).solve(y, cost)
    best = Newton(linear_rows(X), problem_of(loss)).solve(y, cost, tol=1e-5)
    assert solution.objective == pytest.approx(best.objective, rel=1e-4)


@pytest.mark.parametrize("loss", SMOOTH)
def test_constant_features_leave_the_thresholds(loss):
    y = np.array([0, 1, 2, 1] * 5)
    solution = KernelNewton(
        Gram(RBF(), np.ones((20, 2)), 10), problem_of(loss, n_thresholds=2)
    ).solve(y, np.ones(20))
    assert solution.converged
    assert np.abs(solution.coefficients).max() < 1e3
    assert np.ptp(solution.h) < 1e-9


def test_a_huge_cost_ends():
    X, y = ordinal_problem(60, 3)
    model = REDSVM(C=1e6, loss="square", kernel="linear").fit(X, y)
    assert np.isfinite(model.objective_)
    better = REDSVM(C=1e6, loss="square", kernel="linear", tol=1e-8).fit(X, y)
    assert model.objective_ == pytest.approx(better.objective_, rel=1e-6)

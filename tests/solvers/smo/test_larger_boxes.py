"""Variables that follow their bounds when costs grow."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from problems import ordinal_problem, problem_of

from tordinal.engines.host.gram import Gram
from tordinal.kernels import RBF, Perceptron
from tordinal.reduction import signs
from tordinal.solvers import SMO
from tordinal.solvers.smo import warm_starts as smo
from tordinal.solvers.smo.larger_boxes import in_larger_boxes, restore_sums


def solved(kernel, C, seed=0, n=60, tol=1e-6):
    """A solution with the Laplacian loss, and its variables."""
    X, y = ordinal_problem(n, 4, seed=seed)
    solver = SMO(Gram(kernel, X, 100), problem_of("laplacian", None, 3))
    solution = solver.solve(y, np.full(n, C), tol=tol)
    return solver, solution, solution.u * C * signs(y, 3)


@given(
    seed=st.integers(0, 20),
    C=st.sampled_from([0.1, 1.0, 30.0]),
    factor=st.floats(1.0, 10.0),
    kernel=st.sampled_from([RBF(0.3), Perceptron()]),
)
def test_variables_are_in_their_boxes_and_keep_the_sums_that_can_be_kept(seed, C, factor, kernel):
    solver, solution, beta = solved(kernel, C, seed)
    y, cost, t = solution.y, factor * solution.cost, solution.thresholds
    larger = in_larger_boxes(solver.problem, y, cost, solution.u, beta, t)
    assert np.all(np.abs(larger) <= cost[:, None] * (1 + 1e-12))
    # What was at its bound and has no free variable beside it has followed the bound.
    free = np.abs(solution.u) < 1.0
    pressed = ~free.any(axis=1)
    sums = larger.sum(axis=1)
    np.testing.assert_allclose(sums[pressed], factor * beta[pressed].sum(axis=1), atol=1e-9 * C)
    # A free variable gives way as far as its box allows.
    wanted = beta.sum(axis=1)[~pressed]
    nearest = np.abs(sums[~pressed] - wanted)
    others = np.where(free, 0.0, factor * beta).sum(axis=1)[~pressed]
    reach = cost[~pressed] * free[~pressed].sum(axis=1)
    out_of_reach = np.maximum(np.abs(wanted - others) - reach, 0.0)
    np.testing.assert_allclose(nearest, out_of_reach, atol=1e-9 * C * factor)


@given(seed=st.integers(0, 200), m=st.integers(2, 5))
def test_sums_are_restored_within_rows(seed, m):
    rng = np.random.default_rng(seed)
    n = 40
    y, bound = rng.integers(0, m + 1, n), rng.uniform(0.5, 2.0, (n, 1)) * np.ones(m)
    beta = rng.uniform(-1.0, 1.0, (n, m)) * bound
    before = beta.copy()
    excess = rng.normal(size=m)
    excess -= excess.mean()
    asked = excess.copy()
    restore_sums(beta, -bound, bound, y, rng.normal(size=(m + 1, m)), excess)
    assert np.all(np.abs(beta) <= bound + 1e-12)
    np.testing.assert_allclose(beta.sum(axis=1), before.sum(axis=1), atol=1e-12)
    np.testing.assert_allclose(before.sum(axis=0) - beta.sum(axis=0), asked - excess, atol=1e-12)
    np.testing.assert_allclose(excess, 0.0, atol=1e-6)  # there is room enough


def test_sums_are_restored_where_it_costs_least():
    """From the first threshold to the last, by way of the second: one rank pays 3, others 1 + 1."""
    y = np.array([0, 1, 2])
    beta, bound = np.zeros((3, 3)), np.ones((3, 3))
    gradient = np.array([[0.0, 1.5, 3.0], [0.0, 1.0, 9.0], [-5.0, 0.0, 1.0], [0.0, 0.0, 0.0]])
    excess = np.array([0.5, 0.0, -0.5])
    restore_sums(beta, -bound, bound, y, gradient, excess)
    assert beta.tolist() == [[0, 0, 0], [-0.5, 0.5, 0], [0, -0.5, 0.5]]
    assert excess.tolist() == [0, 0, 0]


def test_what_cannot_be_moved_stays():
    beta = np.ones((2, 2))
    restore_sums(
        beta, -np.ones((2, 2)), beta.copy(), np.array([0, 1]), np.zeros((3, 2)), np.array([1.0, -1])
    )
    assert beta.tolist() == [[1, 1], [1, 1]]


def test_a_solution_follows_its_costs_in_few_steps(monkeypatch):
    """And ends where it would have without that."""
    found = []
    for most in (smo.TUNING.larger_boxes_size, 0):
        monkeypatch.setattr(smo, "TUNING", replace(smo.TUNING, larger_boxes_size=most))
        solver, solution, _ = solved(Perceptron(), 20.0, n=200, tol=1e-3)
        solution = solver.solve(solution.y, 2.0 * solution.cost, warm=solution, tol=1e-3)
        assert solution.converged
        found.append(solution)
    assert found[0].n_iter < 0.7 * found[1].n_iter
    assert found[0].objective == pytest.approx(found[1].objective, rel=1e-3)

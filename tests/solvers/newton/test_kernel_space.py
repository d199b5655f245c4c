from dataclasses import replace

import numpy as np
import pytest
from problems import kernel_newton as make

from tordinal.losses import Logistic, Square, SquaredHinge
from tordinal.solvers.newton import kernel_space

LOSSES = [SquaredHinge(), Logistic(), Square()]


def test_the_preconditioner_is_the_inverse_where_it_was_made():
    """Of I + S K, with S the curvatures once t is eliminated."""
    solver, _ = make(SquaredHinge(), n=40)
    rng = np.random.default_rng(0)
    E = rng.uniform(0.5, 1.5, (40, 3))
    D, M, r = E.sum(axis=1), np.diag(E.sum(axis=0)) + np.eye(3), rng.normal(size=40)
    J = np.eye(40) - 1 / 40
    K = J @ solver.data.rows @ J
    whole = np.eye(40) + (np.diag(D) - E @ np.linalg.solve(M, E.T)) @ K
    r -= r.mean()
    space = kernel_space.KernelSpace(solver.data, np.arange(40))
    made = kernel_space.precondition(space, D, E, M, in_double=False)
    q, K_q = made(r, K @ r)
    assert made.accurate
    np.testing.assert_allclose(K_q, K @ np.linalg.solve(whole, r), atol=1e-4)
    np.testing.assert_allclose(K_q, K @ q, atol=1e-4)


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: type(loss).__name__)
def test_a_factor_of_some_rows_leads_to_the_same_end(loss, monkeypatch):
    whole, y = make(loss, n=200)
    cost = np.full(200, 5.0)
    best = whole.solve(y, cost, tol=1e-6)
    small = replace(kernel_space.TUNING, factored_rows=60)
    monkeypatch.setattr(kernel_space, "TUNING", small)
    solution = make(loss, n=200)[0].solve(y, cost, tol=1e-6)
    assert solution.converged
    assert solution.objective == pytest.approx(best.objective, rel=1e-7)


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: type(loss).__name__)
def test_few_heavy_rows_are_enough_for_a_preconditioner(loss):
    """As long as unlabelled rows cost little, labelled ones are factored alone."""
    solver, y = make(loss, n=200)
    cost = np.where(np.arange(200) < 20, 500.0, 1e-4)
    space = solver._space(np.arange(200))
    heavy, stretch = space.preconditioned_rows(cost)
    assert heavy.tolist() == list(range(20))
    assert stretch == 1.0
    assert len(space.preconditioned_rows(np.full(200, 5.0))[0]) == 200
    assert len(space.preconditioned_rows(np.full(200, 1e-9))[0]) == 1
    solution = solver.solve(y, cost, tol=1e-6)
    assert set(space.preconditioner.J) <= set(range(20))
    whole = make(loss, n=200)[0]
    best = whole.solve(y, cost, warm=whole.solve(y, np.full(200, 5.0)), tol=1e-6)
    assert solution.converged
    assert solution.objective == pytest.approx(best.objective, rel=1e-7)

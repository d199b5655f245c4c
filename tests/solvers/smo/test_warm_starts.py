import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from problems import ordinal_problem, problem_of

from tordinal.couplings import Explicit, Implicit, Reduction
from tordinal.engines.host.gram import Gram
from tordinal.kernels import RBF
from tordinal.reduction import signs
from tordinal.solvers import SMO
from tordinal.solvers.smo.steps import boxes
from tordinal.solvers.smo.warm_starts import WarmStarts
from tordinal.solvers.solver import Task

COUPLINGS = [Reduction(), Implicit(), Explicit()]


def task(y, cost, warm):
    return Task(y, cost, warm, 1e-3, np.inf, lambda steps, violation: None)


def solved(coupling, loss, seed, n=60):
    X, y = ordinal_problem(n, 4, seed=seed)
    solver = SMO(Gram(RBF(0.3), X, 100), problem_of(loss, coupling, 3))
    cost = np.where(np.arange(n) < 40, 1.0, 0.0)
    return solver, solver.solve(y, cost, tol=1e-4)


@pytest.mark.parametrize("coupling", COUPLINGS, ids=lambda c: type(c).__name__)
@given(
    seed=st.integers(0, 20),
    factor=st.sampled_from([0.5, 1.0, 2.0]),
    n_swapped=st.integers(0, 4),
    loss=st.sampled_from(["hinge", "laplacian"]),
)
def test_a_start_is_feasible_and_its_projections_are_those_of_its_variables(
    coupling, seed, factor, n_swapped, loss
):
    solver, warm = solved(coupling, loss, seed)
    problem, K = solver.problem, solver.data.rows
    warm = warm.times(solver.data.scale)  # as `Solver.solve` does
    y, rng = warm.y.copy(), np.random.default_rng(seed)
    y[rng.choice(60, n_swapped, replace=False)] = rng.integers(0, 4, n_swapped)
    cost = factor * np.where(warm.cost > 0, warm.cost, 0.1 * warm.cost.max())
    state = WarmStarts(solver.data, problem).state_for(task(y, cost, warm))
    lower, upper, _ = boxes(y, cost, 3, *problem.shape)
    assert (state.beta >= lower - 1e-9).all()
    assert (state.beta <= upper + 1e-9).all()
    np.testing.assert_allclose(state.h, K @ state.beta.sum(axis=1), atol=1e-6)
    partial = np.cumsum(state.c)
    assert abs(partial[-1]) <= 1e-9
    if coupling == Implicit():
        np.testing.assert_allclose(partial, 0.0, atol=1e-9)


def test_without_a_warm_start_all_variables_are_zero():
    solver, solution = solved(Reduction(), "hinge", 0)
    starts = WarmStarts(solver.data, solver.problem)
    state = starts.state_for(task(solution.y, solution.cost, None))
    assert not state.beta.any()
    assert not state.h.any()


def test_after_swaps_only_the_swapped_rows_change():
    """The same start as for any other new ranks, without passes over all rows."""
    solver, warm = solved(Reduction(), "hinge", 1)
    beta = warm.u * warm.cost[:, None] * signs(warm.y, 3)
    # Of rank 1 and 2, at opposite bounds at the threshold between these.
    i, j = (np.flatnonzero((warm.u[:, 1] == 1.0) & (warm.y == rank)) for rank in (1, 2))
    assert len(i)
    assert len(j)
    new = warm.y.copy()
    new[i[0]], new[j[0]] = 2, 1
    state = solver._starts._after_swaps(task(new, solver._starts.last[1].task.cost, warm), warm)
    assert state is not None
    others = np.setdiff1d(np.arange(60), [i[0], j[0]])
    scale = solver.data.scale
    np.testing.assert_allclose(state.beta[others], scale * beta[others], atol=1e-12)
    np.testing.assert_allclose(state.h, solver.data.rows @ state.beta.sum(axis=1), atol=1e-9)

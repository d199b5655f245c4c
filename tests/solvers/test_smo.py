import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from problems import ordinal_problem

from tordinal.kernels import Gram, Kernel
from tordinal.losses import Hinge, Laplacian
from tordinal.reduction import signs
from tordinal.solvers import SMO, smo

COUPLINGS = ["reduction", "implicit", "explicit"]


def make(kernel="rbf", loss=None, coupling="reduction", seed=0, n=50, n_classes=4, cache_size=100.0):
    X, y = ordinal_problem(n, n_classes, seed=seed)
    return SMO(Gram(Kernel(kernel, 0.3), X, cache_size), loss or Hinge(), coupling), y


def feasible(solver, solution):
    m = len(solution.thresholds)
    lower, upper, _ = solver.bounds(solution.y, solution.cost, m)
    partial = np.cumsum(solution.beta.sum(axis=0))
    inside = np.all((solution.beta >= lower - 1e-12) & (solution.beta <= upper + 1e-12))
    balanced = {
        "reduction": abs(partial[-1]) < 1e-9,
        "implicit": np.all(np.abs(partial) < 1e-9),
        "explicit": abs(partial[-1]) < 1e-9 and np.all(partial[:-1] < 1e-9),
    }[solver.coupling]
    return inside and balanced


def dual_objective(solver, solution):
    c = solution.beta.sum(axis=0)
    s = signs(solution.y, len(solution.thresholds))
    spread = c @ c if solver.coupling == "reduction" else 0.0
    return float((s * solution.beta).sum() - 0.5 * solution.coefficients @ solution.h - 0.5 * spread)


@pytest.mark.parametrize("coupling", COUPLINGS)
@pytest.mark.parametrize("loss", [Hinge(), Laplacian()], ids=["hinge", "laplacian"])
@pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
def test_the_duality_gap_closes(coupling, loss, C):
    solver, y = make(loss=loss, coupling=coupling)
    cost = C * np.random.default_rng(0).uniform(0.2, 1.0, len(y))
    solution = solver.solve(y, cost, 3, tol=1e-6)
    assert solution.converged
    assert feasible(solver, solution)
    dual = dual_objective(solver, solution)
    assert dual <= solution.objective + 1e-9
    assert solution.objective == pytest.approx(dual, rel=1e-4)
    assert np.all(np.diff(solution.thresholds) >= 0)
    np.testing.assert_allclose(solution.h, solver.gram.rows @ solution.coefficients, atol=1e-8)


@pytest.mark.parametrize("coupling", COUPLINGS)
@given(seed=st.integers(0, 1000), factor=st.sampled_from([0.5, 1.0, 2.0, 10.0]), flips=st.integers(0, 10))
def test_warm_and_cold_starts_reach_the_same_objective(coupling, seed, factor, flips):
    solver, y = make("perceptron", coupling=coupling, seed=seed)
    rng = np.random.default_rng(seed)
    cost = rng.choice([0.01, 1.0], len(y))
    warm = solver.solve(y, cost, 3, tol=1e-5)
    new_y, new_cost = y.copy(), np.where(cost < 1, factor * cost, cost)
    new_y[rng.choice(len(y), flips, replace=False)] = rng.integers(0, 4, flips)
    hot = solver.solve(new_y, new_cost, 3, warm=warm, tol=1e-5)
    cold = solver.solve(new_y, new_cost, 3, tol=1e-5)
    assert hot.objective == pytest.approx(cold.objective, rel=1e-4)
    assert feasible(solver, hot)
    np.testing.assert_allclose(hot.h, solver.gram.rows @ hot.coefficients, atol=1e-8)


def test_a_warm_start_from_zero_cost_finds_the_unlabelled_rows():
    solver, y = make("perceptron", n=80)
    cost = np.where(np.arange(80) < 20, 1.0, 0.0)
    supervised = solver.solve(y, cost, 3)
    full = np.where(cost > 0, 1.0, 1e-3)
    hot = solver.solve(y, full, 3, warm=supervised, tol=1e-6)
    assert hot.objective == pytest.approx(solver.solve(y, full, 3, tol=1e-6).objective, rel=1e-5)
    assert feasible(solver, hot)


def test_cached_rows_give_the_same_answer_as_a_full_matrix():
    full, y = make("perceptron", n=60)
    cached, _ = make("perceptron", n=60, cache_size=7 * 60 * 8 / 2**20)
    assert not cached.gram.full
    a = full.solve(y, np.ones(60), 3, tol=1e-8)
    b = cached.solve(y, np.ones(60), 3, tol=1e-8)
    np.testing.assert_allclose(a.h, b.h, atol=1e-6)
    assert a.objective == pytest.approx(b.objective, rel=1e-8)


def test_max_iter_holds_and_leaves_a_feasible_solution():
    solver, y = make(n=60)
    solution = solver.solve(y, np.full(60, 100.0), 3, max_iter=7)
    assert solution.n_iter <= 7
    assert not solution.converged
    assert feasible(solver, solution)


def test_chunks_report_progress():
    solver, y = make("perceptron", n=60)
    seen = []
    solver.solve(y, np.ones(60), 3, on_chunk=lambda steps, violation: seen.append((steps, violation)))
    assert seen
    assert all(steps > 0 for steps, _ in seen)


def test_same_input_same_output_bit_for_bit():
    results = []
    for _ in range(2):
        solver, y = make("perceptron", n=60)
        results.append(solver.solve(y, np.ones(60), 3))
    np.testing.assert_array_equal(results[0].h, results[1].h)
    np.testing.assert_array_equal(results[0].beta, results[1].beta)


@pytest.mark.parametrize("coupling", COUPLINGS)
def test_refining_reaches_rounding_accuracy(coupling):
    solver, y = make(coupling=coupling)
    rough = solver.solve(y, np.ones(len(y)), 3)
    fine = solver.refine(rough)
    assert feasible(solver, fine)
    assert fine.violation < 1e-8
    assert fine.objective <= rough.objective + 1e-12
    assert fine.objective == pytest.approx(dual_objective(solver, fine), rel=1e-8)


def test_a_violation_that_is_the_tolerance_to_the_last_bit_ends(monkeypatch):
    solver, y = make("perceptron", n=60)
    monkeypatch.setattr(smo, "take_steps", lambda *arguments: (0, -1))  # as if it found nothing to do
    solution = solver.solve(y, np.ones(60), 3)
    assert solution.n_iter == 0
    assert not solution.converged


@pytest.mark.parametrize("loss", [Hinge(), Laplacian()])
def test_a_working_set_leads_to_the_same_optimum(loss, monkeypatch):
    monkeypatch.setattr(smo, "LARGE", 100)
    monkeypatch.setattr(smo, "FEWEST", 30)
    X, y = ordinal_problem(400, 4, seed=3)
    gram = Gram(Kernel("rbf", 0.5), X, 100)
    cost = np.where(np.arange(400) < 50, 1.0, 0.05)
    with_set, plain = SMO(gram, loss), SMO(gram, loss)
    plain._work = None
    assert with_set._work.capacity == 100
    warm, cold = (solver.solve(y, cost, 3, tol=1e-5) for solver in (with_set, plain))
    assert warm.objective == pytest.approx(cold.objective, rel=1e-6)
    swapped = y.copy()
    low, high = np.flatnonzero((y == 0) & (cost < 1))[:2], np.flatnonzero((y == 1) & (cost < 1))[:2]
    swapped[low], swapped[high] = 1, 0
    for _ in range(2):  # with the same costs, the second time from rows that are kept
        warm, cold = (
            solver.solve(swapped, cost, 3, tol=1e-5, warm=last) for solver, last in ((with_set, warm), (plain, cold))
        )
        assert warm.converged
        assert warm.objective == pytest.approx(cold.objective, rel=1e-6)
        np.testing.assert_allclose(warm.h, gram.rows @ warm.coefficients, atol=1e-9)
        np.testing.assert_allclose(warm.coefficients, warm.beta.sum(axis=1), atol=1e-12)
        swapped = y
    assert len(with_set._work.index) > 0


@pytest.mark.parametrize("coupling", COUPLINGS)
def test_where_no_variable_is_at_its_bound_larger_costs_change_nothing(coupling):
    X, y = ordinal_problem(60, noise=0.0)
    solver = SMO(Gram(Kernel("rbf", 3.0), X, 100.0), Hinge(), coupling)
    first = solver.solve(y, np.full(60, 1e4), 3)
    assert np.abs(first.beta).max() < 0.5e4
    again = solver.solve(y, np.full(60, 2e4), 3, warm=first)
    assert again.n_iter == 0
    np.testing.assert_array_equal(again.beta, first.beta)
    assert feasible(solver, again)


def test_max_iter_holds_in_a_working_set(monkeypatch):
    monkeypatch.setattr(smo, "LARGE", 100)
    monkeypatch.setattr(smo, "FEWEST", 10)
    X, y = ordinal_problem(400, noise=2.0)
    solver = SMO(Gram(Kernel("rbf", 1.0), X, 100.0), Hinge())
    cost = np.full(400, 10.0)
    first = solver.solve(y, cost, 3)
    swapped = y.copy()
    swapped[:40] = y[39::-1]
    for limit in (1, 7, 50):
        assert solver.solve(swapped, cost, 3, warm=first, max_iter=limit).n_iter <= limit

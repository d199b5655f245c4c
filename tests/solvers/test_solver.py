import numpy as np
import pytest
from problems import ordinal_problem, problem_of

from tordinal.engines.host.gram import Gram
from tordinal.engines.host.rows import Rows
from tordinal.kernels import Linear
from tordinal.solvers import SMO, Newton, Solution
from tordinal.swapping import swap_labels


def test_a_solution_of_scaled_features_is_one_of_the_true_ones():
    X, y = ordinal_problem(40, 4)
    X = 8.0 * (X - X.mean(axis=0))
    cost = np.full(40, 0.1)
    plain = Newton(Rows(X), problem_of("logistic")).solve(y, cost, tol=1e-8)
    scaled = Newton(Rows(X / 8.0, scale=64.0), problem_of("logistic")).solve(y, cost, tol=1e-8)
    assert scaled.objective == pytest.approx(plain.objective, rel=1e-10)
    np.testing.assert_allclose(scaled.h, plain.h, rtol=1e-6)
    np.testing.assert_allclose(scaled.thresholds, plain.thresholds, rtol=1e-6)
    np.testing.assert_allclose(X @ scaled.coef, scaled.h, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(scaled.cost, cost)


def test_a_solution_does_not_change_with_the_arrays_it_was_made_from():
    X, y = ordinal_problem(40, 4)
    cost, given = np.ones(40), y.copy()
    solution = Newton(Rows(X), problem_of("hinge")).solve(given, cost)
    given[:] = 0
    cost *= 7.0
    np.testing.assert_array_equal(solution.y, y)
    np.testing.assert_array_equal(solution.cost, np.ones(40))


def test_what_is_not_finite_is_an_error():
    class Broken(Newton):
        def run(self, task):
            nothing = np.zeros(len(task.y))
            return Solution(nothing, np.array([np.nan]), np.nan, nothing, task.y, task.cost)

    X, y = ordinal_problem(20, 2)
    with pytest.raises(ValueError, match="not finite"):
        Broken(Rows(X), problem_of("hinge", n_thresholds=1)).solve(y, np.ones(20))


@pytest.mark.parametrize("kind", ["smo", "newton"])
@pytest.mark.parametrize("tol", [0.3, 1e-3])
def test_after_a_swap_the_objective_is_at_most_what_the_swap_alone_makes_it(kind, tol):
    X, y = ordinal_problem(120, 4, noise=1.0)
    problem, cost = problem_of("hinge"), np.full(120, 0.3)
    solver = SMO(Gram(Linear(), X, 10), problem) if kind == "smo" else Newton(Rows(X), problem)
    before = solver.solve(y, cost, tol=tol)
    swapped, n = swap_labels(
        before.h,
        before.thresholds,
        y,
        np.ones(120),
        lambda d: problem.loss.value(-d) - problem.loss.value(d),
        "single",
    )
    assert n > 0
    fit = solver.solve(swapped, cost, warm=before, tol=tol)
    alone = problem.objective(swapped, cost, before.h, norm_of(before), before.thresholds)
    assert fit.objective <= alone * (1 + 1e-12) < before.objective
    # What is said of the point is true of it, and the next training goes on from where it ended.
    value = problem.objective(swapped, cost, fit.h, norm_of(fit), fit.thresholds)
    assert fit.objective == pytest.approx(value, rel=1e-9)
    best = solver.solve(swapped, cost, tol=1e-6)
    finer = solver.solve(swapped, cost, warm=fit, tol=1e-6)
    assert finer.objective == pytest.approx(best.objective, rel=1e-5)


def norm_of(fit):
    """|w|^2."""
    return float(fit.coefficients @ fit.h if fit.coef is None else fit.coef @ fit.coef)

"""Objectives against a general convex solver (cvxpy with Clarabel)."""

import numpy as np
import pytest
from convex import convex_minimum, feature_map
from problems import ordinal_problem, problem_of

from tordinal.couplings import Explicit, Implicit, Reduction
from tordinal.engines.host.gram import Gram
from tordinal.engines.host.rows import linear_rows
from tordinal.kernels import RBF, Linear, Perceptron
from tordinal.losses import LOSSES
from tordinal.solvers import SMO, Newton, solver_for


@pytest.mark.parametrize("kernel", [Linear(), RBF(0.3), Perceptron()], ids=lambda k: k.name)
@pytest.mark.parametrize("name", sorted(LOSSES))
@pytest.mark.parametrize("seed", [0, 1])
def test_every_loss_is_optimal_with_two_costs(kernel, name, seed):
    X, y = ordinal_problem(40, 4, seed=seed)
    cost = np.where(np.arange(40) < 15, 2.0, 0.3)
    solution = solver_for(Gram(kernel, X, 10), problem_of(name)).solve(y, cost, tol=1e-4)
    best, _ = convex_minimum(feature_map(kernel(X, X)), y, cost, name, Reduction(), 3)
    assert solution.objective == pytest.approx(best, rel=1e-4)


@pytest.mark.parametrize("name", sorted(LOSSES))
def test_linear_models_in_their_features_are_optimal(name):
    X, y = ordinal_problem(40, 4, seed=2)
    cost = np.where(np.arange(40) < 15, 2.0, 0.3)
    solution = Newton(linear_rows(X), problem_of(name)).solve(y, cost, tol=1e-4)
    best, _ = convex_minimum(X - X.mean(axis=0), y, cost, name, Reduction(), 3)
    assert solution.objective == pytest.approx(best, rel=1e-4)


def disordered_problem():
    """Ranks 0 and 1 are told apart above ranks 2 and 3: free thresholds would cross."""
    rng = np.random.default_rng(3)
    y = np.repeat([0, 1, 2, 3], 9)
    X = np.array([3.0, 5.0, 2.5, 4.5])[y][:, None] + 0.3 * rng.normal(size=(36, 1))
    return X, y


@pytest.mark.parametrize("coupling", [Implicit(), Explicit()], ids=["implicit", "explicit"])
@pytest.mark.parametrize("kernel", [Linear(), RBF(0.3)], ids=["linear", "rbf"])
@pytest.mark.parametrize("problem", ["ordered", "disordered"])
def test_svor_is_optimal(coupling, kernel, problem):
    X, y = ordinal_problem(40, 4, seed=5) if problem == "ordered" else disordered_problem()
    cost = np.full(len(y), 1.5)
    solver = SMO(Gram(kernel, X, 10), problem_of("hinge", coupling))
    solution = solver.solve(y, cost, tol=1e-5)
    best, _ = convex_minimum(feature_map(kernel(X, X)), y, cost, "hinge", coupling, 3)
    assert solution.objective == pytest.approx(best, rel=1e-4)
    assert np.all(np.diff(solution.thresholds) >= 0)
    if coupling.ordered and problem == "disordered" and kernel == Linear():
        c = (
            solution.u * solver.problem.costs(y, cost) * np.sign(y[:, None] - np.arange(3) - 0.5)
        ).sum(axis=0)
        assert np.min(-np.cumsum(c)[:-1]) >= -1e-12
        assert np.max(-np.cumsum(c)) > 1e-3  # the constraint does bind here

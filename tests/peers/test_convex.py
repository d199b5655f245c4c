"""Objectives against a general convex solver (cvxpy with Clarabel)."""

import cvxpy as cp
import numpy as np
import pytest
from problems import ordinal_problem

from tordinal.kernels import Gram, Kernel, centred
from tordinal.losses import LOSSES, Hinge
from tordinal.reduction import signs
from tordinal.solvers import SMO, LinearNewton, make_solver
from tordinal.solvers.solution import beside

FORMULAS = {
    "hinge": lambda g: cp.pos(1 - g),
    "squared_hinge": lambda g: cp.square(cp.pos(1 - g)),
    "logistic": lambda g: cp.logistic(-g),
    "square": lambda g: cp.square(1 - g),
    "laplacian": lambda g: cp.abs(1 - g),
}


def convex_minimum(K, y, cost, name, coupling="reduction"):
    """The least value of (4) over w, in coordinates of the centred feature space, and t."""
    n, m = len(y), int(y.max())
    J = np.eye(n) - 1 / n
    values, vectors = np.linalg.eigh(J @ K @ J)
    F = vectors * np.sqrt(np.maximum(values, 0))
    w, t, mean = cp.Variable(n), cp.Variable(m), cp.Variable()
    s = signs(y, m)
    used = beside(y, m) if coupling == "explicit" else np.ones((n, m), dtype=bool)
    terms = []
    for k in range(m):
        rows = np.flatnonzero(used[:, k])
        margins = cp.multiply(s[rows, k], F[rows] @ w - t[k])
        terms.append(cp.sum(cp.multiply(cost[rows], FORMULAS[name](margins))))
    spread = cp.sum_squares(t - mean) if coupling == "reduction" else 0
    order = [t[:-1] <= t[1:]] if coupling == "explicit" and m > 1 else []
    problem = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(w) + 0.5 * spread + sum(terms)), order)
    return problem.solve(solver="CLARABEL")


@pytest.mark.parametrize("kernel", ["linear", "rbf", "perceptron"])
@pytest.mark.parametrize("name", sorted(LOSSES))
@pytest.mark.parametrize("seed", [0, 1])
def test_every_loss_is_optimal_with_two_costs(kernel, name, seed):
    X, y = ordinal_problem(40, 4, seed=seed)
    cost = np.where(np.arange(40) < 15, 2.0, 0.3)
    gram = Gram(Kernel(kernel, 0.3), X, 10)
    solution = make_solver(gram, LOSSES[name]()).solve(y, cost, 3, tol=1e-4)
    best = convex_minimum(gram.rows, y, cost, name)
    assert solution.objective <= best * (1 + 1e-4)
    assert solution.objective == pytest.approx(best, rel=1e-4)


@pytest.mark.parametrize("name", sorted(LOSSES))
def test_linear_models_in_their_features_are_optimal(name):
    X, y = ordinal_problem(40, 4, seed=2)
    X = centred(X)
    cost = np.where(np.arange(40) < 15, 2.0, 0.3)
    solution = LinearNewton(X, LOSSES[name]()).solve(y, cost, 3, tol=1e-4)
    best = convex_minimum(X @ X.T, y, cost, name)
    assert solution.objective == pytest.approx(best, rel=1e-4)
    assert solution.objective <= best * (1 + 1e-4)


def disordered_problem():
    """The ranks 0 and 1 are told apart above where the ranks 2 and 3 are: free thresholds would cross."""
    rng = np.random.default_rng(3)
    y = np.repeat([0, 1, 2, 3], 9)
    X = np.array([3.0, 5.0, 2.5, 4.5])[y][:, None] + 0.3 * rng.normal(size=(36, 1))
    return X, y


@pytest.mark.parametrize("coupling", ["implicit", "explicit"])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("problem", ["ordered", "disordered"])
def test_svor_is_optimal(coupling, kernel, problem):
    X, y = ordinal_problem(40, 4, seed=5) if problem == "ordered" else disordered_problem()
    cost = np.full(len(y), 1.5)
    gram = Gram(Kernel(kernel, 0.3), X, 10)
    solution = SMO(gram, Hinge(), coupling).solve(y, cost, 3, tol=1e-5)
    best = convex_minimum(gram.rows, y, cost, "hinge", coupling)
    assert solution.objective == pytest.approx(best, rel=1e-4)
    assert np.all(np.diff(solution.thresholds) >= 0)
    if coupling == "explicit" and problem == "disordered" and kernel == "linear":
        assert np.min(-np.cumsum(solution.beta.sum(axis=0))[:-1]) >= -1e-12
        assert np.max(-np.cumsum(solution.beta.sum(axis=0))) > 1e-3  # the constraint does bind here

import numpy as np
import pytest
import scipy.sparse as sp
from problems import ordinal_problem, problem_of

from tordinal import REDSVM, TOR
from tordinal.couplings import Explicit
from tordinal.engines.host.gram import Gram
from tordinal.engines.host.rows import linear_rows
from tordinal.kernels import Linear
from tordinal.losses import LOSSES
from tordinal.solvers import Newton, solver_for

NAMES = sorted(LOSSES)


def sparse_problem(n=200, d=60, seed=0):
    rng = np.random.default_rng(seed)
    X = sp.random_array((n, d), density=0.1, rng=rng, format="csr")
    score = X @ rng.normal(size=d) + 0.3 * rng.normal(size=n)
    return X, np.digitize(score, np.quantile(score, [0.3, 0.6]))


def centred(X):
    return X - X.mean(axis=0)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("sparse", [False, True])
def test_the_same_optimum_as_with_a_kernel_matrix(name, C, sparse):
    X, y = sparse_problem() if sparse else ordinal_problem(200, 3, n_features=5)
    X = X if sparse else centred(X)
    cost = C * np.random.default_rng(1).uniform(0.5, 1.5, 200)
    problem = problem_of(name, n_thresholds=2)
    in_features = Newton(linear_rows(X), problem).solve(y, cost, tol=1e-4)
    with_matrix = solver_for(Gram(Linear(), X, 100), problem).solve(y, cost, tol=1e-5)
    assert in_features.converged
    assert in_features.objective == pytest.approx(with_matrix.objective, rel=2e-4)
    np.testing.assert_allclose(in_features.h, X @ in_features.coef, atol=1e-9)
    assert np.all(np.diff(in_features.thresholds) >= 0)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("sparse", [False, True])
def test_warm_and_cold_starts_agree(name, sparse):
    X, y = sparse_problem() if sparse else ordinal_problem(200, 3, n_features=5)
    solver = Newton(linear_rows(X), problem_of(name, n_thresholds=2))
    cost = np.where(np.arange(200) < 50, 1.0, 0.01)
    warm = solver.solve(y, cost, tol=1e-5)
    new = y.copy()
    new[[60, 90, 120]] = [2, 0, 1]
    hot = solver.solve(new, 2 * cost, warm=warm, tol=1e-5)
    cold = solver.solve(new, 2 * cost, tol=1e-5)
    assert hot.objective == pytest.approx(cold.objective, rel=1e-4)


@pytest.mark.parametrize("name", NAMES)
def test_an_ordered_coupling_keeps_the_order(name):
    """Rank 1 lies above ranks 2 and 3, so free thresholds would cross."""
    rng = np.random.default_rng(3)
    y = np.repeat([0, 1, 2, 3], 9)
    X = np.array([3.0, 5.0, 2.5, 4.5])[y][:, None] + 0.3 * rng.normal(size=(36, 1))
    solution = Newton(linear_rows(X), problem_of(name, Explicit())).solve(y, np.ones(36), tol=1e-5)
    assert solution.converged
    assert (np.diff(solution.thresholds) >= 0).all()
    assert np.diff(solution.thresholds).min() < 1e-3  # the constraint binds


@pytest.mark.parametrize("loss", NAMES)
def test_estimators_of_many_rows(loss):
    X, y = ordinal_problem(1200, 3, n_features=4, seed=2)
    red = REDSVM(loss=loss).fit(X, y)
    gram = REDSVM(loss=loss, kernel="precomputed").fit(centred(X) @ centred(X).T, y)
    assert red.objective_ == pytest.approx(gram.objective_, rel=1e-3)
    np.testing.assert_allclose(red.predict_projection(X), X @ red.coef_, atol=1e-9)
    assert np.mean(red.predict(X) == red.classes_[(red.decision_function(X)).argmax(axis=1)]) == 1.0
    tor = TOR(loss=loss, swaps="all").fit(X, np.where(np.arange(1200) < 60, y, -1))
    for before, after in zip(tor.history_, tor.history_[1:], strict=False):
        if before["C2"] == after["C2"]:
            assert after["objective"] < before["objective"]


def test_projections_of_coarse_trainings_are_carried_along_and_never_far_off():
    X, y = ordinal_problem(1500, 3, n_features=200)
    solver = Newton(linear_rows(X), problem_of("hinge", n_thresholds=2))
    rng, solution = np.random.default_rng(0), None
    off = []
    for _ in range(12):
        y = y.copy()
        y[rng.integers(0, 1500, 4)] = rng.integers(0, 3, 4)
        solution = solver.solve(y, np.ones(1500), warm=solution, tol=1e-2)
        exact = centred(X) @ solution.coef
        off.append(float(np.abs(solution.h - exact).max() / np.abs(exact).max()))
    assert 0.0 < max(off) < 1e-5
    assert max(off[0], off[9]) < 1e-12  # the first one, and then every ninth


def test_projections_belong_to_w_where_a_training_went_back_to_a_better_point():
    X, y = ordinal_problem(600, 3, n_features=450)
    solver = Newton(linear_rows(X), problem_of("hinge", n_thresholds=2))
    rng, solution = np.random.default_rng(0), None
    for max_iter in (20, 40, 60, 20, 40):
        y = y.copy()
        y[rng.integers(0, 600, 30)] = rng.integers(0, 3, 30)
        solution = solver.solve(y, np.full(600, 1e3), warm=solution, tol=1e-2, max_iter=max_iter)
        at = solution if solution.next_start is None else solution.next_start
        exact = centred(X) @ at.coef
        np.testing.assert_allclose(at.h, exact, atol=1e-5 * np.abs(exact).max())


def test_max_iter_holds():
    X, y = ordinal_problem(200, 3)
    for name in NAMES:
        solver = Newton(linear_rows(X), problem_of(name, n_thresholds=2))
        for limit in (1, 3):
            solution = solver.solve(y, np.full(200, 100.0), max_iter=limit, tol=1e-12)
            assert solution.n_iter <= limit
            if name != "square":  # which takes one step
                short = solver.solve(y, np.full(200, 100.0), max_iter=1, tol=1e-12)
                assert not short.converged


@pytest.mark.parametrize("loss", ["hinge", "laplacian"])
@pytest.mark.parametrize("C", [10.0, 1e3])
def test_warm_starts_of_badly_scaled_features_end_at_the_optimum(loss, C):
    X, y = ordinal_problem(1100, 3, n_features=5, seed=1)
    X = X * [1, 100, 1e-2, 1e3, 1] + [0, 1e4, 0, 0, 0]
    hidden = np.where(np.arange(1100) < 60, y, -1)
    tor = TOR(C=C, loss=loss, swaps="optimal").fit(X, hidden)
    weight = np.where(hidden < 0, tor.history_[-1]["C2"] / C, 1.0)
    cold = REDSVM(C=C, loss=loss).fit(X, tor.transduction_, sample_weight=weight)
    assert tor.objective_ == pytest.approx(cold.objective_, rel=1e-5)


def test_thresholds_of_sparse_rows_are_the_middle_of_the_best_ones():
    X = sp.csr_array(np.array([[-3.0], [-1.0], [2.0], [9.0]]))
    problem = problem_of("hinge", n_thresholds=1)
    solver = Newton(linear_rows(X), problem)
    y, cost = np.array([0, 0, 1, 1]), np.full(4, 1e-3)  # t may be anywhere in an interval
    best = solver.refine(solver.solve(y, cost, tol=1e-6))
    assert best.thresholds == pytest.approx(
        problem.middle_thresholds(y, cost, best.h, best.thresholds), abs=1e-9
    )

import numpy as np
import pytest
import scipy.sparse as sp
from problems import ordinal_problem

from tordinal import REDSVM, TOR
from tordinal.kernels import Gram, Kernel, LinearFeatures, centred, hold_kernel
from tordinal.losses import LOSSES
from tordinal.solvers import LinearNewton, make_solver
from tordinal.solvers.linear import Smoothed

NAMES = sorted(LOSSES)


def sparse_problem(n=200, d=60, seed=0):
    rng = np.random.default_rng(seed)
    X = sp.random_array((n, d), density=0.1, rng=rng, format="csr")
    score = X @ rng.normal(size=d) + 0.3 * rng.normal(size=n)
    return X, np.digitize(score, np.quantile(score, [0.3, 0.6]))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("sparse", [False, True])
def test_the_same_optimum_as_with_a_kernel_matrix(name, C, sparse):
    X, y = sparse_problem() if sparse else ordinal_problem(200, 3, n_features=5)
    X = X if sparse else centred(X)
    cost = C * np.random.default_rng(1).uniform(0.5, 1.5, 200)
    in_features = make_solver(LinearFeatures(X), LOSSES[name]()).solve(y, cost, 2, tol=1e-4)
    with_matrix = make_solver(Gram(Kernel("linear"), X, 100), LOSSES[name]()).solve(y, cost, 2, tol=1e-5)
    assert in_features.converged
    assert in_features.objective == pytest.approx(with_matrix.objective, rel=2e-4)
    np.testing.assert_allclose(in_features.h, X @ in_features.coef, atol=1e-9)
    if name in ("hinge", "laplacian"):  # w is what its dual variables make it
        np.testing.assert_allclose(X.T @ in_features.coefficients, in_features.coef, atol=2e-3 * max(1.0, C))
    assert np.all(np.diff(in_features.thresholds) >= 0)


@pytest.mark.parametrize("name", NAMES)
def test_warm_and_cold_starts_agree(name):
    X, y = sparse_problem()
    solver = make_solver(LinearFeatures(X), LOSSES[name]())
    cost = np.where(np.arange(200) < 50, 1.0, 0.01)
    warm = solver.solve(y, cost, 2)
    new = y.copy()
    new[[60, 90, 120]] = [2, 0, 1]
    hot = solver.solve(new, 2 * cost, 2, warm=warm)
    cold = solver.solve(new, 2 * cost, 2)
    assert hot.objective == pytest.approx(cold.objective, rel=1e-4)


@pytest.mark.parametrize("box", [(0.0, 1.0), (-1.0, 1.0)])
def test_the_smoothed_loss_is_smooth_and_near(box):
    loss = Smoothed(box, 0.1)
    g = np.linspace(-2, 3, 2001)
    true = LOSSES["hinge" if box[0] == 0 else "laplacian"]()
    assert np.abs(loss.value(g) - true.value(g)).max() <= 0.1 / 4 + 1e-12
    eps = 1e-6
    np.testing.assert_allclose(loss.slope(g), (loss.value(g + eps) - loss.value(g - eps)) / (2 * eps), atol=1e-4)
    inside = np.abs(np.abs(g - 1) - 0.05) > 1e-4
    numeric = (loss.slope(g + eps) - loss.slope(g - eps)) / (2 * eps)
    np.testing.assert_allclose(loss.curvature(g)[inside], numeric[inside], atol=1e-3)


def test_who_is_solved_in_features():
    dense, tall = np.ones((50, 3)), np.ones((2000, 3))
    text = sp.random_array((2000, 500), density=0.01, format="csr")
    assert isinstance(hold_kernel(Kernel("linear"), dense, 100, smooth=True), Gram)
    assert isinstance(hold_kernel(Kernel("linear"), tall, 100, smooth=False), LinearFeatures)
    assert isinstance(hold_kernel(Kernel("linear"), text, 100, smooth=True), LinearFeatures)
    assert isinstance(hold_kernel(Kernel("linear"), text, 100, smooth=False), LinearFeatures)
    assert not sp.issparse(hold_kernel(Kernel("linear"), text[:, :50], 100, smooth=True).X)  # few features
    assert isinstance(hold_kernel(Kernel("linear"), text[:500], 100, smooth=False), Gram)
    assert isinstance(hold_kernel(Kernel("rbf"), tall, 100, smooth=True), Gram)


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


def test_max_iter_holds():
    X, y = ordinal_problem(200, 3)
    solution = LinearNewton(centred(X), LOSSES["hinge"]()).solve(y, np.full(200, 100.0), 2, max_iter=2)
    assert solution.n_iter <= 2
    assert not solution.converged


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

"""RED-SVM and TOR against scikit-learn's SVC on the extended problem."""

import numpy as np
import pytest
from problems import hide, ordinal_problem, problem_of
from sklearn.svm import SVC

from tordinal import REDSVM, TOR
from tordinal.kernels import make_kernel
from tordinal.reduction import signs


def extended_svc(K, y, cost, m, tol=1e-5):
    """Fit the extended problem of N (K-1) rows: objective of (9) or (10), h and thresholds."""
    n = len(y)
    extended = np.kron(K, np.ones((m, m))) + np.tile(np.eye(m), (n, n))
    s = signs(y, m).ravel()
    svc = SVC(kernel="precomputed", C=1.0, tol=tol, cache_size=500).fit(
        extended, s, sample_weight=np.repeat(cost, m)
    )
    beta = np.zeros(n * m)
    beta[svc.support_] = svc.dual_coef_[0]
    beta = beta.reshape(n, m)
    a, c = beta.sum(axis=1), beta.sum(axis=0)
    h, t = K @ a, -c - svc.intercept_[0]
    return problem_of("hinge", n_thresholds=m).objective(y, cost, h, a @ h, t), h, t


@pytest.mark.parametrize("kernel", ["linear", "rbf", "perceptron"])
@pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
def test_redsvm_reaches_the_objective_of_svc(kernel, C):
    X, y = ordinal_problem(80, 4)
    weight = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    model = REDSVM(C=C, kernel=kernel).fit(X, y, sample_weight=weight)
    K = make_kernel(kernel, X)(X, X)
    best, _, t = extended_svc(K, y, C * weight, 3)
    assert model.objective_ == pytest.approx(best, rel=1e-3)
    assert model.objective_ <= best * (1 + 1e-3)
    np.testing.assert_allclose(np.diff(model.thresholds_), np.diff(t), atol=5e-3)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "perceptron"])
@pytest.mark.parametrize("C", [0.5, 5.0])
def test_tor_ends_at_the_objective_of_svc_with_two_costs(kernel, C):
    X, y = ordinal_problem(80, 4)
    hidden = hide(y, 20)
    model = TOR(C=C, kernel=kernel).fit(X, hidden)
    C2 = model.history_[-1]["C2"]
    cost = np.where(hidden == -1, C2, C)
    K = make_kernel(kernel, X)(X, X)
    best, _, _ = extended_svc(K, model.transduction_, cost, 3)
    assert model.objective_ == pytest.approx(best, rel=1e-3)
    assert model.objective_ <= best * (1 + 1e-3)

"""RED-SVM and SVOR against skordinal, which wraps the original authors' C code."""

import numpy as np
import pytest
import skordinal.classifiers as peer
from problems import ordinal_problem, problem_of

from tordinal import REDSVM, SVOR
from tordinal.couplings import Explicit, Implicit
from tordinal.kernels import RBF


@pytest.mark.parametrize("kernel", ["linear", "rbf", "perceptron"])
@pytest.mark.parametrize("n_classes", [3, 5, 9])
@pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
def test_redsvm_predicts_as_skordinal(kernel, n_classes, C):
    X, y = ordinal_problem(200, n_classes, n_features=4, seed=n_classes)
    X_new, _ = ordinal_problem(200, n_classes, n_features=4, seed=99)
    ours = REDSVM(C=C, kernel=kernel).fit(X, y)
    # A hundredth of what is allowed below; with 1e-5 the C code stalls on the largest costs.
    theirs = peer.REDSVM(C=C, kernel=kernel, tol=1e-4).fit(X, y)
    # Rows within the solvers' tolerance of a threshold may fall on either side.
    distance = np.abs(ours.predict_projection(X_new)[:, None] - ours.thresholds_).min(axis=1)
    clear = distance > 5e-3
    assert clear.mean() > 0.9
    np.testing.assert_array_equal(ours.predict(X_new)[clear], theirs.predict(X_new)[clear])
    np.testing.assert_allclose(np.diff(ours.thresholds_), np.diff(theirs.thresholds_), atol=1e-2)


@pytest.mark.parametrize("constraints", ["implicit", "explicit"])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("n_classes", [3, 5])
def test_svor_predicts_as_skordinal(constraints, kernel, n_classes):
    X, y = ordinal_problem(200, n_classes, n_features=4, seed=n_classes)
    X_new, _ = ordinal_problem(400, n_classes, n_features=4, seed=98)

    def peer_kernel(A, B):
        """The C code divides a linear kernel by the feature count and adds 0.001 to k(x, x)."""
        values = A @ B.T / A.shape[1] if kernel == "linear" else RBF(0.25)(A, B)
        return values + 1e-3 * (A[:, None] == B).all(axis=2)

    ours = SVOR(C=1.0, kernel=peer_kernel, constraints=constraints).fit(X, y)
    theirs = peer.SVOR(C=1.0, kernel=kernel, gamma=0.25, constraints=constraints, tol=1e-5).fit(
        X, y
    )
    assert np.mean(ours.predict(X_new) == theirs.predict(X_new)) >= 0.995
    # A range of thresholds can be optimal: the optimum is the same if the projections agree and the
    # thresholds are as good with them.
    np.testing.assert_allclose(
        ours.predict_projection(X_new), theirs.predict_projection(X_new), atol=5e-3
    )
    a = np.zeros(200)
    a[ours.support_] = ours.dual_coef_
    h = peer_kernel(X, X) @ a
    coupling = {"implicit": Implicit(), "explicit": Explicit()}[constraints]
    problem = problem_of("hinge", coupling, n_classes - 1)
    best = problem.objective(y, np.ones(200), h, a @ h, theirs.thresholds_)
    assert ours.objective_ == pytest.approx(best, rel=1e-3)
    assert ours.objective_ <= best * (1 + 1e-3)

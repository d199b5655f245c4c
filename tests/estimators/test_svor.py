import numpy as np
import pytest
from problems import ordinal_problem, problem_of

from tordinal import SVOR
from tordinal.couplings import Explicit, Implicit


@pytest.mark.parametrize("constraints", ["implicit", "explicit"])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_the_objective_is_that_of_the_model_as_it_predicts(constraints, kernel):
    X, y = ordinal_problem(70, 4)
    model = SVOR(C=3.0, kernel=kernel, constraints=constraints).fit(X, y)
    h, t = model.predict_projection(X), model.thresholds_
    a = np.zeros(70)
    a[model.support_] = model.dual_coef_
    norm = float(model.coef_ @ model.coef_) if kernel == "linear" else float(a @ h)
    coupling = {"implicit": Implicit(), "explicit": Explicit()}[constraints]
    value = problem_of("hinge", coupling).objective(y, np.full(70, 3.0), h, norm, t)
    assert model.objective_ == pytest.approx(value, rel=1e-6)
    assert (np.diff(t) >= 0).all()


def test_two_classes_leave_nothing_to_constrain():
    X, y = ordinal_problem(60, 2)
    one, two = (SVOR(kernel="rbf", constraints=c).fit(X, y) for c in ("implicit", "explicit"))
    assert one.objective_ == pytest.approx(two.objective_, rel=1e-6)


@pytest.mark.parametrize("constraints", ["implicit", "explicit"])
@pytest.mark.parametrize("kernel", ["linear", "rbf", "perceptron"])
def test_the_order_of_the_rows_does_not_matter(constraints, kernel):
    """Of all thresholds that are best the same are taken."""
    for seed in range(15):
        rng = np.random.default_rng(seed)
        K = int(rng.integers(3, 7))
        X = np.round(2 * rng.normal(size=(60, 2))) / 2
        y = np.append(np.arange(K), rng.integers(0, K, 60 - K))
        C, order = 10.0 ** rng.integers(-2, 3), rng.permutation(60)
        one = SVOR(C=C, constraints=constraints, kernel=kernel).fit(X, y)
        two = SVOR(C=C, constraints=constraints, kernel=kernel).fit(X[order], y[order])
        rows = np.vstack([X, rng.normal(size=(300, 2))])
        np.testing.assert_allclose(one.thresholds_, two.thresholds_, atol=1e-6)
        np.testing.assert_array_equal(one.predict(rows), two.predict(rows))

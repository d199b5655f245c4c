import numpy as np
import pytest
from problems import ordinal_problem, problem_of

from tordinal import REDSVM
from tordinal.losses import LOSSES


@pytest.mark.parametrize("loss", sorted(LOSSES))
@pytest.mark.parametrize("kernel", ["linear", "rbf", "perceptron"])
def test_the_objective_is_that_of_the_model_as_it_predicts(loss, kernel):
    X, y = ordinal_problem(70, 4)
    weight = np.random.default_rng(0).uniform(0.5, 2.0, 70)
    model = REDSVM(C=3.0, kernel=kernel, loss=loss).fit(X, y, sample_weight=weight)
    h, t = model.predict_projection(X), model.thresholds_
    if kernel == "linear":
        norm = float(model.coef_ @ model.coef_)
    else:
        a = np.zeros(70)
        a[model.support_] = model.dual_coef_
        norm = float(a @ h)
    value = problem_of(loss).objective(y, 3.0 * weight, h, norm, t)
    assert model.objective_ == pytest.approx(value, rel=1e-6)


def test_a_weight_of_two_is_a_row_twice():
    X, y = ordinal_problem(50, 3)
    weight = np.ones(50)
    weight[:10] = 2.0
    weighted = REDSVM(kernel="rbf", gamma=0.3).fit(X, y, sample_weight=weight)
    twice = REDSVM(kernel="rbf", gamma=0.3).fit(np.vstack([X, X[:10]]), np.append(y, y[:10]))
    assert weighted.objective_ == pytest.approx(twice.objective_, rel=1e-6)
    np.testing.assert_allclose(
        weighted.predict_projection(X), twice.predict_projection(X), atol=1e-3
    )

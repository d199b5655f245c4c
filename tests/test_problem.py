import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from problems import SMOOTH, ordinal_problem, problem_of
from scipy.optimize import approx_fprime

from tordinal import problem as module
from tordinal import threads
from tordinal.couplings import Explicit, Implicit, Reduction
from tordinal.losses import LOSSES, PiecewiseLinear
from tordinal.reduction import signs

COUPLINGS = [Reduction(), Implicit(), Explicit()]


def point(n=20):
    rng = np.random.default_rng(0)
    _, y = ordinal_problem(n, 4)
    return y, rng.uniform(0.0, 2.0, n), rng.normal(size=n), np.array([-1.0, 0.2, 0.9])


@pytest.mark.parametrize("coupling", COUPLINGS, ids=lambda c: type(c).__name__)
@pytest.mark.parametrize("name", sorted(LOSSES))
def test_the_objective_is_equation_4(name, coupling):
    y, cost, h, t = point()
    problem, loss = problem_of(name, coupling), LOSSES[name]()
    value = 0.5 * 7.0 + coupling.penalty(t)
    for i in range(20):
        first, last = (bound[y[i]] for bound in coupling.spans(3))
        for k in range(first, last):
            g = (1 if y[i] > k else -1) * (h[i] - t[k])
            value += cost[i] * float(loss.value(np.array([g]))[0])
    assert problem.objective(y, cost, h, 7.0, t) == pytest.approx(value, rel=1e-12)
    assert problem.scaled(3.0).objective(y, 3 * cost, h, 21.0, t) == pytest.approx(3 * value)


def test_a_kink_elsewhere_counts():
    y, cost, h, t = point()
    problem = problem_of(PiecewiseLinear((-0.5, 2.0), 3.0))
    g = signs(y, 3) * (h[:, None] - t)
    value = float((cost[:, None] * np.maximum(2.0 * (3 - g), -0.5 * (3 - g))).sum())
    assert problem.losses(y, cost, h, t) == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize("coupling", COUPLINGS, ids=lambda c: type(c).__name__)
@pytest.mark.parametrize("name", SMOOTH)
def test_terms_are_derivatives_of_the_losses(name, coupling):
    y, cost, h, t = point()
    problem = problem_of(name, coupling)
    terms = problem.terms(y, cost, h, t)
    assert terms.value == pytest.approx(problem.losses(y, cost, h, t))
    in_h = approx_fprime(h, lambda h: problem.losses(y, cost, h, t), 1e-7)
    in_t = approx_fprime(t, lambda t: problem.losses(y, cost, h, t), 1e-7)
    np.testing.assert_allclose(terms.in_rows[:, 0], in_h, atol=1e-5)
    np.testing.assert_allclose(terms.in_t, in_t, atol=1e-5)
    np.testing.assert_allclose(terms.in_rows[:, 1:].sum(axis=1), terms.curvature)
    rng = np.random.default_rng(1)
    z, tau = rng.normal(size=20), rng.normal(size=3)
    slope, bend = problem.along(y, cost, h, t, z, tau, 0.3)

    def moved(step):
        return problem.losses(y, cost, h + step * z, t + step * tau)

    assert slope == pytest.approx((moved(0.3 + 1e-6) - moved(0.3 - 1e-6)) / 2e-6, rel=1e-4)
    if name != "squared_hinge":  # whose second derivative jumps
        numeric = (moved(0.3 + 1e-4) - 2 * moved(0.3) + moved(0.3 - 1e-4)) / 1e-8
        assert bend == pytest.approx(numeric, rel=1e-3)


@pytest.mark.parametrize("name", ["hinge", "square"])
def test_blocks_add_up(name, monkeypatch):
    y, cost, h, t = point(60)
    problem = problem_of(name)
    whole = problem.losses(y, cost, h, t)
    monkeypatch.setattr(module, "in_blocks", lambda n, work: threads.in_blocks(n, work, size=7))
    assert problem.losses(y, cost, h, t) == pytest.approx(whole, rel=1e-12)


@pytest.mark.parametrize("coupling", COUPLINGS, ids=lambda c: type(c).__name__)
@pytest.mark.parametrize("name", ["hinge", "laplacian"])
@given(seed=st.integers(0, 200))
def test_middle_thresholds_are_no_worse_and_in_order(name, coupling, seed):
    rng = np.random.default_rng(seed)
    _, y = ordinal_problem(20, 4)
    problem, cost, h = problem_of(name, coupling), rng.uniform(0, 2, 20), rng.normal(size=20) * 2
    t = np.sort(rng.normal(size=3))
    middle = problem.middle_thresholds(y, cost, h, t)
    assert (
        problem.objective(y, cost, h, 0.0, middle) <= problem.objective(y, cost, h, 0.0, t) + 1e-9
    )
    assert (np.diff(middle) >= 0).all()

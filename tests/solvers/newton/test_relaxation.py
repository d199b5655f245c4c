import numpy as np
import pytest
from problems import ordinal_problem, problem_of
from scipy.optimize import approx_fprime

from tordinal.couplings import Explicit, Reduction
from tordinal.losses import PiecewiseLinear
from tordinal.solvers.newton.relaxation import Relaxation

LINES = [
    PiecewiseLinear((0.0, 1.0)),
    PiecewiseLinear((-1.0, 1.0)),
    PiecewiseLinear((-0.5, 2.0), 3.0),
]


def point(seed=0, n=25):
    rng = np.random.default_rng(seed)
    _, y = ordinal_problem(n, 4)
    return y, rng.uniform(0.1, 2.0, n), 3 * rng.normal(size=n), np.array([-1.0, 0.1, 1.2])


def relaxed_value(relaxation, y, cost, h, t, u):
    """The sum of min_v loss(v) + u (v - g) + (v - g)^2 / (2 width): at the kink or on a line."""
    problem, width, total = relaxation.problem, relaxation.width, 0.0
    C, lines = problem.costs(y, cost), problem.lines
    for i, k in zip(*np.nonzero(C), strict=True):
        g = (1 if y[i] > k else -1) * (h[i] - t[k])
        v = np.array([lines.kink, *(g + width * (slope - u[i, k]) for slope in lines.box)])
        values = lines.value(v) + u[i, k] * (v - g) + (v - g) ** 2 / (2 * width)
        total += C[i, k] * values.min()
    return total


@pytest.mark.parametrize("coupling", [Reduction(), Explicit()])
@pytest.mark.parametrize("lines", LINES, ids=lambda lines: str(lines.box))
def test_the_slopes_are_those_of_the_proximal_form(lines, coupling):
    y, cost, h, t = point(n=8)
    relaxation = Relaxation(problem_of(lines, coupling), 1.5)
    low, high = lines.box
    u = np.random.default_rng(1).uniform(low, high, (8, 3))
    terms, left = relaxation.terms(y, cost, h, t, u)
    in_t = approx_fprime(t, lambda t: relaxed_value(relaxation, y, cost, h, t, u), 1e-7)
    in_h = approx_fprime(h, lambda h: relaxed_value(relaxation, y, cost, h, t, u), 1e-7)
    np.testing.assert_allclose(terms.in_t, in_t, atol=1e-4)
    np.testing.assert_allclose(terms.in_rows[:, 0], in_h, atol=1e-4)
    assert terms.value == pytest.approx(relaxation.problem.losses(y, cost, h, t))
    assert left.gap >= 0
    assert left.moved >= 0


@pytest.mark.parametrize("lines", LINES, ids=lambda lines: str(lines.box))
def test_the_derivatives_along_a_direction(lines):
    y, cost, h, t = point()
    relaxation = Relaxation(problem_of(lines), 0.7)
    u = np.full((25, 3), sum(lines.box) / 2)
    rng = np.random.default_rng(2)
    z, tau = rng.normal(size=25), rng.normal(size=3)
    terms, _ = relaxation.terms(y, cost, h, t, u)
    slope, _ = relaxation.along(y, cost, h, t, u, z, tau, 0.0)
    assert slope == pytest.approx(terms.in_rows[:, 0] @ z + terms.in_t @ tau, rel=1e-9)
    one, two = (relaxation.along(y, cost, h, t, u, z, tau, 0.2 + e)[0] for e in (-1e-6, 1e-6))
    bend = relaxation.along(y, cost, h, t, u, z, tau, 0.2)[1]
    assert bend == pytest.approx((two - one) / 2e-6, rel=1e-3)


def test_settling_leaves_multipliers_in_the_box_and_the_gap_small_at_the_optimum():
    y, cost, h, t = point()
    relaxation = Relaxation(problem_of(LINES[0]), 0.5)
    u = np.full((25, 3), 0.5)
    for _ in range(200):
        relaxation.update_multipliers(y, h, t, u)
    assert u.min() >= 0.0
    assert u.max() <= 1.0
    assert relaxation.terms(y, cost, h, t, u)[1].gap < 1e-9  # at fixed h and t u tells the slopes

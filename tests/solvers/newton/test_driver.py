import numpy as np
import pytest
from problems import problem_of

from tordinal.solvers.newton.driver import Descent, Evaluation, line_search


class Quartic(Descent):
    """sum t^4 / 4 - t, which is least at t = 1."""

    def evaluate(self, tol):
        gradient = self.t**3 - 1.0
        self.direction = -gradient / (3.0 * self.t**2 + 1e-3)
        slope = float(gradient @ self.direction)
        return Evaluation(slope, float(np.sqrt(abs(slope))), False)

    def step_length(self, slope):
        def along(step):
            t = self.t + step * self.direction
            return float((t**3 - 1.0) @ self.direction), float(3.0 * t**2 @ self.direction**2)

        return line_search(along, slope)

    def move(self, step):
        self.t = self.t + step * self.direction


def test_steps_end_at_the_minimum_and_each_is_reported():
    told = []
    descent = Quartic(problem_of("hinge", n_thresholds=3))
    steps, violation = descent.minimise(100, 1e-10, lambda *report: told.append(report))
    np.testing.assert_allclose(descent.t, 1.0, atol=1e-9)
    assert violation <= 1e-10
    assert [number for number, _ in told] == list(range(steps + 1))


def test_the_limit_holds():
    descent = Quartic(problem_of("hinge", n_thresholds=3))
    steps, violation = descent.minimise(2, 1e-10, lambda *report: None)
    assert steps == 2
    assert violation > 1e-10


@pytest.mark.parametrize("best", [1e-6, 0.3, 1.0, 5.0])
def test_line_search_finds_where_the_derivative_vanishes(best):
    step = line_search(lambda s: (s - best, 1.0), best)
    assert abs(step - best) <= 0.1 * best
    with_quadratic = line_search(lambda s: (-best, 0.0), best, linear=0.0, bend=1.0)
    assert abs(with_quadratic - best) <= 0.1 * best


def test_thresholds_that_no_row_holds_get_a_little_curvature():
    descent = Quartic(problem_of("hinge", n_thresholds=2))
    curvature = descent.curvature_in_t(np.zeros((2, 2)), np.array([0.0, 3.0]), 10.0)
    assert 0.0 < curvature[0, 0] <= 1e-11
    assert curvature[1, 1] == pytest.approx(3.0)
    assert curvature[0, 1] == 0.0

import numpy as np
import pytest
from emulated import EmulatedDevice
from problems import ordinal_problem, problem_of

from tordinal.engines.cuda.gram import CudaGram
from tordinal.kernels import RBF
from tordinal.solvers import CudaSMO, Solution
from tordinal.solvers.cuda.solution import DeviceSolution


class CountingDevice(EmulatedDevice):
    """Counts the long vectors that are copied to this machine."""

    copies = 0

    def get(self, array):
        self.copies += np.shape(array)[:1] == (60,)
        return super().get(array)


@pytest.fixture
def solved():
    X, y = ordinal_problem(60)
    device = CountingDevice()
    solver = CudaSMO(CudaGram(RBF(0.3), X, device=device), problem_of())
    before = device.copies
    solution = solver.solve(y, np.full(60, 2.0))
    assert device.copies == before
    return solver, device, solution


def test_vectors_are_copied_when_they_are_read_and_only_once(solved):
    _, device, solution = solved
    assert isinstance(solution, DeviceSolution)
    before = device.copies
    h = solution.h
    assert solution.h is h
    assert device.copies == before + 1


def test_on_the_host_it_is_the_same_solution(solved):
    solver, _, solution = solved
    plain = solution.on_host()
    assert isinstance(plain, Solution)
    for name in ("h", "thresholds", "coefficients", "u", "y", "cost"):
        np.testing.assert_array_equal(getattr(plain, name), getattr(solution, name))
    for name in ("objective", "n_iter", "violation", "converged"):
        assert getattr(plain, name) == getattr(solution, name)
    assert (plain.u >= 0).all()
    assert (plain.u <= 1).all()
    K = solver.data.values * solver.data.scale
    a = plain.coefficients
    projections = K @ a
    projections += plain.h.mean() - projections.mean()
    np.testing.assert_allclose(plain.h, projections, atol=1e-9)


def test_costs_and_objective_in_other_units(solved):
    _, _, solution = solved
    assert solution.times(1.0) is solution
    other = solution.times(4.0)
    assert other.objective == 4.0 * solution.objective
    np.testing.assert_array_equal(other.cost, 4.0 * solution.cost)
    np.testing.assert_array_equal(other.coefficients, 4.0 * solution.coefficients)
    np.testing.assert_array_equal(other.h, solution.h)

import numpy as np
import pytest
from problems import ordinal_problem, problem_of

from tordinal.couplings import Explicit, Implicit, Reduction
from tordinal.engines.host.gram import Gram
from tordinal.kernels import RBF, Perceptron, Precomputed
from tordinal.solvers import SMO
from tordinal.solvers.newton.square_root import SquareRoot


@pytest.mark.parametrize("coupling", [Reduction(), Implicit(), Explicit()], ids=str)
@pytest.mark.parametrize("kernel", [RBF(0.3), Perceptron()], ids=lambda k: k.name)
def test_the_same_optimum_as_smo_cold_and_warm(kernel, coupling):
    X, y = ordinal_problem(60, 4)
    problem, cost = problem_of("hinge", coupling), np.ones(60)
    solver, plain = SMO(Gram(kernel, X, 10), problem), SMO(Gram(kernel, X, 10), problem)
    solver._root = SquareRoot.of(solver.data, solver.problem)
    peer = plain.solve(y, cost, tol=1e-6)
    cold = solver.solve(y, cost, tol=1e-6)
    swapped = y.copy()
    swapped[[3, 17]] = y[[17, 3]]
    warm, warm_peer = (
        solver.solve(swapped, cost, warm=cold, tol=1e-6),
        plain.solve(swapped, cost, tol=1e-6),
    )
    K = kernel(X, X)
    for solution, expected in ((cold, peer), (warm, warm_peer)):
        assert solution.objective == pytest.approx(expected.objective, rel=1e-5)
        np.testing.assert_allclose(solution.h, K @ solution.coefficients, atol=1e-7)
        assert abs(solution.coefficients.sum()) < 1e-9


def test_there_is_none_of_an_indefinite_kernel():
    K = -np.eye(5)
    K[0, 1] = K[1, 0] = 3.0
    assert SquareRoot.of(Gram(Precomputed(), K, 10), problem_of("hinge")) is None

import numpy as np
import pytest
from problems import ordinal_problem, problem_of
from scipy.optimize import approx_fprime

from tordinal.engines.base import Block
from tordinal.engines.host.dense import DenseBlock
from tordinal.solvers.newton import terms
from tordinal.solvers.newton.relaxation import Relaxation


def block_of(loss):
    """A block of rows at some w with a direction, and what is minimised there."""
    X, y = ordinal_problem(30, 3)
    rng, problem = np.random.default_rng(0), problem_of(loss, n_thresholds=2)
    block = Block(DenseBlock(X))
    block.y, block.cost, block.h = y, rng.uniform(0.5, 2.0, 30), X @ rng.normal(size=3)
    block.u = np.full((30, 2), 0.5)
    kind = terms.Smooth(problem) if problem.smooth else terms.Proximal(Relaxation(problem, 0.5))
    terms.project_direction(block, rng.normal(size=3))
    return block, kind, np.array([-0.3, 0.4]), np.array([0.2, -0.1])


@pytest.mark.parametrize("loss", ["squared_hinge", "logistic", "hinge", "laplacian"])
def test_slopes_and_curvatures_along_a_direction_are_those_of_finite_steps(loss):
    block, kind, t, tau = block_of(loss)
    slope, bend = terms.slope_along(block, kind, t, tau, 0.0)
    summed = terms.evaluate_terms(block, kind, t)
    assert slope == pytest.approx(block.pull @ block.z + summed.in_t @ tau)
    step = 1e-6
    ahead, _ = terms.slope_along(block, kind, t, tau, step)
    assert bend == pytest.approx((ahead - slope) / step, rel=1e-4)
    terms.take_step(block, 1.0)
    moved = terms.slope_along(block, kind, t + tau, tau, 0.0)
    terms.take_step(block, -1.0)
    assert terms.slope_along(block, kind, t, tau, 1.0) == pytest.approx(moved)


def test_the_products_of_a_smooth_loss_are_its_gradient():
    block, kind, t, _ = block_of("logistic")
    X, w = block.X.rows, np.linalg.lstsq(block.X.rows, block.h, rcond=None)[0]
    summed = terms.evaluate_terms(block, kind, t)

    def value(w):
        return kind.problem.losses(block.y, block.cost, X @ w, t)

    assert summed.value == pytest.approx(value(w))
    np.testing.assert_allclose(summed.products[:, 0], approx_fprime(w, value, 1e-7), rtol=1e-4)


def test_multipliers_move_only_where_the_loss_has_kinks():
    for loss, moves in (("hinge", True), ("logistic", False)):
        block, kind, t, _ = block_of(loss)
        before = block.u.copy()
        terms.update_multipliers(block, kind, t)
        assert (np.abs(block.u - before).max() > 0.1) == moves

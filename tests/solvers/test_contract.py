"""Every solver keeps the contract: see `contract`."""

import pytest
from contract import COMBINATIONS, draw, verdict

from tordinal.couplings import Explicit, Implicit, Reduction
from tordinal.solvers import SMO, KernelNewton, Newton


def name_of(combination):
    solver, form, loss, coupling = combination
    return f"{solver.__name__}-{form}-{loss}-{type(coupling).__name__}"


@pytest.mark.parametrize("combination", COMBINATIONS, ids=name_of)
@pytest.mark.parametrize("seed", range(4))
def test_a_problem_of_ordinary_size_is_solved(combination, seed):
    found = verdict(draw(seed, combination, mild=True))
    assert found.broken == []
    assert found.converged
    assert found.compared


@pytest.mark.parametrize("combination", COMBINATIONS, ids=name_of)
@pytest.mark.parametrize("seed", range(100, 104))
def test_an_extreme_one_ends_with_the_truth(combination, seed):
    """At the optimum, or with word that it is not."""
    assert verdict(draw(seed, combination)).broken == []


@pytest.mark.parametrize(
    ("seed", "combination"),
    [
        (1027, (SMO, "gram", "hinge", Implicit())),
        (1136, (SMO, "gram", "hinge", Explicit())),
        (1210, (KernelNewton, "partial gram", "square", Reduction())),
        (1580, (KernelNewton, "gram", "logistic", Reduction())),
        (3745, (KernelNewton, "partial gram", "squared_hinge", Implicit())),
        (4861, (SMO, "gram", "hinge", Implicit())),
        (5812, (Newton, "dense", "logistic", Implicit())),
        (8661, (KernelNewton, "partial gram", "logistic", Implicit())),
        (14156, (SMO, "partial gram", "hinge", Explicit())),
        (9735, (KernelNewton, "gram", "logistic", Implicit())),
    ],
)
def test_problems_that_were_once_solved_wrongly(seed, combination):
    """Kernel values below rounding, lost warm starts, an indefinite preconditioner, weights whose
    sum is not quite 0 far from the origin, a norm lost in rounding, overflow, an updated factor."""
    found = verdict(draw(seed, combination))
    assert found.broken == []
    assert not found.rejected

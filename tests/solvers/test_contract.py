"""Every solver keeps its promises: see `contract` for what they are."""

import pytest
from contract import COMBINATIONS, broken_promises, draw


def name_of(combination):
    solver, form, loss, coupling = combination
    return f"{solver.__name__}-{form}-{loss}-{type(coupling).__name__}"


@pytest.mark.parametrize("combination", COMBINATIONS, ids=name_of)
@pytest.mark.parametrize("seed", range(4))
def test_a_problem_of_ordinary_size_is_solved(combination, seed):
    case = draw(seed, combination, mild=True)
    broken, converged = broken_promises(case)
    assert broken == []
    assert converged


@pytest.mark.parametrize("combination", COMBINATIONS, ids=name_of)
@pytest.mark.parametrize("seed", range(100, 104))
def test_an_extreme_one_ends_with_the_truth(combination, seed):
    """At the optimum, or with word that it is not."""
    assert broken_promises(draw(seed, combination))[0] == []

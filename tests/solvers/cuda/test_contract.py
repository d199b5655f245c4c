"""The promises of `contract` on a GPU, and a few of them with the kernels compiled for the CPU."""

from dataclasses import replace

import pytest
from contract import CUDA_COMBINATIONS, draw, verdict
from emulated import EmulatedDevice

from tordinal.engines.cuda.device import find_device


def name_of(combination):
    solver, _, loss, coupling = combination
    return f"{solver.__name__}-{loss}-{type(coupling).__name__}"


def case(seed, combination, device, mild=False):
    return replace(draw(seed, combination, mild=mild), device=device)


@pytest.mark.parametrize("combination", CUDA_COMBINATIONS, ids=name_of)
@pytest.mark.parametrize("seed", [0, 100])
def test_problems_are_solved_or_the_truth_is_told(combination, seed):
    found = verdict(case(seed, combination, EmulatedDevice(), mild=seed < 100))
    assert found.broken == []
    assert found.converged or seed >= 100


@pytest.mark.cuda
@pytest.mark.parametrize("combination", CUDA_COMBINATIONS, ids=name_of)
@pytest.mark.parametrize("seed", range(10))
def test_a_problem_of_ordinary_size_is_solved(combination, seed):
    found = verdict(case(seed, combination, find_device(), mild=True))
    assert found.broken == []
    assert found.converged


@pytest.mark.cuda
@pytest.mark.parametrize("combination", CUDA_COMBINATIONS, ids=name_of)
@pytest.mark.parametrize("seed", range(100, 130))
def test_an_extreme_one_ends_with_the_truth(combination, seed):
    """C from 1e-6 to 1e6, features times 1e-8 to 1e8, and sometimes 1e-150 to 1e150."""
    assert verdict(case(seed, combination, find_device())).broken == []

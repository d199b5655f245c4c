"""The promises of `contract` on a GPU, and a few of them with the kernels compiled for the CPU."""

from dataclasses import replace

import numpy as np
import pytest
from contract import CUDA_COMBINATIONS, draw, verdict
from emulated import EmulatedDevice
from problems import ordinal_problem, problem_of

from tordinal.couplings import Explicit, Implicit, Reduction
from tordinal.engines.cuda.device import find_device
from tordinal.engines.cuda.gram import CudaGram
from tordinal.engines.host.gram import Gram
from tordinal.kernels import make_kernel
from tordinal.solvers import CudaSMO, solver_for
from tordinal.solvers.cuda import smo


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


# As many blocks as records: the more, the larger the working set.
DEVICES = {"one block": EmulatedDevice, "twelve blocks": lambda: EmulatedDevice(12)}
COUPLINGS = [Reduction(), Implicit(), Explicit()]


@pytest.fixture(params=[*DEVICES, pytest.param("cuda", marks=pytest.mark.cuda)])
def device(request):
    return DEVICES[request.param]() if request.param in DEVICES else find_device()


def both(device, loss="hinge", coupling=None, n=80, n_classes=4, seed=0):
    """The solver of the host and that of the device on one problem, and ranks."""
    X, y = ordinal_problem(n, n_classes, seed=seed)
    problem = problem_of(loss, coupling or Reduction(), n_classes - 1)
    kernel = make_kernel("rbf", X, 0.3)
    on_device = solver_for(CudaGram(kernel, X, device=device), problem)
    assert isinstance(on_device, CudaSMO)
    return solver_for(Gram(kernel, X, 100.0), problem), on_device, y


@pytest.mark.parametrize("coupling", COUPLINGS, ids=lambda c: type(c).__name__)
@pytest.mark.parametrize("loss", ["hinge", "laplacian"])
def test_the_objective_is_that_of_the_host(device, loss, coupling):
    host, ours, y = both(device, loss, coupling)
    cost = np.random.default_rng(0).choice([0.0, 0.3, 1.0, 20.0], len(y))
    warm = None
    for tol in (1e-3, 1e-8):
        here = host.solve(y, cost, tol=tol)
        there = ours.solve(y, cost, tol=tol, warm=warm)
        assert there.converged
        assert there.objective == pytest.approx(here.objective, rel=10 * tol)
        warm = there
    np.testing.assert_allclose(there.h, here.h, atol=1e-4)
    np.testing.assert_allclose(there.thresholds, here.thresholds, atol=1e-3)


@pytest.mark.parametrize("loss", ["hinge", "laplacian"])
def test_a_training_after_a_swap_continues_the_last_one(device, loss):
    host, ours, y = both(device, loss, n=120)
    cost = np.full(len(y), 0.5)
    fit = ours.solve(y, cost, tol=1e-6)
    swapped = y.copy()
    i, j = np.flatnonzero(y == 1)[3], np.flatnonzero(y == 2)[5]
    swapped[[i, j]] = 2, 1
    after = ours.solve(swapped, cost, warm=fit, tol=1e-6)
    cold = host.solve(swapped, cost, tol=1e-6)
    assert after.objective == pytest.approx(cold.objective, rel=1e-4)
    assert after.n_iter < ours.solve(swapped, cost, tol=1e-6).n_iter
    larger = ours.solve(swapped, 2.0 * cost, warm=after, tol=1e-6)
    assert larger.objective == pytest.approx(
        host.solve(swapped, 2.0 * cost, tol=1e-6).objective, rel=1e-4
    )


def test_projections_do_not_drift(device, monkeypatch):
    """h is updated with every step, and must be what the coefficients say in the end."""
    _, ours, y = both(device, n=150)
    monkeypatch.setattr(smo, "CUDA", replace(smo.CUDA, refresh_after=50))
    fit = ours.solve(y, np.full(len(y), 30.0), tol=1e-6)
    assert fit.converged
    assert fit.n_iter > 100
    true = ours.data.times(fit.coefficients) * ours.data.scale
    np.testing.assert_allclose(fit.h, true - true.mean() + fit.h.mean(), atol=1e-9)


def test_an_iteration_limit_is_kept_and_reported(device):
    _, ours, y = both(device)
    fit = ours.solve(y, np.full(len(y), 10.0), tol=1e-9, max_iter=5)
    assert not fit.converged
    assert fit.n_iter <= 5
    assert np.isfinite(fit.objective)


def test_large_problems_start_from_a_sample(device, monkeypatch):
    small = replace(smo.TUNING, sampled_from=60, sample_stride=4)
    monkeypatch.setattr(smo, "TUNING", small)
    host, ours, y = both(device, n=200)
    cost = np.ones(len(y))
    tasks, run = [], ours.run
    monkeypatch.setattr(ours, "run", lambda task: tasks.append(task) or run(task))
    fit = ours.solve(y, cost, tol=1e-6)
    assert [int((task.cost > 0).sum()) for task in tasks[:2]] == [200, 50]
    assert fit.objective == pytest.approx(host.solve(y, cost, tol=1e-6).objective, rel=1e-5)

"""Estimators with their kernel matrix on a GPU: the same models as on this machine."""

import gc
import pickle

import numpy as np
import pytest
from emulated import EmulatedDevice, use_instead_of_a_gpu
from problems import hide, ordinal_problem

from tordinal import MTSVM, REDSVM, SVOR, TOR, TORCV
from tordinal.engines.cuda.device import find_device
from tordinal.losses import LOSSES

N = 150
pytestmark = pytest.mark.filterwarnings("error::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(params=["emulated", pytest.param("cuda", marks=pytest.mark.cuda)])
def device(request, monkeypatch):
    if request.param == "cuda":
        return find_device()
    device = EmulatedDevice(2)
    use_instead_of_a_gpu(monkeypatch, device)
    return device


@pytest.fixture(scope="module")
def problem():
    X, y = ordinal_problem(N, 4, noise=0.7)
    return X, hide(y, 40)


def fits(estimator, X, y, **params):
    return [estimator(engine=engine, **params).fit(X, y) for engine in ("host", "cuda")]


@pytest.mark.parametrize("loss", sorted(LOSSES))
@pytest.mark.parametrize("kernel", ["perceptron", "rbf"])
def test_redsvm(device, problem, loss, kernel):
    host, ours = fits(REDSVM, *problem, loss=loss, kernel=kernel, tol=1e-7)
    assert ours.objective_ == pytest.approx(host.objective_, rel=1e-5)
    np.testing.assert_allclose(
        ours.predict_projection(problem[0]), host.predict_projection(problem[0]), atol=2e-3
    )


@pytest.mark.parametrize("constraints", ["implicit", "explicit"])
def test_svor(device, problem, constraints):
    host, ours = fits(SVOR, *problem, constraints=constraints, tol=1e-7)
    assert ours.objective_ == pytest.approx(host.objective_, rel=1e-5)
    np.testing.assert_array_equal(ours.predict(problem[0]), host.predict(problem[0]))


@pytest.mark.parametrize("swaps", ["single", "all", "optimal", 5])
@pytest.mark.parametrize("loss", ["hinge", "laplacian", "squared_hinge"])
def test_tor(device, problem, loss, swaps):
    host, ours = fits(TOR, *problem, loss=loss, swaps=swaps, tol=1e-7)
    assert ours.objective_ == pytest.approx(host.objective_, rel=1e-5)
    assert np.mean(ours.transduction_ == host.transduction_) >= 0.99
    np.testing.assert_array_equal(
        np.unique(ours.transduction_, return_counts=True)[1],
        np.unique(host.transduction_, return_counts=True)[1],
    )


def test_mtsvm(device, problem):
    host, ours = fits(MTSVM, *problem, tol=1e-6)
    assert np.mean(ours.predict(problem[0]) == host.predict(problem[0])) >= 0.98


@pytest.mark.parametrize("fewest", [1, 10**6])
def test_torcv(device, problem, fewest, monkeypatch):
    """Its many small trainings stay on this machine."""
    monkeypatch.setattr("tordinal.search.data.FEWEST_ROWS", fewest)
    params = {"C": (0.1, 1.0), "kernel": ("rbf",), "loss": ("hinge",), "ensemble_size": 2}
    host, ours = fits(TORCV, *problem, **params)
    members = {member.engine for member in ours.estimators_}
    assert members == {"cuda" if fewest == 1 else "host"}
    assert np.mean(ours.predict(problem[0]) == host.predict(problem[0])) >= 0.98


@pytest.mark.parametrize("kernel", ["precomputed", lambda A, B: A @ B.T])
def test_kernels_of_the_user(device, problem, kernel):
    X, y = problem
    rows = X @ X.T if kernel == "precomputed" else X
    host, ours = fits(TOR, rows, y, kernel=kernel, tol=1e-7)
    assert ours.objective_ == pytest.approx(host.objective_, rel=1e-5)
    np.testing.assert_array_equal(ours.predict(rows[:9]), host.predict(rows[:9]))


def test_memory_is_free_after_a_fit_and_models_are_those_of_the_host(device, problem):
    X, y = problem
    model = TOR(kernel="rbf", engine="cuda").fit(X, y)
    gc.collect()
    if isinstance(device, EmulatedDevice):
        assert device.released
    else:
        assert device.xp.get_default_memory_pool().used_bytes() == 0
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert again.predict_proba(X).shape == (N, 4)


def test_a_model_of_before_there_were_engines_uses_the_host(problem):
    state = REDSVM().fit(*problem).__getstate__()
    del state["engine"]
    old = REDSVM.__new__(REDSVM)
    old.__setstate__(state)
    assert old.engine == "host"
    assert old.predict(problem[0]).shape == (N,)


def test_an_unknown_engine_is_an_error(problem):
    with pytest.raises(ValueError, match=r"'engine' parameter .* must be a str among"):
        TOR(engine="gpu").fit(*problem)

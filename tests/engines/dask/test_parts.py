"""Faults on a real cluster of processes: the run ends with the same result, or says why not."""

import gc
import os
import signal
import time
import warnings

import dask.array as da
import numpy as np
import pytest
from clusters import in_blocks
from problems import hide, ordinal_problem

from tordinal.dask import REDSVM, TOR
from tordinal.engines.dask import parts

SETTINGS = {"loss": "squared_hinge", "swaps": "all", "C2_start": 0.05, "tol": 1e-7}


def test_bytes_of_messages_are_counted(processes):
    X, y = ordinal_problem(60, 3)
    model = REDSVM(loss="squared_hinge").fit(da.from_array(X, chunks=(20, -1)), y)
    # At the least w goes out and a gradient comes back, with every step, to and from a worker.
    assert model.n_bytes_ > 2 * 8 * X.shape[1] * model.n_iter_


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch):
    monkeypatch.setattr(parts, "PAUSE", 0.2)


def problem():
    X, y = ordinal_problem(200, 3, seed=1)
    return in_blocks(X, [50, 50, 50, 50]), hide(y, 50)


def kill_one(client):
    os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)


def fit_with_faults(settings, X, y):
    """A fit in which a worker is lost, and what the same fit gives without."""
    expected = TOR(**settings).fit(X, y)
    labels = expected.transduction_.compute()

    def check(**more):
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            model = TOR(**settings, **more).fit(X, y)
        assert any("a worker was lost" in str(w.message) for w in said)
        np.testing.assert_allclose(model.objective_, expected.objective_, rtol=1e-6)
        np.testing.assert_array_equal(model.transduction_.compute(), labels)
        assert len(model.history_) == len(expected.history_)

    return check


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("loss", "start", "levels"), [("squared_hinge", 0.05, {2, 3}), ("hinge", 0.5, {0})]
)
def test_workers_killed_in_the_middle_of_a_fit_change_nothing(processes, loss, start, levels):
    """At two levels, or before there is a snapshot, with the multipliers of the labelled rows."""
    X, y = problem()
    left = set(levels)

    def kill(what, done, total):
        if done in left:
            left.remove(done)
            kill_one(processes)

    fit_with_faults({**SETTINGS, "loss": loss, "C2_start": start}, X, y)(callback=kill)
    assert not left


@pytest.mark.filterwarnings("ignore")
def test_a_worker_killed_while_a_snapshot_is_made_changes_nothing(processes, monkeypatch):
    """The level before it is repeated."""
    X, y = problem()
    check = fit_with_faults(SETTINGS, X, y)
    in_time = parts.Parts._in_time

    def killing(self, tasks):
        if self.version == 4 and self.epoch == 1:
            kill_one(processes)
            time.sleep(0.3)
        return in_time(self, tasks)

    monkeypatch.setattr(parts.Parts, "_in_time", killing)
    check()


def test_ctrl_c_leaves_nothing_behind(processes):
    gc.collect()  # what is left of models of other tests
    X, y = problem()

    def interrupt(what, done, total):
        if done == 2:
            raise KeyboardInterrupt

    model = TOR(**SETTINGS, callback=interrupt)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert not hasattr(model, "coef_")
    deadline = time.monotonic() + 30
    while any(processes.processing().values()) or any(processes.has_what().values()):
        assert time.monotonic() < deadline, processes.has_what()
        time.sleep(0.1)

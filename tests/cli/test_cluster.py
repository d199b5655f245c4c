"""``--scheduler``: the same answers on a cluster, and a clear word where there is none."""

import os
import signal
import sys
import threading
import time

import joblib
import numpy as np
import pandas as pd
import pytest
from clusters import start
from commands import run
from distributed import Client
from problems import hide, ordinal_problem

from tordinal import TORCV
from tordinal.engines.host.gram import Gram
from tordinal.kernels import Linear

FAST = ["--kernel", "linear", "--loss", "hinge"]


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("cluster") / "t.csv"
    X, y = ordinal_problem(90, 3)
    frame = pd.DataFrame(X, columns=["a", "b", "c"][: X.shape[1]])
    frame["grade"] = np.where(hide(y, 40) == -1, "", y.astype(str))
    frame.to_csv(path, index=False)
    return path


def test_label_on_a_cluster_is_label(table, tmp_path):
    run("label", table, "--target", "grade", "-o", tmp_path / "here.csv", *FAST)
    there = tmp_path / "there.csv"
    with start(2, processes=True) as cluster:
        address = cluster.scheduler_address
        done = threading.Event()

        def kill():
            with Client(address) as client:
                while not any(client.processing().values()) and not done.is_set():
                    time.sleep(0.01)
                os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)

        thread = threading.Thread(target=kill)
        thread.start()
        run("label", table, "--target", "grade", "-o", there, *FAST, "--scheduler", address)
        done.set()
        thread.join()
    assert there.read_bytes() == (tmp_path / "here.csv").read_bytes()


def test_no_scheduler_is_reported_at_once(table, tmp_path, monkeypatch):
    from tordinal.cli import cluster

    monkeypatch.setattr(cluster, "TIMEOUT", "1s")
    shared = ["label", table, "--target", "grade", "-o", tmp_path / "o.csv"]
    said = run(*shared, "--scheduler", "tcp://127.0.0.1:9", code=2)
    assert "no Dask scheduler with workers answers there" in said.output
    assert not (tmp_path / "o.csv").exists()


def test_what_tasks_share_is_sent_once_and_searches_agree():
    X, y = ordinal_problem(120, 3)
    hidden = hide(y, 40)
    assert Gram(Linear(), X, 10).__sizeof__() > 120 * 120 * 4
    settings = {"C": [0.1, 1.0], "kernel": ["linear"], "loss": "hinge"}
    expected = TORCV(**settings).fit(X, hidden)
    with start(2, processes=False) as cluster, Client(cluster):
        with joblib.parallel_config(backend="dask"):
            there = TORCV(**settings).fit(X, hidden)
        scattered = [key for key in cluster.scheduler.tasks if "delayed" not in str(key)]
    np.testing.assert_array_equal(there.transduction_, expected.transduction_)
    assert len(scattered) < 20


def test_the_study_on_a_cluster(tmp_path):
    shared = ["reproduce", "fig7", "--realizations", "1", "--quiet", "--out"]
    from tordinal.experiments import cells

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cells, "STRENGTHS", (0.5,))
        run(*shared, tmp_path / "there", "--scheduler", "local")
        run(*shared, tmp_path / "here")
    kept = ["study", "dataset", "method", "labels", "seed", "setting", "zero_one", "mae"]
    there, here = (
        pd.read_json(tmp_path / name / "results.jsonl", lines=True)[kept]
        for name in ("there", "here")
    )
    pd.testing.assert_frame_equal(there, here)


def test_a_missing_extra_is_a_line_with_the_command_that_helps(table, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    shared = ["label", table, "--target", "grade", "-o", tmp_path / "o.csv", *FAST]
    said = run(*shared, "--scheduler", "local", code=2).output
    assert 'pip install "tordinal[dask]"' in said
    assert "Traceback" not in said
    assert not (tmp_path / "o.csv").exists()

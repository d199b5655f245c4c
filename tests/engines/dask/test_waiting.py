"""What is lost or too much is named, and nothing is waited for in vain."""

import subprocess
import sys
import time

import dask
import dask.array as da
import pytest
from clusters import in_blocks
from distributed import Client
from problems import hide, ordinal_problem

from tordinal.dask import TOR
from tordinal.engines.dask import parts, waiting
from tordinal.engines.dask.waiting import NoSchedulerError

SETTINGS = {"loss": "squared_hinge", "C2_start": 0.05}


def problem():
    X, y = ordinal_problem(200, 3, seed=1)
    return in_blocks(X, [50, 50, 50, 50]), hide(y, 50)


def test_a_block_that_takes_too_much_memory_is_named(client):
    def too_much():
        raise MemoryError("no more")

    X, y = problem()
    block = da.from_delayed(dask.delayed(too_much)(), shape=(50, X.shape[1]), dtype=float)
    with pytest.raises(MemoryError, match=r"block 1 of X took more memory.*smaller blocks"):
        TOR(**SETTINGS).fit(da.concatenate([X[:50], block]), y[:100])


def test_a_scheduler_that_goes_is_noticed(tmp_path, monkeypatch):
    monkeypatch.setattr(waiting, "TIMEOUT", 2.0)
    for module in (parts, waiting):
        monkeypatch.setattr(module, "PATIENCE", 1.0)
    file = tmp_path / "scheduler.json"
    run = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--port", "0", "--no-dashboard"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    scheduler = subprocess.Popen([*run, "--scheduler-file", str(file)], **quiet)
    work = [
        sys.executable,
        "-m",
        "distributed.cli.dask_worker",
        "--nthreads",
        "1",
        "--no-dashboard",
    ]
    worker = subprocess.Popen([*work, "--scheduler-file", str(file)], **quiet)
    try:
        while not file.exists():
            assert scheduler.poll() is None
            time.sleep(0.1)
        with Client(scheduler_file=str(file), timeout="20s") as client:
            client.wait_for_workers(1, timeout=20)
            X, y = problem()

            def kill(what, done, total):
                if done == 2 and scheduler.poll() is None:
                    scheduler.kill()
                    scheduler.wait()

            began = time.monotonic()
            with pytest.raises(NoSchedulerError, match="scheduler"):
                TOR(**SETTINGS, callback=kill, client=client).fit(X, y)
            assert time.monotonic() - began < 60
    finally:
        for process in (worker, scheduler):
            process.kill()
            process.wait()

"""Waiting for a cluster: which results have arrived, which are lost, and when to give up."""

import time
from typing import Any

import numpy as np

__all__ = [
    "LostWorkerError",
    "NoSchedulerError",
    "finished",
    "lost",
    "wait_for_scheduler",
    "wait_for_workers",
]

PATIENCE = 5.0  # seconds between two checks of workers and scheduler
TIMEOUT = 40.0  # seconds without a scheduler after which a fit gives up


class LostWorkerError(RuntimeError):
    """A worker and its rows were lost."""


class NoSchedulerError(RuntimeError):
    """The scheduler was lost."""


def wait_for_scheduler(client: Any) -> None:
    """Wait for a scheduler that does not answer; raise an error after a while."""
    began = time.monotonic()
    while client.status != "running":
        if time.monotonic() - began > TIMEOUT or client.status == "closed":
            raise NoSchedulerError(
                f"the Dask scheduler at {client.scheduler.address} does not answer: start "
                "it again and fit again; nothing was written"
            )
        time.sleep(0.5)


def wait_for_workers(client: Any) -> None:
    """Wait for a scheduler or workers that do not answer; raise an error after a while."""
    wait_for_scheduler(client)
    if not client.nthreads():
        time.sleep(PATIENCE)
        if not client.nthreads():
            raise RuntimeError("the Dask cluster has no worker left: start one and fit again")


def lost(future: Any, what: str, remedy: str) -> Exception:
    """The error to raise for a future without a result."""
    if future.status != "error":
        return LostWorkerError(f"{what}: {future.status}")
    error: Exception = future.exception()
    if type(error).__name__ == "KilledWorker" or isinstance(error, MemoryError):
        clearer = MemoryError(
            f"{what} took more memory than a worker has: {remedy} or workers with a larger "
            "memory_limit"
        )
        clearer.__cause__ = error
        return clearer
    return error


def finished(client: Any, futures: list[Any], stalled: float = np.inf) -> bool:
    """Wait until all futures are done; an error names the block or the lost worker.

    Return False if none has been done for `stalled` seconds.
    """
    from distributed import wait

    since, there = time.monotonic(), 0
    while True:
        try:
            wait(futures, timeout=min(PATIENCE, stalled))
        except TimeoutError:
            wait_for_workers(client)
            now = sum(future.done() for future in futures)
            if now > there:
                since, there = time.monotonic(), now
            if time.monotonic() - since >= stalled:
                return False
            continue
        break
    for number, future in enumerate(futures):
        if future.status != "finished":
            raise lost(future, f"block {number} of X", "use smaller blocks (X.rechunk)")
    return True

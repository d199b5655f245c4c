"""Waiting for a cluster: what has come, what is lost, and when to give up."""

import time
from typing import Any

import numpy as np

__all__ = [
    "LostWorkerError",
    "NoSchedulerError",
    "finished",
    "look_for_scheduler",
    "lost",
    "still_there",
]

PATIENCE = 5.0  # seconds between two checks of workers and scheduler
SILENCE = 40.0  # seconds without a scheduler after which a fit gives up


class LostWorkerError(RuntimeError):
    """A worker has gone, and rows with it."""


class NoSchedulerError(RuntimeError):
    """The scheduler has gone."""


def look_for_scheduler(client: Any) -> None:
    """Wait a while for a scheduler that does not answer; an error if it has gone."""
    began = time.monotonic()
    while client.status != "running":
        if time.monotonic() - began > SILENCE or client.status == "closed":
            raise NoSchedulerError(
                f"the Dask scheduler at {client.scheduler.address} does not answer any more: start "
                "it again and fit again; nothing was written"
            )
        time.sleep(0.5)


def still_there(client: Any) -> None:
    """Wait a while for a scheduler or workers that do not answer; an error if they have gone."""
    look_for_scheduler(client)
    if not client.nthreads():
        time.sleep(PATIENCE)
        if not client.nthreads():
            raise RuntimeError("the Dask cluster has no worker left: start one and fit again")


def lost(future: Any, what: str, remedy: str) -> Exception:
    """Why there is no result: an error to raise."""
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
    """Wait until all are there; an error names the block or the lost worker.

    False if for so many seconds no further one has come.
    """
    from distributed import wait

    since, there = time.monotonic(), 0
    while True:
        try:
            wait(futures, timeout=min(PATIENCE, stalled))
        except TimeoutError:
            still_there(client)
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

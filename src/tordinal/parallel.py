"""Several fits at the same time, with joblib, wherever its backend runs them."""

import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError
from typing import Any

from joblib import Parallel

__all__ = ["EndsWithParent", "in_order"]

MAX_FAULTS = 5
POLL = 1.0  # seconds between two checks whether the parent runs


def in_order(jobs: Iterable[Any], n_jobs: int | None) -> Iterator[Any]:
    """Yield results in the order of the jobs, each as soon as it is computed.

    A worker of a cluster that dies may lose data that all tasks share. Jobs without a result are
    then submitted again.

    Parameters
    ----------
    jobs : iterable of delayed calls
        What to do.
    n_jobs : int or None
        How many at the same time.

    Yields
    ------
    result : object
        What a job returned.
    """
    waiting, faults = list(jobs), 0
    while waiting:
        done = 0
        try:
            for result in Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")(waiting):
                done += 1
                yield result
            return
        except (CancelledError, OSError, RuntimeError, KeyError) as error:
            faults += 1
            if not _by_cluster(error) or faults > MAX_FAULTS:
                raise
        waiting = waiting[done:]


def _by_cluster(error: BaseException) -> bool:
    """Whether the cluster lost something, or else a job failed."""
    home = type(error).__module__.partition(".")[0]
    return isinstance(error, CancelledError) or home in ("distributed", "asyncio")


class EndsWithParent:
    """A function that ends its child process when the parent process has ended.

    Worker processes of joblib keep computing for minutes after their parent was killed.

    Parameters
    ----------
    work : callable
        The function.
    """

    watching = False

    def __init__(self, work: Callable[..., Any]):
        self.work, self.parent = work, os.getpid()

    def __call__(self, *args: Any, **options: Any) -> Any:
        """Call it; the first call in a child starts to watch."""
        if os.getppid() == self.parent and not EndsWithParent.watching:
            EndsWithParent.watching = True
            threading.Thread(target=_watch, args=(self.parent,), daemon=True).start()
        return self.work(*args, **options)


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(POLL)
    os._exit(1)

"""Work on all cores, without more running threads than cores.

The linear algebra libraries under NumPy and SciPy each have threads of their own, which wait for
work in a busy loop. Two such libraries and the threads of this module slow each other down on a
few cores: one fit took seven times as long. So the libraries use one thread each while a solver
runs (`one_thread_each`), and the parts of a solver that gain from more threads use these ones.
"""

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from joblib import cpu_count
from threadpoolctl import OpenBLASController, ThreadpoolController

__all__ = [
    "BLOCK",
    "all_threads",
    "blocks",
    "in_blocks",
    "in_parts",
    "in_turn",
    "n_threads",
    "one_thread_each",
]

BLOCK = 512  # rows of a Gram block: two blocks of features and one of results stay in the cache
CHUNK = 16_384  # rows whose margins are computed together
SMALL = 20_000  # rows or non-zeros below which a second thread costs more than it saves


@lru_cache(maxsize=1)
def n_threads() -> int:
    """Cores this process may use; worker processes of joblib read the environment."""
    limit = os.environ.get("OMP_NUM_THREADS", "")
    given = int(limit) if limit.isdigit() and int(limit) > 0 else cpu_count()
    return min(cpu_count(), given)


@lru_cache(maxsize=1)
def _pool() -> ThreadPoolExecutor:
    """Threads for the many short products of a fit."""
    return ThreadPoolExecutor(n_threads())


@lru_cache(maxsize=1)
def _libraries() -> ThreadpoolController:
    """The linear algebra libraries of this process."""
    import scipy.linalg  # noqa: F401  (loads the second of them)

    return ThreadpoolController()


class _Limit:
    """How many solvers are at work, and the limit that is lifted when the last one ends."""

    lock = threading.Lock()
    at_work = 0
    limiter: Any = None

    @classmethod
    def set(cls) -> None:
        cls.limiter = _libraries().limit(limits=1, user_api="blas")

    @classmethod
    def lift(cls) -> None:
        # A limit belongs to the thread that has set it, and the last solver to end may work in
        # another one. The lock serialises them.
        _forget_threads_of_parent()
        cls.limiter.restore_original_limits()
        _forget_threads_of_parent()


def _forget_threads_of_parent() -> None:
    """Let any thread change the limit; older versions of threadpoolctl always do."""
    if hasattr(OpenBLASController, "clear_controlling_thread"):
        OpenBLASController.clear_controlling_thread(force=True)


@contextmanager
def one_thread_each() -> Iterator[None]:
    """Let the linear algebra libraries use one thread each, in this process, for a while.

    Several threads may enter; the limit ends when the last one exits.
    """
    with _Limit.lock:
        if _Limit.at_work == 0:
            _Limit.set()
        _Limit.at_work += 1
    try:
        yield
    finally:
        with _Limit.lock:
            _Limit.at_work -= 1
            if _Limit.at_work == 0:
                _Limit.lift()


@contextmanager
def all_threads() -> Iterator[None]:
    """Lift that limit for one long operation, if no other solver is at work."""
    with _Limit.lock:
        alone = _Limit.at_work == 1 and n_threads() > 1
        if alone:
            _Limit.lift()
    try:
        yield
    finally:
        if alone:
            with _Limit.lock:
                _Limit.set()


def blocks(n: int, size: int = BLOCK) -> Iterator[slice]:
    """Slices of at most `size` rows that cover range(n)."""
    return (slice(start, min(start + size, n)) for start in range(0, n, size))


def in_turn(n: int, work: Callable[[int], Any]) -> list[Any]:
    """``[work(0), ..., work(n - 1)]`` on all cores, including the caller's."""
    if n == 1 or n_threads() == 1:
        return [work(i) for i in range(n)]
    others = [_pool().submit(work, i) for i in range(1, n)]
    return [work(0), *(other.result() for other in others)]


def in_parts(n: int, work: Callable[[slice], Any], *, size: int) -> list[Any]:
    """Let each core work on its part of range(n), if the `size` of the work is large enough."""
    if size < SMALL or n_threads() == 1:
        return [work(slice(0, n))]
    parts = list(blocks(n, -(-n // n_threads())))
    return in_turn(len(parts), lambda part: work(parts[part]))


def in_blocks(n: int, work: Callable[[slice], Any], size: int = CHUNK) -> list[Any]:
    """Work through range(n) on all cores, in blocks, so that memory stays bounded."""
    if n <= size or n_threads() == 1:
        return [work(block) for block in blocks(n, size)]
    return list(_pool().map(work, blocks(n, size)))


def _forget_threads() -> None:
    """A child made by fork has neither its parent's threads nor their locks."""
    _pool.cache_clear()
    _Limit.lock = threading.Lock()
    _Limit.at_work, _Limit.limiter = 0, None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_threads)

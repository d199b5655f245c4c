"""Work on all cores: how many there are, and ranges of rows cut into parts for them."""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import Any

from joblib import cpu_count

__all__ = ["BLOCK", "blocks", "in_blocks", "in_parts", "n_threads", "thread_pool"]

BLOCK = 512  # rows of a Gram block: two blocks of features and one of results stay in the cache
CHUNK = 16_384  # rows whose margins are looked at together
SMALL = 20_000  # rows or non-zeros below which a second thread costs more than it saves


@lru_cache(maxsize=1)
def n_threads() -> int:
    """Cores this process may use; worker processes of joblib are told their share through the environment."""
    limit = os.environ.get("OMP_NUM_THREADS", "")
    return min(cpu_count(), int(limit)) if limit.isdigit() and int(limit) > 0 else cpu_count()


@lru_cache(maxsize=1)
def thread_pool() -> ThreadPoolExecutor:
    """Threads for the many short products of a fit."""
    return ThreadPoolExecutor(n_threads())


def blocks(n: int, size: int = BLOCK) -> Iterator[slice]:
    """Slices of at most `size` rows that cover range(n)."""
    return (slice(start, min(start + size, n)) for start in range(0, n, size))


def in_parts(n: int, work: Callable[[slice], Any], *, size: int) -> list[Any]:
    """Let each core work on its part of range(n), and return what they gave, in order; `size` is the whole work."""
    if size < SMALL or n_threads() == 1:
        return [work(slice(0, n))]
    return list(thread_pool().map(work, blocks(n, -(-n // n_threads()))))


def in_blocks(n: int, work: Callable[[slice], Any]) -> list[Any]:
    """Work through range(n) in blocks that bound the memory for what lies in between, on all cores."""
    if n <= CHUNK or n_threads() == 1:
        return [work(block) for block in blocks(n, CHUNK)]
    return list(thread_pool().map(work, blocks(n, CHUNK)))

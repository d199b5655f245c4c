"""The rows of one worker as one part.

A part is a Dask actor: it stays on its worker with its rows and their state, and a call to it
sends functions of a piece there and returns a sum.
"""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from typing import Any, ClassVar
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from tordinal.engines.dask.pieces import Piece, PreparedBlock, StoredRows
from tordinal.engines.dask.waiting import LostWorkerError
from tordinal.threads import n_threads, one_thread_each

__all__ = [
    "Call",
    "Part",
    "State",
    "Which",
    "add_up",
    "bytes_of",
    "held",
    "labels_of",
    "restore",
    "second_copy",
    "snapshot",
]  # fmt: skip

Call = tuple[str, Callable[..., Any], tuple[Any, ...]]  # rows, functions, arguments
State = tuple[Any, Any]  # labels and multipliers of a piece
Which = tuple[str, str, int]  # a part: its worker, fit and epoch


class Part:
    """The pieces of one worker. Lives there, as an actor."""

    here: ClassVar["WeakValueDictionary[Which, Part]"] = WeakValueDictionary()

    def __init__(self, token: str, epoch: int, prepared: list[PreparedBlock]):
        from distributed import get_worker

        worker = get_worker()
        self.pieces = [Piece(p) for p in prepared]
        self.held: dict[int, dict[int, State]] = {}
        self.n_threads = max(1, worker.state.nthreads)
        self._pool: ThreadPoolExecutor | None = None
        Part.here[(worker.address, token, epoch)] = self

    def sum(self, calls: list[Call]) -> Any:
        """Map functions over the pieces, or their labelled rows; add up what the last returns."""

        def one(piece: Piece) -> Any:
            result = None
            try:
                for which, work, args in calls:
                    result = work(piece.supervised if which == "labeled" else piece, *args)
            except MemoryError as error:
                raise MemoryError(
                    f"no memory left on a worker for block {piece.number} of X "
                    f"({len(piece.y)} rows): use smaller blocks (X.rechunk) or workers with a "
                    "larger memory_limit"
                ) from error
            return result

        # Dask limits its worker processes to one thread anyway, and setting it takes a while.
        with one_thread_each() if n_threads() > 1 else nullcontext():
            if self.n_threads > 1 and len(self.pieces) > 1:
                if self._pool is None:
                    self._pool = ThreadPoolExecutor(self.n_threads)
                return add_up(self._pool.map(one, self.pieces))
            return add_up(map(one, self.pieces))

    def stored(self) -> int:
        """How many pieces lie on disk."""
        return sum(isinstance(piece.X, StoredRows) for piece in self.pieces)

    def hold(self, version: int, states: dict[int, State]) -> None:
        """Keep a snapshot of some pieces, and the last one while this one is incomplete."""
        self.held.setdefault(version, {}).update(states)
        for old in [v for v in self.held if v < version - 1]:
            del self.held[old]


def add_up(results: Iterable[Any]) -> Any:
    """The sum of what pieces or parts return: numbers, arrays, tuples of them; dicts are merged."""
    total: Any = None
    for result in results:
        if result is None:
            continue
        if total is None:
            total = result
        elif isinstance(result, dict):
            total = {**total, **result}
        elif isinstance(result, tuple):
            total = tuple(a + b for a, b in zip(total, result, strict=True))
        else:
            total = total + result
    return total


def bytes_of(value: Any) -> int:
    """Bytes of the arrays in what is sent.

    Examples
    --------
    >>> bytes_of([(np.zeros(3), 1.0), {"w": np.zeros((2, 2))}])
    56
    """
    if isinstance(value, dict):
        value = value.values()
    elif not isinstance(value, (list, tuple)):
        return int(getattr(value, "nbytes", 0))
    return sum(map(bytes_of, value))


# Tasks beside the actor's own calls ---------------------------------------------------------------


def _part(which: Which) -> Part:
    """A part, if this is its worker."""
    from distributed import get_worker

    part = Part.here.get(which) if which[0] == get_worker().address else None
    if part is None:
        raise LostWorkerError("the worker that held these rows was lost: fit again")
    return part


def _piece(which: Which, number: int) -> Piece:
    """A piece of a part."""
    return next(piece for piece in _part(which).pieces if piece.number == number)


def snapshot(which: Which, version: int) -> dict[int, State]:
    """Keep the current labels and multipliers of a worker's pieces."""
    part = _part(which)
    states = {
        piece.number: (piece.y.astype(np.int16), None if piece.u is None else piece.u.copy())
        for piece in part.pieces
    }
    part.hold(version, states)
    return states


def second_copy(which: Which, version: int, states: dict[int, State]) -> None:
    """Keep those of another worker."""
    _part(which).hold(version, states)


def held(which: Which, version: int, number: int) -> State:
    """The state of a piece in a snapshot on this worker."""
    return _part(which).held[version][number]


def restore(which: Which, number: int, state: State) -> None:
    """Give a piece the labels and multipliers of a snapshot."""
    piece = _piece(which, number)
    y, u = state
    piece.y, piece.u = y.astype(np.int64), None if u is None else u.copy()


def labels_of(which: Which, number: int, classes: NDArray[Any]) -> NDArray[Any]:
    """The labels of a piece's rows, given and found."""
    try:
        return classes[_piece(which, number).y]
    except (
        LostWorkerError
    ) as error:  # Dask recomputes results of workers that were lost after the fit
        raise LostWorkerError(
            "the worker that held transduction_ was lost after the fit: use predict(X), or fit "
            "again"
        ) from error

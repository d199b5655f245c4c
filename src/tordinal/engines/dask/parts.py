"""Where it runs: all parts of a cluster as the rows of a solver.

A round trip is one message to each worker, whatever the number of blocks.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tordinal.engines.base import project
from tordinal.engines.dask.part import (
    Call,
    Part,
    add_up,
    bytes_of,
    held,
    labels_of,
    restore,
    second_copy,
    snapshot,
)
from tordinal.engines.dask.waiting import (
    PATIENCE,
    LostWorkerError,
    NoSchedulerError,
    finished,
    wait_for_scheduler,
)

__all__ = ["PartRows", "Parts"]

Array = NDArray[np.float64]

STALLED = 60.0  # seconds without any progress after which a snapshot is requested again
REACHED = 3.0  # seconds within which a worker must answer to be called directly
MOST_FAULTS, PAUSE = 20, 1.0  # of one unit of work, and seconds between two tries


@dataclass
class Saved:
    """A snapshot of all rows, and the worker that holds it.

    Attributes
    ----------
    epoch, version : int
        Of which parts it is, and its number.
    makers : dict of str to Future
        Workers and the futures of their parts, which are done while the part exists.
    where : dict of int to pair of str
        The workers that hold each piece.
    """

    epoch: int
    version: int
    makers: dict[str, Any]
    where: dict[int, tuple[str, str]]


class Parts:
    """All parts of a fit, seen from the client process.

    Parameters
    ----------
    client : distributed.Client
        The cluster.
    prepared : list of Future
        The blocks, as `PreparedBlock`, in their order.
    token : str
        The name of the fit.
    on_fault : callable
        Called when a worker was lost.
    """

    def __init__(
        self, client: Any, prepared: list[Any], token: str,
        on_fault: Callable[[str], None] = lambda message: None,
    ):  # fmt: skip
        self.client, self.prepared, self.token, self.on_fault = client, prepared, token, on_fault
        self.actors: dict[str, Any] = {}
        # An actor lives as long as its future. It holds only a future of the process's own client,
        # which need not be ours.
        self.makers: dict[str, Any] = {}
        self.where: dict[int, str] = {}
        self.waiting: list[Call] = []
        self.direct: bool | None = None
        self.round_trips, self.bytes, self.epoch, self.version = 0, 0, 0, 0
        self.saved: Saved | None = None
        self.safely(lambda: None if self.actors else self.build())

    def build(self) -> None:
        """Make one part of the blocks on each worker."""
        self.actors, self.waiting = {}, []
        self.epoch += 1
        finished(self.client, self.prepared)
        who = self.client.who_has(self.prepared)
        by_worker: dict[str, list[Any]] = {}
        for number, future in enumerate(self.prepared):
            places = who.get(future.key) or ()
            if not places:
                raise LostWorkerError(f"block {number} of X is lost")
            self.where[number] = sorted(places)[0]
            by_worker.setdefault(self.where[number], []).append(future)
        futures = {
            worker: self.client.submit(
                Part, self.token, self.epoch, blocks, workers=[worker], actor=True, pure=False
            )
            for worker, blocks in by_worker.items()
        }
        while not all(future.done() for future in futures.values()):
            time.sleep(0.005)
            if not set(futures) <= set(self.client.nthreads()):
                raise LostWorkerError("a worker was lost before its rows were loaded")
        for worker, future in futures.items():
            if future.status != "finished":
                raise LostWorkerError(f"{worker} was lost")
        try:
            self.actors = {worker: future.result() for worker, future in futures.items()}
            self.makers = futures
            if self.direct is None:
                self._connect_directly()
        except RuntimeError as error:  # of an actor whose worker has just been lost
            raise LostWorkerError(str(error)) from error

    def _connect_directly(self) -> None:
        """Call the workers without the scheduler in between, if they can be reached."""
        self.direct = self.client.direct_to_workers
        self.client.direct_to_workers = True
        try:
            for call in [actor.stored() for actor in self.actors.values()]:
                call.result(timeout=REACHED)
        except (OSError, TimeoutError):
            self.client.direct_to_workers = self.direct

    def sum(self, call: Call) -> Any:
        """Map a function over all pieces and add up what it returns.

        A deferred function waits for the next one that returns something, and travels with it.
        """
        self.waiting.append(call)
        if getattr(call[1], "deferred", False):
            return None
        return self.flush()

    def flush(self) -> Any:
        """Send the calls that were deferred."""
        calls, self.waiting = self.waiting, []
        return add_up(self.each("sum", calls)) if calls else None

    def each(self, method: str, *args: Any) -> list[Any]:
        """Call a method of all parts at once."""
        self.round_trips += 1
        try:
            calls = {w: getattr(actor, method)(*args) for w, actor in self.actors.items()}
            answers = [self._answer(worker, call) for worker, call in calls.items()]
            self.bytes += len(calls) * bytes_of(args) + bytes_of(answers)
            return answers
        except (OSError, RuntimeError) as error:
            if isinstance(error, (LostWorkerError, NoSchedulerError)):
                raise
            wait_for_scheduler(self.client)
            all_there = self._alive(self.makers) == set(self.makers)
            if "Actor" in str(error) or not all_there or isinstance(error, OSError):
                raise LostWorkerError(str(error)) from error
            raise

    def _answer(self, worker: str, call: Any) -> Any:
        """Wait for one part, and check now and then that its worker is still there."""
        while True:
            try:
                return call.result(timeout=PATIENCE)
            except TimeoutError:
                wait_for_scheduler(self.client)
                if worker not in self._alive(self.makers):
                    raise LostWorkerError(f"{worker} was lost") from None

    def _alive(self, makers: dict[str, Any]) -> set[str]:
        """The workers that are still there with the part that was made there."""
        there = self.client.nthreads()
        return {w for w, made in makers.items() if w in there and made.status == "finished"}

    # Snapshots, so that a fault costs one level ---------------------------------------------------

    def safely(self, work: Callable[[], Any]) -> Any:
        """Do a unit of work; if a worker is lost, restore the last snapshot and repeat it."""
        faults = 0
        while True:
            try:
                if faults:
                    time.sleep(PAUSE)  # the scheduler may not have noticed yet
                    if not self.recover() and self.saved is not None:
                        raise RuntimeError(
                            "a worker was lost together with the only copy of its rows' labels: "
                            "fit again, with more than one worker"
                        )
                return work()
            except LostWorkerError as error:
                faults += 1
                if faults > MOST_FAULTS:
                    raise RuntimeError(
                        f"{faults} workers were lost during the fit: {error}"
                    ) from error
                self.on_fault(str(error))

    def protect(self, work: Callable[[], Any]) -> Any:
        """Do a unit of work and take a snapshot after it: completely, or not at all."""

        def whole() -> Any:
            result = work()
            self.save()
            return result

        return self.safely(whole)

    def save(self) -> None:
        """Keep labels and multipliers of all rows, with a second copy on another worker.

        Parts hold them, not futures: the scheduler would recompute those of a lost worker from rows
        that have changed since.
        """
        self.flush()
        self.version += 1
        workers = sorted(self.actors)
        tasks, where = [], {}
        for i, worker in enumerate(workers):
            other = workers[(i + 1) % len(workers)]
            states = self._task(snapshot, worker, self.version)
            tasks.append(states)
            if other != worker:
                tasks.append(self._task(second_copy, other, self.version, states))
            where.update({n: (worker, other) for n, w in self.where.items() if w == worker})
        self._in_time(tasks)
        self.saved = Saved(self.epoch, self.version, self.makers, where)

    def recover(self) -> bool:
        """Make parts of the remaining rows; whether all rows are as in the last snapshot."""
        self.build()
        saved = self.saved
        if saved is None:
            return False
        tasks, alive = [], self._alive(saved.makers)
        for number, worker in self.where.items():
            holders = [holder for holder in saved.where[number] if holder in alive]
            if not holders:
                return False
            holder = worker if worker in holders else holders[0]
            state = self._task(held, holder, saved.version, number, epoch=saved.epoch)
            tasks.append(self._task(restore, worker, number, state))
        self._in_time(tasks)
        self.save()  # some may have only one copy now
        return True

    def _in_time(self, tasks: list[Any]) -> None:
        """Wait for tasks; if one fails, the workers discard the results of the others."""
        try:
            if not finished(self.client, tasks, STALLED):
                raise LostWorkerError("labels and multipliers of a snapshot did not arrive")
        except LostWorkerError:
            self.client.cancel(tasks)
            raise

    def _task(
        self, work: Callable[..., Any], worker: str, *args: Any, epoch: int | None = None
    ) -> Any:
        """A task with a part of a worker: the present one, or an earlier one."""
        which = (worker, self.token, epoch or self.epoch)
        # If the worker is lost for good, fail elsewhere rather than wait for ever.
        return self.client.submit(
            work, which, *args, workers=[worker], allow_other_workers=True, pure=False
        )

    def labels(self, classes: NDArray[Any]) -> list[Any]:
        """The labels of each block, as futures on the workers."""
        self.flush()
        futures = [self._task(labels_of, w, n, classes) for n, w in sorted(self.where.items())]
        finished(self.client, futures)
        return futures

    def release(self) -> None:
        """Let the workers forget the rows."""
        self.saved, self.actors, self.makers, self.prepared = None, {}, {}, []
        if self.direct is not None:
            self.client.direct_to_workers = self.direct


class PartRows:
    """The rows of all parts, as a solver sees them: `Rows` whose blocks are on workers.

    Parameters
    ----------
    parts : Parts
        The parts.
    which : {"all", "labeled"}
        All rows, or those with given ranks.
    n_features : int
        Number of features.
    scale : float
        What features were divided by, squared.
    few_features : bool
        Whether there are few enough features to form a matrix over them.
    """

    def __init__(self, parts: Parts, which: str, n_features: int, scale: float, few_features: bool):
        self.parts, self.which, self.scale = parts, which, scale
        self.n_features, self.few_features = n_features, few_features
        self._projected: tuple[int, Array | None] = (0, None)

    def sum(self, work: Callable[..., Any], *args: Any) -> Any:
        """Map a function over the blocks and add up what it returns."""
        return self.parts.sum((self.which, work, args))

    def project(self, w: Array) -> None:
        """Compute h = X w where the rows are, unless they have it."""
        epoch, known = self._projected
        if epoch != self.parts.epoch or known is not w:
            self.sum(project, w)
            self.projected_by(w)

    def projected_by(self, w: Array | None) -> None:
        """Remember which weights the rows' projections belong to; None: to none."""
        self._projected = (self.parts.epoch, w)

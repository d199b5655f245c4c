"""Progress of a fit: the callback parameter, scikit-learn's callbacks, and `verbose`."""

import time
from collections.abc import Callable
from types import TracebackType
from typing import Any, ClassVar

__all__ = ["Listener", "Progress"]

Listener = Callable[[str, int, int], None]


class Progress:
    """Reports how a fit advances.

    A fit is a task with one subtask per level: the supervised training and each value of C2. Used
    as a context.

    Parameters
    ----------
    estimator : estimator
        The estimator being fitted. Its `callback` is called with what is being done, how much of
        it is done, and how much there is; with `verbose` it is printed.
    n_levels : int
        How many levels there will be.
    """

    seen: ClassVar[bool] = False  # whether this process has fitted anything

    def __init__(self, estimator: Any, n_levels: int):
        self.estimator, self.n_levels = estimator, n_levels
        self.name = type(estimator).__name__
        self.started = self.printed_at = time.perf_counter()
        self.root: Any = None
        self.level: Any = None
        if hasattr(estimator, "_init_callback_context"):
            self.root = estimator._init_callback_context(max_subtasks=n_levels)
        self.C2: float | None = None
        self.begun = 0
        self.stop = False
        self.listen: Listener | None = getattr(estimator, "callback", None)
        self.name_of_part, self.part_started = "", self.started

    def __enter__(self) -> "Progress":
        if self.estimator.verbose and not Progress.seen:
            print(
                f"[{self.name}] first fit: compiled code is loaded, or compiled if it is not "
                "cached yet"
            )
        Progress.seen = True
        if self.root is not None:
            self.root.call_on_fit_task_begin(estimator=self.estimator)
        return self

    def __exit__(
        self, kind: type | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self._end_level()
            if self.root is not None:
                self.root.call_on_fit_task_end(estimator=self.estimator)

    def training(self, record: dict[str, float], fit: Any) -> bool:
        """Report a training; return whether a callback asks to stop."""
        if record["C2"] != self.C2:
            self._begin_level(f"C2 = {record['C2']:g}")
            self.C2 = record["C2"]
            if self.listen is not None:
                self.listen("raising C2", self.begun, self.n_levels)
        if self.estimator.verbose:
            seconds = time.perf_counter() - self.started
            print(
                f"[{self.name}] C2 = {record['C2']:<10.4g} objective {record['objective']:<12.6g} "
                f"steps {record['n_iter']:<8} {seconds:6.1f} s, level {self.begun} of "
                f"{self.n_levels}"
            )
        return self.stop

    def problem(self, name: str) -> None:
        """Report that a whole problem (one class of several) is solved."""
        self._begin_level(name)
        if self.listen is not None:
            self.listen(name, self.begun, self.n_levels)
        if self.estimator.verbose:
            seconds = time.perf_counter() - self.started
            print(f"[{self.name}] {name} done, {self.begun} of {self.n_levels}, {seconds:.1f} s")

    def part(self, name: str, done: int, total: int) -> None:
        """Report a part of a problem, about once a second."""
        if self.listen is not None:
            self.listen(name, done, total)
        now = time.perf_counter()
        if name != self.name_of_part:
            self.name_of_part, self.part_started = name, now
        if self.estimator.verbose and done and (now - self.printed_at > 1.0 or done == total):
            self.printed_at = now
            left = (now - self.part_started) / done * (total - done)
            print(f"[{self.name}] {name}: {done} of {total}, about {left:.0f} s left")

    def chunk(self, steps: int, violation: float) -> None:
        """Report a part of a training, about once a second."""
        now = time.perf_counter()
        if self.estimator.verbose and now - self.printed_at > 1.0:
            self.printed_at = now
            print(
                f"[{self.name}] {steps} steps, violation {violation:.2g} "
                f"(tol {self.estimator.tol:g})"
            )

    def _begin_level(self, name: str) -> None:
        self._end_level()
        self.begun += 1
        if self.root is not None:
            self.level = self.root.subcontext(task_name=name)
            self.level.call_on_fit_task_begin(estimator=self.estimator)

    def _end_level(self) -> None:
        if self.level is not None:
            self.stop = bool(self.level.call_on_fit_task_end(estimator=self.estimator))
            self.level = None

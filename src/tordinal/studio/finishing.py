"""Finishing: writing the rated table, in the background, as often as one likes."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from tordinal.exceptions import user_can_fix
from tordinal.progress import Listener

__all__ = ["Finishing", "Status", "Written"]


@dataclass(frozen=True)
class Written:
    """What was written: the files by what they are, a summary, and the report as a page."""

    paths: dict[str, str]
    summary: str
    report: str


@dataclass(frozen=True)
class Status:
    """How far the work is.

    Attributes
    ----------
    state : {"idle", "running", "done", "failed"}
        What it is doing.
    task, done, total : str, int, int
        While it is running, how much of what is done.
    message : str
        What went wrong, or what was found.
    paths : dict of str to str
        The files that were written.
    """

    state: str = "idle"
    task: str = ""
    done: int = 0
    total: int = 0
    message: str = ""
    paths: dict[str, str] = field(default_factory=dict)


class Finishing:
    """Writes the rated table, report and model in a thread of its own.

    Parameters
    ----------
    finish : callable
        Rates the table and writes the files; it is told whom to tell how far it is.

    Examples
    --------
    >>> finishing = Finishing(lambda listen: Written({"table": "rated.csv"}, "Done.", "<p>"))
    >>> finishing.start()
    True
    >>> finishing.wait()
    >>> finishing.status.state, finishing.status.paths, finishing.report
    ('done', {'table': 'rated.csv'}, '<p>')
    """

    def __init__(self, finish: Callable[[Listener], Written]):
        self._finish = finish
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self.status = Status()
        self.report = ""

    def start(self) -> bool:
        """Begin, unless it is running already. Returns whether it has begun."""
        with self._lock:
            if self.status.state == "running":
                return False
            self.status = Status("running", "reading the table")
            self._thread = threading.Thread(target=self._run, name="finishing", daemon=True)
            self._thread.start()
        return True

    def wait(self) -> None:
        """Wait for the end."""
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        try:
            written = self._finish(self._listen)
        except Exception as error:  # shown on the page; rating goes on
            text = str(error) if user_can_fix(error) or isinstance(error, OSError) else (
                f"This is a bug in tordinal, not in your ratings: {type(error).__name__}: {error}"
            )  # fmt: skip
            self.status = Status("failed", message=text)
            return
        self.report = written.report
        self.status = Status("done", message=written.summary, paths=written.paths)

    def _listen(self, task: str, done: int, total: int, detail: str = "") -> None:
        self.status = replace(self.status, task=" ".join([task, detail]).strip(), done=done,
                              total=total)  # fmt: skip

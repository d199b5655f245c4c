"""What all commands share: refusing bad input, progress, and tables on the terminal."""

import contextlib
import math
import os
import re
import signal
import sys
import time
from collections.abc import Iterable, Iterator
from types import FrameType
from typing import Any

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Column
from rich.table import Table as Grid
from rich.text import Text

from tordinal.tables.outputs import is_own_output
from tordinal.tables.values import TableError, visible

__all__ = [
    "Teller",
    "confirm_overwriting",
    "console_for",
    "finishing",
    "grid",
    "in_options",
    "refusing",
]

PARAMETER = re.compile(r"`(target|order|text|columns|drop|encoding|missing|sheet|filled|next)`")

_interrupted = False


@contextlib.contextmanager
def refusing(interrupted: str = "interrupted; nothing was written") -> Iterator[None]:
    """Turn bad input and interrupts into one clear line and exit status 2."""
    global _interrupted
    _interrupted = False

    def interrupt(number: int, frame: FrameType | None) -> None:
        global _interrupted
        _interrupted = True  # compiled code may swallow the exception; progress raises it again
        raise KeyboardInterrupt

    before = {}
    with contextlib.suppress(ValueError):  # not in the main thread
        before = {s: signal.signal(s, interrupt) for s in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    except KeyboardInterrupt:
        _refuse(interrupted)
    except SystemError:  # what compiled code makes of an interrupt that it does not swallow
        if not _interrupted:
            raise
        _refuse(interrupted)
    except MemoryError as error:
        _refuse(f"out of memory ({error}); use fewer rows, or --method redsvm")
    except (ValueError, OSError, ImportError) as error:  # the last one where an extra is missing
        _refuse(str(error))
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def finishing() -> None:
    """From here on results are put in place: an interrupt would come too late and is ignored."""
    with contextlib.suppress(ValueError):  # not in the main thread
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)


def in_options(message: str) -> str:
    """What the library says of its parameters, in terms of the command's options.

    Examples
    --------
    >>> in_options("`target` stars: every cell is empty")
    '--target stars: every cell is empty'
    """
    return PARAMETER.sub(r"--\1", message)


def confirm_overwriting(paths: Iterable[str], target: str | None, force: bool) -> None:
    """Ask before files are replaced that the command has not written itself.

    Where nobody can be asked, that is an error; an output of an earlier run may always be replaced.

    Parameters
    ----------
    paths : iterable of str
        Where the command will write; ``-`` is standard output.
    target : str or None
        The column of the ratings.
    force : bool
        Whether to replace files without asking.
    """
    if force:
        return
    for path in paths:
        if path == "-" or not os.path.exists(path) or is_own_output(path, target):
            continue
        what = f"{visible(path)} exists already"
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            raise TableError(f"{what}; name another file, or use --force to replace it")
        if not typer.confirm(f"{what}. Replace it?", err=True):
            raise TableError(f"{what}, and was not replaced; nothing was written")


def _refuse(message: str) -> None:
    Console(stderr=True, soft_wrap=True).print(
        Text("Error: ", style="bold red") + Text(visible(in_options(message)), style="default")
    )
    raise typer.Exit(2)


def console_for(out: str, quiet: bool) -> Console:
    """Where a command talks: standard output, unless the table goes there."""
    return Console(stderr=out == "-", quiet=quiet)


def _duration(seconds: float) -> str:
    """A time that is left, for people."""
    return f"{max(1, round(seconds))} s" if seconds < 90 else f"{round(seconds / 60)} min"


def grid(*columns: str, title: str | None = None) -> Grid:
    """A plain table for the terminal."""
    return Grid(*columns, title=title, title_justify="left", title_style="bold")


ESTIMATED_OVER = 3600.0  # seconds of progress from which the time that is left is estimated
SAID_EVERY = 5.0  # seconds between two lines where nothing can be redrawn


class Teller:
    """Progress on standard error: what is being done, how much is left and for how long.

    Parameters
    ----------
    quiet : bool
        Whether to say nothing.
    """

    def __init__(self, quiet: bool):
        self._console = Console(stderr=True, quiet=quiet)
        self._live = self._console.is_terminal and not self._console.is_dumb_terminal and not quiet
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn(
                "{task.description}", table_column=Column(no_wrap=True, overflow="ellipsis")
            ),
            BarColumn(bar_width=12),
            TextColumn("{task.completed}/{task.total}", table_column=Column(no_wrap=True)),
            TimeElapsedColumn(table_column=Column(min_width=7)),
            TimeRemainingColumn(table_column=Column(min_width=7)),
            console=self._console,
            transient=True,
            disable=not self._live,
            speed_estimate_period=ESTIMATED_OVER,
        )
        self._task: Any = None
        self._name, self._said, self._began = "", math.inf, 0.0

    def __enter__(self) -> "Teller":
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def __call__(self, name: str, done: int, total: int, detail: str = "") -> None:
        """Take note of progress; an interrupt that compiled code swallowed is raised again here.

        The time left is estimated for all that has the same name; the detail may change. Where
        there is no terminal to redraw, a line is written for a new name, and for a new detail now
        and then.
        """
        if _interrupted:
            raise KeyboardInterrupt
        if name != self._name:
            self._name, self._began = name, time.monotonic()
            self._said = -math.inf if detail else self._began
            if self._task is not None:
                self._progress.remove_task(self._task)
            self._task = self._progress.add_task(name, total=total)
            self._say(f"{name} ...")
        self._progress.update(
            self._task, completed=done, total=total, description=" ".join([name, detail]).strip()
        )
        if time.monotonic() >= self._said + SAID_EVERY:
            self._said = time.monotonic()
            left = (time.monotonic() - self._began) / done * (total - done) if done else math.inf
            known = math.isfinite(left) and done < total
            estimate = f", about {_duration(left)} left" if known else ""
            self._say(f"{done:,}/{total:,} {' '.join([name, detail]).strip()}{estimate}")

    def _say(self, line: str) -> None:
        if not self._live:
            self._console.print(line, highlight=False, markup=False)
            sys.stderr.flush()

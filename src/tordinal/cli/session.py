"""Functions that all commands share: errors, progress, and tables on the terminal."""

import contextlib
import math
import os
import platform
import re
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Iterable, Iterator
from importlib.metadata import version
from types import FrameType
from typing import Any, NoReturn

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

from tordinal.exceptions import InputError, user_can_fix
from tordinal.tables.outputs import is_own_output
from tordinal.tables.values import visible

__all__ = [
    "ProgressDisplay",
    "confirm_overwriting",
    "console_for",
    "grid",
    "ignore_interrupts",
    "reporting_errors",
    "with_option_names",
]

OPTIONS = {
    name: name
    for name in (
        "target", "order", "text", "columns", "drop", "encoding", "missing", "sheet", "filled",
        "ratings", "next", "method", "C", "kernel", "loss", "quick", "abstain", "cost", "reweight",
        "encoder", "tune", "download", "hint", "features", "by", "engine",
    )
} | {
    "n_jobs": "jobs", "random_state": "seed", "class_weight": "class-weight",
    "sample_weight": "weight",
}  # fmt: skip
PARAMETER = re.compile(rf"`({'|'.join(OPTIONS)})`")
ARGUMENT = re.compile(rf"\b({'|'.join(OPTIONS)})='(\w+)'")

WRONG_INPUT, BUG = 2, 70  # exit statuses; 70 is EX_SOFTWARE of sysexits.h

_interrupted = False


@contextlib.contextmanager
def reporting_errors(
    interrupted: str = "interrupted; nothing was written", *, debug: bool = False
) -> Iterator[None]:
    """Turn errors and interrupts into one clear message and an exit status.

    The status is 2 for errors of input and interrupts, and 70 for a bug.

    Parameters
    ----------
    interrupted : str
        The message after an interrupt.
    debug : bool
        Whether to print the traceback, too.
    """
    global _interrupted
    _interrupted = False

    def interrupt(number: int, frame: FrameType | None) -> None:
        global _interrupted
        _interrupted = True  # compiled code may swallow the exception; progress raises it again
        raise KeyboardInterrupt

    before = {}
    with contextlib.suppress(ValueError):  # not in the main thread
        before = {s: signal.signal(s, interrupt) for s in (signal.SIGINT, signal.SIGTERM)}
    usual_format, warnings.formatwarning = warnings.formatwarning, _format_warning
    try:
        yield
    except (typer.Exit, typer.Abort):
        raise
    except (KeyboardInterrupt, Exception) as error:
        if debug:
            traceback.print_exc()
        # Compiled code that does not swallow an interrupt turns it into a SystemError.
        if isinstance(error, KeyboardInterrupt) or (
            _interrupted and isinstance(error, SystemError)
        ):
            _exit_with_error(interrupted)
        if isinstance(error, MemoryError):
            _exit_with_error(f"out of memory ({error}); use fewer rows, or --method redsvm")
        if isinstance(error, OSError) or user_can_fix(error):
            _exit_with_error(str(error))
        _exit_with_error(_describe_bug(error), BUG)
    finally:
        warnings.formatwarning = usual_format
        for number, handler in before.items():
            signal.signal(number, handler)


def _format_warning(message: Warning | str, *_: Any, **__: Any) -> str:
    """A warning without the line of code that it comes from."""
    return f"Warning: {visible(str(message))}\n"


def _describe_bug(error: BaseException) -> str:
    """The text to report: the error, its place and versions."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    return (
        "This is a bug in tordinal, not in your input. Please report it with the text below; "
        f"--debug shows more.\n{type(error).__name__}: {visible(str(error))} "
        f"({os.path.basename(place.filename)}, line {place.lineno}; tordinal "
        f"{version('tordinal')}, Python {platform.python_version()})"
    )


def ignore_interrupts() -> None:
    """Ignore interrupts from here on: results are being moved into place."""
    with contextlib.suppress(ValueError):  # not in the main thread
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)


def with_option_names(message: str) -> str:
    """Write the names of parameters in a message as options of the command.

    Examples
    --------
    >>> with_option_names("`target` stars: every cell is empty")
    '--target stars: every cell is empty'
    >>> with_option_names("use engine='host'")
    'use --engine host'
    """
    message = PARAMETER.sub(lambda match: f"--{OPTIONS[match[1]]}", message)
    return ARGUMENT.sub(lambda match: f"--{OPTIONS[match[1]]} {match[2]}", message)


def confirm_overwriting(paths: Iterable[str], target: str | None, force: bool) -> None:
    """Ask before replacing files that the command has not written itself.

    Without a terminal that is an error. An output of an earlier run may always be replaced.

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
            raise InputError(f"{what}; name another file, or use --force to replace it")
        if not typer.confirm(f"{what}. Replace it?", err=True):
            raise InputError(f"{what}, and was not replaced; nothing was written")


def _exit_with_error(message: str, status: int = WRONG_INPUT) -> NoReturn:
    lines = "\n".join(map(visible, with_option_names(message).split("\n")))
    Console(stderr=True, soft_wrap=True).print(
        Text("Error: ", style="bold red") + Text(lines, style="default")
    )
    raise typer.Exit(status) from None


def console_for(out: str, quiet: bool) -> Console:
    """Make the console of a command: standard output, unless the table goes there."""
    return Console(stderr=out == "-", quiet=quiet)


def _duration(seconds: float) -> str:
    """Write the remaining time for people."""
    return f"{max(1, round(seconds))} s" if seconds < 90 else f"{round(seconds / 60)} min"


def grid(*columns: str, title: str | None = None) -> Grid:
    """A plain table for the terminal."""
    return Grid(*columns, title=title, title_justify="left", title_style="bold")


SPEED_WINDOW = 3600.0  # seconds of progress from which the remaining time is estimated
LINE_EVERY = 5.0  # seconds between two lines without a terminal


class ProgressDisplay:
    """Show progress on standard error: the task, how much is done and the remaining time.

    Parameters
    ----------
    quiet : bool
        Whether to print nothing.
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
            speed_estimate_period=SPEED_WINDOW,
        )
        self._task: Any = None
        self._name, self._printed_at, self._began = "", math.inf, 0.0

    def __enter__(self) -> "ProgressDisplay":
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def __call__(self, name: str, done: int, total: int, detail: str = "") -> None:
        """Show progress; raise an interrupt again that compiled code swallowed.

        The remaining time is estimated over everything of the same name; the detail may change.
        Without a terminal, a line is printed for a new name and every few seconds.
        """
        if _interrupted:
            raise KeyboardInterrupt
        if name != self._name:
            self._name, self._began = name, time.monotonic()
            self._printed_at = -math.inf if detail else self._began
            if self._task is not None:
                self._progress.remove_task(self._task)
            self._task = self._progress.add_task(name, total=total)
            self._print(f"{name} ...")
        self._progress.update(
            self._task, completed=done, total=total, description=" ".join([name, detail]).strip()
        )
        if time.monotonic() >= self._printed_at + LINE_EVERY:
            self._printed_at = time.monotonic()
            left = (time.monotonic() - self._began) / done * (total - done) if done else math.inf
            known = math.isfinite(left) and done < total
            estimate = f", about {_duration(left)} left" if known else ""
            self._print(f"{done:,}/{total:,} {' '.join([name, detail]).strip()}{estimate}")

    def _print(self, line: str) -> None:
        if not self._live:
            self._console.print(line, highlight=False, markup=False)
            sys.stderr.flush()

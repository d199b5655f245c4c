"""Outputs of a command: written beside their destinations, then moved there together."""

import contextlib
import errno
import io
import os
import shutil
import sys
import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, Any

from tordinal.tables.archive import LABEL
from tordinal.tables.files import read_table
from tordinal.tables.table import Table
from tordinal.tables.values import TableError, number

__all__ = ["OutputFolder", "Outputs", "is_own_output"]

LONGEST_NAME = 255  # bytes of a file name that file systems take
START = 2**16  # bytes that are read first to recognise a file
RECORD = "_rows_left"  # ends the name of a column of forms: how the rows were drawn
REPORT_MARK = b'<meta name="generator" content="tordinal'
GROUPS_MARK = b"column,group,rows,ratings,average,average_low,average_high"  # of --groups


class Outputs:
    """The files that a command writes: all of them or none.

    Each is written beside its destination and flushed to disk. `commit` moves them into place.
    Leaving the context without it, for an error or an interrupt, removes them, and whatever stood
    there before is untouched.

    Parameters
    ----------
    inputs : dict of str to str
        Paths that must not be overwritten, by what they are.
    outputs : dict of str to str
        Destinations by what they are. ``-`` is standard output.

    Raises
    ------
    TableError
        If a destination cannot be written, is an input or is named twice.
    """

    def __init__(self, inputs: dict[str, str], outputs: dict[str, str]):
        self._ready: list[tuple[Path, Path]] = []
        self._stdout = io.BytesIO()
        taken = {
            os.path.realpath(path): f"{name} {path}" for name, path in inputs.items() if path != "-"
        }
        for name, path in outputs.items():
            if path == "-":
                continue
            where = os.path.realpath(path)
            same = next(
                (other for other in taken if other == where or _same_file(other, where)), None
            )
            if same is not None:
                raise TableError(
                    f"{name} {path} is the same file as {taken[same]}; choose another name"
                )
            taken[where] = f"{name} {path}"
            folder = os.path.dirname(where)
            if len(os.fsencode(os.path.basename(where))) > LONGEST_NAME:
                raise TableError(f"{name}: the file name is longer than {LONGEST_NAME} bytes")
            if os.path.isdir(where):
                raise TableError(f"{name} {path} is a directory; name a file")
            if os.path.exists(where) and not os.path.isfile(where):
                raise TableError(f"{name} {path} is a device or a pipe; use - for standard output")
            if not os.path.isdir(folder):
                raise TableError(f"{name} {path}: there is no folder {folder}; create it first")
            if not os.access(folder, os.W_OK) or (
                os.path.exists(where) and not os.access(where, os.W_OK)
            ):
                raise TableError(f"{name} {path} cannot be written: permission denied")

    def __enter__(self) -> "Outputs":
        return self

    def write(self, path: str, produce: Callable[[IO[bytes]], object]) -> None:
        """Produce one output, in memory for standard output, beside its destination otherwise."""
        if path == "-":
            produce(self._stdout)
            return
        where = Path(os.path.realpath(path))
        try:
            handle, name = tempfile.mkstemp(prefix=".tordinal-", suffix=".part", dir=where.parent)
            self._ready.append((Path(name), where))
            with os.fdopen(handle, "wb") as file:
                produce(file)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            what = (
                "the disk is full"
                if error.errno in (errno.ENOSPC, errno.EDQUOT)
                else error.strerror or str(error)
            )
            raise TableError(f"{path} could not be written: {what}. Nothing was changed") from None

    def commit(self) -> None:
        """Move every output to its place; standard output comes first, as it can still fail."""
        if self._stdout.tell():
            with contextlib.suppress(BrokenPipeError):  # the reader of a pipe may close it
                sys.stdout.buffer.write(self._stdout.getvalue())
                sys.stdout.buffer.flush()
        umask = os.umask(0)
        os.umask(umask)
        for part, where in self._ready:
            os.chmod(part, where.stat().st_mode & 0o777 if where.exists() else 0o666 & ~umask)
            os.replace(part, where)
        self._ready.clear()

    def __exit__(self, *_: object) -> None:
        for part, _where in self._ready:
            with contextlib.suppress(OSError):
                part.unlink()


class OutputFolder:
    """A folder that appears with all its files or not at all.

    Files are written to a folder beside it, which `commit` gives its name. Leaving the context
    without it removes that folder.

    Parameters
    ----------
    name, path : str
        What the folder is, and where; it must not exist, or be empty.

    Attributes
    ----------
    part : Path
        Where files are to be written.

    Raises
    ------
    TableError
        If there is something already, or it cannot be written.
    """

    def __init__(self, name: str, path: str):
        self.where = Path(os.path.realpath(path))
        if self.where.exists() and not self.where.is_dir():
            raise TableError(f"{name} {path} is a file; many tables need a folder")
        if self.where.is_dir() and any(self.where.iterdir()):
            raise TableError(f"{name} {path} is not empty; name a new folder, or remove it first")
        if not self.where.parent.is_dir():
            raise TableError(f"{name} {path}: there is no folder {self.where.parent}; create it")
        try:
            part = tempfile.mkdtemp(prefix=".tordinal-", suffix=".part", dir=self.where.parent)
        except OSError as error:
            raise TableError(f"{name} {path} cannot be written: {error.strerror}") from None
        self.part = Path(part)

    def __enter__(self) -> "OutputFolder":
        return self

    def places(self, names: Sequence[str]) -> list[str]:
        """Where to write files of these names, in folders that exist then."""
        places = [self.part / name for name in names]
        for place in places:
            place.parent.mkdir(parents=True, exist_ok=True)
        return [str(place) for place in places]

    def commit(self) -> None:
        """Give the folder its name."""
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(self.part, 0o777 & ~umask)
        if self.where.is_dir():
            self.where.rmdir()
        os.replace(self.part, self.where)

    def __exit__(self, *_: object) -> None:
        for _attempt in range(5):  # a worker may be writing its last file
            if not self.part.exists():
                return
            with contextlib.suppress(OSError):
                shutil.rmtree(self.part)
                return
            time.sleep(0.2)


def is_own_output(path: str, target: str | None = None) -> bool:
    """Whether a file was written by the same kind of command, so that it may be replaced.

    Parameters
    ----------
    path : str
        An existing file: a rated table, a form, a report or a model.
    target : str or None
        The column of the ratings; None for any.

    Returns
    -------
    own : bool
        Whether a rated table has the columns of answers about that target, or a report, a model or
        a table of groups its mark. A form or a rated table in which somebody has rated more rows
        is not: their work would be lost.
    """
    try:
        with open(path, "rb") as file:
            start = file.read(START)
        if not start or REPORT_MARK in start or start.startswith(GROUPS_MARK):
            return True
        if start[:2] == b"PK":
            with zipfile.ZipFile(path) as archive:
                if LABEL in archive.namelist():
                    return True
        table = read_table(path, empty=True)
    except (OSError, TableError, zipfile.BadZipFile):
        return False
    rated = _target_of_form(table, target)
    if rated is not None:
        return all(_as_written(cell) is None for cell in table[rated])
    return _has_answers(table.names, target) and not _has_new_ratings(table, target)


def _has_answers(names: Sequence[str], target: str | None) -> bool:
    """Whether a column has the confidence of the ratings of a target, or of any."""
    if target is None:
        return any(name.endswith("_confidence") for name in names)
    return f"{target}_confidence" in names


def _has_new_ratings(table: Table, target: str | None) -> bool:
    """Whether rows of a rated table have a rating now that was not given when it was written."""
    rated = [n.removesuffix("_source") for n in table.names if n.endswith("_source")]
    for name in rated if target is None else [target]:
        if not {name, f"{name}_source", f"{name}_predicted"} <= set(table.names):
            continue
        given = [str(source) == "given" for source in table[f"{name}_source"]]
        ratings = [_as_written(cell) for cell in table[name]]
        others = [rating for rating, g in zip(ratings, given, strict=True) if not g]
        filled = Counter(rating for rating in others if rating is not None)
        if not any(given):
            # Of `predict`: a column that is whole has the ratings of FILE, which it compares.
            if 0 < filled.total() < len(others):
                return True
            continue
        known = {rating for rating, g in zip(ratings, given, strict=True) if g}
        known |= {_as_written(cell) for cell in table[f"{name}_predicted"]}
        for rating, n in filled.most_common(1):
            if rating not in known and n > len(others) / 2:
                del filled[rating]  # it marks rows without a rating
        if filled:
            return True
    return False


def _as_written(cell: Any) -> Any:
    """A rating whichever format holds it; None for an empty cell."""
    value = number(cell)
    if value is None and isinstance(cell, float):  # NaN
        return None
    return value if value is not None else str("" if cell is None else cell).strip() or None


def _target_of_form(table: Table, target: str | None) -> str | None:
    """The column of the ratings of a form, with the record of draws or not; None if it is none."""
    if "row" not in table.names:
        return None
    for ending in (RECORD, "_confidence"):
        for rated in [n.removesuffix(ending) for n in table.names if n.endswith(ending)]:
            if target in (None, rated) and rated in table.names:
                return None if f"{rated}_source" in table.names else rated
    return None


def _same_file(one: str, other: str) -> bool:
    """Whether two paths are links to one file."""
    return os.path.exists(one) and os.path.exists(other) and os.path.samefile(one, other)

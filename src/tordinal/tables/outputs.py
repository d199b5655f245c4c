"""What a command writes: beside the destinations first, then moved there together."""

import contextlib
import errno
import io
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import IO

from tordinal.tables.values import TableError

__all__ = ["Outputs"]

LONGEST_NAME = 255  # bytes of a file name that file systems take


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
            with contextlib.suppress(BrokenPipeError):  # the reader of a pipe may leave
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


def _same_file(one: str, other: str) -> bool:
    """Whether two paths are links to one file."""
    return os.path.exists(one) and os.path.exists(other) and os.path.samefile(one, other)

"""The log of ratings beside a table: one line per event, on disk before it is confirmed.

The first line is a `Header`, every other line an `Event`. Lines are only ever appended. Several
processes may append at the same time: each takes a lock, and an event with an `id` that is in the
log already is not written again. The state of rows after these events is read by
`tordinal.tables.logged_ratings`.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tordinal.tables.file_lock import BINARY, lock, read_from, sync_folder, unlock
from tordinal.tables.files import PACKED
from tordinal.tables.rating_events import (
    EVENTS,
    Event,
    Header,
    check_event,
    checked_header,
    decode,
    encode,
    is_object,
    new_id,
    now,
    read_event,
    read_header,
    written,
)
from tordinal.tables.values import TableError, visible

__all__ = ["EVENTS", "Event", "Header", "RatingsLog", "new_id", "now", "ratings_path"]

SUFFIX = ".ratings.jsonl"


def ratings_path(table: str | os.PathLike[str]) -> Path:
    """The log of a table: the same however the path of the table is spelt.

    Parameters
    ----------
    table : path
        The table; links and relative paths are resolved.

    Returns
    -------
    path : Path
        Beside the table, with its name without the extension.

    Examples
    --------
    >>> ratings_path("/data/../data/reviews.csv.gz").name
    'reviews.ratings.jsonl'
    """
    path = Path(os.path.realpath(table))
    stem = Path(path.stem).stem if path.suffix.lower() in PACKED else path.stem
    return path.with_name(stem + SUFFIX)


class RatingsLog:
    """A log of ratings, read and appended to.

    Parameters
    ----------
    path : path
        The log, such as ``ratings_path("reviews.csv")``.
    header : Header or None, default=None
        What a new log is about. An existing log must have the same target and classes. None: the
        log must exist.

    Attributes
    ----------
    path : Path
        The file.
    header : Header
        Its first line.
    events : list of Event
        All that was read so far, in the order of the file and without repeated identifiers.

    Raises
    ------
    TableError
        If a line is no event, or the log is about other ratings; the message names the line.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> header = Header(target="stars", classes=[1, 2, 3], columns=["text"], n_rows=9, n_unrated=9)
    >>> log = RatingsLog(ratings_path(folder.name + "/reviews.csv"), header)
    >>> event = Event(event="rate", row=2, fingerprint="0" * 16, rating=3, probability=0.1)
    >>> log.append(event), log.append(event)
    (1, 0)
    >>> [e.rating for e in RatingsLog(log.path).events]
    [3]
    >>> folder.cleanup()
    """

    header: Header

    def __init__(self, path: str | os.PathLike[str], header: Header | None = None):
        self.path = Path(os.path.realpath(path))
        self.events: list[Event] = []
        self._ids: set[str] = set()
        self._offset, self._line, self._file = 0, 0, (0, 0)
        if header is None:
            if not self.path.exists():
                raise TableError(f"{self.path}: no such file")
            self.refresh()
            if self._line == 0:
                raise TableError(f"{self.path} is empty: its first line must say what is rated")
            return
        with self._locked(create=True) as descriptor:
            self._repair(descriptor)
            if self._line == 0:
                self._write(descriptor, [encode("start", checked_header(header))])
                sync_folder(self.path.parent)
                self._read(descriptor)
        self._check_same(header)

    def refresh(self) -> list[Event]:
        """Read what other processes have appended.

        Returns
        -------
        events : list of Event
            The new ones, which are at the end of `events`, too.
        """
        try:
            descriptor = os.open(self.path, os.O_RDONLY | BINARY)
        except OSError as error:
            raise TableError(f"{self.path}: cannot be read ({error.strerror})") from None
        try:
            return self._read(descriptor)
        finally:
            os.close(descriptor)

    def append(self, *events: Event, if_unchanged: bool = False) -> int:
        """Append events: they are on disk when this returns.

        Parameters
        ----------
        *events : Event
            What happened. Those whose `id` is in the log are skipped.
        if_unchanged : bool, default=False
            Whether to write nothing where others have appended events that were not read yet, as
            for the choice of a row that rests on the ratings so far. `events` then has theirs.

        Returns
        -------
        n_written : int
            How many were written.
        """
        for event in events:
            check_event(event, self.header)
        with self._locked() as descriptor:
            others = self._repair(descriptor)
            if others and if_unchanged:
                return 0
            new = {e.id: e for e in events if e.id not in self._ids}
            for event in new.values():
                if event.event == "undo" and event.of not in self._ids:
                    raise TableError(f"`of` {visible(event.of)}: there is no such event to undo")
            if new:
                self._write(descriptor, [encode(e.event, written(e)) for e in new.values()])
                self._read(descriptor)
        return len(new)

    # The file ------------------------------------------------------------------------------------

    @contextmanager
    def _locked(self, *, create: bool = False) -> Iterator[int]:
        """The file, open and locked against other writers."""
        flags = os.O_RDWR | BINARY | (os.O_CREAT if create else 0)
        try:
            descriptor = os.open(self.path, flags, 0o666)
        except OSError as error:
            raise TableError(f"{self.path}: cannot be written ({error.strerror})") from None
        try:
            try:
                lock(descriptor)
            except OSError as error:
                raise TableError(
                    f"{self.path}: cannot be locked ({error.strerror}); copy the table to a local "
                    "disk"
                ) from None
            try:
                yield descriptor
            finally:
                unlock(descriptor)
        finally:
            os.close(descriptor)

    def _repair(self, descriptor: int) -> list[Event]:
        """Read new events, and remove the last line where writing it was interrupted.

        A line without its end was never confirmed as saved. It is kept if it is whole.
        """
        events = self._read(descriptor)
        rest = read_from(descriptor, self._offset)
        if rest and is_object(rest):
            self._write(descriptor, [b"\n"])
            events += self._read(descriptor)
        elif rest:
            os.ftruncate(descriptor, self._offset)
            os.fsync(descriptor)
        return events

    def _write(self, descriptor: int, lines: list[bytes]) -> None:
        os.lseek(descriptor, 0, os.SEEK_END)
        data = memoryview(b"".join(lines))
        while len(data):
            data = data[os.write(descriptor, data) :]
        os.fsync(descriptor)

    def _read(self, descriptor: int) -> list[Event]:
        """Read whole lines from where reading ended."""
        status = os.fstat(descriptor)
        if (status.st_dev, status.st_ino) != self._file or status.st_size < self._offset:
            # Another file of this name: begin again.
            self._file, self._offset, self._line = (status.st_dev, status.st_ino), 0, 0
            self.events, self._ids = [], set()
        data = read_from(descriptor, self._offset)
        whole = data[: data.rfind(b"\n") + 1]
        new: list[Event] = []
        for line in whole.split(b"\n")[:-1]:
            self._take(line, new)
            self._line += 1
            self._offset += len(line) + 1
        return new

    def _take(self, line: bytes, new: list[Event]) -> None:
        """Add the event of one line."""
        where = f"{self.path}: line {self._line + 1}"
        if self._line == 0:
            values = decode(where, line.removeprefix(b"\xef\xbb\xbf"))
            self.header = read_header(where, values)
            return
        if not line.strip():
            return
        event = read_event(where, decode(where, line), self.header)
        if event.id not in self._ids:
            self._ids.add(event.id)
            self.events.append(event)
            new.append(event)

    def _check_same(self, header: Header) -> None:
        """Reject a log about other ratings than expected."""
        for what in ("target", "classes"):
            there, here = getattr(self.header, what), getattr(header, what)
            if there != here:
                raise TableError(
                    f"{self.path} has ratings with the {what} {visible(str(there))}, not "
                    f"{visible(str(here))}; go on with these, or move the file away"
                )

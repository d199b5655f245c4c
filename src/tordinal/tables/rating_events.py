"""The contents of a log of ratings: a header, and events that happened to rows, one per line."""

import json
import re
import uuid
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime
from typing import Any

from tordinal.tables.values import TableError, visible

__all__ = [
    "EVENTS",
    "Event",
    "Header",
    "check_event",
    "check_rater",
    "checked_header",
    "decode",
    "encode",
    "is_object",
    "new_id",
    "now",
    "read_event",
    "read_header",
    "written",
]

VERSION = 1
# What can happen to a row. "choose": it was drawn to be rated; "repeat": rated again, without
# replacing the first rating, to see whether the rater agrees with it; "unsure": shown, not rated;
# "keep": the rating was looked at again, and kept.
ROW_EVENTS = ("choose", "rate", "repeat", "skip", "unsure", "keep")
EVENTS = (*ROW_EVENTS, "undo")
LONGEST_LINE = 2**20  # bytes
LONGEST_NOTE, LONGEST_RATER = 10_000, 100
ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
FINGERPRINT = re.compile(r"[0-9a-f]{16}")


def now() -> str:
    """The time as the log writes it: ISO 8601, UTC, with milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def new_id() -> str:
    """A random identifier for an event."""
    return uuid.uuid4().hex


@dataclass(frozen=True, kw_only=True)
class Header:
    """The subject of the ratings in a log.

    Attributes
    ----------
    target : str
        The column of the ratings.
    classes : list
        All ratings from the lowest to the highest: texts or numbers.
    columns : list of str
        The columns whose cells make the fingerprint of a row.
    n_rows, n_unrated : int
        Rows of the table, and those without a rating, when the first row was chosen.
    table : str
        Name of the table's file, without its folder.
    time, id : str
        When the log was begun, and what identifies it.
    version : int
        Of this format.
    """

    target: str
    classes: list[Any]
    columns: list[str]
    n_rows: int
    n_unrated: int
    table: str = ""
    time: str = field(default_factory=now)
    id: str = field(default_factory=new_id)
    version: int = VERSION


@dataclass(frozen=True, kw_only=True)
class Event:
    """Something that happened to a row, or the undoing of it.

    Attributes
    ----------
    event : {"choose", "rate", "repeat", "skip", "unsure", "keep", "undo"}
        What happened.
    row : int, str or None
        Number of the row as in the table (`Table.number`); None for "undo".
    fingerprint : str
        That of the row's cells (`row_fingerprints` over the columns of the header).
    rating : object
        One of the classes, for "rate" and "repeat"; for "unsure" a guess or None.
    rater : str
        Who rated.
    time : str
        When.
    probability : float or None
        With which probability the row was chosen, given the rows chosen before. None: it was not
        drawn but looked up by the rater or imported.
    audit : bool
        Whether it was drawn uniformly from all unrated rows.
    n_left : int or None
        Rows without a rating among which it was drawn.
    note : str
        What the rater wrote.
    of : str
        For "undo" the `id` of the event that no longer counts. An undo can be undone.
    id : str
        What identifies the event: appended twice, it is in the log once.
    """

    event: str
    row: int | str | None = None
    fingerprint: str = ""
    rating: Any = None
    rater: str = ""
    time: str = field(default_factory=now)
    probability: float | None = None
    audit: bool = False
    n_left: int | None = None
    note: str = ""
    of: str = ""
    id: str = field(default_factory=new_id)


def encode(event: str, values: dict[str, Any]) -> bytes:
    """A line of the log."""
    text = json.dumps({"event": event, **values}, ensure_ascii=True, allow_nan=False)
    return text.encode() + b"\n"


def written(event: Event) -> dict[str, Any]:
    """The fields of an event that are set."""
    values = asdict(event)
    del values["event"]
    kept = () if event.event == "undo" else ("row", "fingerprint")
    # A rating of 0 equals False, and is written.
    return {
        k: v for k, v in values.items() if k in kept or not (v is None or v is False or v == "")
    }


def is_object(line: bytes) -> bool:
    """Whether a line is a whole JSON object."""
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def decode(where: str, line: bytes) -> dict[str, Any]:
    """The object of a line; the error names the line."""
    if len(line) > LONGEST_LINE:
        raise TableError(f"{where} is longer than {LONGEST_LINE:,} bytes; remove it")
    try:
        values = json.loads(line, parse_constant=lambda name: _no_constant(where, name))
    except TableError:
        raise
    except (ValueError, RecursionError) as error:
        shown = visible(line[:60].decode("utf-8", "replace"))
        raise TableError(
            f"{where} is not JSON ({visible(str(error))[:100]}): {shown!r}. Correct it, or remove "
            "the line"
        ) from None
    if not isinstance(values, dict):
        raise TableError(f"{where} is not an object; correct it, or remove the line")
    return values


def _no_constant(where: str, name: str) -> None:
    raise TableError(f"{where} holds {name}, which is not a number; correct it, or remove the line")


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_rating(value: Any) -> bool:
    return isinstance(value, (str, int, float)) and not isinstance(value, bool) and value != ""


def _is_note(value: Any, longest: int) -> bool:
    """Whether a value is text of at most `longest` letters, all of them whole characters."""
    if not isinstance(value, str) or len(value) > longest:
        return False
    return not any("\ud800" <= c <= "\udfff" for c in value)


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(v, str) for v in value)


HEADER_FIELDS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "version": (_is_count, "a whole number"),
    "target": (lambda v: isinstance(v, str), "the name of a column"),
    "classes": (
        lambda v: isinstance(v, list) and len(v) >= 2 and all(map(_is_rating, v))
        and len({str(c) for c in v}) == len(v),
        "a list of at least two different ratings",
    ),
    "columns": (_is_texts, "a list of names of columns"),
    "n_rows": (_is_count, "a whole number"),
    "n_unrated": (_is_count, "a whole number"),
    "table": (lambda v: isinstance(v, str), "text"),
    "time": (lambda v: isinstance(v, str), "text"),
    "id": (lambda v: isinstance(v, str) and bool(ID.fullmatch(v)), "1 to 64 letters or digits"),
}  # fmt: skip
EVENT_FIELDS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "row": (lambda v: v is None or _is_count(v) or isinstance(v, str), "the number of a row"),
    "fingerprint": (
        lambda v: v == "" or (isinstance(v, str) and bool(FINGERPRINT.fullmatch(v))),
        "16 hexadecimal digits",
    ),
    "rating": (lambda v: v is None or _is_rating(v), "text or a number"),
    "rater": (
        lambda v: _is_note(v, LONGEST_RATER),
        f"a name of at most {LONGEST_RATER} letters",
    ),
    "time": (lambda v: isinstance(v, str) and len(v) <= 40, "a time"),
    "probability": (
        lambda v: v is None
        or (isinstance(v, (int, float)) and not isinstance(v, bool) and 0 < v <= 1),
        "a number above 0 and at most 1",
    ),
    "audit": (lambda v: isinstance(v, bool), "true or false"),
    "n_left": (lambda v: v is None or (_is_count(v) and v > 0), "a whole number above 0"),
    "note": (
        lambda v: _is_note(v, LONGEST_NOTE),
        f"text of at most {LONGEST_NOTE:,} letters",
    ),
    "of": (lambda v: isinstance(v, str) and len(v) <= 64, "the id of an event"),
    "id": HEADER_FIELDS["id"],
}  # fmt: skip


def _check_fields(
    where: str, values: dict[str, Any], known: dict[str, tuple[Callable[[Any], bool], str]]
) -> dict[str, Any]:
    """The known fields that are there; others, of a later version, are passed over."""
    for name, (valid, expected) in known.items():
        if name in values and not valid(values[name]):
            shown = visible(str(values[name])[:60])
            raise TableError(f"{where}: {name} {shown!r} must be {expected}")
    return {name: values[name] for name in known if name in values}


def read_header(where: str, values: dict[str, Any]) -> Header:
    """The header that the first line holds."""
    version = values.get("version")
    if values.get("event") != "start" or not _is_count(version):
        raise TableError(f"{where} must be the start of a log of ratings; is it another file?")
    if values["version"] > VERSION:
        raise TableError(f"{where} was written by a later version of tordinal; update tordinal")
    absent = [f for f in ("target", "classes", "columns", "n_rows", "n_unrated") if f not in values]
    if absent:
        raise TableError(f"{where} does not say what is rated: {', '.join(absent)} missing")
    return Header(**_check_fields(where, values, HEADER_FIELDS))


def checked_header(header: Header) -> dict[str, Any]:
    """The fields of a header, which are valid."""
    values = asdict(header)
    _check_fields("header", values, HEADER_FIELDS)
    return values


def read_event(where: str, values: dict[str, Any], header: Header) -> Event:
    """The event that a line holds."""
    event = values.get("event")
    if event not in EVENTS:
        raise TableError(
            f"{where}: event {visible(str(event)[:60])!r} must be one of {', '.join(EVENTS)}; was "
            "it written by a later version of tordinal?"
        )
    if "id" not in values:
        raise TableError(f"{where} has no id")
    found = Event(event=event, **_check_fields(where, values, EVENT_FIELDS))
    _check_kind(where, found, header)
    return found


def check_event(event: Event, header: Header) -> None:
    """Reject an event that must not be written."""
    if event.event not in EVENTS:
        raise TableError(f"event {event.event!r} must be one of {', '.join(EVENTS)}")
    _check_fields("event", {f.name: getattr(event, f.name) for f in fields(event)}, EVENT_FIELDS)
    _check_kind("event", event, header)


def check_rater(rater: str) -> None:
    """Reject a name of a rater that the log cannot hold."""
    _check_fields("event", {"rater": rater}, EVENT_FIELDS)


def _check_kind(where: str, event: Event, header: Header) -> None:
    """Check the fields that each kind of event needs."""
    if event.event == "undo":
        if not event.of:
            raise TableError(f"{where}: an undo must name the event that no longer counts")
        return
    if event.row is None or not event.fingerprint:
        raise TableError(f"{where}: {event.event!r} needs the row and its fingerprint")
    if event.event in ("rate", "repeat") and event.rating is None:
        raise TableError(f"{where}: {event.event!r} needs a rating")
    if event.rating is not None and event.rating not in header.classes:
        shown, known = visible(str(event.rating)[:60]), visible(", ".join(map(str, header.classes)))
        raise TableError(f"{where}: the rating {shown!r} is not on the scale {known}")

"""Ratings to and from other tools: CSV, Label Studio JSON and Prodigy JSON lines.

What other tools write is turned into events of the log; rows are found by the number that was
exported with them.
"""

import csv
import hashlib
import io
import json
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from tordinal.tables.filled import recorded
from tordinal.tables.logged_ratings import LoggedRatings
from tordinal.tables.rating_events import Event, Header, now
from tordinal.tables.rating_order import rank_of
from tordinal.tables.selection import Draw
from tordinal.tables.table import Table, cell_text
from tordinal.tables.values import TableError, number, visible

__all__ = ["EXPORTS", "IMPORTS", "export_ratings", "import_ratings", "news_of"]

LABEL = "rating"  # name of the control that holds the rating


def export_ratings(
    kind: str, table: Table, header: Header, logged: LoggedRatings, text: str | None = None
) -> str:
    """Write the ratings that count for another tool.

    Parameters
    ----------
    kind : {"csv", "label-studio", "prodigy"}
        The format. A CSV can be given to ``tordinal label --ratings``.
    table : Table
        The table.
    header : Header
        The header of the log.
    logged : LoggedRatings
        Its ratings.
    text : str or None
        The column that the other tool shows. None: all columns of the row.

    Returns
    -------
    content : str
        The file.
    """
    if kind not in EXPORTS:
        raise TableError(f"`kind` {kind}: choose from {', '.join(EXPORTS)}")
    return EXPORTS[kind](table, header, logged, text)


def import_ratings(
    kind: str, content: str, table: Table, header: Header, prints: Sequence[str]
) -> list[Event]:
    """Read the ratings that another tool has written.

    Parameters
    ----------
    kind : {"csv", "label-studio", "prodigy"}
        The format.
    content : str
        The file.
    table : Table
        The table.
    header : Header
        The header of the log.
    prints : sequence of str
        Fingerprints of the rows (`table_fingerprints`).

    Returns
    -------
    events : list of Event
        For `RatingsLog.append`. The same content gives events with the same identifiers, so that
        it can be imported twice without doubling a rating.

    Raises
    ------
    TableError
        If the content is not of this format, or a rating is not on the scale.
    """
    if kind not in IMPORTS:
        raise TableError(f"`kind` {kind}: choose from {', '.join(IMPORTS)}")
    places = {str(table.number(i)): i for i in range(len(table))}
    events = []
    for where, fields in IMPORTS[kind](content, header.target):
        label = cell_text(fields.pop("row")).strip().removesuffix(".0")
        if label not in places:
            raise TableError(f"{where}: the table has no row {visible(label)!r}")
        i = places[label]
        given = fields.pop("rating")
        rank = rank_of(given, header.classes)
        if rank is None:
            known = ", ".join(map(str, header.classes))
            raise TableError(
                f"{where}: the rating {visible(cell_text(given))!r} of row {label} is not on the "
                f"scale {visible(known)}"
            )
        rating, rater = header.classes[rank], fields.get("rater") or ""
        fields = {name: value for name, value in fields.items() if value not in (None, "")}
        _check_time(where, fields.get("time"))
        key = json.dumps([label, prints[i], str(rating), rater, fields.get("time", "")])
        identifier = hashlib.blake2b(key.encode("utf-8", "surrogatepass"), digest_size=16)
        fields.setdefault("time", "")
        events.append(
            Event(event="rate", row=table.number(i), fingerprint=prints[i], rating=rating,
                  id=identifier.hexdigest(), **fields)
        )  # fmt: skip
    return events


def news_of(
    events: Sequence[Event], known: Container[str], logged: LoggedRatings, places: Mapping[str, int]
) -> list[Event]:
    """The imported ratings that change what is logged.

    One that the rater has given, or that is older than theirs, changes nothing. Without a time it
    is of now.

    Parameters
    ----------
    events : sequence of Event
        From `import_ratings`.
    known : container of str
        Identifiers of the events in the log.
    logged : LoggedRatings
        What the log says.
    places : mapping of str to int
        The place of each row by its number.

    Returns
    -------
    new : list of Event
        For `RatingsLog.append`.
    """
    new = []
    last = {(event.row, event.rater): event for event in events}
    for event in last.values():
        present = logged.ratings.get(places[str(event.row)], {}).get(event.rater)
        if present is not None:
            if present.rating == event.rating:
                continue
            if event.time and _moment(event.time) < _moment(present.time):
                continue
            if event.id in known:  # given, changed and given again
                key = f"{event.id} {present.id}".encode()
                event = replace(event, id=hashlib.blake2b(key, digest_size=16).hexdigest())
        new.append(event if event.time else replace(event, time=now()))
    return new


def _moment(time: str) -> datetime:
    """A time that can be compared; without a zone it is UTC."""
    try:
        moment = datetime.fromisoformat(time)
    except ValueError:
        return datetime.max.replace(tzinfo=UTC)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _check_time(where: str, time: str | None) -> None:
    try:
        datetime.fromisoformat(time or now())
    except ValueError:
        raise TableError(
            f"{where}: the time {visible(str(time)[:60])!r} must be written as in {now()}"
        ) from None


# CSV ----------------------------------------------------------------------------------------------


def _write_csv(table: Table, header: Header, logged: LoggedRatings, text: str | None) -> str:
    """One line per row and rater, with the record of its draw: a form that was filled in."""
    drawn = {c.place: Draw(c.place, c.probability, c.n_left, c.audit) for c in logged.choices}
    names = list(recorded([], header.target))
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["row", header.target, "rater", "time", "note", *names])
    for i, by_rater in logged.ratings.items():
        record = [c[0] for c in recorded([drawn[i]], header.target).values()] if i in drawn else []
        for rater, event in by_rater.items():
            writer.writerow([
                table.number(i), event.rating, rater, event.time, event.note,
                *(record or [""] * len(names)),
            ])  # fmt: skip
    return file.getvalue()


def _read_csv(content: str, target: str) -> Iterator[tuple[str, dict[str, Any]]]:
    content = content.removeprefix("\ufeff")
    # A spreadsheet writes semicolons where decimals have a comma.
    delimiter = max(",;\t", key=content.partition("\n")[0].count)
    reader = csv.DictReader(io.StringIO(content), delimiter=delimiter)
    absent = [name for name in ("row", target) if name not in (reader.fieldnames or [])]
    if absent:
        raise TableError(f"the file has no column {visible(absent[0])!r}")
    names = list(recorded([], target))
    for values in reader:
        if not (values[target] or "").strip():
            continue
        fields = {name: values.get(name) or "" for name in ("rater", "time", "note")}
        fields |= {"row": values["row"], "rating": values[target]}
        chance = number((values.get(names[0]) or "").replace(",", "."))
        if chance is not None and 0 < chance <= 1:
            left = number(values.get(names[2]) or "")
            fields |= {
                "probability": chance, "audit": values.get(names[1]) == "yes",
                "n_left": int(left) if left is not None and left >= 1 else None,
            }  # fmt: skip
        yield f"line {reader.line_num}", fields


# Label Studio -------------------------------------------------------------------------------------


def _task(table: Table, i: int, text: str | None) -> dict[str, Any]:
    """The cells of a row that are shown."""
    names = table.names if text is None else [text]
    return {name: cell_text(table[name][i]) for name in names}


def _write_label_studio(
    table: Table, header: Header, logged: LoggedRatings, text: str | None
) -> str:
    """Tasks with annotations, as Label Studio imports them; the control is a `Choices`."""
    shown = text or header.columns[0]
    tasks = []
    for i, by_rater in logged.ratings.items():
        annotations = [
            {
                "result": [{
                    "from_name": LABEL, "to_name": shown, "type": "choices",
                    "value": {"choices": [str(event.rating)]},
                }],
                "completed_by": {"email": rater}, "created_at": event.time,
                "meta": {"note": event.note},
            }
            for rater, event in by_rater.items()
        ]  # fmt: skip
        data = _task(table, i, text) | {"row": table.number(i)}
        tasks.append({"data": data, "annotations": annotations})
    return json.dumps(tasks, ensure_ascii=False, indent=1, default=str) + "\n"


def _read_label_studio(content: str, target: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Choices, and ratings as stars (`Rating`) or numbers (`Number`)."""
    for k, task in enumerate(_json(content, list, "a list of tasks"), start=1):
        data = task.get("data") if isinstance(task, dict) else None
        if not isinstance(data, dict) or "row" not in data:
            raise TableError(f"task {k} has no data with a row: was it exported for another table?")
        for annotation in _list_of(task, "annotations", f"task {k}"):
            if not isinstance(annotation, dict):
                raise TableError(f"task {k} has an annotation that is not an object")
            if annotation.get("was_cancelled"):
                continue
            regions = _list_of(annotation, "result", f"task {k}")
            rating = next(filter(None, map(_choice, regions)), None)
            if rating is None:
                continue
            by = annotation.get("completed_by")
            yield (
                f"task {k}",
                {
                    "row": data["row"], "rating": rating,
                    "rater": str(by.get("email", "") if isinstance(by, dict) else by or ""),
                    "time": str(
                        annotation.get("updated_at") or annotation.get("created_at") or ""
                    )[:40],
                },
            )  # fmt: skip


def _list_of(values: dict[str, Any], name: str, where: str) -> list[Any]:
    """The list of this name; empty where there is none."""
    found = values.get(name) or []
    if not isinstance(found, list):
        raise TableError(f"{where}: {name} must be a list")
    return found


def _choice(result: Any) -> str | None:
    """The rating of one region of an annotation."""
    value = result.get("value") if isinstance(result, dict) else None
    if not isinstance(value, dict):
        return None
    for name in ("choices", "rating", "number"):
        if name in value:
            found = value[name]
            return str(found[0] if isinstance(found, list) and found else found)
    return None


# Prodigy ------------------------------------------------------------------------------------------


def _write_prodigy(table: Table, header: Header, logged: LoggedRatings, text: str | None) -> str:
    """Lines of the `choice` interface."""
    lines = []
    options = [{"id": str(c), "text": str(c)} for c in header.classes]
    for i, by_rater in logged.ratings.items():
        shown = _task(table, i, text)
        for rater, event in by_rater.items():
            lines.append({
                "text": shown[text] if text else "\n".join(f"{k}: {v}" for k, v in shown.items()),
                "meta": {"row": table.number(i)}, "options": options,
                "accept": [str(event.rating)], "answer": "accept",
                "_annotator_id": rater, "_timestamp": _seconds(event.time),
            })  # fmt: skip
    return "".join(json.dumps(line, ensure_ascii=False, default=str) + "\n" for line in lines)


def _read_prodigy(content: str, target: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for number_, line in enumerate(content.split("\n"), start=1):
        if not line.strip():
            continue
        where = f"line {number_}"
        task = _json(line, dict, "an object", where)
        meta, accept = task.get("meta"), task.get("accept")
        if not isinstance(meta, dict) or "row" not in meta:
            raise TableError(f"{where} has no row in its meta: was it exported for another table?")
        if task.get("answer") != "accept" or not isinstance(accept, list) or not accept:
            continue
        yield (
            where,
            {
                "row": meta["row"], "rating": str(accept[0]),
                "rater": str(task.get("_annotator_id") or ""),
                "time": _time(task.get("_timestamp")),
            },
        )  # fmt: skip


def _seconds(time: str) -> int:
    """A time of the log in seconds since 1970."""
    return int(datetime.fromisoformat(time).timestamp())


def _time(seconds: Any) -> str:
    if not isinstance(seconds, (int, float)) or not 0 <= seconds < 2**33:
        return ""
    return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")


def _json(content: str, kind: type, what: str, where: str = "the file") -> Any:
    try:
        value = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise TableError(f"{where} is not JSON: {visible(str(error))[:100]}") from None
    if not isinstance(value, kind):
        raise TableError(f"{where} must be {what}")
    return value


Write = Callable[[Table, Header, LoggedRatings, "str | None"], str]
Read = Callable[[str, str], Iterator[tuple[str, dict[str, Any]]]]
EXPORTS: dict[str, Write] = {
    "csv": _write_csv, "label-studio": _write_label_studio, "prodigy": _write_prodigy,
}  # fmt: skip
IMPORTS: dict[str, Read] = {
    "csv": _read_csv, "label-studio": _read_label_studio, "prodigy": _read_prodigy,
}  # fmt: skip

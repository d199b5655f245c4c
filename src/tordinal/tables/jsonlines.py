"""JSON lines: an object a line."""

import json
import math
import re
from typing import IO, Any

from tordinal.tables.formats import Format
from tordinal.tables.table import Table
from tordinal.tables.values import TableError

__all__ = ["FORMAT", "read_jsonlines", "write_jsonlines"]

SURROGATE = re.compile("[\ud800-\udfff]")


def read_jsonlines(path: str, text: str) -> Table:
    """Read objects; a key that is not in all of them is a missing value in the others."""
    objects: list[dict[str, Any]] = []
    records: list[str] = []
    names: dict[str, None] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        record = line.strip()
        if not record:
            continue
        try:
            value = json.loads(record)
        except ValueError as error:
            raise TableError(f"{path}: line {number} is not JSON: {error}") from None
        except RecursionError:
            raise TableError(f"{path}: line {number} is nested too deeply") from None
        if not isinstance(value, dict):
            raise TableError(
                f"{path}: line {number} is not an object; "
                'write one row per line, as {"column": value}'
            )
        if "\\u" in record and SURROGATE.search(json.dumps(value, ensure_ascii=False)):
            raise TableError(
                f"{path}: line {number} holds half of a surrogate pair (\\ud800 to "
                "\\udfff); remove it"
            )
        objects.append(value)
        records.append(record)
        names.update(dict.fromkeys(value))
    columns = [[row.get(name) for row in objects] for name in names]
    newline = "\r\n" if "\r\n" in text[:100_000] else "\n"
    return Table(list(names), columns, "jsonl", records, newline=newline)


def write_jsonlines(table: Table, added: dict[str, list[Any]], text: IO[str]) -> None:
    """Write objects; those that were read keep their spelling."""

    def encode(names: list[str], row: tuple[Any, ...]) -> str:
        # JSON has no NaN.
        values = (None if isinstance(v, float) and not math.isfinite(v) else v for v in row)
        return json.dumps(dict(zip(names, values, strict=True)), ensure_ascii=False, default=str)

    if table.format == "jsonl" and table.records:
        for record, *row in zip(table.records, *added.values(), strict=True):
            start = record[:-1].rstrip()
            text.write(
                start
                + ("" if start == "{" else ", ")
                + encode(list(added), tuple(row))[1:]
                + table.newline
            )
        return
    for row_ in zip(*table.columns, *added.values(), strict=True):
        text.write(encode([*table.names, *added], row_) + "\n")


FORMAT = Format(
    name="jsonl",
    title="JSON lines",
    suffixes=(".jsonl", ".ndjson"),
    read=lambda path, text, sheet: read_jsonlines(path, text),
    write=lambda table, added, file, decimal: write_jsonlines(table, added, file),
    magic=lambda start: start.lstrip(b"\xef\xbb\xbf \r\n\t")[:1] == b"{",
    text=True,
)

"""Tables in files: CSV, TSV, JSON lines and Parquet.

What is read is kept as it was written: a row of a CSV or JSON-lines file goes out byte for byte,
with cells added at its end.
"""

import csv
import io
import json
import math
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any

from tordinal.tables.values import TableError

__all__ = ["Table", "read_table", "write_table"]

FORMATS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
}
KNOWN = "CSV (.csv), TSV (.tsv), JSON lines (.jsonl) or Parquet (.parquet)"


@dataclass
class Table:
    """A table with its cells as Python values (text in CSV and TSV), column by column.

    Attributes
    ----------
    names : list of str
        Names of the columns.
    columns : list of list
        Their cells.
    format : {"csv", "tsv", "jsonl", "parquet"}
        How it was stored.
    records : list of str
        The rows of a text format as they were written, without the end of line.
    header : str
        The same for the header of CSV and TSV.
    delimiter, newline, bom, encoding
        How a text format was written.
    arrow : pyarrow.Table or None
        The table as Parquet had it.
    """

    names: list[str]
    columns: list[list[Any]]
    format: str
    records: list[str] = field(default_factory=list)
    header: str = ""
    delimiter: str = ","
    newline: str = "\n"
    bom: bool = False
    encoding: str = "utf-8"
    arrow: Any = None

    def __len__(self) -> int:
        return len(self.columns[0]) if self.columns else 0

    def __getitem__(self, name: str) -> list[Any]:
        return self.columns[self.names.index(name)]

    def features(self, target: str) -> dict[str, list[Any]]:
        """All columns but the target."""
        return {n: c for n, c in zip(self.names, self.columns, strict=True) if n != target}

    @property
    def decimal(self) -> str:
        """The decimal separator where a number does not tell: between semicolons, a comma."""
        return "," if self.delimiter == ";" else "."

    def without(self, names: Sequence[str]) -> "Table":
        """The table without some columns; its rows are written anew."""
        kept = [i for i, name in enumerate(self.names) if name not in names]
        arrow = None if self.arrow is None else self.arrow.drop_columns(list(names))
        return replace(
            self,
            names=[self.names[i] for i in kept],
            columns=[self.columns[i] for i in kept],
            records=[],
            arrow=arrow,
        )

    def order(self, name: str) -> list[str] | None:
        """The order of an ordered categorical of Parquet, None for any other column."""
        kind = None if self.arrow is None else self.arrow.schema.field(name).type
        if kind is None or not getattr(kind, "ordered", False):
            return None
        return [str(v) for v in self.arrow.column(name).combine_chunks().dictionary.to_pylist()]


def format_of(path: str, *, default: str | None = None) -> str:
    """The format of a file by its extension; standard streams have the default."""
    if path == "-" and default is not None:
        return default
    suffix = Path(path).suffix.lower()
    if suffix not in FORMATS:
        raise TableError(
            f"{path}: cannot tell the format from {suffix or 'a name without extension'!r}; "
            f"use {KNOWN}"
        )
    return FORMATS[suffix]


# Reading ------------------------------------------------------------------------------------------


def read_table(path: str, encoding: str | None = None) -> Table:
    """Read a table.

    Parameters
    ----------
    path : str
        File, or ``-`` for standard input, whose format is then told from its first bytes.
    encoding : str or None
        Encoding of a text format. None: UTF-8, or UTF-16 where the file says so.

    Returns
    -------
    table : Table
        The table.

    Raises
    ------
    TableError
        If there is no such file, or it is not such a table.
    """
    if path == "-":
        data = sys.stdin.buffer.read()
        kind = _sniff(data)
        path = "standard input"
    else:
        if Path(path).is_dir():
            raise TableError(f"{path} is a directory; name a file")
        kind = format_of(path)
        try:
            data = Path(path).read_bytes()
        except FileNotFoundError:
            raise TableError(f"{path}: no such file") from None
        except OSError as error:
            raise TableError(f"{path}: cannot be read ({error.strerror})") from None
    if not data:
        raise TableError(f"{path} is empty")
    table = (
        _read_parquet(path, data) if kind == "parquet" else _read_text(path, data, kind, encoding)
    )
    seen: set[str] = set()
    for name in table.names:
        if name in seen:
            raise TableError(f"{path}: two columns are named {name!r}; rename one")
        seen.add(name)
    if len(table) == 0:
        raise TableError(f"{path} has no rows")
    return table


def _sniff(data: bytes) -> str:
    """The format of standard input."""
    if data[:4] == b"PAR1":
        return "parquet"
    start = data[:4096].lstrip(b"\xef\xbb\xbf \r\n\t")
    if start[:1] == b"{":
        return "jsonl"
    first = start.split(b"\n", 1)[0]
    return "tsv" if b"\t" in first and b"," not in first else "csv"


def _read_parquet(path: str, data: bytes) -> Table:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        # Without threads: one that still runs when a refused table ends the process makes it abort.
        arrow = pq.read_table(io.BytesIO(data), use_threads=False, pre_buffer=False)
    except (pa.ArrowException, OSError) as error:
        raise TableError(f"{path} is not a Parquet file: {error}") from None
    return Table(
        [str(n) for n in arrow.column_names],
        [c.to_pylist() for c in arrow.columns],
        "parquet",
        arrow=arrow,
    )


def _read_text(path: str, data: bytes, kind: str, encoding: str | None) -> Table:
    if encoding is None and data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        encoding = "utf-16"
    elif b"\0" in data and (
        encoding is None or not encoding.lower().replace("-", "").startswith(("utf16", "utf32"))
    ):
        line = data[: data.index(b"\0")].count(b"\n") + 1
        raise TableError(f"{path} is not a text file: line {line} holds binary data. Use {KNOWN}")
    bom = data[:3] == b"\xef\xbb\xbf"
    if bom and (encoding or "utf-8").lower().replace("_", "-") in ("utf-8", "utf8", "utf-8-sig"):
        encoding = "utf-8"
    try:
        text = data.decode(encoding or "utf-8").removeprefix("\ufeff")
    except LookupError:
        raise TableError(
            f"`encoding` {encoding}: no such encoding; try cp1252 or latin-1"
        ) from None
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise TableError(
            f"{path}: line {line} is not {encoding or 'UTF-8'} (byte 0x{data[error.start]:02x}). "
            "Name the right encoding, for example `encoding` cp1252"
        ) from None
    table = _read_jsonl(path, text) if kind == "jsonl" else _read_csv(path, text, kind)
    table.bom, table.encoding = bom, encoding or "utf-8"
    end = text.find("\n")
    table.newline = "\r\n" if end > 0 and text[end - 1] == "\r" else "\n"
    return table


class _Lines:
    """The lines of a text; `taken` returns those read since it was last called."""

    def __init__(self, text: str):
        self._lines = iter(io.StringIO(text, newline="").readline, "")
        self.number = 0
        self._taken: list[str] = []

    def __iter__(self) -> "_Lines":
        return self

    def __next__(self) -> str:
        line = next(self._lines)
        self.number += 1
        self._taken.append(line)
        return line

    def taken(self) -> str:
        record = "".join(self._taken).rstrip("\r\n")
        self._taken.clear()
        return record


def _read_csv(path: str, text: str, kind: str) -> Table:
    """Read records with the csv module, which knows on which line each one ends."""
    first = next((line for line in text.splitlines() if line.strip()), "")
    first = re.sub(r'"[^"]*"', "", first)  # without quoted names
    delimiter = "\t" if kind == "tsv" else ";" if ";" in first and "," not in first else ","
    # The default refuses 128 kB of text.
    csv.field_size_limit(sys.maxsize if sys.maxsize < 2**31 else 2**31 - 1)
    lines = _Lines(text)
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    rows: list[list[str]] = []
    records: list[str] = []
    start = 1
    try:
        for row in reader:
            record = lines.taken()
            if row:  # a blank line is no row
                if rows and len(row) != len(rows[0]):
                    raise TableError(
                        f"{path}: line {start} has {len(row)} cells, "
                        f"the header has {len(rows[0])}. "
                        "Put quotes around cells that hold the delimiter"
                    )
                rows.append(row)
                records.append(record)
            start = lines.number + 1
    except csv.Error as error:
        raise TableError(
            f"{path}: line {start}: {error}. A quote may be open or doubled wrongly"
        ) from None
    if not rows:
        raise TableError(f"{path} is empty")
    columns = [list(cells) for cells in zip(*rows[1:], strict=True)] or [[] for _ in rows[0]]
    return Table(rows[0], columns, kind, records[1:], records[0], delimiter)


def _read_jsonl(path: str, text: str) -> Table:
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
                'write one row a line, as {"column": value}'
            )
        objects.append(value)
        records.append(record)
        names.update(dict.fromkeys(value))
    columns = [[row.get(name) for row in objects] for name in names]
    return Table(list(names), columns, "jsonl", records)


# Writing ------------------------------------------------------------------------------------------


def write_table(table: Table, added: dict[str, list[Any]], file: IO[bytes], kind: str) -> None:
    """Write a table with columns added.

    Parameters
    ----------
    table : Table
        What was read.
    added : dict of str to list
        Columns to put at the end.
    file : binary file
        Where to.
    kind : {"csv", "tsv", "jsonl", "parquet"}
        The format to write. The format that was read keeps rows as they were written.
    """
    if kind == "parquet":
        _write_parquet(table, added, file)
        return
    encoding = table.encoding if kind == table.format else "utf-8"
    text = io.TextIOWrapper(file, encoding=encoding, newline="", write_through=True)
    if table.bom and kind == table.format:
        text.write("\ufeff")
    (_write_jsonl if kind == "jsonl" else _write_csv)(table, added, text, kind)
    text.detach()


def _write_csv(table: Table, added: dict[str, list[Any]], text: IO[str], kind: str) -> None:
    same = table.format == kind
    faithful = same and bool(table.records)  # rows as they were written
    delimiter = table.delimiter if same else "\t" if kind == "tsv" else ","
    newline = table.newline if same else "\n"
    writer = csv.writer(text, delimiter=delimiter, lineterminator=newline)
    if not faithful:
        writer.writerow([*table.names, *added])
        writer.writerows(
            [_cell(v) for v in row] for row in zip(*table.columns, *added.values(), strict=True)
        )
        return
    text.write(table.header + delimiter)
    writer.writerow(list(added))
    for record, *cells in zip(table.records, *added.values(), strict=True):
        text.write(record + delimiter)
        writer.writerow([_cell(v) for v in cells])


def _cell(value: Any) -> str:
    """A value as a cell of a text table."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return (
        json.dumps(value, ensure_ascii=False, default=str)
        if isinstance(value, (dict, list))
        else str(value)
    )


def _write_jsonl(table: Table, added: dict[str, list[Any]], text: IO[str], kind: str) -> None:
    def encode(names: list[str], row: tuple[Any, ...]) -> str:
        # JSON has no NaN.
        values = (None if isinstance(v, float) and not math.isfinite(v) else v for v in row)
        return json.dumps(dict(zip(names, values, strict=True)), ensure_ascii=False, default=str)

    if table.format == kind and table.records:
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


def _write_parquet(table: Table, added: dict[str, list[Any]], file: IO[bytes]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    arrow = table.arrow
    if arrow is None:
        arrow = pa.table(
            {name: _arrow(cells) for name, cells in zip(table.names, table.columns, strict=True)}
        )
    for name, values in added.items():
        arrow = arrow.append_column(name, _arrow(values))
    pq.write_table(arrow, file)


def _arrow(values: list[Any]) -> Any:
    """A column of Parquet; values that have no common type become text."""
    import pyarrow as pa

    try:
        return pa.array(values)
    except (pa.ArrowException, TypeError):
        return pa.array([None if v is None else _cell(v) for v in values])

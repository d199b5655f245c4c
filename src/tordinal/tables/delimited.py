"""CSV and similar formats: cells between commas, semicolons, tabs or bars."""

import csv
import io
import sys
from collections import Counter
from itertools import islice
from typing import IO, Any

from tordinal.tables.formats import Format
from tordinal.tables.table import Table, cell_text, unique_names
from tordinal.tables.values import TableError

__all__ = ["FORMATS", "read_delimited", "write_delimited"]

DELIMITERS = (",", ";", "\t", "|")
INSPECTED = 50  # records from which the delimiter and titles are inferred


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


def read_delimited(path: str, text: str, kind: str) -> Table:
    r"""Read records with the csv module, which knows on which line each one ends.

    Parameters
    ----------
    path : str
        Name of the file, for errors.
    text : str
        What it holds.
    kind : {"csv", "tsv"}
        With "tsv" the delimiter is a tab.

    Returns
    -------
    table : Table
        The table.

    Examples
    --------
    >>> table = read_delimited("a.csv", "sep=;\nReviews of 2023\nname;stars\nTea;5\n", "csv")
    >>> table.names, table.columns, table.notes
    (['name', 'stars'], [['Tea'], ['5']], ["1 line above the header is a title: 'Reviews of 2023'"])
    """
    # The default limit is 128 kB of text.
    csv.field_size_limit(sys.maxsize if sys.maxsize < 2**31 else 2**31 - 1)
    first = text[: text.find("\n")].strip().strip('"').lower() if "\n" in text else ""
    named = first[4:] if first.startswith("sep=") and len(first) == 5 else None
    delimiter = named or ("\t" if kind == "tsv" else _delimiter(text))
    rows, records, starts = _records(path, text, delimiter)
    head = 1 if named else 0  # the line that names the delimiter, as Excel writes it
    titles = _titles(rows[head : head + INSPECTED])
    head += titles
    notes: list[str] = []
    if titles:
        title = next(c for row in rows[head - titles : head] for c in row if c.strip())
        lines = "1 line above the header is a title" if titles == 1 else (
            f"{titles} lines above the header are titles"
        )  # fmt: skip
        notes.append(f"{lines}: {title!r}")
    if head >= len(rows):
        raise TableError(f"{path} has no rows")
    width = len(rows[head])
    for start, row in zip(starts[head + 1 :], rows[head + 1 :], strict=True):
        if len(row) != width:
            raise TableError(
                f"{path}: line {start} has {len(row)} cells, the header has {width}. "
                "Put quotes around cells that hold the delimiter"
            )
    columns = [list(cells) for cells in zip(*rows[head + 1 :], strict=True)] or [
        [] for _ in range(width)
    ]
    newline = "\r\n" if "\r\n" in text[:100_000] else "\n"
    return Table(
        unique_names(rows[head], notes), columns, kind, records[head + 1 :],
        newline.join(records[: head + 1]), head + 1 - bool(named), delimiter, newline, notes=notes,
    )  # fmt: skip


def _records(path: str, text: str, delimiter: str) -> tuple[list[list[str]], list[str], list[int]]:
    """Cells of each record, how it was written, and its line."""
    lines = _Lines(text)
    rows: list[list[str]] = []
    records: list[str] = []
    starts: list[int] = []
    start = 1
    try:
        for row in csv.reader(lines, delimiter=delimiter, strict=True):
            record = lines.taken()
            if row:  # a blank line is not a row
                rows.append(row)
                records.append(record)
                starts.append(start)
            start = lines.number + 1
    except csv.Error as error:
        raise TableError(
            f"{path}: line {start}: {error}. A quote may be open or doubled wrongly"
        ) from None
    if not rows:
        raise TableError(f"{path} is empty")
    return rows, records, starts


def _delimiter(text: str) -> str:
    """The delimiter that cuts most records into the same number of cells; in doubt a comma."""

    def agreement(delimiter: str) -> tuple[float, int]:
        reader = csv.reader(io.StringIO(text[:1_000_000], newline=""), delimiter=delimiter)
        try:
            widths = [len(row) for row in islice(reader, INSPECTED) if row]
        except csv.Error:
            return 0.0, 0
        if not widths:
            return 0.0, 0
        # A title above the header, or a cell with a comma, does not count for much.
        width, count = max(Counter(widths).items(), key=lambda item: (item[1], item[0]))
        return (count / len(widths), width) if width > 1 else (0.0, 0)

    return max(DELIMITERS, key=agreement)


def _titles(rows: list[list[str]]) -> int:
    """How many records stand above the header: those with one cell at most, of wider tables."""
    filled = [sum(bool(cell.strip()) for cell in row) for row in rows]
    width = Counter(len(row) for row in rows).most_common(1)[0][0] if rows else 0
    if width < 2:
        return 0
    header = next((i for i, n in enumerate(filled) if n > 1), 0)
    return header if all(n <= 1 for n in filled[:header]) and header < len(rows) - 1 else 0


def write_delimited(
    table: Table, added: dict[str, list[Any]], text: IO[str], kind: str, decimal: str = "."
) -> None:
    """Write a table; rows that were read from the same format stay unchanged.

    Parameters
    ----------
    table : Table
        What was read.
    added : dict of str to list
        Columns to put at the end.
    text : text file
        Where to.
    kind : {"csv", "tsv"}
        The format to write.
    decimal : {".", ","}
        The decimal separator of what is added.
    """
    same = table.format == kind
    faithful = same and bool(table.records)  # rows as they were written
    delimiter = table.delimiter if same else "\t" if kind == "tsv" else ","
    newline = table.newline if same else "\n"
    writer = csv.writer(text, delimiter=delimiter, lineterminator=newline)
    if not faithful:
        writer.writerow([*table.names, *added])
        for row in zip(*table.columns, *added.values(), strict=True):
            old, new = row[: len(table.names)], row[len(table.names) :]
            writer.writerow([*map(cell_text, old), *(cell_text(v, decimal) for v in new)])
        return
    text.write(table.header + delimiter)
    writer.writerow(list(added))
    for record, *cells in zip(table.records, *added.values(), strict=True):
        text.write(record + delimiter)
        writer.writerow([cell_text(v, decimal) for v in cells])


def _has_tabs(start: bytes) -> bool:
    line = start.lstrip(b"\xef\xbb\xbf \r\n\t").split(b"\n", 1)[0]
    return b"\t" in line and b"," not in line


FORMATS = (
    Format(
        name="tsv",
        title="TSV",
        suffixes=(".tsv", ".tab"),
        read=lambda path, text, sheet: read_delimited(path, text, "tsv"),
        write=lambda table, added, file, decimal: write_delimited(
            table, added, file, "tsv", decimal
        ),
        magic=_has_tabs,
        text=True,
    ),
    Format(
        name="csv",
        title="CSV",
        suffixes=(".csv", ".txt"),
        read=lambda path, text, sheet: read_delimited(path, text, "csv"),
        write=lambda table, added, file, decimal: write_delimited(
            table, added, file, "csv", decimal
        ),
        magic=lambda start: True,
        text=True,
    ),
)

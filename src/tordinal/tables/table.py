"""A table: its cells column by column, and what is needed to write the same rows again."""

import json
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tordinal.tables.vectors import FEATURES, expanded

__all__ = ["Table", "cell_text", "unique_names"]


@dataclass
class Table:
    """A table with its cells as Python values (text in CSV and TSV), column by column.

    Attributes
    ----------
    names : list of str
        Names of the columns, all different.
    columns : list of list
        Their cells.
    format : str
        Name of the format that it was read from.
    records : list of str
        The rows of a text format as they were written, without the end of line.
    header : str
        The same for the header of CSV and TSV, and for what stands above it.
    above : int
        Rows above the first one: header, titles. A spreadsheet counts them.
    delimiter, newline, bom, encoding
        How a text format was written.
    arrow : pyarrow.Table or None
        The table as Parquet had it.
    workbook, sheet : bytes, str
        The workbook that it is a sheet of, and which.
    notes : list of str
        What to tell the user about how it was read.
    numbers : list of int or str, or None
        Numbers or index labels of the rows. None: counted as a spreadsheet does.
    orders : dict of str to list of str
        Categories of ordered categorical columns, from the lowest to the highest.
    vectors : ndarray of shape (n_rows, n_features) or None
        Features beside the table, which are not written.
    """

    names: list[str]
    columns: list[list[Any]]
    format: str
    records: list[str] = field(default_factory=list)
    header: str = ""
    above: int = 0
    delimiter: str = ","
    newline: str = "\n"
    bom: bool = False
    encoding: str = "utf-8"
    arrow: Any = None
    workbook: bytes = b""
    sheet: str = ""
    notes: list[str] = field(default_factory=list)
    numbers: list[int | str] | None = None
    orders: dict[str, list[str]] = field(default_factory=dict)
    vectors: Any = None

    def __len__(self) -> int:
        return len(self.columns[0]) if self.columns else 0

    def __getitem__(self, name: str) -> list[Any]:
        return self.columns[self.names.index(name)]

    def features(self, target: str) -> dict[str, list[Any]]:
        """All columns but the target, lists of numbers as a column per number."""
        features: dict[str, list[Any]] = {}
        for name, cells in zip(self.names, self.columns, strict=True):
            if name != target:
                features |= expanded(name, cells)
        if self.vectors is not None:
            features |= expanded(FEATURES, list(self.vectors))
        return features

    @property
    def decimal(self) -> str:
        """The decimal separator of ambiguous numbers: a comma if semicolons delimit cells."""
        return "," if self.delimiter == ";" else "."

    def number(self, i: int) -> int | str:
        """The number of a row as a spreadsheet counts: the header is row 1."""
        return i + 1 + self.above if self.numbers is None else self.numbers[i]

    def part(self, rows: Sequence[int]) -> "Table":
        """Some of the rows, with their numbers."""
        return replace(
            self,
            columns=[[cells[i] for i in rows] for cells in self.columns],
            records=[],
            arrow=None,
            workbook=b"",
            numbers=[self.number(i) for i in rows],
            vectors=None if self.vectors is None else self.vectors[list(rows)],
        )

    def without(self, names: Sequence[str]) -> "Table":
        """The table without some columns; its rows will be formatted again when written."""
        kept = [i for i, name in enumerate(self.names) if name not in names]
        arrow = None if self.arrow is None else self.arrow.drop_columns(list(names))
        return replace(
            self,
            names=[self.names[i] for i in kept],
            columns=[self.columns[i] for i in kept],
            records=[],
            arrow=arrow,
        )


def unique_names(names: Sequence[str], notes: list[str]) -> list[str]:
    """Make names of columns unique: repeated ones get a number.

    Examples
    --------
    >>> unique_names(["stars", "price", "stars"], [])
    ['stars', 'price', 'stars (2)']
    """
    apart: list[str] = []
    for name in names:
        number, new = 1, name
        while new in apart:
            number += 1
            new = f"{name} ({number})"
        apart.append(new)
    for name, count in Counter(names).items():
        if count > 1:
            called = [new for old, new in zip(names, apart, strict=True) if old == name]
            notes.append(
                f"{count} columns are named {name!r}: here they are called "
                f"{', '.join(map(repr, called))}"
            )
    return apart


def cell_text(value: Any, decimal: str = ".") -> str:
    """A value as a cell of a text table."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, float):
        return str(value).replace(".", decimal)
    if isinstance(value, (dict, list)):
        return json.dumps(value, ensure_ascii=False, default=str)
    return str(value).removesuffix(" 00:00:00") if hasattr(value, "hour") else str(value)

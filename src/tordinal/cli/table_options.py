"""Options for the table that a command reads, and for its columns."""

import csv
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tordinal.tables.table import Table

__all__ = ["TableOptions", "listed", "names_in", "names_many"]


@dataclass(frozen=True, kw_only=True)
class TableOptions:
    """The options as they were given; all commands that read a table have them."""

    file: str
    target: str
    text: list[str] = field(default_factory=list)
    columns: list[str] | None = None
    drop: list[str] = field(default_factory=list)
    order: str | None = None
    missing: str | None = None
    sheet: str | None = None
    encoding: str | None = None

    def read(self) -> "Table":
        """Read the table."""
        from tordinal.tables.files import read_table

        return read_table(self.file, self.encoding, self.sheet)

    def of(self, names: list[str]) -> dict[str, Any]:
        """The selected columns of a table with these names, as arguments of the library.

        Examples
        --------
        >>> TableOptions(file="a.csv", target="stars", drop=["id,name"]).of(["id", "stars"])["drop"]
        ['id', 'name']
        """
        return {
            "text": listed(self.text, names),
            "columns": None if self.columns is None else listed(self.columns, names),
            "drop": listed(self.drop, names),
            "order": names_in(self.order) or None,
            "missing": names_in(self.missing),
        }


def names_in(option: str | None) -> list[str]:
    """Split the values of one option at commas; quotes protect commas."""
    if option is None:
        return []
    # The reader takes one line: ends of lines in a name are replaced, by what no argument holds.
    line = option.replace("\n", "\0").replace("\r", "\1")
    names = next(csv.reader([line], skipinitialspace=True))
    return [name.replace("\0", "\n").replace("\1", "\r").strip() for name in names]


def listed(options: list[str], known: list[str]) -> list[str]:
    """Split column names that may be separated by commas.

    Spaces around a name are kept where the table's own name has them.
    """
    padded = {name.strip(): name for name in known}
    asked = [n for option in options for n in ([option] if option in known else names_in(option))]
    return [name if name in known else padded.get(name, name) for name in asked]


def names_many(file: str) -> bool:
    """Whether a name means many files: a folder, or a pattern."""
    return os.path.isdir(file) or (
        file != "-" and any(c in file for c in "*?[") and not os.path.exists(file)
    )

"""The definition of a table format: name, file names, how to recognise, read and write it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import IO, Any

from tordinal.tables.table import Table

__all__ = ["Format"]


@dataclass(frozen=True)
class Format:
    """A table format.

    Attributes
    ----------
    name : str
        Name, as in `Table.format`.
    title : str
        Name for messages.
    suffixes : tuple of str
        Extensions of file names, in lower case.
    read : callable
        ``read(path, content, sheet)`` returns a `Table`; `content` is str for text, else bytes.
    write : callable
        ``write(table, added, file, decimal)`` writes the table with columns added at its end to
        a text or binary file.
    magic : callable
        Whether the first bytes of standard input are of this format.
    text : bool
        Whether it is text, which may have any encoding and may be compressed.
    sheets : bool
        Whether a file has several sheets.
    """

    name: str
    title: str
    suffixes: tuple[str, ...]
    read: Callable[[str, Any, str | None], Table]
    write: Callable[[Table, dict[str, list[Any]], IO[Any], str], None]
    magic: Callable[[bytes], bool] = lambda start: False
    text: bool = False
    sheets: bool = False

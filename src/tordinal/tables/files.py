"""Tables in files: the list of formats, and reading and writing files, compressed or not.

Rows of text formats are written byte for byte as they were read, with cells added at their end.
"""

import bz2
import gzip
import io
import lzma
import sys
import zipfile
from pathlib import Path
from typing import IO, Any

from tordinal.tables import delimited, jsonlines, parquet, workbooks
from tordinal.tables.formats import Format
from tordinal.tables.table import Table
from tordinal.tables.values import TableError

__all__ = ["FORMATS", "Table", "format_of", "read_table", "write_table"]

# The order is that in which standard input is tried.
FORMATS: list[Format] = [parquet.FORMAT, workbooks.FORMAT, jsonlines.FORMAT, *delimited.FORMATS]
PACKED = (".gz", ".bz2", ".xz", ".zip")
REMEDIES = {
    ".xls": "that is the Excel format of 2003; open it and save it as .xlsx",
    ".xlsb": "open it in Excel and save it as .xlsx",
    ".xlsm": "that is a workbook with macros; save it as .xlsx",
    ".ods": "open it and save it as .xlsx or .csv",
    ".json": "write one object per line and name the file .jsonl",
    ".numbers": "export it as .xlsx or .csv",
}
LARGEST = 2**32  # bytes that a packed file may unpack to


def format_of(path: str) -> Format:
    """The format of a file by its extension."""
    name = Path(path)
    packed = name.suffix.lower() in PACKED
    suffix = (Path(name.stem) if packed else name).suffix.lower()
    if suffix in REMEDIES:
        raise TableError(f"{path}: {REMEDIES[suffix]}")
    for kind in FORMATS:
        if suffix in kind.suffixes and (kind.text or not packed):
            return kind
    raise TableError(
        f"{path}: cannot tell the format from {suffix or 'a name without extension'!r}; "
        f"use {_known_formats()}"
    )


def _known_formats() -> str:
    *others, last = (f"{kind.title} ({', '.join(kind.suffixes)})" for kind in reversed(FORMATS))
    return f"{', '.join(others)} or {last}"


# Reading ------------------------------------------------------------------------------------------


def read_table(
    path: str, encoding: str | None = None, sheet: str | None = None, *, empty: bool = False
) -> Table:
    """Read a table.

    Parameters
    ----------
    path : str
        File, or ``-`` for standard input, whose format is recognised by its first bytes. CSV, TSV
        and JSON lines may be packed (.gz, .bz2, .xz, .zip).
    encoding : str or None
        Encoding of a text format. None: UTF-8, or UTF-16 if it starts with a byte order mark.
    sheet : str or None
        Sheet of a workbook. None: the first.
    empty : bool
        Whether a table without rows is taken.

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
        kind = next(kind for kind in FORMATS if kind.magic(data[:4096]))
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
        data = _unpacked(path, data)
    if not data:
        raise TableError(f"{path} is empty")
    if sheet is not None and not kind.sheets:
        raise TableError(f"`sheet` {sheet}: {path} has no sheets; only .xlsx files have")
    table = _read_text(path, data, kind, encoding) if kind.text else kind.read(path, data, sheet)
    if len(table) == 0 and not empty:
        raise TableError(f"{path} has no rows")
    return table


def _unpacked(path: str, data: bytes) -> bytes:
    """The content of a packed file."""
    suffix = Path(path).suffix.lower()
    if suffix not in PACKED:
        return data
    try:
        if suffix == ".zip":
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                names = [n for n in archive.namelist() if not n.startswith(("__MACOSX", "."))]
                if len(names) != 1:
                    raise TableError(f"{path} holds {len(names)} files; pack one table alone")
                with archive.open(names[0]) as stream:
                    content = stream.read(LARGEST + 1)
        else:
            opener: Any = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}[suffix]
            with opener(io.BytesIO(data)) as stream:
                content = stream.read(LARGEST + 1)
    except (OSError, EOFError, lzma.LZMAError, zipfile.BadZipFile, RuntimeError) as error:
        raise TableError(f"{path} cannot be unpacked: {error}") from None
    if len(content) > LARGEST:
        raise TableError(f"{path} unpacks to more than 4 GiB; unpack it, and use Parquet")
    return content


def _read_text(path: str, data: bytes, kind: Format, encoding: str | None) -> Table:
    marked = encoding is None and data[:2] in (b"\xff\xfe", b"\xfe\xff")
    if marked:
        encoding = "utf-16-le" if data[:2] == b"\xff\xfe" else "utf-16-be"
    elif b"\0" in data and (
        encoding is None or not encoding.lower().replace("-", "").startswith(("utf16", "utf32"))
    ):
        line = data[: data.index(b"\0")].count(b"\n") + 1
        raise TableError(
            f"{path} is not a text file: line {line} holds binary data. Use {_known_formats()}"
        )
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
    table = kind.read(path, text, None)
    table.bom, table.encoding = bom or marked, encoding or "utf-8"
    return table


# Writing ------------------------------------------------------------------------------------------


def write_table(
    table: Table,
    added: dict[str, list[Any]],
    file: IO[bytes],
    path: str,
    decimal: str = ".",
) -> None:
    """Write a table with columns added.

    Parameters
    ----------
    table : Table
        What was read.
    added : dict of str to list
        Columns to put at the end.
    file : binary file
        Where to.
    path : str
        Name that determines the format, and whether it is compressed; ``-`` for that of the
        table. The format that was read keeps rows as they were written.
    decimal : {".", ","}
        The decimal separator of the added columns, in CSV and TSV.
    """
    kind = _format_named(table.format) if path == "-" else format_of(path)
    suffix = Path(path).suffix.lower()
    if suffix not in PACKED:
        _write(table, added, file, kind, decimal)
        return
    plain = io.BytesIO()
    _write(table, added, plain, kind, decimal)
    if suffix == ".zip":
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(Path(path).stem, plain.getvalue())
    else:
        pack: Any = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}[suffix]
        file.write(pack(plain.getvalue()))


def _format_named(name: str) -> Format:
    return next(kind for kind in FORMATS if kind.name == name)


def _write(
    table: Table, added: dict[str, list[Any]], file: IO[bytes], kind: Format, decimal: str
) -> None:
    if not kind.text:
        kind.write(table, added, file, decimal)
        return
    same = kind.name == table.format
    encoding = table.encoding if same else "utf-8"
    # What was read can be written; what is added may have characters that the encoding lacks.
    text = io.TextIOWrapper(
        file, encoding=encoding, errors="replace", newline="", write_through=True
    )
    if table.bom and same:
        text.write("\ufeff")
    kind.write(table, added, text, decimal)
    text.detach()

"""Tables in files: which format a file has, and reading and writing it, packed or not.

What is read is kept as it was written: a row of a CSV or JSON-lines file goes out byte for byte,
with cells added at its end.
"""

import bz2
import gzip
import io
import lzma
import sys
import zipfile
from pathlib import Path
from typing import IO, Any

from tordinal.tables.delimited import read_delimited, write_delimited
from tordinal.tables.jsonlines import read_jsonlines, write_jsonlines
from tordinal.tables.parquet import read_parquet, write_parquet
from tordinal.tables.table import Table
from tordinal.tables.values import TableError
from tordinal.tables.workbooks import read_workbook, write_workbook

__all__ = ["Table", "format_of", "read_table", "write_table"]

FORMATS = {
    ".csv": "csv",
    ".txt": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".xlsx": "xlsx",
}
PACKED = (".gz", ".bz2", ".xz", ".zip")
KNOWN = "CSV (.csv, .txt), TSV (.tsv), JSON lines (.jsonl), Parquet (.parquet) or Excel (.xlsx)"
REMEDIES = {
    ".xls": "that is the Excel format of 2003; open it and save it as .xlsx",
    ".xlsb": "open it in Excel and save it as .xlsx",
    ".xlsm": "that is a workbook with macros; save it as .xlsx",
    ".ods": "open it and save it as .xlsx or .csv",
    ".json": "write one object a line and call it .jsonl",
    ".numbers": "export it as .xlsx or .csv",
}
LARGEST = 2**32  # bytes that a packed file may unpack to


def format_of(path: str, *, default: str | None = None) -> str:
    """The format of a file by its extension; standard streams have the default."""
    if path == "-" and default is not None:
        return default
    name = Path(path)
    packed = name.suffix.lower() in PACKED
    suffix = (Path(name.stem) if packed else name).suffix.lower()
    if suffix in REMEDIES:
        raise TableError(f"{path}: {REMEDIES[suffix]}")
    kind = FORMATS.get(suffix)
    if kind is None or (packed and kind in ("parquet", "xlsx")):
        raise TableError(
            f"{path}: cannot tell the format from {suffix or 'a name without extension'!r}; "
            f"use {KNOWN}"
        )
    return kind


# Reading ------------------------------------------------------------------------------------------


def read_table(
    path: str, encoding: str | None = None, sheet: str | None = None, *, empty: bool = False
) -> Table:
    """Read a table.

    Parameters
    ----------
    path : str
        File, or ``-`` for standard input, whose format is then told from its first bytes. CSV, TSV
        and JSON lines may be packed (.gz, .bz2, .xz, .zip).
    encoding : str or None
        Encoding of a text format. None: UTF-8, or UTF-16 where the file says so.
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
        data = _unpacked(path, data)
    if not data:
        raise TableError(f"{path} is empty")
    if sheet is not None and kind != "xlsx":
        raise TableError(f"`sheet` {sheet}: {path} has no sheets; only .xlsx files have")
    if kind == "xlsx":
        table = read_workbook(path, data, sheet)
    elif kind == "parquet":
        table = read_parquet(path, data)
    else:
        table = _read_text(path, data, kind, encoding)
    if len(table) == 0 and not empty:
        raise TableError(f"{path} has no rows")
    return table


def _sniff(data: bytes) -> str:
    """The format of standard input."""
    if data[:4] == b"PAR1":
        return "parquet"
    if data[:4] == b"PK\x03\x04":
        return "xlsx"
    start = data[:4096].lstrip(b"\xef\xbb\xbf \r\n\t")
    if start[:1] == b"{":
        return "jsonl"
    first = start.split(b"\n", 1)[0]
    return "tsv" if b"\t" in first and b"," not in first else "csv"


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


def _read_text(path: str, data: bytes, kind: str, encoding: str | None) -> Table:
    marked = encoding is None and data[:2] in (b"\xff\xfe", b"\xfe\xff")
    if marked:
        encoding = "utf-16-le" if data[:2] == b"\xff\xfe" else "utf-16-be"
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
    table = read_jsonlines(path, text) if kind == "jsonl" else read_delimited(path, text, kind)
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
        The name that tells the format to write, and whether it is packed; ``-`` for that of the
        table. The format that was read keeps rows as they were written.
    decimal : {".", ","}
        The decimal separator of the added columns, in CSV and TSV.
    """
    kind = format_of(path, default=table.format)
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


def _write(
    table: Table, added: dict[str, list[Any]], file: IO[bytes], kind: str, decimal: str
) -> None:
    if kind == "parquet":
        write_parquet(table, added, file)
        return
    if kind == "xlsx":
        write_workbook(table, added, file)
        return
    encoding = table.encoding if kind == table.format else "utf-8"
    text = io.TextIOWrapper(file, encoding=encoding, newline="", write_through=True)
    if table.bom and kind == table.format:
        text.write("\ufeff")
    if kind == "jsonl":
        write_jsonlines(table, added, text)
    else:
        write_delimited(table, added, text, kind, decimal)
    text.detach()

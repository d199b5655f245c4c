"""Workbooks of spreadsheets (.xlsx): one sheet is the table, everything else is kept."""

import copy
import io
import re
import zipfile
from typing import IO, Any

from tordinal.tables.answers import is_earlier
from tordinal.tables.formats import Format
from tordinal.tables.table import Table, unique_names
from tordinal.tables.values import TableError

__all__ = ["FORMAT", "read_workbook", "write_workbook"]

LARGEST = 2**31  # bytes that a workbook may unpack to
# Rows and columns of a sheet and characters of a cell in Excel.
MOST_ROWS, MOST_COLUMNS, LONGEST = 1_048_576, 16_384, 32_767
SHEETS, FORMULA = "xl/worksheets/", re.compile(rb"<f[ >]")
LOST = {"xl/charts/": "charts", "xl/media/": "pictures", "xl/pivotTables/": "pivot tables"}


def read_workbook(path: str, data: bytes, sheet: str | None) -> Table:
    """Read a sheet: the values that its formulas have, dates as dates.

    Parameters
    ----------
    path : str
        Name of the file, for errors.
    data : bytes
        What it holds.
    sheet : str or None
        Name of the sheet. None: the first one.

    Returns
    -------
    table : Table
        The table.
    """
    import openpyxl

    try:
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            if sum(member.file_size for member in packed.infolist()) > LARGEST:
                raise TableError(f"{path} unpacks to more than 2 GiB; save it as CSV")
            parts = packed.namelist()
            formulas = any(
                FORMULA.search(packed.read(part)) for part in parts if part.startswith(SHEETS)
            )
        book = openpyxl.load_workbook(io.BytesIO(data), data_only=True)
    except TableError:
        raise
    except Exception as error:  # openpyxl has no specific error for other files
        raise TableError(f"{path} is not a workbook, or damaged: {error}") from None
    if sheet is not None and sheet not in book.sheetnames:
        raise TableError(
            f"`sheet` {sheet}: no such sheet; choose from {', '.join(book.sheetnames)}"
        )
    titles = [page.title for page in book.worksheets]
    if not titles or (sheet is not None and sheet not in titles):
        what = f"`sheet` {sheet} is a chart" if titles else f"{path} has no sheet with cells"
        raise TableError(f"{what}; name a sheet that holds a table")
    page = book[sheet] if sheet is not None else book.worksheets[0]
    rows = [list(row) for row in page.iter_rows(values_only=True)]
    filled = [[i for i, cell in enumerate(row) if not _is_empty(cell)] for row in rows]
    if not any(filled):
        raise TableError(f"{path}: the sheet {page.title} is empty")
    last_row = max(i for i, cells in enumerate(filled) if cells)
    width = max(cells[-1] + 1 for cells in filled if cells)
    header = next(i for i, cells in enumerate(filled) if len(cells) > 1 or (cells and width == 1))
    notes = [
        f"{what} of the workbook are not kept"
        for folder, what in LOST.items()
        if any(part.startswith(folder) for part in parts)
    ]
    if sheet is None and len(book.sheetnames) > 1:
        notes.append(f"the first of {len(book.sheetnames)} sheets, {page.title}, is read")
    if any(filled[:header]):
        title = next(cell for row in rows[:header] for cell in row if not _is_empty(cell))
        notes.append(f"the text above the header is read as a title: {str(title)!r}")
    names = unique_names(
        ["" if _is_empty(cell) else str(cell) for cell in rows[header][:width]], notes
    )
    body = [row[:width] for row in rows[header + 1 : last_row + 1]]
    columns = [list(cells) for cells in zip(*body, strict=True)] or [[] for _ in names]
    if formulas:
        notes += _without_values(data, page.title, header, names, columns)
    return Table(
        names, columns, "xlsx", above=header + 1, workbook=data, sheet=page.title, notes=notes
    )


def _without_values(
    data: bytes, sheet: str, header: int, names: list[str], columns: list[list[Any]]
) -> list[str]:
    """Notes about formulas whose values are not in the file, as after other programs wrote it."""
    import openpyxl

    page = openpyxl.load_workbook(io.BytesIO(data), read_only=True)[sheet]
    last = header + 1 + len(columns[0])
    rows = page.iter_rows(header + 2, last, max_col=len(names), values_only=True)
    counts = dict.fromkeys(names, 0)
    for i, row in enumerate(rows):
        for name, cells, cell in zip(names, columns, row, strict=False):
            counts[name] += cells[i] is None and isinstance(cell, str) and cell.startswith("=")
    return [
        f"{n:,} cells of {name} are formulas without a value, and read as missing; open the "
        "workbook in a spreadsheet and save it, which computes them"
        for name, n in counts.items()
        if n
    ]


def _is_empty(cell: Any) -> bool:
    return cell is None or (isinstance(cell, str) and not cell.strip())


def write_workbook(table: Table, added: dict[str, list[Any]], file: IO[bytes]) -> None:
    """Write a workbook: the one that was read with columns added, or a new one.

    Columns of the same name are replaced. Text stays text, whatever a spreadsheet might take for a
    formula in it.
    """
    import openpyxl

    if len(table) + table.above >= MOST_ROWS:
        raise TableError(
            f"a sheet has at most {MOST_ROWS:,} rows; write CSV or Parquet instead of a workbook"
        )
    if table.workbook:
        book = openpyxl.load_workbook(io.BytesIO(table.workbook))
        if table.sheet not in book.sheetnames:
            raise TableError(
                f"the workbook lists its sheets in two ways, and {table.sheet} is in one only; "
                "save it again in a spreadsheet, or write CSV"
            )
        page, header = book[table.sheet], table.above
    else:
        book = openpyxl.Workbook()
        page, header = book.active, 1
        for place, (name, cells) in enumerate(zip(table.names, table.columns, strict=True), 1):
            _fill(page, place, header, name, cells)
    heads = {str(cell.value): cell.column for cell in page[header] if cell.value is not None}
    _clear_earlier(page, heads, header, set(table.names), added)
    last = max(heads.values(), default=0)
    merged = [cells for cells in page.merged_cells.ranges if cells.max_row >= header]
    # No cell of a new column is merged, unless that would put it beyond the sheet.
    ends = [c.max_col for c in merged if c.max_col + len(added) <= MOST_COLUMNS]
    free = max([last, *ends])
    model = page.cell(header, last) if last else None
    for name, values in added.items():
        if name not in heads:
            heads[name] = free = free + 1
        place = heads[name]
        for cells in [c for c in merged if c.min_col <= place <= c.max_col]:
            page.unmerge_cells(str(cells))
            merged.remove(cells)
        _fill(page, place, header, name, values)
        if model is not None and model.has_style:
            page.cell(header, place)._style = copy.copy(model._style)
    book.save(file)


def _clear_earlier(
    page: Any, heads: dict[str, int], header: int, names: set[str], added: dict[str, list[Any]]
) -> None:
    """Empty the columns of an earlier run that nothing replaces."""
    targets = [n.removesuffix("_predicted") for n in added if n.endswith("_predicted")]
    for name in [n for n in heads if n not in names and n not in added]:
        if any(is_earlier(name, target) for target in targets):
            place = heads.pop(name)
            for row in range(header, page.max_row + 1):
                if type(page.cell(row, place)).__name__ != "MergedCell":
                    page.cell(row, place).value = None


def _fill(page: Any, place: int, header: int, name: str, values: list[Any]) -> None:
    """A column of a sheet."""
    from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE

    for row, value in enumerate([name, *values], start=header):
        cell = page.cell(row, place)
        if isinstance(value, str):
            cell.value = ILLEGAL_CHARACTERS_RE.sub("\ufffd", value)[:LONGEST]
            cell.data_type = "s"
        elif getattr(value, "tzinfo", None) is not None:  # a sheet knows no time zones
            cell.value = value.isoformat()
            cell.data_type = "s"
        elif value is None or isinstance(value, (bool, int, float)) or hasattr(value, "year"):
            whole = isinstance(value, int) and abs(value) > 2**53  # which Excel would round
            cell.value = str(value) if whole else value
        else:
            cell.value = str(value)[:LONGEST]
            cell.data_type = "s"


FORMAT = Format(
    name="xlsx",
    title="Excel",
    suffixes=(".xlsx",),
    read=read_workbook,
    write=lambda table, added, file, decimal: write_workbook(table, added, file),
    magic=lambda start: start[:4] == b"PK\x03\x04",
    sheets=True,
)

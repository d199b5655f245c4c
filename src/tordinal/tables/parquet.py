"""Parquet: columns with types, which are kept."""

import io
from typing import IO, Any

from tordinal.tables.formats import Format
from tordinal.tables.table import Table, cell_text, unique_names
from tordinal.tables.values import TableError, plain_cells

__all__ = ["FORMAT", "read_parquet", "table_of_arrow", "write_parquet"]


def read_parquet(path: str, data: bytes) -> Table:
    """Read a table with its types."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        # Without threads: one that still runs when the process ends on an error makes it abort.
        arrow = pq.ParquetFile(io.BytesIO(data), pre_buffer=False).read(use_threads=False)
    except (pa.ArrowException, OSError) as error:
        raise TableError(f"{path} is not a Parquet file: {error}") from None
    return table_of_arrow(arrow, "parquet")


def table_of_arrow(arrow: Any, kind: str) -> Table:
    """Make a table of columns with types.

    Parameters
    ----------
    arrow : pyarrow.Table
        The columns.
    kind : str
        The format that they come from.

    Returns
    -------
    table : Table
        The table; it keeps `arrow`.
    """
    notes: list[str] = []
    names = unique_names([str(n) for n in arrow.column_names], notes)
    if notes:
        arrow = arrow.rename_columns(names)
    orders = {
        field.name: [str(v) for v in column.combine_chunks().dictionary.to_pylist()]
        for field, column in zip(arrow.schema, arrow.columns, strict=True)
        if getattr(field.type, "ordered", False)
    }
    columns = [_cells(n, c, notes) for n, c in zip(names, arrow.columns, strict=True)]
    return Table(names, columns, kind, arrow=arrow, notes=notes, orders=orders)


def _cells(name: str, column: Any, notes: list[str]) -> list[Any]:
    """The cells of a column; dates and durations beyond Python's range are read as text."""
    import pyarrow as pa

    try:
        return plain_cells(column.to_pylist())
    except UnicodeDecodeError:
        raise TableError(f"column {name} holds text that is not UTF-8; correct it") from None
    except (OverflowError, ValueError, pa.ArrowException):
        pass
    what = f"column {name} holds {column.type}"
    notes.append(f"{what} that Python cannot represent; it is read as text")
    for kind in (_as_text(column.type, pa.string()), _as_text(column.type, pa.int64())):
        try:
            cells = column.cast(kind).to_pylist()
        except (pa.ArrowException, ValueError):
            continue
        return [None if cell is None else str(cell) for cell in cells]
    raise TableError(f"{what}, which cannot be read; remove or convert it")


def _as_text(kind: Any, leaf: Any) -> Any:
    """A type with `leaf` in the place of dates, times and durations, also inside of lists."""
    import pyarrow as pa

    if pa.types.is_temporal(kind):
        return leaf
    if pa.types.is_dictionary(kind):
        return _as_text(kind.value_type, leaf)
    if pa.types.is_map(kind):
        return pa.map_(_as_text(kind.key_type, leaf), _as_text(kind.item_type, leaf))
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_as_text(field.type, leaf)) for field in kind])
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(_as_text(kind.value_type, leaf), kind.list_size)
    if pa.types.is_large_list(kind):
        return pa.large_list(_as_text(kind.value_type, leaf))
    return pa.list_(_as_text(kind.value_type, leaf)) if pa.types.is_list(kind) else kind


def write_parquet(
    table: Table,
    added: dict[str, list[Any]],
    file: IO[bytes],
    alike: dict[str, list[Any]] | None = None,
) -> None:
    """Write a table; columns that were read from Parquet keep their types.

    Parameters
    ----------
    table : Table
        What was read.
    added : dict of str to list
        Columns to put at the end.
    file : binary file
        The file.
    alike : dict of str to list, optional
        Values of the type of an added column, by its name; used whatever its cells are.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    arrow = table.arrow
    if arrow is None:
        arrow = pa.table(
            {name: _arrow(cells) for name, cells in zip(table.names, table.columns, strict=True)}
        )
    for name, values in added.items():
        array = _arrow(values)
        if alike is not None and name in alike:
            array = array.cast(_arrow(alike[name]).type)
        arrow = arrow.append_column(name, array)
    pq.write_table(arrow, file)


def _arrow(values: list[Any]) -> Any:
    """A column of Parquet; values without a common type, or too large ones, become text."""
    import pyarrow as pa

    try:
        return pa.array(values)
    except (pa.ArrowException, TypeError, OverflowError):
        return pa.array([None if v is None else cell_text(v) for v in values])


FORMAT = Format(
    name="parquet",
    title="Parquet",
    suffixes=(".parquet", ".pq"),
    read=lambda path, data, sheet: read_parquet(path, data),
    write=lambda table, added, file, decimal: write_parquet(table, added, file),
    magic=lambda start: start[:4] == b"PAR1",
)

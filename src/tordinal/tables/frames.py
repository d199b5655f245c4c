"""Tables from data frames, and data frames from tables."""

from typing import Any

import numpy as np
import pandas as pd

from tordinal.exceptions import InputError
from tordinal.tables.parquet import table_of_arrow
from tordinal.tables.table import Table, unique_names
from tordinal.tables.values import plain_cells

__all__ = ["add_columns", "frame_of", "table_of"]


def table_of(frame: Any) -> Table:
    """Read a data frame of pandas, polars or pyarrow.

    Parameters
    ----------
    frame : DataFrame or pyarrow.Table
        The rows. NaN, None and NA are missing; ordered categoricals keep their order.

    Returns
    -------
    table : Table
        The same rows, numbered by the labels of the index in pandas.

    Examples
    --------
    >>> import pandas as pd
    >>> table = table_of(pd.DataFrame({"stars": [5.0, None]}, index=["tea", "cup"]))
    >>> table["stars"], table.number(1)
    ([5.0, None], 'cup')
    """
    if not isinstance(frame, pd.DataFrame):
        if hasattr(frame, "to_arrow"):  # polars
            frame = frame.to_arrow()
        if not hasattr(frame, "schema") or not hasattr(frame, "column_names"):
            raise InputError(
                f"a table must be a path or a data frame of pandas, polars or pyarrow, not "
                f"{type(frame).__name__}"
            )
        return table_of_arrow(frame, "frame")
    notes: list[str] = []
    names = unique_names([str(name) for name in frame.columns], notes)
    series = [frame.iloc[:, i] for i in range(len(names))]
    orders = {
        name: [str(value) for value in column.dtype.categories]
        for name, column in zip(names, series, strict=True)
        if isinstance(column.dtype, pd.CategoricalDtype) and column.dtype.ordered
    }
    numbers = [label if type(label) is int else str(label) for label in frame.index.tolist()]
    return Table(
        names, [_cells(column) for column in series], "frame", numbers=numbers, orders=orders,
        notes=notes,
    )  # fmt: skip


def _cells(column: pd.Series) -> list[Any]:
    values = [v.item() if isinstance(v, np.generic) else v for v in column.astype(object)]
    return plain_cells([None if gone else v for v, gone in zip(values, column.isna(), strict=True)])


def frame_of(table: Table) -> pd.DataFrame:
    """Make a data frame of a table; columns of text that hold numbers become numbers.

    Parameters
    ----------
    table : Table
        What was read from a file or a frame that is not of pandas.

    Returns
    -------
    frame : DataFrame
        Its columns.
    """
    if table.arrow is not None:
        return table.arrow.to_pandas()
    return pd.DataFrame(
        {name: _column(cells) for name, cells in zip(table.names, table.columns, strict=True)}
    )


def _column(cells: list[Any]) -> pd.Series:
    empty = [isinstance(c, str) and c == "" for c in cells]  # an array is compared by element
    column = pd.Series(
        [None if gone else c for gone, c in zip(empty, cells, strict=True)], dtype=object
    )
    if column.isna().all():
        return column
    try:
        return pd.to_numeric(column)
    except (ValueError, TypeError):
        return column.infer_objects()


def add_columns(
    frame: pd.DataFrame, added: dict[str, list[Any]], like: dict[str, Any]
) -> pd.DataFrame:
    """Add columns to a copy of a data frame, in place of those of the same name.

    Parameters
    ----------
    frame : DataFrame
        The rows.
    added : dict of str to list
        Cells of the new columns.
    like : dict of str to dtype
        Types of new columns, used where the cells fit.

    Returns
    -------
    frame : DataFrame
        The copy, with the same index.
    """
    frame = frame.drop(columns=[name for name in frame.columns if name in added])
    for name, cells in added.items():
        column = pd.Series(_column(cells).to_numpy(), index=frame.index)
        if name in like:
            column = pd.Series(cells, index=frame.index, dtype=object)
            try:
                column = column.astype(like[name])
            except (ValueError, TypeError):
                column = column.infer_objects()
        frame[name] = column
    return frame

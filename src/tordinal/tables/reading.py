"""Cells of columns as numbers, categories and texts, as planned."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from tordinal.tables.cells import is_mark, plain_numbers, read_day, read_number, read_numbers
from tordinal.tables.drift import ColumnCells
from tordinal.tables.hints import hint_values
from tordinal.tables.values import TableError, is_missing

__all__ = ["CellReader", "text_of"]

LARGEST = 1e150  # number whose square is one, too

Column = dict[str, Any]


def text_of(cell: Any) -> str:
    """A cell as text; a missing one has none."""
    return "" if is_missing(cell) else str(cell)


class CellReader:
    """Reads the cells of columns by their plan.

    Parameters
    ----------
    missing : sequence of str
        Marks of missing values besides the usual ones.
    """

    def __init__(self, missing: Sequence[str]):
        self.missing = missing

    def is_missing(self, cell: Any) -> bool:
        """Whether a cell holds nothing."""
        return is_missing(cell) or (isinstance(cell, str) and cell.strip() in self.missing)

    def present(self, cells: list[Any]) -> list[Any]:
        """The cells that hold something."""
        if not self.missing and plain_numbers(cells) is not None:
            return [c for c in cells if c != "" and c is not None and c == c]
        return [c for c in cells if not self.is_missing(c)]

    def frame(self, plan: Sequence[Column], table: Mapping[str, list[Any]]) -> pd.DataFrame:
        """The used columns in the types that the transformers take."""
        columns: dict[str, Any] = {}
        for column in plan:
            name, role = column["name"], column["role"]
            if role == "hint":
                columns[name] = hint_values(column, table[name], self.missing)
                continue
            if name not in table:
                raise TableError(f"the table has no column {name!r}, which the model needs")
            if role in ("number", "date"):
                numbers = self._numbers(column, table[name])
                if (np.abs(numbers) > LARGEST).any():
                    raise TableError(
                        f"column {name} holds {numbers[np.nanargmax(np.abs(numbers))]:.3g}, too "
                        "large a number to learn from; correct or empty the cell, or train without "
                        f"the column (`drop` {name})"
                    )
                columns[name] = numbers
            elif role == "category":
                columns[name] = pd.Series(
                    ["(missing)" if self.is_missing(c) else str(c).strip() for c in table[name]],
                    dtype=object,
                )
            elif role == "text":
                columns[name] = pd.Series([text_of(c) for c in table[name]], dtype=object)
        return pd.DataFrame(columns)

    def cells(
        self, plan: Sequence[Column], table: Mapping[str, list[Any]], frame: pd.DataFrame
    ) -> list[ColumnCells]:
        """The cells of the used columns, from the frame of the same table."""
        found = []
        for column in plan:
            cells, read = table[column["name"]], frame[column["name"]]
            if column["role"] in ("number", "date", "hint"):
                values = read.to_numpy()
                unread = [cells[i] for i in np.flatnonzero(np.isnan(values))]
                odd = [str(c).strip() for c in unread if not (self.is_missing(c) or is_mark(c))]
                missing, values = len(unread) - len(odd), values[~np.isnan(values)]
                found.append(ColumnCells(len(cells), missing, values, Counter(odd)))
            elif column["role"] == "category":
                words = Counter(read)
                found.append(ColumnCells(len(cells), words.pop("(missing)", 0), words=words))
            else:
                found.append(ColumnCells(len(cells), sum(map(self.is_missing, cells))))
        return found

    def _numbers(self, column: dict[str, Any], cells: list[Any]) -> NDArray[np.float64]:
        """Cells as numbers: read as at fit, unless another decimal separator fits."""
        if column["role"] == "number" and not self.missing:
            plain = plain_numbers(cells, column["style"]["decimal"])
            if plain is not None:
                return plain
        held = np.array([not self.is_missing(c) for c in cells], dtype=bool)
        present = [c for c, holds in zip(cells, held, strict=True) if holds]
        values = np.full(len(cells), np.nan)
        style, read = column["style"], read_day if column["role"] == "date" else read_number
        reading = read_numbers(present, usual=style["decimal"]) if "decimal" in style else None
        if reading is not None:
            values[held] = reading.values
        else:
            found = (None if is_mark(c) else read(c, **style) for c in present)
            values[held] = [np.nan if v is None else v for v in found]
        return values

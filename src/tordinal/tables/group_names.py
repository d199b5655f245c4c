"""Groups of rows by the cells of a column: its values, or ranges of many different numbers."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tordinal.tables.cells import read_dates, read_numbers
from tordinal.tables.roles import CODE_NAME
from tordinal.tables.table import Table, cell_text

__all__ = ["group_names", "group_notes"]

MOST_VALUES = 20  # numbers or dates from which a column is cut into ranges,
ROWS_PER_VALUE = 5  # unless there are so many rows of each on average
RANGES = 5


def group_names(name: str, cells: Sequence[Any]) -> list[str | None]:
    """The group of each row: its cell, or a range of numbers or dates; None where it is missing.

    Parameters
    ----------
    name : str
        Name of the column. One that is named as an identifier is not cut into ranges.
    cells : sequence
        Its cells.

    Returns
    -------
    groups : list of str or None
        Ranges have about as many rows each, are named by their lowest and highest
        cells.

    Examples
    --------
    >>> group_names("shop", ["north", " ", "south"])
    ['north', None, 'south']
    >>> group_names("price", [str(2 * i) for i in range(25)])[:6]
    ['0 to 8', '0 to 8', '0 to 8', '0 to 8', '0 to 8', '10 to 18']
    """
    texts = [cell_text(cell).strip() for cell in cells]
    present = [i for i, text in enumerate(texts) if text]
    n_values = len({texts[i] for i in present})
    few = n_values <= MOST_VALUES or len(present) >= ROWS_PER_VALUE * n_values
    if few or CODE_NAME.search(name):
        return [text or None for text in texts]
    some = [cells[i] for i in present]
    reading = read_numbers(some) or read_dates(some)
    if reading is None:
        return [text or None for text in texts]
    values = np.full(len(cells), np.nan)
    values[present] = reading.values
    known = values[np.isfinite(values)]
    edges = np.unique(np.quantile(known, np.linspace(0, 1, RANGES + 1)[1:-1], method="higher"))
    groups: list[str | None] = [None] * len(cells)
    place = np.searchsorted(edges, values, side="right")
    for k in range(len(edges) + 1):
        rows = np.flatnonzero(np.isfinite(values) & (place == k))
        if len(rows):
            low, high = (texts[rows[at(values[rows])]] for at in (np.argmin, np.argmax))
            label = low if low == high else f"{low} to {high}"
            for i in rows:
                groups[i] = label
    return groups


def group_notes(table: Table | Mapping[str, Sequence[Any]], by: Sequence[str]) -> list[str]:
    """What to know about the groups of some columns.

    Examples
    --------
    >>> group_notes({"shop": ["north", "", "south"]}, ["shop"])
    ['1 row without shop is in no group']
    """
    notes = []
    for name in by:
        texts = [cell_text(cell).strip() for cell in table[name]]
        groups = group_names(name, table[name])
        n_values, ranges = len({text for text in texts if text}), {g for g in groups if g}
        if ranges != {text for text in texts if text}:
            notes.append(
                f"{name} has {n_values:,} different values: its groups are {len(ranges)} ranges"
            )
        missing = groups.count(None)
        if missing:
            notes.append(
                f"{missing:,} row{'s' * (missing > 1)} without {name} "
                f"{'are' if missing > 1 else 'is'} in no group"
            )
    return notes

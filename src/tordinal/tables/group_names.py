"""Groups of rows by the cells of a column: its values, or ranges of many different numbers."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tordinal.tables.cells import read_dates, read_numbers
from tordinal.tables.roles import CODE_NAME
from tordinal.tables.table import Table, cell_text
from tordinal.tables.values import TableError, short_number

__all__ = ["check_groups", "group_names", "group_notes", "no_groups_note"]

MOST_VALUES = 20  # numbers or dates from which a column is cut into ranges,
ROWS_PER_VALUE = 5  # unless each number has this many rows on average,
ROWS_PER_DATE = 30  # or of each date: months are groups, days of some years are not
RANGES = 5


def group_names(name: str, cells: Sequence[Any], decimal: str = ".") -> list[str | None]:
    """The group of each row: its cell, or a range of numbers or dates; None where it is missing.

    Parameters
    ----------
    name : str
        Name of the column. One that is named as an identifier is not cut into ranges.
    cells : sequence
        Its cells.
    decimal : {".", ","}
        The usual decimal separator.

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
    rows_per_value = len(present) / max(n_values, 1)
    reading = None
    if n_values > MOST_VALUES and not CODE_NAME.search(name):
        some = [cells[i] for i in present]
        if (reading := read_numbers(some, usual=decimal)) is not None:
            reading = reading if rows_per_value < ROWS_PER_VALUE else None
        elif rows_per_value < ROWS_PER_DATE:
            reading = read_dates(some)
    if reading is None:
        return [text or None for text in texts]
    values = np.full(len(cells), np.nan)
    values[present] = reading.values
    known = values[np.isfinite(values)]
    edges = np.unique(np.quantile(known, np.linspace(0, 1, RANGES + 1)[1:-1], method="higher"))
    groups: list[str | None] = [None] * len(cells)
    place = np.searchsorted(edges, values, side="right")
    members = [np.flatnonzero(np.isfinite(values) & (place == k)) for k in range(len(edges) + 1)]
    members = [rows for rows in members if len(rows)]
    ends = [[texts[rows[at(values[rows])]] for at in (np.argmin, np.argmax)] for rows in members]
    labels = [_range(*map(short_number, pair)) for pair in ends]
    if len(set(labels)) < len(labels):  # short numbers do not tell them apart
        labels = [_range(*pair) for pair in ends]
    for rows, label in zip(members, labels, strict=True):
        for i in rows:
            groups[i] = label
    return groups


def _range(low: str, high: str) -> str:
    return low if low == high else f"{low} to {high}"


def check_groups(
    table: Table | Mapping[str, Sequence[Any]], by: Sequence[str], target: str
) -> None:
    """Raise an error if a column that names groups has the ratings, or empty cells only."""
    for name in by:
        if name == target:
            raise TableError(f"`by` {name}: this column has the ratings; name another one")
        if not any(cell_text(cell).strip() for cell in table[name]):
            raise TableError(f"`by` {name}: every cell is empty, so there are no groups")


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
        groups = group_names(name, table[name], getattr(table, "decimal", "."))
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


def no_groups_note(by: Sequence[str]) -> list[str]:
    """What is said instead where no rating can be held out, so that nothing is estimated."""
    if not by:
        return []
    return [f"too few ratings to estimate averages and shares by {' and '.join(by)}"]

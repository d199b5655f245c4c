"""The target column: which cells are ratings, in which order, and which are to be rated."""

import re
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tordinal.reduction import UNLABELED
from tordinal.tables.values import TableError, is_missing, number

__all__ = ["Target", "read_target"]

MANY = 30  # classes beyond which a target is a quantity
LEADING_NUMBER = re.compile(r"\s*([+-]?\d+(?:[.,]\d+)?)(?![\w.,])")


@dataclass
class Target:
    """The ratings of a table.

    Attributes
    ----------
    name : str
        Name of the column.
    classes : list
        Ratings from the lowest to the highest, in their own type and spelling.
    rank : ndarray of shape (n_rows,)
        Position of each row's rating in `classes`; -1 where there is none.
    notes : list of str
        What should be said about how the column was read.
    """

    name: str
    classes: list[Any]
    rank: NDArray[np.int64]
    notes: list[str]


def read_target(name: str, cells: list[Any], order: list[str] | None) -> Target:
    """Find the ratings in a column.

    Parameters
    ----------
    name : str
        Name of the column.
    cells : list
        Its cells.
    order : list of str or None
        All ratings from the lowest to the highest. None: numbers have their order; so have texts
        that begin with different numbers.

    Returns
    -------
    target : Target
        Classes and ranks.

    Raises
    ------
    TableError
        If the column cannot be such a target.

    Examples
    --------
    >>> target = read_target("stars", ["5", "", "1", "5"], None)
    >>> target.classes, target.rank.tolist()
    (['1', '5'], [1, -1, 0, 1])
    """
    spelled = [c.strip() if isinstance(c, str) else c for c in cells]
    order = None if order is None else [name.strip() for name in order]
    named = set(order or ())
    given = [
        i for i, c in enumerate(spelled) if not is_missing(c) or (isinstance(c, str) and c in named)
    ]
    notes = []
    words = Counter(
        c
        for i, c in enumerate(spelled)
        if isinstance(c, str) and c and is_missing(c) and c not in named
    )
    for word, count in sorted(words.items()):
        notes.append(f"{count} cells of {name} say {word!r}: taken as not rated")
    if not given:
        raise TableError(
            f"`target` {name}: every cell is empty. "
            "Rate a few rows first, at least one of each class"
        )
    other = next(
        (c for c in spelled if not isinstance(c, (str, bool, int, float)) and c is not None), None
    )
    if other is not None:
        raise TableError(
            f"`target` {name} holds values of type {type(other).__name__}; "
            "ratings are numbers or text"
        )
    counts = Counter(spelled[i] for i in given)
    if len(counts) > MANY and order is None:
        raise TableError(
            f"`target` {name} has {len(counts):,} distinct values. Did you mean a regression? "
            f"Ratings have few values: at most {MANY}, or name them all with `order`; "
            "tordinal.datasets.quantize makes ranks of a number"
        )
    groups, classes = (
        _by_name(name, counts, order) if order is not None else _by_value(name, counts, notes)
    )
    rank = np.full(len(cells), UNLABELED, dtype=np.int64)
    for i in given:
        rank[i] = groups[spelled[i]]
    present = np.unique(rank[given])
    if len(present) < 2:
        raise TableError(
            f"`target` {name}: all {len(given)} ratings are {classes[present[0]]!r}. "
            "Rate a row of another class too"
        )
    if len(given) == len(cells):
        hint = (
            ". If -1 stands for 'not rated', empty those cells"
            if any(number(c) == -1 for c in counts)
            else ""
        )
        raise TableError(
            f"`target` {name}: every row is rated already, so there is nothing to do{hint}"
        )
    absent = [classes[k] for k in range(len(classes)) if k not in present]
    if absent:
        notes.append(f"no row is rated {', '.join(map(str, absent))}: none will be predicted so")
        keep = {k: new for new, k in enumerate(present.tolist())}
        rank[given] = [keep[k] for k in rank[given].tolist()]
        classes = [classes[k] for k in present]
    return Target(name, classes, rank, notes)


def _spell(value: Any) -> str:
    """A rating as one would type it."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def _by_name(name: str, counts: Counter[Any], order: list[str]) -> tuple[dict[Any, int], list[Any]]:
    """Ranks by an explicit order."""
    if len(set(order)) < len(order) or len(order) < 2 or "" in order:
        raise TableError(f"`order` {','.join(order)}: name each rating once, at least two of them")
    groups: dict[Any, int] = {}
    classes: list[Any] = list(order)
    for value in counts:
        if _spell(value) not in order:
            raise TableError(
                f"`target` {name} holds {value!r}, which `order` does not name; "
                "add it, or empty those cells"
            )
        groups[value] = order.index(_spell(value))
        classes[groups[value]] = value
    return groups, classes


def _by_value(
    name: str, counts: Counter[Any], notes: list[str]
) -> tuple[dict[Any, int], list[Any]]:
    """Ranks by the numbers that the ratings are or begin with."""
    values = {c: number(c) for c in counts}
    if any(v is None for v in values.values()):
        leading = {c: LEADING_NUMBER.match(str(c)) for c in counts}
        values = {
            c: number(m.group(1).replace(",", ".")) if m else None for c, m in leading.items()
        }
        distinct = len(set(values.values())) == len(values)
        if any(v is None for v in values.values()) or not distinct:
            if len(counts) == 2:
                low, high = sorted(counts, key=str)
                notes.append(f"{low!r} is taken as lower than {high!r}; `order` tells otherwise")
                return {low: 0, high: 1}, [low, high]
            ratings = ",".join(sorted(map(str, counts)))
            raise TableError(
                f"`target` {name} holds text whose order cannot be known: {ratings}. "
                f'Name it from the lowest to the highest, as in `order` "{ratings}"'
            )
        listed = " < ".join(str(c) for c in sorted(counts, key=lambda c: values[c] or 0.0))
        notes.append(f"ratings are ordered by the numbers they begin with: {listed}")
    ordered = sorted(set(values.values()), key=lambda v: v or 0.0)
    groups = {c: ordered.index(v) for c, v in values.items()}
    # Several spellings of a number (4 and 4.0) are one rating, spelled as most often.
    classes = [
        max((c for c in counts if groups[c] == k), key=lambda c: (counts[c], str(c)))
        for k in range(len(ordered))
    ]
    return groups, classes

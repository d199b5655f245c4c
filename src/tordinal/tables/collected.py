"""Ratings from other sources than the table: forms and the log of ratings."""

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tordinal.tables.filled import draws_of, fill_in
from tordinal.tables.logged_ratings import LoggedRatings, read_logged_ratings
from tordinal.tables.rating_order import spelled
from tordinal.tables.ratings_log import RatingsLog
from tordinal.tables.selection import Draw, drawn_in
from tordinal.tables.table import Table, cell_text
from tordinal.tables.target import is_rated
from tordinal.tables.values import TableError, number, visible

__all__ = ["Collected", "collect_ratings", "is_ratings_log", "with_target"]

SHOWN = 10  # rows that are listed


@dataclass
class Collected:
    """Ratings that were read besides the table.

    Attributes
    ----------
    order : list of str or None
        Ratings from the lowest to the highest: the given ones, or those of the log.
    draws : list of Draw
        How rows were drawn, as far as it is recorded.
    notes : list of str
        What was done.
    """

    order: list[str] | None
    draws: list[Draw] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def is_ratings_log(path: Any) -> bool:
    """Whether a file is a log of ratings, by its first line."""
    if not isinstance(path, (str, os.PathLike)) or Path(path).suffix.lower() != ".jsonl":
        return False
    try:
        with open(path, "rb") as file:
            values = json.loads(file.readline(2**20))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(values, dict) and values.get("event") == "start"


def with_target(table: Table, target: str) -> Table:
    """The table with an empty column of ratings, if it has none; the file is not changed.

    Examples
    --------
    >>> table = with_target(Table(["text"], [["good", "bad"]], "csv"), "stars")
    >>> table.names, table["stars"]
    (['text', 'stars'], [None, None])
    """
    if target in table.names:
        return table
    columns = [*table.columns, [None] * len(table)]
    return replace(table, names=[*table.names, target], columns=columns)


def collect_ratings(
    table: Table,
    target: str,
    filled: Any,
    ratings: Any,
    read: Callable[[Any], Table],
    order: Sequence[str] | None,
    missing: Sequence[str] = (),
) -> Collected:
    """Put ratings from forms and a log into a table, in place.

    Parameters
    ----------
    table : Table
        The table.
    target : str
        The column of the ratings.
    filled : path, table, list of these or None
        Forms that were filled in, of one round or several.
    ratings : path, table or None
        The log of ratings, or a form. If the log has another rating than the table, the log counts.
    read : callable
        Reads a form.
    order : sequence of str or None
        Ratings from the lowest to the highest. None: those of the log where they are words.
    missing : sequence of str
        Marks of rows that are not rated, besides the usual ones.

    Returns
    -------
    collected : Collected
        The order of the ratings, how rows were drawn, and notes.
    """
    collected = Collected(None if order is None else list(order))
    listed = filled if isinstance(filled, (list, tuple)) else [filled]
    forms = [(form, "filled") for form in listed if form is not None]
    if is_ratings_log(ratings):
        _from_log(table, target, RatingsLog(ratings), collected, missing)
    elif ratings is not None:
        forms.append((ratings, "ratings"))
    for source, option in forms:
        form = read(source)
        collected.notes += fill_in(table, target, form, collected.order, missing, option)
        draws, notes = draws_of(form, table, target)
        collected.draws += draws
        collected.notes += notes
    return collected


def _from_log(
    table: Table, target: str, log: RatingsLog, collected: Collected, missing: Sequence[str]
) -> None:
    header = log.header
    if header.target != target:
        raise TableError(
            f"`ratings` {visible(log.path.name)} holds ratings of {visible(header.target)!r}, not "
            f"of {target!r}"
        )
    logged = read_logged_ratings(header, log.events, table)
    if collected.order is None and any(number(c) is None for c in header.classes):
        collected.order = [str(c) for c in header.classes]
    cells = table[target]
    as_text = table.format in ("csv", "tsv") or any(
        isinstance(c, str) and is_rated(spelled(c), collected.order, missing) for c in cells
    )
    otherwise = 0
    for i, rating in logged.combined().items():
        cell = str(rating) if as_text else rating
        rated = is_rated(spelled(cells[i]), collected.order, missing)
        otherwise += rated and _same(cells[i]) != _same(cell)
        cells[i] = cell
    collected.draws += drawn_in(logged)
    collected.notes += _notes(logged, log.path.name, otherwise)


def _same(cell: Any) -> str:
    return cell_text(cell).strip().lower().removesuffix(".0")


def _notes(logged: LoggedRatings, name: str, otherwise: int) -> list[str]:
    """Notes about the ratings of a log."""
    notes = [f"{len(logged.ratings):,} ratings were read from {name}"]
    if otherwise:
        notes.append(
            f"{otherwise:,} rows have another rating in the table; the one in the log is used"
        )
    apart = sum(len({e.rating for e in by.values()}) > 1 for by in logged.ratings.values())
    if apart:
        notes.append(
            f"{apart:,} rows are rated differently by different raters: the median is used, and of "
            "two ratings the later one"
        )
    for rows, what in ((logged.changed, "have changed"), (logged.missing, "are gone")):
        if rows:
            listed = ", ".join(map(str, rows[:SHOWN])) + (" ..." if len(rows) > SHOWN else "")
            notes.append(
                f"{len(rows):,} rated rows {what} since they were rated, so their ratings are "
                f"not used: {'row' if len(rows) == 1 else 'rows'} {listed}"
            )
    return notes

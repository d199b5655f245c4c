"""A table that is being rated: its rows as features and as they are shown, its scale, its log."""

import difflib
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import parallel_config

from tordinal.distances import Matrix
from tordinal.reduction import UNLABELED, Ranks
from tordinal.tables.collected import with_target
from tordinal.tables.logged_ratings import (
    LoggedRatings,
    new_header,
    read_logged_ratings,
    table_fingerprints,
)
from tordinal.tables.next_rows import read_scale
from tordinal.tables.preparation import prepare
from tordinal.tables.ratings_log import RatingsLog, ratings_path
from tordinal.tables.roles import find_columns
from tordinal.tables.table import Table, cell_text
from tordinal.tables.values import TableError, number, visible

__all__ = ["Project", "open_project"]

LONGEST_CELL = 20_000  # characters of a cell that are shown


@dataclass
class Project:
    """A table that is being rated.

    Attributes
    ----------
    table : Table
        All rows, without columns of earlier runs.
    target : str
        The column of the ratings.
    rows : list of int
        Places of the rows that can be rated: those that are no totals.
    X : matrix
        Their features.
    given : ndarray of shape (n_rows,)
        Ranks that the table itself holds, -1 elsewhere.
    classes : list
        The ratings from the lowest to the highest.
    log : RatingsLog
        The log of ratings beside the table.
    prints : list of str
        Fingerprints of all rows of the table.
    texts, others : list of str
        Columns that are shown: texts, which are long, and all others.
    notes : list of str
        What to know about how the table was read.
    """

    table: Table
    target: str
    rows: list[int]
    X: Matrix
    given: Ranks
    classes: list[Any]
    log: RatingsLog
    prints: list[str]
    texts: list[str]
    others: list[str]
    notes: list[str]

    def __post_init__(self) -> None:
        self.index = {place: k for k, place in enumerate(self.rows)}  # of rows that can be rated
        self._rated = {self.rows[k] for k in np.flatnonzero(self.given != UNLABELED)}

    def read_log(self) -> LoggedRatings:
        """What the log says about the rows that can be rated, by their places in the table."""
        log = self.log
        logged = read_logged_ratings(log.header, log.events, self.table, self.prints, self._rated)
        return logged.only(self.index)

    def ranks(self, logged: LoggedRatings) -> Ranks:
        """The ranks of the rows that can be rated: those of the log count before the table's."""
        rank = self.given.copy()
        for place, rating in logged.combined().items():
            if place in self.index:
                rank[self.index[place]] = self.classes.index(rating)
        return rank

    def cells(self, place: int) -> dict[str, str]:
        """The cells of a row as they are shown, texts first; empty ones are passed over."""
        found = {}
        for name in [*self.texts, *self.others]:
            text = cell_text(self.table[name][place]).strip()
            if text:
                found[name] = text if len(text) <= LONGEST_CELL else text[:LONGEST_CELL] + "…"
        return found


def open_project(
    table: Table,
    target: str,
    path: str,
    *,
    text: Sequence[str] = (),
    columns: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    order: Sequence[str] | None = None,
    missing: Sequence[str] = (),
    listen: Callable[[str, int, int], None] = lambda task, done, total: None,
) -> Project:
    """Prepare a table to be rated, and open its log or begin one.

    Parameters
    ----------
    table : Table
        The table.
    target : str
        The column of the ratings. With `order`, or a log, the table need not have it.
    path : str
        The file of the table; the log lies beside it.
    text, columns, drop, order, missing
        As in `tordinal.rate_table`.
    listen : callable
        Called with the current task.

    Returns
    -------
    project : Project
        The table and its log.

    Raises
    ------
    TableError
        If the scale is not known, or differs from that of the log.
    """
    where = ratings_path(path)
    log = RatingsLog(where) if where.exists() and where.stat().st_size else None
    if order is None and log is not None and log.header.target == target:
        order = [str(c) for c in log.header.classes]
    alike = difflib.get_close_matches(target, table.names, n=1, cutoff=0.7)
    if target not in table.names and not alike:
        if order is None:
            raise TableError(
                f"`target` {target}: the table has no such column yet. To begin one, name all "
                "ratings from the lowest to the highest with `order`, such as 1,2,3,4,5"
            )
        table = with_target(table, target)
    find_columns([target], table.names, "target")
    listen("reading columns", 0, 1)
    prepared = prepare(
        table, target, read=_no_forms, text=text, columns=columns, drop=drop, order=order,
        missing=missing,
    )  # fmt: skip
    classes, given, notes = read_scale(target, prepared.part[target], prepared.order, missing)
    classes = _numbers(classes)
    if log is not None and list(map(str, log.header.classes)) == list(map(str, classes)):
        classes = list(log.header.classes)  # numbers with decimals, of a typed table
    n_unrated = int((given == UNLABELED).sum())
    header = new_header(prepared.table, target, classes, n_unrated, os.path.basename(path))
    log = RatingsLog(where, header)
    with parallel_config(backend="sequential"):
        prepared.encoder.plan(prepared.features, target)
        X = prepared.encoder.encode(prepared.features)
    listen("reading columns", 1, 1)
    roles = {c["name"]: c["role"] for c in prepared.encoder.plan_}
    names = [n for n in prepared.table.names if n != target]
    texts = [n for n in names if roles.get(n) == "text"]
    return Project(
        prepared.table, target, prepared.rows, X, np.asarray(given), classes, log,
        table_fingerprints(log.header, prepared.table), texts,
        [n for n in names if n not in texts], [*prepared.notes, *notes],
    )  # fmt: skip


def _no_forms(form: Any) -> Table:
    raise TableError(f"{visible(str(form))}: forms are not read here")


def _numbers(classes: Sequence[Any]) -> list[Any]:
    """Ratings as the log keeps them: whole numbers as such.

    Examples
    --------
    >>> _numbers(["-1", "0", "1"]), _numbers(["01", "2"]), _numbers(["low", "high"])
    ([-1, 0, 1], ['01', '2'], ['low', 'high'])
    """
    values = [number(c) for c in classes]
    whole = [v is not None and str(c) == str(int(v)) for c, v in zip(classes, values, strict=True)]
    return [int(c) for c in classes] if all(whole) else list(classes)

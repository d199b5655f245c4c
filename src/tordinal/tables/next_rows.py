"""A form with the rows to rate next, from the first rating on."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import parallel_config

from tordinal.reduction import UNLABELED, Ranks
from tordinal.tables.answers import decimal_of
from tordinal.tables.filled import recorded, to_fill_in
from tordinal.tables.preparation import Prepared
from tordinal.tables.rating_order import mistake_in, rank_of, spelled
from tordinal.tables.suggest import draw_rows
from tordinal.tables.table import Table
from tordinal.tables.target import is_rated, read_target
from tordinal.tables.values import TableError

__all__ = ["NextRows", "next_rows", "read_scale"]


@dataclass(frozen=True)
class NextRows:
    """The rows to rate next.

    Attributes
    ----------
    form : Table
        The rows with their numbers and an empty cell for the rating.
    added : dict of str to list
        Columns that record how each row was drawn.
    classes : list
        The ratings from the lowest to the highest.
    n_rated : int
        Rows that are rated so far.
    decimal : str
        The decimal separator of the table.
    notes : list of str
        What to know about how the table was read.
    """

    form: Table
    added: dict[str, list[Any]]
    classes: list[Any]
    n_rated: int
    decimal: str
    notes: list[str]


def next_rows(
    prepared: Prepared, target: str, n: int, *, missing: Sequence[str] = (), seed: int = 0
) -> NextRows:
    """Draw the rows to rate next.

    Parameters
    ----------
    prepared : Prepared
        The table with the ratings so far, which may be none.
    target : str
        The column of the ratings.
    n : int
        How many rows.
    missing : sequence of str
        Marks of rows that are not rated, besides the usual ones.
    seed : int
        Seed. Other rows are drawn once there are more ratings.

    Returns
    -------
    rows : NextRows
        The form, and what was read.

    Raises
    ------
    TableError
        If the scale is not known, or all rows are rated.

    Examples
    --------
    >>> from tordinal.tables.preparation import prepare
    >>> table = Table(["size", "grade"], [[1, 2, 8, 9], [""] * 4], "csv", above=1)
    >>> prepared = prepare(table, "grade", read=None, order=["low", "high"])
    >>> rows = next_rows(prepared, "grade", 2)
    >>> rows.form.names, len(rows.form), list(rows.added)
    (['row', 'grade', 'size'], 2, ['grade_chance', 'grade_audit', 'grade_rows_left'])
    """
    part, encoder = prepared.part, prepared.encoder
    classes, rank, notes = read_scale(target, part[target], prepared.order, missing)
    if (rank != UNLABELED).all():
        raise TableError(f"`target` {target}: every row is rated already")
    with parallel_config(backend="sequential"):
        encoder.plan(prepared.features, target)
        X = encoder.encode(prepared.features)
    draws = draw_rows(X, rank, len(classes), n, seed=seed)
    form = to_fill_in(part, target, [draw.place for draw in draws])
    n_rated = int((rank != UNLABELED).sum())
    return NextRows(
        form, recorded(draws, target), classes, n_rated, decimal_of(prepared.table, encoder),
        [*prepared.notes, *notes],
    )  # fmt: skip


def read_scale(
    target: str, cells: list[Any], order: list[str] | None, missing: Sequence[str]
) -> tuple[list[Any], Ranks, list[str]]:
    """Read the scale and the rank of each cell, also where fewer than two ratings are given.

    Parameters
    ----------
    target : str
        The column of the ratings.
    cells : list
        Its cells.
    order : list of str or None
        Ratings from the lowest to the highest; needed before two different ones are given.
    missing : sequence of str
        Marks of rows that are not rated, besides the usual ones.

    Returns
    -------
    classes : list
        The ratings from the lowest to the highest.
    rank : ndarray of shape (n_rows,)
        The rank of each cell, -1 where it is not rated.
    notes : list of str
        What to know about how the column was read.
    """
    given = {spelled(c) for c in cells if is_rated(spelled(c), order, missing)}
    if order is None and len(given) < 2:
        so_far = f"only {given.pop()!r} was given" if given else "no row is rated"
        raise TableError(
            f"`target` {target}: {so_far} so far, so the scale is not known. Name all ratings from "
            "the lowest to the highest with `order`, such as 1,2,3,4,5"
        )
    if order is None:
        found = read_target(target, cells, None, missing)
        return found.classes, found.rank, found.notes
    wrong = mistake_in(order)
    if wrong:
        raise TableError(f"`order` {','.join(order)}: {wrong}")
    ranks = {label: rank_of(label, order) for label in given}
    unknown = sorted(str(label) for label, k in ranks.items() if k is None)
    if unknown:
        raise TableError(
            f"`target` {target} holds {', '.join(map(repr, unknown[:10]))}, which `order` does not "
            "name; add the ratings among them to it, and empty the other cells"
        )
    rank = [ranks.get(spelled(c)) for c in cells]
    return list(order), np.array([UNLABELED if k is None else k for k in rank]), []

"""Before rows are rated or chosen: ratings from elsewhere, columns of earlier runs, totals."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tordinal.tables.answers import is_earlier
from tordinal.tables.collected import collect_ratings, with_target
from tordinal.tables.columns import TableEncoder
from tordinal.tables.roles import find_columns
from tordinal.tables.selection import Draw
from tordinal.tables.table import Table
from tordinal.tables.totals import total_rows
from tordinal.tables.values import TableError, visible
from tordinal.tables.vectors import FEATURES, parts_of, read_features

__all__ = ["Prepared", "prepare"]


@dataclass
class Prepared:
    """A table that is ready to be rated.

    Attributes
    ----------
    table : Table
        All rows, without columns of earlier runs.
    part : Table
        The rows that are to be rated: those that are no totals.
    rows : list of int
        Their places in `table`.
    features : dict of str to list
        The cells of `part` by column, without the ratings.
    encoder : TableEncoder
        How columns are read; not fitted yet.
    order : list of str or None
        Ratings from the lowest to the highest, where they are named.
    draws : list of Draw
        How rows were drawn, as far as it is recorded; places are those in `table`.
    earlier : list of str
        Columns of earlier runs, which were removed.
    notes : list of str
        Notes for the user.
    """

    table: Table
    part: Table
    rows: list[int]
    features: dict[str, list[Any]]
    encoder: TableEncoder
    order: list[str] | None
    draws: list[Draw]
    earlier: list[str]
    notes: list[str]


def prepare(
    table: Table,
    target: str,
    *,
    read: Callable[[Any], Table],
    text: Sequence[str] = (),
    columns: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    order: Sequence[Any] | None = None,
    missing: Sequence[str] = (),
    filled: Any = None,
    ratings: Any = None,
    features: Any = None,
    meaning: str | None = None,
    hint: Sequence[str] = (),
) -> Prepared:
    """Put ratings from forms and a log into a table, and exclude rows that are not to be rated.

    Parameters
    ----------
    table : Table
        The table; ratings are put into its cells.
    target : str
        The column of the ratings. Where ratings come from elsewhere, the table need not have it.
    read : callable
        Reads a form.
    text, columns, drop, order, missing, filled, ratings, features, hint
        As in `tordinal.rate_table`.
    meaning : str or None
        Name of the sentence embeddings that the encoder adds.

    Returns
    -------
    prepared : Prepared
        What is to be rated.

    Examples
    --------
    >>> table = Table(["text", "stars"], [["bad", "good"], ["1", ""]], "csv", above=1)
    >>> form = Table(["row", "stars"], [["3"], ["5"]], "csv", above=1)
    >>> prepare(table, "stars", read=lambda form: form, filled=form).part["stars"]
    ['1', '5']
    """
    notes = list(table.notes)
    if features is not None:
        table = replace(table, vectors=read_features(features, len(table)))
    if filled is not None or ratings is not None:
        table = with_target(table, target)
    find_columns([target], table.names, "target")
    earlier = [name for name in table.names if is_earlier(name, target)]
    if earlier:
        # Of an output, or a form, or of a table that has such names by chance.
        if not {f"{target}_predicted", f"{target}_confidence"} & set(earlier):
            raise TableError(
                f"the table has a column {visible(earlier[0])}, a name of an answer of tordinal, "
                f"but no {visible(target)}_predicted; rename it, or remove it if it is of an "
                "earlier run"
            )
        table = table.without(earlier)
        notes.append(f"the columns of an earlier run are replaced: {', '.join(earlier)}")
    names = [str(rating) for rating in order] if order else table.orders.get(target)
    collected = collect_ratings(table, target, filled, ratings, read, names, missing)
    notes += collected.notes
    totals = total_rows(table)
    rows = [i for i in range(len(table)) if i not in totals]
    if totals:
        numbers = ", ".join(str(table.number(i)) for i in totals)
        notes.append(f"row {numbers} looks like a total and is excluded")
    part = table.part(rows) if totals else table
    cells = part.features(target)
    chosen = None if columns is None else parts_of(columns, cells)
    if features is not None and (chosen is not None or text):
        chosen = [*(chosen or []), *parts_of([FEATURES], cells)]
    encoder = TableEncoder(
        text=list(text),
        columns=chosen,
        drop=parts_of(drop, cells),
        missing=list(missing),
        decimal=table.decimal,
        meaning=meaning,
        hint=list(hint),
    )
    return Prepared(
        table=table, part=part, rows=rows, features=cells, encoder=encoder, order=collected.order,
        draws=collected.draws, earlier=earlier, notes=notes,
    )  # fmt: skip

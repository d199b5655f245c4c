"""Forms: the rows to rate next, and their ratings once they are filled in."""

from collections.abc import Callable, Sequence
from typing import Any

from tordinal.tables.rating_order import rank_of, spelled
from tordinal.tables.selection import Draw
from tordinal.tables.table import Table, cell_text
from tordinal.tables.target import count_cells, is_rated, read_ratings
from tordinal.tables.values import TableError, number
from tordinal.tables.vectors import vector_size

__all__ = ["draws_of", "fill_in", "recorded", "to_fill_in"]

ROW = "row"
SHOWN = 5  # doubtful answers that are listed
CHANCE, AUDIT, LEFT = "chance", "audit", "rows_left"


def to_fill_in(table: Table, target: str, rows: list[int]) -> Table:
    """A form: the rows with their numbers and an empty cell for the rating.

    Columns of vectors, such as embeddings, are left to the table: people cannot rate by them.

    Parameters
    ----------
    table : Table
        The table.
    target : str
        The column of the ratings.
    rows : list of int
        Places of the rows.

    Returns
    -------
    form : Table
        A table to be written, filled in and given to `fill_in`.

    Examples
    --------
    >>> table = Table(["stars", "review"], [["5", ""], ["Good", "Bad"]], "csv", above=1)
    >>> form = to_fill_in(table, "stars", [1])
    >>> form.names, form.columns
    (['row', 'stars', 'review'], [[3], [''], ['Bad']])
    """
    others = [name for name in table.names if name != target and not vector_size(table[name])]
    columns: list[list[Any]] = [[table.number(i) for i in rows], [""] * len(rows)]
    columns += [[table[name][i] for i in rows] for name in others]
    return Table(
        [ROW, target, *others], columns, table.format, delimiter=table.delimiter,
        newline=table.newline, bom=table.bom, encoding=table.encoding,
    )  # fmt: skip


def fill_in(
    table: Table,
    target: str,
    form: Table,
    order: Sequence[str] | None = None,
    missing: Sequence[str] = (),
    option: str = "filled",
) -> list[str]:
    """Put the ratings of a form into a table, in place; rows are found by their numbers.

    Parameters
    ----------
    table : Table
        The table.
    target : str
        The column of the ratings.
    form : Table
        A form that `to_fill_in` made, filled in.
    order : sequence of str or None
        Ratings from the lowest to the highest, where they are named.
    missing : sequence of str
        Marks of rows that are not rated, besides the usual ones.
    option : str
        The option that named the form, for errors.

    Returns
    -------
    notes : list of str
        What was done, and which answers may not be ratings.

    Raises
    ------
    TableError
        If it is no such form, or the table has changed since: nothing is then filled in.
    """
    for name in (ROW, target):
        if name not in form.names:
            raise TableError(
                f"`{option}`: the form has no column {name!r}; fill in the form that `next` wrote"
            )
    places = {table.number(i): i for i in range(len(table))}
    shared = [n for n in form.names if n in table.names and n != target]
    answers: dict[int, Any] = {}
    was_rating = _is_rating(table, target, order, missing)
    for j, rating in enumerate(form[target]):
        if spelled(rating) in (None, ""):
            continue
        label = form[ROW][j]
        i = _place(label, places)
        changed = [n for n in shared if _spelled(form[n][j]) != _spelled(table[n][i])]
        if changed:
            raise TableError(
                f"`{option}`: row {label} has changed since the form was written: its "
                f"{changed[0]} differs. Keep the order of the rows, or type the ratings into the "
                "table"
            )
        old = table[target][i]
        if was_rating(old) and _spelled(old) != _spelled(rating):
            raise TableError(
                f"`{option}`: row {label} is rated {rating} in the form and {old} in the table or "
                "another form; empty one of the cells"
            )
        if i in answers and _spelled(answers[i]) != _spelled(rating):
            raise TableError(
                f"`{option}`: row {label} is in the form twice, rated {answers[i]} and {rating}; "
                "empty one of the cells"
            )
        answers[i] = rating
    found = list(answers.items())
    cells = list(dict.fromkeys(c for c in map(spelled, table[target]) if c not in (None, "")))
    for i, rating in found:
        table[target][i] = _of_type(rating, cells)
    # A word such as none is put into the table, too: only the whole column tells what it means.
    is_rating = _is_rating(table, target, order, missing)
    words = [(i, r) for i, r in found if not is_rating(table[target][i])]
    listed = ", ".join(f"row {table.number(i)}: {r!r}" for i, r in words[:SHOWN])
    notes = [f"{len(found) - len(words)} ratings were filled in from the form"]
    if words:
        more = f" and {len(words) - SHOWN} more" if len(words) > SHOWN else ""
        notes.append(
            f"some answers in the form usually mean 'not rated' ({listed}{more}); if they are "
            "ratings, name them in `order`"
        )
    return notes


def recorded(draws: Sequence[Draw], target: str) -> dict[str, list[Any]]:
    """The columns in which a form records how its rows were drawn; `draws_of` reads them."""
    return {
        f"{target}_{CHANCE}": [d.probability for d in draws],
        f"{target}_{AUDIT}": ["yes" if d.audit else "no" for d in draws],
        f"{target}_{LEFT}": [d.n_left for d in draws],
    }


def draws_of(form: Table, table: Table, target: str) -> tuple[list[Draw], list[str]]:
    """How the rows of a form were drawn.

    Parameters
    ----------
    form : Table
        A form that was filled in.
    table : Table
        The table.
    target : str
        The column of the ratings.

    Returns
    -------
    draws : list of Draw
        Of the rows with a rating; rows whose record is damaged are excluded.
    notes : list of str
        How many rows have no record, and what that means.
    """
    names = [f"{target}_{what}" for what in (CHANCE, AUDIT, LEFT)]
    rated = [j for j, rating in enumerate(form[target]) if spelled(rating) not in (None, "")]
    places = {table.number(i): i for i in range(len(table))}
    draws: list[Draw] = []
    if all(name in form.names for name in names):
        for j in rated:
            chance, left = _decimal(form[names[0]][j]), _decimal(form[names[2]][j])
            if chance is None or left is None or not (0 < chance <= 1 <= left <= len(table)):
                continue
            audit = cell_text(form[names[1]][j]).strip().lower() == "yes"
            draws.append(Draw(_place(form[ROW][j], places), chance, int(left), audit))
    absent = len(rated) - len(draws)
    if not absent:
        return draws, []
    return draws, [
        f"{absent:,} ratings of the form have no record of how their rows were drawn "
        f"({names[0]}), so they count as a random sample; if they were chosen as difficult, the "
        "error looks larger than it is"
    ]


def _place(label: Any, places: dict[int | str, int]) -> int:
    """The place of a row by its number in a form."""
    place = places.get(label) if isinstance(label, (str, int)) else None
    value = number(label)  # a spreadsheet may have made 5.0 or "5" of 5
    if place is None and value is not None and value.is_integer():
        place = places.get(int(value))
    if place is None:
        place = places.get(str(label))  # an index of texts such as "7001"
    if place is None:
        raise TableError(f"`filled`: the table has no row {label}")
    return place


def _decimal(cell: Any) -> float | None:
    """A number, with a decimal comma or point."""
    return number(cell.replace(",", ".")) if isinstance(cell, str) else number(cell)


def _is_rating(
    table: Table, target: str, order: Sequence[str] | None, missing: Sequence[str]
) -> Callable[[Any], bool]:
    """Which cells are ratings: the whole column may say that a word such as none is one."""
    try:
        cells, names = count_cells(target, table[target]), None if order is None else list(order)
        rank = read_ratings(target, cells, names, missing).rank
    except TableError:  # too few ratings, or in no order yet
        return lambda cell: is_rated(spelled(cell), order, missing)
    return lambda cell: spelled(cell) in rank


def _of_type(rating: Any, cells: list[Any]) -> Any:
    """An answer as the column of ratings has them: the form may be of another format.

    Examples
    --------
    >>> _of_type("2", [1, 3]), _of_type("1.0", [1, 3]), _of_type(2.0, ["1", "3"])
    (2, 1, '2')
    >>> _of_type(" Good", ["good", "bad"])
    ' Good'
    """
    if any(type(cell) is type(rating) for cell in cells) or not cells:
        return rating
    rank = rank_of(rating, cells)
    if rank is not None:
        return cells[rank]
    value = number(rating)
    if all(isinstance(cell, str) for cell in cells):
        return _spelled(rating)
    if value is None or any(isinstance(cell, (str, bool)) for cell in cells):
        return rating
    return int(value) if value.is_integer() else value


def _spelled(value: Any) -> str:
    """A cell as it reads, whatever file it comes from."""
    text = cell_text(value).strip().replace("\r\n", "\n")
    return text.removesuffix(".0")

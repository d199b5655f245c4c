"""The target column: which cells are ratings, in which order, and which are to be rated."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tordinal.reduction import UNLABELED
from tordinal.tables.cells import is_mark
from tordinal.tables.scales import known_order
from tordinal.tables.values import TableError, is_missing, number

__all__ = [
    "Ratings",
    "Target",
    "count_cells",
    "is_rated",
    "original_labels",
    "rank_of",
    "ranks_of",
    "read_ratings",
    "read_target",
    "spelled",
]

MANY = 30  # classes beyond which a target is a quantity
CLASS_WORDS = {"none", "unknown", "x"}  # words for 'missing' that are also classes of some scales
LOWEST = {"none"}  # those of them that are the lowest class of a known scale
FREQUENT = 5  # cells from which such a word occurs as often as a class does
FAR = 3.0  # gaps between ratings from which a single one beyond looks like a typing error
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
        Notes about how the column was read.
    cells : list or None
        The column as it was read; None where it is not known.
    """

    name: str
    classes: list[Any]
    rank: NDArray[np.int64]
    notes: list[str]
    cells: list[Any] | None = None

    def labels(self, rank: NDArray[np.int64]) -> list[Any]:
        """The ratings of all rows: a given one cell by cell as it was read, others by their rank.

        Parameters
        ----------
        rank : ndarray of shape (n_rows,)
            Rank of every row, given or predicted.

        Returns
        -------
        labels : list
            One rating per row.
        """
        return original_labels(self.cells, self.rank != UNLABELED, self.classes, rank)


@dataclass
class Ratings:
    """The ratings that a column holds.

    Attributes
    ----------
    classes : list
        Ratings from the lowest to the highest, in their own type and spelling.
    rank : dict
        Position in `classes` by cell, as `spelled` makes it; other cells are not rated.
    notes : list of str
        Notes about how the column was read.
    """

    classes: list[Any]
    rank: dict[Any, int]
    notes: list[str]


def read_target(
    name: str, cells: list[Any], order: list[str] | None, missing: Sequence[str] = ()
) -> Target:
    """Find the ratings in a column.

    Parameters
    ----------
    name : str
        Name of the column.
    cells : list
        Its cells.
    order : list of str or None
        All ratings from the lowest to the highest. None: numbers have their order; so have texts
        that begin with different numbers, and well-known scales ("low", "medium", "high").
    missing : sequence of str
        Marks of rows that are not rated, besides the usual ones.

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
    ratings = read_ratings(name, count_cells(name, cells), order, missing)
    return Target(name, ratings.classes, ranks_of(cells, ratings), ratings.notes, cells)


def original_labels(
    cells: list[Any] | None, given: NDArray[np.bool_], classes: list[Any], rank: NDArray[np.int64]
) -> list[Any]:
    """The rating of each row: the cell itself where it was given, or else the class of its rank.

    A given rating is never respelled, even if it counts as another spelling of its class. The cell
    of another type than the class (4.0 among integers) is replaced by the class, because a column
    of a typed format holds one type.

    Examples
    --------
    >>> cells, given = ["Good", "", "good"], np.array([True, False, True])
    >>> original_labels(cells, given, ["bad", "good"], np.array([1, 0, 1]))
    ['Good', 'bad', 'good']
    """
    labels = [classes[k] for k in rank]
    if cells is None:
        return labels
    for i in np.flatnonzero(given):
        if type(cells[i]) is type(labels[i]):
            labels[i] = cells[i]
    return labels


def spelled(cell: Any) -> Any:
    """A cell without spaces around it; NaN, which equals nothing, is None."""
    if isinstance(cell, str):
        return cell.strip()
    return None if is_missing(cell) else cell


def count_cells(name: str, cells: list[Any]) -> Counter[Any]:
    """How often each cell is in a column of ratings.

    Parameters
    ----------
    name : str
        Name of the column.
    cells : list
        Its cells.

    Returns
    -------
    counts : Counter
        By cell, as `spelled` makes it.
    """
    other = next(
        (c for c in cells if not isinstance(c, (str, bool, int, float)) and c is not None), None
    )
    if other is not None:
        raise TableError(
            f"`target` {name} holds values of type {type(other).__name__}; "
            "ratings are numbers or text"
        )
    return Counter(map(spelled, cells))


def ranks_of(cells: list[Any], ratings: Ratings) -> NDArray[np.int64]:
    """The rank of each cell, -1 where it is not rated."""
    return np.array([ratings.rank.get(spelled(c), UNLABELED) for c in cells], dtype=np.int64)


def is_rated(cell: Any, order: Sequence[str] | None, missing: Sequence[str]) -> bool:
    """Whether a cell, as `spelled` makes it, is a rating: what the order names always is one."""
    if isinstance(cell, str) and order and cell.lower() in {name.lower() for name in order}:
        return True
    return not (is_missing(cell) or is_mark(cell, missing))


def rank_of(cell: Any, classes: Sequence[Any]) -> int | None:
    """The rank of a cell among known classes, or None if it is not one of them.

    It is found by its spelling, by its value (4 and "4.0"), or by its spelling in another case.

    Examples
    --------
    >>> [rank_of(c, ["none", "mild", "severe"]) for c in ("none", " Mild", "", None, "dire")]
    [0, 1, None, None, None]
    """
    cell = spelled(cell)
    if cell is None or cell == "":
        return None
    value = number(cell)
    for same in (
        lambda c: str(c) == str(cell),
        lambda c: value is not None and number(c) == value,
        lambda c: value is None and str(c).lower() == str(cell).lower(),
    ):
        ranks = [k for k, c in enumerate(classes) if same(c)]
        if len(ranks) == 1:
            return ranks[0]
    return None


def read_ratings(
    name: str, cells: Counter[Any], order: list[str] | None, missing: Sequence[str] = ()
) -> Ratings:
    """Find the ratings among the cells of a column.

    Parameters
    ----------
    name : str
        Name of the column.
    cells : Counter
        How often each cell occurs, from `count_cells`.
    order, missing
        As in `read_target`.

    Returns
    -------
    ratings : Ratings
        Classes, and the rank of each cell.
    """
    order = None if order is None else [label.strip() for label in order]
    named = set(order or ())
    notes: list[str] = []
    given = Counter({c: n for c, n in cells.items() if is_rated(c, order, missing)})
    words = sorted(c for c in cells if isinstance(c, str) and c and c not in given)
    doubtful = [] if order is not None else _may_be_ratings(given, cells, words, missing)
    for word in doubtful:
        if word.lower() in LOWEST and known_order([*map(str, given), word]) is not None:
            given[word] = cells[word]
            notes.append(
                f"{word!r} ({cells[word]:,} cells of {name}) is taken as a rating; if it stands "
                f"for 'not rated', say so with `missing` {word}"
            )
    doubtful = [word for word in doubtful if word not in given]
    notes += [_taken_as_missing(name, w, cells[w]) for w in words if w not in (*given, *doubtful)]
    if not given:
        raise TableError(
            f"`target` {name}: every cell is empty. "
            "Rate a few rows first, at least one of each class"
        )
    alike = _one_spelling(given, named, notes)
    counts: Counter[Any] = Counter()
    for cell, n in given.items():
        counts[alike.get(cell, cell)] += n
    if doubtful and known_order([str(c) for c in counts]) is not None:
        listed = " and ".join(f"{cells[w]:,} cells of {name} that say {w!r}" for w in doubtful)
        raise TableError(
            f"`target` {name}: are the {listed} ratings? If so, name all ratings from the lowest "
            f"to the highest with `order`; if not, use `missing` {','.join(doubtful)}"
        )
    if len(counts) > MANY and order is None:
        raise TableError(
            f"`target` {name} has {len(counts):,} distinct values. Did you mean a regression? "
            f"Ratings have few values: at most {MANY}, or name them all with `order`; "
            "tordinal.datasets.quantize makes ranks of a number"
        )
    groups, classes = (
        _by_name(name, counts, order)
        if order is not None
        else _by_value(name, counts, notes, {word: cells[word] for word in doubtful})
    )
    rank = {cell: groups[alike.get(cell, cell)] for cell in given}
    present = sorted(set(rank.values()))
    if len(present) < 2:
        raise TableError(
            f"`target` {name}: all {given.total()} ratings are {classes[present[0]]!r}. "
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
        notes.append(
            f"no row is rated {', '.join(map(str, absent))}, so it will never be predicted"
        )
        keep = {k: new for new, k in enumerate(present)}
        rank = {cell: keep[k] for cell, k in rank.items()}
        classes = [classes[k] for k in present]
    sizes = np.zeros(len(classes), dtype=np.int64)
    for cell, n in given.items():
        sizes[rank[cell]] += n
    _question(name, classes, sizes, notes)
    return Ratings(classes, rank, notes)


def _taken_as_missing(name: str, word: str, n: int) -> str:
    """The note about a word that counts as no rating."""
    note = f"{n:,} {'cell' if n == 1 else 'cells'} of {name} {'says' if n == 1 else 'say'} {word!r}"
    hint = "; if it is a rating, name it in `order`" if word.lower() in CLASS_WORDS else ""
    return f"{note}: taken as not rated{hint}"


def _may_be_ratings(
    given: Counter[Any], cells: Counter[Any], words: list[str], missing: Sequence[str]
) -> list[str]:
    """Words that usually mean 'not rated' but may be ratings here, such as none < mild < severe.

    Ratings must be words, too, the word must occur as often as a class does, and other cells must
    be empty: where none is, it is the word that marks the rows to rate. A word that the user named
    as a mark of missing values is no rating.
    """
    empty = cells.get("", 0) + cells.get(None, 0)
    if not given or not empty or not _texts(given) or any(number(c) is not None for c in given):
        return []
    frequent = min(FREQUENT, *given.values())
    return [
        word
        for word in words
        if word.lower() in CLASS_WORDS and word not in missing and cells[word] >= frequent
    ]


def _one_spelling(given: Counter[Any], named: set[str], notes: list[str]) -> dict[Any, str]:
    """The class of ratings that differ in case only: that of `order`, or the most frequent one.

    Nothing else is merged: a sign, a digit, a dash or a space inside may be what tells two ratings
    apart. Surrounding spaces are gone already.
    """
    spellings: dict[str, list[str]] = {}
    for label in given:
        if isinstance(label, str):
            spellings.setdefault(label.lower(), []).append(label)
    alike: dict[Any, str] = {}
    for key, labels in spellings.items():
        wanted = [n for n in named if n.lower() == key]
        if len(labels) == 1 and (not named or labels[0] in named or len(wanted) != 1):
            continue
        if any(label in named for label in labels) and len(wanted) > 1:
            continue  # the order names both
        best = wanted[0] if wanted else max(labels, key=lambda c: (given[c], c))
        others = [c for c in labels if c != best]
        alike |= dict.fromkeys(others, best)
        if others:
            listed = " and ".join(map(repr, others))
            notes.append(
                f"{listed} {'is' if len(others) == 1 else 'are'} taken as {best!r}; to keep them "
                "apart, name all of them in `order`"
            )
    return alike


def _question(name: str, classes: list[Any], counts: NDArray[np.int64], notes: list[str]) -> None:
    """Add notes about ratings that look wrong."""
    values = [number(c) for c in classes]
    single = [str(c) for c, n in zip(classes, counts, strict=True) if n == 1]
    if len(classes) > 3 and None not in values:
        gaps = np.diff(np.array(values, dtype=np.float64))
        for place, rest, others in ((-1, gaps[:-1], classes[:-1]), (0, gaps[1:], classes[1:])):
            if counts[place] == 1 and gaps[place] > FAR * rest.max():
                odd = classes[place]
                notes.append(
                    f"one row is rated {odd}, far from the others ({others[0]} to {others[-1]}): "
                    "a typing error?"
                )
    if single:
        notes.append(f"only one row is rated {', '.join(single)}: its error cannot be estimated")


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
    unknown = [value for value in counts if _spell(value) not in order]
    if unknown:
        listed = ", ".join(map(repr, unknown[:20])) + (" and others" if len(unknown) > 20 else "")
        raise TableError(
            f"`target` {name} holds {listed}, which `order` does not name; "
            "add what is a rating, and empty the other cells"
        )
    for value in counts:
        groups[value] = order.index(_spell(value))
        classes[groups[value]] = value
    return groups, classes


def _texts(counts: Counter[Any]) -> bool:
    return all(isinstance(c, str) for c in counts)


def _by_value(
    name: str, counts: Counter[Any], notes: list[str], doubtful: dict[str, int]
) -> tuple[dict[Any, int], list[Any]]:
    """Ranks by the numbers that the ratings are or begin with.

    The error that asks for the order names `doubtful` words, too, which may be ratings.
    """
    values = {c: number(c) for c in counts}
    if any(v is None for v in values.values()):
        leading = {c: LEADING_NUMBER.match(str(c)) for c in counts}
        values = {
            c: number(m.group(1).replace(",", ".")) if m else None for c, m in leading.items()
        }
        distinct = len(set(values.values())) == len(values)
        if any(v is None for v in values.values()) or not distinct:
            known = known_order([str(c) for c in counts]) if _texts(counts) else None
            if known is not None:
                notes.append(f"ratings are taken in the order {' < '.join(known)}")
                return {c: k for k, c in enumerate(known)}, list(known)
            if len(counts) == 2:
                low, high = sorted(counts, key=str)
                notes.append(f"{low!r} is taken as lower than {high!r}; use `order` to change that")
                return {low: 0, high: 1}, [low, high]
            ratings = ", ".join(f"{str(c)!r} ({n})" for c, n in counts.most_common())
            others = " and ".join(f"{word!r} ({n})" for word, n in doubtful.items())
            also = f", and {others}, which may mean 'not rated'" if others else ""
            raise TableError(
                f"`target` {name} holds text whose order cannot be known: {ratings}{also}. "
                "Which is the lowest? Name all ratings from the lowest to the highest with "
                "`order`, separated by commas" + (f", {others} among them if so meant" * bool(also))
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

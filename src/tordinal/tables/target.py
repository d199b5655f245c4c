"""The target column: which cells are ratings, in which order, and which are to be rated."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tordinal.reduction import UNLABELED
from tordinal.tables.cells import is_mark
from tordinal.tables.rating_order import order_by_name, order_by_value, spelled
from tordinal.tables.scales import is_sign, known_order
from tordinal.tables.values import TableError, is_missing, number

__all__ = [
    "Ratings",
    "Target",
    "count_cells",
    "is_rated",
    "original_labels",
    "ranks_of",
    "read_ratings",
    "read_target",
]

MANY = 30  # classes beyond which a target is a quantity
CLASS_WORDS = {"none", "unknown", "x"}  # words for 'missing' that are also classes of some scales
LOWEST = {"none"}  # those of them that are the lowest class of a known scale
FREQUENT = 5  # cells from which such a word occurs as often as a class does
FAR = 3.0  # gaps between ratings from which a single one beyond looks like a typing error


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
    cells: list[Any] | None,
    given: NDArray[np.bool_],
    classes: list[Any],
    rank: NDArray[np.int64],
    *,
    one_type: bool = False,
) -> list[Any]:
    """The rating of each row: the cell itself where it was given, or else the class of its rank.

    A given rating is never respelled, even if it counts as another spelling of its class.

    Parameters
    ----------
    cells : list or None
        The column of ratings; None where no rating is given.
    given : ndarray of bool
        Which rows are rated.
    classes : list
        Ratings from the lowest to the highest.
    rank : ndarray of shape (n_rows,)
        The rank of each row.
    one_type : bool, default=False
        Whether a cell of another type than its class (4.0 among integers) is replaced by the class,
        as in many files that become Parquet files of the same types.

    Returns
    -------
    labels : list
        One rating per row.

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
        if not one_type or type(cells[i]) is type(labels[i]):
            labels[i] = cells[i]
    return labels


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
    """Whether a cell, as `spelled` makes it, is a rating; those that the order names always are."""
    if isinstance(cell, str) and order and cell.lower() in {name.lower() for name in order}:
        return True
    return not (is_missing(cell) or is_mark(cell, missing))


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
    possible = [] if order is not None else _possible(given, cells, words, missing)
    frequent = _frequent(given, cells, possible)
    signs = all(isinstance(c, str) and is_sign(c) for c in given)
    for alike in _on_known_scales(given, [w for w in possible if _is_class_word(w, signs)]):
        given.update({word: cells[word] for word in alike})
        listed, n = " and ".join(map(repr, alike)), sum(cells[word] for word in alike)
        notes.append(
            f"{listed} ({n:,} cells of {name}) {'is' if len(alike) == 1 else 'are'} taken as a "
            f"rating; if it stands for 'not rated', say so with `missing` {','.join(alike)}"
        )
    doubtful = [w for w in frequent if _is_class_word(w, signs) and w not in given]
    for word in [w for w in words if w not in (*given, *doubtful)]:
        may_be_rating = word in frequent or _is_class_word(word, signs)
        notes.append(_taken_as_missing(name, word, cells[word], may_be_rating))
    if not given:
        raise TableError(
            f"`target` {name}: every cell is empty. "
            "Rate a few rows first, at least one of each class"
        )
    same = _one_spelling(given, named, notes)
    counts: Counter[Any] = Counter()
    for cell, n in given.items():
        counts[same.get(cell, cell)] += n
    if len(counts) > MANY and order is None:
        numeric = all(number(c) is not None for c in counts)
        raise TableError(
            f"`target` {name} has {len(counts):,} distinct values, but ratings have at most "
            f"{MANY}. "
            + (
                "To rate a number, turn it into ranks with tordinal.datasets.quantize; otherwise "
                if numeric
                else "Name the column of the ratings, or "
            )
            + "name all ratings with `order`"
        )
    groups, classes = (
        order_by_name(name, counts, order)
        if order is not None
        else order_by_value(name, counts, notes, {w: cells[w] for w in frequent if w not in given})
    )
    if doubtful:
        listed = " and ".join(f"{cells[w]:,} cells of {name} that say {w!r}" for w in doubtful)
        raise TableError(
            f"`target` {name}: are the {listed} ratings? If so, name all ratings from the lowest "
            f"to the highest with `order`; if not, use `missing` {','.join(doubtful)}"
        )
    rank = {cell: groups[same.get(cell, cell)] for cell in given}
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
    _question(classes, sizes, notes)
    return Ratings(classes, rank, notes)


def _taken_as_missing(name: str, word: str, n: int, may_be_rating: bool) -> str:
    """The note about a word that counts as no rating."""
    note = f"{n:,} {'cell' if n == 1 else 'cells'} of {name} {'says' if n == 1 else 'say'} {word!r}"
    hint = "; if it is a rating, name it in `order`" if may_be_rating else ""
    return f"{note}: taken as not rated{hint}"


def _is_class_word(word: str, signs: bool) -> bool:
    """Whether a word for 'missing' is a class of some scales; a sign is one among `signs`."""
    return word.lower() in CLASS_WORDS or (signs and is_sign(word))


def _possible(
    given: Counter[Any], cells: Counter[Any], words: list[str], missing: Sequence[str]
) -> list[str]:
    """Words that usually mean 'not rated' but may be ratings here, such as none < mild < severe.

    Ratings must be words, too, and other cells must be empty: where none is, it is the word that
    marks the rows to rate. A word that the user named as a mark of missing values is no rating.
    """
    empty = cells.get("", 0) + cells.get(None, 0)
    if not given or not empty or not all(isinstance(c, str) for c in given):
        return []
    if not all(is_sign(c) for c in given) and any(number(c) is not None for c in given):
        return []
    marks = {mark.lower() for mark in missing}
    return [w for w in words if w.lower() not in marks]


def _frequent(given: Counter[Any], cells: Counter[Any], words: list[str]) -> list[str]:
    """Those words that occur as often as a class does."""
    times: Counter[str] = Counter()
    for word in words:
        times[word.lower()] += cells[word]
    least = min(FREQUENT, *given.values()) if given else FREQUENT
    return [w for w in words if times[w.lower()] >= least]


def _on_known_scales(given: Counter[Any], doubtful: list[str]) -> list[list[str]]:
    """Doubtful words that are ratings on a known scale of the column, with their spellings."""
    labels = list({str(c).lower(): str(c) for c in given}.values())
    signs = [word for word in doubtful if is_sign(word)]
    if signs and known_order([*labels, *signs]) is not None:
        return [[word] for word in signs]
    lowest = [word for word in doubtful if word.lower() in LOWEST]
    return [lowest] if lowest and known_order([*labels, lowest[0]]) is not None else []


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


def _question(classes: list[Any], counts: NDArray[np.int64], notes: list[str]) -> None:
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

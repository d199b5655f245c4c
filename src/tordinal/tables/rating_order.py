"""The order of ratings: as it was named, by numbers, or that of a well-known scale."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from tordinal.tables.cells import read_dates, read_number
from tordinal.tables.scales import known_order
from tordinal.tables.values import TableError, is_missing, number

__all__ = ["mistake_in", "order_by_name", "order_by_value", "rank_of", "rating_value", "spelled"]

LEADING_NUMBER = re.compile(r"\s*([+\-\u2212]?\d+(?:[.,]\d+)?)(?![\w.,])")
THOUSANDS = re.compile(r"\d[,.'\u2019\u00a0\u202f ]\d{3}(?!\d)")
LONGEST = 60  # characters of a rating that an error shows
MINUS = "\u2212"  # the minus sign of typesetting

Order = tuple[dict[Any, int], list[Any]]  # rank of each rating, and the classes


def spelled(cell: Any) -> Any:
    """A cell without spaces around it; NaN, which equals nothing, is None."""
    if isinstance(cell, str):
        return cell.strip()
    return None if is_missing(cell) else cell


def rating_value(cell: Any) -> Decimal | None:
    """The exact number that a rating is, or None.

    Two ratings are one only if they are equal to the last digit, which floats may not tell.

    Examples
    --------
    >>> rating_value("1.50") == rating_value(1.5), rating_value("\u22121") == -1
    (True, True)
    >>> rating_value(2**53 + 1) == rating_value(float(2**53)), rating_value("1/2")
    (False, None)
    """
    text = str(int(cell) if isinstance(cell, bool) else cell).strip().replace(MINUS, "-")
    return None if number(text) is None else Decimal(text)


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
    value = rating_value(cell)
    for same in (
        lambda c: str(c) == str(cell),
        lambda c: value is not None and rating_value(c) == value,
        lambda c: (value is None or isinstance(cell, bool)) and str(c).lower() == str(cell).lower(),
    ):
        ranks = [k for k, c in enumerate(classes) if same(c)]
        if len(ranks) == 1:
            return ranks[0]
    return None


def order_by_name(name: str, counts: Counter[Any], order: list[str]) -> Order:
    """Rank ratings by an explicit order.

    Parameters
    ----------
    name : str
        Name of the column.
    counts : Counter
        How often each rating occurs.
    order : list of str
        All ratings from the lowest to the highest.

    Returns
    -------
    groups : dict
        The rank of each rating.
    classes : list
        The classes, spelled as in the column where they occur.
    """
    wrong = mistake_in(order)
    if wrong:
        raise TableError(f"`order` {','.join(order)}: {wrong}{_quoting(counts)}")
    groups: dict[Any, int] = {}
    classes: list[Any] = list(order)
    unknown = [value for value in counts if rank_of(value, order) is None]
    if unknown:
        listed = ", ".join(map(repr, unknown[:20])) + (" and others" if len(unknown) > 20 else "")
        raise TableError(
            f"`target` {name} holds {listed}, which `order` does not name; "
            f"add the ratings among them to it, and empty the other cells{_quoting(counts)}"
        )
    for value, _ in reversed(counts.most_common()):  # a class is spelled as most often
        groups[value] = rank_of(value, order)  # type: ignore[assignment]
        classes[groups[value]] = value
    return groups, classes


def mistake_in(order: list[str]) -> str:
    """What is wrong with a list of names as an order of ratings; empty if nothing is.

    Examples
    --------
    >>> mistake_in(["low", "high", "low"]), mistake_in(["low", "high"])
    ("'low' occurs twice; name each rating once", '')
    """
    if "" in order:
        return "one of the names is empty; name each rating once, with a comma between two"
    twice = [name for name, n in Counter(order).items() if n > 1]
    if twice:
        return f"{twice[0]!r} occurs twice; name each rating once"
    if len(order) < 2:
        return "name at least two ratings, from the lowest to the highest, separated by commas"
    return ""


def _quoting(counts: Counter[Any]) -> str:
    """How to name ratings that hold a comma, if there are any."""
    one = next((c for c in counts if isinstance(c, str) and "," in c), None)
    return "" if one is None else f'. Put quotes around a rating that holds a comma: "{one}"'


def order_by_value(
    name: str, counts: Counter[Any], notes: list[str], doubtful: dict[str, int]
) -> Order:
    """Rank ratings by the numbers that they are or begin with, or by a well-known scale.

    Parameters
    ----------
    name : str
        Name of the column.
    counts : Counter
        How often each rating occurs.
    notes : list of str
        Where notes about the order are added.
    doubtful : dict of str to int
        Words that may be ratings, with their counts: the error that asks for the order names them.

    Returns
    -------
    groups, classes
        As from `order_by_name`.
    """
    values = {c: rating_value(c) for c in counts}
    if any(v is None for v in values.values()):
        written, clear = _numbers_as_written(counts)
        if written is None:
            known = known_order([str(c) for c in counts]) if _texts(counts) and clear else None
            if known is not None:
                notes.append(f"ratings are taken in the order {' < '.join(known)}")
                return {c: k for k, c in enumerate(known)}, list(known)
            if len(counts) == 2 and clear:
                low, high = sorted(counts, key=str)
                notes.append(f"{low!r} is taken as lower than {high!r}; use `order` to change that")
                return {low: 0, high: 1}, [low, high]
            raise TableError(_question_of_order(name, counts, doubtful))
        values = dict(written)
        listed = " < ".join(str(c) for c in sorted(counts, key=lambda c: written[c]))
        notes.append(f"ratings are ordered by their numbers: {listed}")
    ordered = sorted({v for v in values.values() if v is not None})
    groups = {c: ordered.index(v) for c, v in values.items() if v is not None}
    # Several spellings of a number (4 and 4.0) are one rating, spelled as most often.
    classes = []
    for k in range(len(ordered)):
        same = sorted(
            (c for c in counts if groups[c] == k), key=lambda c: (counts[c], str(c)), reverse=True
        )
        classes.append(same[0])
        if len(same) > 1:
            notes.append(_taken_as(same[1:], same[0]))
    return groups, classes


def _taken_as(others: list[Any], best: Any) -> str:
    return (
        f"{' and '.join(map(repr, others))} {'is' if len(others) == 1 else 'are'} taken as "
        f"{best!r}; to keep them apart, name all of them in `order`"
    )


def _question_of_order(name: str, counts: Counter[Any], doubtful: dict[str, int]) -> str:
    infinite = next((c for c in counts if isinstance(c, float) and math.isinf(c)), None)
    if infinite is not None:
        return f"`target` {name} holds {infinite}, which is not a rating; empty those cells"
    ratings = ", ".join(f"{_shorten(str(c))!r} ({n})" for c, n in counts.most_common())
    others = " and ".join(f"{word!r} ({n})" for word, n in doubtful.items())
    also = f", and {others}, which may mean 'not rated'" if others else ""
    return (
        f"`target` {name} holds text whose order cannot be known: {ratings}{also}. "
        "Which is the lowest? Name all ratings from the lowest to the highest with "
        "`order`, separated by commas" + (f", including {others} if that is a rating" * bool(also))
    )


def _shorten(label: str) -> str:
    return label if len(label) <= LONGEST else f"{label[: LONGEST - 3]}..."


def _texts(counts: Counter[Any]) -> bool:
    return all(isinstance(c, str) for c in counts)


def _numbers_as_written(counts: Counter[Any]) -> tuple[dict[Any, Any] | None, bool]:
    """Different numbers that the ratings are (10%, 1 000, dates) or begin with (5 stars), or None.

    Also whether there is no doubt: 1,000 may be a thousand or one, and then no order is known.
    """
    texts = {c: str(c).strip() for c in counts}
    dates = read_dates(list(texts.values()))
    if dates is not None:
        days = dict(zip(counts, dates.values, strict=True))
        clear = not dates.doubt and len(set(days.values())) == len(days)
        return (days if clear else None), clear
    readings: list[dict[Any, Any]] = []
    if not any(text.startswith("(") for text in texts.values()):  # (1) may be the first, not -1
        for decimal in (".", ","):
            values: dict[Any, Any] = {c: read_number(t, decimal) for c, t in texts.items()}
            if None not in values.values() and len(set(values.values())) == len(values):
                readings.append(values)
    if readings:
        orders = [sorted(counts, key=reading.__getitem__) for reading in readings]
        clear = orders[0] == orders[-1]
        return (readings[0] if clear else None), clear
    leading = {c: LEADING_NUMBER.match(text) for c, text in texts.items()}
    values = {c: rating_value(m[1].replace(",", ".")) if m else None for c, m in leading.items()}
    if None in values.values() or len(set(values.values())) < len(values):
        return None, True
    clear = not any(THOUSANDS.search(text) for text in texts.values())
    return (values if clear else None), clear

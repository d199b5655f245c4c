"""Numbers and dates as people write them in tables: how a whole column is read, and each cell.

One cell does not show whether ``1,234`` is a thousand or a little more than one, or ``03/04/2024``
in March or in April. A column often does. Otherwise the reading is a guess, with a note.
"""

import datetime
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tordinal.tables.values import is_missing, number

__all__ = [
    "MARKS",
    "Reading",
    "doubtful_category",
    "is_mark",
    "plain_numbers",
    "read_dates",
    "read_day",
    "read_number",
    "read_numbers",
]

# Cells that people write for a missing number, date or rating, in lower case.
MARKS = {
    "?", "??", "???", "-", "--", "---", "–", "—", ".", "..", "...", "…", "x", "tbd", "tba", "tbc",
    "unknown", "missing", "not available", "not applicable", "not rated", "unrated", "no rating",
    "n.a.", "k.a.", "n/v", "#n/a", "#n/v", "#nv", "#value!", "#wert!", "#div/0!", "#ref!", "#name?",
    "#null!", "#num!",
}  # fmt: skip
SOME = 0.05  # share of the cells that may be unreadable in a column of numbers, without a doubt
MOSTLY = 0.2  # the same with a note; with more of them the column is a category
HALF = 0.5  # share of unreadable cells below which reading a column as a category is doubtful

CURRENCY = r"(?:[$€£¥₹₽₩₺]|US\$|USD|EUR|GBP|CHF|JPY|CNY|INR|kr\.?|SEK|NOK|DKK|PLN|zł|Fr\.?)"
AMOUNT = re.compile(
    rf"(?P<minus>[-+\u2212]?)\s*(?:{CURRENCY}\s*)?(?P<sign>[-+\u2212]?)\s*"
    rf"(?P<digits>\d[\d.,'\u2019\u00a0\u202f ]*|[.,]\d+)\s*(?P<unit>%|{CURRENCY})?",
    re.IGNORECASE,
)
SPACES = "'\u2019\u00a0\u202f "
WHOLE = {
    ".": re.compile(rf"\d{{1,3}}(?:[,{SPACES}]\d{{3}})+(?:\.\d+)?|\d+(?:\.\d*)?|\.\d+"),
    ",": re.compile(rf"\d{{1,3}}(?:[.{SPACES}]\d{{3}})+(?:,\d+)?|\d+(?:,\d*)?|,\d+"),
}
# Columns of plain numbers, joined with line breaks: such a column is read at once.
PLAIN = {".": re.compile(r"[-+0-9.eE \n]*"), ",": re.compile(r"[-+0-9, \n]*")}
EITHER = re.compile(r"\d{1,3}[.,]\d{3}")  # a thousand or a decimal separator
ISO_DATE = re.compile(r"\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?$")
DATE = re.compile(
    r"(\d{1,2})([./-])(\d{1,2})\2(\d{4}|\d{2})(?:,?\s+(\d{1,2}):(\d{2})(?::\d{2})?\s*([ap]m)?)?$",
    re.IGNORECASE,
)
# "November 17, 2006" and "17 Nov 2006".
NAMED_DATE = re.compile(
    r"(?:([a-z]{3,9})\.?[ -](\d{1,2})(?:st|nd|rd|th)?|(\d{1,2})(?:st|nd|rd|th)?[ -]([a-z]{3,9})\.?)"
    r",?[ -](\d{4})$",
    re.IGNORECASE,
)
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
Array = NDArray[np.float64]
CENTURY = 69  # years of two digits up to here are of this century


@dataclass
class Reading:
    """How a column is read.

    Attributes
    ----------
    style : dict
        Arguments for `read_number` or `read_day`.
    values : ndarray
        The cells as numbers; NaN for marks and what cannot be read.
    marks : Counter
        Cells that count as missing, and how many there are of each.
    odd : list of str
        Cells that cannot be read.
    words : list of str
        How cells were read, for the table of columns.
    doubt : str
        A note about a reading that may be wrong.
    """

    style: dict[str, Any]
    values: Array
    marks: Counter[str] = field(default_factory=Counter)
    odd: list[str] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    doubt: str = ""


def is_mark(cell: Any, more: Sequence[str] = ()) -> bool:
    """Whether a cell marks a missing value, in a column of numbers, dates or ratings."""
    if not isinstance(cell, str):
        return False
    text = cell.strip()
    return text.lower() in MARKS or text in more


def read_number(cell: Any, decimal: str = ".") -> float | None:
    """A cell as a number, or None.

    Examples
    --------
    >>> [read_number(c) for c in ("12.5%", "$1,234.50", "(3)", "1.234,50")]
    [12.5, 1234.5, -3.0, None]
    >>> read_number("1.234,50 EUR", decimal=",")
    1234.5
    """
    if not isinstance(cell, str):
        return None if isinstance(cell, bool) else number(cell)
    text = cell.strip()
    negative = text.startswith("(") and text.endswith(")")  # as accountants write it
    match = AMOUNT.fullmatch(text[1:-1].strip() if negative else text)
    if match is None:
        return number(text) if decimal == "." else None
    digits = match["digits"].strip(SPACES)
    if not WHOLE[decimal].fullmatch(digits):
        return number(text) if decimal == "." else None
    for separator in SPACES + ("," if decimal == "." else "."):
        digits = digits.replace(separator, "")
    value = number(digits.replace(",", "."))
    minus = negative or match["minus"] in ("-", "\u2212") or match["sign"] in ("-", "\u2212")
    return -value if minus and value is not None else value


def read_numbers(
    cells: Sequence[Any], more: Sequence[str] = (), usual: str = "."
) -> Reading | None:
    """How a column of numbers is read; None for other columns.

    Parameters
    ----------
    cells : sequence
        The cells that are not empty.
    more : sequence of str
        Further marks of missing values.
    usual : {".", ","}
        The decimal separator if the cells do not show it.

    Returns
    -------
    reading : Reading or None
        Its style is ``{"decimal": "." or ","}``.
    """
    plain = plain_numbers(cells, usual)
    if plain is not None:
        words = _example(cells, usual) if usual == "," else []
        return Reading({"decimal": usual}, plain, words=words)
    marks = Counter(c.strip() for c in cells if is_mark(c, more))
    others = [c for c in cells if not is_mark(c, more)]
    if not others:
        return None
    decimal, found = usual, [read_number(c, usual) for c in others]
    if None in found:
        other = "," if usual == "." else "."
        found_there = [read_number(c, other) for c in others]
        if found_there.count(None) < found.count(None):
            decimal, found = other, found_there
    odd = [str(c) for c, value in zip(others, found, strict=True) if value is None]
    if len(odd) > MOSTLY * len(others):
        return None
    values = np.full(len(cells), np.nan)
    held = np.array([not is_mark(c, more) for c in cells])
    values[held] = [np.nan if value is None else value for value in found]
    reading = Reading({"decimal": decimal}, values, marks, odd, _example(others, decimal))
    reading.doubt = _doubt([c.strip() for c in others if isinstance(c, str)], decimal)
    if len(odd) > SOME * len(others):
        reading.doubt = f"{about_odd(odd, len(others))}, and are read as missing"
    return reading


def plain_numbers(cells: Sequence[Any], decimal: str = ".") -> Array | None:
    """A column of numbers without any signs but the decimal separator, read at once.

    Parameters
    ----------
    cells : sequence
        Cells; empty ones and None are missing.
    decimal : {".", ","}
        The decimal separator.

    Returns
    -------
    values : ndarray or None
        NaN for missing cells; None if `read_number` is needed, or no cell holds a number.

    Examples
    --------
    >>> plain_numbers(["1.5", "", "-2"])
    array([ 1.5,  nan, -2. ])
    >>> plain_numbers(["1,234.5", "2"])
    """
    if not set(map(type, cells)) <= {str, int, float, type(None)}:
        return None
    joined = "\n".join(c for c in cells if type(c) is str)
    if not PLAIN[decimal].fullmatch(joined):
        return None
    if decimal == "," and "," in joined:
        cells = [c.replace(",", ".") if type(c) is str else c for c in cells]
    try:
        values = np.array([np.nan if c == "" or c is None else float(c) for c in cells])
    except (ValueError, OverflowError):
        return None
    usable = len(values) and not np.isinf(values).any() and not np.isnan(values).all()
    return values if usable else None


def _example(cells: Sequence[Any], decimal: str) -> list[str]:
    """The reading of the first cell that is not a plain number."""
    for cell in cells:
        if isinstance(cell, str) and number(cell.strip()) is None:
            value = read_number(cell, decimal)
            if value is not None:
                return [f"{cell.strip()!r} is {value:.10g}"]
    return []


def about_odd(odd: Sequence[str], n: int) -> str:
    """Describe how many of n cells are not numbers, with the most frequent one."""
    word, times = Counter(odd).most_common(1)[0]
    return f"{len(odd):,} of {n:,} cells are not numbers, such as {word!r} ({times:,})"


def doubtful_category(
    cells: Sequence[Any], more: Sequence[str] = (), *, excluded: bool = False
) -> str:
    """Describe a column of other cells most of which are numbers; empty for any other.

    Parameters
    ----------
    cells : sequence
        The cells that are not empty.
    more : sequence of str
        Further marks of missing values.
    excluded : bool
        Whether the column is excluded, and no category.

    Returns
    -------
    doubt : str
        The doubt, with the remedy.

    Examples
    --------
    >>> doubtful_category(["1.5", "2", "3", "ill", "2.5"])[:43]
    "1 of 5 cells are not numbers, such as 'ill'"
    """
    others = [c for c in cells if not is_mark(c, more)]
    odd = [str(c) for c in others if read_number(c) is None and read_number(c, ",") is None]
    if not 0 < len(odd) < HALF * len(others):
        return ""
    word = Counter(odd).most_common(1)[0][0]
    result = "the column is excluded" if excluded else "all of them are read as categories"
    return (
        f"{about_odd(odd, len(others))}, so {result}; to read numbers, "
        f"correct those cells or name them in `missing` {word}"
    )


def _doubt(texts: list[str], decimal: str) -> str:
    """Describe what may be wrong with the reading of a column of numbers."""
    separated = [c for c in texts if re.search(r"\d[.,]\d", c)]
    thousands = "," if decimal == "." else "."
    either = [c for c in separated if EITHER.search(c) and thousands in c]
    if either and all(EITHER.fullmatch(_bare(c)) for c in separated if thousands in c):
        known = any(re.search(rf"\d[{decimal}]\d", c) for c in separated)
        if not known:
            return f"{either[0]!r} is read as {read_number(either[0], decimal):.10g}"
    percent = [c for c in texts if c.endswith("%")]
    if percent and len(percent) < len(texts):
        return f"{len(percent)} of {len(texts)} cells have a % sign, and are read without it"
    return ""


def _bare(text: str) -> str:
    match = AMOUNT.fullmatch(text)
    return match["digits"].strip(SPACES) if match else text


def read_day(cell: Any, day_first: bool = True) -> float | None:
    """A date as a number of days, or None.

    Examples
    --------
    >>> read_day("31/12/2023") - read_day("2023-12-30")
    1.0
    """
    if isinstance(cell, str):
        cell = _date(cell.strip(), day_first)
    if isinstance(cell, datetime.datetime):
        return cell.toordinal() + (cell.hour + cell.minute / 60) / 24
    return float(cell.toordinal()) if isinstance(cell, datetime.date) else None


def _date(text: str, day_first: bool) -> datetime.datetime | None:
    try:
        if ISO_DATE.match(text):
            return datetime.datetime.fromisoformat(text)
        if named := NAMED_DATE.match(text):
            month = MONTHS.index((named[1] or named[4])[:3].lower()) + 1
            return datetime.datetime(int(named[5]), month, int(named[2] or named[3]))
        match = DATE.match(text)
        if match is None:
            return None
        one, two, year = int(match[1]), int(match[3]), int(match[4])
        if len(match[4]) == 2:
            year += 2000 if year <= CENTURY else 1900
        hour, minute = int(match[5] or 0), int(match[6] or 0)
        if match[7]:
            hour = hour % 12 + (12 if match[7].lower() == "pm" else 0)
        day, month = (one, two) if day_first else (two, one)
        return datetime.datetime(year, month, day, hour, minute)
    except ValueError:
        return None


def read_dates(cells: Sequence[Any], more: Sequence[str] = ()) -> Reading | None:
    """How a column of dates is read; None for other columns. See `read_numbers`.

    The style is ``{"day_first": bool}``.
    """
    marks = Counter(c.strip() for c in cells if is_mark(c, more))
    others = [c for c in cells if not is_mark(c, more)]
    if not others or not all(_looks_like_a_date(c) for c in others):
        return None
    fits = {d: all(read_day(c, d) is not None for c in others) for d in (True, False)}
    if not any(fits.values()):
        return None
    matches = [m for c in others if isinstance(c, str) and (m := DATE.match(c.strip()))]
    # Where both fit: with points and dashes the day comes first, with slashes it is ambiguous.
    slashes = bool(matches) and matches[0][2] == "/"
    day_first = fits[True] if fits[True] != fits[False] else not slashes
    days = (None if is_mark(c, more) else read_day(c, day_first) for c in cells)
    values = np.array([np.nan if v is None else v for v in days])
    reading = Reading({"day_first": day_first}, values, marks)
    if matches:
        example = matches[0][0]
        read = datetime.date.fromordinal(int(read_day(example, day_first) or 1)).isoformat()
        reading.words.append(f"{example!r} is {read}")
        if fits[True] and fits[False] and any(m[1] != m[3] for m in matches):
            reading.doubt = (
                f"{example!r} is read as {read}; day and month could be the other way round"
            )
    return reading


def _looks_like_a_date(cell: Any) -> bool:
    if isinstance(cell, str):
        text = cell.strip()
        return any(form.match(text) for form in (ISO_DATE, DATE, NAMED_DATE))
    return isinstance(cell, datetime.date) and not is_missing(cell)

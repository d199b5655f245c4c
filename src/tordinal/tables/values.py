"""Single values: what a cell holds, how a text is shown safely, and the error about a bad one."""

import datetime
import math
import re
import unicodedata
from decimal import Decimal
from typing import Any

from tordinal.exceptions import InputError

__all__ = [
    "TableError", "is_missing", "number", "plain_cells", "sentence", "short_number", "visible",
]  # fmt: skip

LONG_NUMBER = re.compile(r"[+-]?\d*\.\d{3,}")  # shown with four digits
# Cells that stand for no value, in lower case.
MISSING = {"", "na", "n/a", "nan", "null", "none", "<na>"}


class TableError(InputError):
    """A table or an option is wrong; the message names it and the remedy."""


def is_missing(value: Any) -> bool:
    """Whether a cell holds nothing."""
    if isinstance(value, str):
        return value.strip().lower() in MISSING
    return value is None or (isinstance(value, float) and math.isnan(value))


def number(value: Any) -> float | None:
    """A cell as a finite number, or None; durations and times of day are seconds.

    Examples
    --------
    >>> number("1.5"), number(datetime.timedelta(minutes=2)), number(datetime.time(0, 1))
    (1.5, 120.0, 60.0)
    """
    if isinstance(value, datetime.time):
        value = 3600 * value.hour + 60 * value.minute + value.second + value.microsecond / 1e6
    if isinstance(value, datetime.timedelta):
        value = value.total_seconds()
    if isinstance(value, str) and "_" in value:  # Python reads 1_000 as a number, nobody else does
        return None
    try:
        parsed = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return parsed if math.isfinite(parsed) else None


def plain_cells(cells: list[Any]) -> list[Any]:
    """Cells of databases as numbers and text: decimals without loss, and bytes as UTF-8.

    Examples
    --------
    >>> plain_cells([Decimal("4.50"), Decimal(4), None]), plain_cells([b"good", None])
    ([4.5, 4.0, None], ['good', None])
    """
    types = {type(c) for c in cells} - {type(None)}
    if types == {bytes}:
        try:
            return [None if c is None else c.decode() for c in cells]
        except UnicodeDecodeError:
            return cells
    if types != {Decimal} or not all(c is None or c.is_finite() for c in cells):
        return cells
    if all(c is None or c == c.to_integral_value() for c in cells):
        return [None if c is None else int(c) for c in cells]
    floats = [None if c is None else float(c) for c in cells]
    same = all(f is None or Decimal(repr(f)) == c for f, c in zip(floats, cells, strict=True))
    return floats if same else cells


def short_number(text: str) -> str:
    """A number without decimals beyond its first four digits; any other text as it is.

    Examples
    --------
    >>> short_number("-843484.4618575305"), short_number("0.123456789"), short_number("v1.234")
    ('-843484', '0.1235', 'v1.234')
    """
    if not LONG_NUMBER.fullmatch(text):
        return text
    value = float(text)
    return f"{value:.4g}" if abs(value) < 1e4 else f"{value:.0f}"


def sentence(note: str) -> str:
    """A note as a sentence, with the marks of `visible`.

    Examples
    --------
    >>> sentence("row 7 looks like a total"), sentence("column a: is that right?")
    ('row 7 looks like a total.', 'column a: is that right?')
    """
    return visible(note if note.endswith("?") else f"{note}.")


def visible(text: str) -> str:
    r"""A text with control characters and marks of writing direction made visible.

    It then cannot disturb what is around it.

    Examples
    --------
    >>> visible("a\x1b[2Jb\u202ec")
    'a␛[2Jb[U+202E]c'
    """
    shown = []
    for c in text:
        kind = unicodedata.category(c)
        if c in "\n\t":
            shown.append(" ")
        elif kind == "Cc":
            shown.append(
                chr(0x2400 + ord(c))
                if ord(c) < 0x20
                else "␡"
                if ord(c) == 0x7F
                else f"[U+{ord(c):04X}]"
            )
        elif kind in ("Cf", "Cs", "Zl", "Zp") and c not in "\u00ad\u200c\u200d":
            shown.append(f"[U+{ord(c):04X}]")
        else:
            shown.append(c)
    return "".join(shown)

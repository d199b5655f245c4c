"""What each column of a table is: a number, a date, a category, a text, or excluded."""

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tordinal.tables.cells import Reading, doubtful_category, read_dates, read_numbers
from tordinal.tables.reading import CellReader, text_of
from tordinal.tables.values import TableError
from tordinal.text import TextVectorizer
from tordinal.text.vectorizers import spaced_words

__all__ = ["MAX_CATEGORIES", "USED", "WORDS_OF_TEXT", "RolePlanner", "find_columns"]

USED = {
    "number": "scaled",
    "date": "scaled, as a day",
    "category": "one column per value",
    "text": "words, phrases and letters",
}
MAX_CATEGORIES = 50  # values of a category with a column of their own; rarer ones share one
WORDS_OF_TEXT = 3.0  # mean number of words from which short strings count as text
HARDLY_TWICE = "values that hardly come twice"
HARDLY_REPEATED = 0.5  # values per cell from which a category identifies rows, not kinds of rows
NEARLY_EMPTY = 0.01  # share of cells below which a column is uninformative
FEW_IDS = 20  # values of an identifier that may still be a scale or a category
ID_NAME = re.compile(
    r"(^|[_\s.-])(id|uuid|guid|key|index|nr|no|number)$|^unnamed|^$|(?-i:[a-z]ID)$", re.IGNORECASE
)
CODE_NAME = re.compile(
    r"(^|[_\s.-])(ids?|uuid|guid|asins?|isbn|ean|upc|sku)$|(?-i:[a-z]ID)$", re.IGNORECASE
)
PERSON_OR_PAGE = re.compile(
    r"(user[_\s.-]?name|nick[_\s.-]?name|author|reviewer|e-?mail|urls?|links?)$", re.IGNORECASE
)


def find_columns(asked: Sequence[str], names: Sequence[str], option: str) -> list[str]:
    """Check that columns exist; the error names near misses."""
    for name in asked:
        if name not in names:
            near = [known for known in names if known.strip().lower() == name.strip().lower()]
            near += difflib.get_close_matches(name, names, n=1, cutoff=0.5)
            hint = f"did you mean {near[0]!r}?" if near else f"there are: {', '.join(names[:20])}"
            raise TableError(f"`{option}` {name}: no such column; {hint}")
    return list(asked)


@dataclass
class RolePlanner:
    """Finds out what columns are, by their names and cells.

    Attributes
    ----------
    reader : CellReader
        Reads cells.
    decimal : str
        The decimal separator of numbers that do not show it.
    text, drop : sequence of str
        Columns that are read as text, and that are excluded.
    chosen : set of str or None
        Columns to use; None: all.
    doubts : list of str
        Readings that may be wrong.
    """

    reader: CellReader
    decimal: str
    text: Sequence[str]
    drop: Sequence[str]
    chosen: set[str] | None
    doubts: list[str] = field(default_factory=list)

    def plan(self, table: Mapping[str, list[Any]]) -> list[dict[str, Any]]:
        """Find out the role of each column, and why.

        Parameters
        ----------
        table : mapping of str to list
            Cells by column.

        Returns
        -------
        plan : list of dict
            As `TableEncoder.plan_`.
        """
        plan = [{"name": name, **self._understand(name, cells)} for name, cells in table.items()]
        for column in plan:
            if column["role"] == "text":
                cut = TextVectorizer().build_analyzer()
                if not any(cut(text_of(c)) for c in table[column["name"]]):
                    column.update(role="excluded", why="no words but stop words")
        return plan

    def _understand(self, name: str, cells: list[Any]) -> dict[str, Any]:
        """Role and reason of a column, and how many of its cells are missing."""
        present = self.reader.present(cells)
        return {"missing": len(cells) - len(present), **self._role(name, cells, present)}

    def _role(self, name: str, cells: list[Any], present: list[Any]) -> dict[str, Any]:
        """Role and reason of a column by its cells and those of them that hold something."""
        if name in self.drop:
            return {"role": "excluded", "why": "to be dropped"}
        if self.chosen is not None and name not in self.chosen:
            return {"role": "excluded", "why": "not named"}
        if not present:
            return {"role": "excluded", "why": "empty"}
        if name in self.text:
            return {"role": "text", "why": _describe_text_reading(present)}
        if len(present) < NEARLY_EMPTY * len(cells) and self.chosen is None:
            return {"role": "excluded", "why": "nearly empty"}
        if any(isinstance(c, (dict, list, set, tuple, bytes, np.ndarray)) for c in present):
            return {"role": "excluded", "why": "nested or binary values"}
        distinct = len(set(present))
        if distinct == 1 and len(present) == len(cells):
            return {"role": "excluded", "why": "constant"}
        role, why, reading = _kind(name, present, distinct, self.decimal)
        why = _describe_text_reading(present) if role == "text" else why
        if role == "excluded" and self.chosen is not None:  # asked for by name
            reading = read_numbers(present, usual=self.decimal)
            role = "category" if reading is None else "number"
            why = USED[role]
        if reading is None:
            doubt = ""
            if role == "category" or why == HARDLY_TWICE:
                marks = self.reader.missing
                doubt = doubtful_category(present, marks, excluded=role == "excluded")
            self.doubts += [f"column {name}: {doubt}"] if doubt else []
            return {"role": role, "why": why}
        if reading.doubt:
            self.doubts.append(f"column {name}: {reading.doubt}")
        absent = [f"{mark!r} ({n})" for mark, n in reading.marks.items()]
        if reading.odd:
            absent.append(f"{reading.odd[0]!r} and the like ({len(reading.odd)})")
        details = [*reading.words, *([f"as missing: {', '.join(absent)}"] if absent else [])]
        why = "; ".join([why, *details])
        missing = sum(reading.marks.values()) + len(reading.odd) + len(cells) - len(present)
        return {"role": role, "why": why, "style": reading.style, "missing": missing}


def _describe_text_reading(present: list[Any]) -> str:
    """How a text is read: without spaces between words, by its characters too."""
    texts = [str(c) for c in present]
    unspaced = sum(spaced_words(t) - len(t.split()) for t in texts)
    return "words, phrases, letters, runs of characters" if unspaced > len(texts) else USED["text"]


def _kind(
    name: str, present: list[Any], distinct: int, decimal: str
) -> tuple[str, str, Reading | None]:
    """Role and reason of a column by its cells, and how numbers and dates are read."""
    unique = distinct == len(present) and distinct > 2
    numbers = read_numbers(present, usual=decimal)
    if numbers is not None:
        values = numbers.values
        whole = bool((values == np.floor(values)).all())
        counts_up = unique and (ID_NAME.search(name) or (np.diff(values) == 1).all())
        if whole and (counts_up or (CODE_NAME.search(name) and distinct > FEW_IDS)):
            return "excluded", "identifier", None
        return "number", USED["number"], numbers
    dates = read_dates(present)
    if dates is not None:
        return "date", USED["date"], dates
    words = sum(spaced_words(str(c)) for c in present) / len(present)
    named_as_id = CODE_NAME.search(name) or PERSON_OR_PAGE.search(name)
    if named_as_id and distinct > MAX_CATEGORIES and words < 2 * WORDS_OF_TEXT:
        return "excluded", "identifier", None
    if words >= WORDS_OF_TEXT and distinct > min(20, len(present) / 2):
        return "text", USED["text"], None
    if distinct > 0.9 * len(present) and distinct > 20:
        return ("text", USED["text"], None) if words >= 1.5 else ("excluded", "identifier", None)
    if unique and ID_NAME.search(name):
        return "excluded", "identifier", None
    if distinct > MAX_CATEGORIES and distinct > HARDLY_REPEATED * len(present):
        return "excluded", HARDLY_TWICE, None
    return "category", USED["category"], None

"""Columns as features: what each one is, and how it becomes numbers."""

import datetime
import difflib
import itertools
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils.validation import check_is_fitted

from tordinal.distances import Matrix
from tordinal.tables.values import TableError, is_missing, number
from tordinal.text import ReviewVectorizer

__all__ = ["TableEncoder", "find_columns"]

USED = {
    "number": "scaled",
    "date": "scaled, as a day",
    "category": "one column per value",
    "text": "words, tf-idf",
}
MAX_CATEGORIES = 50  # values of a category with a column of their own; rarer ones share one
MOSTLY = 0.05  # share of cells that may be no numbers in a column of numbers
WORDS_OF_TEXT = 3.0  # mean number of words from which short strings count as text
ID_NAME = re.compile(
    r"(^|[_\s.-])(id|uuid|guid|key|index|nr|no|number)$|^unnamed|^$|[a-z]ID$", re.IGNORECASE
)
ISO_DATE = re.compile(r"\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?$")


def find_columns(asked: Sequence[str], names: Sequence[str], option: str) -> list[str]:
    """Check that columns exist; the error names near misses."""
    for name in asked:
        if name not in names:
            near = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
            hint = f"did you mean {near[0]!r}?" if near else f"there are: {', '.join(names[:20])}"
            raise TableError(f"`{option}` {name}: no such column; {hint}")
    return list(asked)


class TableEncoder(TransformerMixin, BaseEstimator):
    """Turn columns into features: numbers scaled, categories one-hot, text as tf-idf of stems.

    A table is a mapping from column names to lists of cells. The kind of a column that is not named
    is told from its cells; identifiers, constants and empty columns are left out. Missing numbers
    become the median with a mark, missing categories a category, missing text no words. Each text,
    and all other columns together, weigh the same.

    Parameters
    ----------
    text : sequence of str, default=()
        Columns to read as text.
    columns : sequence of str or None, default=None
        Columns to use. None: all, or with `text` those alone.
    drop : sequence of str, default=()
        Columns to leave out.

    Attributes
    ----------
    plan_ : list of dict
        For each column its ``name``, ``role`` ("number", "date", "category", "text" or "left out"),
        the reason ``why``, and how many cells are ``missing``.

    Examples
    --------
    >>> encoder = TableEncoder()
    >>> table = {"id": ["1", "2", "3"], "price": ["10", "", "30"], "kind": ["a", "b", "a"]}
    >>> X = encoder.fit_transform(table)
    >>> [(c["name"], c["role"]) for c in encoder.plan_]
    [('id', 'left out'), ('price', 'number'), ('kind', 'category')]
    >>> X.round(1).tolist()
    [[-1.2, -0.7, 1.0, 0.0], [0.0, 1.4, 0.0, 1.0], [1.2, -0.7, 1.0, 0.0]]
    """

    def __init__(
        self,
        text: Sequence[str] = (),
        columns: Sequence[str] | None = None,
        drop: Sequence[str] = (),
    ):
        self.text = text
        self.columns = columns
        self.drop = drop

    def fit(self, table: Mapping[str, list[Any]], y: Any = None) -> "TableEncoder":
        """Understand the columns and learn scales, categories and words.

        Parameters
        ----------
        table : mapping of str to list
            Cells by column.
        y : None
            Not used.

        Returns
        -------
        self : TableEncoder
            The fitted encoder.
        """
        self.fit_transform(table)
        return self

    def fit_transform(self, table: Mapping[str, list[Any]], y: Any = None) -> Matrix:
        """Fit, and encode the same rows.

        Parameters
        ----------
        table : mapping of str to list
            Cells by column.
        y : None
            Not used.

        Returns
        -------
        X : ndarray or CSR matrix
            Features; sparse where there is text.
        """
        names = list(table)
        for option, asked in (
            ("text", self.text),
            ("columns", self.columns or ()),
            ("drop", self.drop),
        ):
            find_columns(asked, names, option)
        chosen = (
            None if self.columns is None and not self.text else {*self.text, *(self.columns or ())}
        )
        self.plan_: list[dict[str, Any]] = [
            {
                "name": name,
                "missing": sum(map(is_missing, cells)),
                **self._understand(name, cells, chosen),
            }
            for name, cells in table.items()
        ]
        self._leave_out_texts_without_words(table)
        by_role = {role: self._named(role) for role in USED}
        numbers, categories, texts = (
            by_role["number"] + by_role["date"],
            by_role["category"],
            by_role["text"],
        )
        if not numbers + categories + texts:
            reasons = "; ".join(f"{c['name']}: {c['why']}" for c in self.plan_)
            raise TableError(
                f"no column is left to learn from ({reasons}). Name some with `columns` or `text`"
            )
        parts: list[tuple[str, Any, Any]] = [
            (f"text {place}", ReviewVectorizer(min_df=self._min_df(table)), n)
            for place, n in enumerate(texts)
        ]
        if numbers:
            scale = make_pipeline(
                SimpleImputer(strategy="median", add_indicator=True), StandardScaler()
            )
            parts.append(("numbers", scale, numbers))
        if categories:
            one_hot = OneHotEncoder(
                handle_unknown="infrequent_if_exist",
                max_categories=MAX_CATEGORIES,
                sparse_output=bool(texts),
            )
            parts.append(("categories", one_hot, categories))
        # A text is a row of length 1; the other columns together are given that length too.
        weight = 1.0 / math.sqrt(len(numbers) + len(categories)) if numbers + categories else 1.0
        self.encoder_ = ColumnTransformer(
            parts,
            sparse_threshold=1.0 if texts else 0.0,
            transformer_weights={"numbers": weight, "categories": weight} if texts else None,
        )
        return self.encoder_.fit_transform(self._frame(table))

    def transform(self, table: Mapping[str, list[Any]]) -> Matrix:
        """Encode rows.

        Parameters
        ----------
        table : mapping of str to list
            Cells by column; columns that are not used may be absent.

        Returns
        -------
        X : ndarray or CSR matrix
            Features.
        """
        check_is_fitted(self)
        for column in self.plan_:
            if column["role"] != "left out" and column["name"] not in table:
                raise TableError(
                    f"the table has no column {column['name']!r}, which the model needs"
                )
        return self.encoder_.transform(self._frame(table))

    def get_feature_names_out(self) -> list[tuple[str, str]]:
        """Name each feature: its column and the word or value it stands for, empty for a number.

        Returns
        -------
        names : list of (str, str)
            One pair per feature.
        """
        check_is_fitted(self)
        names: list[tuple[str, str]] = []
        for name, part, columns in self.encoder_.transformers_:
            if name == "numbers":
                missing = part[0].indicator_.features_ if part[0].indicator_ is not None else []
                names += [(c, "") for c in columns] + [(columns[i], "(missing)") for i in missing]
            elif name == "categories":
                for column, values in zip(columns, part.categories_, strict=True):
                    rare = part.infrequent_categories_[
                        part.feature_names_in_.tolist().index(column)
                    ]
                    rare = set() if rare is None else set(rare)
                    names += [(column, str(v)) for v in values if v not in rare]
                    names += [(column, "(rare)")] * bool(rare)
            elif name != "remainder":
                names += [(columns, stem) for stem in part.get_feature_names_out()]
        return names

    # What a column is -----------------------------------------------------------------------------

    def _named(self, role: str) -> list[str]:
        return [c["name"] for c in self.plan_ if c["role"] == role]

    def _understand(self, name: str, cells: list[Any], chosen: set[str] | None) -> dict[str, str]:
        """Role and reason of a column."""
        if name in self.drop:
            return {"role": "left out", "why": "to be dropped"}
        if chosen is not None and name not in chosen:
            return {"role": "left out", "why": "not named"}
        present = [c for c in cells if not is_missing(c)]
        if not present:
            return {"role": "left out", "why": "empty"}
        if name in self.text:
            return {"role": "text", "why": USED["text"]}
        if any(isinstance(c, (dict, list, bytes)) for c in present):
            return {"role": "left out", "why": "nested or binary values"}
        distinct = len(set(present))
        if distinct == 1 and len(present) == len(cells):
            return {"role": "left out", "why": "constant"}
        role, why = _kind(name, present, distinct)
        if role == "left out" and chosen is not None:  # asked for by name
            role = "number" if all(number(c) is not None for c in present) else "category"
            why = USED[role]
        return {"role": role, "why": why}

    def _leave_out_texts_without_words(self, table: Mapping[str, list[Any]]) -> None:
        for column in self.plan_:
            if column["role"] == "text":
                cut = ReviewVectorizer().build_analyzer()
                if not any(cut(_text(c)) for c in table[column["name"]]):
                    column.update(role="left out", why="no words but stop words")

    def _min_df(self, table: Mapping[str, list[Any]]) -> int:
        """A word of one text says nothing of others, but in a small table most are like that."""
        return 2 if len(next(iter(table.values()))) >= 1000 else 1

    def _frame(self, table: Mapping[str, list[Any]]) -> pd.DataFrame:
        """The used columns in the types that the transformers take."""
        columns: dict[str, Any] = {}
        for column in self.plan_:
            name, role = column["name"], column["role"]
            if role in ("number", "date"):
                read = _day if role == "date" else number
                columns[name] = np.array(
                    [np.nan if (v := read(c)) is None else v for c in table[name]], dtype=np.float64
                )
            elif role == "category":
                columns[name] = pd.Series(
                    ["(missing)" if is_missing(c) else str(c).strip() for c in table[name]],
                    dtype=object,
                )
            elif role == "text":
                columns[name] = pd.Series([_text(c) for c in table[name]], dtype=object)
        return pd.DataFrame(columns)


def _text(cell: Any) -> str:
    return "" if is_missing(cell) else str(cell)


def _kind(name: str, present: list[Any], distinct: int) -> tuple[str, str]:
    """Role and reason of a column by its cells."""
    unique = distinct == len(present) and distinct > 2
    values = [None if isinstance(c, bool) else number(c) for c in present]
    if values.count(None) <= MOSTLY * len(values):
        whole = [v for v in values if v is not None and v.is_integer()]
        steps = {b - a for a, b in itertools.pairwise(whole)}
        if unique and len(whole) == len(values) and (ID_NAME.search(name) or steps == {1.0}):
            return "left out", "identifier"
        odd = values.count(None)
        return "number", USED["number"] + (
            f"; {odd} cells that are no numbers count as missing" if odd else ""
        )
    if all(_day(c) is not None for c in present):
        return "date", USED["date"]
    words = sum(len(str(c).split()) for c in present) / len(present)
    if words >= WORDS_OF_TEXT and distinct > min(20, len(present) / 2):
        return "text", USED["text"]
    if distinct > 0.9 * len(present) and distinct > 20:
        return ("text", USED["text"]) if words >= 1.5 else ("left out", "identifier")
    if unique and ID_NAME.search(name):
        return "left out", "identifier"
    return "category", USED["category"]


def _day(cell: Any) -> float | None:
    """A date as a number of days."""
    if isinstance(cell, str):
        if not ISO_DATE.match(cell.strip()):
            return None
        try:
            cell = datetime.datetime.fromisoformat(cell.strip())
        except ValueError:
            return None
    if isinstance(cell, datetime.datetime):
        return cell.toordinal() + (cell.hour + cell.minute / 60) / 24
    return float(cell.toordinal()) if isinstance(cell, datetime.date) else None

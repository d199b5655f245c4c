"""Columns as features: what each one is, and how it becomes numbers."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils.validation import check_is_fitted

from tordinal.distances import Matrix
from tordinal.tables.drift import CellCounts, column_warnings, describe_training
from tordinal.tables.hints import BESIDE_TEXTS, fit_steps, hint_features, plan_hint
from tordinal.tables.reading import CellReader, text_of
from tordinal.tables.roles import MAX_CATEGORIES, USED, WORDS_OF_TEXT, RolePlanner, find_columns
from tordinal.tables.sentences import SentenceFeatures
from tordinal.tables.values import TableError, is_missing
from tordinal.text import TextViews
from tordinal.text.vectorizers import spaced_words
from tordinal.text.views import MANY_TEXTS, views_with_encoder

__all__ = ["TableEncoder"]

Array = NDArray[np.float64]

OWN_WORDS = 0.1  # different cells in a cell from which a text is taken to differ by row


# Sparse features do not go into a data frame, whatever the output is set to.
class TableEncoder(TransformerMixin, BaseEstimator, auto_wrap_output_keys=None):  # type: ignore[call-arg]
    """Turn columns into features: numbers scaled, categories one-hot, text in views.

    A table is a mapping from column names to lists of cells. The kind of a column that is not named
    is inferred from its cells; identifiers, constants and (nearly) empty columns are excluded.
    Missing numbers become the median with an indicator, missing categories a category, missing
    text no words. A text is read as words, and as the latent axes of phrases and letters
    (`tordinal.text.TextViews`). Texts weigh in proportion to their number of words, and all other
    columns together as much as the longest text.

    Parameters
    ----------
    text : sequence of str, default=()
        Columns to read as text.
    columns : sequence of str or None, default=None
        Columns to use. None: all, or with `text` those alone.
    drop : sequence of str, default=()
        Columns to exclude.
    missing : sequence of str, default=()
        Marks of missing values in numbers, dates and categories, besides the usual ones.
    decimal : {".", ","}, default="."
        The decimal separator of numbers that do not show it.
    meaning : str or None, default=None
        Embedding model, as in `tordinal.text.TextViews`.
    n_axes : int, default=25
        Number of axes of phrases and letters of texts; 0 reads only words, which takes a fifth
        of the time.
    hint : sequence of str, default=()
        Columns with noisy ratings from elsewhere: numbers or words, read as ordered levels.
    scale : sequence, default=()
        The ratings from the lowest to the highest: words that hints may consist of.

    Attributes
    ----------
    plan_ : list of dict
        For each column its ``name``, ``role`` ("number", "date", "category", "text", "hint" or
        "excluded"), the reason ``why``, how many cells are ``missing``, and the ``style`` of
        numbers, dates and hints.
    doubts_ : list of str
        Readings that may be wrong.
    training_ : dict
        Statistics that new cells are compared with: see
        `tordinal.tables.drift.describe_training`. Models saved before version 0.3 do not have it.

    Examples
    --------
    >>> encoder = TableEncoder()
    >>> table = {"id": ["1", "2", "3"], "price": ["10", "", "30"], "kind": ["a", "b", "a"]}
    >>> X = encoder.fit_transform(table)
    >>> [(c["name"], c["role"]) for c in encoder.plan_]
    [('id', 'excluded'), ('price', 'number'), ('kind', 'category')]
    >>> X.round(1).tolist()
    [[-1.2, -0.7, 1.0, 0.0], [0.0, 1.4, 0.0, 1.0], [1.2, -0.7, 1.0, 0.0]]
    """

    def __init__(
        self,
        text: Sequence[str] = (),
        columns: Sequence[str] | None = None,
        drop: Sequence[str] = (),
        missing: Sequence[str] = (),
        decimal: str = ".",
        meaning: str | None = None,
        n_axes: int = 25,
        hint: Sequence[str] = (),
        scale: Sequence[Any] = (),
    ):
        self.text = text
        self.columns = columns
        self.drop = drop
        self.missing = missing
        self.decimal = decimal
        self.meaning = meaning
        self.n_axes = n_axes
        self.hint = hint
        self.scale = scale

    def fit(self, table: Mapping[str, list[Any]], y: Any = None) -> "TableEncoder":
        """Infer the kinds of columns and learn scales, categories and words.

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
        return self.plan(table).encode(table)

    def plan(self, table: Mapping[str, list[Any]], target: str | None = None) -> "TableEncoder":
        """Infer the kinds of columns, before anything is learned from them.

        Parameters
        ----------
        table : mapping of str to list
            Cells by column.
        target : str or None
            The column of ratings, which is not in the table.

        Returns
        -------
        self : TableEncoder
            The encoder with its plan.
        """
        self._check(list(table), target)
        all_used = self.columns is None and not self.text
        chosen = None if all_used else {*self.text, *(self.columns or ())}
        planner = RolePlanner(self._reader, self.decimal, self.text, self.drop, chosen)
        plan = planner.plan({name: c for name, c in table.items() if name not in self.hint})
        planned = {column["name"]: column for column in plan}
        self.doubts_ = planner.doubts
        for name in dict.fromkeys(self.hint):
            planned[name], doubt = plan_hint(
                name, table[name], self.scale, self.missing, self.decimal
            )
            self.doubts_ += [doubt] if doubt else []
        self.plan_: list[dict[str, Any]] = [planned[name] for name in table]
        return self

    def encode(self, table: Mapping[str, list[Any]]) -> Matrix:
        """Learn scales, categories and words of the columns that are planned to be used.

        Parameters
        ----------
        table : mapping of str to list
            Cells by column.

        Returns
        -------
        X : ndarray or CSR matrix
            Features of the same rows.
        """
        by_role = {role: self._named(role) for role in USED}
        numbers, categories, texts = (
            by_role["number"] + by_role["date"],
            by_role["category"],
            by_role["text"],
        )
        hints = self._hints()
        if not numbers + categories + texts and not hints:
            reasons = "; ".join(f"{c['name']}: {c['why']}" for c in self.plan_)
            raise TableError(
                f"no columns to learn from ({reasons}). Name some with `columns` or `text`"
                if self.plan_
                else "the table has only the column of ratings; add columns to learn from"
            )
        views = TextViews(min_df=self._min_df(table), meaning=self.meaning, n_axes=self.n_axes)
        parts: list[tuple[str, Any, Any]] = [
            (f"text {place}", clone(views), n) for place, n in enumerate(texts)
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
        self.encoder_ = ColumnTransformer(
            parts,
            sparse_threshold=1.0 if texts else 0.0,
            transformer_weights=_weights(
                [table[name] for name in texts], len(numbers) + len(categories)
            ),
        )
        used = self._used()
        frame = self._reader.frame(used, table)
        self.training_: dict[str, Any] = describe_training(
            self._reader.cells(used, table, frame), [c["role"] == "category" for c in used]
        )
        self.sentences_: SentenceFeatures | None = None
        for column in hints:
            values = frame[column["name"]].to_numpy()
            column.update(fit_steps(values, BESIDE_TEXTS if texts else 1.0))
        others = frame.drop(columns=[column["name"] for column in hints])
        with config_context(transform_output="default"):  # whatever the user has set
            return self._with_hints(self.encoder_.fit_transform(others), frame)

    def add_sentences(self, X: Matrix, sentences: SentenceFeatures, encoded: Array) -> Matrix:
        """Add the features of a sentence encoder.

        Parameters
        ----------
        X : CSR matrix
            Features from `encode`.
        sentences : SentenceFeatures
            How new texts are encoded.
        encoded : ndarray of shape (n_rows, n_features)
            The texts of the same rows.

        Returns
        -------
        X : CSR matrix
            All features.
        """
        self.sentences_ = sentences
        for column in self.plan_:
            column["why"] += " and the encoder" if column["role"] == "text" else ""
        return sp.hstack([X, encoded], format="csr")

    def joined_texts(self, table: Mapping[str, list[Any]]) -> list[str]:
        """All texts of each row joined, for a sentence encoder.

        Parameters
        ----------
        table : mapping of str to list
            Cells by column.

        Returns
        -------
        texts : list of str
            One per row.
        """
        columns = [map(text_of, table[name]) for name in self._named("text")]
        return ["\n".join(filter(None, cells)) for cells in zip(*columns, strict=True)]

    def transform(self, table: Mapping[str, list[Any]], encoded: Array | None = None) -> Matrix:
        """Encode rows.

        Parameters
        ----------
        table : mapping of str to list
            Cells by column; columns that are not used may be absent.
        encoded : ndarray of shape (n_rows, n_features), default=None
            The features of the sentence encoder, if known already.

        Returns
        -------
        X : ndarray or CSR matrix
            Features.
        """
        check_is_fitted(self)
        frame = self._reader.frame(self._used(), table)
        with config_context(transform_output="default"):
            X = self._with_hints(self.encoder_.transform(frame), frame)
        if self.sentences is None:
            return X
        if encoded is None:
            encoded = self.sentences.transform(self.joined_texts(table))
        return sp.hstack([X, encoded], format="csr")

    def compare(self, table: Mapping[str, list[Any]]) -> list[CellCounts]:
        """Count the cells that differ from those of training.

        Parameters
        ----------
        table : mapping of str to list
            Cells by column.

        Returns
        -------
        counts : list of CellCounts
            One per used column; those of several tables may be added up. Empty for a model that
            does not know the cells it was trained on.
        """
        if not hasattr(self, "training_"):
            return []
        known: dict[str, set[str]] = {}
        for name, part, columns in self.encoder_.transformers_:
            if name == "categories":
                known = dict(zip(columns, map(set, part.categories_), strict=True))
        quantiles, at_most = self.training_["quantiles"], self.training_["at_most"]
        used = self._used()
        cells = self._reader.cells(used, table, self._reader.frame(used, table))
        return [
            CellCounts.of(of_column, known.get(column["name"]), quantiles[i], at_most[i, -1] > 0)
            for i, (column, of_column) in enumerate(zip(used, cells, strict=True))
        ]

    def warnings(self, counts: Sequence[CellCounts]) -> list[str]:
        """Describe which columns differ from those of training.

        Parameters
        ----------
        counts : sequence of CellCounts
            From `compare`.

        Returns
        -------
        lines : list of str
            As from `tordinal.tables.drift.column_warnings`.
        """
        return column_warnings(self._used(), self.training_, counts) if counts else []

    def groups(self) -> dict[str, NDArray[np.int64]]:
        """Features by the group of columns that they come from: each text, each category, numbers.

        Returns
        -------
        groups : dict of str to ndarray
            Places of the features, by the name of the column, or "numbers".
        """
        role = {c["name"]: c["role"] for c in self.plan_}
        places: dict[str, list[int]] = {}
        for place, (column, _) in enumerate(self.get_feature_names_out()):
            if role[column] == "hint":  # hints are judged later, by the models themselves
                continue
            own = role[column] in ("text", "category")
            places.setdefault(column if own else "numbers", []).append(place)
        return {name: np.array(group) for name, group in places.items()}

    def own_words(self, table: Mapping[str, list[Any]]) -> list[str]:
        """Texts that differ by row, the longest first; the name of a product, say, repeats.

        Parameters
        ----------
        table : mapping of str to list
            Cells by column.

        Returns
        -------
        columns : list of str
            The longest text, and those with many different cells.
        """
        words: dict[str, float] = {}
        cells: dict[str, list[str]] = {}
        for name in self._named("text"):
            cells[name] = [str(c) for c in table[name] if not is_missing(c)]
            words[name] = sum(spaced_words(c) for c in cells[name])
        longest = sorted(words, key=lambda name: -words[name])
        return [
            name
            for name in longest
            if name == longest[0]
            or (
                len(set(cells[name])) > OWN_WORDS * len(cells[name])
                and words[name] >= WORDS_OF_TEXT * len(cells[name])
            )
        ]

    def views(self) -> dict[str, NDArray[np.int64]] | None:
        """Features by the view of the texts; other columns are in all of them.

        Returns
        -------
        views : dict of str to ndarray, or None
            Places of the features by the name of the view; None where there is no text.
        """
        check_is_fitted(self)
        texts = [
            (self.encoder_.output_indices_[name], part.views_)
            for name, part, _ in self.encoder_.transformers_
            if name.startswith("text ")
        ]
        if not texts:
            return None
        ends = [place.stop for place, _ in texts]
        n_encoded = 0 if self.sentences is None else self.sentences.n_features
        n = len(self.get_feature_names_out())
        others = np.arange(max(ends), n - n_encoded)
        names = max((views for _, views in texts), key=len)
        views = {
            name: np.concatenate(
                [*(place.start + views.get(name, views["words"]) for place, views in texts), others]
            )
            for name in names
        }
        if self.sentences is None:
            return views
        encoder = np.arange(n - n_encoded, n)
        return views_with_encoder(views, encoder, others, tuned=self.sentences.tuned)

    def count_words(self, table: Mapping[str, list[Any]]) -> dict[str, Counter[str]]:
        """Number of rows with each word, by column of texts.

        Parameters
        ----------
        table : mapping of str to list
            Cells by column.

        Returns
        -------
        counts : dict of str to Counter
            Numbers of rows; those of several tables may be added up.
        """
        check_is_fitted(self)
        return {
            column: part.words_.count(text_of(cell) for cell in table[column])
            for part, column in self._texts()
        }

    def use_words(self, counts: Mapping[str, Mapping[str, int]], n_rows: int) -> None:
        """Learn the words of texts from more rows than the encoder was fitted to.

        Parameters
        ----------
        counts : mapping of str to mapping
            Sums of `count_words`.
        n_rows : int
            How many rows there are.
        """
        if not counts:
            return
        start = 0
        for part, column in self._texts():
            part.use_words(counts[column], n_rows)
        for name, place in self.encoder_.output_indices_.items():
            own = self.encoder_.named_transformers_[name] if name.startswith("text ") else None
            size = place.stop - place.start
            size = size if own is None else len(own.get_feature_names_out())
            self.encoder_.output_indices_[name] = slice(start, start + size)
            start += size

    def _texts(self) -> list[tuple[TextViews, str]]:
        """The fitted views of texts, and their columns."""
        return [
            (part, column)
            for name, part, column in self.encoder_.transformers_
            if name.startswith("text ")
        ]

    def say_how(self, text: str) -> None:
        """Record how the texts were read.

        Parameters
        ----------
        text : str
            A description.
        """
        for column in self.plan_:
            if column["role"] == "text":
                column["why"] = text

    def exclude(self, useless: Mapping[str, str]) -> None:
        """Exclude some groups of columns from the plan.

        Parameters
        ----------
        useless : mapping of str to str
            Groups to exclude, and why.
        """
        for column in self.plan_:
            numeric = column["role"] in ("number", "date")
            group = "numbers" if numeric else column["name"]
            if column["role"] != "excluded" and group in useless:
                column.update(role="excluded", why=useless[group])

    def hint_places(self) -> dict[str, NDArray[np.int64]]:
        """Features of each hint.

        Returns
        -------
        places : dict of str to ndarray
            Places of the features by the name of the hint.
        """
        owner = np.array([column for column, _ in self.get_feature_names_out()], dtype=object)
        return {c["name"]: np.flatnonzero(owner == c["name"]) for c in self._hints()}

    def exclude_hints(self, names: Sequence[str]) -> None:
        """Do without some hints, after the columns were encoded.

        Parameters
        ----------
        names : sequence of str
            Hints to exclude.
        """
        kept = [c["name"] not in names for c in self._used()]
        training = {k: v if k == "rows" else v[kept] for k, v in self.training_.items()}
        self.training_ = training
        self.exclude(dict.fromkeys(names, "held-out rows are rated as well without this hint"))

    def get_feature_names_out(self) -> list[tuple[str, str]]:
        """Name each feature: its column and its word or value, empty for a number.

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
        for column in self._hints():
            names += [(column["name"], f"at least {cut:g}") for cut in column["cuts"]]
            names += [(column["name"], "(missing)")] * (column["absent"] > 0)
        if self.sentences is not None:
            names += [(self._named("text")[0], name) for name in self.sentences.features]
        return names

    def _check(self, names: Sequence[str], target: str | None) -> None:
        """Check the columns that the parameters name."""
        for option, asked in (
            ("text", self.text),
            ("columns", self.columns or ()),
            ("drop", self.drop),
            ("hint", self.hint),
        ):
            if target in asked:
                raise TableError(f"`{option}` {target}: that is the target; name other columns")
            find_columns(asked, names, option)
        for name in self.hint:
            if name in self.drop:
                raise TableError(f"`hint` {name}: the column is dropped; name it once")

    @property
    def is_tuned(self) -> bool:
        """Whether the last feature is the projection of a tuned sentence encoder."""
        return self.sentences is not None and self.sentences.tuned

    @property
    def sentences(self) -> SentenceFeatures | None:
        """The features of a sentence encoder; models of version 0.2 have none."""
        return getattr(self, "sentences_", None)

    @property
    def _reader(self) -> CellReader:
        return CellReader(self.missing)

    def _named(self, role: str) -> list[str]:
        return [c["name"] for c in self.plan_ if c["role"] == role]

    def _hints(self) -> list[dict[str, Any]]:
        return [c for c in self.plan_ if c["role"] == "hint"]

    def _with_hints(self, X: Matrix, frame: Any) -> Matrix:
        """Features of other columns and those of the hints."""
        parts = [hint_features(c, frame[c["name"]].to_numpy()) for c in self._hints()]
        if not parts:
            return X
        return sp.hstack([X, *parts], format="csr") if sp.issparse(X) else np.hstack([X, *parts])

    def _used(self) -> list[dict[str, Any]]:
        return [c for c in self.plan_ if c["role"] != "excluded"]

    def _min_df(self, table: Mapping[str, list[Any]]) -> int:
        """A word in one text does not help with others; in a small table most words are in one."""
        return 2 if len(next(iter(table.values()))) >= MANY_TEXTS else 1


def _weights(texts: list[list[Any]], others: int) -> dict[str, float] | None:
    """Weights of the parts of a table with texts, of which each row is of length 1.

    Kernel values of texts add up in proportion to their words, nearly as if they were one text: a
    title of four words must not outweigh a review of two hundred. All other columns together have
    the weight of the longest text.
    """
    if not texts:
        return None
    words = [sum(spaced_words(text_of(c)) for c in cells) for cells in texts]
    weights = {f"text {i}": math.sqrt(n / max(words)) for i, n in enumerate(words)}
    other = 1.0 / math.sqrt(others) if others else 1.0
    return {**weights, "numbers": other, "categories": other}

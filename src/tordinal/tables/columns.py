"""Columns as features: what each one is, and how it becomes numbers."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from tordinal.distances import Matrix
from tordinal.tables.drift import CellCounts, column_warnings, describe_training
from tordinal.tables.features import (
    feature_names,
    known_categories,
    make_transformer,
    text_parts,
    texts_that_differ,
    use_words,
)
from tordinal.tables.hints import BESIDE_TEXTS, fit_steps, hint_features, plan_hint
from tordinal.tables.reading import CellReader, text_of
from tordinal.tables.roles import RolePlanner, find_columns
from tordinal.tables.sentences import SentenceFeatures
from tordinal.tables.values import TableError
from tordinal.text import TextViews
from tordinal.text.views import MANY_TEXTS, views_with_encoder

__all__ = ["TableEncoder"]

Array = NDArray[np.float64]
Cells = Mapping[str, list[Any]]  # by column


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

    def fit(self, table: Cells, y: Any = None) -> "TableEncoder":
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

    def fit_transform(self, table: Cells, y: Any = None) -> Matrix:
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

    def plan(self, table: Cells, target: str | None = None) -> "TableEncoder":
        """Infer the kinds of columns, before anything is learned from them.

        `target` is the column of ratings, which is not in the table.
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

    def encode(self, table: Cells) -> Matrix:
        """Learn scales, categories and words of the columns that are planned to be used.

        Returns the features of the same rows.
        """
        used, hints = self._used(), self._hints()
        if not used:
            reasons = "; ".join(f"{c['name']}: {c['why']}" for c in self.plan_)
            raise TableError(
                f"no columns to learn from ({reasons}). Name some with `columns` or `text`"
                if self.plan_
                else "the table has only the column of ratings; add columns to learn from"
            )
        texts = {name: table[name] for name in self._named("text")}
        # A word in one text does not help with others; in a small table most words are in one.
        min_df = 2 if len(next(iter(table.values()))) >= MANY_TEXTS else 1
        self.encoder_ = make_transformer(
            self._named("number") + self._named("date"), self._named("category"), texts,
            TextViews(min_df=min_df, meaning=self.meaning, n_axes=self.n_axes),
        )  # fmt: skip
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
        how = "tuned" if sentences.tuned else "not tuned"
        for column in self.plan_:
            if column["role"] == "text":
                column["why"] += f" and the encoder {sentences.short_name} ({how})"
        return sp.hstack([X, encoded], format="csr")

    def joined_texts(self, table: Cells) -> list[str]:
        """All texts of each row joined, for a sentence encoder."""
        columns = [map(text_of, table[name]) for name in self._named("text")]
        return ["\n".join(filter(None, cells)) for cells in zip(*columns, strict=True)]

    def transform(self, table: Cells, encoded: Array | None = None) -> Matrix:
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

    def compare(self, table: Cells) -> list[CellCounts]:
        """Count the cells that differ from those of training, for each used column.

        Counts of several tables may be added up. A model that was saved before version 0.3 does
        not know the cells that it was trained on: the list is empty then.
        """
        if not hasattr(self, "training_"):
            return []
        known = known_categories(self.encoder_)
        quantiles, at_most = self.training_["quantiles"], self.training_["at_most"]
        used = self._used()
        cells = self._reader.cells(used, table, self._reader.frame(used, table))
        return [
            CellCounts.of(of_column, known.get(column["name"]), quantiles[i], at_most[i, -1] > 0)
            for i, (column, of_column) in enumerate(zip(used, cells, strict=True))
        ]

    def warnings(self, counts: Sequence[CellCounts]) -> list[str]:
        """Describe which columns differ from those of training, by the counts of `compare`."""
        return column_warnings(self._used(), self.training_, counts) if counts else []

    def groups(self) -> dict[str, NDArray[np.int64]]:
        """Places of the features by group: each text, each category, and all "numbers"."""
        role = {c["name"]: c["role"] for c in self.plan_}
        places: dict[str, list[int]] = {}
        for place, (column, _) in enumerate(self.get_feature_names_out()):
            if role[column] == "hint":  # hints are judged later, by the models themselves
                continue
            own = role[column] in ("text", "category")
            places.setdefault(column if own else "numbers", []).append(place)
        return {name: np.array(group) for name, group in places.items()}

    def own_words(self, table: Cells) -> list[str]:
        """Texts that differ between rows, the longest first."""
        return texts_that_differ({name: table[name] for name in self._named("text")})

    def views(self) -> dict[str, NDArray[np.int64]] | None:
        """Places of the features by the view of the texts; None where there is no text.

        Other columns are in all views.
        """
        check_is_fitted(self)
        texts = [
            (self.encoder_.output_indices_[name], part.views_)
            for name, part, _ in text_parts(self.encoder_)
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

    def count_words(self, table: Cells) -> dict[str, Counter[str]]:
        """Number of rows with each word, by column of texts; those of tables may be added up."""
        check_is_fitted(self)
        return {
            column: part.words_.count(text_of(cell) for cell in table[column])
            for _, part, column in text_parts(self.encoder_)
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
        if counts:
            use_words(self.encoder_, counts, n_rows)

    def describe_texts(self, text: str) -> None:
        """Record how the texts were read."""
        for column in self.plan_:
            if column["role"] == "text":
                column["why"] = text

    def exclude(self, useless: Mapping[str, str]) -> None:
        """Exclude some groups of columns from the plan, each for a reason."""
        for column in self.plan_:
            numeric = column["role"] in ("number", "date")
            group = "numbers" if numeric else column["name"]
            if column["role"] != "excluded" and group in useless:
                column.update(role="excluded", why=useless[group])

    def hint_places(self) -> dict[str, NDArray[np.int64]]:
        """Places of the features of each hint."""
        owner = np.array([column for column, _ in self.get_feature_names_out()], dtype=object)
        return {c["name"]: np.flatnonzero(owner == c["name"]) for c in self._hints()}

    def exclude_hints(self, names: Sequence[str]) -> None:
        """Exclude some hints, after the columns were encoded."""
        kept = [c["name"] not in names for c in self._used()]
        training = {k: v if k == "rows" else v[kept] for k, v in self.training_.items()}
        self.training_ = training
        self.exclude(dict.fromkeys(names, "held-out rows are rated as well without this hint"))

    def get_feature_names_out(self) -> list[tuple[str, str]]:
        """Name each feature: its column and its word or value, empty for a number."""
        check_is_fitted(self)
        names = feature_names(self.encoder_)
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

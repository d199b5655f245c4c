"""A fitted model for the rows of a table, which is what a model file holds."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from tordinal.distances import Matrix
from tordinal.tables.answers import Answers
from tordinal.tables.columns import TableEncoder
from tordinal.tables.fingerprints import fingerprints
from tordinal.tables.frames import add_columns, frame_of, table_of
from tordinal.tables.table import Table
from tordinal.tables.values import visible

__all__ = ["TableModel"]

Array = NDArray[np.float64]

SHOWN = 10  # columns in the representation


@dataclass(repr=False)
class TableModel:
    """A fitted model for the rows of a table, which is what a model file holds.

    Attributes
    ----------
    encoder : TableEncoder
        Columns to features.
    estimator : TORCV, TOR or REDSVM
        Features to ranks.
    target : str
        Name of the column that it rates.
    classes : list
        Ratings from the lowest to the highest.
    card : dict
        Description: settings, sizes, errors, versions.
    learned : ndarray of uint64
        Fingerprints of the rated rows that it learned from, sorted.
    """

    encoder: TableEncoder
    estimator: Any
    target: str
    classes: list[Any]
    card: dict[str, Any]
    learned: NDArray[np.uint64] = field(default_factory=lambda: np.empty(0, dtype=np.uint64))

    def __repr__(self) -> str:
        columns = ", ".join(map(visible, self.used[:SHOWN]))
        more = len(self.used) - SHOWN
        return (
            f"TableModel(target={visible(self.target)!r}, classes={self.classes!r}, "
            f"estimator={type(self.estimator).__name__}, columns: {columns}"
            + (f" and {more:,} more)" if more > 0 else ")")
        )

    @property
    def used(self) -> list[str]:
        """Columns that it learned from."""
        return [c["name"] for c in self.encoder.plan_ if c["role"] != "excluded"]

    def cells(self, table: Table) -> dict[str, list[Any]]:
        """Cells of a table by column; a hint that it does not have is missing in all rows."""
        cells = table.features(self.target)
        for column in self.encoder.plan_:
            if column["role"] == "hint":
                cells.setdefault(column["name"], [None] * len(table))
        return cells

    def known(self, table: Mapping[str, list[Any]]) -> NDArray[np.bool_]:
        """Which rows it has learned from with their ratings."""
        return np.isin(fingerprints(table, self.used), self.learned)

    @property
    def members(self) -> list[Any]:
        """The models that it consists of, the first one being the best."""
        return getattr(self.estimator, "estimators_", [self.estimator])

    def seen(self, X: Matrix) -> Matrix:
        """The features that the first of them uses."""
        return self.estimator.seen(X) if hasattr(self.estimator, "seen") else X

    def columns(self, n_features: int) -> NDArray[np.int64]:
        """The places of the features that the first of them uses."""
        columns = getattr(self.estimator, "_columns", [None])[0]
        return np.arange(n_features) if columns is None else columns

    def rate(self, table: Mapping[str, list[Any]]) -> tuple[list[Any], Array, Array]:
        """Rate new rows.

        Parameters
        ----------
        table : mapping of str to list
            Cells by column.

        Returns
        -------
        labels : list
            The rating of each row.
        confidence : ndarray of shape (n_rows,)
            Its probability.
        probability : ndarray of shape (n_rows, n_classes)
            Probabilities of all ratings.
        """
        if not any(map(len, table.values())):  # no rows
            return [], np.empty(0), np.empty((0, len(self.classes)))
        return self.rate_features(self.encoder.transform(table))

    def rate_features(self, X: Matrix) -> tuple[list[Any], Array, Array]:
        """Rate rows by their features; returns what `rate` does."""
        p = self.estimator.predict_proba(X)
        rank = self.decide(p)
        return [self.classes[k] for k in rank], p[np.arange(len(p)), rank], p

    def decide(self, probability: Array) -> NDArray[np.int64]:
        """Ranks by probabilities: the most probable ones, unless errors have costs."""
        decide = getattr(self.estimator, "decide", lambda p: p.argmax(axis=1))
        return decide(probability)

    def predict(
        self, frame: Any, *, probabilities: bool = False, abstain: float | None = None
    ) -> pd.DataFrame:
        """Rate the rows of a data frame.

        Parameters
        ----------
        frame : DataFrame or pyarrow.Table
            New rows, with the columns that the model learned from. A warning says which of them
            differ from those of training.
        probabilities : bool, default=False
            Whether to add a column with the probability of each rating.
        abstain : float or None, default=None
            Rows below this confidence stay unrated.

        Returns
        -------
        frame : DataFrame
            The rows with the columns ``<target>_predicted``, ``<target>_confidence`` and
            ``<target>_source``.
        """
        table = table_of(frame)
        cells = self.cells(table)
        labels, confidence, p = self.rate(cells)
        for line in self.encoder.warnings(self.encoder.compare(cells)):
            warnings.warn(visible(line), stacklevel=2)
        given = np.zeros(len(table), dtype=bool)
        answers = Answers.made(labels, confidence, given, p, self.classes, abstain)
        added = answers.columns(self.target, probabilities, list(range(len(table))), len(table))
        return add_columns(frame if isinstance(frame, pd.DataFrame) else frame_of(table), added, {})

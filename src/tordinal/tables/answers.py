"""The columns that are added to a table: rating, confidence and source of each row."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tordinal.tables.cells import read_numbers
from tordinal.tables.table import Table
from tordinal.tables.values import is_missing

if TYPE_CHECKING:
    from tordinal.tables.columns import TableEncoder
    from tordinal.tables.results import Rating

__all__ = ["Answers", "decimal_of", "is_earlier"]

SHOWN = 1000  # cells that show how a table writes numbers
# Columns of outputs, and those in which forms record how their rows were drawn.
EARLIER = ("predicted", "confidence", "source", "reasons", "chance", "audit", "rows_left")


@dataclass(frozen=True)
class Answers:
    """Rating, confidence and source of each row.

    Attributes
    ----------
    labels : list
        Ratings; None where the confidence is too low.
    confidence : ndarray of shape (n_rows,)
        Probability of each rating.
    sources : list of str
        "given", "predicted" or "unsure".
    probability : ndarray of shape (n_rows, n_classes)
        Probabilities of all ratings.
    classes : list
        The ratings.
    reasons : list of str or None
        The main reasons of each rating.
    """

    labels: list[Any]
    confidence: Any
    sources: list[str]
    probability: Any
    classes: list[Any]
    reasons: list[str] | None = None

    @classmethod
    def of(
        cls, rating: "Rating", abstain: float | None, reasons: list[str] | None = None
    ) -> "Answers":
        """The answers of a rating; rows below the confidence `abstain` stay unrated."""
        probability = np.where(
            rating.given[:, None], np.eye(len(rating.target.classes))[rating.rank],
            rating.probability,
        )  # fmt: skip
        return cls.made(
            rating.labels, rating.confidence, rating.given, probability, rating.target.classes,
            abstain, reasons,
        )  # fmt: skip

    @classmethod
    def made(
        cls, labels: list[Any], confidence: Any, given: Any, probability: Any, classes: list[Any],
        abstain: float | None, reasons: list[str] | None = None,
    ) -> "Answers":  # fmt: skip
        """From labels, confidences and probabilities."""
        unsure = ~given & (confidence < (0.0 if abstain is None else abstain))
        sources = ["given" if g else "unsure" if u else "predicted" for g, u in zip(
            given, unsure, strict=True)]  # fmt: skip
        kept = [None if u else label for label, u in zip(labels, unsure, strict=True)]
        return cls(kept, confidence, sources, probability, classes, reasons)

    @property
    def unsure(self) -> int:
        """Rows that stay unrated."""
        return self.sources.count("unsure")

    def columns(
        self, target: str, probabilities: bool, rows: list[int], n_rows: int
    ) -> dict[str, list[Any]]:
        """The columns that are added; excluded rows have empty cells."""
        added: dict[str, list[Any]] = {
            f"{target}_predicted": self.labels,
            f"{target}_confidence": [round(float(c), 4) for c in self.confidence],
            f"{target}_source": self.sources,
        }
        if probabilities:
            for k, name in enumerate(self.classes):
                added[f"{target}_probability_{name}"] = [
                    round(float(p), 4) for p in self.probability[:, k]
                ]
        if self.reasons is not None:
            added[f"{target}_reasons"] = self.reasons
        if len(rows) == n_rows:
            return added
        whole = {name: [None] * n_rows for name in added}
        for name, values in added.items():
            for i, value in zip(rows, values, strict=True):
                whole[name][i] = value
        return whole

    def some(self, rows: list[int], target: str) -> dict[str, list[Any]]:
        """Rating and confidence of some rows."""
        return {
            f"{target}_predicted": [self.labels[i] for i in rows],
            f"{target}_confidence": [round(float(self.confidence[i]), 4) for i in rows],
        }


def decimal_of(table: Table, encoder: "TableEncoder") -> str:
    """The decimal separator of most columns of numbers, or that of the file format.

    That of the cells, as the encoder may have learned from a table in another style.
    """
    styles = []
    for column in encoder.plan_:
        if column["role"] != "number" or column["name"] not in table.names:
            continue
        usual = column["style"]["decimal"]
        cells = [c for c in table[column["name"]][:SHOWN] if not is_missing(c)]
        reading = read_numbers(cells, usual=usual) if cells else None
        styles.append(usual if reading is None else reading.style["decimal"])
    if not styles or not table.records:
        return table.decimal
    return max(set(styles), key=styles.count)


def is_earlier(name: str, target: str) -> bool:
    """Whether a column is from an earlier run."""
    if not name.startswith(f"{target}_"):
        return False
    rest = name.removeprefix(f"{target}_")
    return rest in EARLIER or rest.startswith("probability_")

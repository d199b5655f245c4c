"""The error of a saved model on rows that are rated already."""

from dataclasses import dataclass
from typing import Any

from tordinal.tables.rating_order import rank_of
from tordinal.tables.table import Table
from tordinal.tables.table_model import TableModel

__all__ = ["Compared", "compare"]


@dataclass(frozen=True)
class Compared:
    """Errors on rows with ratings; those of several tables may be added up.

    Attributes
    ----------
    rated, new : int
        Rows with a rating, and those of them that the model did not learn from.
    wrong, steps : int
        New ones with a wrong prediction, and the sum of their errors in steps.
    """

    rated: int = 0
    new: int = 0
    wrong: int = 0
    steps: int = 0

    def __add__(self, other: "Compared") -> "Compared":
        return Compared(
            self.rated + other.rated, self.new + other.new, self.wrong + other.wrong,
            self.steps + other.steps,
        )  # fmt: skip

    def about(self, target: str) -> str:
        """Describe the errors in sentences."""
        lines = []
        if self.new < self.rated:
            lines.append(
                f"The model learned from {self.rated - self.new:,} of the {self.rated:,} rated "
                "rows; they are excluded from the error."
            )
        if self.new:
            lines.append(
                f"On {self.new:,} rated rows that are new to it: "
                f"{100 * self.wrong / self.new:.0f} % wrong, "
                f"off by {self.steps / self.new:.2f} steps on average."
            )
        return "\n".join(lines) or f"No row of {target} has a rating to compare with."


def compare(model: TableModel, table: Table, labels: list[Any]) -> Compared:
    """Compare predictions with the ratings of a table, except rows that the model learned from.

    Parameters
    ----------
    model : TableModel
        The model.
    table : Table
        Rows, with the column that it rates.
    labels : list
        Its predictions.

    Returns
    -------
    compared : Compared
        Counts.
    """
    ranks = [rank_of(c, model.classes) for c in table[model.target]]
    rated = [i for i, rank in enumerate(ranks) if rank is not None]
    if not rated:
        return Compared()
    learned = model.known(model.cells(table))
    new = [i for i in rated if not learned[i]]
    place = {c: k for k, c in enumerate(model.classes)}
    steps = [abs(ranks[i] - place[labels[i]]) for i in new]  # type: ignore[operator]
    return Compared(len(rated), len(new), sum(s > 0 for s in steps), sum(steps))

"""The error of a saved model on rows that are rated already."""

from dataclasses import dataclass
from typing import Any

from tordinal.tables.rating_order import rank_of, spelled
from tordinal.tables.table import Table
from tordinal.tables.table_model import TableModel
from tordinal.tables.target import is_rated

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
    unknown : int
        Cells that are neither empty nor ratings that the model knows.
    example : str
        One of them.
    """

    rated: int = 0
    new: int = 0
    wrong: int = 0
    steps: int = 0
    unknown: int = 0
    example: str = ""

    def __add__(self, other: "Compared") -> "Compared":
        return Compared(
            self.rated + other.rated, self.new + other.new, self.wrong + other.wrong,
            self.steps + other.steps, self.unknown + other.unknown, self.example or other.example,
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
        if not lines:
            lines.append(f"No row of {target} has a rating to compare with.")
        if self.unknown:
            lines.append(
                (
                    f"1 cell of {target} is excluded from the error: the model has no rating "
                    f"{self.example!r}."
                )
                if self.unknown == 1
                else f"{self.unknown:,} cells of {target} are excluded from the error: the model "
                f"does not know them as ratings, such as {self.example!r}."
            )
        return "\n".join(lines)


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
    cells = table[model.target]
    ranks = [rank_of(c, model.classes) for c in cells]
    rated = [i for i, rank in enumerate(ranks) if rank is not None]
    others = (c for c, rank in zip(cells, ranks, strict=True) if rank is None)
    unknown = [str(c) for c in others if is_rated(spelled(c), None, ())]
    example = unknown[0] if unknown else ""
    if not rated:
        return Compared(unknown=len(unknown), example=example)
    learned = model.known(model.cells(table))
    new = [i for i in rated if not learned[i]]
    place = {c: k for k, c in enumerate(model.classes)}
    steps = [abs(ranks[i] - place[labels[i]]) for i in new]  # type: ignore[operator]
    wrong = sum(s > 0 for s in steps)
    return Compared(len(rated), len(new), wrong, sum(steps), len(unknown), example)

"""Costs of errors and weights of ratings, as users give them."""

import csv
import os
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tordinal.costs import SIDES, check_cost
from tordinal.reduction import UNLABELED
from tordinal.tables.cells import read_number
from tordinal.tables.rating_order import rank_of
from tordinal.tables.results import Rating
from tordinal.tables.target import Target
from tordinal.tables.values import TableError, is_missing, number

__all__ = ["costs_of", "describe_cost", "parse_class_weight", "parse_cost", "read_weights",
           "weights_of_ranks"]  # fmt: skip

Array = NDArray[np.float64]

MOST_BYTES = 100_000  # of a file with a matrix


def parse_cost(text: str) -> Any:
    """Costs from one option: ``low=2``, a matrix as ``0,1,2;1,0,1;2,1,0``, or a file with one.

    Examples
    --------
    >>> parse_cost("low=2"), parse_cost("0,1;3,0")
    ({'low': 2.0}, [[0.0, 1.0], [3.0, 0.0]])
    """
    if os.path.isfile(text):
        if os.path.getsize(text) > MOST_BYTES:
            raise TableError(f"`cost` {text}: the file is too large for a matrix of costs")
        try:
            with open(text, encoding="utf-8-sig", newline="") as file:
                lines = [line for line in file.read().splitlines() if line.strip()]
        except (OSError, UnicodeDecodeError) as error:
            raise TableError(f"`cost` {text} cannot be read: {error}") from None
        return _matrix(text, lines)
    if "=" in text:
        pairs = [part.partition("=") for part in text.split(",")]
        sides = {name.strip(): number(value.strip()) for name, _, value in pairs}
        if not set(sides) <= set(SIDES) or not all(v is not None and v > 0 for v in sides.values()):
            raise TableError(
                f"`cost` {text}: write low=2 (a prediction that is too low is twice as bad), "
                "high=3, or a matrix"
            )
        return sides
    if "," not in text:
        raise TableError(
            f"`cost` {text}: no such file; write low=2 or high=3, a matrix as "
            "0,1,2;1,0,1;2,1,0, or the name of a file with one"
        )
    return _matrix(text, text.split(";"))


def _matrix(text: str, lines: list[str]) -> list[list[float]]:
    rows = []
    for cells in csv.reader(lines, delimiter=";" if any(";" in line for line in lines) else ","):
        values = [number(cell.strip().replace(",", ".")) for cell in cells]
        if any(value is None for value in values):
            raise TableError(f"`cost` {text}: {', '.join(cells)!r} must be numbers")
        rows.append([float(value) for value in values if value is not None])
    return rows


def parse_class_weight(text: str) -> Any:
    """Weights of ratings from one option: ``balanced``, or ``5=3,1=2``.

    Examples
    --------
    >>> parse_class_weight("balanced"), parse_class_weight("good=3,poor=1.5")
    ('balanced', {'good': 3.0, 'poor': 1.5})
    """
    if text == "balanced":
        return text
    weights = {}
    for part in next(csv.reader([text], skipinitialspace=True)):
        name, _, value = part.rpartition("=")
        weight = number(value.strip())
        if not name.strip() or weight is None or weight <= 0:
            raise TableError(
                f"`class_weight` {text}: write balanced, or weights as RATING=3,RATING=2"
            )
        weights[name.strip()] = weight
    return weights


def costs_of(cost: Any, target: Target) -> Any:
    """The costs that an option names, checked for the ratings of a table."""
    if cost is None:
        return None
    try:
        costs = check_cost(cost, len(target.classes))
        return dict(cost) if isinstance(cost, Mapping) else costs
    except ValueError as error:
        ratings = " < ".join(map(str, target.classes))
        raise TableError(f"`cost`: {error} The ratings are {ratings}.") from None


def weights_of_ranks(class_weight: Any, target: Target) -> Any:
    """Weights by rank, from weights by rating."""
    if class_weight is None or isinstance(class_weight, str):
        if class_weight not in (None, "balanced"):
            raise TableError(
                f"`class_weight` {class_weight}: write balanced, or a weight by rating"
            )
        return class_weight
    weights = {}
    for label, weight in class_weight.items():
        rank = rank_of(label, target.classes)
        if rank is None:
            listed = ", ".join(map(str, target.classes))
            raise TableError(
                f"`class_weight`: there is no rating {label}; the ratings are {listed}"
            )
        if not isinstance(weight, Real) or not 0 < float(weight) < float("inf"):
            raise TableError(
                f"`class_weight`: the weight of {label} must be positive, got {weight}"
            )
        weights[rank] = float(weight)
    return weights


def read_weights(
    cells: Sequence[Any], target: Target, numbers: Sequence[Any], decimal: str = "."
) -> Array:
    """The weight of each given rating, 1 for rows without one.

    Parameters
    ----------
    cells : sequence
        The column of weights.
    target : Target
        The ratings.
    numbers : sequence
        Numbers of the rows, for messages.
    decimal : {".", ","}
        The decimal separator.

    Returns
    -------
    weights : ndarray of shape (n_rows,)
        They are scaled so that the weights of given ratings have the mean 1.
    """
    weights = np.ones(len(cells))
    rated = np.flatnonzero(target.rank != UNLABELED)
    for i in rated.tolist():
        value = None if is_missing(cells[i]) else read_number(cells[i], decimal)
        if value is None or value < 0:
            shown = "empty" if is_missing(cells[i]) else repr(cells[i])
            raise TableError(
                f"`sample_weight`: the weight of row {numbers[i]} is {shown}; every rated row "
                "needs a number that is not negative"
            )
        weights[i] = value
    if not weights[rated].any():
        raise TableError("`sample_weight`: every given rating has the weight 0")
    weights[rated] /= weights[rated].mean()
    return weights


def describe_cost(rating: Rating, cost: Any) -> str:
    """The mean cost of held-out rows and of the best constant rating, for the notes."""
    truth = rating.target.rank[rating.held_out]
    costs = check_cost(cost, len(rating.target.classes))
    if len(truth) == 0:
        return "predictions have the least expected cost by the costs given with `cost`"
    paid, constant = float(costs[truth, rating.cv_rank].mean()), costs[truth].mean(axis=0)
    best = int(constant.argmin())
    return (
        f"predictions have the least expected cost: held-out rows cost {paid:.2f} on average; "
        f"always predicting {rating.target.classes[best]} would cost {constant[best]:.2f}"
    )

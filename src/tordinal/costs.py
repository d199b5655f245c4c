"""Costs of predicting one rank where another is true, and the rank of least expected cost."""

from collections.abc import Callable, Mapping
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tordinal.reduction import Ranks

__all__ = ["COSTS", "SIDES", "check_cost", "cost_matrix", "decide", "weigh_classes"]

Array = NDArray[np.float64]

COSTS: dict[str, Callable[[Ranks], Array]] = {  # of being some ranks off
    "absolute": lambda off: np.abs(off).astype(np.float64),
    "zero_one": lambda off: (off != 0).astype(np.float64),
    "both": lambda off: 0.5 * (np.abs(off) + (off != 0)),
}
SIDES = ("low", "high")


def cost_matrix(cost: Any, n_classes: int) -> Array:
    """The cost of each predicted rank (columns) for each true one (rows).

    Parameters
    ----------
    cost : {"absolute", "zero_one", "both"}, mapping or array-like of shape (n_classes, n_classes)
        A mapping has the cost per rank of predictions that are too "low" and too "high"; the one
        that is not named is 1.
    n_classes : int
        K.

    Returns
    -------
    costs : ndarray of shape (n_classes, n_classes)
        The costs.

    Examples
    --------
    >>> cost_matrix({"low": 2}, 3).tolist()
    [[0.0, 1.0, 2.0], [2.0, 0.0, 1.0], [4.0, 2.0, 0.0]]
    """
    if isinstance(cost, (str, Mapping)):
        rank = np.arange(n_classes)
        off = rank - rank[:, None]  # predicted minus true
        if isinstance(cost, str):
            return COSTS[cost](off)
        low, high = (float(cost.get(side, 1.0)) for side in SIDES)
        return np.where(off < 0, low * -off, high * off).astype(np.float64)
    return check_cost(cost, n_classes)


def check_cost(cost: Any, n_classes: int) -> Array:
    """A matrix of costs, checked, or that of a mapping; see `cost_matrix`."""
    if isinstance(cost, Mapping):
        values = [cost[side] for side in cost]
        if not cost or not set(cost) <= set(SIDES) or not all(
            isinstance(v, Real) and 0 < float(v) < np.inf for v in values
        ):  # fmt: skip
            raise ValueError(
                f'cost={dict(cost)!r} must have a positive cost for "low" or "high", such as '
                '{"low": 2}: a prediction that is too low is twice as bad.'
            )
        return cost_matrix(cost, n_classes)
    try:
        costs = np.asarray(cost, dtype=np.float64)
    except (TypeError, ValueError):
        costs = np.empty(0)
    if costs.shape != (n_classes, n_classes):
        raise ValueError(
            f"cost must be a matrix of {n_classes} x {n_classes} numbers, one row per true and one "
            f"column per predicted class, got shape {costs.shape}."
        )
    if not np.isfinite(costs).all() or (costs < 0).any():
        raise ValueError("cost must hold finite numbers that are not negative.")
    if (np.diag(costs)[:, None] > costs).any() or not (costs > np.diag(costs)[:, None]).any():
        raise ValueError(
            "cost must be lowest where the true class is predicted: in each row the number on the "
            "diagonal. Rows are true classes, columns predicted ones."
        )
    return costs


def weigh_classes(class_weight: Any, classes: NDArray[Any], rank: Ranks) -> Array:
    """The weight of each class.

    Parameters
    ----------
    class_weight : "balanced", mapping or None
        By label; classes that are not named have weight 1. "balanced": in inverse proportion to
        the number of labels of the class.
    classes : ndarray of shape (n_classes,)
        The labels.
    rank : ndarray
        Ranks of the labelled rows.

    Returns
    -------
    weights : ndarray of shape (n_classes,)
        1 for a class without labels, if "balanced".

    Examples
    --------
    >>> weigh_classes("balanced", np.array(["low", "high"]), np.array([0, 0, 0, 1]))
    array([0.66666667, 2.        ])
    """
    weights = np.ones(len(classes))
    if class_weight is None:
        return weights
    if isinstance(class_weight, str):
        counts = np.bincount(rank, minlength=len(classes))
        return np.where(counts > 0, len(rank) / (len(classes) * np.maximum(counts, 1)), weights)
    listed = classes.tolist()
    for label, weight in class_weight.items():
        if label not in listed:
            raise ValueError(f"class_weight: {label!r} is not among the classes {listed[:10]}.")
        if not (isinstance(weight, Real) and 0 < float(weight) < np.inf):
            raise ValueError(
                f"class_weight: the weight of {label!r} must be positive, got {weight!r}."
            )
        weights[listed.index(label)] = weight
    return weights


def decide(p: Array, costs: str | Array) -> Ranks:
    """The rank of least expected cost: the median by "absolute" cost, the mode by "zero_one".

    Parameters
    ----------
    p : ndarray of shape (n_rows, n_classes)
        Probabilities of the classes.
    costs : str or ndarray of shape (n_classes, n_classes)
        A name, or the cost of each predicted rank (columns) for each true one (rows).

    Returns
    -------
    rank : ndarray of shape (n_rows,)
        Ties go to the lower rank.

    Examples
    --------
    >>> p = np.array([[0.45, 0.15, 0.1, 0.3]])
    >>> [int(decide(p, cost)[0]) for cost in ("absolute", "zero_one", "both")]
    [1, 0, 0]
    """
    matrix = cost_matrix(costs, p.shape[1]) if isinstance(costs, str) else costs
    expected = p @ matrix
    # Ties are ties to the last bits, whatever the scale of the costs is.
    scale = float(np.max(matrix))
    return np.argmin(np.round(expected / (scale if scale > 0 else 1.0), 12), axis=1)

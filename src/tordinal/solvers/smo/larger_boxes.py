"""Dual variables for larger costs, with the same projections and the same thresholds.

With a loss that has two slopes, most variables sit at one of their bounds, and within a row they
cancel: two at the upper and two at the lower bound leave a_i = sum_k beta_ik = 0. When C2 doubles
they follow their bounds, and neither h = K a nor c_k = sum_i beta_ik need change by that. Such a
start is nearer to the solution than scaled or unchanged variables.

``docs/mathematics.md`` has the derivation.
"""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tordinal.problem import Problem
from tordinal.reduction import Ranks, signs
from tordinal.solvers.smo.steps import boxes

__all__ = ["in_larger_boxes"]

Array = NDArray[np.float64]
Index = NDArray[np.int64]

MOVES = 60  # largest number of moves that restore the sums of thresholds
EXACT = 1e-9  # error of a sum, as a share of all variables


def in_larger_boxes(
    problem: Problem, y: Ranks, cost: Array, u: Array, beta: Array, t: Array
) -> Array:
    """Variables that follow their bounds, while sums over rows and over thresholds stay.

    Parameters
    ----------
    problem : Problem
        A problem with a piecewise linear loss.
    y, cost : ndarray of shape (n_rows,)
        Ranks, and the larger costs.
    u : ndarray of shape (n_rows, n_thresholds)
        The solution for the smaller costs, in units of these.
    beta : ndarray of shape (n_rows, n_thresholds)
        The same as signed variables.
    t : ndarray of shape (n_thresholds,)
        Its thresholds.

    Returns
    -------
    larger : ndarray of shape (n_rows, n_thresholds)
        Variables in their new boxes. A row without a free variable has a sum that grows.
    """
    m, lines = len(t), problem.lines
    s, C = signs(y, m), problem.costs(y, cost)
    low, high = lines.box
    lower, upper, _ = boxes(y, cost, m, *problem.shape)
    free = (u > low) & (u < high)
    larger = np.where(free, beta, s * np.clip(u, low, high) * C)
    # A free variable of the same row compensates for those that follow their bounds.
    left = np.where(free.any(axis=1), beta.sum(axis=1) - larger.sum(axis=1), 0.0)
    for k in range(m):
        taken = np.clip(left, lower[:, k] - larger[:, k], upper[:, k] - larger[:, k])
        taken[~free[:, k]] = 0.0
        larger[:, k] += taken
        left -= taken
    # Of each rank, minus h, which all variables of a row share.
    gradient = -t - lines.kink * signs(np.arange(m + 1), m)
    excess = larger.sum(axis=0) - beta.sum(axis=0)
    restore_sums(larger, lower, upper, y, gradient, excess)
    return larger


def restore_sums(
    beta: Array, lower: Array, upper: Array, y: Ranks, gradient: Array, excess: Array
) -> None:
    """Move the excess of some thresholds to those with a deficit, within rows, at the least cost.

    Rows of a rank pay the same for a move from k to l: the difference of their gradients. So this
    is a flow between few thresholds, along the cheapest path until that is full.
    """
    m, least = beta.shape[1], EXACT * float(np.abs(beta).sum())
    rows = [np.flatnonzero(y == rank) for rank in range(m + 1)]
    # At a solution no move gains more than its tolerance allows: such a gain is noise.
    price = np.maximum(gradient[:, None, :] - gradient[:, :, None], 0.0)
    room = np.array([_room(beta, lower, upper, some) for some in rows])
    for _ in range(MOVES):
        open_ = np.where(room > least, price, np.inf)
        way = _cheapest_path(open_.min(axis=0), excess > least, excess < -least)
        if way is None:
            return
        steps = [(int(open_[:, k, l].argmin()), k, l) for k, l in pairwise(way)]
        amount = min(excess[way[0]], -excess[way[-1]], *(room[step] for step in steps))
        for rank, k, l in steps:
            some = rows[rank]
            most = np.minimum(beta[some, k] - lower[some, k], upper[some, l] - beta[some, l])
            # Row by row, so that few variables are left between their bounds.
            moved = np.clip(amount - (np.cumsum(most) - most), 0.0, most)
            beta[some, k] -= moved
            beta[some, l] += moved
            excess[k] -= moved.sum()
            excess[l] += moved.sum()
            room[rank] = _room(beta, lower, upper, some)


def _room(beta: Array, lower: Array, upper: Array, rows: Index) -> Array:
    """How much some rows together can move from each threshold to each other."""
    down, up = beta[rows] - lower[rows], upper[rows] - beta[rows]
    total = np.minimum(down[:, :, None], up[:, None, :]).sum(axis=0)
    np.fill_diagonal(total, 0.0)
    return np.asarray(total)


def _cheapest_path(
    price: Array, sources: NDArray[np.bool_], sinks: NDArray[np.bool_]
) -> list[int] | None:
    """Thresholds on the cheapest way from a source to a sink (Bellman and Ford)."""
    paid, before = np.where(sources, 0.0, np.inf), np.full(len(price), -1)
    for _ in range(len(price) - 1):
        through = paid[:, None] + price
        cheaper = through.min(axis=0) < paid - EXACT
        paid = np.where(cheaper, through.min(axis=0), paid)
        before = np.where(cheaper, through.argmin(axis=0), before)
    if not (sinks & np.isfinite(paid)).any():
        return None
    way = [int(np.argmin(np.where(sinks, paid, np.inf)))]
    while before[way[0]] >= 0:
        way.insert(0, int(before[way[0]]))
    return way

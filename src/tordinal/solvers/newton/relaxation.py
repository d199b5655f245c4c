"""Piecewise linear losses made smooth, without giving up the true optimum: a proximal form.

Each term loss(g) is replaced by the least of loss(v) + u (v - g) + (v - g)^2 / (2 width) over v,
with a multiplier u that is the current guess of the dual variable in units of the cost. Its slope

    -clip(u + (kink - g) / width, low, high)

runs linearly across a band. For u = 1/2 and the hinge this is plain smoothing; with the right
multipliers the minimum is the true one however wide the band is. After each minimisation u moves to
the clipped value, which is the method of multipliers. The duality gap bounds what remains.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tordinal.problem import LossTerms, Problem
from tordinal.reduction import Ranks

__all__ = ["Relaxation", "Residuals"]

Array = NDArray[np.float64]
FAST = {"contract", "reassoc", "nsz"}


class Residuals(NamedTuple):
    """How far a point is from the optimum, given the multipliers that fit it.

    Attributes
    ----------
    gap : float
        The sum of C (loss(g) - u (kink - g)) with those: the duality gap at a minimum.
    moved : float
        The sum of C width (change of u)^2: twice what the proximal terms weigh.
    """

    gap: float
    moved: float


@dataclass(frozen=True)
class Relaxation:
    """The proximal form of a problem with a piecewise linear loss.

    Parameters
    ----------
    problem : Problem
        The problem.
    width : float
        Width of the band in units of the margin.
    """

    problem: Problem
    width: float

    def terms(
        self, y: Ranks, cost: Array, h: Array, t: Array, u: Array
    ) -> tuple[LossTerms, Residuals]:
        """The terms with their derivatives, and the residuals.

        The value is that of the true loss. Second derivatives are multiplied by `width`: they then
        stay the same when only the width changes.
        """
        n, m = len(h), len(t)
        in_rows, in_t, curvature = np.empty((n, 1 + m)), np.zeros(m), np.empty(n)
        value, gap, moved = _terms(
            y, cost, h, t, u, *self.problem.shape, self.width, in_rows, in_t, curvature
        )
        return LossTerms(value, in_rows, in_t, curvature), Residuals(gap, moved)

    def along(
        self, y: Ranks, cost: Array, h: Array, t: Array, u: Array, z: Array, tau: Array, step: float
    ) -> tuple[float, float]:
        """First and second derivative of the terms in `step`, as in `Problem.along`."""
        return _along(y, cost, h, t, u, z, tau, step, *self.problem.shape, self.width)

    def update_multipliers(self, y: Ranks, h: Array, t: Array, u: Array) -> None:
        """Move the multipliers to the values that fit (h, t), in place."""
        _update_multipliers(y, h, t, u, *self.problem.shape, self.width)


@njit(cache=True, nogil=True, inline="always")
def _shortfall(y, k, h, t, kink):
    """How far a margin falls short of the kink, and the sign of the row at the threshold."""
    if y > k:
        return kink - (h - t), 1.0
    return kink + (h - t), -1.0


@njit(cache=True, nogil=True, fastmath=FAST)
def _terms(y, cost, h, t, u, first, last, low, high, kink, width, in_rows, in_t, curvature):
    value, gap, moved = 0.0, 0.0, 0.0
    for i in range(h.shape[0]):
        pull, held, C = 0.0, 0.0, cost[i]
        in_rows[i] = 0.0
        for k in range(first[y[i]], last[y[i]]):
            short, s = _shortfall(y[i], k, h[i], t[k], kink)
            v = u[i, k] + short / width
            if low < v < high:
                in_rows[i, 1 + k] = C
                held += C
            v = min(max(v, low), high)
            loss = max(low * short, high * short)
            pull -= s * v
            in_t[k] += C * s * v
            value += C * loss
            gap += C * (loss - v * short)
            moved += C * (v - u[i, k]) ** 2
        in_rows[i, 0] = C * pull
        curvature[i] = held
    return value, gap, width * moved


@njit(cache=True, nogil=True, fastmath=FAST)
def _along(y, cost, h, t, u, z, tau, step, first, last, low, high, kink, width):
    slope, bend = 0.0, 0.0
    for i in range(h.shape[0]):
        row_slope, row_bend = 0.0, 0.0
        for k in range(first[y[i]], last[y[i]]):
            short, s = _shortfall(y[i], k, h[i], t[k], kink)
            change = s * (z[i] - tau[k])
            v = u[i, k] + (short - step * change) / width
            if low < v < high:
                row_bend += change * change
            row_slope -= min(max(v, low), high) * change
        slope += cost[i] * row_slope
        bend += cost[i] * row_bend
    return slope, bend / width


@njit(cache=True, nogil=True, fastmath=FAST)
def _update_multipliers(y, h, t, u, first, last, low, high, kink, width):
    for i in range(h.shape[0]):
        for k in range(first[y[i]], last[y[i]]):
            short, _ = _shortfall(y[i], k, h[i], t[k], kink)
            u[i, k] = min(max(u[i, k] + short / width, low), high)

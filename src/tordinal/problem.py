"""The problem to solve: a loss, a coupling of the thresholds, and their number.

A `Problem` gives the objective (4) and its derivatives for one block of rows: their ranks y, costs
and projections h, and the thresholds t. Every solver takes them from here.

    1/2 |w|^2 + penalty(t) + sum_i C_i sum_{k in T(i)} loss(s_ik (h_i - t_k))
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tordinal.couplings import Coupling
from tordinal.losses import Loss, PiecewiseLinear, is_smooth
from tordinal.reduction import Ranks, signs
from tordinal.threads import in_blocks

__all__ = ["LossTerms", "Problem"]

Array = NDArray[np.float64]
Index = NDArray[np.int64]

ON_A_THRESHOLD = 1e-11  # distance, relative to the thresholds, below which a row is on one
FLAT = 1e-9  # share of all costs below which a slope counts as zero


class LossTerms(NamedTuple):
    """The loss terms of some rows: their sum, and its derivatives.

    Attributes
    ----------
    value : float
        The sum of C_i loss(s_ik (h_i - t_k)).
    in_rows : ndarray of shape (n_rows, 1 + n_thresholds)
        The derivative in h_i, then the second derivative of each term of row i.
    in_t : ndarray of shape (n_thresholds,)
        The derivative in t.
    curvature : ndarray of shape (n_rows,)
        The second derivative in h_i.
    """

    value: float
    in_rows: Array
    in_t: Array
    curvature: Array


@dataclass(frozen=True)
class Problem:
    """A loss, a coupling and a number of thresholds.

    Parameters
    ----------
    loss : Loss
        A loss of Table II or a custom one.
    coupling : Coupling
        How the thresholds are coupled.
    n_thresholds : int
        K - 1.

    Examples
    --------
    >>> import numpy as np
    >>> from tordinal.couplings import Reduction
    >>> from tordinal.losses import Hinge
    >>> problem = Problem(Hinge(), Reduction(), 1)
    >>> y, cost, h = np.array([0, 1]), np.ones(2), np.array([-1.0, 0.5])
    >>> problem.losses(y, cost, h, np.zeros(1))
    0.5
    """

    loss: Loss
    coupling: Coupling
    n_thresholds: int

    @property
    def smooth(self) -> bool:
        """Whether the loss has a curvature; otherwise it is piecewise linear."""
        return is_smooth(self.loss)

    @property
    def lines(self) -> PiecewiseLinear:
        """The loss, if it is piecewise linear."""
        assert isinstance(self.loss, PiecewiseLinear)
        return self.loss

    @cached_property
    def shape(self) -> tuple[Index, Index, float, float, float]:
        """Arguments of compiled loops over a piecewise linear loss: spans, box and kink."""
        return (*self.coupling.spans(self.n_thresholds), *self.lines.box, self.lines.kink)

    def multiplier_bounds(self, y: Ranks, h: Array, t: Array) -> Array:
        """Multipliers of rows that have none yet: the bound that is optimal at (h, t)."""
        low, high = self.lines.box
        short = self.lines.kink - signs(y, len(t)) * (h[:, None] - t)
        return np.where(short > 0, high, low)

    def scaled(self, factor: float) -> "Problem":
        """The problem whose objective is multiplied by a factor; costs are to be multiplied too."""
        return Problem(self.loss, self.coupling.scaled(factor), self.n_thresholds)

    def costs(self, y: Ranks, cost: Array) -> Array:
        """C_i at every threshold that row i uses, 0 at the others; shape (rows, thresholds)."""
        first, last = self.coupling.spans(self.n_thresholds)
        if (last - first).min() == self.n_thresholds:
            return np.broadcast_to(cost[:, None], (len(cost), self.n_thresholds))
        k = np.arange(self.n_thresholds)
        return np.where((k >= first[y][:, None]) & (k < last[y][:, None]), cost[:, None], 0.0)

    def objective(self, y: Ranks, cost: Array, h: Array, norm: float, t: Array) -> float:
        """Equation 4, with norm = |w|^2."""
        return 0.5 * norm + self.coupling.penalty(t) + self.losses(y, cost, h, t)

    def losses(self, y: Ranks, cost: Array, h: Array, t: Array) -> float:
        """The sum of the loss terms."""

        def of_lines(p: slice) -> float:
            return _losses_of_lines(y[p], cost[p], h[p], t, *self.shape)

        def of_values(p: slice) -> float:
            g = signs(y[p], len(t)) * (h[p, None] - t)
            return float(np.vdot(self.costs(y[p], cost[p]), self.loss.value(g)))

        return sum(in_blocks(len(h), of_values if self.smooth else of_lines))

    def middle_thresholds(self, y: Ranks, cost: Array, h: Array, t: Array) -> Array:
        """The best thresholds near t for the projections h; the middle ones if several are best.

        Without a penalty a threshold may often move a little at no cost, and with one all of them
        together. A sum of two lines per row is least where its slope changes sign. Thresholds are
        then raised by what may be rounding, so that a row on a threshold is always below it.
        """
        (low, high), kink = self.lines.box, self.lines.kink
        s, C, t = signs(y, len(t)), self.costs(y, cost), np.sort(t)

        def least(first: int, last: int, origin: Array) -> tuple[float, float]:
            """Where the losses at some thresholds are least, all of them moved from the origin."""
            i, k = np.nonzero(C[:, first:last])
            k = k + first
            weight = C[i, k]
            places = h[i] - origin[k] - kink * s[i, k]
            order = np.argsort(places, kind="stable")
            slopes = np.append(0.0, np.cumsum(weight[order]) * (high - low))
            slopes += np.where(s[i, k] > 0, low, -high) @ weight
            ends = np.concatenate([[-np.inf], places[order], [np.inf]])
            flat = FLAT * float(weight.sum())
            start = int(np.argmax(slopes >= -flat))
            stop = int(np.argmax(slopes > flat)) if slopes[-1] > flat else len(slopes)
            return float(ends[start]), float(ends[stop])

        t = self.coupling.middle(t, least)
        return t + ON_A_THRESHOLD * (1.0 + float(np.abs(t).max()))

    def terms(self, y: Ranks, cost: Array, h: Array, t: Array) -> LossTerms:
        """The loss terms of a smooth loss with their derivatives."""
        s, C = signs(y, len(t)), self.costs(y, cost)
        g = s * (h[:, None] - t)
        pull = C * s * self.loss.slope(g)
        curvature = C * self.loss.curvature(g)  # type: ignore[attr-defined]
        value = float(np.vdot(C, self.loss.value(g)))
        in_rows = np.column_stack([pull.sum(axis=1), curvature])
        return LossTerms(value, in_rows, -pull.sum(axis=0), curvature.sum(axis=1))

    def along(
        self, y: Ranks, cost: Array, h: Array, t: Array, z: Array, tau: Array, step: float
    ) -> tuple[float, float]:
        """First and second derivative of the terms of a smooth loss in `step`.

        Along the way h moves by z and t by tau.
        """
        s, C = signs(y, len(t)), self.costs(y, cost)
        change = s * (z[:, None] - tau)
        g = s * (h[:, None] - t) + step * change
        slope = float(np.vdot(C, self.loss.slope(g) * change))
        curvature: Array = self.loss.curvature(g)  # type: ignore[attr-defined]
        bend = float(np.vdot(C, curvature * change**2))
        return slope, bend


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc", "nsz"})
def _losses_of_lines(y, cost, h, t, first, last, low, high, kink):
    """The sum of the terms of a piecewise linear loss: the larger of its two lines."""
    total = 0.0
    for i in range(h.shape[0]):
        if cost[i] > 0.0:
            row = 0.0
            for k in range(first[y[i]], last[y[i]]):
                short = kink - (h[i] - t[k]) if y[i] > k else kink + (h[i] - t[k])
                row += max(low * short, high * short)
            total += cost[i] * row
    return total

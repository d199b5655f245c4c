"""Linear models: Newton's method in (w, t), for every loss, without a kernel matrix.

Work is in proportion to the non-zeros. With few dense features the Hessian of (4) in (w, t) is formed, and a step costs one
pass over the data, whatever C is; SMO, in contrast, crawls where a kernel matrix of low rank meets a large C. With sparse
features Newton's equations are solved by conjugate gradients over the rows that have curvature.

The piecewise linear losses are smoothed: within a band of width `tol` around the margin 1 the slope runs linearly from one
side's to the other's. A dual variable is then strictly inside its box only if its margin lies in that band, which is
what a violation of at most `tol` means. So the smoothed problem's solution solves the true one to the tolerance asked for.
The band is narrowed step by step, each solution starting the next.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from tordinal.losses import Loss
from tordinal.reduction import Ranks, signs
from tordinal.solvers.rows import DenseRows, SparseRows, as_rows
from tordinal.solvers.solution import Solution, thresholds_and_losses
from tordinal.threads import in_blocks

Array = NDArray[np.float64]

WIDEST, NARROWING = 4.0, 0.2  # first width of the band, and the factor by which it shrinks
DECREMENT = 1e-6  # relative decrement of Newton's method at which a smoothed problem counts as solved
MAX_STEPS = 60  # Newton steps for one width
RIDGE = 1e-9  # keeps the thresholds' system regular where no row lies in a band, at first
ROUNDING = 1e-11  # relative change of the objective that is noise
ARMIJO, MAX_HALVINGS = 1e-4, 50


@dataclass(frozen=True)
class Smoothed:
    """A piecewise linear loss, smoothed over a band of the given width around the margin 1."""

    box: tuple[float, float]
    width: float

    def _share(self, g: Array) -> Array:
        return np.clip((1.0 - g) / self.width + 0.5, 0.0, 1.0)

    def value(self, g: Array) -> Array:
        """Loss."""
        u, (low, high) = self._share(g), self.box
        below = np.where(u < 1.0, 0.5 * self.width * u * u, 1.0 - g)
        above = np.where(u > 0.0, 0.5 * self.width * (1.0 - u) ** 2, g - 1.0) if low else 0.0
        return high * below - low * above

    def slope(self, g: Array) -> Array:
        """Derivative with respect to the margin."""
        low, high = self.box
        return -(low + (high - low) * self._share(g))

    def curvature(self, g: Array) -> Array:
        """Second derivative."""
        low, high = self.box
        return np.where(np.abs(1.0 - g) < 0.5 * self.width, (high - low) / self.width, 0.0)


@dataclass(frozen=True)
class Terms:
    """The loss terms of (4) with the ranks fixed: sum_i C_i sum_k loss(s_ik (h_i - t_k)), looked at in blocks of rows."""

    loss: Loss
    y: Ranks
    cost: Array

    def value(self, h: Array, t: Array) -> float:
        """Their sum."""

        def block(p: slice) -> float:
            g = signs(self.y[p], len(t)) * (h[p, None] - t)
            return float(self.cost[p] @ self.loss.value(g).sum(axis=1))

        return sum(in_blocks(len(h), block))

    def derivatives(self, h: Array, t: Array) -> tuple[Array, Array, Array]:
        """Their derivatives in h, the negative ones in t, and the second derivative of each term."""
        pull, E = np.empty(len(h)), np.empty((len(h), len(t)))

        def block(p: slice) -> Array:
            s = signs(self.y[p], len(t))
            g, C = s * (h[p, None] - t), self.cost[p, None]
            each = C * s * self.loss.slope(g)
            pull[p], E[p] = each.sum(axis=1), C * self.loss.curvature(g)  # type: ignore[attr-defined]
            return each.sum(axis=0)

        return pull, np.sum(in_blocks(len(h), block), axis=0), E


class LinearNewton:
    """Solver of all losses for linear models.

    Parameters
    ----------
    X : {ndarray, CSR matrix} of shape (n_samples, n_features)
        Rows; dense ones are centred.
    loss : Loss
        Any loss.
    """

    def __init__(self, X: Any, loss: Loss):
        self.X, self.loss = as_rows(X), loss

    def solve(
        self,
        y: Ranks,
        cost: Array,
        n_thresholds: int,
        *,
        warm: Solution | None = None,
        tol: float = 1e-3,
        max_iter: int = -1,
        on_chunk: Callable[[int, float], None] | None = None,
    ) -> Solution:
        """Minimise (4) over w and t with the ranks y fixed; parameters as in `SMO.solve`."""
        used = np.flatnonzero(cost > 0)
        X = self.X.take(used)
        w = np.zeros(X.n_features) if warm is None or warm.coef is None else warm.coef
        t = np.zeros(n_thresholds) if warm is None else warm.thresholds.copy()
        box = getattr(self.loss, "box", None)
        widths = [0.0] if box is None else self._widths(tol) if warm is None else [tol, *self._widths(tol)]
        limit, steps, violation = (np.inf if max_iter < 0 else max_iter), 0, np.inf
        for width in widths:
            loss = self.loss if box is None else Smoothed(box, width)
            precise = tol if box is None else DECREMENT
            terms = Terms(loss, y[used], cost[used])
            w, t, h, taken, violation = self._newton(terms, X, w, t, precise, limit - steps)
            steps += taken
            if on_chunk is not None:
                on_chunk(steps, violation)
            if steps >= limit or (width <= tol and violation <= precise):
                break  # a warm start need not go through the wider bands
        a = np.zeros(len(y))
        a[used] = -terms.derivatives(h, t)[0]
        if X is not self.X:
            h = self.X.dot(w)
        order = np.sort(t)  # sorted thresholds are never worse, see SMO._thresholds
        value = 0.5 * float(w @ w) + thresholds_and_losses(self.loss, y, cost, h, order)
        converged = bool(violation <= precise) and width <= tol
        return Solution(h, order, value, a, y, cost, coef=w, n_iter=steps, violation=violation, converged=converged)

    @staticmethod
    def _widths(tol: float) -> list[float]:
        """Widths of the band, from the widest down to the tolerance."""
        widths = [tol]
        while widths[-1] < WIDEST:
            widths.append(widths[-1] / NARROWING)
        return widths[::-1]

    def _newton(
        self, terms: "Terms", X: DenseRows | SparseRows, w: Array, t: Array, precise: float, limit: float
    ) -> tuple[Array, Array, Array, int, float]:
        """Minimise one smooth problem; w, t, h, the steps taken and the relative decrement."""
        m, loss = len(t), terms.loss

        def value(h: Array, w: Array, t: Array) -> float:
            return 0.5 * float(w @ w) + 0.5 * float(np.sum((t - t.mean()) ** 2)) + terms.value(h, t)

        h = X.dot(w)
        now, steps, damping = value(h, w, t), 0, RIDGE
        while True:
            pull, pull_t, E = terms.derivatives(h, t)
            grad_w, grad_t = w + X.transposed_dot(pull), t - t.mean() - pull_t
            active: Any = np.flatnonzero(E.any(axis=1))
            if 2 * len(active) < len(E):
                E = E[active]
            else:  # rows without curvature are then passed over one by one, and nothing is copied
                active = X.every
            cross = X.transposed_dot(E, active)
            M = cho_factor(np.eye(m) - 1.0 / m + np.diag(E.sum(axis=0) + damping * (1.0 + terms.cost.sum())))
            right = -grad_w - cross @ cho_solve(M, grad_t)
            v = X.newton_direction(active, E.sum(axis=1), cross, M, right)
            tau = cho_solve(M, cross.T @ v - grad_t)
            # Newton's decrement: twice the decrease that the quadratic model promises. Unlike the gradient's norm it does not
            # depend on the scale of the features.
            slope = float(grad_w @ v + grad_t @ tau)
            violation = float(np.sqrt(max(-slope, 0.0) / (2.0 * now))) if now > 0 else 0.0
            if violation <= precise or steps >= min(MAX_STEPS, limit):
                return w, t, h, steps, violation
            z = X.dot(v)
            if isinstance(loss, Smoothed):
                spread = tau - tau.mean()
                linear, quadratic = float(w @ v + (t - t.mean()) @ spread), float(v @ v + spread @ spread)
                s = signs(terms.y, m)
                margin, change = s * (h[:, None] - t), s * (z[:, None] - tau)
                step = _exact_step(margin, change, terms.cost, *loss.box, loss.width, linear, quadratic)
            else:
                step = self._armijo(lambda a: value(h + a * z, w + a * v, t + a * tau), now, slope)  # noqa: B023
            new = value(h + step * z, w + step * v, t + step * tau)
            if new < now:
                w, t, h, now, steps, damping = w + step * v, t + step * tau, h + step * z, new, steps + 1, RIDGE
            elif -slope <= ROUNDING * now:
                return w, t, h, steps, precise  # the decrease to be had is below rounding: this is the solution
            elif damping < 1.0:
                damping *= 1e3  # no row holds a threshold in place: keep it nearer to where it is
            else:
                return w, t, h, steps, violation

    @staticmethod
    def _armijo(value: Callable[[float], float], now: float, slope: float) -> float:
        """The longest of 1, 1/2, 1/4 ... that decreases the objective enough."""
        step = 1.0
        for _ in range(MAX_HALVINGS):
            if value(step) <= now + ARMIJO * step * slope:
                break
            step *= 0.5
        return step

    def refine(self, solution: Solution) -> Solution:
        """Already as accurate as the tolerance asks."""
        return solution


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def _slope_along(step, margin, change, C, low, high, width, linear, quadratic):
    """Derivative of the smoothed objective along a direction, at a step."""
    total = linear + step * quadratic
    for i in range(margin.shape[0]):
        row = 0.0
        for k in range(margin.shape[1]):
            u = (1.0 - margin[i, k] - step * change[i, k]) / width + 0.5
            u = min(max(u, 0.0), 1.0)
            row -= (low + (high - low) * u) * change[i, k]
        total += C[i] * row
    return total


@njit(cache=True, nogil=True)
def _exact_step(margin, change, C, low, high, width, linear, quadratic):
    """The step that minimises the smoothed objective along a direction: where its derivative changes sign."""
    left, right = 0.0, 1.0
    while right < 1e6 and _slope_along(right, margin, change, C, low, high, width, linear, quadratic) < 0.0:
        left, right = right, 2.0 * right
    for _ in range(60):
        middle = 0.5 * (left + right)
        if _slope_along(middle, margin, change, C, low, high, width, linear, quadratic) < 0.0:
            left = middle
        else:
            right = middle
        if right - left < 1e-6 * right:
            break
    return right

"""Dual coordinate descent for linear models with the hinge or Laplacian loss on sparse rows.

SMO changes two dual variables at a time because they must sum to zero. Here that condition, which comes from the free b, is
met by a proximal term (b - b0)^2 / (2 rho) whose centre b0 follows b. Then b = b0 - rho sum beta, each variable has a minimum
of its own, and a pass over the rows needs no kernel values: with w at hand, h_i = w.x_i costs the non-zeros of one row, and
all thresholds of the row share it. Rows whose variables are pressed against their bounds are left out until the others are
settled. The derivation is in docs/mathematics.md.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tordinal.losses import Loss
from tordinal.reduction import Ranks
from tordinal.solvers.rows import SparseRows
from tordinal.solvers.solution import Solution, boxes, growth, thresholds_and_losses, turned
from tordinal.threads import in_blocks

__all__ = ["CoordinateDescent"]

Array = NDArray[np.float64]
Index = NDArray[np.int32]

RHO = 1.0  # weight of the proximal term's inverse: how far b moves for a sum of beta that is not zero
TOGETHER, FULL_SHUFFLE = 32, 20_000  # rows of a group of neighbours, and up to how many rows there are no groups


class CoordinateDescent:
    """Solver of piecewise linear losses for linear models of sparse rows.

    Parameters
    ----------
    X : CSR matrix of shape (n_samples, n_features)
        Rows.
    loss : Loss
        A loss with a dual `box`.
    """

    def __init__(self, X: Any, loss: Loss):
        self.X, self.loss = SparseRows(X), loss
        self.box: tuple[float, float] = loss.box  # type: ignore[attr-defined]
        self.norms = self.X.squared_norms()

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
        """Minimise (4) over w and t with the ranks y fixed; parameters as in `SMO.solve`, steps are passes."""
        X = self.X.X
        low, high = self.box
        beta = self._start(y, cost, n_thresholds, warm)
        c = beta.sum(axis=0)
        w = self.X.transposed_dot(beta.sum(axis=1))
        # The thresholds start around where they were.
        centre = (0.0 if warm is None else float(warm.thresholds.mean())) + float(c.mean()) + RHO * float(c.sum())
        used = np.flatnonzero(cost > 0).astype(np.int32)
        rows, pressed = used, np.zeros(len(y), dtype=np.bool_)
        rng = np.random.default_rng(0)
        limit = np.inf if max_iter < 0 else max_iter
        passes, violation, bound, rho = 0, np.inf, np.inf, RHO
        while passes < limit:
            violation = _pass(
                X.data, X.indices, X.indptr, _shuffled(rows, rng), self.norms, y, cost, low, high,
                beta, w, c, centre, rho, bound, pressed,
            )  # fmt: skip
            passes += 1
            rows, bound = rows[~pressed[rows]], violation
            centre -= rho * float(c.sum())  # the proximal point moves to b
            if on_chunk is not None:
                on_chunk(passes, violation)
            if violation <= tol:
                total = sum(in_blocks(len(y), lambda p: float(np.abs(beta[p]).sum())))
                balanced = abs(c.sum()) <= tol * total
                if len(rows) < len(used):
                    violation = self._violation(y, cost, beta, w, centre - rho * c.sum() - c)
                    rows, bound = used, np.inf
                if violation <= tol and balanced:
                    break
                rho = rho if balanced else 2.0 * rho  # no variable minds where b is: it may move faster
        h = self.X.dot(w)
        t = np.sort(centre - rho * c.sum() - c)
        value = 0.5 * float(w @ w) + thresholds_and_losses(self.loss, y, cost, h, t)
        return Solution(
            h, t, value, beta.sum(axis=1), y, cost, beta, w, n_iter=passes, violation=violation,
            converged=bool(violation <= tol),
        )  # fmt: skip

    def _start(self, y: Ranks, cost: Array, m: int, warm: Solution | None) -> Array:
        """Dual variables to start from.

        A variable keeps its place in its box: it grows with the cost, and changes its sign with the row's side.
        """
        if warm is None or warm.beta is None:
            return np.zeros((len(y), m))
        return turned(warm.beta * growth(warm.cost, cost)[:, None], warm.y, y)

    def _violation(self, y: Ranks, cost: Array, beta: Array, w: Array, t: Array) -> float:
        """Largest violation over all rows."""
        h = self.X.dot(w)

        def block(p: slice) -> float:
            C = np.broadcast_to(cost[p, None], (len(h[p]), len(t)))
            lower, upper, s = boxes(self.box, y[p], C)
            G, b = h[p, None] - t - s, beta[p]
            projected = np.where(b <= lower, np.minimum(G, 0.0), np.where(b >= upper, np.maximum(G, 0.0), G))
            return float(np.abs(projected * (C > 0)).max())

        return max(in_blocks(len(y), block))

    def refine(self, solution: Solution) -> Solution:
        """Already as accurate as the tolerance asks."""
        return solution


def _shuffled(rows: Index, rng: np.random.Generator) -> Index:
    """Rows in a random order. Many of them are shuffled in groups of neighbours, so that memory is read in order."""
    if len(rows) <= FULL_SHUFFLE:
        return rng.permutation(rows)
    whole = len(rows) // TOGETHER * TOGETHER
    groups = rng.permuted(rows[:whole].reshape(-1, TOGETHER), axis=1)
    return np.concatenate([rows[whole:], groups[rng.permutation(len(groups))].ravel()])


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def _pass(data, indices, indptr, rows, norms, y, cost, low, high, beta, w, c, centre, rho, bound, pressed):
    """One pass over the rows in the given order; the largest violation met, and `pressed` rows marked."""
    m = c.shape[0]
    total = c.sum()
    largest = 0.0
    for i in rows:
        begin, end = np.uint64(indptr[i]), np.uint64(indptr[i + 1])
        h = 0.0
        for p in range(begin, end):
            h += data[p] * w[np.uint32(indices[p])]
        moved, all_pressed = 0.0, True
        curvature = norms[i] + 1.0 + rho
        for k in range(m):
            if y[i] > k:
                s, lower, upper = 1.0, low * cost[i], high * cost[i]
            else:
                s, lower, upper = -1.0, -high * cost[i], -low * cost[i]
            G = h + moved * norms[i] + c[k] - centre + rho * total - s
            b = beta[i, k]
            if b <= lower:
                violation = max(-G, 0.0)
                all_pressed = all_pressed and bound < G
            elif b >= upper:
                violation = max(G, 0.0)
                all_pressed = all_pressed and -bound > G
            else:
                violation, all_pressed = abs(G), False
            largest = max(largest, violation)
            if violation > 0.0:
                new = min(max(b - G / curvature, lower), upper)
                beta[i, k] = new
                c[k] += new - b
                total += new - b
                moved += new - b
        if moved != 0.0:
            for p in range(begin, end):
                w[np.uint32(indices[p])] += moved * data[p]
        pressed[i] = all_pressed
    return largest

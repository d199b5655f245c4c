"""Dual coordinate descent for linear models with a piecewise linear loss on many sparse rows.

SMO changes two dual variables at a time because they must sum to zero. Here that condition, which
comes from the free b, is met by a proximal term (b - b0)^2 / (2 rho) whose centre b0 follows b.
Then b = b0 - rho sum beta, each variable has a minimum of its own, and a pass over the rows needs
no kernel values: with w at hand, h_i = w.x_i costs the non-zeros of one row, and all thresholds of
the row share it. Rows whose variables are pressed against their bounds are left out until the
others are settled. The derivation is in docs/mathematics.md.
"""

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tordinal.engines.host.rows import Rows
from tordinal.problem import Problem
from tordinal.reduction import signs
from tordinal.solvers.solver import Solution, Solver, Task
from tordinal.threads import in_blocks

__all__ = ["CoordinateDescent"]

Array = NDArray[np.float64]
Index = NDArray[np.int32]

RHO = 1.0  # how far b moves for a sum of beta that is not zero, at first
PASSES, MAX_PASSES, WORK = 2000, 20_000, 1e9  # over the rows; small problems may take more
FINEST = 1e-11  # the least violation that is asked for to close the duality gap
TOGETHER, FULL_SHUFFLE = 32, 20_000  # neighbours that stay together, where there are many rows


class CoordinateDescent(Solver):
    """Solver of piecewise linear losses for linear models of sparse rows.

    `tol` bounds the largest violation of the optimality conditions of one variable, and the sum of
    all of them relative to the sum of their sizes. A step is a pass over the rows.

    Parameters
    ----------
    data : Rows
        Rows of a CSR matrix.
    problem : Problem
        A problem with a piecewise linear loss and the coupling of RED-SVM.
    """

    data: Rows

    def __init__(self, data: Rows, problem: Problem):
        super().__init__(data, problem)
        self.norms = data.squared_norms()

    @classmethod
    def handles(cls, problem: Problem, data: Any) -> bool:
        sparse = data.in_features and not data.dense
        return bool(sparse and not problem.smooth and problem.coupling.any_pair)

    def run(self, task: Task) -> Solution:
        X, y, cost, warm = self.data.matrix, task.y, task.cost, task.warm
        lines, r = self.problem.lines, self.problem.coupling.r
        beta = self._start(task)
        c = beta.sum(axis=0)
        w = self.data.transposed_dot(beta.sum(axis=1))
        # The thresholds start around where they were.
        centre = 0.0 if warm is None else float(warm.thresholds.mean())
        centre += r * float(c.mean()) + RHO * float(c.sum())
        used = np.flatnonzero(cost > 0).astype(np.int32)
        rows, pressed = used, np.zeros(len(y), dtype=np.bool_)
        rng = np.random.default_rng(0)
        limit = min(task.limit, np.clip(WORK / max(X.nnz, 1), PASSES, MAX_PASSES))
        passes, violation, bound, rho, tol = 0, np.inf, np.inf, RHO, task.tol
        while passes < limit:
            violation = _pass(
                X.data, X.indices, X.indptr, _shuffled(rows, rng), self.norms, y, cost, *lines.box,
                lines.kink, beta, w, c, r, centre, rho, bound, pressed,
            )  # fmt: skip
            passes += 1
            rows, bound = rows[~pressed[rows]], violation
            centre -= rho * float(c.sum())  # the proximal point moves to b
            task.report(passes, violation)
            if violation <= tol:
                total = sum(in_blocks(len(y), lambda p: float(np.abs(beta[p]).sum())))
                balanced = abs(c.sum()) <= task.tol * total
                if len(rows) < len(used):
                    violation = self._violation(task, beta, w, centre - rho * c.sum() - r * c)
                    rows, bound = used, np.inf
                if violation <= tol and balanced:
                    if tol <= FINEST or not self._gap_tells(task, beta, w, c, centre, rho):
                        break
                    tol *= 0.1
                # Where no variable minds where b is, it may move faster.
                rho = rho if balanced else 2.0 * rho
                violation = violation if balanced else max(violation, 1.01 * tol)
        h = self.data.dot(w)
        t = np.sort(centre - rho * c.sum() - r * c)
        value = self.problem.objective(y, cost, h, float(w @ w), t)
        return Solution(
            h, t, value, beta.sum(axis=1), y, cost, self._shares(task, beta), w, n_iter=passes,
            violation=violation, converged=bool(violation <= tol),
        )  # fmt: skip

    def _gap_tells(
        self, task: Task, beta: Array, w: Array, c: Array, centre: float, rho: float
    ) -> bool:
        """Whether the duality gap is still too large."""
        r, norm = self.problem.coupling.r, float(w @ w)
        t = np.sort(centre - rho * c.sum() - r * c)
        value = self.problem.objective(task.y, task.cost, self.data.dot(w), norm, t)
        gained = self.problem.lines.kink * float(np.vdot(signs(task.y, len(t)), beta))
        return task.tells(value - (gained - 0.5 * norm - 0.5 * r * float(c @ c)), value)

    def _start(self, task: Task) -> Array:
        """Dual variables to start from: each keeps its place in its box."""
        n, m = len(task.y), self.problem.n_thresholds
        if task.warm is None or task.warm.u is None:
            return np.zeros((n, m))
        beta = np.empty((n, m))
        u = task.warm.u

        def fill(p: slice) -> None:
            beta[p] = signs(task.y[p], m) * u[p] * task.cost[p, None]

        in_blocks(n, fill)
        return beta

    def _shares(self, task: Task, beta: Array) -> Array:
        """Dual variables in units of the cost, in place."""

        def divide(p: slice) -> None:
            beta[p] *= signs(task.y[p], beta.shape[1])
            cost = task.cost[p, None]
            np.divide(beta[p], cost, out=beta[p], where=cost > 0)

        in_blocks(len(beta), divide)
        return beta

    def _violation(self, task: Task, beta: Array, w: Array, t: Array) -> float:
        """Largest violation over all rows."""
        h, lines = self.data.dot(w), self.problem.lines

        def block(p: slice) -> float:
            s, C = signs(task.y[p], len(t)), task.cost[p, None]
            low, high = (bound * C for bound in lines.box)
            lower, upper = np.where(s > 0, low, -high), np.where(s > 0, high, -low)
            G, b = h[p, None] - t - lines.kink * s, beta[p]
            bounded = np.where(b <= lower, np.minimum(G, 0.0), G)
            bounded = np.where(b >= upper, np.maximum(bounded, 0.0), bounded)
            return float(np.abs(bounded * (C > 0)).max())

        return max(in_blocks(len(task.y), block))


def _shuffled(rows: Index, rng: np.random.Generator) -> Index:
    """Rows in a random order; many in groups of neighbours, so that memory is read in order."""
    if len(rows) <= FULL_SHUFFLE:
        return rng.permutation(rows)
    whole = len(rows) // TOGETHER * TOGETHER
    groups = rng.permuted(rows[:whole].reshape(-1, TOGETHER), axis=1)
    return np.concatenate([rows[whole:], groups[rng.permutation(len(groups))].ravel()])


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def _pass(
    data, indices, indptr, rows, norms, y, cost, low, high, kink, beta, w, c, r, centre, rho, bound,
    pressed,
):  # fmt: skip
    """One pass over the rows in the given order; the largest violation. Marks `pressed` rows."""
    m = c.shape[0]
    total = c.sum()
    largest = 0.0
    for i in rows:
        begin, end = np.uint64(indptr[i]), np.uint64(indptr[i + 1])
        h = 0.0
        for p in range(begin, end):
            h += data[p] * w[np.uint32(indices[p])]
        moved, all_pressed = 0.0, True
        curvature = norms[i] + r + rho
        for k in range(m):
            if y[i] > k:
                target, lower, upper = kink, low * cost[i], high * cost[i]
            else:
                target, lower, upper = -kink, -high * cost[i], -low * cost[i]
            G = h + moved * norms[i] + r * c[k] - centre + rho * total - target
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

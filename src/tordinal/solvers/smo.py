"""Sequential minimal optimisation of the dual (11), over N-vectors.

One variable beta_ik = alpha_ik s_ik belongs to each row i and threshold k. With a_i = sum_k beta_ik, h = K a and
c_k = sum_i beta_ik the problem is

    min  1/2 a'Ka + 1/2 r |c|^2 - sum_ik s_ik beta_ik     with  beta_ik in its box

and the gradient is h_i + r c_k - s_ik: one vector h carries all thresholds, so a step reads two kernel rows whatever
K is. The partial sums P_k = c_1 + ... + c_k say how the thresholds are coupled:

==============  =====  =========================================================
coupling        r      constraint
==============  =====  =========================================================
RED-SVM, TOR    1      P_{K-1} = 0 (b is free, theta is regularised)
SVOR-IMC        0      P_k = 0 for every k
SVOR-EXC        0      P_{K-1} = 0 and P_k <= 0: -P_k is the multiplier of t_k <= t_{k+1}
==============  =====  =========================================================

A step raises one variable (i, k) and lowers another (j, l) by as much. Which pairs (k, l) are allowed is all that
differs between the couplings. Each row has one candidate to raise and one to lower at a time: the threshold where
its gradient is smallest or largest. Their offsets from h are two more N-vectors, so choosing a pair and updating
the gradient are two passes over contiguous arrays. ``docs/mathematics.md`` has the derivation.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tordinal.kernels import Gram
from tordinal.losses import Loss
from tordinal.reduction import Ranks
from tordinal.solvers.smo_steps import Prospects, box_losses, candidates, prospects, take_steps
from tordinal.solvers.solution import Solution, beside, boxes, growth, turned
from tordinal.solvers.working_set import WorkingSet

Array = NDArray[np.float64]

REFINE_ROWS, REFINE_STEPS, REFINED = 1024, 20_000, 1e-10  # small problems are brought to rounding accuracy at the end
FREE_LIMIT, FREE_ROUNDS, FREE_RIDGE, FREE_CHUNK = (
    400,
    50,
    1e-15,
    20,
)  # direct steps on at most so many free variables at a time
LARGE, FEWEST, NEAR = 4096, 512, 0.3  # rows from which a working set pays; half its size; violation from which on
CHUNK_WORK = 20_000_000  # kernel values read between two looks at the outside world, about 10 ms


class SMO:
    """Solver of the piecewise linear losses, for one Gram matrix.

    Parameters
    ----------
    gram : Gram
        Kernel rows of the training set.
    loss : Loss
        A loss with a dual `box`.
    coupling : {"reduction", "implicit", "explicit"}
        RED-SVM and TOR, SVOR-IMC or SVOR-EXC.
    """

    def __init__(self, gram: Gram, loss: Loss, coupling: str = "reduction"):
        self.gram, self.loss, self.coupling = gram, loss, coupling
        self.box: tuple[float, float] = loss.box  # type: ignore[attr-defined]
        self.regularised = coupling == "reduction"
        # The other couplings turn from one pair of thresholds to the next, each with rows of its own.
        self._work = WorkingSet(gram) if self.regularised and gram.full and len(gram) >= LARGE else None
        self._last: Any = None  # ranks, costs and bounds of the last training

    # What is solved -------------------------------------------------------------------------------------------

    def bounds(self, y: Ranks, cost: Array, m: int) -> tuple[Array, Array, Array]:
        """The box of every variable, [0, C] or [-C, 0] by its sign for the hinge, zero outside T(i); and the signs."""
        C = np.repeat(cost[:, None], m, axis=1)
        if self.coupling == "explicit":
            C *= beside(y, m)
        return boxes(self.box, y, C)

    def _bounds(self, y: Ranks, cost: Array, m: int) -> tuple[Array, Array, Array]:
        """The same; where only a few ranks are others than last time, only their rows are made anew."""
        last = self._last
        if last is None or last[1] is not cost or last[2].shape[1] != m:
            self._last = (y.copy(), cost, *self.bounds(y, cost, m))
        else:
            changed = np.flatnonzero(y != last[0])
            last[0][changed] = y[changed]
            for whole, part in zip(last[2:], self.bounds(y[changed], cost[changed], m), strict=True):
                whole[changed] = part
        assert self._last is not None
        return self._last[2:]

    # How it is solved -----------------------------------------------------------------------------------------

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
        """Minimise (4) over w and t with the ranks y fixed.

        Parameters
        ----------
        y : ndarray of shape (n_samples,)
            Ranks; where the cost is 0 they do not matter.
        cost : ndarray of shape (n_samples,)
            C_i of each row.
        n_thresholds : int
            K - 1.
        warm : Solution, optional
            Where to start; its ranks and costs may have been others.
        tol : float
            Largest violation of the optimality conditions that is left.
        max_iter : int
            Steps at most; -1 for no limit.
        on_chunk : callable, optional
            Called with the steps so far and the violation, several times a second.
        """
        lower, upper, s = self._bounds(y, cost, n_thresholds)
        at = State(*self._start(y, cost, lower, upper, s, warm), lower, upper, s)
        r, limit = float(self.regularised), (np.inf if max_iter < 0 else max_iter)
        steps, since_direct, chunk, violation, stalled = 0, 0, at.longest_chunk, np.inf, False
        near = warm is not None  # to the optimum, where few rows move
        if warm is not None and warm.cost is cost and self._work is not None:
            # A few labels were swapped: what moved in the last training moves now.
            steps, _ = self._run_part(at, -1, -1, tol, chunk, limit)
        while True:
            view = prospects(at.h, r * at.c, s, at.beta, lower, upper)
            raised, lowered, violation = self._worst_pair(at.c, view.least, view.most)
            if violation <= tol or steps >= limit or stalled:
                break
            # A coupling with several pairs of thresholds turns to the next one when this one is no longer the worst.
            goal = tol if self.coupling == "reduction" else max(tol, 0.5 * violation)
            if near and self._find_part(view):
                taken, worth = self._run_part(at, raised, lowered, goal, chunk, limit - steps)
                since_direct += worth
            else:
                taken, missing = self._run(at, self.gram, raised, lowered, goal, int(min(chunk, limit - steps)))
                since_direct += taken
                if missing >= 0:
                    self.gram.fetch(missing)
                    steps += taken
                    continue
            steps += taken
            # The compiled loop adds up gradients in another order. Where the violation is the tolerance to the last bit it
            # may find nothing to do, and nothing will change.
            stalled = taken == 0
            near = near or violation < NEAR
            if since_direct >= chunk:
                since_direct = 0
                work = self._free_steps(at)
                # As much work in steps of SMO until the next direct solution as that one took.
                chunk = max(FREE_CHUNK, int(work / (10 * len(at.h)))) if work else at.longest_chunk
            if on_chunk is not None:
                on_chunk(steps, violation)
        t = self._thresholds(at.c, view.least, view.most)
        spread = 0.5 * float(np.sum((t - t.mean()) ** 2)) if self.regularised else 0.0
        value = 0.5 * float(at.a @ at.h) + spread + box_losses(at.h, t, lower, upper, s)
        converged = bool(violation <= tol or (stalled and violation <= 1.001 * tol))
        return Solution(
            at.h, t, value, at.a, y, cost, at.beta, n_iter=steps, violation=max(violation, 0.0), converged=converged
        )

    def _run(
        self, at: "State", kernel: "Gram | WorkingSet", raised: int, lowered: int, goal: float, allowed: int
    ) -> tuple[int, int]:
        """Take steps on some rows, in place; how many, and the kernel row that is missing, if any."""
        r, n = float(self.regularised), len(at.h)
        offsets, choices = np.empty((2, n)), np.empty((2, n), dtype=np.int16)
        candidates(at.h, r * at.c, at.s, at.beta, at.lower, at.upper, raised, lowered, offsets, choices)
        clock = int(kernel.last_used.max(initial=0))
        return take_steps(
            kernel.rows, kernel.slot, kernel.last_used, kernel.diagonal, at.h, at.a, at.beta, at.lower, at.upper, at.s,
            at.c, r, raised, lowered, offsets, choices, self._room(at.c, raised, lowered), goal, allowed, clock,
        )  # fmt: skip

    def _find_part(self, view: Prospects) -> bool:
        """Bring the rows that are most likely to move into the working set; False if they are too many to be worth it."""
        half = max(FEWEST, view.free)
        if self._work is None or 2 * half > self._work.capacity:
            return False
        self._work.take(np.union1d(np.argpartition(view.up, half)[:half], np.argpartition(-view.low, half)[:half]))
        return True

    def _run_part(
        self, at: "State", raised: int, lowered: int, goal: float, chunk: int, limit: float
    ) -> tuple[int, int]:
        """Take steps on the working set, and bring all rows up to date with what has changed.

        It takes as many as are as much work as `chunk` steps on all rows, but not more than `limit`; how many, and how many
        steps on all rows they are worth.
        """
        assert self._work is not None
        index = self._work.index
        if len(index) == 0:
            return 0, 0
        part, share = at.part(index), max(1, len(at.h) // len(index))
        taken, _ = self._run(part, self._work, raised, lowered, goal, int(min(chunk * share, limit)))
        change = part.a - at.a[index]
        moved = np.flatnonzero(change)
        at.beta[index], at.a[index] = part.beta, part.a
        at.h += self.gram.combine(index[moved], change[moved])
        return taken, taken // share

    def refine(self, solution: Solution) -> Solution:
        """Bring a solution of a small problem to rounding accuracy, as far as a bounded effort does."""
        if len(solution.y) > REFINE_ROWS:
            return solution
        finer = self.solve(
            solution.y, solution.cost, len(solution.thresholds), warm=solution, tol=REFINED, max_iter=REFINE_STEPS
        )
        best = finer if finer.objective <= solution.objective else solution
        return replace(best, n_iter=solution.n_iter, converged=solution.converged)

    def _free_steps(self, at: "State") -> float:
        """Newton's steps on the free variables alone, in place; the work they took, in multiplications.

        Where few variables are free their optimality conditions are a small linear system. SMO, two variables at a time,
        zigzags through it: with a linear kernel and a large C for millions of steps. Each step ends at the optimum of
        the free variables or at the first bound, whose variable is then no longer free.
        """
        h, beta, lower, upper, s = at.h, at.beta, at.lower, at.upper, at.s
        i, k = np.nonzero((beta > lower) & (beta < upper))
        if not 0 < len(i) <= FREE_LIMIT:
            return 0.0
        r, c = float(self.regularised), beta.sum(axis=0)
        rows, row = np.unique(i, return_inverse=True)
        Q = np.array([self.gram.row(int(q))[i] for q in rows])[row] + r * (k[:, None] == k)
        gradient = h[i] + r * c[k] - s[i, k]
        group = np.zeros_like(k) if self.coupling == "reduction" else k  # keeps the multipliers of SVOR-EXC as they are
        low, high, value = lower[i, k], upper[i, k], beta[i, k]
        ridge = FREE_RIDGE * max(1.0, float(np.abs(Q).max()))
        free, work = np.ones(len(i), dtype=bool), float(len(i) * len(h))
        for _ in range(min(len(i), FREE_ROUNDS)):
            work += float(free.sum()) ** 3
            A = (group[free] == np.unique(group[free])[:, None]).astype(np.float64)
            system = np.block(
                [[Q[np.ix_(free, free)] + ridge * np.eye(free.sum()), A.T], [A, np.zeros((len(A), len(A)))]]
            )
            right = np.concatenate([-gradient[free], np.zeros(len(A))])
            try:
                step = np.linalg.solve(system, right)[: free.sum()]
            except np.linalg.LinAlgError:
                break
            if not float(gradient[free] @ step) < 0:
                break
            room = np.where(step > 0, high[free] - value[free], value[free] - low[free])
            reach = room / np.maximum(np.abs(step), 1e-300)
            cut = min(1.0, float(reach.min()))
            value[free] = np.clip(value[free] + cut * step, low[free], high[free])
            gradient += cut * (Q[:, free] @ step)
            if cut == 1.0:
                break
            stopped = np.flatnonzero(free)[reach <= cut]
            value[stopped] = np.where(step[reach <= cut] > 0, high[stopped], low[stopped])
            free[stopped] = False
            if not free.any():
                break
        change = np.bincount(row, value - beta[i, k], minlength=len(rows))
        beta[i, k] = value
        at.a[rows] = beta[rows].sum(axis=1)
        at.c[:] = beta.sum(axis=0)
        at.h += self.gram.combine(rows, np.asarray(change, dtype=np.float64))
        return work

    def _groups(self, c: Array) -> NDArray[np.int64]:
        """Which thresholds share one equality constraint: all, none, or runs tied by a positive multiplier."""
        if self.coupling == "reduction":
            return np.zeros(len(c), dtype=np.int64)
        if self.coupling == "implicit":
            return np.arange(len(c))
        return np.concatenate([[0], np.cumsum(np.cumsum(c)[:-1] >= 0)]).astype(np.int64)

    def _worst_pair(self, c: Array, least: Array, most: Array) -> tuple[int, int, float]:
        """Thresholds (raised, lowered) of the worst allowed violation; -1 stands for all of them at once."""
        if self.coupling == "reduction":
            return -1, -1, float(most.max() - least.min())
        m = len(c)
        gap = most[None, :] - least[:, None]  # raise at k, lower at l
        allowed = np.eye(m, dtype=bool)
        if self.coupling == "explicit":
            # Raising at k > l makes the multipliers between them grow; at k < l it takes them back, if they are positive.
            multipliers = -np.cumsum(c)[:-1]
            for k in range(m):
                for q in range(m):
                    allowed[k, q] = k >= q or bool(np.all(multipliers[k:q] > 0))
        gap = np.where(allowed, gap, -np.inf)
        worst = int(np.argmax(gap))
        return worst // m, worst % m, float(gap.flat[worst])

    @staticmethod
    def _room(c: Array, raised: int, lowered: int) -> float:
        """How far the pair may move before a multiplier of t_k <= t_{k+1} becomes zero."""
        if raised >= lowered:
            return np.inf
        return float(np.min(-np.cumsum(c)[raised:lowered]))

    def _thresholds(self, c: Array, least: Array, most: Array) -> Array:
        """Thresholds from the optimality conditions: h_i + r c_k - s_ik is at most t (raise) or at least t (lower).

        Sorting them never raises the objective: rows on the same side of both thresholds do not care, and the others
        prefer the lower one first.
        """
        if self.coupling == "reduction":
            return np.sort(_middle(most.max(), least.min()) - c)
        if self.coupling == "explicit":
            tied = self._groups(c)
            for run in np.unique(tied):
                most[tied == run] = most[tied == run].max()
                least[tied == run] = least[tied == run].min()
            most, least = np.maximum.accumulate(most), np.minimum.accumulate(least[::-1])[::-1]
        return np.sort([_middle(low, high) for low, high in zip(most, least, strict=True)])

    def _start(
        self, y: Ranks, cost: Array, lower: Array, upper: Array, s: Array, warm: Solution | None
    ) -> tuple[Array, Array, Array]:
        """A feasible start: zeros, or the warm solution carried over to new ranks and costs.

        A variable is scaled with its cost and, where its sign flipped, negated: two swapped rows sat at opposite bounds, so
        the sum stays 0. One whose cost was zero takes the bound that is optimal at the warm (h, t). What then violates the
        constraint is mended by `_balance`.
        """
        n, m = lower.shape
        if warm is None:
            return np.zeros((n, m)), np.zeros(n), np.zeros(n)
        assert warm.beta is not None
        if warm.cost is cost:
            swapped = np.flatnonzero(y != warm.y)
            beta = warm.beta.copy()
            beta[swapped] = np.clip(turned(beta[swapped], warm.y[swapped], y[swapped]), lower[swapped], upper[swapped])
            if (
                self.coupling == "reduction"
                and abs(beta[swapped].sum() - warm.beta[swapped].sum()) <= 1e-12 * cost.max()
            ):
                a = warm.coefficients.copy()
                a[swapped] = beta[swapped].sum(axis=1)
                return beta, a, warm.h + self.gram.combine(swapped, a[swapped] - warm.coefficients[swapped])
        scale = growth(warm.cost, cost)
        beta = np.clip(turned(warm.beta * scale[:, None], warm.y, y), lower, upper)
        margin = s * (warm.h[:, None] - warm.thresholds)
        fresh = np.flatnonzero((warm.cost == 0) & (cost > 0))
        violated = self.loss.slope(margin[fresh]) * s[fresh] < 0
        beta[fresh] = np.where(violated, upper[fresh], lower[fresh])
        if self.coupling == "reduction":
            _balance(beta.reshape(-1), margin.reshape(-1))
        else:
            for column in range(m):
                beta[:, column] = _balance(beta[:, column].copy(), margin[:, column])
        a = beta.sum(axis=1)
        # Most rows keep their share of h or scale it alike (when C2 doubles); only the others cost a kernel row each.
        common = _most_common(scale[warm.coefficients != 0])
        change = a - common * warm.coefficients
        index = np.flatnonzero(change)
        h = common * warm.h + self.gram.combine(index, change[index])
        if np.array_equal(y, warm.y) and (cost >= warm.cost).all():
            # Where no variable is at its bound any more, larger boxes change nothing: the warm solution itself is better.
            kept = (warm.beta, warm.coefficients, warm.h)
            if self._dual(*kept, s) <= self._dual(beta, a, h, s):
                return warm.beta.copy(), warm.coefficients.copy(), warm.h.copy()
        return beta, a, h

    def _dual(self, beta: Array, a: Array, h: Array, s: Array) -> float:
        """The objective of the dual."""
        c = beta.sum(axis=0)
        return 0.5 * float(a @ h) + 0.5 * self.regularised * float(c @ c) - float(np.sum(s * beta))


@dataclass
class State:
    """Where SMO stands on some rows: dual variables, their sums over thresholds, projections; and the boxes."""

    beta: Array
    a: Array
    h: Array
    lower: Array
    upper: Array
    s: Array
    c: Array = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        if self.c is None:
            self.c = self.beta.sum(axis=0)

    @property
    def longest_chunk(self) -> int:
        """Steps between two looks at the outside world."""
        return int(np.clip(CHUNK_WORK // len(self.h), 50, 2_000 + 10 * len(self.h)))

    def part(self, index: NDArray[np.int64]) -> "State":
        """A copy of some rows; c, which is the sum over all of them, is shared."""
        return State(
            self.beta[index], self.a[index], self.h[index], self.lower[index], self.upper[index], self.s[index], self.c
        )


def _balance(beta: Array, margin: Array) -> Array:
    """Restore sum(beta) = 0 in place by zeroing the fewest variables of the heavier side, least loss first."""
    excess = beta.sum()
    heavier = np.flatnonzero(beta * np.sign(excess) > 0)
    heavier = heavier[np.argsort(-margin[heavier], kind="stable")]
    covered = np.cumsum(np.abs(beta[heavier]))
    zeroed = int(np.searchsorted(covered, abs(excess)))
    if zeroed < len(heavier):
        left = covered[zeroed] - abs(excess)  # the last one gives only what is needed
        beta[heavier[zeroed]] = np.sign(excess) * left
    beta[heavier[:zeroed]] = 0.0
    return beta


def _most_common(values: Array) -> float:
    found, counts = np.unique(values, return_counts=True)
    return float(found[np.argmax(counts)]) if len(found) else 1.0


def _middle(low: float, high: float) -> float:
    """The middle of an interval, or its finite end."""
    if np.isfinite(low) and np.isfinite(high):
        return 0.5 * (float(low) + float(high))
    return float(low) if np.isfinite(low) else float(high) if np.isfinite(high) else 0.0

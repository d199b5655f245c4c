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
from dataclasses import replace

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tordinal.kernels import Gram
from tordinal.losses import Loss
from tordinal.reduction import Ranks, signs
from tordinal.solvers.solution import Solution, beside, objective

Array = NDArray[np.float64]

LANES = 256  # rows that are compared with the running extremes at a time: a few vectors, all in the first cache
FAST = {"nnan", "nsz", "contract", "reassoc"}  # infinities occur, NaN does not
TAU = 1e-12  # least curvature of a pair, for kernels that are not positive definite
REFINE_ROWS, REFINE_STEPS, REFINED = 1024, 20_000, 1e-10  # small problems are brought to rounding accuracy at the end
FREE_LIMIT, FREE_ROUNDS, FREE_RIDGE, FREE_CHUNK = (
    400,
    50,
    1e-15,
    20,
)  # direct steps on at most so many free variables at a time
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

    # What is solved -------------------------------------------------------------------------------------------

    def bounds(self, y: Ranks, cost: Array, m: int) -> tuple[Array, Array]:
        """The box of every variable: [0, C] or [-C, 0] by its sign for the hinge, zero outside T(i)."""
        s = signs(y, m)
        C = np.repeat(cost[:, None], m, axis=1)
        if self.coupling == "explicit":
            C *= beside(y, m)
        low, high = self.box[0] * C, self.box[1] * C
        return np.where(s > 0, low, -high), np.where(s > 0, high, -low)

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
        lower, upper = self.bounds(y, cost, n_thresholds)
        s = signs(y, n_thresholds)
        beta, a, h = self._start(y, cost, lower, upper, warm)
        gram, r = self.gram, float(self.regularised)
        c = beta.sum(axis=0)
        chunk = longest = int(np.clip(CHUNK_WORK // len(h), 50, 2_000 + 10 * len(h)))
        limit = np.inf if max_iter < 0 else max_iter
        offsets = np.empty((2, len(h)))
        choices = np.empty((2, len(h)), dtype=np.int16)
        clock = int(gram.last_used.max())
        steps, since_direct, violation, stalled = 0, 0, np.inf, False
        while True:
            least, most = _extremes(h, r * c, s, beta, lower, upper)
            raised, lowered, violation = self._worst_pair(c, least, most)
            if violation <= tol or steps >= limit or stalled:
                break
            # A coupling with several pairs of thresholds turns to the next one when this one is no longer the worst.
            goal = tol if self.coupling == "reduction" else max(tol, 0.5 * violation)
            room = self._room(c, raised, lowered)
            _candidates(h, r * c, s, beta, lower, upper, raised, lowered, offsets, choices)
            allowed = int(min(chunk, longest, limit - steps))
            taken, missing = _steps(
                gram.rows, gram.slot, gram.last_used, gram.diagonal, h, a, beta, lower, upper, s, c, r,
                raised, lowered, offsets, choices, room, goal, allowed, clock,
            )  # fmt: skip
            steps += taken
            clock += 2 * taken + 2
            if missing >= 0:
                gram.fetch(missing)
                continue
            # The compiled loop adds up gradients in another order. Where the violation is the tolerance to the last bit it
            # may find nothing to do, and nothing will change.
            stalled = taken == 0
            since_direct += taken
            if since_direct >= chunk:
                since_direct = 0
                work = self._free_steps(h, a, beta, lower, upper, s)
                c = beta.sum(axis=0)
                # As much work in steps of SMO until the next direct solution as that one took.
                chunk = max(FREE_CHUNK, int(work / (10 * len(h)))) if work else longest
            if on_chunk is not None:
                on_chunk(steps, violation)
        t = self._thresholds(c, least, most)
        value = objective(self.loss, y, cost, h, a, t, self.coupling)
        converged = bool(violation <= tol or (stalled and violation <= 1.001 * tol))
        return Solution(h, t, value, a, y, cost, beta, n_iter=steps, violation=max(violation, 0.0), converged=converged)

    def refine(self, solution: Solution) -> Solution:
        """Bring a solution of a small problem to rounding accuracy, as far as a bounded effort does."""
        if len(solution.y) > REFINE_ROWS:
            return solution
        finer = self.solve(
            solution.y, solution.cost, len(solution.thresholds), warm=solution, tol=REFINED, max_iter=REFINE_STEPS
        )
        best = finer if finer.objective <= solution.objective else solution
        return replace(best, n_iter=solution.n_iter, converged=solution.converged)

    def _free_steps(self, h: Array, a: Array, beta: Array, lower: Array, upper: Array, s: Array) -> float:
        """Newton's steps on the free variables alone, in place; the work they took, in multiplications.

        Where few variables are free their optimality conditions are a small linear system. SMO, two variables at a time,
        zigzags through it: with a linear kernel and a large C for millions of steps. Each step ends at the optimum of
        the free variables or at the first bound, whose variable is then no longer free.
        """
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
        a[rows] = beta[rows].sum(axis=1)
        h += self.gram.combine(rows, np.asarray(change, dtype=np.float64))
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
        self, y: Ranks, cost: Array, lower: Array, upper: Array, warm: Solution | None
    ) -> tuple[Array, Array, Array]:
        """A feasible start: zeros, or the warm solution carried over to new ranks and costs.

        A variable is scaled with its cost and, where its sign flipped, negated: two swapped rows sat at opposite bounds, so
        the sum stays 0. One whose cost was zero takes the bound that is optimal at the warm (h, t). What then violates the
        constraint is mended by `_balance`.
        """
        n, m = lower.shape
        if warm is None:
            return np.zeros((n, m)), np.zeros(n), np.zeros(n)
        scale = np.divide(cost, warm.cost, out=np.zeros(n), where=warm.cost > 0)
        s = signs(y, m)
        kept = np.where(s == signs(warm.y, m), scale[:, None], -scale[:, None])
        beta = np.clip(warm.beta * kept, lower, upper)
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
        return beta, a, common * warm.h + self.gram.combine(index, change[index])


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


@njit(cache=True, nogil=True)
def _extremes(h, rc, s, beta, lower, upper):
    """Per threshold: the least gradient among variables to raise, the largest among those to lower."""
    m = rc.shape[0]
    least, most = np.full(m, np.inf), np.full(m, -np.inf)
    for i in range(h.shape[0]):
        for k in range(m):
            g = h[i] + rc[k] - s[i, k]
            if beta[i, k] < upper[i, k] and g < least[k]:
                least[k] = g
            if beta[i, k] > lower[i, k] and g > most[k]:
                most[k] = g
    return least, most


@njit(cache=True, nogil=True, inline="always")
def _candidate(i, rc, s, beta, lower, upper, raised, lowered, offsets, choices):
    """The variables of row i to raise and to lower, and their gradient less h_i."""
    offsets[0, i], offsets[1, i] = np.inf, -np.inf
    choices[0, i], choices[1, i] = -1, -1
    for k in range(rc.shape[0]):
        offset = rc[k] - s[i, k]
        if (raised < 0 or raised == k) and beta[i, k] < upper[i, k] and offset < offsets[0, i]:
            offsets[0, i], choices[0, i] = offset, k
        if (lowered < 0 or lowered == k) and beta[i, k] > lower[i, k] and offset > offsets[1, i]:
            offsets[1, i], choices[1, i] = offset, k


@njit(cache=True, nogil=True)
def _candidates(h, rc, s, beta, lower, upper, raised, lowered, offsets, choices):
    for i in range(h.shape[0]):
        _candidate(i, rc, s, beta, lower, upper, raised, lowered, offsets, choices)


# The passes below keep a running extreme per lane instead of one for all rows: a comparison of two short vectors
# is something the compiler turns into SIMD code, a search for one extreme and its place is not.


@njit(cache=True, nogil=True, fastmath=FAST)
def _partner(h, low, at_low, k, g_up, row, diagonal, diagonal_i, r, best, place):
    """Second-order choice: the row whose lowering, paired with raising (i, k), decreases the objective most.

    The decrease is b^2 / (2 q), with b the difference of the gradients and q the curvature along the pair. Single
    precision is plenty to compare by.
    """
    zero, two, tau, apart = np.float32(0.0), np.float32(2.0), np.float32(TAU), np.float32(2.0 * r)
    d_i = np.float32(diagonal_i)
    best[:] = -1.0
    for start in range(0, h.shape[0], LANES):
        stop = start + LANES
        h_, low_, at_, row_, d_ = (
            h[start:stop],
            low[start:stop],
            at_low[start:stop],
            row[start:stop],
            diagonal[start:stop],
        )
        for p in range(h_.shape[0]):
            b = np.float32(h_[p] + low_[p] - g_up)
            b = b if b > zero else zero
            q = d_i + np.float32(d_[p]) - two * np.float32(row_[p]) + (zero if at_[p] == k else apart)
            q = q if q > tau else tau
            gain = b * b / q
            better = gain > best[p]
            best[p] = gain if better else best[p]
            place[p] = start if better else place[p]
    lane = np.argmax(best)
    return place[lane] + lane


@njit(cache=True, nogil=True, fastmath=FAST)
def _move(h, offsets, choices, row_i, row_j, da, k, l, dc, least, most, place):
    """Update the gradient after a step and find its extremes: the row to raise, and the largest to lower."""
    least[:] = np.inf
    most[:] = -np.inf
    for start in range(0, h.shape[0], LANES):
        stop = start + LANES
        h_, up, low = h[start:stop], offsets[0, start:stop], offsets[1, start:stop]
        i_, j_ = row_i[start:stop], row_j[start:stop]
        if da != 0.0:  # rows that are not held yet may hold anything
            for p in range(h_.shape[0]):
                h_[p] += da * (i_[p] - j_[p])
        if dc != 0.0:
            at_up, at_low = choices[0, start:stop], choices[1, start:stop]
            for p in range(h_.shape[0]):
                up[p] += dc if at_up[p] == k else (-dc if at_up[p] == l else 0.0)
            for p in range(h_.shape[0]):
                low[p] += dc if at_low[p] == k else (-dc if at_low[p] == l else 0.0)
        for p in range(h_.shape[0]):
            g = h_[p] + up[p]
            better = g < least[p]
            least[p] = g if better else least[p]
            place[p] = start if better else place[p]
        for p in range(h_.shape[0]):
            g = h_[p] + low[p]
            most[p] = g if g > most[p] else most[p]
    lane = np.argmin(least)
    return place[lane] + lane, most.max()


@njit(cache=True, nogil=True)
def _steps(rows, slot, last_used, diagonal, h, a, beta, lower, upper, s, c, r,
           raised, lowered, offsets, choices, room, tol, max_steps, clock):  # fmt: skip
    """Take steps until the candidates agree to within tol. Returns the steps taken and a kernel row that is missing."""
    up, low = offsets[0], offsets[1]
    least, most, best = np.empty(LANES), np.empty(LANES), np.empty(LANES, dtype=np.float32)
    place = np.zeros(LANES, dtype=np.int32)
    i, g_low = _move(h, offsets, choices, rows[0], rows[0], 0.0, 0, 0, 0.0, least, most, place)
    steps = 0
    while steps < max_steps and g_low - (h[i] + up[i]) > tol:
        if slot[i] < 0:
            return steps, i
        last_used[i] = clock + 2 * steps + 2
        row_i, k, g_up = rows[slot[i]], choices[0, i], h[i] + up[i]
        j = _partner(h, low, choices[1], k, g_up, row_i, diagonal, diagonal[i], r, best, place)
        if slot[j] < 0:
            return steps, j
        last_used[j] = clock + 2 * steps + 1
        row_j, l = rows[slot[j]], choices[1, j]
        q = diagonal[i] + diagonal[j] - 2.0 * row_i[j] + (0.0 if k == l else 2.0 * r)
        to_upper, to_lower = upper[i, k] - beta[i, k], beta[j, l] - lower[j, l]
        step = min((h[j] + low[j] - g_up) / max(q, TAU), to_upper, to_lower, room)
        beta[i, k] = upper[i, k] if step == to_upper else beta[i, k] + step
        beta[j, l] = lower[j, l] if step == to_lower else beta[j, l] - step
        a[i] += step
        a[j] -= step
        c[k] += step
        c[l] -= step
        # Both rows choose their candidates anew. `_move` adds the change of c to all offsets, so it is taken off first.
        dc = 0.0 if k == l else r * step
        for p in (i, j):
            _candidate(p, r * c, s, beta, lower, upper, raised, lowered, offsets, choices)
            up[p] -= dc if choices[0, p] == k else (-dc if choices[0, p] == l else 0.0)
            low[p] -= dc if choices[1, p] == k else (-dc if choices[1, p] == l else 0.0)
            if i == j:
                break
        da = 0.0 if i == j else step
        i, g_low = _move(h, offsets, choices, row_i, row_j, da, k, l, dc, least, most, place)
        steps += 1
        if raised < lowered:
            room -= step
            if room <= 0.0:
                break
    return steps, -1

"""The compiled loops of SMO: passes over N-vectors that choose a pair of variables and move it."""

from typing import Any, NamedTuple

import numpy as np
from numba import njit

__all__ = [
    "CandidateGradients",
    "boxes",
    "candidate_gradients",
    "shares",
    "take_rounds",
    "take_steps",
]

LANES = 256  # rows that are compared with the running extremes at a time: all in the first cache
FAST = {"nnan", "nsz", "contract", "reassoc"}  # infinities occur, NaN does not
APART = 1e30  # largest curvature that is compared, so that single precision holds it
TAU = 1e-12  # least curvature of a pair, for kernels that are not positive definite


class CandidateGradients(NamedTuple):
    """Gradients of variables that can move: the least to raise and the largest to lower.

    Attributes
    ----------
    up, low : ndarray of shape (n_rows,)
        By row.
    least, most : ndarray of shape (n_thresholds,)
        By threshold.
    """

    up: Any
    low: Any
    least: Any
    most: Any


def candidate_gradients(*variables: Any) -> CandidateGradients:
    """Gradients of all variables that can move; by row, only at `raised` and `lowered` if not -1.

    Compiled code must not make the named tuple: that runs Python code, and an interrupt in it
    crashes the process.
    """
    return CandidateGradients(*_candidate_gradients(*variables))


@njit(cache=True, nogil=True)
def _candidate_gradients(
    h, rc, y, cost, beta, first, last, low_bound, high_bound, kink, raised, lowered
):
    n, m = h.shape[0], rc.shape[0]
    up, low = np.full(n, np.inf), np.full(n, -np.inf)
    least, most = np.full(m, np.inf), np.full(m, -np.inf)
    for i in range(n):
        if cost[i] == 0.0:
            continue
        to_low, to_high = low_bound * cost[i], high_bound * cost[i]
        best_up, best_low = np.inf, -np.inf
        for k in range(first[y[i]], last[y[i]]):
            # Selections instead of branches, which the processor could not predict.
            above = y[i] > k
            g = h[i] + rc[k] - (kink if above else -kink)
            g_up = g if beta[i, k] < (to_high if above else -to_low) else np.inf
            g_low = g if beta[i, k] > (to_low if above else -to_high) else -np.inf
            least[k] = min(least[k], g_up)
            most[k] = max(most[k], g_low)
            best_up = min(best_up, g_up if raised < 0 or raised == k else np.inf)
            best_low = max(best_low, g_low if lowered < 0 or lowered == k else -np.inf)
        up[i], low[i] = best_up, best_low
    return up, low, least, most


@njit(cache=True, nogil=True)
def boxes(y, cost, m, first, last, low_bound, high_bound, kink):
    """Bounds of the variables of some rows, and the margins that the loss asks for, signed."""
    n = y.shape[0]
    lower, upper, target = np.zeros((n, m)), np.zeros((n, m)), np.empty((n, m))
    for i in range(n):
        for k in range(m):
            above = y[i] > k
            target[i, k] = kink if above else -kink
            if first[y[i]] <= k < last[y[i]]:
                lower[i, k] = (low_bound if above else -high_bound) * cost[i]
                upper[i, k] = (high_bound if above else -low_bound) * cost[i]
    return lower, upper, target


@njit(cache=True, nogil=True)
def shares(y, cost, beta):
    """The weight a_i of each row, and its variables in units of its cost, alpha_ik / C_i."""
    n, m = beta.shape
    a, u = np.empty(n), np.zeros((n, m))
    for i in range(n):
        total, C = 0.0, cost[i]
        for k in range(m):
            total += beta[i, k]
            if C > 0.0:
                u[i, k] = (beta[i, k] if y[i] > k else -beta[i, k]) / C
        a[i] = total
    return a, u


@njit(cache=True, nogil=True)
def _candidate(i, h, rc, target, beta, lower, upper, raised, lowered, up, low, at_up, at_low):
    """The variables of row i to raise and to lower, with their gradients."""
    up[i], low[i] = np.inf, -np.inf
    at_up[i], at_low[i] = -1, -1
    for k in range(rc.shape[0]):
        g = h + rc[k] - target[i, k]
        if (raised < 0 or raised == k) and beta[i, k] < upper[i, k] and g < up[i]:
            up[i], at_up[i] = g, k
        if (lowered < 0 or lowered == k) and beta[i, k] > lower[i, k] and g > low[i]:
            low[i], at_low[i] = g, k


# The passes below keep a running extreme per lane instead of one for all rows: a comparison of two
# short vectors is something the compiler turns into SIMD code, a search for one extreme and its
# place is not.


@njit(cache=True, nogil=True, fastmath=FAST)
def _partner(low, at_low, k, g_up, row, diagonal, diagonal_i, r, best, place):
    """Second-order choice: the row whose lowering, paired with raising (i, k), gains most.

    The decrease is b^2 / (2 q), with b the difference of the gradients and q the curvature along
    the pair. Single precision is enough for comparisons.
    """
    zero, two, tau = np.float32(0.0), np.float32(2.0), np.float32(TAU)
    apart, d_i = np.float32(min(2.0 * r, APART)), np.float32(diagonal_i)
    best[:] = -1.0
    for start in range(0, low.shape[0], LANES):
        stop = start + LANES
        low_, at_ = low[start:stop], at_low[start:stop]
        row_, d_ = row[start:stop], diagonal[start:stop]
        for p in range(low_.shape[0]):
            b = np.float32(low_[p] - g_up)
            b = b if b > zero else zero
            q = d_i + d_[p] - two * row_[p] + (zero if at_[p] == k else apart)
            q = q if q > tau else tau
            gain = b * b / q
            better = gain > best[p]
            best[p] = gain if better else best[p]
            place[p] = start if better else place[p]
    lane = 0
    for p in range(1, LANES):
        lane = p if best[p] > best[lane] else lane
    return place[lane] + lane


@njit(cache=True, nogil=True, fastmath=FAST)
def _move(up, low, at_up, at_low, h, row_i, row_j, da, k, l, dc, least, most, place):
    """Update the gradients after a step; the row to raise next, and the largest to lower.

    h, unless it is empty, is updated too.
    """
    least[:] = np.inf
    most[:] = -np.inf
    for start in range(0, up.shape[0], LANES):
        stop = start + LANES
        up_, low_ = up[start:stop], low[start:stop]
        i_, j_ = row_i[start:stop], row_j[start:stop]
        if dc != 0.0:
            to_raise, to_lower = at_up[start:stop], at_low[start:stop]
            for p in range(up_.shape[0]):
                up_[p] += dc if to_raise[p] == k else (-dc if to_raise[p] == l else 0.0)
            for p in range(up_.shape[0]):
                low_[p] += dc if to_lower[p] == k else (-dc if to_lower[p] == l else 0.0)
        for p in range(up_.shape[0]):
            g = up_[p] + da * (i_[p] - j_[p])
            up_[p] = g
            better = g < least[p]
            least[p] = g if better else least[p]
            place[p] = start if better else place[p]
        for p in range(up_.shape[0]):
            g = low_[p] + da * (i_[p] - j_[p])
            low_[p] = g
            most[p] = g if g > most[p] else most[p]
        h_ = h[start:stop]
        for p in range(h_.shape[0]):
            h_[p] += da * (i_[p] - j_[p])
    lane, top = 0, most[0]
    for p in range(1, LANES):
        lane = p if least[p] < least[lane] else lane
        top = max(top, most[p])
    return place[lane] + lane, top


@njit(cache=True, nogil=True)
def take_steps(
    matrix, diagonal, h, beta, lower, upper, target, c, r, raised, lowered, room, tol, max_steps
):
    """Take steps until the candidates agree to within tol; return how many were taken.

    With one pair of thresholds, h follows.
    """
    n = h.shape[0]
    up, low = np.empty(n), np.empty(n)
    at_up, at_low = np.empty(n, dtype=np.int16), np.empty(n, dtype=np.int16)
    rc = r * c
    for p in range(n):
        _candidate(p, h[p], rc, target, beta, lower, upper, raised, lowered, up, low, at_up, at_low)
    least, most, best = np.empty(LANES), np.empty(LANES), np.empty(LANES, dtype=np.float32)
    # Places are as wide as what is compared, which keeps the loops in SIMD code.
    place, narrow = np.zeros(LANES, dtype=np.int64), np.zeros(LANES, dtype=np.int32)
    row_i = row_j = matrix[0][:n]
    k = l = at_up[0]  # any: of their type, so that `_move` is compiled once
    followed = h if raised >= 0 else h[:0]  # else it is recomputed from the candidates
    i, g_low = _move(
        up, low, at_up, at_low, followed, row_i, row_j, 0.0, k, l, 0.0, least, most, place
    )
    steps, before = 0, -1
    while steps < max_steps:
        if not g_low - up[i] > tol:
            if steps == before or raised >= 0:
                break
            # When c changes, another candidate of a row may be the better one: recompute all.
            before = steps
            for p in range(n):
                if at_up[p] >= 0:
                    h[p] = up[p] - rc[at_up[p]] + target[p, at_up[p]]
                elif at_low[p] >= 0:
                    h[p] = low[p] - rc[at_low[p]] + target[p, at_low[p]]
                else:
                    continue
                _candidate(
                    p, h[p], rc, target, beta, lower, upper, raised, lowered, up, low, at_up, at_low
                )
            i, g_low = _move(
                up, low, at_up, at_low, followed, row_i, row_j, 0.0, k, l, 0.0, least, most, place
            )
            continue
        row_i, k, g_up = matrix[i][:n], at_up[i], up[i]
        j = _partner(low, at_low, k, g_up, row_i, diagonal, diagonal[i], r, best, narrow)
        row_j, l = matrix[j][:n], at_low[j]
        q = diagonal[i] + diagonal[j] - 2.0 * row_i[j] + (0.0 if k == l else 2.0 * r)
        to_upper, to_lower = upper[i, k] - beta[i, k], beta[j, l] - lower[j, l]
        step = min((low[j] - g_up) / max(q, TAU), to_upper, to_lower, room)
        h_i, h_j = g_up - rc[k] + target[i, k], low[j] - rc[l] + target[j, l]
        beta[i, k] = upper[i, k] if step == to_upper else beta[i, k] + step
        beta[j, l] = lower[j, l] if step == to_lower else beta[j, l] - step
        c[k] += step
        c[l] -= step
        # Recompute the candidates of both rows with the old c: `_move` adds its change to all.
        for p, h_p in ((i, h_i), (j, h_j)):
            _candidate(
                p, h_p, rc, target, beta, lower, upper, raised, lowered, up, low, at_up, at_low
            )
            if i == j:
                break
        rc[k] = r * c[k]
        rc[l] = r * c[l]
        dc = 0.0 if k == l else r * step
        da = 0.0 if i == j else step
        i, g_low = _move(
            up, low, at_up, at_low, followed, row_i, row_j, da, k, l, dc, least, most, place
        )
        steps += 1
        if raised < lowered:
            room -= step
            if room <= 0.0:
                break
    return steps


@njit(cache=True, nogil=True)
def take_rounds(
    matrix, diagonal, h, beta, lower, upper, target, c, r, allowed, tol, nearer, max_steps
):
    """Take steps at one pair of thresholds after another, always the worst of those allowed.

    A pair is done when its violation has shrunk to the share `nearer`. h follows.
    """
    n, m = beta.shape
    steps = 0
    least, most = np.empty(m), np.empty(m)
    while steps < max_steps:
        least[:], most[:] = np.inf, -np.inf
        for p in range(n):
            for k in range(m):
                g = h[p] + r * c[k] - target[p, k]
                if beta[p, k] < upper[p, k]:
                    least[k] = min(least[k], g)
                if beta[p, k] > lower[p, k]:
                    most[k] = max(most[k], g)
        raised, lowered, worst = 0, 0, -np.inf
        for k in range(m):
            for l in range(m):
                if allowed[k, l] and most[l] - least[k] > worst:
                    raised, lowered, worst = k, l, most[l] - least[k]
        if not worst > tol:
            break
        taken = take_steps(
            matrix, diagonal, h, beta, lower, upper, target, c, r, raised, lowered, np.inf,
            max(tol, nearer * worst), max_steps - steps,
        )  # fmt: skip
        if taken == 0:
            break
        steps += taken
    return steps

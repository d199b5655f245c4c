"""The compiled loops of SMO: passes over N-vectors that choose a pair of variables and move it."""

from typing import Any, NamedTuple

import numpy as np
from numba import njit

__all__ = ["Prospects", "box_losses", "candidates", "prospects", "take_steps"]

LANES = 256  # rows that are compared with the running extremes at a time: a few vectors, all in the first cache
FAST = {"nnan", "nsz", "contract", "reassoc"}  # infinities occur, NaN does not
TAU = 1e-12  # least curvature of a pair, for kernels that are not positive definite


class Prospects(NamedTuple):
    """Gradients of what can move: the least to raise and the largest to lower, per row and per threshold; and free rows."""

    up: Any
    low: Any
    least: Any
    most: Any
    free: int


@njit(cache=True, nogil=True)
def prospects(h, rc, s, beta, lower, upper):
    """Look at all variables once."""
    n, m = h.shape[0], rc.shape[0]
    up, low = np.full(n, np.inf), np.full(n, -np.inf)
    least, most = np.full(m, np.inf), np.full(m, -np.inf)
    free = 0
    for i in range(n):
        inside = False
        for k in range(m):
            g = h[i] + rc[k] - s[i, k]
            can_rise, can_fall = beta[i, k] < upper[i, k], beta[i, k] > lower[i, k]
            inside = inside or (can_rise and can_fall)
            if can_rise:
                up[i], least[k] = min(up[i], g), min(least[k], g)
            if can_fall:
                low[i], most[k] = max(low[i], g), max(most[k], g)
        free += inside
    return Prospects(up, low, least, most, free)


@njit(cache=True, nogil=True, fastmath=FAST)
def box_losses(h, t, lower, upper, s):
    """The sum of C_i loss(s_ik (h_i - t_k)): the larger of a piecewise linear loss's two lines, whose slopes are the bounds."""
    total = 0.0
    for i in range(h.shape[0]):
        for k in range(t.shape[0]):
            short = s[i, k] - (h[i] - t[k])
            total += max(lower[i, k] * short, upper[i, k] * short)
    return total


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
def candidates(h, rc, s, beta, lower, upper, raised, lowered, offsets, choices):
    """The candidates of all rows."""
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
def take_steps(rows, slot, last_used, diagonal, h, a, beta, lower, upper, s, c, r,
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

"""Products with a symmetric matrix that read only one half of it, once."""

from typing import Any

import numpy as np
from numba import njit

from tordinal.threads import in_turn

__all__ = ["symmetric_times"]

LARGE = 2**26  # bytes of a matrix from which a second thread helps
MOST_PARTS = 8


def symmetric_times(K: Any, v: Any) -> Any:
    """K v for a symmetric matrix, in the precision of v.

    A product waits for the matrix to come from memory, so only the upper triangle is read, and each
    of its values is used twice. The result does not depend on the number of cores.

    Examples
    --------
    >>> import numpy as np
    >>> symmetric_times(np.array([[2.0, 1.0], [1.0, 3.0]]), np.ones(2))
    array([3., 4.])
    """
    n, parts = len(v), 1
    while parts < MOST_PARTS and K.nbytes >= LARGE * parts * parts:
        parts *= 2
    # Rows begin at the diagonal and get shorter, so equal parts have more and more of them.
    ends = [n - int(n * np.sqrt(1.0 - part / parts)) for part in range(parts + 1)]
    totals = np.zeros((parts, n), dtype=v.dtype)
    in_turn(parts, lambda part: _upper(K, v, totals[part], ends[part], ends[part + 1]))
    return totals.sum(axis=0) if parts > 1 else totals[0]


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc", "nsz"})
def _upper(K, v, out, start, stop):
    """Add what some rows of the upper triangle contribute, four of them at a time."""
    i = start
    while i + 3 < stop:
        for p in range(i, i + 4):
            for q in range(i, i + 4):
                out[p] += K[min(p, q), max(p, q)] * v[q]
        a, b, c, d = K[i, i + 4 :], K[i + 1, i + 4 :], K[i + 2, i + 4 :], K[i + 3, i + 4 :]
        of, to = v[i + 4 :], out[i + 4 :]
        v_a, v_b, v_c, v_d = v[i], v[i + 1], v[i + 2], v[i + 3]
        t_a = t_b = t_c = t_d = v.dtype.type(0.0)
        for j in range(len(a)):
            t_a += a[j] * of[j]
            t_b += b[j] * of[j]
            t_c += c[j] * of[j]
            t_d += d[j] * of[j]
            to[j] += v_a * a[j] + v_b * b[j] + v_c * c[j] + v_d * d[j]
        out[i] += t_a
        out[i + 1] += t_b
        out[i + 2] += t_c
        out[i + 3] += t_d
        i += 4
    for p in range(i, stop):
        out[p] += K[p, p] * v[p]
        for q in range(p + 1, len(v)):
            out[p] += K[p, q] * v[q]
            out[q] += K[p, q] * v[p]

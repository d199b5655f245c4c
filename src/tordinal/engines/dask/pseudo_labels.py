"""Pseudo-labels of rows on a cluster: Algorithm 2 and swaps, with sums in place of arrays.

Order statistics of the projections are exact. They are found by counting how many rows lie at or
below some probes, which narrow down the interval.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tordinal.engines.dask import pieces, relabelling
from tordinal.engines.dask.parts import PartRows
from tordinal.problem import Problem
from tordinal.swapping import Gain, Swaps

__all__ = ["ClusterLabels", "smallest_with"]

Array = NDArray[np.float64]
Index = NDArray[np.int64]

PROBES = 255  # values that are counted in one round trip
MOST_CANDIDATES = 1000  # up to this many pairs blocks send their best rows
LOWEST, HIGHEST = -(2**63), 2**63 - 1


class ClusterLabels:
    """Labels of all rows, each with its rows.

    Parameters
    ----------
    rows : PartRows
        The rows.
    problem : Problem
        The problem to solve.
    n_rows, n_unlabeled : int
        How many rows there are, and how many have no given rank.
    """

    def __init__(self, rows: PartRows, problem: Problem, n_rows: int, n_unlabeled: int):
        self.rows, self.problem = rows, problem
        self.n_classes = problem.n_thresholds + 1
        self.n_rows, self.n_unlabeled = n_rows, n_unlabeled
        self._before: Array | None = None

    def assign(self, supervised: Any, counts: Callable[[Any], Index]) -> None:
        """Algorithm 2: sort unlabelled rows by projection and assign ranks by the class counts."""
        self.rows.project(supervised.w)
        self._label_by_order(counts(supervised), by_label=1)
        self.rows.sum(pieces.start_from_supervised, self.problem, supervised.thresholds)

    def swap(self, fit: Any, gain: Gain, swaps: Swaps) -> int:
        """Swap labels at a fit; the number of pairs."""
        self.rows.project(fit.w)
        self.rows.sum(pieces.keep)
        self._before = fit.w
        t = fit.thresholds
        if swaps == "optimal":
            counts = self.rows.sum(pieces.pseudo_counts, self.n_classes)
            self._label_by_order(counts, self.n_classes)
            return self.rows.sum(pieces.crossings) if self.gain(fit, gain) > 0 else 0
        named = {"single": 1, "all": HIGHEST}
        most = named[swaps] if isinstance(swaps, str) else swaps
        return sum(self._swap_at(k, float(t[k]), gain, most) for k in range(len(t)))  # line 9

    def gain(self, fit: Any, gain: Gain) -> float:
        """How much the loss falls from the labels before the last swap to the present ones."""
        return self.rows.sum(pieces.gain_of_swap, fit.thresholds, gain)

    def undo(self) -> None:
        """Return to the labels before the last swap, and to the projections of its fit."""
        self.rows.sum(pieces.undo_swap)
        self.rows.projected_by(self._before)

    def greatest_losses(self, fit: Any, wrong_side_loss: Gain) -> float:
        """A bound of the losses of all unlabelled rows at a fit."""
        self.rows.project(fit.w)
        return self.rows.sum(pieces.greatest_losses_of, fit.thresholds, wrong_side_loss)

    # Labels by order ------------------------------------------------------------------------------

    def _label_by_order(self, counts: Index, by_label: int) -> None:
        """Sort the free rows by h, ties by label or not, then by row; assign ranks."""
        rows = self.rows
        rows.sum(relabelling.sort_free)
        ends = np.cumsum(counts)[:-1]
        cuts = smallest_with(ends, lambda probes: rows.sum(relabelling.count_free, probes))
        below = rows.sum(relabelling.count_free, np.maximum(cuts, LOWEST + 1) - 1)
        ties = rows.sum(relabelling.count_ties, cuts, by_label)
        left = np.where(ends > 0, ends - below, 0)
        share = {number: np.zeros_like(tied) for number, tied in ties.items()}
        for j in range(len(cuts)):
            for k in range(by_label):
                for number in sorted(ties):
                    taken = min(int(left[j]), int(ties[number][j, k]))
                    share[number][j, k] = taken
                    left[j] -= taken
        rows.sum(relabelling.assign_ranks, cuts, ends == 0, share)

    # Swaps at one threshold -----------------------------------------------------------------------

    def _swap_at(self, k: int, t: float, gain: Gain, most: int) -> int:
        """Lines 10 to 14 at one threshold."""
        sizes = self.rows.sum(relabelling.find_pools, k, t, gain)
        n = int(min(*sizes, most))
        if 0 < n <= MOST_CANDIDATES:
            self._change_few(k, n)
        elif n:
            for high in (True, False):
                self._change_many(k, n, high)
        return n

    def _change_few(self, k: int, n: int) -> None:
        """Swap the n best pairs among the best that each block offers."""
        rows = self.rows
        offers = rows.sum(relabelling.best_of_pools, n)
        for high in (True, False):
            mine = [(b, pool) for (b, side), pool in sorted(offers.items()) if side == high]
            number = np.concatenate([np.full(len(pool[0]), b) for b, pool in mine])
            row, first, second = (np.concatenate([pool[i] for _, pool in mine]) for i in range(3))
            best = np.lexsort((row, number, second, first))[:n]
            chosen = {int(b): row[best[number[best] == b]] for b in np.unique(number[best])}
            rows.sum(relabelling.relabel, chosen, k + 1 if high else k)

    def _change_many(self, k: int, n: int, high: bool) -> None:
        """Relabel the n best rows of one side, found by counting."""
        rows = self.rows

        def by_first(probes: Index) -> Index:
            return rows.sum(relabelling.count_pool, high, probes)

        first = int(smallest_with(np.array([n]), by_first)[0])

        def by_second(probes: Index) -> Index:
            return rows.sum(relabelling.count_second, high, first, probes)

        before = int(by_first(np.array([first - 1]))[0])
        second = int(smallest_with(np.array([n - before]), by_second)[0])
        before += int(by_second(np.array([second - 1]))[0])
        ties, left = rows.sum(relabelling.count_last, high, first, second), n - before
        last = {}
        for number in sorted(ties):
            last[number] = min(left, ties[number])
            left -= last[number]
        rows.sum(relabelling.change_sides, k, high, first, second, last)


def smallest_with(wanted: Index, count: Callable[[Index], Index]) -> Index:
    """For each number, the smallest key with at least that many rows at or below it.

    Parameters
    ----------
    wanted : ndarray of int
        How many rows.
    count : callable
        How many rows lie at or below each of some keys.

    Returns
    -------
    keys : ndarray of int64
        The keys; `LOWEST` for 0 rows.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([3, 5, 5, 9])
    >>> smallest_with(np.array([1, 3, 4]), lambda p: np.searchsorted(x, p, side="right"))
    array([3, 5, 9])
    """
    low = [LOWEST] * len(wanted)  # fewer rows than wanted lie below these
    high = [LOWEST if c <= 0 else HIGHEST for c in wanted.tolist()]
    while any(a < b for a, b in zip(low, high, strict=True)):
        probes = [
            [a + (b - a) * i // (PROBES + 1) for i in range(1, PROBES + 1)] if a < b else []
            for a, b in zip(low, high, strict=True)
        ]
        flat = np.array([p for group in probes for p in group], dtype=np.int64)
        counts, start = count(flat), 0
        for j, group in enumerate(probes):
            if not group:
                continue
            below = int(np.searchsorted(counts[start : start + len(group)], wanted[j]))
            start += len(group)
            # The first probe with enough is an upper bound; the one before it has too few.
            if below < len(group):
                high[j] = group[below]
            if below > 0:
                low[j] = min(group[below - 1] + 1, high[j])
    return np.array(high, dtype=np.int64)

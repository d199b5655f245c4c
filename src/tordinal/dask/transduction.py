"""Algorithm 1 on rows that lie elsewhere: the same steps, with sums in place of arrays.

Order statistics of the projections are exact. They are found by counting how many rows lie at or
below some probes, between the last two of which the wanted one must be.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tordinal.dask import pieces
from tordinal.dask.parts import PartRows, Parts
from tordinal.losses import swap_gain
from tordinal.problem import Problem
from tordinal.solvers.equations import Equations, Iterated, Remembered, Summed
from tordinal.solvers.newton import LEVEL, SWAP, Descent, project
from tordinal.solvers.solver import COARSE
from tordinal.transduction import FINEST, NEGLIGIBLE

__all__ = ["Fit", "Search", "Trainer", "smallest_with"]

Array = NDArray[np.float64]
Index = NDArray[np.int64]

PROBES = 255  # values that are counted in one exchange
MOST_CANDIDATES = 1000  # pairs up to which blocks send their best rows
LOWEST, HIGHEST = -(2**63), 2**63 - 1


@dataclass(frozen=True)
class Fit:
    """A trained model; its projections lie with the rows.

    Attributes
    ----------
    w, t : ndarray
        Weights of the scaled features, and thresholds.
    objective, n_iter, violation, converged
        As of `Solution`.
    """

    w: Array
    t: Array
    objective: float
    n_iter: int
    violation: float
    converged: bool


class Trainer:
    """Trains on the rows of all parts.

    Parameters
    ----------
    parts : Parts
        Where the rows are.
    problem : Problem
        What is solved.
    n_features, scale, few_features
        As of `PartRows`.
    tol, max_iter
        Tolerance and limit.
    """

    def __init__(
        self, parts: Parts, problem: Problem, n_features: int, scale: float, few_features: bool,
        tol: float, max_iter: int,
    ):  # fmt: skip
        self.parts, self.problem, self.scale = parts, problem.scaled(scale), scale
        self.tol, self.limit = tol, np.inf if max_iter < 0 else max_iter
        self.gain = _Gain(problem.loss)
        self.labeled = PartRows(parts, "labeled", n_features, scale, few_features)
        self.rows = PartRows(parts, "all", n_features, scale, few_features)
        self.equations: dict[str, Equations] = {}

    def train(
        self, rows: PartRows, C1: float, C2: float, warm: Fit | None, precision: float,
        first_width: float | None = None,
    ) -> Fit:  # fmt: skip
        """Solve (4) for the labels that the rows have now."""
        total = rows.sum(pieces.set_costs, self.scale * C1, self.scale * C2)
        descent = Descent(rows, self.problem, self._equations(rows), total)
        if warm is None:
            rows.sum(pieces.start_cold, self.problem)
        else:
            descent.w, descent.t = warm.w.copy(), warm.t.copy()
        tol = self.tol * precision
        steps, violation = descent.run(tol, self.limit, first_width)
        w, t = descent.w, descent.thresholds()
        rows.sum(project, w)
        value = self._objective(rows, w, t)
        converged = violation <= tol
        if not converged:
            nothing = np.zeros_like(t)
            plain = rows.sum(pieces.losses_at_nothing, self.problem, nothing)
            if value > plain:
                w, t, value = np.zeros_like(w), nothing, plain
                rows.sum(project, w)
        return Fit(w, t, value / self.scale, steps, violation, bool(converged))

    def _objective(self, rows: PartRows, w: Array, t: Array) -> float:
        penalty = self.problem.coupling.penalty(t)
        return 0.5 * float(w @ w) + penalty + rows.sum(pieces.losses, self.problem, t)

    def _equations(self, rows: PartRows) -> Equations:
        if rows.which not in self.equations:
            if not rows.few_features:
                kind: Any = Iterated
            else:
                kind = Remembered if self.problem.smooth else Summed
            self.equations[rows.which] = kind(rows)
        return self.equations[rows.which]


@dataclass(frozen=True)
class _Gain:
    """What a change of sides gains; travels to the workers."""

    loss: Any

    def __call__(self, d: Array) -> Array:
        return swap_gain(self.loss, d)


@dataclass
class Search:
    """Algorithm 1.

    Parameters
    ----------
    trainer : Trainer
        Solves (4).
    n_classes : int
        K.
    C1 : float
        Cost of labelled rows.
    swaps : {"single", "all", "optimal"} or int
        Pairs per boundary and training, or the exact step.
    on_training : callable
        Told each new record of the history.
    """

    trainer: Trainer
    n_classes: int
    C1: float
    swaps: str | int
    on_training: Callable[[dict[str, float]], None] = lambda record: None
    history: list[dict[str, float]] = field(default_factory=list)

    def run(self, schedule: Iterable[float], counts: Callable[[Fit], Index] | None) -> Fit:
        """Train on the labelled rows, hand out pseudo-labels, exchange them at rising C2.

        Without `counts`, which makes class counts of a supervised fit, there is nothing to
        transduce.
        """
        start = fit = self.safely(self._supervised)
        if counts is None:
            return fit
        self.safely(partial(self._hand_out, start, counts))
        levels = list(schedule)
        for level, C2 in enumerate(levels, start=1):  # lines 5, 6 and 17
            fit = self.safely(partial(self._level, C2, fit, level == len(levels)), fit)
        return fit

    def safely(self, work: Callable[[], Any], fit: Fit | None = None) -> Any:
        """Do a piece of the work, again from its beginning where a worker is lost.

        It ends with a snapshot, so that it is done as a whole or not at all; projections go back
        to the `fit` at hand.
        """
        recorded = len(self.history)

        def restore() -> None:
            del self.history[recorded:]
            if fit is not None:
                self.trainer.rows.sum(project, fit.w)

        return self.trainer.parts.safely(work, restore)

    def _supervised(self) -> Fit:
        fit = self.trainer.train(self.trainer.labeled, self.C1, 0.0, None, 1.0)  # Alg. 2, line 5
        self._record(0.0, fit)
        return fit

    def _hand_out(self, supervised: Fit, counts: Callable[[Fit], Index]) -> None:
        """Algorithm 2, lines 7 to 11."""
        rows, trainer = self.trainer.rows, self.trainer
        rows.sum(project, supervised.w)
        wanted = counts(supervised)
        self._label_by_order(wanted, by_label=1)
        rows.sum(pieces.take_over, trainer.problem, supervised.t)
        trainer.parts.save()

    def _level(self, C2: float, fit: Fit, last: bool) -> Fit:
        """Lines 7 to 16 of Algorithm 1 at one value of C2."""
        trainer, rows = self.trainer, self.trainer.rows
        fit, coarse = trainer.train(rows, self.C1, C2, fit, COARSE, LEVEL), True  # line 8
        self._record(C2, fit)
        while True:
            rows.sum(pieces.keep)
            n_swaps = self._exchange(fit)  # lines 9 to 15
            if n_swaps and self.swaps == "all":  # no immeasurable exchanges
                gained = C2 * rows.sum(pieces.labeling_gain, fit.t, trainer.gain)
                n_swaps = n_swaps if gained > NEGLIGIBLE * fit.objective else 0
            new = self._retrain(C2, fit) if n_swaps else None  # line 8
            if new is not None:
                fit, coarse = new, True
                self.history[-1]["swaps"] = n_swaps
                self._record(C2, fit)
                continue
            rows.sum(pieces.take_back)
            if not (coarse and last):
                trainer.parts.save()
                return fit  # line 16
            fine = trainer.train(rows, self.C1, C2, fit, 1.0, SWAP)
            before, now = self.history[-2:]
            if before["C2"] != C2 or fine.objective < before["objective"]:
                fit, now["objective"] = fine, fine.objective
                now["n_iter"] += fine.n_iter
            coarse = False

    def _retrain(self, C2: float, last: Fit) -> Fit | None:
        """Train on exchanged labels; the objective must fall, as Proposition 2 promises."""
        fit, precision = last, COARSE
        while precision >= FINEST:
            fit = self.trainer.train(self.trainer.rows, self.C1, C2, fit, precision, SWAP)
            if fit.objective < last.objective:
                return fit
            precision *= 0.1
        return None

    def _record(self, C2: float, fit: Fit) -> None:
        record = {"C2": C2, "objective": fit.objective, "swaps": 0, "n_iter": fit.n_iter}
        self.history.append(record)
        self.on_training(record)

    # Labels by order ------------------------------------------------------------------------------

    def _label_by_order(self, counts: Index, by_label: int) -> None:
        """Sort the free rows by h, ties by label or not, then as they stand; hand out ranks."""
        rows = self.trainer.rows
        rows.sum(pieces.sort_free)
        ends = np.cumsum(counts)[:-1]
        cuts = smallest_with(ends, lambda probes: rows.sum(pieces.count_free, probes))
        below = rows.sum(pieces.count_free, np.maximum(cuts, LOWEST + 1) - 1)
        ties = rows.sum(pieces.count_ties, cuts, by_label)
        left = np.where(ends > 0, ends - below, 0)
        share = {number: np.zeros_like(tied) for number, tied in ties.items()}
        for j in range(len(cuts)):
            for k in range(by_label):
                for number in sorted(ties):
                    taken = min(int(left[j]), int(ties[number][j, k]))
                    share[number][j, k] = taken
                    left[j] -= taken
        rows.sum(pieces.hand_out, cuts, ends == 0, share)

    # Exchanges ------------------------------------------------------------------------------------

    def _exchange(self, fit: Fit) -> int:
        """Lines 9 to 15, or the labels of least loss; how many pairs were exchanged."""
        rows = self.trainer.rows
        if self.swaps == "optimal":
            self._label_by_order(rows.sum(free_counts, self.n_classes), self.n_classes)
            gained = rows.sum(pieces.labeling_gain, fit.t, self.trainer.gain)
            return rows.sum(pieces.crossings) if gained > 0 else 0
        named = {"single": 1, "all": HIGHEST}
        most = named[self.swaps] if isinstance(self.swaps, str) else self.swaps
        n_swaps = 0
        for k, t in enumerate(fit.t):  # line 9
            sizes = rows.sum(pieces.find_pools, k, float(t), self.trainer.gain)
            n = int(min(*sizes, most))
            if n == 0:
                continue
            if n <= MOST_CANDIDATES:
                self._change_few(k, n)
            else:
                for high in (True, False):
                    self._change_many(k, n, high)
            n_swaps += n
        return n_swaps

    def _change_few(self, k: int, n: int) -> None:
        """Exchange the n best pairs among the best that each block offers."""
        rows = self.trainer.rows
        offers = rows.sum(pieces.best_of_pools, n)
        for high in (True, False):
            mine = [(b, pool) for (b, side), pool in sorted(offers.items()) if side == high]
            number = np.concatenate([np.full(len(pool[0]), b) for b, pool in mine])
            row, first, second = (np.concatenate([pool[i] for _, pool in mine]) for i in range(3))
            best = np.lexsort((row, number, second, first))[:n]
            chosen = {int(b): row[best[number[best] == b]] for b in np.unique(number[best])}
            rows.sum(pieces.relabel, chosen, k + 1 if high else k)

    def _change_many(self, k: int, n: int, high: bool) -> None:
        """Exchange the n best rows of one side, found by counting."""
        rows = self.trainer.rows

        def by_first(probes: Index) -> Index:
            return rows.sum(pieces.count_pool, high, probes)

        first = int(smallest_with(np.array([n]), by_first)[0])

        def by_second(probes: Index) -> Index:
            return rows.sum(pieces.count_second, high, first, probes)

        before = int(by_first(np.array([first - 1]))[0])
        second = int(smallest_with(np.array([n - before]), by_second)[0])
        before += int(by_second(np.array([second - 1]))[0])
        ties, left = rows.sum(pieces.count_last, high, first, second), n - before
        last = {}
        for number in sorted(ties):
            last[number] = min(left, ties[number])
            left -= last[number]
        rows.sum(pieces.change_sides, k, high, first, second, last)


def free_counts(piece: Any, n_classes: int) -> Index:
    """Pseudo-labels by class."""
    return np.bincount(piece.y[piece.free], minlength=n_classes)


def smallest_with(wanted: Index, count: Callable[[Index], Index]) -> Index:
    """For each number the smallest key at or below which so many rows lie.

    Parameters
    ----------
    wanted : ndarray of int
        How many rows.
    count : callable
        How many rows lie at or below each of some keys.

    Returns
    -------
    keys : ndarray of int64
        The keys; the lowest there is where no row is wanted.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([3, 5, 5, 9])
    >>> smallest_with(np.array([1, 3, 4]), lambda p: np.searchsorted(x, p, side="right"))
    array([3, 5, 9])
    """
    low = [LOWEST] * len(wanted)  # fewer lie below these than are wanted
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

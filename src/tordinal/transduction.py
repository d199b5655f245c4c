"""Algorithms 1 and 2: pseudo-labels for unlabelled rows, improved by swapping and retraining.

Nothing here knows a loss or a kernel. Whoever can train a threshold model for given ranks and
costs, and say what a change of sides at a threshold gains, is a `Trainer`.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tordinal.reduction import UNLABELED, Ranks, ranks

Array = NDArray[np.float64]
Swaps = int | str

NEGLIGIBLE = 1e-5  # share of the objective below which `swaps="all"` does not train again
ROUGH = 1e-3  # the same where candidates are only compared
FINEST = 1e-4  # how far below `tol` a training is refined to make a swap's gain visible
FEW_ROWS = 1024  # of which a last training that fails is tried again from nothing
ROUNDING = 1e-18  # share of the objective that no sum in double precision shows
MOST_LEVELS = 10_000


class Fit(Protocol):
    """A trained threshold model."""

    @property
    def h(self) -> Array: ...

    @property
    def thresholds(self) -> Array: ...

    @property
    def objective(self) -> float: ...

    @property
    def n_iter(self) -> int: ...

    @property
    def converged(self) -> bool: ...


class Trainer(Protocol):
    """Trains threshold models on one set of rows."""

    @property
    def coarse(self) -> float:
        """How much coarser than the last training the others are."""

    def train(self, y: Ranks, cost: Array, warm: Any | None, precision: float) -> Any:
        """Solve (4) with y fixed, to `precision` times the usual tolerance; return a `Fit`."""

    def gain(self, d: Array) -> Array:
        """How much a row's loss falls when it changes sides, at d on the wrong side of t."""


@dataclass
class Transduction:
    """What Algorithm 1 found.

    Attributes
    ----------
    y : ndarray of shape (n_samples,)
        Given and pseudo ranks.
    fit : Fit
        The last training.
    initial : ndarray of shape (n_samples,)
        The ranks of Algorithm 2, before any swap.
    history : list of dict
        One record per training: ``C2``, ``objective``, the ``swaps`` made after it, and its solver
        steps ``n_iter``.
    """

    y: Ranks
    fit: Any
    initial: Ranks
    history: list[dict[str, float]] = field(default_factory=list)


def n_levels(C1: float, start: float, factor: float, end: float | None) -> int:
    """How many values of C2 a schedule has.

    Examples
    --------
    >>> n_levels(1.0, 0.25, 2.0, None)
    2
    """
    top = C1 if end is None else end
    # Differences of logarithms, because the quotient of top and start may be too large a number.
    steps = (math.log(top) - math.log(start)) / math.log(factor) if top > start else 0.0
    levels = math.ceil(steps - 1e-9) + (end is not None)
    if levels > MOST_LEVELS:
        raise ValueError(
            f"C2_start={start:g} and C2_factor={factor!r} would train at {levels:,} values of C2 "
            f"on the way to {top:g}; choose a larger factor (the paper's is 2) or a larger start"
        )
    return levels


def c2_schedule(C1: float, start: float, factor: float, end: float | None) -> Iterator[float]:
    """Lines 5, 6 and 17 of Algorithm 1: the values of C2.

    Examples
    --------
    >>> list(c2_schedule(1.0, 0.25, 2.0, None))
    [0.25, 0.5]
    >>> list(c2_schedule(1.0, 0.25, 2.0, 0.3))
    [0.25, 0.3]
    """
    C2 = start
    while (C1 if end is None else end) > C2:
        yield C2
        C2 = max(C2 * factor, math.nextafter(C2, math.inf))  # the smallest numbers do not grow
    if end is not None:
        yield end


def class_counts(
    ratio: Array, n_rows: int, predicted: Callable[[], NDArray[np.int64]] | None = None
) -> NDArray[np.int64]:
    """How many of `n_rows` rows each class gets: the ratio to rounding, by largest remainders.

    Equal remainders go to the classes of which `predicted` has the most rows left over, then to
    the more frequent class and to the one nearer to the middle: rules that do not change when the
    order of the classes is reversed. Where all of them tie, the lowest class gets the row.

    Examples
    --------
    >>> import numpy as np
    >>> class_counts(np.array([0.5, 0.25, 0.25]), 5)
    array([3, 1, 1])
    >>> class_counts(np.array([0.5, 0.5]), 5, lambda: np.array([1, 4]))
    array([2, 3])
    """
    exact = np.asarray(ratio) / np.sum(ratio) * n_rows
    # Shares are rounded so that equal ones are not told apart by their last bit.
    exact = np.round(exact, 9)
    counts = np.floor(exact).astype(np.int64)
    n_left = int(n_rows - counts.sum())
    remainders = np.round(exact - counts, 9)
    largest = np.argsort(-remainders, kind="stable")
    if 0 < n_left < len(counts) and np.ptp(remainders[largest[n_left - 1 : n_left + 1]]) == 0.0:
        excess = predicted() - counts if predicted is not None else np.zeros(len(counts))
        off_centre = np.abs(2 * np.arange(len(counts)) - (len(counts) - 1))
        largest = np.lexsort((off_centre, -exact, -excess, -remainders))
    counts[largest[:n_left]] += 1
    return counts


def initial_labels(h: Array, counts: NDArray[np.int64]) -> Ranks:
    """Algorithm 2, lines 7 to 11: sort by projection and hand out the ranks in the given numbers.

    Examples
    --------
    >>> import numpy as np
    >>> initial_labels(np.array([0.3, -1.0, 2.0]), np.array([1, 2]))
    array([1, 0, 1])
    """
    y = np.empty(len(h), dtype=np.int64)
    y[np.argsort(h, kind="stable")] = np.repeat(np.arange(len(counts)), counts)
    return y


def transduce(
    trainer: Trainer,
    y: Ranks,
    weight: Array,
    C1: float,
    schedule: Iterable[float],
    counts: Callable[[Fit], NDArray[np.int64]],
    swaps: Swaps = "single",
    on_training: Callable[[dict[str, float], Any], bool] | None = None,
    rough: bool = False,
) -> Transduction:
    """Algorithm 1.

    Parameters
    ----------
    trainer : Trainer
        Solves (4) for fixed ranks.
    y : ndarray of shape (n_samples,)
        Ranks, `UNLABELED` where there is none.
    weight : ndarray of shape (n_samples,)
        Factor of each row's cost.
    C1 : float
        Cost of labelled rows.
    schedule : iterable of float
        Ascending values of C2, the cost of unlabelled rows.
    counts : callable
        Class counts of the pseudo-labels, given the supervised fit.
    swaps : {"single", "all", "optimal"} or int
        Pairs per class boundary and training, or the exact step.
    on_training : callable, optional
        Called with each new record of the history and the fit; a true answer ends the search there.
    rough : bool
        For comparisons, where the last bit of the objective does not matter: exchanges that gain
        less than a thousandth of it are not made, and no training is repeated more finely.
    """
    # Footnote 2 is for speed: no immeasurable exchanges.
    least_gain = ROUGH if rough else NEGLIGIBLE if swaps == "all" else 0.0
    unlabeled = y == UNLABELED
    supervised = trainer.train(
        y, np.where(unlabeled, 0.0, C1 * weight), None, 1.0
    )  # Algorithm 2, line 5
    result = Transduction(y, supervised, y)
    stop = _record(result, 0.0, on_training)
    if not unlabeled.any():
        return result
    result.y = result.initial = y.copy()
    result.y[unlabeled] = initial_labels(supervised.h[unlabeled], counts(supervised))  # line 4
    levels = _measurable(schedule, supervised, weight[unlabeled], trainer.gain)
    coarse, cost = False, weight
    for level, C2 in enumerate(levels, start=1):  # lines 5, 6 and 17
        if stop:
            break
        cost = np.where(unlabeled, C2, C1) * weight
        # A rough search has a coarse tolerance already, and no fine training at its end.
        precision = 1.0 if rough else trainer.coarse
        result.fit = trainer.train(result.y, cost, result.fit, precision)  # line 8
        coarse = precision > 1.0
        stop = _record(result, C2, on_training)
        while not stop:
            swapped, n_swaps = exchange_labels(
                result.fit, result.y, unlabeled, weight, trainer.gain, swaps
            )  # lines 9 to 15
            if n_swaps and least_gain > 0.0:
                gained = C2 * labeling_gain(result.fit, result.y, swapped, weight, trainer.gain)
                n_swaps = n_swaps if gained > least_gain * result.fit.objective else 0
            fit = _retrain(trainer, swapped, cost, result.fit) if n_swaps else None  # line 8
            if fit is not None:
                result.y, result.fit, coarse = swapped, fit, trainer.coarse > 1.0
                result.history[-1]["swaps"] = n_swaps
                stop = _record(result, C2, on_training)
            elif coarse and level == len(levels) and not rough:
                _refine(result, trainer, cost)  # and look again whether a swap is left
                coarse = False
            else:
                break  # line 16
    if coarse and not rough:
        _refine(result, trainer, cost)
    return result


def _measurable(
    schedule: Iterable[float], supervised: Fit, weight: Array, gain: Callable[[Array], Array]
) -> list[float]:
    """The values of C2 at which unlabelled rows can change anything, and the last one.

    Below, all their losses together are lost in the rounding of the supervised objective: training
    would not move, and no swap would lower the objective.
    """
    levels = list(schedule)
    farthest = np.abs(supervised.h[:, None] - supervised.thresholds).max(keepdims=True).ravel()
    most = float(weight.sum()) * len(supervised.thresholds) * (1.0 + float(gain(farthest)[0]))
    return [C2 for C2 in levels[:-1] if C2 * most > ROUNDING * supervised.objective] + levels[-1:]


def exchange_labels(
    fit: Fit,
    y: Ranks,
    unlabeled: NDArray[np.bool_],
    weight: Array,
    gain: Callable[[Array], Array],
    swaps: Swaps,
) -> tuple[Ranks, int]:
    """New pseudo-labels of smaller loss at the fit's (h, t), and the number of pairs exchanged.

    Class counts are kept.
    Lines 9 to 15 of Algorithm 1, or with ``swaps="optimal"`` the labels of least loss: see
    `optimal_labels`. An exchange whose measured gain is not positive is not made.
    """
    new = y.copy()
    if swaps == "optimal":
        new[unlabeled] = optimal_labels(fit.h[unlabeled], y[unlabeled])
        if labeling_gain(fit, y, new, weight, gain) <= 0:
            return y, 0
        crossings = np.maximum(new - y, 0).sum()
        return new, int(crossings)
    pairs = {"single": 1, "all": len(y)}[swaps] if isinstance(swaps, str) else swaps
    # Only rows on a wrong side of some threshold can be exchanged: few, compared with all.
    wrong = np.flatnonzero(unlabeled & (ranks(fit.h, fit.thresholds) != y))
    h, rank, share = fit.h[wrong], y[wrong], weight[wrong]
    n_swaps = 0
    for k, t in enumerate(fit.thresholds):  # line 9
        # Condition (5): labelled k but above t_k, labelled k + 1 but not above it.
        high = _by_gain(np.flatnonzero((rank == k) & (h > t)), h - t, share, gain)
        low = _by_gain(np.flatnonzero((rank == k + 1) & (h <= t)), t - h, share, gain)
        n = min(len(high), len(low), pairs)
        rank[high[:n]], rank[low[:n]] = k + 1, k  # lines 12 and 13
        n_swaps += n
    new[wrong] = rank
    return new, n_swaps


def optimal_labels(h: Array, y: Ranks) -> Ranks:
    """The labels of least loss with the class counts of y: sort by h and hand out the ranks.

    Rows of equal h keep the order of their labels, so that equal rows never exchange labels back
    and forth.

    Examples
    --------
    >>> import numpy as np
    >>> optimal_labels(np.array([0.5, 0.1, 0.1]), np.array([0, 1, 0]))
    array([1, 0, 0])
    """
    new = np.empty_like(y)
    new[np.lexsort((y, h))] = np.sort(y)
    return new


def labeling_gain(
    fit: Fit, old: Ranks, new: Ranks, weight: Array, gain: Callable[[Array], Array]
) -> float:
    """How much the loss at the fit's (h, t) falls from the old ranks to the new, in units of C2."""
    total = 0.0
    for k, t in enumerate(fit.thresholds):
        up = np.flatnonzero((old <= k) & (new > k))
        down = np.flatnonzero((old > k) & (new <= k))
        total += float(weight[up] @ gain(fit.h[up] - t)) + float(
            weight[down] @ gain(t - fit.h[down])
        )
    return total


def _by_gain(
    rows: NDArray[np.int64], d: Array, weight: Array, gain: Callable[[Array], Array]
) -> NDArray[np.int64]:
    """Rows with the largest decrease first (line 11), ties by the larger violation."""
    return rows[np.lexsort((-d[rows], -weight[rows] * gain(d[rows])))]


def _retrain(trainer: Trainer, y: Ranks, cost: Array, last: Any) -> Any | None:
    """Train on swapped labels; the objective must fall, as Proposition 2 promises.

    A coarse solution tells which pair to swap next. It can hide a small gain, so the training is
    refined until that shows. If it never does, the gain is below what can be measured: None, and
    the swap is not made. So the search always ends.
    """
    fit, precision = last, trainer.coarse
    while precision >= FINEST:
        fit = trainer.train(y, cost, fit, precision)
        if fit.objective < last.objective:
            return fit
        precision *= 0.1
    return None


def _refine(result: Transduction, trainer: Trainer, cost: Array) -> None:
    """Bring the last training to the usual precision; where rows are few, by every means."""
    fit = trainer.train(result.y, cost, result.fit, 1.0)
    if not fit.converged and len(result.y) <= FEW_ROWS:
        cold = trainer.train(result.y, cost, None, 1.0)
        fit = cold if cold.objective < fit.objective else fit
    before, last = result.history[-2:]
    swapped = before["C2"] == last["C2"]
    if not swapped or fit.objective < before["objective"]:  # the tolerance may hide the gain
        result.fit, last["objective"] = fit, fit.objective
        last["n_iter"] += fit.n_iter


def _record(
    result: Transduction, C2: float, on_training: Callable[[dict[str, float], Any], bool] | None
) -> bool:
    fit = result.fit
    record = {"C2": C2, "objective": fit.objective, "swaps": 0, "n_iter": fit.n_iter}
    result.history.append(record)
    return bool(on_training(record, fit)) if on_training is not None else False

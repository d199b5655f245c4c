"""Algorithms 1 and 2: pseudo-labels for unlabelled rows, improved by swapping and retraining.

This is the only Algorithm 1. It knows no loss, no kernel and no engine: a `Trainer` trains
threshold models for the current labels, and `PseudoLabels` hold and swap those labels where the
rows live.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tordinal.engines.base import Fit, PseudoLabels
from tordinal.swapping import Gain, Swaps

__all__ = ["CostSchedule", "Trainer", "Transduction", "class_counts", "transduce"]

Array = NDArray[np.float64]
Index = NDArray[np.int64]
Record = dict[str, float]
OnTraining = Callable[[Record, Any], bool]

NEGLIGIBLE = 1e-5  # share of the objective below which `swaps="all"` does not train again
ROUGH = 1e-3  # the same where candidates are only compared
FINEST = 1e-4  # how far below `tol` a training is refined to make a swap's gain visible
FEW_ROWS = 1024  # up to so many rows, a last training that fails is repeated from a cold start
LOST_SHARE = 1e-18  # share of the objective that is below rounding errors in double precision
MOST_LEVELS = 10_000


class Trainer(Protocol):
    """Trains threshold models on some rows, for their current labels."""

    @property
    def coarse(self) -> float:
        """How much coarser than the last training the others are."""

    @property
    def gain(self) -> Gain:
        """How much a row's loss falls when it changes sides, at d on the wrong side of t."""

    @property
    def wrong_side_loss(self) -> Gain:
        """The loss at d on the wrong side of t."""

    def train(self, C1: float, C2: float, warm: Any | None, precision: float) -> Any:
        """Solve (4) with y fixed, to `precision` times the usual tolerance; return a `Fit`."""


@dataclass(frozen=True)
class CostSchedule:
    """The costs that Algorithm 1 trains with, and how labels are swapped in between.

    Attributes
    ----------
    C1 : float
        Cost of labelled rows.
    C2_start, C2_factor : float
        First value of C2, the cost of unlabelled rows, and the factor from one to the next.
    C2_max : float or None
        The last value. None: values below C1, as in the paper.
    swaps : {"single", "all", "optimal"} or int
        Pairs per class boundary and training, or the exact step.
    rough : bool
        For comparisons, where the last bit of the objective does not matter: swaps that gain less
        than a thousandth of it are not made, and no training is repeated more finely.

    Examples
    --------
    >>> list(CostSchedule(1.0, 0.25).values())
    [0.25, 0.5]
    >>> list(CostSchedule(1.0, 0.25, C2_max=0.3).values())
    [0.25, 0.3]
    """

    C1: float = 1.0
    C2_start: float = 1e-5
    C2_factor: float = 2.0
    C2_max: float | None = None
    swaps: Swaps = "single"
    rough: bool = False

    def __len__(self) -> int:
        """How many values of C2 there are."""
        start, end = self.C2_start, self.C2_max
        top = self.C1 if end is None else end
        # Differences of logarithms, because the quotient of top and start may overflow.
        steps = (math.log(top) - math.log(start)) / math.log(self.C2_factor) if top > start else 0.0
        n = math.ceil(steps - 1e-9) + (end is not None)
        if n > MOST_LEVELS:
            raise ValueError(
                f"C2_start={start:g} and C2_factor={self.C2_factor!r} would train at {n:,} values "
                f"of C2 on the way to {top:g}; choose a larger factor (the paper's is 2) or a "
                "larger start"
            )
        return n

    def values(self) -> Iterator[float]:
        """Lines 5, 6 and 17 of Algorithm 1: the values of C2."""
        C2 = self.C2_start
        while (self.C1 if self.C2_max is None else self.C2_max) > C2:
            yield C2
            # The smallest numbers do not grow by a factor.
            C2 = max(C2 * self.C2_factor, math.nextafter(C2, math.inf))
        if self.C2_max is not None:
            yield self.C2_max

    @property
    def least_gain(self) -> float:
        """Share of the objective that swaps must gain for another training."""
        # Footnote 2, several pairs at once, is for speed: no swaps too small to measure.
        return ROUGH if self.rough else NEGLIGIBLE if self.swaps == "all" else 0.0


@dataclass
class Transduction:
    """The result of Algorithm 1.

    Attributes
    ----------
    labels : PseudoLabels
        Given and pseudo ranks.
    fit : Fit
        The last training.
    history : list of dict
        One record per training: ``C2``, ``objective``, the ``swaps`` made after it, and its solver
        iterations ``n_iter``.
    """

    labels: Any
    fit: Any
    history: list[Record] = field(default_factory=list)


def class_counts(
    ratio: Array, n_rows: int, predicted: Callable[[], NDArray[np.int64]] | None = None
) -> NDArray[np.int64]:
    """How many of `n_rows` rows each class gets: the ratio to rounding, by largest remainders.

    Equal remainders go to the classes that `predicted` gives the most additional rows, then to the
    more frequent class and to the one nearer to the middle: rules that do not change when the order
    of the classes is reversed. If all of them tie, the lowest class gets the row.

    Examples
    --------
    >>> import numpy as np
    >>> class_counts(np.array([0.5, 0.25, 0.25]), 5)
    array([3, 1, 1])
    >>> class_counts(np.array([0.5, 0.5]), 5, lambda: np.array([1, 4]))
    array([2, 3])
    """
    exact = np.asarray(ratio) / np.sum(ratio) * n_rows
    # Rounded, so that equal shares do not differ in their last bit.
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


def run(work: Callable[[], Any]) -> Any:
    """Do a unit of work: an engine whose workers can be lost repeats it instead."""
    return work()


def transduce(
    trainer: Trainer,
    labels: PseudoLabels,
    schedule: CostSchedule,
    counts: Callable[[Fit], Index],
    on_training: OnTraining | None = None,
    protect: Callable[[Callable[[], Any]], Any] = run,
) -> Transduction:
    """Algorithm 1.

    Parameters
    ----------
    trainer : Trainer
        Solves (4) for fixed ranks.
    labels : PseudoLabels
        The labels of the rows.
    schedule : CostSchedule
        Costs and swaps.
    counts : callable
        Class counts of the pseudo-labels, given the supervised fit.
    on_training : callable, optional
        Called with each new record of the history and the fit; a true answer ends the search there.
    protect : callable, optional
        Does a unit of work, as a whole or not at all: when a
        worker of a cluster is lost, the present value of C2 is repeated.
    """
    search = _Search(trainer, labels, schedule, on_training or (lambda record, fit: False))
    level = protect(search.train_supervised)  # Algorithm 2, line 5
    supervised = level.fit
    result = Transduction(labels, supervised, level.history)
    if labels.n_unlabeled == 0:
        return result
    protect(partial(labels.assign, supervised, counts))  # line 4
    levels = _effective_levels(schedule, supervised, labels, trainer)
    for number, C2 in enumerate(levels, start=1):  # lines 5, 6 and 17
        if level.stopped:
            break
        level = protect(partial(search.improve, C2, level.fit, number == len(levels)))
        result.fit = level.fit
        result.history += level.history
    return result


@dataclass
class _Level:
    """The trainings at one value of C2; they are kept apart so that they can be repeated."""

    C2: float
    fit: Any
    history: list[Record] = field(default_factory=list)
    stopped: bool = False


@dataclass(frozen=True)
class _Search:
    """The two units of work of Algorithm 1."""

    trainer: Trainer
    labels: PseudoLabels
    schedule: CostSchedule
    on_training: OnTraining

    def train_supervised(self) -> _Level:
        """Train on the labelled rows alone."""
        level = _Level(0.0, None)
        self._keep(level, self.trainer.train(self.schedule.C1, 0.0, None, 1.0))
        return level

    def improve(self, C2: float, fit: Any, last: bool) -> _Level:
        """Lines 7 to 16 of Algorithm 1: train and swap until no label is swapped."""
        C1, trainer, labels = self.schedule.C1, self.trainer, self.labels
        level = _Level(C2, fit)
        # A rough search has a coarse tolerance already, and no fine training at its end.
        precision = 1.0 if self.schedule.rough else trainer.coarse
        coarse = precision > 1.0
        self._keep(level, trainer.train(C1, C2, fit, precision))  # line 8
        while not level.stopped:
            n_swaps = labels.swap(level.fit, trainer.gain, self.schedule.swaps)  # lines 9 to 15
            trained = self._retrain(level) if n_swaps and self._worthwhile(level) else None
            if trained is not None:  # line 8
                level.history[-1]["swaps"] = n_swaps
                self._keep(level, trained)
                coarse = trainer.coarse > 1.0
                continue
            labels.undo()
            if not (coarse and last) or self.schedule.rough:
                return level  # line 16
            self._refine(level)  # and check again for a swap
            coarse = False
        if coarse and not self.schedule.rough:
            self._refine(level)
        return level

    def _keep(self, level: _Level, fit: Any) -> None:
        level.fit = fit
        record = {"C2": level.C2, "objective": fit.objective, "swaps": 0, "n_iter": fit.n_iter}
        level.history.append(record)
        level.stopped = bool(self.on_training(record, fit))

    def _worthwhile(self, level: _Level) -> bool:
        least = self.schedule.least_gain
        if least == 0.0:
            return True
        gained = level.C2 * self.labels.gain(level.fit, self.trainer.gain)
        return gained > least * float(level.fit.objective)

    def _retrain(self, level: _Level) -> Any | None:
        """Train on swapped labels; the objective must fall, by Proposition 2.

        A coarse solution is enough to choose the next pair. It can hide a small gain, so the
        training is refined until that shows. If it never does, the gain is too small to measure
        and the swap is not made: None. So the search always ends.
        """
        fit, precision = level.fit, self.trainer.coarse
        while precision >= FINEST:
            fit = self.trainer.train(self.schedule.C1, level.C2, fit, precision)
            if fit.objective < level.fit.objective:
                return fit
            precision *= 0.1
        return None

    def _refine(self, level: _Level) -> None:
        """Refine the last training to the usual precision; with few rows, try a cold start too."""
        train = partial(self.trainer.train, self.schedule.C1, level.C2)
        fit = train(level.fit, 1.0)
        if not fit.converged and self.labels.n_rows <= FEW_ROWS:
            cold = train(None, 1.0)
            fit = cold if cold.objective < fit.objective else fit
        swapped = len(level.history) > 1
        # After a swap the objective must have fallen, which the tolerance may hide.
        if not swapped or fit.objective < level.history[-2]["objective"]:
            level.fit = fit
            level.history[-1]["objective"] = fit.objective
            level.history[-1]["n_iter"] += fit.n_iter


def _effective_levels(
    schedule: CostSchedule, supervised: Fit, labels: PseudoLabels, trainer: Trainer
) -> list[float]:
    """The values of C2 at which unlabelled rows can change anything, and the last one.

    At smaller values all their losses together are less than the rounding errors of the supervised
    objective: training would not move, and no swap would lower the objective.
    """
    levels = list(schedule.values())
    most = labels.greatest_losses(supervised, trainer.wrong_side_loss)
    return [C2 for C2 in levels[:-1] if C2 * most > LOST_SHARE * supervised.objective] + levels[-1:]

"""How the thresholds of a model are coupled: one small class per method of the paper.

A coupling knows the penalty on t, which thresholds a row uses and whether the order of t is a
constraint. On the side of the dual, with c_k = sum_i beta_ik and the partial sums
P_k = c_1 + ... + c_k, it knows which pairs of variables may move together:

==============  ======================  ================  ====================================
coupling        penalty on t            thresholds used   constraint of the dual
==============  ======================  ================  ====================================
`Reduction`     |t - mean t|^2 / 2      all               P_{K-1} = 0 (b is free, theta is not)
`Implicit`      none                    all               P_k = 0 for every k
`Explicit`      none; t in order        beside the rank   P_{K-1} = 0 and P_k <= 0: -P_k is the
                                                          multiplier of t_k <= t_{k+1}
==============  ======================  ================  ====================================

The derivations are in ``docs/mathematics.md``. A new coupling is a new class here.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

__all__ = ["Coupling", "Explicit", "Implicit", "Reduction"]

Array = NDArray[np.float64]
Index = NDArray[np.int64]
# The interval on which the losses at thresholds first .. last - 1 are least, when all of them are
# moved by the same amount from an origin.
Least = Callable[[int, int, Array], tuple[float, float]]

BALANCED = 1e-15  # rounding error of a sum, as a share of all variables
ZERO_MULTIPLIER = 1e-12  # share of the largest partial sum below which a multiplier counts as zero


@dataclass(frozen=True)
class Coupling:
    """The base class: no penalty, every threshold used, no constraint on their order."""

    ordered: ClassVar[bool] = False  # whether the order of t is a constraint
    any_pair: ClassVar[bool] = False  # whether any two dual variables may move together

    def scaled(self, factor: float) -> Self:
        """The coupling of a problem whose objective is multiplied by a factor."""
        return self

    # The primal side ---------------------------------------------------------------------------

    def penalty(self, t: Array) -> float:
        """Value of the penalty on t."""
        return 0.0

    def penalty_curvature(self, m: int) -> Array:
        """Its second derivative R'', which is constant: the penalty is t'R''t / 2."""
        return np.zeros((m, m))

    def spans(self, m: int) -> tuple[Index, Index]:
        """The first threshold that a row uses, and the one after the last, by its rank."""
        return np.zeros(m + 1, dtype=np.int64), np.full(m + 1, m, dtype=np.int64)

    def middle(self, t: Array, least: Least) -> Array:
        """The middle of all thresholds that minimise the losses and are coupled as those given."""
        zero = np.zeros(len(t))
        return np.sort([_middle(*least(k, k + 1, zero)) for k in range(len(t))])

    # The dual side -----------------------------------------------------------------------------

    @property
    def r(self) -> float:
        """Weight of |c|^2 / 2 in the dual: t_k = b - r c_k."""
        return 0.0

    def tied(self, c: Array) -> Index:
        """For each threshold a number, the same for those that one equality constraint ties."""
        return np.arange(len(c))

    def pairs(self, m: int) -> NDArray[np.bool_]:
        """Which thresholds (raised, lowered) may move together whatever c is."""
        return np.eye(m, dtype=np.bool_)

    def worst_pair(self, c: Array, least: Array, most: Array) -> tuple[int, int, float]:
        """Thresholds (raised, lowered) of the worst allowed violation, and how large it is.

        `least` and `most` hold, for each threshold, the least gradient of a variable that can rise
        and the largest of one that can fall. -1 stands for all thresholds at once.
        """
        gap = most - least
        worst = int(np.argmax(gap))
        return worst, worst, float(gap[worst])

    def room(self, c: Array, raised: int, lowered: int) -> float:
        """How far the pair may move before a constraint on c stops it."""
        return np.inf

    def thresholds(self, c: Array, least: Array, most: Array) -> Array:
        """Thresholds from the optimality conditions: each lies between `most` and `least`.

        Sorting them never raises the objective (``docs/mathematics.md``).
        """
        return np.sort([_middle(low, high) for low, high in zip(most, least, strict=True)])

    def balance(self, beta: Array, margin: Array) -> None:
        """Restore the constraint on c, in place, where a warm start violates it."""
        for k in range(beta.shape[1]):
            beta[:, k] = zero_sum(beta[:, k].copy(), margin[:, k])


@dataclass(frozen=True)
class Reduction(Coupling):
    """RED-SVM (9) and TOR (10): theta is regularised, b is free.

    Parameters
    ----------
    weight : float
        Factor of the penalty, 1 but for problems that were scaled.
    """

    any_pair: ClassVar[bool] = True
    weight: float = 1.0

    def scaled(self, factor: float) -> Self:
        return type(self)(self.weight * factor)

    def penalty(self, t: Array) -> float:
        return 0.5 * self.weight * float(np.sum((t - t.mean()) ** 2))

    def penalty_curvature(self, m: int) -> Array:
        return self.weight * (np.eye(m) - 1.0 / m)

    def middle(self, t: Array, least: Least) -> Array:
        return t + _middle(*least(0, len(t), t))  # the penalty determines their differences

    @property
    def r(self) -> float:
        return 1.0 / self.weight

    def tied(self, c: Array) -> Index:
        return np.zeros(len(c), dtype=np.int64)

    def pairs(self, m: int) -> NDArray[np.bool_]:
        return np.ones((m, m), dtype=np.bool_)

    def worst_pair(self, c: Array, least: Array, most: Array) -> tuple[int, int, float]:
        return -1, -1, float(np.max(most) - np.min(least))

    def thresholds(self, c: Array, least: Array, most: Array) -> Array:
        return np.sort(_middle(np.max(most), np.min(least)) - self.r * c)

    def balance(self, beta: Array, margin: Array) -> None:
        zero_sum(beta.reshape(-1), margin.reshape(-1))


@dataclass(frozen=True)
class Implicit(Coupling):
    """SVOR-IMC: thresholds are free, and every row counts at each, which orders them."""


@dataclass(frozen=True)
class Explicit(Coupling):
    """SVOR-EXC: a row counts at the two thresholds beside its rank; their order is a constraint."""

    ordered: ClassVar[bool] = True

    def spans(self, m: int) -> tuple[Index, Index]:
        rank = np.arange(m + 1)
        return np.maximum(rank - 1, 0), np.minimum(rank + 1, m)

    def middle(self, t: Array, least: Least) -> Array:
        lower, upper = (_in_order(len(t), least, end) for end in (0, 1))
        return np.array([_middle(low, high) for low, high in zip(lower, upper, strict=True)])

    def _multipliers(self, c: Array) -> Array:
        """Those of t_k <= t_{k+1}; what is only rounding is zero."""
        partial = np.cumsum(c)
        scale = float(np.abs(c).sum())
        return np.where(-partial[:-1] > ZERO_MULTIPLIER * scale, -partial[:-1], 0.0)

    def tied(self, c: Array) -> Index:
        return np.concatenate([[0], np.cumsum(self._multipliers(c) <= 0)]).astype(np.int64)

    def pairs(self, m: int) -> NDArray[np.bool_]:
        return np.tri(m, dtype=np.bool_)

    def worst_pair(self, c: Array, least: Array, most: Array) -> tuple[int, int, float]:
        # Raising at k > l makes the multipliers between them grow; at k < l it takes them back,
        # which they allow as long as all of them are positive: where the two are tied.
        gap = most[None, :] - least[:, None]  # raise at k, lower at l
        tied, k = self.tied(c), np.arange(len(c))
        allowed = (k[:, None] >= k) | (tied[:, None] == tied)
        gap = np.where(allowed, gap, -np.inf)
        worst = int(np.argmax(gap))
        return worst // len(c), worst % len(c), float(gap.flat[worst])

    def room(self, c: Array, raised: int, lowered: int) -> float:
        """How far the pair may move before a multiplier of t_k <= t_{k+1} becomes zero."""
        if raised >= lowered:
            return np.inf
        return float(np.min(self._multipliers(c)[raised:lowered]))

    def thresholds(self, c: Array, least: Array, most: Array) -> Array:
        most, least, tied = most.copy(), least.copy(), self.tied(c)
        for run in np.unique(tied):
            most[tied == run] = most[tied == run].max()
            least[tied == run] = least[tied == run].min()
        most, least = np.maximum.accumulate(most), np.minimum.accumulate(least[::-1])[::-1]
        return super().thresholds(c, least, most)


def zero_sum(beta: Array, margin: Array) -> Array:
    """Restore sum(beta) = 0 in place by zeroing the fewest variables of the heavier side.

    Those with the least loss, which is those with the largest margin, are zeroed first.
    """
    excess = float(beta.sum())  # beta may be on a GPU
    if abs(excess) <= BALANCED * np.abs(beta).sum():
        return beta
    heavier = np.flatnonzero(beta * np.sign(excess) > 0)
    heavier = heavier[np.argsort(-margin[heavier], kind="stable")]
    covered = np.cumsum(np.abs(beta[heavier]))
    zeroed = int((covered < abs(excess)).sum())
    if zeroed < len(heavier):
        rest = covered[zeroed] - abs(excess)  # the last one gives only what is needed
        beta[heavier[zeroed]] = np.sign(excess) * rest
    beta[heavier[:zeroed]] = 0.0
    return beta


def _in_order(m: int, least: Least, end: int) -> Array:
    """The lowest (end 0) or highest (end 1) minimisers in order, by pooling adjacent violators."""
    zero, pools = np.zeros(m), [(0, 0, -np.inf)]
    for k in range(m):
        first, value = k, least(k, k + 1, zero)[end]
        while pools[-1][2] > value:
            first = pools.pop()[0]
            value = least(first, k + 1, zero)[end]
        pools.append((first, k + 1, value))
    return np.concatenate([np.full(last - first, value) for first, last, value in pools])


def _middle(low: float, high: float) -> float:
    """The middle of an interval, or its finite end."""
    if np.isfinite(low) and np.isfinite(high):
        return 0.5 * (float(low) + float(high))
    return float(low) if np.isfinite(low) else float(high) if np.isfinite(high) else 0.0

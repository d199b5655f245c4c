"""Order statistics of the projections, and new labels, seen from one piece."""

import numpy as np
from numpy.typing import NDArray

from tordinal.engines.base import deferred
from tordinal.engines.dask.pieces import Piece
from tordinal.swapping import Gain, misplaced

__all__ = [
    "assign_ranks",
    "best_of_pools",
    "change_sides",
    "count_free",
    "count_last",
    "count_pool",
    "count_second",
    "count_ties",
    "find_pools",
    "keys",
    "relabel",
    "sort_free",
]  # fmt: skip

Index = NDArray[np.int64]


def keys(x: NDArray[np.float64]) -> Index:
    """Integers in the order of some numbers.

    Examples
    --------
    >>> import numpy as np
    >>> bool(np.all(np.diff(keys(np.array([-np.inf, -1.5, 0.0, 1e-300, 2.0]))) > 0))
    True
    """
    bits = (np.asarray(x, dtype=np.float64) + 0.0).view(np.int64)
    return np.where(bits >= 0, bits, bits ^ np.int64(0x7FFFFFFFFFFFFFFF))


@deferred
def sort_free(piece: Piece) -> None:
    """Sort the projections of the free rows."""
    piece.sorted = np.sort(keys(piece.h[piece.free]))


def count_free(piece: Piece, probes: Index) -> Index:
    """How many free rows lie at or below each probe."""
    return np.searchsorted(piece.sorted, probes, side="right")


def count_ties(piece: Piece, cuts: Index, by_label: int) -> dict[int, Index]:
    """Free rows at each cut, by their label or all together, under the number of the block."""
    at = keys(piece.h[piece.free])
    label = piece.y[piece.free] if by_label > 1 else np.zeros(len(at), dtype=np.int64)
    ties = [np.bincount(label[at == cut], minlength=by_label) for cut in cuts]
    return {piece.number: np.array(ties).reshape(len(cuts), by_label)}


@deferred
def assign_ranks(
    piece: Piece, cuts: Index, ends: NDArray[np.bool_], below: dict[int, Index]
) -> None:
    """Give free rows the rank of the interval between the cuts that they lie in.

    `below` is the number of rows at each cut, by label, that count as below it: the first ones.
    Where `ends` is true there are none.
    """
    at = keys(piece.h[piece.free])
    label = piece.y[piece.free]
    mine = below[piece.number]
    rank = np.zeros(len(at), dtype=np.int64)
    for j, cut in enumerate(cuts):
        above = at > cut if not ends[j] else np.ones(len(at), dtype=bool)
        if not ends[j]:
            tied = at == cut
            for k in range(mine.shape[1]):
                group = np.flatnonzero(tied & (label == k) if mine.shape[1] > 1 else tied)
                above[group[mine[j, k] :]] = True
        rank += above
    piece.y = piece.y.copy()
    piece.y[piece.free] = rank


def find_pools(piece: Piece, k: int, t: float, gain: Gain) -> Index:
    """Find the rows that satisfy condition (5) at a threshold, in their order; how many there are.

    Keys that ascend in this order, the decrease of the loss and the violation, are kept with them.
    """
    free = np.flatnonzero(piece.free)
    h, weight = piece.h[free], piece.weight[free]
    piece.pools = {}
    for high, rows in zip(
        (True, False), misplaced(h, piece.y[free], weight, k, t, gain), strict=True
    ):
        d = np.abs(h[rows] - t)
        piece.pools[high] = (free[rows], keys(-weight[rows] * gain(d)), keys(-d))
    return np.array([len(piece.pools[True][0]), len(piece.pools[False][0])])


def best_of_pools(piece: Piece, n: int) -> dict[tuple[int, bool], tuple[Index, ...]]:
    """The first n rows of each pool with their keys, under the number of the block."""
    return {
        (piece.number, high): tuple(array[:n] for array in pool)
        for high, pool in piece.pools.items()
    }


def count_pool(piece: Piece, high: bool, probes: Index) -> Index:
    """How many rows of a pool have a first key at or below each probe."""
    return np.searchsorted(piece.pools[high][1], probes, side="right")


def count_second(piece: Piece, high: bool, first: int, probes: Index) -> Index:
    """Among those with this first key, how many have a second one at or below each probe."""
    return np.searchsorted(_tied(piece, high, first)[1], probes, side="right")


def count_last(piece: Piece, high: bool, first: int, second: int) -> dict[int, int]:
    """How many rows have these two keys, under the number of the block."""
    return {piece.number: int((_tied(piece, high, first)[1] == second).sum())}


def _tied(piece: Piece, high: bool, first: int) -> tuple[Index, Index]:
    rows, one, two = piece.pools[high]
    same = one == first
    return rows[same], two[same]


@deferred
def change_sides(
    piece: Piece, k: int, high: bool, first: int, second: int, last: dict[int, int]
) -> None:
    """Relabel the rows of a pool before these keys, and the first few that have both (12, 13)."""
    rows, one, two = piece.pools[high]
    before = (one < first) | ((one == first) & (two < second))
    ties = np.sort(rows[(one == first) & (two == second)])[: last[piece.number]]
    piece.y[np.concatenate([rows[before], ties])] = k + 1 if high else k


@deferred
def relabel(piece: Piece, rows: dict[int, Index], label: int) -> None:
    """Give some rows, by their place in their block, a label."""
    if piece.number in rows:
        piece.y[rows[piece.number]] = label

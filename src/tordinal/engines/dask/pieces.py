"""Rows of one block with all that is known of them, and what is done with them on their worker.

Everything here is a function of one `Piece`. Pieces never leave their worker; what the functions
return is of the size of w, of the thresholds, or of a few rows.
"""

import math
import os
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from tordinal.engines.base import Block, deferred
from tordinal.engines.host.dense import DenseBlock
from tordinal.engines.host.sparse import SparseBlock
from tordinal.labels import folds_by_rank, label_array, single_column, unlabeled_rows
from tordinal.problem import Problem
from tordinal.reduction import UNLABELED, Ranks, ranks
from tordinal.swapping import Gain, greatest_losses, labeling_gain, misplaced

__all__ = ["Piece", "Prepared", "StoredRows"]

Array = NDArray[np.float64]
Index = NDArray[np.int64]

FEW_LABELED = 0.2  # share of labelled rows up to which they are kept a second time, on their own
MEMORY_SHARE = 0.4  # of a worker's memory limit that rows may take; the others go to disk


class StoredRows:
    """Rows that lie in a file of their worker and are read whenever they are needed.

    Parameters
    ----------
    path : str
        The file.
    X : matrix
        The rows, which are written to it.
    """

    def __init__(self, path: str, X: Any):
        self.path, self.shape, self.dense = path, X.shape, not sp.issparse(X)
        arrays = [np.ascontiguousarray(X)] if self.dense else [X.data, X.indices, X.indptr]
        # Bare numbers, without NumPy's header: threads that parse headers at the same time can
        # end in an error inside CPython 3.11 (its parser counts the depth of all threads as one).
        self.parts = [(array.dtype, array.size) for array in arrays]
        with open(path, "wb") as stream:
            for array in arrays:
                array.tofile(stream)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "path":
            raise AttributeError(name)
        return getattr(products(self.read()), name)

    def read(self) -> Any:
        """The rows as a matrix."""
        with open(self.path, "rb") as stream:
            arrays = [np.fromfile(stream, dtype, size) for dtype, size in self.parts]
        if self.dense:
            return arrays[0].reshape(self.shape)
        return sp.csr_matrix(tuple(arrays), shape=self.shape)

    def __del__(self) -> None:
        Path(self.__dict__.get("path", os.devnull + "-none")).unlink(missing_ok=True)


def products(X: Any) -> Any:
    """Products with rows, wherever they lie."""
    if isinstance(X, StoredRows):
        return X
    return SparseBlock(X, slice(0, X.shape[0])) if sp.issparse(X) else DenseBlock(X)


@dataclass
class Prepared:
    """Some rows, ready to be worked with.

    Attributes
    ----------
    number : int
        Their place among all blocks.
    X : matrix or StoredRows
        Features.
    rank : ndarray of shape (n_rows,)
        Given ranks, `UNLABELED` where there is none.
    weight : ndarray of shape (n_rows,)
        Factors of their costs.
    labeled : matrix or None
        The labelled rows on their own, where they are few.
    """

    number: int
    X: Any
    rank: Ranks
    weight: Array
    labeled: Any

    @property
    def nbytes(self) -> int:
        """Bytes of the features in memory."""
        return nbytes(self.X) + nbytes(self.labeled)


def nbytes(X: Any) -> int:
    """Bytes that rows take in memory."""
    if X is None or isinstance(X, StoredRows):
        return 0
    return X.data.nbytes + X.indices.nbytes + X.indptr.nbytes if sp.issparse(X) else X.nbytes


class Piece(Block):
    """A block of rows with what Algorithm 1 knows of them.

    Attributes
    ----------
    number : int
        Its place among all blocks, by which ties are broken.
    free : ndarray of shape (n_rows,)
        Which rows have no given rank.
    weight : ndarray of shape (n_rows,)
        Factors of their costs.
    """

    def __init__(self, prepared: Prepared):
        super().__init__(products(prepared.X))
        self.number, self.weight = prepared.number, prepared.weight
        self.free = prepared.rank == UNLABELED
        self.y = np.where(self.free, 0, prepared.rank)
        n = len(self.y)
        self.h, self.z, self.cost = np.zeros(n), np.zeros(n), np.zeros(n)
        self.pull, self.D = np.zeros(n), np.zeros(n)
        self.u: Any = None
        self.kept: tuple[Any, ...] = ()
        self.sorted: Index = np.empty(0, dtype=np.int64)
        self.pools: dict[bool, tuple[Index, Index, Index]] = {}
        self.fold = folds_by_rank(prepared.rank, prepared.number)
        self.supervised: Block = self._on_their_own(prepared.labeled)

    def _on_their_own(self, X: Any) -> Block:
        """The labelled rows as a block of their own; where they are many, all rows."""
        if X is None:
            return self
        block = Block(products(X))
        block.y = self.y[~self.free]
        block.weight = self.weight[~self.free]  # type: ignore[attr-defined]
        block.fold = self.fold[~self.free]  # type: ignore[attr-defined]
        return block


# Before the first training -----------------------------------------------------------------------


def read_rows(number: int, X: Any, dense: bool) -> Any:
    """Check a block of rows, and bring it to a form that can be worked with."""
    if hasattr(X, "tocsr"):
        X = X.tocsr()
    if not sp.issparse(X):
        X = np.asarray(X)
    if X.ndim != 2:
        raise ValueError(f"X: block {number} has {X.ndim} dimensions, not 2")
    if X.dtype not in (np.float32, np.float64):
        X = X.astype(np.float64)
    values = X.data if sp.issparse(X) else X
    if not np.isfinite(values).all():
        raise ValueError(f"X: block {number} contains NaN or infinity; fill or drop those values")
    if sp.issparse(X):
        if dense:
            return X.toarray()
        X = sp.csr_matrix(X)
        if not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        if X.indices.dtype != np.int32 and X.shape[1] < 2**31:
            X.indices = X.indices.astype(np.int32)
    return X


def distinct_labels(y: Any) -> tuple[NDArray[Any], int]:
    """The distinct labels of a block without missing ones, and its number of rows."""
    values = label_array(single_column(y))
    if values.dtype.kind == "O":
        import pandas as pd

        seen = dict.fromkeys(v for v in values.tolist() if not pd.isna(v))
        labels = np.empty(len(seen), dtype=object)
        labels[:] = list(seen)
        return labels, len(values)
    kept = values[~np.isnan(values)] if values.dtype.kind == "f" else values
    return np.unique(kept), len(values)


def encode(y: Any, classes: NDArray[Any]) -> Ranks:
    """Ranks of a block's labels."""
    values = label_array(single_column(y))
    hidden = unlabeled_rows(values)
    if UNLABELED in classes.tolist():
        import pandas as pd

        hidden = np.asarray(pd.isna(values), dtype=bool)
    rank = np.full(len(values), UNLABELED, dtype=np.int64)
    if values.dtype.kind in "biuf" and classes.dtype.kind in "biuf":
        order = np.argsort(classes)
        rank[~hidden] = order[np.searchsorted(classes[order], values[~hidden])]
    else:
        lookup = {label: k for k, label in enumerate(classes.tolist())}
        rank[~hidden] = [lookup[label] for label in values[~hidden].tolist()]
    return rank


def features_of(X: Any) -> tuple[int, int]:
    """How many rows and features a block has."""
    return X.shape


def moments(X: Any) -> tuple[int, Array, float]:
    """Rows, sums of dense features, and the sum of all squares."""
    if sp.issparse(X):
        return X.shape[0], np.zeros(0), float((X.data.astype(np.float64) ** 2).sum())
    return X.shape[0], X.sum(axis=0, dtype=np.float64), 0.0


def squares(X: Any, centre: Array) -> float:
    """The sum of squares of dense features around their means."""
    return float(((X - centre) ** 2).sum())


class _Kept:
    """Bytes of rows that a worker holds in memory, by the fit that they belong to."""

    lock = threading.Lock()
    bytes: dict[str, int] = {}  # noqa: RUF012


def prepare(
    number: int, X: Any, y: Any, weight: Any, classes: NDArray[Any], centre: Any, scale: float,
    token: str,
) -> Prepared:  # fmt: skip
    """Centre and scale rows, encode their labels, and store what memory has no room for."""
    from distributed import get_worker

    if sp.issparse(X):
        X = X if scale == 1.0 else X / np.sqrt(scale)
    else:
        X = np.ascontiguousarray((X - centre) / np.sqrt(scale))
    rank = encode(y, classes)
    if len(rank) != X.shape[0]:
        raise ValueError(f"y: block {number} has {len(rank)} labels for {X.shape[0]} rows of X")
    weight = np.ones(len(rank)) if weight is None else np.asarray(weight, dtype=np.float64)
    if weight.shape != rank.shape or not (np.isfinite(weight).all() and (weight >= 0).all()):
        raise ValueError(
            f"sample_weight: block {number} must hold {len(rank)} weights, finite and not negative"
        )
    given = np.flatnonzero(rank != UNLABELED)
    few = len(given) <= FEW_LABELED * len(rank)
    prepared = Prepared(number, X, rank, weight, X[given] if few else None)
    worker = get_worker()
    limit = worker.memory_manager.memory_limit
    with _Kept.lock:
        kept = _Kept.bytes.get(token, 0) + prepared.nbytes
        stored = limit is not None and kept > MEMORY_SHARE * limit
        if not stored:
            _Kept.bytes[token] = kept
    if stored:
        path = os.path.join(worker.local_directory, f"tordinal-{token}-{number}.npy")
        prepared.X = StoredRows(path, X)
    return prepared


# Functions of one piece --------------------------------------------------------------------------


def set_costs(block: Any, labeled: float, free: float, hidden: int | None = None) -> float:
    """Costs of the rows, of which a fold of the labelled ones may be hidden; their sum."""
    if isinstance(block, Piece):
        block.cost = np.where(block.free, free, labeled) * block.weight
    else:
        block.cost = labeled * block.weight
    if hidden is not None:
        block.cost[block.fold == hidden] = 0.0
    return float(block.cost.sum())


def fold_projections(block: Any, k: int, share: float) -> tuple[list[Array], list[Ranks]]:
    """Projections and ranks of a share of the rows of a fold, in lists that add up."""
    rows = _evenly_spread(np.flatnonzero(block.fold == k), share)
    return [block.h[rows]], [block.y[rows]]


def free_projections(piece: Piece, share: float) -> list[Array]:
    """Projections of a share of the unlabelled rows, in a list that adds up."""
    return [piece.h[_evenly_spread(np.flatnonzero(piece.free), share)]]


def _evenly_spread(rows: Index, share: float) -> Index:
    n = min(len(rows), math.ceil(share * len(rows)))
    return rows[np.linspace(0, len(rows) - 1, n).astype(np.int64)] if n else rows[:0]


@deferred
def start_cold(block: Any, problem: Problem) -> None:
    """Begin at w = 0 and t = 0."""
    block.h = np.zeros(len(block.y))
    if not problem.smooth:
        low, high = problem.lines.box
        block.u = np.full((len(block.y), problem.n_thresholds), 0.5 * (low + high))


@deferred
def take_over(piece: Piece, problem: Problem, t: Array) -> None:
    """Begin where the labelled rows on their own have ended.

    Their multipliers are taken over, unless they were lost with a worker.
    """
    if problem.smooth:
        return
    u = problem.multiplier_bounds(piece.y, piece.h, t)
    known = getattr(piece.supervised, "u", None)
    if known is not None:
        u[~piece.free] = known if piece.supervised is not piece else known[~piece.free]
    piece.u = u


def losses(block: Any, problem: Problem, t: Array) -> float:
    """The loss terms at h and t."""
    return problem.losses(block.y, block.cost, block.h, t)


def given_counts(piece: Piece, n_classes: int) -> tuple[Index, int, float]:
    """Given ranks by class, how many rows are free, and the weight of the given ones."""
    given = ~piece.free
    counts = np.bincount(piece.y[given], minlength=n_classes)
    return counts, int(piece.free.sum()), float(piece.weight[given].sum())


def predicted_counts(piece: Piece, t: Array) -> Index:
    """Free rows by the class that the thresholds put them in."""
    return np.bincount(ranks(piece.h[piece.free], t), minlength=len(t) + 1)


@deferred
def keep(piece: Piece) -> None:
    """Remember labels, projections and multipliers; swaps and trainings write new ones."""
    piece.kept = (piece.y, piece.h, None if piece.u is None else piece.u.copy())
    piece.y = piece.y.copy()


@deferred
def take_back(piece: Piece) -> None:
    """Return to what was remembered."""
    piece.y, piece.h, piece.u = piece.kept
    piece.kept = ()


def gain_of_swap(piece: Piece, t: Array, gain: Gain) -> float:
    """How much the loss falls from the labels that were remembered to the present ones."""
    return labeling_gain(piece.h, t, piece.kept[0], piece.y, piece.weight, gain)


def greatest_losses_of(piece: Piece, t: Array, wrong_side_loss: Gain) -> float:
    """A bound of the losses of the free rows."""
    return greatest_losses(piece.h[piece.free], t, piece.weight[piece.free], wrong_side_loss)


def pseudo_counts(piece: Piece, n_classes: int) -> Index:
    """Pseudo-labels by class."""
    return np.bincount(piece.y[piece.free], minlength=n_classes)


def crossings(piece: Piece) -> int:
    """How many boundaries rows have moved up across."""
    return int(np.maximum(piece.y - piece.kept[0], 0).sum())


# Order statistics --------------------------------------------------------------------------------


def keys(x: Array) -> Index:
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
    """Bring the projections of the free rows into order."""
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
def hand_out(piece: Piece, cuts: Index, ends: NDArray[np.bool_], below: dict[int, Index]) -> None:
    """Give free rows the rank of the interval between the cuts that they lie in.

    `below` says how many of the rows at each cut, by label, lie below it: the first ones. Where
    `ends` is true no row does.
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


# Swaps at one threshold ----------------------------------------------------------------------


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

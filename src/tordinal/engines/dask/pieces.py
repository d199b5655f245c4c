"""Rows of one block with their state, and functions of them that run on their worker.

Pieces never leave their worker; what functions of a piece return is of the size of w, of the
thresholds, or of a few rows.
"""

import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from tordinal.engines.base import Block, deferred
from tordinal.engines.host.dense import DenseBlock
from tordinal.engines.host.sparse import SparseBlock
from tordinal.labels import folds_by_rank
from tordinal.problem import Problem
from tordinal.reduction import UNLABELED, Ranks, ranks
from tordinal.swapping import Gain, greatest_losses, labeling_gain

__all__ = ["Piece", "PreparedBlock", "StoredRows"]

Array = NDArray[np.float64]
Index = NDArray[np.int64]

FEW_LABELED = 0.2  # share of labelled rows up to which a second copy of them is kept


class StoredRows:
    """Rows in a file of their worker, which is read whenever they are needed.

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
    """Products with rows, in memory or on disk."""
    if isinstance(X, StoredRows):
        return X
    return SparseBlock(X, slice(0, X.shape[0])) if sp.issparse(X) else DenseBlock(X)


@dataclass
class PreparedBlock:
    """Some rows, checked, encoded and scaled.

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
        A copy of the labelled rows, if they are few.
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
    """A block of rows with the state of Algorithm 1.

    Attributes
    ----------
    number : int
        Its place among all blocks; it breaks ties.
    free : ndarray of shape (n_rows,)
        Which rows have no given rank.
    weight : ndarray of shape (n_rows,)
        Factors of their costs.
    """

    def __init__(self, prepared: PreparedBlock):
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
        self.supervised: Block = self._labeled_block(prepared.labeled)

    def _labeled_block(self, X: Any) -> Block:
        """The labelled rows as a separate block; all rows if most are labelled."""
        if X is None:
            return self
        block = Block(products(X))
        block.y = self.y[~self.free]
        block.weight = self.weight[~self.free]  # type: ignore[attr-defined]
        block.fold = self.fold[~self.free]  # type: ignore[attr-defined]
        return block


# Functions of one piece --------------------------------------------------------------------------


def set_costs(block: Any, labeled: float, free: float, hidden: int | None = None) -> float:
    """Set the costs of the rows, 0 in a hidden fold of the labelled ones; return their sum."""
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
def start_from_supervised(piece: Piece, problem: Problem, t: Array) -> None:
    """Begin at the solution of the labelled rows.

    Their multipliers are copied, unless they were lost with a worker.
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


def given_weights(piece: Piece, n_classes: int) -> tuple[Array, int]:
    """The weight of the given ranks by class, and how many rows are free."""
    given = ~piece.free
    weights = np.bincount(piece.y[given], weights=piece.weight[given], minlength=n_classes)
    return weights.astype(np.float64), int(piece.free.sum())


def predicted_counts(piece: Piece, t: Array) -> Index:
    """Unlabelled rows by the class that the thresholds predict."""
    return np.bincount(ranks(piece.h[piece.free], t), minlength=len(t) + 1)


@deferred
def keep(piece: Piece) -> None:
    """Remember labels, projections and multipliers before a swap and a training."""
    piece.kept = (piece.y, piece.h, None if piece.u is None else piece.u.copy())
    piece.y = piece.y.copy()


@deferred
def undo_swap(piece: Piece) -> None:
    """Restore them."""
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
    """How many boundaries rows have crossed upwards."""
    return int(np.maximum(piece.y - piece.kept[0], 0).sum())

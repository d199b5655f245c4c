"""Where a linear model runs: rows on this machine, in blocks that the cores work on.

Solvers that use products only see rows through this interface: functions of one block are
mapped over all blocks, and what they return is added up. X stays where it is and so does every
vector with an entry per row; only w, t and sums come back. The same functions run wherever blocks
lie.
"""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from tordinal.engines.base import Block
from tordinal.engines.host.dense import DenseBlock
from tordinal.engines.host.pseudo_labels import HostLabels
from tordinal.engines.host.sparse import SparseBlock
from tordinal.reduction import Ranks
from tordinal.threads import CHUNK, SMALL, blocks, in_blocks, n_threads

__all__ = ["Rows", "linear_rows", "power_of_four", "size_of"]

Array = NDArray[np.float64]
Index = NDArray[np.int64]

DENSE_FEATURES = 300  # sparse rows with up to so many features are made dense
MOST_FEATURES = 1500  # beyond, a matrix over the features is too large to factor often
NEAR_ONE = 16.0  # sparse rows whose scale is within this factor of 1 are not rescaled
SMALLEST, MOST = -250, 511  # powers of four: 4^511 is finite and its inverse a normal number
ERRORS = 4.0 * np.finfo(np.float64).eps  # of a product of a feature with its weight
LARGE = 2**25  # bytes of a dense matrix from which a second thread helps


class Rows:
    """The rows of a linear model on this machine.

    Parameters
    ----------
    X : {ndarray, CSR matrix} of shape (n_rows, n_features)
        Features.
    scale : float
        The square of the divisor of the features.
    centre : ndarray of shape (n_features,) or None
        What was subtracted from the features first.
    """

    in_features = resolved = True

    def __init__(self, X: Any, scale: float = 1.0, centre: Array | None = None):
        self.matrix, self.scale, self.centre = X, scale, centre
        self.n_rows, self.n_features = X.shape
        large = X.nnz >= SMALL if sp.issparse(X) else X.nbytes >= LARGE
        size = max(1, -(-self.n_rows // n_threads())) if large else self.n_rows
        self.slices = list(blocks(self.n_rows, min(size, CHUNK)))
        make = partial(SparseBlock, X) if sp.issparse(X) else lambda piece: DenseBlock(X[piece])
        self.blocks = [Block(make(piece)) for piece in self.slices]

    def __sizeof__(self) -> int:
        """Size in bytes, so that a cluster sends it once and not with every task."""
        return object.__sizeof__(self) + size_of([self.matrix])

    def take(self, index: Index) -> Self:
        """Some of the rows."""
        if len(index) == self.n_rows:
            return self
        return type(self)(self.matrix[index], self.scale, self.centre)

    def private(self, share: float = 1.0) -> Self:
        """The rows for one solver among several that work at the same time."""
        return type(self)(self.matrix, self.scale, self.centre)

    def pseudo_labels(self, rank: Ranks, weight: Array) -> HostLabels:
        """Labels of the rows."""
        return HostLabels(rank, weight)

    @property
    def dtype(self) -> Any:
        """Precision of the products with dense rows at the moment."""
        return self.blocks[0].X.rows.dtype

    def gather(self, index: Index) -> Any:
        """Some dense rows as a matrix, in the present precision."""
        if len(self.blocks) == 1:
            return self.blocks[0].X.rows[index]
        which = np.searchsorted([piece.stop for piece in self.slices], index, side="right")
        rows = np.empty((len(index), self.n_features), dtype=self.blocks[0].X.rows.dtype)
        for b, (block, piece) in enumerate(zip(self.blocks, self.slices, strict=True)):
            rows[which == b] = block.X.rows[index[which == b] - piece.start]
        return rows

    @property
    def dense(self) -> bool:
        """Whether the rows are dense."""
        return self.blocks[0].X.dense

    @property
    def few_features(self) -> bool:
        """Whether there are few enough features to form a matrix over them."""
        return self.dense and self.n_features <= MOST_FEATURES

    def use(self, *, single: bool) -> None:
        """Choose the precision of products with dense rows; sums are exact where it matters."""
        for block in self.blocks:
            if self.dense:
                block.X.use(single=single)

    def put(self, **vectors: Any) -> None:
        """Set vectors; each block gets its part."""
        for name, vector in vectors.items():
            for block, piece in zip(self.blocks, self.slices, strict=True):
                setattr(block, name, vector[piece])

    def get(self, name: str) -> Array:
        """A vector of all rows."""
        if len(self.blocks) == 1:
            return getattr(self.blocks[0], name)
        return np.concatenate([getattr(block, name) for block in self.blocks])

    def sum(self, work: Callable[..., Any], *args: Any) -> Any:
        """Map a function over the blocks and add up what it returns, or each of its items."""
        if getattr(work, "light", False) and self.n_rows <= CHUNK:
            results = [work(block, *args) for block in self.blocks]
        else:
            results = in_blocks(
                len(self.blocks), lambda p: work(self.blocks[p.start], *args), size=1
            )
        if len(results) == 1:
            return results[0]
        if isinstance(results[0], tuple):
            return tuple(_total(items) for items in zip(*results, strict=True))
        return _total(results)

    def dot(self, v: Array) -> Array:
        """X v, for all rows, exactly."""
        parts: list[Array] = in_blocks(
            len(self.blocks), lambda p: self.blocks[p.start].X.exact_dot(v), size=1
        )
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def linear_coef(self, a: Array, coef: Array | None) -> Array | None:
        """The w of the solver."""
        return coef

    def shift(self, a: Array, coef: Array | None) -> float:
        """The constant that true projections exceed those of a solver by."""
        return 0.0 if coef is None or self.centre is None else float(coef @ self.centre)

    def rounding(self, a: Array, coef: Array | None) -> float:
        """Bound of the rounding errors in projections that a model predicts."""
        if coef is None or self.centre is None:
            return 0.0
        return ERRORS * float(np.abs(coef) @ np.abs(self.centre))

    def uncertainty(self, a: Array) -> float:
        """0: there are no kernel values."""
        return 0.0

    def predicted(self, a: Array, coef: Array | None) -> tuple[Array, float]:
        """Projections that a model with these weights predicts, minus a shift; and the shift."""
        centre = 0.0 if self.centre is None else self.centre
        shift = self.shift(a, coef)
        h = (self.matrix * np.sqrt(self.scale) + centre) @ coef
        return np.asarray(h - shift, dtype=np.float64), shift


def linear_rows(X: Any) -> Rows:
    """The rows of a linear model, with features that are neither large nor small.

    Dense features are centred. As b is free this changes nothing but a common shift of h and t, and
    it keeps them accurate however far from the origin they lie.
    """
    if sp.issparse(X):
        if not X.has_canonical_format:
            X = X.copy()  # the buffers may be the caller's
            X.sum_duplicates()
        scale = power_of_four(_mean_square(X.data) * len(X.data) / max(X.shape[0], 1))
        if 1.0 / NEAR_ONE <= scale <= NEAR_ONE:
            return Rows(X)  # without a copy
        return Rows(X.astype(np.float64) / np.sqrt(scale), scale)
    centre = X.mean(axis=0, dtype=np.float64)
    X = X - centre
    scale = power_of_four(_mean_square(X))
    if scale != 1.0:
        X /= np.sqrt(scale)
    return Rows(np.ascontiguousarray(X), scale, centre)


def _mean_square(X: Array) -> float:
    """The mean of |x|^2, also where the squares are too large for a number."""
    largest = float(np.max(np.abs(X), initial=0.0))
    if largest == 0.0:
        return 0.0
    if not np.isfinite(largest):
        return np.inf
    unit = float(2.0 ** np.floor(np.log2(largest)))
    return float(np.sum((X / unit) ** 2)) / len(X) * unit * unit


def power_of_four(value: float) -> float:
    """The power of four nearest to a positive number, 1 for any other: dividing by it is exact."""
    if not value > 0:
        return 1.0
    return float(4.0 ** np.clip(np.round(0.5 * np.log2(value)), SMALLEST, MOST))


def size_of(values: Iterable[Any]) -> int:
    """Bytes of the arrays and CSR matrices among some values."""
    total = 0
    for value in values:
        parts = (value.data, value.indices, value.indptr) if sp.issparse(value) else (value,)
        total += sum(int(getattr(part, "nbytes", 0)) for part in parts)
    return total


def _total(items: Any) -> Any:
    """The sum of what blocks have returned; None where they return nothing."""
    items = list(items)
    return None if items[0] is None else sum(items[1:], start=items[0])

"""What an engine provides, as protocols: the interface between the problem and where it runs."""

from collections.abc import Callable
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from tordinal.reduction import Ranks
from tordinal.swapping import Gain, Swaps

__all__ = [
    "Block", "Fit", "KernelMatrix", "PseudoLabels", "RowBlocks", "Samples", "TrainingData",
    "deferred", "light", "project",
]  # fmt: skip

Array = NDArray[np.float64]
Index = NDArray[np.int64]


class Fit(Protocol):
    """A trained threshold model. Projections of the rows stay where the rows live."""

    @property
    def thresholds(self) -> Array: ...

    @property
    def objective(self) -> float: ...

    @property
    def n_iter(self) -> int: ...

    @property
    def converged(self) -> bool: ...


class PseudoLabels(Protocol):
    """Labels of all rows, given or found, where the rows live."""

    n_rows: int
    n_unlabeled: int

    def assign(self, supervised: Any, counts: Callable[[Any], Index]) -> None:
        """Algorithm 2: sort unlabelled rows by projection and assign ranks by the class counts."""

    def swap(self, fit: Any, gain: Gain, swaps: Swaps) -> int:
        """Lines 9 to 15 of Algorithm 1; return the number of pairs. `undo` restores the labels."""

    def gain(self, fit: Any, gain: Gain) -> float:
        """How much the loss at the fit falls from the labels before the swap to those after it."""

    def undo(self) -> None:
        """Return to the labels before the last swap."""

    def greatest_losses(self, fit: Any, wrong_side_loss: Gain) -> float:
        """A bound of the losses of all unlabelled rows at a fit, in units of C2."""


class TrainingData(Protocol):
    """Training rows as a solver holds them: as `Samples` or as a `KernelMatrix`.

    Attributes
    ----------
    in_features : bool
        Whether a solver works with the features of the rows, or with kernel values between them.
    n_rows : int
        How many rows there are.
    scale : float
        The divisor of squared features, or of kernel values.
    resolved : bool
        Whether rows differ by more than rounding.
    """

    in_features: bool
    n_rows: int
    scale: float
    resolved: bool

    def private(self, share: float = 1.0) -> Self:
        """The rows for one solver among several that work at the same time."""

    def linear_coef(self, a: Array, coef: Array | None) -> Array | None:
        """The w of a linear kernel: that of the solver, or of the weights of the rows."""

    def shift(self, a: Array, coef: Array | None) -> float:
        """The constant that true projections exceed those of a solver by."""

    def rounding(self, a: Array, coef: Array | None) -> float:
        """Bound of the rounding errors in projections that a model predicts."""

    def uncertainty(self, a: Array) -> float:
        """About how much errors of kernel values change the objective at its minimum."""

    def predicted(self, a: Array, coef: Array | None) -> tuple[Array, float]:
        """Projections that a model with these weights predicts, minus a shift; and the shift."""

    def pseudo_labels(self, rank: Ranks, weight: Array) -> PseudoLabels:
        """Labels of the rows, where a solver leaves their projections."""


class RowBlocks(Protocol):
    """Rows in blocks, wherever these lie: functions of a block are mapped and summed.

    Attributes
    ----------
    n_features : int
        How many features there are.
    """

    n_features: int

    @property
    def few_features(self) -> bool:
        """Whether a matrix over the features can be formed."""

    def sum(self, work: Callable[..., Any], *args: Any) -> Any:
        """Map a function over the blocks and add up what it returns, or each of its items."""


class Samples(TrainingData, RowBlocks, Protocol):
    """Rows whose features are in memory: single rows and vectors of all rows can be read, too."""

    @property
    def dtype(self) -> Any:
        """Current precision of the products with dense rows."""

    def take(self, index: Index) -> Self:
        """Some of the rows."""

    def use(self, *, single: bool) -> None:
        """Choose the precision of products with dense rows."""

    def gather(self, index: Index) -> Any:
        """Some dense rows as a matrix."""

    def put(self, **vectors: Any) -> None:
        """Set vectors; each block gets its part."""

    def get(self, name: str) -> Array:
        """A vector of all rows."""

    def dot(self, v: Array) -> Array:
        """X v, for all rows, exactly."""


class KernelMatrix(TrainingData, Protocol):
    """The symmetric matrix K of kernel values between training rows, divided by `scale`.

    Attributes
    ----------
    device : Device or None
        The GPU that holds it; None: this machine.
    full : bool
        Whether the matrix is held in full on this machine.
    rows : ndarray of shape (n_rows, n_rows)
        The matrix, if it is.
    diagonal : ndarray of shape (n_rows,)
        Its diagonal.
    magnitude, accuracy : float
        About the largest kernel value before scaling, and the error of one.
    """

    device: Any
    full: bool
    rows: Any
    diagonal: Array
    magnitude: float
    accuracy: float

    def compute(self, rows: Any, columns: Any = slice(None)) -> Array:
        """Kernel values of some training rows with others, not from the cache."""

    def block(self, rows: Any, columns: Any) -> Any:
        """Kernel values of some rows with some columns."""

    def combine(self, index: Index, coefficients: Array) -> Array:
        """The combination of some rows: K[:, index] @ coefficients."""

    def times(self, v: Array) -> Array:
        """K v, accumulated in float64."""


class Block:
    """Some rows, with their entries of the vectors that a solver keeps.

    Attributes
    ----------
    X : DenseBlock or SparseBlock
        Products with the rows.
    y, cost : ndarray of shape (n_rows,)
        Their ranks and costs.
    h, z : ndarray of shape (n_rows,)
        Their projections, and how those change along a direction.
    u : ndarray of shape (n_rows, n_thresholds)
        Multipliers of a piecewise linear loss.
    pull, D : ndarray of shape (n_rows,)
        Derivatives in h and curvatures at the last evaluation.
    """

    y: Ranks
    cost: Array
    h: Array
    z: Array
    u: Array
    pull: Array
    D: Array

    def __init__(self, X: Any):
        self.X: Any = X


def light(work: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a function of a block as too quick to gain from a second thread."""
    work.light = True  # type: ignore[attr-defined]
    return work


def deferred(work: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a function of a block that returns nothing: it may run later, with the next call."""
    work.deferred = True  # type: ignore[attr-defined]
    return work


@deferred
def project(block: Block, w: Array) -> None:
    """Set h = X w."""
    block.h = block.X.dot(w)

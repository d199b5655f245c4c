"""Newton's equations for a linear model, in three ways.

With D the curvatures of the rows, B = X'E the mixed derivatives and M those in t they are

    (width I + X'DX) v - B tau = -width g_w,      M tau - B'v = -width g_t

Few dense features: the matrix is formed (`DirectEquations`). For a piecewise linear loss few rows
change their curvature from one step, or one training, to the next, so its factor is kept and
updated if single rows can be gathered; otherwise the matrix is summed at every step. For a
smooth loss all curvatures change a little, so an old factor is a good preconditioner of conjugate
gradients (`PreconditionedEquations`). Many features: conjugate gradients with the diagonal as
preconditioner (`DiagonalEquations`).
"""

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dgetrf, dgetrs

from tordinal.engines.base import Block, RowBlocks
from tordinal.solvers.linalg import Factor, add_squares, conjugate_gradients
from tordinal.solvers.tuning import NEWTON as TUNING

__all__ = ["Equations", "Slopes", "equations_for"]

Array = NDArray[np.float64]

FAINT = 1e-6  # share of all costs below which curved rows are too few for a mean


class Slopes(NamedTuple):
    """The objective and its derivatives at a point.

    Attributes
    ----------
    value : float
        The objective.
    w, t : ndarray
        Its derivatives g_w and g_t.
    mixed : ndarray of shape (n_features, n_thresholds)
        B, with the sign changed and multiplied by the width.
    tt : ndarray of shape (n_thresholds, n_thresholds)
        M, multiplied by the width.
    width : float
        That of the band; 1 for a smooth loss.
    """

    value: float
    w: Array
    t: Array
    mixed: Array
    tt: Array
    width: float

    def along(self, v: Array, tau: Array) -> float:
        """The derivative along a direction."""
        return float(self.w @ v + self.t @ tau)


class Equations(Protocol):
    """Newton's equations for some rows.

    Attributes
    ----------
    rows : RowBlocks
        The rows.
    accurate : bool
        Whether conjugate gradients, where they are used, go on until rounding does not matter.
    """

    rows: RowBlocks
    accurate: bool

    def direction(self, slopes: Slopes) -> tuple[Array, Array]:
        """The direction (v, tau), for the curvatures of the last evaluation in the blocks."""

    def repeated(self, slopes: Slopes) -> tuple[Array, Array]:
        """The direction by the equations of the last call: quick, and accurate near that point."""

    def reset(self) -> None:
        """Discard what was kept from earlier calls."""


def equations_for(rows: RowBlocks, smooth: bool) -> Equations:
    """Choose the equations for the rows and the loss."""
    if not rows.few_features:
        return DiagonalEquations(rows)
    return PreconditionedEquations(rows) if smooth else DirectEquations(rows)


class DirectEquations:
    """width I + X'DX, factored, and updated when few rows change their curvature.

    With U those rows and d their changes, the inverse follows from Woodbury's identity. Rows are
    centred at c, the mean of those that were curved when the matrix was factored: with thresholds
    t - c.w instead of t, the mixed term of v and a common shift of all thresholds vanishes.
    Otherwise it is a difference of large numbers, which single precision cannot hold.
    """

    def __init__(self, rows: Any):
        self.rows, self.accurate = rows, True
        self.updated = hasattr(rows, "gather")
        self.most = TUNING.updated_rows + rows.n_features // TUNING.features_per_updated_row
        self.width, self.age = 0.0, 0
        self.matrix: Any = None
        self.D: Array = np.empty(0)
        self.Z: Any = None

    def direction(self, slopes: Slopes) -> tuple[Array, Array]:
        self._refresh(slopes)
        self._mixed = slopes.mixed - np.outer(self.centre, slopes.tt.sum(axis=1))
        solved = self._solve(np.column_stack([self._right_side(slopes), self._mixed]))
        self._carried = solved[:, 1:]
        self._tt = slopes.tt - self._mixed.T @ self._carried
        return self._with_thresholds(solved[:, 0], slopes)

    def repeated(self, slopes: Slopes) -> tuple[Array, Array]:
        return self._with_thresholds(self._solve(self._right_side(slopes)), slopes)

    def reset(self) -> None:
        self.width, self.matrix = 0.0, None

    def _right_side(self, slopes: Slopes) -> Array:
        """-width times the derivative in w with the thresholds fixed to the centre."""
        return -slopes.width * (slopes.w + self.centre * slopes.t.sum())

    def _with_thresholds(self, v: Array, slopes: Slopes) -> tuple[Array, Array]:
        right = self._mixed.T @ v - slopes.width * slopes.t
        try:
            tau = np.linalg.solve(self._tt, right)
        except np.linalg.LinAlgError:  # some thresholds are determined by rounding only
            tau = np.linalg.lstsq(self._tt, right, rcond=None)[0]
        v = v + self._carried @ tau
        return v, np.asarray(tau + self.centre @ v)

    def _refresh(self, slopes: Slopes) -> None:
        if not self.updated:
            self._factor(self.rows.sum(normal), slopes, np.zeros(len(slopes.w)))
            return
        D, dtype = self.rows.get("D"), self.rows.dtype
        if slopes.width == self.width and dtype == self.Z.dtype:
            changed = np.flatnonzero(D != self.D)
            new = changed[~self.listed[changed]]
            if len(self.index) + len(new) <= self.most and self._update(D, new):
                return
        self._form(D)
        try:
            self._factor(self.matrix, slopes, self._mean(D, slopes))
        except np.linalg.LinAlgError:  # rounding: without a centre the matrix is positive
            self._factor(self.matrix, slopes, np.zeros(len(self.matrix)))
        self.Z = np.empty((0, len(self.matrix)), dtype=dtype)

    def _form(self, D: Array) -> None:
        """Update X'DX by the rows whose curvature has changed since the last time."""
        changed = None
        if self.matrix is not None and self.matrix.dtype == self.rows.dtype:
            changed = np.flatnonzero(D != self.D)
        if (
            changed is None
            or 2 * len(changed) >= np.count_nonzero(D)
            or self.age >= TUNING.max_updates
        ):
            self.matrix, self.age = self.rows.sum(normal), 0
        else:
            U = self.rows.gather(changed)
            add_squares(self.matrix, U, D[changed] - self.D[changed])
            self.age += 1
        self.D, self.listed = D.copy(), np.zeros(len(D), dtype=bool)

    def _mean(self, D: Array, slopes: Slopes) -> Array:
        """The mean of the curved rows; the origin if there are almost none."""
        if float(D.sum()) <= FAINT * float(self.rows.get("cost").sum()):
            return np.zeros(len(slopes.w))
        return slopes.mixed.sum(axis=1) / slopes.tt.sum()

    def _factor(self, matrix: Any, slopes: Slopes, centre: Array) -> None:
        """Factor X'DX of centred rows."""
        self.centre = centre
        self.factor = Factor(matrix, slopes.width, np.sqrt(slopes.tt.sum()) * centre)
        self.width, self.index = slopes.width, np.empty(0, dtype=np.int64)

    def _update(self, D: Array, new: NDArray[np.int64]) -> bool:
        """Update the factor for new curvatures; return whether that is accurate."""
        if len(new):
            self.listed[new] = True
            self.index = np.concatenate([self.index, new])
            U = self.rows.gather(new)
            U = U - self.centre.astype(U.dtype)
            self.Z = np.concatenate([self.Z, self.factor.forward(U.T).T])
            self.ZZ = (self.Z @ self.Z.T).astype(np.float64)
        if len(self.index):
            self.change = D[self.index] - self.D[self.index]
            small = self.change[:, None] * self.ZZ
            small.flat[:: len(small) + 1] += 1.0
            *self.small, singular = dgetrf(small.T, overwrite_a=1)
            return not singular and bool(np.isfinite(self.small[0]).all())
        return True

    def _solve(self, right: Array) -> Array:
        """With A = G G' and Z' = G^-1 U' the update lies between the two halves of the solve."""
        half = self.factor.forward(right)
        if len(self.index):
            short = ((self.Z @ half).T * self.change).T
            # The matrix was factored transposed, as LAPACK stores it.
            half = half - self.Z.T @ dgetrs(*self.small, short, trans=1)[0].astype(half.dtype)
        return np.asarray(self.factor.backward(half), dtype=np.float64)


class PreconditionedEquations:
    """Conjugate gradients, with the factor of an earlier matrix as preconditioner."""

    def __init__(self, rows: RowBlocks):
        self.rows, self.accurate = rows, False
        self.factor: Factor | None = None
        self.excess_iterations = 0

    def direction(self, slopes: Slopes) -> tuple[Array, Array]:
        M, B = Factor(slopes.tt), slopes.mixed
        if (
            self.factor is None
            or self.excess_iterations * TUNING.features_per_cg >= self.rows.n_features
        ):
            H = self.rows.sum(normal)
            try:
                self.factor = Factor(H - B @ M.solve(B.T), slopes.width)
            except np.linalg.LinAlgError:  # the difference is rounding; H alone is positive
                self.factor = Factor(H, slopes.width)
            self.excess_iterations = 0
        v, iterations = _iterate(self, slopes, M, self.factor.solve)
        self.excess_iterations += max(0, iterations - TUNING.free_cg)
        return v, M.solve(B.T @ v - slopes.width * slopes.t)

    repeated = direction

    def reset(self) -> None:
        self.factor = None


class DiagonalEquations:
    """Conjugate gradients, with the diagonal as preconditioner."""

    def __init__(self, rows: RowBlocks):
        self.rows, self.accurate = rows, False

    def direction(self, slopes: Slopes) -> tuple[Array, Array]:
        M, B = Factor(slopes.tt), slopes.mixed
        scale = 1.0 / (slopes.width + self.rows.sum(curvature_diagonal))
        v, _ = _iterate(self, slopes, M, lambda r: scale * r)
        return v, M.solve(B.T @ v - slopes.width * slopes.t)

    repeated = direction

    def reset(self) -> None:
        """Do nothing: nothing is kept."""


def _iterate(
    equations: Equations, slopes: Slopes, M: Factor, precondition: Callable[[Array], Array]
) -> tuple[Array, int]:
    """Solve for v with tau eliminated: (width I + X'DX - B M^-1 B') v = right."""
    rows, B, width = equations.rows, slopes.mixed, slopes.width

    def product(p: Array) -> Array:
        return width * p + rows.sum(curved, p) - B @ M.solve(B.T @ p)

    right = -width * (slopes.w + B @ M.solve(slopes.t))
    limit, share = TUNING.max_cg, TUNING.cg_share
    if equations.accurate:
        limit, share = TUNING.accurate_max_cg, TUNING.accurate_cg_share
    return conjugate_gradients(product, precondition, right, limit, share)


# Functions of one block ---------------------------------------------------------------


def normal(block: Block) -> Array:
    """X'DX."""
    return block.X.normal(block.D)


def curved(block: Block, v: Array) -> Array:
    """X'DX v."""
    return block.X.curved(block.D, v)


def curvature_diagonal(block: Block) -> Array:
    """The diagonal of X'DX."""
    return block.X.curvature_diagonal(block.D)

"""The feature space of a kernel: products with K, Newton's equations and their preconditioner."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tordinal.engines.base import KernelMatrix
from tordinal.engines.host.symmetric import symmetric_times
from tordinal.solvers.linalg import Factor
from tordinal.solvers.newton.matrices import matrices_for
from tordinal.solvers.tuning import KERNEL_NEWTON as TUNING

__all__ = ["KernelSpace", "Preconditioner", "precondition"]

Array = NDArray[np.float64]
Index = NDArray[np.int64]

SAFE = 100.0  # multiple of rounding errors below which the remaining curvature in t is not trusted
INCONSISTENT = 1e-3  # largest relative error of a factor
RIDGE = 1e-6  # what first makes an indefinite matrix definite, relative to its largest value


class KernelSpace:
    """The centred feature space of some rows: products with K, and Newton's equations in it.

    Parameters
    ----------
    gram : KernelMatrix
        The kernel.
    used : ndarray
        Which rows.
    """

    def __init__(self, gram: KernelMatrix, used: Index):
        self.gram, self.used, self.n = gram, used, len(used)
        self.matrices = matrices_for(gram, used)
        self.means = self._uncentred_times(np.full(self.n, 1.0 / self.n))
        self.sample = np.arange(0, self.n, -(-self.n // TUNING.factored_rows))
        self.diagonal = gram.diagonal[used] - 2.0 * self.means + self.means.mean()
        self.preconditioner: Preconditioner | None = None
        self.excess_iterations = 0
        self.in_double = False  # whether rounding has spoilt a direction in single precision
        self.allows_single = False  # whether the tolerance is loose enough for single precision
        self.nearly_inverse = (
            False  # whether the preconditioner was nearly the inverse the last time
        )
        self._columns: Any = None

    def _uncentred_times(self, v: Array) -> Array:
        if self.n == self.gram.n_rows:
            return self.gram.times(v)
        held = getattr(self.matrices, "held", None)
        if held is not None:
            return np.asarray(symmetric_times(held, v), dtype=np.float64)
        whole = np.zeros(self.gram.n_rows)
        whole[self.used] = v
        return self.gram.times(whole)[self.used]

    def times(self, v: Array) -> Array:
        """K v, centred."""
        z = self._uncentred_times(v - v.mean())
        return z - z.mean()

    def approximate_times(self, v: Array) -> Array:
        """The same in single precision, where that is enough and the matrix is not too large."""
        if self.in_double or not self.allows_single or len(self.sample) < self.n:
            return self.times(v)
        return self.matrices.symmetric_times(self.columns(self.sample, np.float32), v)

    def preconditioned_rows(self, D: Array) -> tuple[Index, float]:
        """The rows of a preconditioner with the curvatures D, and how many rows each represents.

        Where all but a few rows are negligible, while unlabelled ones have small costs, those
        few suffice: the others add at most the sum of D_i K_ii to the eigenvalues of D K.
        """
        weight = D * np.maximum(self.diagonal, 0.0)
        order = np.argsort(weight)
        light = min(
            int(np.searchsorted(np.cumsum(weight[order]), TUNING.negligible_eigenvalue)), self.n - 1
        )
        if self.n - light <= self.n // TUNING.few_share:
            return np.sort(order[light:]), 1.0
        return self.sample, self.n / len(self.sample)

    def columns(self, J: Index, dtype: Any) -> Any:
        """The centred columns of some rows; those of the sample in single precision are kept."""
        kept = J is self.sample and dtype == np.float32
        if kept and self._columns is not None:
            return self._columns
        centre = self.means[J] - self.means.mean()
        columns = self.matrices.columns(self.used, J, self.means, centre, dtype)
        if kept:
            self._columns = columns
        return columns

    def direction(
        self,
        grad_a: Array,
        grad_t: Array,
        D: Array,
        E: Array,
        M: Array,
        cost: Array,
        enough: float = 0.0,
    ) -> tuple[Array, Array, Array]:
        """Newton's direction v, with z = K v, and tau.

        Eliminating tau = M^-1 (E'z - grad_t) leaves (I + S K) v = r with S = D - E M^-1 E',
        self-adjoint and positive in the inner product u'K v. A decrement of `enough` need only be
        known to be that small.
        """
        inner = Factor(M)

        def curve(z: Array) -> Array:  # S z
            return D * z - E @ inner.solve(E.T @ z)

        r = -grad_a - E @ inner.solve(grad_t)
        while True:
            if self.preconditioner is None or self.excess_iterations * TUNING.rows_per_cg >= self.n:
                curvatures = np.maximum(D, TUNING.least_curvature * cost), E, M
                self.preconditioner = precondition(self, *curvatures, in_double=self.in_double)
                self.nearly_inverse = False
                self.excess_iterations = 0
            found = self._conjugate_gradients(self.preconditioner, r, curve, enough)
            if found.sound or self.in_double:
                break
            self.in_double, self.preconditioner = True, None  # rounding: again, in double precision
        v, z = found.v, found.z
        if z is None:  # the updated z is only as accurate as the preconditioner
            z = self.times(v)
        return v, z, inner.solve(E.T @ z - grad_t)

    def _conjugate_gradients(
        self,
        preconditioner: "Preconditioner",
        r: Array,
        curve: Callable[[Array], Array],
        enough: float,
    ) -> "Direction":
        """Solve (I + S K) v = r."""
        times = preconditioner.times
        if not preconditioner.whole:
            times = self.approximate_times if preconditioner.single else self.times
        z_r, v = times(r), np.zeros_like(r)
        p, z_p = preconditioner(r, z_r)
        size, iterations, promised, sound = float(z_r @ p), 0, 0.0, True
        if self.nearly_inverse and not self.in_double and 0 < size <= TUNING.certain_share * enough:
            return Direction(p, z_p)  # converged; direction unused
        if not size > 0 and float(r @ z_r) > 0:  # take the direction of steepest descent
            p, z_p, size, sound = r, z_r, float(r @ z_r), False
        elif size < -TUNING.unknown_share * enough:  # rounding has made K indefinite
            sound = False
        while size > 0 and iterations < TUNING.max_cg:
            curved = curve(z_p)
            A_p, z_A_p = p + curved, z_p + times(curved)
            iterations += 1
            bend = float(z_p @ A_p)
            if not bend > 0:
                sound = False
                break
            step = size / bend
            v = v + step * p
            r, z_r = r - step * A_p, z_r - step * z_A_p
            # The remaining decrease is at most r'K r, and about r'K q with a good q.
            promised += step * size
            negligible = max(TUNING.forcing**2 * promised, TUNING.unknown_share * enough)
            if float(r @ z_r) <= negligible:
                break
            q, z_q = preconditioner(r, z_r)
            size, last = float(z_r @ q), size
            if abs(size) <= negligible:
                break
            sound = sound and size > 0
            p, z_p = q + size / last * p, z_q + size / last * z_p
        self.excess_iterations += max(0, iterations - TUNING.free_cg)
        self.nearly_inverse = iterations <= TUNING.free_cg
        return Direction(v, None, sound)


class Direction(NamedTuple):
    """A solution v of Newton's equations, K v if known, and whether it is reliable."""

    v: Array
    z: Array | None
    sound: bool = True


class Preconditioner:
    """(I + S K)^-1 for curvatures of an earlier step, on all rows or on a sample of them.

    With J the sampled rows, their curvatures D scaled up to represent all rows, and B the factored
    matrix I + D^1/2 K_JJ D^1/2, the inverse of I + D K maps r to q = r - p with
    p = D^1/2 B^-1 D^1/2 (K r)_J, and on all rows K q = p / D. The thresholds add a few columns.

    Parameters
    ----------
    space : KernelSpace
        The feature space.
    D, E, M : ndarray
        Curvatures: of the rows, mixed, and in t.
    dtype : dtype
        The precision in which all of it is held.

    Attributes
    ----------
    accurate : bool
        Whether the factor is accurate enough for K q = p / D. Otherwise K q is computed.
    """

    def __init__(self, space: KernelSpace, D: Array, E: Array, M: Array, dtype: Any = np.float32):
        self.matrices = space.matrices
        J, stretch = space.preconditioned_rows(D)
        K = space.columns(J, dtype)
        self.J, self.K, self.whole = J, K, len(J) == space.n
        self.single = dtype == np.float32
        self.D = stretch * D[J]
        self.root = np.sqrt(self.D)
        self.E = stretch * E[J]
        self.n = space.n
        factored = self._factor()
        self.accurate = self.whole and factored and self._consistent()
        whole = np.zeros((self.n, E.shape[1]))
        whole[J] = self.E
        self.Y, self.KY = self._without_thresholds(whole, self.matrices.times(K, self.E))
        # With a sample, the curvatures in t are those of the sample: the remainder stays positive.
        M = M + np.diag(self.E.sum(axis=0) - E.sum(axis=0))
        values, vectors = np.linalg.eigh(M - self.E.T @ self.KY[J])
        least = SAFE * float(np.finfo(dtype).eps * M.diagonal().max())
        self.accurate = self.accurate and bool(values.min() >= least)
        self.small_inverse = vectors / np.maximum(values, least) @ vectors.T

    def _factor(self) -> bool:
        """Factor B; return whether that worked without raising its diagonal."""
        matrices = self.matrices
        K = self.K if self.whole else matrices.rows(self.K, self.J)
        self.factor = matrices.factor(K, self.root, 0.0)
        if self.factor is not None:
            return True
        K = K.astype(np.float64)  # rounding has made it indefinite
        ridge = RIDGE * matrices.largest(K, self.root)
        self.factor = matrices.factor(K, self.root, ridge)
        if self.factor is None:  # values that overflow: no preconditioning
            self.factor = matrices.factor(K, np.zeros_like(self.root), 0.0)
        return False

    def _consistent(self) -> bool:
        """Whether K q = p / D, tried on one vector."""
        r = np.random.default_rng(0).normal(size=self.n)
        z_r = self.times(r)
        p = self.root * self.matrices.solve(self.factor, self.root * z_r)
        z_q = z_r - self.times(p)
        return bool(np.linalg.norm(p / self.D - z_q) <= INCONSISTENT * np.linalg.norm(z_q))

    def times(self, v: Array) -> Array:
        """K v for a vector or a matrix, if all columns are available."""
        times = self.matrices.symmetric_times if v.ndim == 1 else self.matrices.times
        return times(self.K, v)

    def _without_thresholds(self, r: Array, z_r: Array) -> tuple[Array, Array]:
        root, D = (self.root, self.D) if r.ndim == 1 else (self.root[:, None], self.D[:, None])
        p = root * self.matrices.solve(self.factor, root * z_r[self.J])
        q = r.copy()
        q[self.J] -= p
        if self.accurate:
            return q, p / D
        if self.whole:
            return q, self.times(q)
        return q, z_r - self.matrices.times(self.K, p)

    def __call__(self, r: Array, z_r: Array) -> tuple[Array, Array]:
        """Apply it to r, with z_r = K r; and K times the result."""
        q, z_q = self._without_thresholds(r, z_r)
        s = self.small_inverse @ (self.E.T @ z_q[self.J])
        return q + self.Y @ s, z_q + self.KY @ s


def precondition(
    space: KernelSpace, D: Array, E: Array, M: Array, *, in_double: bool
) -> Preconditioner:
    """A preconditioner in single precision, or in double if that is needed or costs nothing."""
    if not in_double and space.n > TUNING.double_rows and float(D.max()) < TUNING.double_curvature:
        single = Preconditioner(space, D, E, M)
        if single.accurate or not single.whole:
            return single
    double = Preconditioner(space, D, E, M, np.float64)
    double.accurate = double.accurate and not in_double
    return double

"""Newton's method for a small kernel model: rows whose inner products are the kernel values.

With a large C, or kernel values of low rank, the steps of SMO on two variables at a time converge
slowly, and those of Newton's method do not. A square root L of the centred kernel matrix, L L' = K,
makes a linear model of it, with as many features as the matrix has rank.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dtrsv

from tordinal.engines.base import KernelMatrix
from tordinal.engines.host.rows import Rows
from tordinal.problem import Problem
from tordinal.solvers.linalg import Factor, low_rank_root, square_root
from tordinal.solvers.newton.features import Newton
from tordinal.solvers.solver import Solution, Task
from tordinal.solvers.tuning import SQUARE_ROOT as TUNING

__all__ = ["SquareRoot"]

Array = NDArray[np.float64]
Index = NDArray[np.int64]

EPSILON = np.finfo(np.float64).eps
LOST = 1e-8  # rounding errors of projections, in units of the margin, that are too large

RIDGE = 1e-10  # share of all eigenvalues that is added to each, so that none is zero


class SquareRoot:
    """A kernel model as a linear one.

    Parameters
    ----------
    problem : Problem
        The problem to solve, scaled as the kernel is.
    L : ndarray of shape (n_rows, rank)
        A square root of the centred kernel matrix.
    pivots : ndarray of shape (rank,)
        Rows of it that make a lower triangle.
    times : callable
        Multiplies the kernel matrix, not centred, by a vector.
    accuracy : float
        About the error of a kernel value; directions in which rows differ by less are lost.
    """

    def __init__(
        self,
        problem: Problem,
        L: Array,
        pivots: Index,
        times: Callable[[Array], Array],
        accuracy: float,
    ):
        self.accuracy = accuracy
        self.problem, self.L, self.pivots, self.times = problem, L, pivots, times
        self.newton = Newton(Rows(L), problem)
        normal = L.T @ L
        normal.flat[:: len(normal) + 1] += RIDGE * float(np.trace(normal))
        self._normal = Factor(normal)

    @classmethod
    def of(cls, gram: KernelMatrix, problem: Problem) -> Self | None:
        """The square root, if kernel values are those of a feature space.

        None if there is none, or if the rank is too large for so many rows.
        """
        accuracy = gram.accuracy / gram.scale
        low = low_rank_root(gram.diagonal, lambda i: gram.compute(np.array([i]))[0], TUNING.rank)
        if low is not None:
            L, _ = low
            centred = L - L.mean(axis=0)
            diagonal = np.einsum("ij,ij->i", centred, centred)
            root = low_rank_root(diagonal, lambda i: centred @ centred[i], TUNING.rank)
            # Kernel values may be stored in single precision; their root is not.
            return None if root is None else cls(problem, *root, lambda a: L @ (L.T @ a), accuracy)
        if gram.n_rows > TUNING.rows:
            return None
        K = np.asarray(gram.block(slice(None), slice(None)), dtype=np.float64)
        mean = K.mean(axis=0)
        root = square_root(K - mean - mean[:, None] + mean.mean(), accuracy)
        return None if root is None else cls(problem, *root, gram.times, accuracy)

    def run(self, task: Task) -> Solution:
        """Solve a task in the features, with centred projections, and convert the solution back."""
        if task.warm is not None:
            warm, centre = task.warm, float(task.warm.h.mean())
            coef = self.L.T @ warm.coefficients
            t = warm.thresholds - centre
            warm = replace(warm, h=self.L @ coef, thresholds=t, coef=coef)
            task = replace(task, warm=warm)
        solution = self.newton.run(task)
        a = self._weights(solution)
        h = self.times(a)
        t = solution.thresholds + float(h.mean())
        value = self.problem.objective(task.y, task.cost, h, float(a @ h), t)
        lost = max(value - solution.objective, 0.0)  # in rounding, with a huge cost
        dual = solution.coefficients  # which errors of kernel values move the objective by
        lost = max(lost, 0.5 * self.accuracy * float(dual @ dual))
        violation = max(
            solution.violation, lost / value if task.gap_too_large(lost, value) else 0.0
        )
        return replace(
            solution, h=h, thresholds=t, objective=value, coefficients=a, coef=None,
            violation=violation, converged=bool(violation <= task.tol),
        )  # fmt: skip

    def _weights(self, solution: Solution) -> Array:
        """Weights of the rows with sum zero and w = L'a.

        At the optimum the dual variables are such weights; before, they are corrected as little as
        possible. If they are so large that K a would be lost in rounding, only pivots get weights.
        """
        w, a = solution.coef, solution.coefficients - solution.coefficients.mean()
        assert w is not None
        if EPSILON * float(np.abs(a).sum()) * float(np.abs(self.L).max()) ** 2 <= LOST:
            a = a + self.L @ self._normal.solve(w - self.L.T @ a)
            return a - a.mean()  # columns of L sum to zero up to rounding only
        a = np.zeros_like(a)
        if len(self.pivots):
            for _ in range(2):  # the second time for the rounding errors of the first
                left = w - self.L.T @ (a - a.mean())
                a[self.pivots] += dtrsv(self.L[self.pivots].T, left, lower=0)
        return a - a.mean()

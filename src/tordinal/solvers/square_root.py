"""Newton's method for a small kernel model: rows whose inner products are the kernel values.

With a large C, or kernel values of low rank, the steps of SMO on two variables at a time zigzag for
ever. Newton's method does not mind. A square root L of the centred kernel matrix, L L' = K, makes a
linear model of it, with as many features as the matrix has rank.
"""

from dataclasses import replace
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dtrsv

from tordinal.engines.gram import Gram
from tordinal.engines.rows import Rows
from tordinal.problem import Problem
from tordinal.solvers.linalg import Factor, square_root
from tordinal.solvers.newton import Newton
from tordinal.solvers.solver import Solution, Task

__all__ = ["SquareRoot"]

Array = NDArray[np.float64]
Index = NDArray[np.int64]

EPSILON = np.finfo(np.float64).eps
ROUNDING = 1e-8  # of projections, in units of the margin

NEGLIGIBLE = 1e-10  # share of the largest eigenvalue below which a direction is not told from none


class SquareRoot:
    """A kernel model as a linear one.

    Parameters
    ----------
    gram : Gram
        Kernel values between the training rows.
    problem : Problem
        What is solved, scaled as the kernel is.
    L : ndarray of shape (n_rows, rank)
        A square root of the centred kernel matrix.
    pivots : ndarray of shape (rank,)
        Rows of it that make a lower triangle.
    """

    def __init__(self, gram: Gram, problem: Problem, L: Array, pivots: Index):
        self.gram, self.problem, self.L, self.pivots = gram, problem, L, pivots
        self.newton = Newton(Rows(L), problem)
        normal = L.T @ L
        normal.flat[:: len(normal) + 1] += NEGLIGIBLE * float(np.trace(normal))
        self._normal = Factor(normal)

    @classmethod
    def of(cls, gram: Gram, problem: Problem) -> Self | None:
        """The square root, if kernel values are those of a feature space."""
        K = np.asarray(gram.block(slice(None), slice(None)), dtype=np.float64)
        mean = K.mean(axis=0)
        root = square_root(K - mean - mean[:, None] + mean.mean())
        return None if root is None else cls(gram, problem, *root)

    def run(self, task: Task) -> Solution:
        """Solve a task in the features, where projections are centred, and bring it back."""
        if task.warm is not None:
            warm, centre = task.warm, float(task.warm.h.mean())
            coef = self.L.T @ warm.coefficients
            t = warm.thresholds - centre
            warm = replace(warm, h=self.L @ coef, thresholds=t, coef=coef)
            task = replace(task, warm=warm)
        solution = self.newton.run(task)
        a = self._weights(solution)
        h = self.gram.times(a)
        t = solution.thresholds + float(h.mean())
        value = self.problem.objective(task.y, task.cost, h, float(a @ h), t)
        lost = max(value - solution.objective, 0.0)  # in rounding, with a huge cost
        violation = max(solution.violation, lost / value if task.tells(lost, value) else 0.0)
        return replace(
            solution, h=h, thresholds=t, objective=value, coefficients=a, coef=None,
            violation=violation, converged=bool(violation <= task.tol),
        )  # fmt: skip

    def _weights(self, solution: Solution) -> Array:
        """Weights of the rows that sum to zero and make w = L'a.

        At the optimum those of the dual do; before, they are mended as little as possible. Where
        they are so large that K a would be lost in rounding, those of the pivots serve.
        """
        w, a = solution.coef, solution.coefficients - solution.coefficients.mean()
        assert w is not None
        if EPSILON * float(np.abs(a).sum()) * float(np.abs(self.L).max()) ** 2 <= ROUNDING:
            return a + self.L @ self._normal.solve(w - self.L.T @ a)
        a = np.zeros_like(a)
        if len(self.pivots):
            for _ in range(2):  # the second time for what rounding has left
                left = w - self.L.T @ (a - a.mean())
                a[self.pivots] += dtrsv(self.L[self.pivots].T, left, lower=0)
        return a - a.mean()

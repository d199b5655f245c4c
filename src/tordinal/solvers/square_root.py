"""Newton's method for a small kernel model: rows whose inner products are the kernel values.

With a large C, or kernel values of low rank, the steps of SMO on two variables at a time zigzag for
ever. Newton's method does not mind. A square root L of the centred kernel matrix, L L' = K, makes a
linear model of it, with as many features as the matrix has rank.
"""

from dataclasses import replace
from typing import Self

import numpy as np

from tordinal.engines.gram import Gram
from tordinal.engines.rows import Rows
from tordinal.problem import Problem
from tordinal.solvers.linalg import Factor, square_root
from tordinal.solvers.newton import Newton
from tordinal.solvers.solver import Solution, Task

__all__ = ["SquareRoot"]

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
    """

    def __init__(self, gram: Gram, problem: Problem, L: np.ndarray):
        self.gram, self.problem, self.L = gram, problem, L
        self.newton = Newton(Rows(L), problem)
        normal = L.T @ L
        normal.flat[:: len(normal) + 1] += NEGLIGIBLE * float(np.trace(normal))
        self._normal = Factor(normal)

    @classmethod
    def of(cls, gram: Gram, problem: Problem) -> Self | None:
        """The square root, if kernel values are those of a feature space."""
        K = np.asarray(gram.block(slice(None), slice(None)), dtype=np.float64)
        mean = K.mean(axis=0)
        L = square_root(K - mean - mean[:, None] + mean.mean())
        return None if L is None else cls(gram, problem, L)

    def run(self, task: Task) -> Solution:
        """Solve a task in the features, where projections are centred, and bring it back."""
        if task.warm is not None:
            warm, centre = task.warm, float(task.warm.h.mean())
            warm = replace(
                warm, h=warm.h - centre, thresholds=warm.thresholds - centre,
                coef=self.L.T @ warm.coefficients,
            )  # fmt: skip
            task = replace(task, warm=warm)
        solution = self.newton.run(task)
        # At the optimum w = L'a. Before, the nearest a that makes it so: it gives the same h.
        a = solution.coefficients - solution.coefficients.mean()
        a = a + self.L @ self._normal.solve(solution.coef - self.L.T @ a)
        h = self.gram.times(a)
        t = solution.thresholds + float(h.mean())
        value = self.problem.objective(task.y, task.cost, h, float(a @ h), t)
        return replace(solution, h=h, thresholds=t, objective=value, coefficients=a, coef=None)

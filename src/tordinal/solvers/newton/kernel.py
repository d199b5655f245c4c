"""Newton's method for smooth losses with a kernel: products with K, and one factor now and then.

The unknowns are a, the weights of the training rows in w, and the thresholds t. Because b is free,
sum(a) = 0 at the optimum, so the feature map may be centred: K is replaced by its doubly centred
form, which is positive semi-definite also for conditionally positive kernels such as the perceptron
kernel. In the norm of the feature space the Hessian of (4) is

    v  ->  v + D z - E tau,        tau  ->  M tau - E'z        with  z = K v

where E_ik = C_i loss''(g_ik), D_i = sum_k E_ik and M = R'' + diag(sum_i E_ik). The few thresholds
are eliminated exactly. The rest, (I + S K) v = r with S = D - E M^-1 E', is solved by
conjugate gradients in that norm at one product with K per iteration. The preconditioner is its own
inverse for the curvatures of an earlier step, by a factor of I + D^1/2 K D^1/2 in single precision.
``docs/mathematics.md`` has the derivation.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tordinal.engines.base import KernelMatrix
from tordinal.problem import Problem
from tordinal.solvers.newton.driver import Descent, Evaluation, line_search
from tordinal.solvers.newton.kernel_space import KernelSpace
from tordinal.solvers.newton.square_root import SquareRoot
from tordinal.solvers.solver import COARSE, HUGE_COST, Solution, Solver, Task
from tordinal.solvers.tuning import KERNEL_NEWTON as TUNING
from tordinal.solvers.tuning import SQUARE_ROOT

__all__ = ["KernelNewton"]

Array = NDArray[np.float64]
Index = NDArray[np.int64]

NOISE = 1e-14  # relative decrease of the objective that is rounding, with K a updated step by step
TINY = np.finfo(np.float64).tiny


class KernelNewton(Solver):
    """Solver of the smooth losses with a kernel.

    `tol` bounds the square root of half of Newton's decrement, relative to the objective, which
    then lies within about tol^2 of its minimum. A step is one of Newton's.

    Parameters
    ----------
    data : KernelMatrix
        Kernel values between the training rows.
    problem : Problem
        A problem with a smooth loss and no constraint on the order of t.
    """

    data: KernelMatrix
    coarse = 3.0 * COARSE  # its tolerance is that of a root

    def __init__(self, data: KernelMatrix, problem: Problem):
        super().__init__(data, problem)
        self._kept: KernelSpace | None = None
        self._root: SquareRoot | None = None  # once a problem has turned out to be hard

    @classmethod
    def handles(cls, problem: Problem, data: Any) -> bool:
        return problem.smooth and not (data.in_features or problem.coupling.ordered)

    def run(self, task: Task) -> Solution:
        largest = max(1.0, self.data.magnitude / self.data.scale)  # of kernel values
        hard = float(task.cost.max()) * largest > HUGE_COST
        if self._root is None and not (hard and self._use_square_root()):
            solution = self._descend(task, hard)
            if solution is not None:
                return solution
        assert self._root is not None
        return self._root.run(task)

    def _use_square_root(self) -> bool:
        """Whether Newton's method can continue in the features of a square root of K."""
        if self._root is None and self.data.n_rows <= SQUARE_ROOT.rows:
            self._root = SquareRoot.of(self.data, self.problem)
        return self._root is not None

    def _descend(self, task: Task, hard: bool) -> Solution | None:
        """Minimise in a and t; None if rounding errors are too large without the square root."""
        used = np.flatnonzero(task.cost > 0)
        space = self._space(used)
        y, cost, m = task.y[used], task.cost[used], self.problem.n_thresholds
        a, h, t = np.zeros(len(used)), np.zeros(len(used)), np.zeros(m)
        if task.warm is not None:
            a, h, t = task.warm.coefficients[used], task.warm.h[used], task.warm.thresholds
            if len(used) < len(task.y) and task.warm.coefficients[task.cost == 0].any():
                h = space.times(a)
            centre = float(h.mean())
            h, t = h - centre, t - centre
        descent = KernelDescent(space, self.problem, y, cost, a, h, t)
        space.allows_single = task.tol >= TUNING.double_tol and space.n > SQUARE_ROOT.rows
        limit = min(task.limit, TUNING.max_steps)
        steps, violation = descent.minimise(limit, task.tol, task.report)
        if space.in_double and self._use_square_root():
            return None
        a = np.zeros(len(task.y))
        a[used] = descent.a - descent.a.mean()
        if len(used) == len(a):
            shift = float(space.means @ a)  # back from the centred feature map
            h = descent.h + shift
        else:
            h = self.data.combine(used, a[used])
            shift = float(h[used].mean() - descent.h.mean())
        t = np.sort(descent.t + shift)  # sorted is never worse
        carried = not (hard or space.in_double)
        if not carried:
            h = self.data.times(a)  # what was carried along is lost in rounding
        value = self.problem.objective(task.y, task.cost, h, float(a @ h), t)
        if not carried:
            violation = max(violation, abs(value - descent.value) / max(abs(value), TINY))
        return Solution(
            h, t, value, a, task.y, task.cost,
            n_iter=steps, violation=violation, converged=bool(violation <= task.tol),
        )  # fmt: skip

    def _space(self, used: Index) -> KernelSpace:
        """The feature space of the rows that count; the last one is kept."""
        if self._kept is None or not np.array_equal(self._kept.used, used):
            self._kept = KernelSpace(self.data, used)
        return self._kept

    def refinement(self, n_rows: int) -> tuple[float, int] | None:
        return (TUNING.refine_tol, TUNING.refine_steps) if n_rows <= TUNING.refine_rows else None


class KernelDescent(Descent):
    """Newton's method in a and t, with h = K a centred."""

    def __init__(
        self,
        space: KernelSpace,
        problem: Problem,
        y: Any,
        cost: Array,
        a: Array,
        h: Array,
        t: Array,
    ):
        super().__init__(problem)
        self.space, self.y, self.cost = space, y, cost
        self.a, self.h, self.t = a, h, t

    def evaluate(self, tol: float) -> Evaluation:
        """The objective with its derivatives, and Newton's direction from here."""
        value, in_rows, in_t, D = self.problem.terms(self.y, self.cost, self.h, self.t)
        value += 0.5 * float(self.a @ self.h + self.t @ self.penalty @ self.t)
        self.value = value
        grad_a, grad_t = self.a + in_rows[:, 0], in_t + self.penalty @ self.t
        E = in_rows[:, 1:]
        M = self.curvature_in_t(self.penalty, E.sum(axis=0), float(self.cost.sum()))
        enough = 2.0 * tol**2 * max(value, 0.0)  # the decrement that the tolerance allows
        self.direction = self.space.direction(grad_a, grad_t, D, E, M, self.cost, enough)
        _, z, tau = self.direction
        slope = float(grad_a @ z + grad_t @ tau)
        violation = float(np.sqrt(0.5 * abs(slope) / value)) if value > 0 else 0.0
        if self.space.in_double and self.space.n <= SQUARE_ROOT.rows:  # continue on the square root
            return Evaluation(slope, violation, True)
        noise = abs(slope) <= NOISE * value
        return Evaluation(slope, min(violation, tol) if noise else violation, noise)

    def step_length(self, slope: float) -> float:
        v, z, tau = self.direction
        pulled = self.penalty @ tau
        return line_search(
            lambda step: self.problem.along(self.y, self.cost, self.h, self.t, z, tau, step),
            slope, float(self.h @ v + self.t @ pulled), float(v @ z + tau @ pulled),
        )  # fmt: skip

    def move(self, step: float) -> None:
        v, z, tau = self.direction
        self.a, self.h, self.t = self.a + step * v, self.h + step * z, self.t + step * tau

"""The base class of solvers: given ranks, costs and a warm start, find h and t."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tordinal.problem import Problem
from tordinal.reduction import Ranks
from tordinal.threads import one_thread_each

__all__ = ["Solution", "Solver", "Task", "balanced", "check_costs"]

# How much coarser than the last training the others are: a fifth to a third of the time, or pairs
# that are swapped later; benchmarks corners.
COARSE = 10.0
GAP = 10.0  # duality gap that a solution may have, relative to its objective, in units of tol
LARGEST_COST = 150.0  # logarithm of the largest cost of rows of unit size: squares are finite
HUGE_COST = 1e8  # cost of rows of unit size from which rounding errors matter
UNRESOLVED = 1e12  # kernel values times costs from which differences by rounding matter
TINY = np.finfo(np.float64).tiny
NEGLIGIBLE = 1e-9  # share of all costs below which a gap is rounding

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Solution:
    """Projections h and thresholds t, and the state that a solver continues from.

    Attributes
    ----------
    h : ndarray of shape (n_samples,)
        Projections of the training rows.
    thresholds : ndarray of shape (n_thresholds,)
        Thresholds on the same scale, ascending.
    objective : float
        The objective (4) at (h, thresholds).
    coefficients : ndarray of shape (n_samples,)
        a, the weights of the training rows in w.
    y, cost : ndarray of shape (n_samples,)
        The ranks and costs that this is the solution for.
    u : ndarray of shape (n_samples, n_thresholds)
        Dual variables in units of the cost, alpha_ik / C_i, where the solver has them. They do not
        change their meaning when costs grow or a row changes sides.
    coef : ndarray of shape (n_features,)
        w itself, where the solver has it.
    n_iter : int
        Solver iterations.
    violation : float
        How far the optimality conditions are violated, in the measure that `tol` bounds.
    converged : bool
        Whether `violation` is within the tolerance.
    next_start : Solution or None
        The end point of the solver, if a better point was known; the next training starts there.
    """

    h: Array
    thresholds: Array
    objective: float
    coefficients: Array
    y: Ranks
    cost: Array
    u: Array | None = None
    coef: Array | None = None
    n_iter: int = 0
    violation: float = np.inf
    converged: bool = False
    next_start: "Solution | None" = None

    end = None  # a `DeviceSolution` has its last state on a device

    def on_host(self) -> "Solution":
        """The solution with its vectors on this machine: itself."""
        return self

    def times(self, factor: float) -> "Solution":
        """The same solution for features multiplied by 1 / sqrt(factor) and costs by factor."""
        if factor == 1.0:
            return self
        return replace(
            self,
            objective=self.objective * factor,
            coefficients=self.coefficients * factor,
            cost=self.cost * factor,
            coef=None if self.coef is None else self.coef * np.sqrt(factor),
        )


def balanced(a: Array) -> Array:
    """Weights of rows with a sum of 0, which updates have changed by rounding; in place.

    Projections contain that sum times products with the origin of the feature space, which may be
    far from all rows.

    Examples
    --------
    >>> balanced(np.array([2.0, -1.0, -0.999]))
    array([ 1.999, -1.   , -0.999])
    """
    if len(a):
        a[np.argmax(np.abs(a))] -= a.sum()
    return a


@dataclass(frozen=True)
class Task:
    """One training: the arguments of `Solver.solve` in the units of the scaled problem."""

    y: Ranks
    cost: Array
    warm: Solution | None
    tol: float
    limit: float
    report: Callable[[int, float], None]

    def gap_too_large(self, gap: float, value: float) -> bool:
        """Whether a duality gap exceeds the tolerance.

        A huge cost can make even small violations of the optimality conditions weigh much.
        """
        return gap > GAP * self.tol * value + NEGLIGIBLE * float(self.cost.sum())


def check_costs(scale: float, largest: float) -> None:
    """Raise an error if costs of rows of unit size cannot be represented.

    Parameters
    ----------
    scale : float
        The divisor of squared features, or of kernel values.
    largest : float
        The largest cost of a row.
    """
    if not float(np.log10(scale) + np.log10(max(largest, TINY))) <= LARGEST_COST:
        raise ValueError(
            f"X or C is too large: with features whose size in the feature space is about "
            f"{np.sqrt(scale):.3g}, costs of {largest:.3g} overflow. Scale X, for example "
            "with StandardScaler."
        )
    if largest > 0 and scale * largest == 0:
        raise ValueError(
            f"X or C is too small: with features whose size in the feature space is about "
            f"{np.sqrt(scale):.3g}, costs of {largest:.3g} underflow. Scale X, for example "
            "with StandardScaler."
        )


class Solver(ABC):
    """Solves a problem on some rows for any ranks and costs.

    Parameters
    ----------
    data : Samples or KernelMatrix
        The rows, or the kernel between them. Their features are scaled by 1 / sqrt(data.scale).
    problem : Problem
        The problem to solve.
    """

    coarse: ClassVar[float] = 1.0  # how much coarser than the last training the others are

    def __init__(self, data: Any, problem: Problem):
        self.data, self.original = data, problem
        self.problem = problem.scaled(data.scale)

    @classmethod
    @abstractmethod
    def handles(cls, problem: Problem, data: Any) -> bool:
        """Whether it solves such problems on rows in such a form."""

    @property
    def loss(self) -> Any:
        """The loss that is minimised."""
        return self.original.loss

    def solve(
        self,
        y: Ranks,
        cost: Array,
        *,
        warm: Solution | None = None,
        tol: float = 1e-3,
        max_iter: int = -1,
        on_chunk: Callable[[int, float], None] | None = None,
    ) -> Solution:
        """Minimise (4) over w and t with the ranks y fixed.

        Parameters
        ----------
        y : ndarray of shape (n_samples,)
            Ranks; where the cost is 0 they do not matter.
        cost : ndarray of shape (n_samples,)
            C_i of each row.
        warm : Solution, optional
            Where to start; its ranks and costs may have been others.
        tol : float
            How far the optimality conditions may be violated.
        max_iter : int
            Iterations at most; -1 for the solver's own limit.
        on_chunk : callable, optional
            Called with the iterations so far and the violation, several times a second.

        Returns
        -------
        solution : Solution
            The optimum, or the best point reached.
        """
        scale = self.data.scale
        self._check_range(cost)
        start = warm if warm is None or warm.next_start is None else warm.next_start
        task = Task(
            y.copy(),  # a solution outlives what the caller does with its arrays
            scale * cost,
            None if start is None else start.times(scale),
            tol,
            np.inf if max_iter < 0 else max_iter,
            on_chunk or (lambda steps, violation: None),
        )
        with one_thread_each():
            solution = self._with_predicted_projections(task, self.run(task).times(1.0 / scale))
            if task.warm is not None and self._worse_than_zero(task, solution):
                task = replace(task, warm=None)  # a bad start: try again without one
                solution = self._with_predicted_projections(task, self.run(task).times(1.0 / scale))
            solution = self._fall_back_to_zero(task, solution)
        if not (np.isfinite(solution.objective) and np.isfinite(solution.thresholds).all()):
            raise ValueError(
                f"the solution is not finite (objective {solution.objective}): values of X or the "
                "kernel are too large or too small to compute with. Scale the features."
            )
        return solution if warm is None else self._keep_warm_start_if_better(warm, solution)

    def _keep_warm_start_if_better(self, warm: Solution, solution: Solution) -> Solution:
        """The warm start where its (w, t) has the lower objective, otherwise the solution.

        A swap lowers the objective at the warm (w, t) by a known amount, which may be less than
        the distance to the minimum that the tolerance allows (docs/mathematics.md).
        """
        rows = np.flatnonzero(warm.y != solution.y)
        if len(rows) == 0 or not np.array_equal(warm.cost, solution.cost):
            return solution
        h, t, cost = warm.h[rows], warm.thresholds, warm.cost[rows]
        before, now = (self.original.losses(y[rows], cost, h, t) for y in (warm.y, solution.y))
        value = warm.objective + (now - before)
        if not value < solution.objective:
            return solution
        return replace(
            solution, h=warm.h, thresholds=t, objective=value, coefficients=warm.coefficients,
            coef=warm.coef, next_start=solution,
        )  # fmt: skip

    def _check_range(self, cost: Array) -> None:
        """Raise an error if double precision cannot represent the problem."""
        scale, largest = self.data.scale, float(cost.max(initial=0.0))
        check_costs(scale, largest)
        if not self.data.resolved and self.data.magnitude * largest > UNRESOLVED:
            raise ValueError(
                f"X is too far from the origin for kernel={self.data.kernel!r}: its values are "
                f"about {self.data.magnitude:.3g} and differ between rows by rounding only. Scale "
                "X, for example with StandardScaler."
            )

    def _with_predicted_projections(self, task: Task, solution: Solution) -> Solution:
        """The solution with the projections that its model predicts, where rounding matters.

        A model predicts sum_i a_i k(x_i, x). Where kernel values or weights are huge that sum loses
        digits, and the solver, whose rows are centred and scaled, does not notice.
        """
        a, coef = solution.coefficients, self.data.linear_coef(solution.coefficients, solution.coef)
        problem, cost = self.original, task.cost / self.data.scale
        total = float(cost.sum()) * problem.n_thresholds
        allowed = task.tol * solution.objective + NEGLIGIBLE * total
        uncertain = self.data.uncertainty(a)
        if uncertain > allowed:
            violation = max(solution.violation, uncertain / solution.objective)
            solution = replace(solution, violation=violation, converged=False)
        if not total * self.data.rounding(a, coef) > allowed:
            return solution
        h, shift = self.data.predicted(a, coef)
        t = (solution.thresholds + shift) - shift
        # a'K a loses more digits than h where weights are huge: |w|^2 is computed from w, if known.
        norm = 2.0 * (
            solution.objective
            - problem.objective(task.y, cost, solution.h, 0.0, solution.thresholds)
        )
        norm = max(norm, 0.0) if coef is None else float(coef @ coef)
        value = problem.objective(task.y, cost, h, norm, t)
        lost = value - solution.objective
        matters = abs(lost) > task.tol * value + NEGLIGIBLE * total
        violation = max(solution.violation, abs(lost) / value if matters else 0.0)
        return replace(
            solution, h=h, thresholds=t, objective=value, violation=violation,
            converged=solution.converged and not matters, next_start=solution,
        )  # fmt: skip

    def _worse_than_zero(self, task: Task, solution: Solution) -> bool:
        """Whether the objective exceeds that of w = 0 by more than the tolerance."""
        allowed = GAP * task.tol if solution.converged else 0.0
        return solution.objective > self._objective_at_zero(solution) * (1.0 + allowed)

    def _objective_at_zero(self, solution: Solution) -> float:
        """The objective at w = 0 and t = 0, where all losses are the same."""
        first, last = self.original.coupling.spans(self.original.n_thresholds)
        terms = float(solution.cost @ (last - first)[solution.y])
        return terms * float(self.loss.value(np.zeros(1))[0])

    def _fall_back_to_zero(self, task: Task, solution: Solution) -> Solution:
        """W = 0 where its objective is lower, otherwise the solution."""
        if not self._worse_than_zero(task, solution):
            return solution
        value = self._objective_at_zero(solution)
        h, t = np.zeros(len(solution.h)), np.zeros(self.problem.n_thresholds)
        violation = max(solution.violation, solution.objective / value - 1.0)
        return replace(
            solution, violation=violation, converged=False, h=h, thresholds=t, objective=value,
            coefficients=h.copy(), u=None,
            coef=None if solution.coef is None else np.zeros_like(solution.coef),
        )  # fmt: skip

    @abstractmethod
    def run(self, task: Task) -> Solution:
        """Solve one task, whose costs are multiplied by the scale of the data."""

    @abstractmethod
    def refinement(self, n_rows: int) -> tuple[float, int] | None:
        """Tolerance and iteration limit of a last training; None if it would take too long."""

    def refine(self, solution: Solution) -> Solution:
        """Continue with a finer tolerance: to rounding accuracy for a small problem."""
        best, last = solution, self.refinement(len(solution.y))
        if last is not None:
            tol, max_iter = last
            finer = self.solve(solution.y, solution.cost, warm=solution, tol=tol, max_iter=max_iter)
            best = finer if finer.objective <= solution.objective else solution
        best = self._with_middle_thresholds(best)
        return replace(best, n_iter=solution.n_iter, converged=solution.converged)

    def _with_middle_thresholds(self, solution: Solution) -> Solution:
        """The solution with the best thresholds for its h, the middle ones if several are best."""
        problem, y, cost, h = self.original, solution.y, solution.cost, solution.h
        if problem.smooth:
            return solution
        t = problem.middle_thresholds(y, cost, h, solution.thresholds)
        change = problem.objective(y, cost, h, 0.0, t)
        change -= problem.objective(y, cost, h, 0.0, solution.thresholds)
        return replace(solution, thresholds=t, objective=solution.objective + change)

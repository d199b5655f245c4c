"""Newton's method in (w, t) for linear models: every loss, every coupling, no kernel matrix.

With few dense features Newton's equations are formed, and a step costs a pass over the rows
whatever C is. With many sparse ones they are solved by conjugate gradients. Piecewise linear losses
are solved in their proximal form (`relaxation`).

Everything that touches rows is a function of one block, mapped over all of them and summed, so
the method runs wherever the blocks are.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tordinal.engines.base import RowBlocks, Samples, project
from tordinal.problem import Problem
from tordinal.solvers.newton.driver import Descent, Evaluation, line_search
from tordinal.solvers.newton.equations import Equations, Slopes, equations_for
from tordinal.solvers.newton.relaxation import Relaxation, Residuals
from tordinal.solvers.newton.terms import (
    Proximal,
    Smooth,
    evaluate_terms,
    project_direction,
    slope_along,
    take_step,
    update_multipliers,
)
from tordinal.solvers.solver import COARSE, Solution, Solver, Task
from tordinal.solvers.tuning import NEWTON as TUNING

__all__ = ["FeatureDescent", "Newton"]

Array = NDArray[np.float64]
Index = NDArray[np.int64]

NARROWEST = 1e-9  # width of a band that is all rounding
NOISE = 1e-15  # relative decrease of the objective that is rounding, with X w computed
UNCERTAIN = 1e12  # sum of all costs from which a direction may be mostly rounding
# The same over the width of the band, from which updates of a factor may have lost too many digits.
DOUBTFUL = 1e10


class Newton(Solver):
    """Solver of linear models in their features.

    `tol` bounds, relative to the objective, the duality gap of a piecewise linear loss, and the
    square root of half of Newton's decrement of a smooth one. The objective then lies within tol,
    or about tol^2, of its minimum.

    Parameters
    ----------
    data : Samples
        Rows; dense ones are centred.
    problem : Problem
        Any problem.
    """

    data: Samples
    coarse = COARSE

    def __init__(self, data: Samples, problem: Problem):
        super().__init__(data, problem)
        self._equations: Equations | None = None
        self._carried = 0

    @classmethod
    def handles(cls, problem: Problem, data: Any) -> bool:
        return bool(data.in_features)

    def run(self, task: Task) -> Solution:
        used = np.flatnonzero(task.cost > 0)
        rows = self.data.take(used)
        rows.use(
            single=task.tol >= TUNING.single_tol
            and rows.n_rows * rows.n_features >= TUNING.single_size
        )
        if self._equations is None or self._equations.rows is not rows:
            self._equations = equations_for(rows, self.problem.smooth)
        descent = FeatureDescent(rows, self.problem, self._equations, float(task.cost.sum()))
        width = self._start(rows, descent, task, used)
        steps, violation = descent.run(task.tol, task.limit, width, task.report)
        n, m, w = len(task.y), self.problem.n_thresholds, descent.w
        a, u = np.zeros(n), None
        a[used] = -rows.get("pull")
        if not self.problem.smooth:
            u = np.zeros((n, m))
            u[used] = rows.get("u")
        h = self._projections(rows, descent, task)
        t = descent.thresholds()
        value = self.problem.objective(task.y, task.cost, h, float(w @ w), t)
        lost = max(value - descent.value, 0.0)  # in rounding: h was updated step by step
        violation = max(violation, lost / value if task.gap_too_large(lost, value) else 0.0)
        return Solution(
            h, t, value, a, task.y, task.cost, u, w,
            n_iter=steps, violation=violation, converged=bool(violation <= task.tol),
        )  # fmt: skip

    def _start(
        self, rows: Samples, descent: "FeatureDescent", task: Task, used: Index
    ) -> float | None:
        """Begin where a task starts; the first width of the band, None for a cold start."""
        warm, problem = task.warm, self.problem
        rows.put(y=task.y[used], cost=task.cost[used])
        if warm is not None and warm.coef is not None:
            descent.w, descent.t = warm.coef.copy(), warm.thresholds.copy()
            rows.put(h=warm.h[used])
        else:
            rows.sum(project, descent.w)
        if problem.smooth:
            return None
        if warm is None or warm.u is None:
            low, high = problem.lines.box
            rows.put(u=np.full((len(used), problem.n_thresholds), 0.5 * (low + high)))
            return None
        u, fresh = warm.u[used], np.flatnonzero(warm.cost[used] == 0)
        h, y = warm.h[used][fresh], task.y[used][fresh]
        u[fresh] = problem.multiplier_bounds(y, h, warm.thresholds)
        rows.put(u=u)
        return (
            TUNING.new_ranks_width
            if np.array_equal(warm.cost, task.cost)
            else TUNING.new_costs_width
        )

    def _projections(self, rows: Samples, descent: "FeatureDescent", task: Task) -> Array:
        """X w: usually as updated by the steps of a training, or recomputed.

        The update is accurate to seven digits of the change, and saves a pass over all rows. With a
        tight tolerance X w is recomputed.
        """
        steering = (
            task.tol >= COARSE * TUNING.single_tol
            and task.warm is not None
            and not descent.reverted
        )
        if rows is self.data and steering and self._carried < TUNING.carried_trainings:
            self._carried += 1
            return rows.get("h")
        self._carried = 0
        return self.data.dot(descent.w)

    def refinement(self, n_rows: int) -> tuple[float, int] | None:
        if not self.data.few_features:
            return None
        return (
            TUNING.refine_tol if n_rows <= TUNING.refine_rows else TUNING.refine_tol_large
        ), TUNING.refine_steps


class FeatureDescent(Descent):
    """Newton's method in w and t.

    Before it runs, the blocks of the rows must hold ranks y, costs, projections h = X w and, for a
    piecewise linear loss, multipliers u.

    Parameters
    ----------
    rows : RowBlocks
        The rows, wherever they are.
    problem : Problem
        The problem to solve.
    equations : Equations
        How Newton's equations are solved.
    total_cost : float
        The sum of all costs.
    """

    def __init__(self, rows: RowBlocks, problem: Problem, equations: Equations, total_cost: float):
        super().__init__(problem)
        self.rows, self.equations, self.w = rows, equations, np.zeros(rows.n_features)
        self.total_cost, self.gap = total_cost, 0.0
        self.reverted = False  # to an earlier w; h in the blocks is that of a later one
        self.order = Order(problem.n_thresholds) if problem.coupling.ordered else None
        self._terms: Smooth | Proximal = Smooth(problem)
        self._nearby = False  # whether the equations of the last step are those of a point nearby

    def thresholds(self) -> Array:
        """The thresholds in order: sorted, or the nearest where their order is a constraint."""
        return np.sort(self.t) if self.order is None else self.order.nearest_in_order(self.t)

    def run(
        self,
        tol: float,
        limit: float,
        first_width: float | None = None,
        report: Callable[[int, float], None] = lambda steps, violation: None,
    ) -> tuple[int, float]:
        """Minimise; the steps taken, and how far the optimality conditions are violated.

        Parameters
        ----------
        tol : float
            How far they may be violated.
        limit : float
            Steps at most.
        first_width : float or None
            First width of the band, where multipliers are good already; None for a cold start.
        report : callable
            Called with the steps so far and the violation.
        """
        limit = int(min(limit, TUNING.max_steps))
        self.equations.accurate = not self.problem.smooth and tol <= TUNING.accurate_tol
        if self.problem.smooth and self.order is None:
            return self.minimise(limit, tol, report)
        cold = first_width is None
        width = TUNING.cold_width if first_width is None else first_width
        steps, violation, confirmed = 0, np.inf, False
        best = (np.inf, self.w, self.t)
        while True:
            self._terms, self._nearby = self._terms_at_width(width), False
            smooth = self.problem.smooth
            taken, decrement = self.minimise(
                limit - steps, tol if smooth else -1.0, report if smooth else _unreported
            )
            steps += taken
            self.rows.sum(update_multipliers, self._terms, self.t)
            before, violation, broken = violation, decrement + self.gap, 0.0
            if self.order is not None:
                broken, slack = self.order.update_multipliers(self.t)
                violation += broken + (slack / self.value if self.value > 0.0 else 0.0)
            report(steps, violation)
            if self.value < best[0] and broken <= tol:
                best = (self.value, self.w, self.t)
            if violation <= tol and not confirmed and self.total_cost > DOUBTFUL * width:
                self.equations.reset()  # is it true with a new factor?
                confirmed = True
                continue
            if violation <= tol:
                return steps, violation
            confirmed = False
            if steps >= limit or width < NARROWEST:
                if best[0] < np.inf:
                    self.value, self.w, self.t = best
                    self.reverted = True
                return steps, violation
            if (
                violation <= TUNING.settled_gap
            ):  # the active rows are known: a narrow band costs nothing
                width *= TUNING.settled_narrowing
            elif cold or violation > TUNING.slow_share * before:
                width *= TUNING.narrowing

    def _terms_at_width(self, width: float) -> "Smooth | Proximal":
        if self.order is not None:
            self.order.stiffness = self.total_cost / width
        if self.problem.smooth:
            return Smooth(self.problem)
        return Proximal(Relaxation(self.problem, width))

    def evaluate(self, tol: float) -> Evaluation:
        """The objective with its derivatives, and Newton's direction from here.

        The violation is measured by Newton's decrement, twice the decrease that the quadratic model
        promises. Unlike the gradient's norm it does not depend on the scale of the features.
        """
        slopes, (gap, moved) = self._slopes()
        proximal = self._terms.proximal
        enough = max(NOISE * slopes.value, TUNING.inexact * moved)
        if proximal and self._nearby:  # the equations of the last step are accurate enough
            decrement = -slopes.along(*self.equations.repeated(slopes))
            if 0.0 <= decrement <= enough:
                return Evaluation(-decrement, self._relative(slopes, decrement, gap), True)
        self.v, self.tau, slope = self._direction(slopes)
        violation = self._relative(slopes, abs(slope), gap)
        done = abs(slope) <= enough
        return Evaluation(slope, 0.0 if done and not proximal else violation, done)

    def _direction(self, slopes: Slopes) -> tuple[Array, Array, float]:
        """Newton's direction and the derivative along it."""
        v, tau = self.equations.direction(slopes)
        slope = slopes.along(v, tau)
        if not slope <= 0.0:  # the factor of earlier steps has become too inaccurate
            self.equations.reset()
            v, tau = self.equations.direction(slopes)
            slope = slopes.along(v, tau)
        return v, tau, slope

    def _relative(self, slopes: Slopes, decrement: float, gap: float) -> float:
        """The violation relative to the objective; the duality gap is kept."""
        self.gap = 0.0
        if slopes.value <= 0.0:
            return 0.0
        if not self._terms.proximal:
            return float(np.sqrt(0.5 * decrement / slopes.value))
        if not (self.rows.few_features and self.total_cost < UNCERTAIN):
            # A direction by iterations may fall short of Newton's, and so may one that is mostly
            # rounding. What slopes add to the duality gap is certain.
            by_w = 0.5 * float(slopes.w @ slopes.w)
            by_b = abs(float(slopes.t.sum())) * float(np.abs(self.t).max())
            decrement = max(decrement, by_w + by_b)
        self.gap = gap / slopes.value
        return decrement / slopes.value

    def _slopes(self) -> tuple[Slopes, Residuals]:
        """The objective and its derivatives here, and the size of the proximal terms."""
        terms = self._terms
        value, sums, in_t, held, *residuals = self.rows.sum(evaluate_terms, terms, self.t)
        pulled = self.penalty @ self.t
        self.value = value + 0.5 * float(self.w @ self.w + self.t @ pulled)
        second = self.curvature_in_t(terms.width * self.penalty, held, self.total_cost)
        slope_t = in_t + pulled
        if self.order is not None:
            slope_t = slope_t + self.order.slope(self.t)
            second = second + terms.width * self.order.curvature(self.t)
        w, mixed = self.w + sums[:, 0], sums[:, 1:]
        return Slopes(self.value, w, slope_t, mixed, second, terms.width), Residuals(*residuals)

    def step_length(self, slope: float) -> float:
        self.rows.sum(project_direction, self.v)
        tau, pulled, order = self.tau, self.penalty @ self.tau, self.order

        def along(step: float) -> tuple[float, float]:
            first, second = self.rows.sum(slope_along, self._terms, self.t, tau, step)
            if order is not None:
                first += float(order.slope(self.t + step * tau) @ tau)
                second += float(tau @ order.curvature(self.t + step * tau) @ tau)
            return first, second

        linear = float(self.w @ self.v + self.t @ pulled)
        return line_search(along, slope, linear, float(self.v @ self.v + tau @ pulled))

    def move(self, step: float) -> None:
        self.w, self.t = self.w + step * self.v, self.t + step * self.tau
        self.rows.sum(take_step, step)
        self._nearby = True


class Order:
    """The constraint t_1 <= t_2 <= ... by the method of multipliers.

    Parameters
    ----------
    m : int
        Number of thresholds.
    """

    def __init__(self, m: int):
        self.multipliers, self.stiffness = np.zeros(m - 1), 1.0

    def _pull(self, t: Array) -> Array:
        return np.maximum(0.0, self.multipliers + self.stiffness * (t[:-1] - t[1:]))

    def slope(self, t: Array) -> Array:
        """Derivative of the penalty."""
        pull = self._pull(t)
        return np.append(pull, 0.0) - np.append(0.0, pull)

    def curvature(self, t: Array) -> Array:
        """Second derivative."""
        apart = (np.eye(len(t))[:-1] - np.eye(len(t))[1:])[self._pull(t) > 0]
        return self.stiffness * apart.T @ apart

    def update_multipliers(self, t: Array) -> tuple[float, float]:
        """Update the multipliers; return the violation of the order, and their part of the gap."""
        self.multipliers = self._pull(t)
        broken = float(np.max(t[:-1] - t[1:], initial=0.0))
        return broken, float(self.multipliers @ np.maximum(t[1:] - t[:-1], 0.0))

    @staticmethod
    def nearest_in_order(t: Array) -> Array:
        """The nearest thresholds that are in order: neighbours that are not are averaged."""
        from sklearn.isotonic import isotonic_regression

        return isotonic_regression(t)


def _unreported(steps: int, violation: float) -> None:
    """Progress within one of several minimisations is not reported."""

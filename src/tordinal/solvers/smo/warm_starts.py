"""The state of SMO, and its start from the last solution, for new ranks and costs."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tordinal.engines.base import KernelMatrix
from tordinal.problem import Problem
from tordinal.reduction import signs
from tordinal.solvers.smo.larger_boxes import in_larger_boxes
from tordinal.solvers.smo.steps import boxes
from tordinal.solvers.solver import Solution, Task
from tordinal.solvers.tuning import SMO as TUNING

__all__ = ["State", "WarmStarts", "WorkingRows"]

Array = NDArray[np.float64]
Index = NDArray[np.int64]

ZERO_SUM = 1e-14  # rounding error of a sum, as a share of the sum of all variables
UNCHANGED = 1e-14  # change of a weight that is rounding, as a share of its variables


@dataclass
class State:
    """The state of SMO: dual variables, projections, and the sums of the variables by threshold."""

    beta: Array
    h: Array
    task: Task
    c: Array = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        if self.c is None:
            self.c = self.beta.sum(axis=0)
            # Sums that are only rounding would pass for multipliers of t_k <= t_{k+1}.
            self.c[np.abs(self.c) <= ZERO_SUM * np.abs(self.beta).sum()] = 0.0

    def part(self, index: Index, problem: Problem) -> "WorkingRows":
        """A copy of some rows."""
        y, cost = self.task.y[index], self.task.cost[index]
        return WorkingRows(
            self.beta[index], self.h[index], *boxes(y, cost, len(self.c), *problem.shape)
        )


@dataclass
class WorkingRows:
    """Some rows: variables, projections, boxes, and the margins that the loss asks for, signed."""

    beta: Array
    h: Array
    lower: Array
    upper: Array
    target: Array


class WarmStarts:
    """Feasible starts.

    Parameters
    ----------
    data : KernelMatrix
        Kernel values between the training rows.
    problem : Problem
        The problem to solve.

    Attributes
    ----------
    last : (ndarray, State) or None
        u of the last solution, and the state in which it ended.
    """

    def __init__(self, data: KernelMatrix, problem: Problem):
        self.data, self.problem = data, problem
        self.last: tuple[Array, State] | None = None

    def state_for(self, task: Task) -> State:
        """A feasible start: zeros, or the warm solution carried over to new ranks and costs.

        A variable keeps its place in its box: it grows with its cost, and is negated where its row
        has changed sides, so that two swapped rows, which were at opposite bounds, still sum to 0.
        One whose cost was zero takes the bound that is right at the warm (h, t). What then violates
        the constraint is restored by the coupling.
        """
        n, m, warm = len(task.y), self.problem.n_thresholds, task.warm
        if warm is None or warm.u is None:
            return State(np.zeros((n, m)), np.zeros(n), task)
        if (swapped := self._after_swaps(task, warm)) is not None:
            return swapped
        C, s = self.problem.costs(task.y, task.cost), signs(task.y, m)
        lines = self.problem.lines
        low, high = lines.box
        margin = s * (warm.h[:, None] - warm.thresholds)
        beta = np.clip(warm.u, low, high) * C
        fresh = np.flatnonzero((warm.cost == 0) & (task.cost > 0))
        beta[fresh] = np.where(margin[fresh] < lines.kink, high, low) * C[fresh]
        beta *= s
        self.problem.coupling.balance(beta, margin)
        a = beta.sum(axis=1)
        # Most rows keep their share of h or scale it alike (when C2 doubles); only the others cost
        # a kernel row each.
        scale = np.divide(a, warm.coefficients, out=np.zeros(n), where=warm.coefficients != 0)
        common = _most_common(scale[warm.coefficients != 0])
        change = a - common * warm.coefficients
        index = np.flatnonzero(np.abs(change) > UNCHANGED * np.abs(a))
        h = common * warm.h + self.data.combine(index, change[index])
        if not (np.array_equal(task.y, warm.y) and (task.cost >= warm.cost).all()):
            return State(beta, h, task)
        # Where no variable is at its bound any more, larger boxes change nothing: the warm solution
        # itself is better.
        kept = warm.u * self.problem.costs(task.y, warm.cost) * s
        starts = [(kept, warm.h.copy()), (beta, h)]
        if low < 0 and self.problem.coupling.any_pair and beta.size * m <= TUNING.larger_boxes_size:
            starts.append(self._start_with_bounds_followed(task, warm, kept, margin))
        beta, h = min(starts, key=lambda start: self.dual(start[0], start[1], s))
        return State(beta, h, task)

    def _start_with_bounds_followed(
        self, task: Task, warm: Solution, kept: Array, margin: Array
    ) -> tuple[Array, Array]:
        """The start in which variables at a bound follow it and h stays, with its projections."""
        assert warm.u is not None
        beta = in_larger_boxes(self.problem, task.y, task.cost, warm.u, kept, warm.thresholds)
        self.problem.coupling.balance(beta, margin)
        change = beta.sum(axis=1) - warm.coefficients
        index = np.flatnonzero(np.abs(change) > UNCHANGED * np.abs(beta).sum(axis=1))
        return beta, warm.h + self.data.combine(index, change[index])

    def _after_swaps(self, task: Task, warm: Solution) -> State | None:
        """The same start, if only labels were swapped since the last training.

        It takes time in proportion to the swapped rows. None if more has changed, or if the swapped
        rows were not at opposite bounds.
        """
        if self.last is None or warm.u is not self.last[0] or not self.problem.coupling.any_pair:
            return None
        u, last = self.last
        if not np.array_equal(task.cost, last.task.cost):
            return None
        rows = np.flatnonzero(task.y != last.task.y)
        s, C = signs(task.y[rows], u.shape[1]), self.problem.costs(task.y[rows], task.cost[rows])
        new, old = s * u[rows] * C, last.beta[rows]
        c = last.c + (new - old).sum(axis=0)
        if abs(float(c.sum())) > ZERO_SUM * float(np.abs(c).sum()):
            return None
        beta = last.beta.copy()
        beta[rows] = new
        change = new.sum(axis=1) - old.sum(axis=1)
        return State(beta, last.h + self.data.combine(rows, change), task, c)

    def dual(self, beta: Array, h: Array, s: Array) -> float:
        """The objective of the dual."""
        c, problem = beta.sum(axis=0), self.problem
        quadratic = float(beta.sum(axis=1) @ h) + problem.coupling.r * float(c @ c)
        return 0.5 * quadratic - problem.lines.kink * float(np.vdot(s, beta))


def _most_common(values: Array) -> float:
    distinct, counts = np.unique(values, return_counts=True)
    return float(distinct[np.argmax(counts)]) if len(distinct) else 1.0

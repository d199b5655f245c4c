"""The driver of Newton's method: one loop for both spaces, and the line search."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tordinal.problem import Problem

__all__ = ["Descent", "Evaluation", "line_search"]

Array = NDArray[np.float64]

DAMPING = 1e-13  # curvature of thresholds that no row determines, relative to all costs
LINE_STEPS, LINE_SHARE = 40, 0.1  # of a line search, and the share of the slope it may leave
WIDE_APART = 0.1  # ends of an interval whose middle is sought by order of magnitude


class Evaluation(NamedTuple):
    """Result of an evaluation.

    Attributes
    ----------
    slope : float
        The derivative along Newton's direction.
    violation : float
        How far the optimality conditions are violated.
    done : bool
        Whether no step is needed along the direction.
    """

    slope: float
    violation: float
    done: bool


class Descent(ABC):
    """Newton's method from a starting point. Subclasses define how to evaluate it and how to move.

    Parameters
    ----------
    problem : Problem
        The problem to solve.
    """

    def __init__(self, problem: Problem):
        m = problem.n_thresholds
        self.problem, self.t, self.value = problem, np.zeros(m), np.inf
        self.penalty = problem.coupling.penalty_curvature(m)  # the penalty is half of t' (this) t

    @abstractmethod
    def evaluate(self, tol: float) -> Evaluation:
        """The objective with its derivatives, and Newton's direction from here."""

    @abstractmethod
    def step_length(self, slope: float) -> float:
        """The step along the direction."""

    @abstractmethod
    def move(self, step: float) -> None:
        """Take a step along the direction."""

    def minimise(
        self, limit: float, tol: float, report: Callable[[int, float], None]
    ) -> tuple[int, float]:
        """Take steps to the minimum; return their number and the violation there."""
        steps = 0
        while True:
            slope, violation, done = self.evaluate(tol)
            report(steps, violation)
            # Where the slope is not negative rounding prevails: there is no better point.
            if done or violation <= tol or steps >= limit or slope >= 0.0:
                return steps, violation
            self.move(self.step_length(slope))
            steps += 1

    def curvature_in_t(self, penalty: Array, held: Array, total_cost: float) -> Array:
        """Curvature in t, positive also where no row determines a threshold."""
        loose = DAMPING * (total_cost + float(penalty.max()))
        return penalty + np.diag(held + loose)


def line_search(
    along: Callable[[float], tuple[float, float]],
    slope: float,
    linear: float = 0.0,
    bend: float = 0.0,
) -> float:
    """The step where the derivative along a direction, which never falls, has all but vanished.

    `along` gives the first and second derivative at a step, to which those of the quadratic
    linear step + bend step^2 / 2 are added.
    """
    lower, upper, step = 0.0, np.inf, 1.0
    for _ in range(LINE_STEPS):
        first, second = along(step)
        first, second = first + linear + step * bend, second + bend
        if abs(first) <= LINE_SHARE * abs(slope):
            break
        lower, upper = (step, upper) if first < 0 else (lower, step)
        guess = step - first / second if second > 0 else np.inf
        if np.isinf(upper):
            step = min(max(guess, 1.5 * step), 10.0 * step)
        else:
            step = guess if lower < guess < upper else _between(lower, upper)
        if upper - lower <= 1e-9 * upper:
            break
    return step


def _between(lower: float, upper: float) -> float:
    """The middle of an interval: of the orders of magnitude, where it spans several."""
    lower = max(lower, WIDE_APART**2 * upper)
    return 0.5 * (lower + upper) if lower > WIDE_APART * upper else float(np.sqrt(lower * upper))

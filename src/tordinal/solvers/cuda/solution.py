"""A solution whose vectors stay on the device until someone reads them."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tordinal.reduction import Ranks, signs
from tordinal.solvers.solver import Solution, balanced

__all__ = ["DeviceSolution", "DeviceState"]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class DeviceState:
    """Where SMO ended: never changed afterwards, so that solutions and warm starts can share it.

    Attributes
    ----------
    beta : device array of shape (n_rows, n_thresholds)
        Dual variables with their signs.
    h : device array of shape (n_rows,)
        Projections.
    c : ndarray of shape (n_thresholds,)
        Sums of the variables by threshold.
    t : ndarray of shape (n_thresholds,)
        Thresholds.
    y, cost : ndarray of shape (n_rows,)
        Ranks and costs, in the units of the scaled problem.
    """

    beta: Any
    h: Any
    c: Array
    t: Array
    y: Ranks
    cost: Array


@dataclass(frozen=True, eq=False)
class DeviceSolution:
    """A `Solution`; its vectors are copied from the device when they are first read.

    Attributes
    ----------
    device : Device
        The device.
    model, end : DeviceState
        Where (w, t) is, and where the solver ended, which may be a little worse.
    unit : float
        What weights in `model` are multiplied by.
    objective, y, cost, n_iter, violation, converged
        As in `Solution`.
    size, squares : float
        The sum of the absolute weights, and of their squares, of the problem as it was solved.
    """

    device: Any
    model: DeviceState
    end: DeviceState
    unit: float
    objective: float
    y: Ranks
    cost: Array
    n_iter: int
    violation: float
    converged: bool
    size: float
    squares: float

    coef = None
    next_start = None  # `end`

    @property
    def thresholds(self) -> Array:
        """Thresholds on the same scale as `h`, ascending."""
        return self.model.t

    @cached_property
    def h(self) -> Array:
        """Projections of the training rows."""
        return self.device.get(self.model.h)

    @cached_property
    def coefficients(self) -> Array:
        """The weights of the training rows in w."""
        return balanced(self.device.get(self.model.beta.sum(axis=1)) * self.unit)

    @cached_property
    def u(self) -> Array:
        """Dual variables in units of the cost."""
        beta, y, cost = self.device.get(self.end.beta), self.end.y, self.end.cost
        u = np.zeros_like(beta)
        np.divide(beta * signs(y, beta.shape[1]), cost[:, None], out=u, where=cost[:, None] > 0)
        return u

    def times(self, factor: float) -> Self:
        """The same solution for features multiplied by 1 / sqrt(factor) and costs by factor."""
        if factor == 1.0:
            return self
        return replace(
            self, objective=self.objective * factor, cost=self.cost * factor,
            unit=self.unit * factor,
        )  # fmt: skip

    def on_host(self) -> Solution:
        """The same as a `Solution`."""
        return Solution(
            self.h, self.thresholds, self.objective, self.coefficients, self.y, self.cost, self.u,
            n_iter=self.n_iter, violation=self.violation, converged=self.converged,
        )  # fmt: skip

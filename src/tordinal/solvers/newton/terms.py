"""The function that Newton's method minimises, for one block of rows."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tordinal.engines.base import Block, deferred, light
from tordinal.problem import LossTerms, Problem
from tordinal.solvers.newton.relaxation import Relaxation, Residuals

__all__ = [
    "Proximal", "Smooth", "Sums", "evaluate_terms", "project_direction", "slope_along", "take_step",
    "update_multipliers",
]  # fmt: skip

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Smooth:
    """The terms of a smooth loss."""

    problem: Problem
    width: float = 1.0
    proximal: ClassVar[bool] = False

    def evaluate(self, block: Block, t: Array) -> tuple[LossTerms, Residuals]:
        return self.problem.terms(block.y, block.cost, block.h, t), Residuals(0.0, 0.0)

    def along(self, block: Block, t: Array, tau: Array, step: float) -> tuple[float, float]:
        return self.problem.along(block.y, block.cost, block.h, t, block.z, tau, step)

    def update_multipliers(self, block: Block, t: Array) -> None:
        """There are no multipliers."""


@dataclass(frozen=True)
class Proximal:
    """The terms of a piecewise linear loss in its proximal form."""

    relaxation: Relaxation
    proximal: ClassVar[bool] = True

    @property
    def width(self) -> float:
        """Width of the band; curvatures are multiplied by it."""
        return self.relaxation.width

    def evaluate(self, block: Block, t: Array) -> tuple[LossTerms, Residuals]:
        return self.relaxation.terms(block.y, block.cost, block.h, t, block.u)

    def along(self, block: Block, t: Array, tau: Array, step: float) -> tuple[float, float]:
        b = block
        return self.relaxation.along(b.y, b.cost, b.h, t, b.u, b.z, tau, step)

    def update_multipliers(self, block: Block, t: Array) -> None:
        self.relaxation.update_multipliers(block.y, block.h, t, block.u)


class Sums(NamedTuple):
    """The contribution of a block to the sums over all blocks."""

    value: float
    products: Array
    in_t: Array
    held: Array
    gap: float
    moved: float


@deferred
def project_direction(block: Block, v: Array) -> None:
    """How h changes along a direction."""
    block.z = block.X.dot(v)


@light
@deferred
def take_step(block: Block, step: float) -> None:
    """Take a step along it."""
    block.h = block.h + step * block.z


def evaluate_terms(block: Block, terms: Smooth | Proximal, t: Array) -> Sums:
    """The terms and their derivatives; curvatures stay with the block."""
    (value, in_rows, in_t, block.D), residuals = terms.evaluate(block, t)
    block.pull = in_rows[:, 0]
    products = block.X.transposed_dot(in_rows)
    return Sums(value, products, in_t, in_rows[:, 1:].sum(axis=0), *residuals)


@light
def slope_along(
    block: Block, terms: Smooth | Proximal, t: Array, tau: Array, step: float
) -> tuple[float, float]:
    """First and second derivative of the terms along a direction, at a step."""
    return terms.along(block, t, tau, step)


@light
@deferred
def update_multipliers(block: Block, terms: Smooth | Proximal, t: Array) -> None:
    """Move the multipliers."""
    terms.update_multipliers(block, t)

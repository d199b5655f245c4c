"""Solvers: given ranks, costs and a warm start, what are h and t?"""

from tordinal.kernels import Gram
from tordinal.losses import Loss
from tordinal.solvers.newton import Newton
from tordinal.solvers.smo import SMO
from tordinal.solvers.solution import Solution

Solver = SMO | Newton


def make_solver(gram: Gram, loss: Loss) -> Solver:
    """The solver for a loss: SMO where it has a dual box, Newton's method where it has a curvature."""
    return SMO(gram, loss) if hasattr(loss, "box") else Newton(gram, loss)


__all__ = ["SMO", "Newton", "Solution", "Solver", "make_solver"]

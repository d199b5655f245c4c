"""Solvers: given ranks, costs and a warm start, what are h and t?"""

import scipy.sparse as sp

from tordinal.kernels import Gram, LinearFeatures
from tordinal.losses import Loss, is_smooth
from tordinal.solvers.coordinate import CoordinateDescent
from tordinal.solvers.linear import LinearNewton
from tordinal.solvers.newton import Newton
from tordinal.solvers.smo import SMO
from tordinal.solvers.solution import Solution

Solver = SMO | Newton | LinearNewton | CoordinateDescent


def make_solver(held: Gram | LinearFeatures, loss: Loss) -> Solver:
    """The solver for a loss: SMO where it has a dual box, Newton's method where it has a curvature.

    Linear features are solved by Newton's method too, but for piecewise linear losses of sparse rows, which coordinate descent
    solves.
    """
    if isinstance(held, LinearFeatures):
        descent = sp.issparse(held.X) and not is_smooth(loss)
        return CoordinateDescent(held.X, loss) if descent else LinearNewton(held.X, loss)
    return Newton(held, loss) if is_smooth(loss) else SMO(held, loss)


__all__ = ["SMO", "CoordinateDescent", "LinearNewton", "Newton", "Solution", "Solver", "make_solver"]

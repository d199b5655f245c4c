"""How it is solved: given ranks, costs and a warm start, what are h and t?"""

from tordinal.solvers.choice import SOLVERS, hold, solver_for
from tordinal.solvers.coordinate import CoordinateDescent
from tordinal.solvers.kernel_newton import KernelNewton
from tordinal.solvers.newton import Newton
from tordinal.solvers.smo import SMO
from tordinal.solvers.solver import Solution, Solver

__all__ = [
    "SMO", "SOLVERS", "CoordinateDescent", "KernelNewton", "Newton", "Solution", "Solver", "hold",
    "solver_for",
]  # fmt: skip

"""How it is solved: given ranks, costs and a warm start, find the projections h and thresholds t.

Which solver solves what. `choice.hold` picks the form of the rows, `choice.solver_for` the solver::

    loss                  rows: features           rows: kernel matrix
    -------------------   ----------------------   ----------------------------------
    hinge, Laplacian      Newton, in the proximal  SMO
                          form of `relaxation`
    smooth losses         Newton                   KernelNewton
    thresholds in order   Newton                   SMO; smooth losses: not supported
    (SVOR-EXC)

Which one uses which. Arrows point from the user to what it uses::

    choice --+--> smo.SMO ------+--> steps         compiled steps on two variables
             |     |            +--> working_set   rows whose kernel values fit the cache
             |     |            +--> warm_starts   the last solution for new ranks and costs
             |     |            |      +--> larger_boxes  the same for the Laplacian loss
             |     | slow convergence
             |     v
             |   newton.SquareRoot -----------+    K = L L', the rows of L are features
             |     ^                          |
             |     | rounding                 |
             +--> newton.KernelNewton         |
             |     |                          |
             |     +--> newton.driver <--+    |    one loop for both spaces
             |                           |    v
             +--> newton.Newton ---------+    Newton
                   +--> equations     Newton's equations, three ways
                   +--> relaxation    smooth form of the hinge and the Laplacian loss

All of them are subclasses of `solver.Solver`, which checks the range of the numbers, scales costs,
keeps a warm start that is better, and measures the violation of the optimality conditions.

Why each exists:

`SMO`
    A step reads two rows of the kernel matrix, and only rows that can still move take part, so the
    hinge and the Laplacian loss need neither a factor nor all of K. With huge costs or a kernel of
    low rank its steps on two variables converge slowly. `SquareRoot` then takes over.
`KernelNewton`
    Without bounds all variables move together, which SMO does one pair at a time. One factor moves
    them at once, and serves many iterations as a preconditioner.
`Newton`
    With fewer features than rows, or many sparse rows, an iteration costs a few passes over the
    rows whatever C is. The cluster uses the same code, because all that touches rows is a sum over
    blocks.
`SquareRoot`
    Not chosen directly: it turns a kernel matrix into features, so that `Newton` can solve it.

``docs/mathematics.md`` derives the methods; ``docs/benchmarks.md`` has the measurements.
"""

from tordinal.solvers.choice import SOLVERS, hold, solver_for
from tordinal.solvers.cuda import CudaSMO
from tordinal.solvers.newton import KernelNewton, Newton
from tordinal.solvers.smo import SMO
from tordinal.solvers.solver import Solution, Solver

__all__ = [
    "SMO", "SOLVERS", "CudaSMO", "KernelNewton", "Newton", "Solution", "Solver", "hold",
    "solver_for",
]  # fmt: skip

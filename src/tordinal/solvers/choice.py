"""The choice of a solver and of the form of the rows, for all estimators.

==========================  ==============================  ==============================
rows                        hinge, Laplacian                smooth losses
==========================  ==============================  ==============================
a kernel, or more features  `SMO` on the Gram matrix        `KernelNewton` on the Gram
than rows                                                   matrix
dense linear                `Newton` in the features        `Newton` in the features
few sparse linear           `SMO` on the Gram matrix, with  `Newton` in the features, of up to
                            a tight tolerance `Newton`      500 rows `KernelNewton`
many sparse linear          `Newton` in the features        `Newton` in the features
==========================  ==============================  ==============================

Each solver states what it handles; ``docs/benchmarks.md`` has the measurements behind the limits.
"""

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from tordinal.distances import Matrix
from tordinal.engines.base import TrainingData
from tordinal.engines.cuda.gram import CudaGram
from tordinal.engines.host.gram import SINGLE_PRECISION_ROWS, Gram
from tordinal.engines.host.rows import DENSE_FEATURES, MOST_FEATURES, Rows, linear_rows
from tordinal.kernels import Kernel, Linear
from tordinal.problem import Problem
from tordinal.solvers.cuda import CudaSMO
from tordinal.solvers.newton import KernelNewton, Newton
from tordinal.solvers.smo import SMO
from tordinal.solvers.solver import Solver
from tordinal.solvers.tuning import CHOICE as TUNING

__all__ = ["SOLVERS", "hold", "solver_for"]

SOLVERS: tuple[type[Solver], ...] = (CudaSMO, SMO, KernelNewton, Newton)


def hold(
    kernel: Kernel,
    X: Matrix,
    problem: Problem,
    cache_size: float,
    tol: float = 1e-3,
    engine: str = "host",
) -> Gram | Rows:
    """Hold the training rows in the form that is solved fastest.

    With ``engine="cuda"`` kernel values are held on the GPU; features stay on the host.
    """
    if isinstance(kernel, Linear):
        if sp.issparse(X) and _worth_making_dense(X, cache_size):
            X = X.toarray()
        if _in_features(X, problem, cache_size, tol):
            return linear_rows(X)
        if not sp.issparse(X):
            centre = X.mean(axis=0, dtype=np.float64)
            return _gram(engine, kernel, X - centre, cache_size, problem, centre)
    return _gram(engine, kernel, X, cache_size, problem)


def _gram(
    engine: str,
    kernel: Kernel,
    X: Matrix,
    cache_size: float,
    problem: Problem,
    centre: NDArray[np.float64] | None = None,
) -> Gram:
    if engine == "cuda":
        return CudaGram(kernel, X, double=problem.smooth, centre=centre)
    return Gram(kernel, X, cache_size, double=problem.smooth, centre=centre)


def _worth_making_dense(X: Matrix, cache_size: float) -> bool:
    n, d = X.shape
    return d <= DENSE_FEATURES and d < n and 8 * n * d <= cache_size * 2**20


def _in_features(X: Matrix, problem: Problem, cache_size: float, tol: float) -> bool:
    """Whether a linear model is solved in its features rather than on a Gram matrix."""
    n, d = X.shape
    fits = 4.0 * n * n <= cache_size * 2**20
    if not sp.issparse(X):
        return d <= min(n, MOST_FEATURES) or not fits
    if problem.smooth:
        return n > TUNING.gram_smooth_rows or d < n
    if tol <= TUNING.features_tol and n > SINGLE_PRECISION_ROWS:
        return True
    by_feature = np.bincount(X.indices, minlength=d).astype(np.float64)
    return not fits or n > TUNING.gram_rows or float(by_feature @ by_feature) > TUNING.gram_products


def solver_for(data: TrainingData, problem: Problem, share: float = 1.0) -> Solver:
    """The first solver that handles a problem on rows in this form.

    Several solvers may work on the same rows at the same time, each with its `share` of the memory.
    """
    for solver in SOLVERS:
        if solver.handles(problem, data):
            return solver(data.private(share), problem)
    raise ValueError(
        f"no solver handles {problem.loss!r} with {problem.coupling!r} on {type(data).__name__}"
    )

"""The least value of the objective by a general convex solver (cvxpy with Clarabel)."""

import cvxpy as cp
import numpy as np

from tordinal.couplings import Reduction
from tordinal.reduction import signs

FORMULAS = {
    "hinge": lambda g: cp.pos(1 - g),
    "squared_hinge": lambda g: cp.square(cp.pos(1 - g)),
    "logistic": lambda g: cp.logistic(-g),
    "square": lambda g: cp.square(1 - g),
    "laplacian": lambda g: cp.abs(1 - g),
}


def feature_map(K):
    """Rows in the centred feature space, whose inner products are the kernel."""
    J = np.eye(len(K)) - 1 / len(K)
    values, vectors = np.linalg.eigh(J @ K @ J)
    rounding = max(1e-13 * values.max(), 32 * np.finfo(float).eps * np.abs(K).max())
    values = np.where(values > rounding, values, 0.0)
    return vectors * np.sqrt(values)


def convex_minimum(F, y, cost, name, coupling, m, size=1.0, unit=1.0):
    """The least value of (4) over w and t for rows F.

    `size` and `unit` are about what |w| and the objective will be: without them a general solver
    is lost where numbers are very large or very small. They change no value.
    """
    w, t, mean = cp.Variable(F.shape[1]), cp.Variable(m), cp.Variable()
    s, C = signs(y, m), used_costs(y, cost, coupling, m)
    terms = []
    for k in range(m):
        rows = np.flatnonzero(C[:, k])
        if len(rows):
            margins = cp.multiply(s[rows, k], (size * F[rows]) @ w - t[k])
            terms.append(cp.sum(cp.multiply(cost[rows] / unit, FORMULAS[name](margins))))
    spread = cp.sum_squares(t - mean) / unit if isinstance(coupling, Reduction) else 0
    order = [t[:-1] <= t[1:]] if coupling.ordered and m > 1 else []
    value = 0.5 * size**2 / unit * cp.sum_squares(w) + 0.5 * spread + sum(terms)
    problem = cp.Problem(cp.Minimize(value), order)
    problem.solve(solver="CLARABEL")
    return problem.value * unit, problem.status


def used_costs(y, cost, coupling, m):
    """C_i at the thresholds that a row uses; those beside its rank, or all of them."""
    if not coupling.ordered:
        return np.repeat(cost[:, None], m, axis=1)
    k = np.arange(m)
    beside = (k == y[:, None]) | (k == y[:, None] - 1)
    return np.where(beside, cost[:, None], 0.0)

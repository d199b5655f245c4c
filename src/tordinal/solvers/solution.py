"""What a solver returns, and the objective that all of them minimise."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tordinal.losses import Loss
from tordinal.reduction import Ranks, signs
from tordinal.threads import in_blocks

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Solution:
    """Where a solver stands: the projections h and thresholds t, and what it takes to go on from there.

    Attributes
    ----------
    h : ndarray of shape (n_samples,)
        Projections of the training rows.
    thresholds : ndarray of shape (n_thresholds,)
        Thresholds on the same scale, ascending.
    objective : float
        The objective (4) at (h, thresholds).
    coefficients : ndarray of shape (n_samples,)
        a, the weights of the training rows in w.
    y, cost : ndarray of shape (n_samples,)
        The ranks and costs that this is the solution for.
    beta : ndarray of shape (n_samples, n_thresholds)
        The dual variables, where the solver has them.
    coef : ndarray of shape (n_features,)
        w itself, where the solver has it.
    n_iter : int
        Steps taken so far.
    violation : float
        Largest violation of the optimality conditions, or the relative gradient.
    converged : bool
        Whether `violation` is within the tolerance.
    """

    h: Array
    thresholds: Array
    objective: float
    coefficients: Array
    y: Ranks
    cost: Array
    beta: Array | None = None
    coef: Array | None = None
    n_iter: int = 0
    violation: float = np.inf
    converged: bool = False


def beside(y: Ranks, n_thresholds: int) -> NDArray[np.bool_]:
    """T(i) of SVOR-EXC: the two thresholds beside each row's rank."""
    k, rank = np.arange(n_thresholds), np.asarray(y)[:, None]
    return (k == rank) | (k == rank - 1)


def boxes(box: tuple[float, float], y: Ranks, C: Array) -> tuple[Array, Array, Array]:
    """The box of every dual variable, [0, C] or [-C, 0] by its sign for the hinge; and the signs."""
    s = signs(y, C.shape[1])
    low, high = box[0] * C, box[1] * C
    return np.where(s > 0, low, -high), np.where(s > 0, high, -low), s


def growth(before: Array, now: Array) -> Array:
    """By how much each cost has grown; 0 where it was 0."""
    return np.divide(now, before, out=np.zeros_like(now), where=before > 0)


def turned(beta: Array, before: Ranks, now: Ranks) -> Array:
    """Dual variables of rows whose ranks have changed, in place: negated at the thresholds that a row has passed."""
    for k in range(beta.shape[1]):
        beta[(before > k) != (now > k), k] *= -1.0
    return beta


def objective(loss: Loss, y: Ranks, cost: Array, h: Array, a: Array, t: Array, coupling: str = "reduction") -> float:
    """Equation 4: 1/2 |w|^2 + 1/2 R(t) + sum_i C_i sum_k loss(s_ik (h_i - t_k)).

    With the coupling "reduction", R(t) = sum_k (t_k - mean t)^2, which is |theta|^2 at its least over b.
    """
    return 0.5 * float(a @ h) + thresholds_and_losses(loss, y, cost, h, t, coupling)


def thresholds_and_losses(loss: Loss, y: Ranks, cost: Array, h: Array, t: Array, coupling: str = "reduction") -> float:
    """The objective less 1/2 |w|^2."""

    def block(p: slice) -> float:
        values = loss.value(signs(y[p], len(t)) * (h[p, None] - t))
        if coupling == "explicit":
            values = values * beside(y[p], len(t))
        return float(cost[p] @ values.sum(axis=1))

    spread = float(np.sum((t - t.mean()) ** 2)) if coupling == "reduction" else 0.0
    return 0.5 * spread + sum(in_blocks(len(h), block))

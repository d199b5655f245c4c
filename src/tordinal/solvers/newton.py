"""Newton's method for the smooth losses, with matrix-vector products only.

The unknowns are a, the weights of the training rows in w, and the thresholds t. Because b is free, sum(a) = 0 at the
optimum, so the feature map may be centred: K is replaced by its doubly centred form, which is positive semi-definite
also for conditionally positive kernels such as the perceptron kernel. In the norm of the feature space the Hessian of (4)
is

    v  ->  v + D z - E tau,        tau  ->  M tau - E'z        with  z = K v

where E_ik = C_i loss''(g_ik), D_i = sum_k E_ik and M = R'' + diag(sum_i E_ik). The few thresholds are eliminated
exactly, and what is left is solved by conjugate gradients in that norm at one product with K per iteration. The
preconditioner replaces K by a low-rank pivoted Cholesky factor. ``docs/mathematics.md`` has the derivation.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, solve_triangular

from tordinal.kernels import Gram
from tordinal.losses import Loss
from tordinal.reduction import Ranks, signs
from tordinal.solvers.solution import Solution, objective

Array = NDArray[np.float64]

FORCING = 0.1  # the linear system of a Newton step is solved to this share of the gradient, at least
ROUNDING = 1e-12  # relative change of the objective that is noise
MAX_IDLE = 3  # steps in a row that gain nothing
ARMIJO = 1e-4  # share of the predicted decrease that a step must achieve
MAX_HALVINGS = 30
REFINE_ROWS, REFINE_PRODUCTS, REFINED = 1024, 1000, 1e-9
RANK = 500  # columns of the preconditioner
RIDGE = 1e-10  # keeps the thresholds' own system regular when no row is near any of them


class Newton:
    """Solver of the smooth losses, for one Gram matrix.

    Parameters
    ----------
    gram : Gram
        Kernel rows of the training set.
    loss : Loss
        A loss with a `curvature`.
    """

    def __init__(self, gram: Gram, loss: Loss):
        self.gram, self.loss = gram, loss
        self.factor = pivoted_cholesky(gram, min(RANK, len(gram)))

    def solve(
        self,
        y: Ranks,
        cost: Array,
        n_thresholds: int,
        *,
        warm: Solution | None = None,
        tol: float = 1e-3,
        max_iter: int = -1,
        on_chunk: Callable[[int, float], None] | None = None,
    ) -> Solution:
        """Minimise (4) over w and t with the ranks y fixed; parameters as in `SMO.solve`.

        `tol` bounds the gradient's norm relative to sqrt(2 x objective), the largest norm that w can have. As (4) is
        1-strongly convex in w, the objective then lies within about tol^2, relatively, of its minimum. An
        iteration is one product with the kernel matrix.
        """
        n, loss = len(y), self.loss
        s, C = signs(y, n_thresholds), cost[:, None]
        a, h, t = self._start(n, n_thresholds, warm)
        value = objective(loss, y, cost, h, a, t)
        limit = np.inf if max_iter < 0 else max_iter
        products = idle = 0
        while True:
            g = s * (h[:, None] - t)
            pull = C * s * loss.slope(g)  # derivative of each loss term with respect to h_i, and less that to t_k
            grad_a, grad_t = a + pull.sum(axis=1), t - t.mean() - pull.sum(axis=0)
            z_grad = self._times(grad_a, exact=True)
            products += 1
            norm = float(np.sqrt(max(grad_a @ z_grad, 0.0) + grad_t @ grad_t))
            violation = norm / np.sqrt(2.0 * value) if value > 0 else 0.0
            if on_chunk is not None:
                on_chunk(products, violation)
            if violation <= tol or products >= limit:
                break
            E = C * loss.curvature(g)  # type: ignore[attr-defined]
            v, tau, used = self._direction(E, grad_a, z_grad, grad_t, limit - products)
            z = self._times(v, exact=True)
            products += used + 1
            # Along the step h moves by z and t by tau, so a line search costs no product.
            slope = float(grad_a @ z + grad_t @ tau)
            step, new = 1.0, value
            for _ in range(MAX_HALVINGS):
                new = objective(loss, y, cost, h + step * z, a + step * v, t + step * tau)
                if new <= value + ARMIJO * step * slope:
                    break
                step *= 0.5
            else:
                # Where the decrease to be had is below rounding this is the solution; otherwise it is a failure.
                violation = min(violation, tol) if abs(slope) <= ROUNDING * value else violation
                break
            idle = idle + 1 if value - new <= ROUNDING * value else 0
            a, h, t, value = a + step * v, h + step * z, t + step * tau, new
            if idle >= MAX_IDLE:  # what the steps still gain is rounding: with a huge C the gradient never gets small
                violation = min(violation, tol)
                break
        a = a - a.mean()
        order = np.sort(t)  # never worse, see SMO._thresholds
        shift = float(self.gram.times(a).mean())  # back from the centred feature map
        return Solution(
            h + shift, order + shift, objective(loss, y, cost, h, a, order), a, y, cost,
            n_iter=products, violation=violation, converged=bool(violation <= tol),
        )  # fmt: skip

    def refine(self, solution: Solution) -> Solution:
        """Bring a solution of a small problem nearer to rounding accuracy, where Newton's method is quick."""
        if len(solution.y) > REFINE_ROWS:
            return solution
        finer = self.solve(
            solution.y, solution.cost, len(solution.thresholds), warm=solution, tol=REFINED, max_iter=REFINE_PRODUCTS
        )
        return replace(finer, n_iter=solution.n_iter, converged=solution.converged)

    def _start(self, n: int, m: int, warm: Solution | None) -> tuple[Array, Array, Array]:
        if warm is None:
            return np.zeros(n), np.zeros(n), np.zeros(m)
        centre = warm.h.mean()
        return warm.coefficients, warm.h - centre, warm.thresholds - centre

    def _times(self, v: Array, *, exact: bool = False) -> Array:
        """Product with the doubly centred kernel matrix; in single precision where it only steers."""
        v = v - v.mean()
        z = self.gram.times(v) if exact else self.gram.times_single(v)
        return z - z.mean()

    def _direction(
        self, E: Array, grad_a: Array, z_grad: Array, grad_t: Array, limit: float
    ) -> tuple[Array, Array, int]:
        """Newton's direction (v, tau), and the products it took.

        Eliminating tau = M^-1 (E'z - grad_t) leaves (I + S K) v = r with S = D - E M^-1 E', self-adjoint and positive in
        the inner product u'K v.
        """
        m = E.shape[1]
        M = cho_factor(np.eye(m) - 1.0 / m + np.diag(E.sum(axis=0) + RIDGE))
        D = E.sum(axis=1)

        def curve(z: Array) -> Array:  # S z
            return D * z - E @ cho_solve(M, E.T @ z)

        pull_t = E @ cho_solve(M, grad_t)
        r, z_r = -grad_a - pull_t, -z_grad - self._times(pull_t)
        products = 1
        precondition = self._preconditioner(D, E, M)
        v, z = np.zeros_like(r), np.zeros_like(r)
        p, z_p = precondition(r, z_r)
        size, start = float(z_r @ p), float(r @ z_r)
        while products < limit and size > 0:
            curved = curve(z_p)
            A_p, z_A_p = p + curved, z_p + self._times(curved)
            products += 1
            bend = float(z_p @ A_p)
            if not bend > 0:  # rounding has made the kernel matrix indefinite along p: what is found so far will do
                break
            step = size / bend
            v, z = v + step * p, z + step * z_p
            r, z_r = r - step * A_p, z_r - step * z_A_p
            if float(r @ z_r) <= FORCING**2 * start:
                break
            q, z_q = precondition(r, z_r)
            size, last = float(z_r @ q), size
            p, z_p = q + size / last * p, z_q + size / last * z_p
        return v, cho_solve(M, E.T @ z - grad_t), products

    def _preconditioner(
        self, D: Array, E: Array, M: tuple[Array, bool]
    ) -> Callable[[Array, Array], tuple[Array, Array]]:
        """Inverse of the Hessian restricted to the span of a few rows, the identity elsewhere.

        With L L' the pivoted Cholesky factor of K, the coordinates of r in an orthonormal basis of that span are
        L_J^-1 (K r)_J, and the Hessian there is I + L'S L. Neither needs a product with K.
        """
        L, pivots = self.factor
        LE = L.T @ E
        inner = cho_factor(np.eye(L.shape[1]) + (L.T * D) @ L - LE @ cho_solve(M, LE.T))
        L_J = L[pivots]

        def apply(r: Array, z_r: Array) -> tuple[Array, Array]:
            coordinates = solve_triangular(L_J, z_r[pivots], lower=True)
            change = cho_solve(inner, coordinates) - coordinates
            q = r.copy()
            q[pivots] += solve_triangular(L_J, change, lower=True, trans="T")
            return q, z_r + L @ change

        return apply


def pivoted_cholesky(gram: Gram, rank: int) -> tuple[Array, NDArray[np.int64]]:
    """A low-rank factor L of the doubly centred kernel matrix, L L' ~ K, and the rows it was built from.

    Greedy: each column removes the row whose diagonal is worst approximated.
    """
    n = len(gram)
    mean = gram.times(np.full(n, 1.0 / n))
    centre = mean.mean()
    left = gram.diagonal - 2.0 * mean + centre
    L = np.zeros((n, rank))
    pivots = np.zeros(rank, dtype=np.int64)
    smallest = 1e-9 * max(float(left.max()), 0.0)
    for q in range(rank):
        i = int(np.argmax(left))
        if left[i] <= smallest:
            return L[:, :q], pivots[:q]
        pivots[q] = i
        row = gram.row(i) - mean - mean[i] + centre
        L[:, q] = (row - L[:, :q] @ L[i, :q]) / np.sqrt(left[i])
        left = left - L[:, q] ** 2
        left[pivots[: q + 1]] = 0.0
    return L, pivots

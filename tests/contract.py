"""What every solver promises, checked on problems drawn from wide ranges.

`draw` makes a case for a solver, a loss and a coupling; `broken_promises` lists what did not hold.
The test suite tries a few cases of every combination, ``python -m benchmarks contract`` as many as
fit into ten minutes.
"""

import warnings
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from convex import convex_minimum, feature_map, used_costs

from tordinal.couplings import Coupling, Explicit, Implicit, Reduction
from tordinal.engines.gram import Gram
from tordinal.engines.rows import linear_rows
from tordinal.kernels import make_kernel
from tordinal.losses import LOSSES
from tordinal.problem import Problem
from tordinal.reduction import signs
from tordinal.solvers import SMO, CoordinateDescent, KernelNewton, Newton

COUPLINGS = (Reduction(), Implicit(), Explicit())
LINES, SMOOTH = ("hinge", "laplacian"), ("squared_hinge", "logistic", "square")
TOL = 1e-5
NEAR = 1e-3  # share of the objective by which a solution that calls itself converged may miss it
ROUNDING = 1e-8  # share of all costs by which it always may


def _all(solver, forms, losses, couplings):
    return [(solver, f, l, c) for f in forms for l in losses for c in couplings]


COMBINATIONS = [
    *_all(SMO, ("gram", "partial gram"), LINES, COUPLINGS),
    *_all(KernelNewton, ("gram", "partial gram"), SMOOTH, (Reduction(), Implicit())),
    *_all(Newton, ("dense", "sparse"), LINES + SMOOTH, COUPLINGS),
    *_all(CoordinateDescent, ("sparse",), LINES, (Reduction(),)),
]


@dataclass(frozen=True)
class Case:
    """A problem: rows, ranks and costs, and who is to solve it."""

    solver: type
    form: str
    loss: str
    coupling: Coupling
    kernel: str
    X: np.ndarray
    y: np.ndarray
    cost: np.ndarray
    n_thresholds: int
    words: str

    def __str__(self):
        return (
            f"{self.solver.__name__} {self.form} {self.loss} {type(self.coupling).__name__} "
            f"{self.kernel} {self.words}"
        )

    @property
    def problem(self):
        return Problem(LOSSES[self.loss](), self.coupling, self.n_thresholds)

    def kernel_of(self, X):
        return make_kernel(self.kernel, X, 0.3)

    def make(self, X=None):
        """A new solver on the rows, or on others of the same kind."""
        X = self.X if X is None else X
        if "gram" in self.form:
            size = 100.0 if self.form == "gram" else 4 * len(X) * 8 / 2**20
            data = Gram(self.kernel_of(X), X, size, double=self.problem.smooth)
        else:
            data = linear_rows(sp.csr_array(X) if self.form == "sparse" else X)
        return self.solver(data, self.problem)

    def features(self):
        """Rows in the feature space."""
        if "gram" in self.form:
            return feature_map(self.kernel_of(self.X)(self.X, self.X))
        return self.X if self.form == "sparse" else self.X - self.X.mean(axis=0)


def draw(seed, combination, mild=False):
    """A case from the whole ranges, or from where nothing is extreme."""
    solver, form, loss, coupling = combination
    rng = np.random.default_rng(seed)
    n, K = int(rng.integers(2, 61)), int(np.clip(rng.geometric(0.15) + 1, 2, 50))
    d = int(rng.integers(1, 9))
    C = 10.0 ** (rng.uniform(-2, 2) if mild else rng.uniform(-6, 6))
    scale = 1.0 if mild else 10.0 ** rng.uniform(-8, 8)
    kernel = str(rng.choice(["linear", "rbf", "perceptron"])) if "gram" in form else "linear"
    X = rng.normal(size=(n, d))
    score = X[:, 0] + 0.5 * rng.normal(size=n)
    kinds = [kind for kind in ("copies", "constant", "integers", "column") if rng.random() < 0.25]
    if "copies" in kinds:
        X = X[rng.integers(0, n, n)]
    if "integers" in kinds:
        X = np.round(X)
    if "constant" in kinds:
        X[:, rng.integers(d)] = 3.0
    if "column" in kinds and not mild:  # one column of another scale, far from zero
        j = rng.integers(d)
        X[:, j] = 1e3 * (X[:, j] + 1e3)
    if form == "sparse":
        X = X * (rng.random(X.shape) < 0.5)
    X = X * scale
    if form != "sparse":
        X = X - X.mean(axis=0)  # as `hold` does: beyond that, double precision has no more to tell
    y = np.argsort(np.argsort(score)) * K // n
    if rng.random() < 0.3:
        y = rng.integers(0, K, n)
    y[:2] = 0, K - 1
    if coupling != Reduction() and loss in SMOOTH:
        # A threshold that all rows lie on one side of has no best place: it goes to infinity.
        y = np.unique(y, return_inverse=True)[1]
        K = int(y.max()) + 1
    weight = np.ones(n)
    if rng.random() < 0.5:
        weight = rng.choice([0.0, 1e-3, 1.0, 1.0] if mild else [0.0, 1e-3, 1.0, 1e3], n)
        weight[:2] = 1.0
        if coupling != Reduction() and loss in SMOOTH:
            weight = np.maximum(weight, 1e-3)
    words = f"n={n} d={d} K={K} C={C:.2g} X times {scale:.2g} {kinds} seed={seed}"
    return Case(solver, form, loss, coupling, kernel, X, y, C * weight, K - 1, words)


def value_of(case, y, cost, h, norm, t):
    """The objective, written down once more."""
    losses = {
        "hinge": lambda g: np.maximum(0, 1 - g),
        "squared_hinge": lambda g: np.maximum(0, 1 - g) ** 2,
        "logistic": lambda g: np.logaddexp(0, -g),
        "square": lambda g: (1 - g) ** 2,
        "laplacian": lambda g: np.abs(1 - g),
    }
    C = used_costs(y, cost, case.coupling, len(t))
    g = signs(y, len(t)) * (h[:, None] - t)
    spread = np.sum((t - t.mean()) ** 2) if case.coupling == Reduction() else 0.0
    return float(0.5 * norm + 0.5 * spread + np.sum(C * losses[case.loss](g)))


def projections(case, solution):
    """h of the training rows and |w|^2, from what a model is made of."""
    if "gram" in case.form:
        K = case.kernel_of(case.X)(case.X, case.X)
        K = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()  # as the weights sum to zero
        h = K @ solution.coefficients
        norm = max(float(solution.coefficients @ h), 0.0)
        return h - h.mean() + solution.h.mean(), norm
    centre = 0.0 if case.form == "sparse" else case.X.mean(axis=0)
    return (case.X - centre) @ solution.coef, float(solution.coef @ solution.coef)


def rounding_of(case, solution):
    """What double precision may make of the sum K a."""
    if "gram" not in case.form:
        return 0.0
    largest = np.abs(case.kernel_of(case.X)(case.X, case.X)).max()
    return 1e-13 * float(np.abs(solution.coefficients).sum()) * largest


def broken_promises(case, reference=True):
    """What does not hold for a case, in words; and whether the solver says that it converged."""
    broken = []
    X, y, cost = case.X.copy(), case.y.copy(), case.cost.copy()
    solution = case.make().solve(y, cost, tol=TOL)
    same = [np.array_equal(a, b) for a, b in ((X, case.X), (y, case.y), (cost, case.cost))]
    if not all(same):
        broken.append("the input was changed")
    value = solution.objective
    if not (np.isfinite(value) and np.isfinite(solution.h).all()):
        return ["not finite"], False
    if (np.diff(solution.thresholds) < 0).any():
        broken.append("thresholds are not in order")
    h, norm = projections(case, solution)
    again = value_of(case, y, cost, h, norm, solution.thresholds)
    total = float(cost.sum()) * case.n_thresholds
    allowed = ROUNDING * total
    near = 1e-4 if solution.converged else 1e-2  # where it is told that rounding won
    if abs(again - value) > near * abs(again) + allowed + total * rounding_of(case, solution):
        broken.append(f"objective {value:.10g}, recomputed {again:.10g}")
    if reference and solution.converged:
        best = optimum(case, norm, again)
        if best is not None and again > best * (1 + NEAR) + allowed:
            broken.append(f"objective {again:.10g}, the convex solver's {best:.10g}")
    twice = case.make().solve(y, cost, tol=TOL)
    if not (np.array_equal(twice.h, solution.h) and twice.objective == value):
        broken.append("not the same bits twice")
    short = case.make().solve(y, cost, tol=1e-12, max_iter=3)
    if short.n_iter > 3:
        broken.append(f"max_iter=3, but n_iter={short.n_iter}")
    if solution.converged:
        broken += _other_ways(case, solution, allowed)
    return broken, solution.converged


def _other_ways(case, solution, allowed):
    """Permuted rows, and a warm start, which must lead to the same objective."""
    order = np.random.default_rng(0).permutation(len(case.y))
    moved = case.make(case.X[order]).solve(case.y[order], case.cost[order], tol=TOL)
    changed, cost = case.y.copy(), np.where(np.arange(len(case.y)) % 2, case.cost, 2 * case.cost)
    changed[[0, -1]] = changed[[-1, 0]]
    solver = case.make()
    warm = solver.solve(changed, cost, warm=solver.solve(case.y, case.cost, tol=TOL), tol=TOL)
    cold = case.make().solve(changed, cost, tol=TOL)
    broken = []
    for words, one, two in (("permuted", moved, solution), ("warm and cold", warm, cold)):
        gap = abs(one.objective - two.objective)
        if one.converged and two.converged and gap > NEAR * abs(two.objective) + 2 * allowed:
            broken.append(f"{words}: {one.objective:.10g} and {two.objective:.10g}")
    return broken


def optimum(case, norm, value):
    """The least objective by a general solver, or None where that fails."""
    F = case.features()
    size = np.sqrt(norm) if norm > 0 else 1.0
    if not np.isfinite(size * np.abs(F).max()) or value <= 0:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            best, status = convex_minimum(
                F, case.y, case.cost, case.loss, case.coupling, case.n_thresholds, size, value
            )
    except Exception:  # a general solver has its own ways to fail
        return None
    return best if status == "optimal" else None

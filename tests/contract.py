"""The contract of every solver, checked on problems drawn from wide ranges.

`draw` makes a case for a solver, a loss and a coupling; `verdict` lists the parts of the contract
that it broke.
The test suite tries a few cases of every combination, ``python -m benchmarks contract`` as many as
fit into ten minutes.
"""

import warnings
from dataclasses import dataclass, field
from typing import Any

import cvxpy as cp
import numpy as np
import scipy.sparse as sp
from convex import FORMULAS, convex_minimum, feature_map, used_costs
from problems import LINES, SMOOTH

from tordinal.couplings import Coupling, Explicit, Implicit, Reduction
from tordinal.engines.cuda.gram import CudaGram
from tordinal.engines.host.gram import Gram
from tordinal.engines.host.rows import linear_rows
from tordinal.kernels import make_kernel
from tordinal.losses import LOSSES
from tordinal.problem import Problem
from tordinal.projection import Projection
from tordinal.reduction import signs
from tordinal.solvers import SMO, CudaSMO, KernelNewton, Newton

COUPLINGS = (Reduction(), Implicit(), Explicit())
TOL = 1e-5
NEAR = 1e-3  # share of the objective by which a solution that calls itself converged may miss it
ROUNDING = 1e-8  # share of all costs by which it always may
KERNELS = [  # name, degree and coef0
    ("linear", 3, 0.0), ("rbf", 3, 0.0), ("perceptron", 3, 0.0),
    *(("poly", degree, coef0) for degree in (2, 3) for coef0 in (0.0, 1.0)),
]  # fmt: skip


def _all(solver, forms, losses, couplings):
    return [(solver, f, l, c) for f in forms for l in losses for c in couplings]


COMBINATIONS = [
    *_all(SMO, ("gram", "partial gram"), LINES, COUPLINGS),
    *_all(KernelNewton, ("gram", "partial gram"), SMOOTH, (Reduction(), Implicit())),
    *_all(Newton, ("dense", "sparse"), LINES + SMOOTH, COUPLINGS),
]
CUDA_COMBINATIONS = [
    *_all(CudaSMO, ("cuda gram",), LINES, COUPLINGS),
    *_all(KernelNewton, ("cuda gram",), SMOOTH, (Reduction(), Implicit())),
]


@dataclass(frozen=True)
class Case:
    """A problem: rows, ranks and costs, and who is to solve it."""

    solver: type
    form: str
    loss: str
    coupling: Coupling
    kernel: tuple
    X: np.ndarray
    y: np.ndarray
    cost: np.ndarray
    n_thresholds: int
    words: str
    device: Any = None  # with the form "cuda gram"

    def __str__(self):
        name, degree, coef0 = self.kernel
        kernel = f"poly degree={degree} coef0={coef0:g}" if name == "poly" else name
        return (
            f"{self.solver.__name__} {self.form} {self.loss} {type(self.coupling).__name__} "
            f"{kernel} {self.words}"
        )

    @property
    def problem(self):
        return Problem(LOSSES[self.loss](), self.coupling, self.n_thresholds)

    def kernel_of(self, X):
        name, degree, coef0 = self.kernel
        return make_kernel(name, X, 0.3, degree, coef0)

    def make(self, X=None):
        """A new solver on the rows, or on others of the same kind."""
        X = self.X if X is None else X
        if "gram" in self.form:
            size = 100.0 if self.form == "gram" else 4 * len(X) * 8 / 2**20
            linear = self.kernel[0] == "linear"
            centre = X.mean(axis=0) if linear else None  # as `hold` does
            rows = X - centre if linear else X
            if self.device is not None:
                data = CudaGram(
                    self.kernel_of(X), rows, double=self.problem.smooth, centre=centre,
                    device=self.device,
                )  # fmt: skip
                return self.solver(data, self.problem)
            data = Gram(self.kernel_of(X), rows, size, double=self.problem.smooth, centre=centre)
        else:
            data = linear_rows(sp.csr_array(X) if self.form == "sparse" else X)
        return self.solver(data, self.problem)

    def features(self):
        """Rows in the feature space."""
        if "gram" in self.form and self.kernel[0] != "linear":
            return feature_map(self.kernel_of(self.X)(self.X, self.X))
        return self.X if self.form == "sparse" else self.X - self.X.mean(axis=0)


def draw(seed, combination, mild=False):
    """A case from the whole ranges, or from where nothing is extreme."""
    solver, form, loss, coupling = combination
    rng = np.random.default_rng(seed)
    n, K = int(rng.integers(2, 61)), int(np.clip(rng.geometric(0.15) + 1, 2, 50))
    d = int(rng.integers(1, 4 if rng.random() < 0.5 else 9))
    C = 10.0 ** (rng.uniform(-2, 2) if mild else rng.uniform(-6, 6))
    powers = 150 if rng.random() < 0.2 else 8
    scale = 1.0 if mild else 10.0 ** rng.uniform(-powers, powers)
    kernel = KERNELS[rng.integers(len(KERNELS))] if "gram" in form else KERNELS[0]
    X = rng.normal(size=(n, d))
    score = X[:, 0] + 0.5 * rng.normal(size=n)
    names = ("copies", "constant", "integers", "column", "scales")
    kinds = [kind for kind in names if rng.random() < 0.25]
    if "copies" in kinds:
        X = X[rng.integers(0, n, n)]
    if "integers" in kinds:
        X = np.round(X)
    if "constant" in kinds:
        X[:, rng.integers(d)] = 3.0
    if "column" in kinds and not mild:  # one column of another scale, far from zero
        j = rng.integers(d)
        X[:, j] = 1e3 * (X[:, j] + 1e3)
    if "scales" in kinds and not mild:
        X = X * 10.0 ** rng.uniform(-4, 4, d)
    if form == "sparse":
        X = X * (rng.random(X.shape) < 0.5)
    X = X * scale
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
    """The objective, by the formulas of the general solver."""
    C = used_costs(y, cost, case.coupling, len(t))
    g = signs(y, len(t)) * (h[:, None] - t)
    spread = np.sum((t - t.mean()) ** 2) if case.coupling == Reduction() else 0.0
    return float(0.5 * norm + 0.5 * spread + np.sum(C * FORMULAS[case.loss](g).value))


def predicted(case, data, solution):
    """h of the training rows, thresholds and |w|^2 of the model that a fit would return."""
    kernel, a = case.kernel_of(case.X), solution.coefficients
    X = sp.csr_array(case.X) if case.form == "sparse" else case.X
    projection = Projection.of(kernel, X, a, data.linear_coef(a, solution.coef))
    h = projection(X)
    if projection.coef is not None:
        norm = projection.coef @ projection.coef
    else:
        K = kernel(X, X)
        K = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()  # as the weights sum to zero
        norm = max(a @ K @ a, 0.0)
    return h, solution.thresholds + data.shift(a, projection.coef), float(norm)


@dataclass
class Verdict:
    """What a solver made of a case.

    Attributes
    ----------
    broken : list of str
        Parts of the contract that it broke.
    converged : bool
        Whether it reports that it converged.
    rejected : bool
        Whether it raised the error that the problem exceeds double precision.
    compared : bool
        Whether a general solver solved the same problem, for comparison.
    """

    broken: list = field(default_factory=list)
    converged: bool = False
    rejected: bool = False
    compared: bool = False


def verdict(case, reference=True):
    """Check the contract for a case."""
    try:
        return _verdict(case, reference)
    except ValueError as error:
        if not any(words in str(error) for words in ("Scale X", "the scale of X")):
            raise
        return Verdict(rejected=True)


def _verdict(case, reference):
    broken, compared = [], False
    X, y, cost = case.X.copy(), case.y.copy(), case.cost.copy()
    solver = case.make()
    solution = solver.solve(y, cost, tol=TOL)
    same = [np.array_equal(a, b) for a, b in ((X, case.X), (y, case.y), (cost, case.cost))]
    if not all(same):
        broken.append("the input was changed")
    value = solution.objective
    if not (np.isfinite(value) and np.isfinite(solution.h).all()):
        return Verdict(["not finite"])
    if (np.diff(solution.thresholds) < 0).any():
        broken.append("thresholds are not in order")
    h, t, norm = predicted(case, solver.data, solution)
    again = value_of(case, y, cost, h, norm, t)
    total = float(cost.sum()) * case.n_thresholds
    allowed = ROUNDING * total
    near = 1e-4 if solution.converged else 1e-2  # where it is told that rounding won
    if abs(again - value) > near * abs(again) + allowed:
        broken.append(f"objective {value:.10g}, recomputed {again:.10g}")
    if reference and solution.converged:
        best = optimum(case, norm, again)
        compared = best is not None
        if compared and again > best * (1 + NEAR) + allowed:
            broken.append(f"objective {again:.10g}, the convex solver's {best:.10g}")
    twice = case.make().solve(y, cost, tol=TOL)
    if not (np.array_equal(twice.h, solution.h) and twice.objective == value):
        broken.append("not the same bits twice")
    short = case.make().solve(y, cost, tol=1e-12, max_iter=3)
    if short.n_iter > 3:
        broken.append(f"max_iter=3, but n_iter={short.n_iter}")
    if solution.converged:
        broken += _other_ways(case, solution, allowed)
    return Verdict(broken, solution.converged, compared=compared)


def _other_ways(case, solution, allowed):
    """Permuted rows and columns, and a warm start, which must lead to the same objective."""
    order = np.random.default_rng(0).permutation(len(case.y))
    columns = np.random.default_rng(1).permutation(case.X.shape[1])
    moved = case.make(case.X[order][:, columns]).solve(case.y[order], case.cost[order], tol=TOL)
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
    except (cp.error.SolverError, ArithmeticError, ValueError):
        return None  # counted, so that a comparison that never takes place is noticed
    return best if status == "optimal" else None

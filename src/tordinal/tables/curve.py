"""Would more ratings help? A learning curve from parts of the given ones."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from tordinal.distances import Matrix
from tordinal.fitting import Recipe
from tordinal.kernels import Kernel
from tordinal.model_selection import deal_folds
from tordinal.reduction import Ranks
from tordinal.solvers import solver_for

__all__ = ["Curve", "learning_curve"]

Array = NDArray[np.float64]

SHARES = (0.3, 0.45, 0.65, 1.0)  # of the ratings that a fold leaves to learn from
FOLDS, REPEATS = 5, 4
MOST, FEWEST = 600, 20  # ratings that take part; fewer are too few
STEPS = 20_000
LITTLE = 0.02  # share of the error below which a gain is none


@dataclass(frozen=True)
class Curve:
    """Errors by the number of ratings.

    Attributes
    ----------
    ratings : list of int
        How many were learned from.
    off : list of float
        Mean distance in steps of rows that were held out.
    now, doubled : float
        The curve at all the given ratings, and at twice as many: an estimate.
    """

    ratings: list[int]
    off: list[float]
    n: int
    now: float
    doubled: float

    def __str__(self) -> str:
        gain = self.now - self.doubled
        if gain <= LITTLE * self.now:
            return (
                f"More ratings would hardly help: with twice as many as these {self.n:,} the error "
                "would stay about the same."
            )
        return (
            f"Twice as many ratings ({2 * self.n:,}) would bring the error down by about "
            f"{100 * gain / self.now:.0f} %, to judge by what {self.ratings[0]:,} to "
            f"{self.ratings[-1]:,} of them achieve."
        )


def learning_curve(
    X: Matrix, rank: Ranks, n_classes: int, recipe: Recipe, kernel: Kernel, seed: int
) -> Curve | None:
    """Cross-validate a supervised model on parts of the ratings.

    Parameters
    ----------
    X : matrix
        Features of the rated rows.
    rank : ndarray of shape (n_rows,)
        Their ranks.
    n_classes : int
        Number of ratings.
    recipe : Recipe
        Cost and loss of the model.
    kernel : Kernel
        Its kernel.
    seed : int
        Seed of folds and parts.

    Returns
    -------
    curve : Curve or None
        None if there are too few ratings.
    """
    rng = np.random.RandomState(seed)
    if len(rank) < FEWEST:
        return None
    if len(rank) > MOST:
        rows = np.sort(rng.permutation(len(rank))[:MOST])
        X, rank = X[rows], rank[rows]
    sizes_of_classes = np.bincount(rank)
    if sizes_of_classes[sizes_of_classes > 1].sum() < FOLDS:  # too few that can be held out
        return None
    solver = solver_for(recipe.hold(kernel, X, n_classes), recipe.problem(n_classes))
    wrong = {share: np.zeros(2) for share in SHARES}  # sum of distances, and rows
    sizes: dict[float, list[int]] = {share: [] for share in SHARES}
    for _ in range(REPEATS):
        fold = deal_folds(rank, FOLDS, rng)
        for k in range(FOLDS):
            test = np.flatnonzero(fold == k)
            train = rng.permutation(np.flatnonzero(fold != k))
            for share in SHARES:
                part = train[: max(2, round(share * len(train)))]
                if len(np.unique(rank[part])) < 2:
                    continue
                cost = np.zeros(len(rank))
                cost[part] = recipe.C
                fit = solver.solve(rank, cost, tol=recipe.tol, max_iter=STEPS)
                said = (fit.h[test, None] > fit.thresholds).sum(axis=1)
                wrong[share] += [np.abs(said - rank[test]).sum(), len(test)]
                sizes[share].append(len(part))
    points = [(round(float(np.mean(sizes[s]))), *wrong[s]) for s in SHARES if sizes[s]]
    if len(points) < len(SHARES):
        return None
    ratings, off = [p[0] for p in points], [float(p[1] / p[2]) for p in points]
    now, doubled = _extrapolate(ratings, off, [len(rank), 2 * len(rank)])
    return Curve(ratings, off, len(rank), now, doubled)


def _extrapolate(sizes: list[int], errors: list[float], wanted: list[int]) -> list[float]:
    """The error falls towards a limit like 1 / sqrt(n): both parts not negative."""
    root = 1.0 / np.sqrt(np.array(sizes, dtype=np.float64))
    (limit, slope), _ = nnls(np.column_stack([np.ones(len(root)), root]), np.array(errors))
    return [float(limit + slope / np.sqrt(n)) for n in wanted]

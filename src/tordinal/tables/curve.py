"""Would more ratings help? A learning curve from parts of the given ones."""

from dataclasses import dataclass, field

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

SHARES = (0.3, 0.45, 0.65, 1.0)  # of the ratings in the training folds
FOLDS, REPEATS = 5, 4
MOST, FEWEST = 600, 20  # ratings that take part; fewer are too few
STEPS = 20_000
FITS = 150  # bootstrap samples
POWERS = (0.25, 0.5, 1.0)  # exponents of n by which errors may fall
TINY = 1e-9  # weight that keeps sums positive if no row of positive weight is drawn
LITTLE = 0.02  # share of the error below which a gain is negligible


@dataclass(frozen=True)
class Curve:
    """Errors by the number of ratings.

    Attributes
    ----------
    ratings : list of int
        How many were learned from.
    off : list of float
        Mean distance in steps of rows that were held out.
    n : int
        All the given ratings.
    now, doubled : float
        The curve at all the given ratings, and at twice as many: an estimate.
    fits : ndarray of shape (n_fits, 3)
        Limit, slope and exponent of curves through the errors of bootstrap samples of the rows.
        The exponent of the law by which errors fall is not known and varies, too.
    """

    ratings: list[int]
    off: list[float]
    n: int
    now: float
    doubled: float
    fits: Array = field(default_factory=lambda: np.empty((0, 3)), repr=False, compare=False)

    def __str__(self) -> str:
        gain = self.now - self.doubled
        if gain <= LITTLE * self.now:
            return (
                f"More ratings would hardly help: with twice as many as these {self.n:,} the error "
                "would stay about the same."
            )
        return (
            f"Twice as many ratings ({2 * self.n:,}) would bring the error down by about "
            f"{100 * gain / self.now:.0f} %, extrapolated from models that learn from "
            f"{self.ratings[0]:,} to {self.ratings[-1]:,} of them."
        )


def learning_curve(
    X: Matrix,
    rank: Ranks,
    n_classes: int,
    recipe: Recipe,
    kernel: Kernel,
    seed: int,
    weights: Array | None = None,
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
    weights : ndarray of shape (n_rows,) or None
        Weights of the rows in the errors, which correct for how they were chosen.

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
        weights = None if weights is None else weights[rows]
    w = np.ones(len(rank)) if weights is None or not weights.sum() else weights
    sizes_of_classes = np.bincount(rank)
    if sizes_of_classes[sizes_of_classes > 1].sum() < FOLDS:  # too few that can be held out
        return None
    solver = solver_for(recipe.hold(kernel, X, n_classes), recipe.problem(n_classes))
    # By share: for each row the sum of its distances, and how often it was held out.
    wrong = {share: np.zeros((2, len(rank))) for share in SHARES}
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
                predicted = (fit.h[test, None] > fit.thresholds).sum(axis=1)
                wrong[share][:, test] += [np.abs(predicted - rank[test]), np.ones(len(test))]
                sizes[share].append(len(part))
    if not all(sizes.values()):
        return None
    ratings = [round(float(np.mean(sizes[share]))) for share in SHARES]
    off = _errors(wrong, w)
    now, doubled = _extrapolate(ratings, off, [len(rank), 2 * len(rank)])
    fits = np.empty((FITS, 3))
    for i in range(FITS):
        again = np.bincount(rng.randint(len(rank), size=len(rank)), minlength=len(rank))
        power = POWERS[i % len(POWERS)]
        fits[i] = *_fit(ratings, _errors(wrong, again * w + TINY * w), power), power
    return Curve(ratings, off, len(rank), now, doubled, fits)


def _errors(wrong: dict[float, Array], weights: Array) -> list[float]:
    """The weighted mean distance by share."""
    return [float(weights @ distance / (weights @ times)) for distance, times in wrong.values()]


def _fit(sizes: list[int], errors: list[float], power: float) -> tuple[float, float]:
    """Limit and slope of an error that falls like n ** -power: neither is negative."""
    part = np.array(sizes, dtype=np.float64) ** -power
    (limit, slope), _ = nnls(np.column_stack([np.ones(len(part)), part]), np.array(errors))
    return float(limit), float(slope)


def _extrapolate(sizes: list[int], errors: list[float], wanted: list[int]) -> list[float]:
    """The error falls towards a limit like 1 / sqrt(n)."""
    limit, slope = _fit(sizes, errors, 0.5)
    return [float(limit + slope / np.sqrt(n)) for n in wanted]

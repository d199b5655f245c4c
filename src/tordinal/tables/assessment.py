"""Estimates for the finished table from the ratings so far, by a quick model."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tordinal.active._probabilistic import default_model
from tordinal.distances import Matrix
from tordinal.fitting import Recipe
from tordinal.inference import TableEstimates, cross_fitted_proba, estimate_table
from tordinal.losses import check_loss
from tordinal.reduction import UNLABELED, Ranks
from tordinal.tables.curve import Curve, learning_curve
from tordinal.tables.estimates import scale_of
from tordinal.tables.finished import FinishedError, estimate_finished
from tordinal.tables.raters import second_looks
from tordinal.tables.selection import Selection

__all__ = ["Assessment", "assess", "curve_of"]

Array = NDArray[np.float64]
FOLDS = 5


@dataclass(frozen=True)
class Assessment:
    """Estimates from the ratings so far, by models that have not seen the rating of a row.

    Attributes
    ----------
    n_ratings : int
        Rated rows.
    probability : ndarray of shape (n_rows, n_classes)
        Class probabilities of all rows; those of rated rows are by models without their rating.
    error : FinishedError or None
        The error of the finished table; None with too few ratings.
    estimates : TableEstimates or None
        Average and shares of all rows.
    second_looks : list of int
        Rows whose rating is two or more ranks from the prediction; none with too few ratings.
    """

    n_ratings: int
    probability: Array
    error: FinishedError | None
    estimates: TableEstimates | None
    second_looks: list[int]

    def predicted_rank(self, row: int) -> int:
        """The median of a row's rank under its probabilities, counted from 0."""
        return int(_medians(self.probability[row][None])[0])


def assess(
    X: Matrix, rank: Ranks, classes: Sequence[Any], selection: Selection | None
) -> Assessment | None:
    """Cross-fit a quick model, and estimate the error and the shares of the finished table.

    Parameters
    ----------
    X : matrix
        Features of all rows.
    rank : ndarray of shape (n_rows,)
        Their ranks, -1 where they are not rated.
    classes : sequence
        The ratings from the lowest to the highest.
    selection : Selection or None
        How the rated rows were chosen. None: they count as a random sample.

    Returns
    -------
    assessment : Assessment or None
        None before two different ratings are given.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> rank = np.digitize(X[:, 0], [-0.5, 0.5])
    >>> rank[60:] = -1
    >>> found = assess(X, rank, ["low", "mid", "high"], None)
    >>> found.probability.shape, found.error.error < 0.2, found.n_ratings
    ((200, 3), True, 60)
    """
    rated = np.flatnonzero(rank != UNLABELED)
    if len(np.unique(rank[rated])) < 2:
        return None
    n_classes = len(classes)
    p = cross_fitted_proba(
        default_model(X), X, rank, cv=min(FOLDS, len(rated)), classes=range(n_classes)
    )
    if selection is None:
        selection, drawn = Selection(tuple(rated.tolist()), (), len(rank)), None
    else:
        drawn = selection.probabilities()
    error = estimate_finished(rank[rated], _medians(p[rated]), rated, selection, n_classes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # too few ratings: the estimates have no interval then
        estimates = estimate_table(
            rank, p, classes=range(n_classes), scores=scale_of(classes), probabilities=drawn
        )
    # Models of a few ratings contradict many of them.
    looks = [] if error is None else second_looks(rank[rated], p[rated], rated)
    return Assessment(len(rated), p, error, estimates, looks)


def _medians(p: Array) -> Ranks:
    """The ranks with the least expected absolute error."""
    medians: Ranks = (np.cumsum(p, axis=1) < 0.5).sum(axis=1)
    return np.minimum(medians, p.shape[1] - 1)


def curve_of(
    X: Matrix, rank: Ranks, n_classes: int, selection: Selection | None, seed: int = 0
) -> Curve | None:
    """The learning curve of the quick model; None with too few ratings."""
    rated = rank != UNLABELED
    if len(np.unique(rank[rated])) < 2:
        return None
    model = default_model(X)
    recipe = Recipe(C=model.C, kernel=model.kernel, loss=check_loss(model.loss), tol=1e-2)
    weights = None if selection is None else selection.weights()[rated]
    rows = X[np.flatnonzero(rated)]
    return learning_curve(
        rows, rank[rated], n_classes, recipe, recipe.kernel_for(rows), seed, weights
    )

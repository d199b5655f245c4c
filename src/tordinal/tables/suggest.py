"""Which rows to rate next, and the probability with which each was drawn."""

import numpy as np
from numpy.typing import NDArray

from tordinal.active import ExpectedErrorReduction, Mixture
from tordinal.distances import Matrix
from tordinal.reduction import UNLABELED, Ranks
from tordinal.tables.results import Rating
from tordinal.tables.selection import Draw

__all__ = ["AUDIT_SHARE", "draw_rows", "rows_to_rate"]

AUDIT_SHARE = 0.25  # of rows that are drawn uniformly


def draw_rows(
    X: Matrix,
    rank: Ranks,
    n_classes: int,
    n: int,
    *,
    probability: NDArray[np.float64] | None = None,
    audit: float = AUDIT_SHARE,
    seed: int = 0,
) -> list[Draw]:
    """Draw unrated rows: those whose ratings help most, and a quarter of them uniformly.

    Parameters
    ----------
    X : matrix
        Features of all rows.
    rank : ndarray of shape (n_rows,)
        Their ranks, -1 where they are not rated.
    n_classes : int
        Number of ratings on the scale.
    n : int
        Rows to draw.
    probability : ndarray of shape (n_rows, n_classes) or None
        Class probabilities of all rows. None: those of a RED-SVM that is fitted to the rated rows;
        before two classes are rated, rows that cover the data.
    audit : float
        Share of rows that are drawn uniformly, above 0 and at most 1.
    seed : int
        Seed. Other rows are drawn once there are more ratings.

    Returns
    -------
    draws : list of Draw
        In the order of choice.

    Examples
    --------
    >>> import numpy as np
    >>> X, rank = np.arange(8.0)[:, None], np.array([0, 0, -1, -1, -1, -1, 1, 1])
    >>> [(d.place in (2, 3, 4, 5), d.n_left) for d in draw_rows(X, rank, 2, 3)]
    [(True, 4), (True, 3), (True, 2)]
    """
    inner = ExpectedErrorReduction(classes=list(range(n_classes)))
    strategy = Mixture(inner, audit=audit, random_state=seed)
    rows, chances = strategy.query(X, rank, n, y_proba=probability)
    n_left = int((rank == UNLABELED).sum())
    return [
        Draw(int(i), float(chance), n_left - k, bool(uniform))
        for k, (i, chance, uniform) in enumerate(zip(rows, chances, strategy.audit_, strict=True))
    ]


def rows_to_rate(rating: Rating, n: int) -> list[Draw]:
    """Draw rows of a rated table whose own ratings would help most."""
    return draw_rows(
        rating.X, rating.target.rank, len(rating.target.classes), n,
        probability=rating.probability, seed=rating.seed,
    )  # fmt: skip

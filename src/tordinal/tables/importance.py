"""How much each column matters: permutation importance on ratings that the models have not seen."""

from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray

from tordinal.distances import Matrix
from tordinal.estimators import REDSVM, TOR
from tordinal.model_selection import deal_folds
from tordinal.reduction import Ranks
from tordinal.tables.expected_error import WIDER, Z
from tordinal.tables.results import Rating
from tordinal.tables.vectors import owner_of

__all__ = ["column_importance"]

Array = NDArray[np.float64]
Index = NDArray[np.int64]

FOLDS = 5
MOST, FEWEST = 600, 20  # ratings that take part; fewer are too few to tell
REPEATS = 10  # other values that a cell is replaced by
MOST_PREDICTIONS = 100_000  # of all columns together; with many columns fewer repeats and ratings


def column_importance(rating: Rating, seed: int = 0) -> pd.DataFrame:
    """Increase of the error where the cells of a column are replaced by those of other rows.

    Each rated row is predicted by a model that has not seen its rating: the supervised form of the
    first model of the ensemble, cross-fitted. Then the cells of one column are replaced by those
    of rows drawn at random, and the difference of the errors is averaged.

    Parameters
    ----------
    rating : Rating
        A rated table.
    seed : int
        Seed of folds and drawn rows.

    Returns
    -------
    importance : DataFrame
        A row per used column, the most important first: `column`, `rise` of the error in steps,
        its `margin` (half the width of a 95 % interval) and whether the effect is `clear`, that
        is, whether the interval is above 0. Empty with fewer than 20 ratings.
    """
    leader = next((m for m in rating.model.members if isinstance(m, (REDSVM, TOR))), None)
    rng = np.random.RandomState(seed)
    rated = np.flatnonzero(rating.given)
    columns = _places(rating)
    names = ["column", "rise", "margin", "clear"]
    if leader is None or leader is not rating.leader or len(rated) < FEWEST:
        return pd.DataFrame(columns=names)
    most = min(MOST, max(100, MOST_PREDICTIONS // len(columns)))
    rated = np.sort(rng.permutation(rated)[:most])
    repeats = int(np.clip(MOST_PREDICTIONS // (len(columns) * len(rated)), 1, REPEATS))
    rank, X = rating.target.rank[rated], rating.X[rated]
    fold = deal_folds(rank, FOLDS, rng)
    rises = np.full((len(rated), len(columns)), np.nan)
    for k in range(FOLDS):
        test, train = np.flatnonzero(fold == k), np.flatnonzero(fold != k)
        if len(test) == 0 or len(np.unique(rank[train])) < 2:
            continue
        model = REDSVM(
            C=leader.C, kernel=leader.kernel, loss=leader.loss, gamma=leader.gamma,
            degree=leader.degree, coef0=leader.coef0, tol=1e-2,
            classes=list(range(len(rating.target.classes))),
        ).fit(rating.model.seen(X[train]), rank[train])  # fmt: skip
        donors = rating.X[rng.randint(rating.X.shape[0], size=repeats * len(test))]
        rises[test] = _rises(rating, model, X[test], rank[test], donors, list(columns.values()))
    rises = rises[~np.isnan(rises).any(axis=1)]
    if len(rises) < FEWEST:
        return pd.DataFrame(columns=names)
    mean = rises.mean(axis=0)
    margin = WIDER * Z * rises.std(axis=0, ddof=1) / np.sqrt(len(rises))
    frame = pd.DataFrame({
        "column": list(columns), "rise": mean, "margin": margin, "clear": mean > margin,
    })  # fmt: skip
    return frame.sort_values("rise", ascending=False, kind="stable", ignore_index=True)


def _places(rating: Rating) -> dict[str, Index]:
    """The features of each column."""
    places: dict[str, list[int]] = {}
    for place, (column, _) in enumerate(rating.model.encoder.get_feature_names_out()):
        places.setdefault(owner_of(column), []).append(place)
    return {name: np.array(own) for name, own in places.items()}


def _rises(
    rating: Rating, model: REDSVM, X: Matrix, rank: Ranks, donors: Matrix, columns: list[Index]
) -> Array:
    """Increase of the error of each row, for each column, in the mean over the donors."""
    repeats = donors.shape[0] // len(rank)
    truth = np.tile(rank, repeats)
    before = np.abs(model.predict(rating.model.seen(X)) - rank)
    rows = sp.vstack([X] * repeats, format="csr") if sp.issparse(X) else np.tile(X, (repeats, 1))
    rises = np.zeros((len(rank), len(columns)))
    for j, places in enumerate(columns):
        off = np.abs(model.predict(rating.model.seen(_replaced(rows, donors, places))) - truth)
        rises[:, j] = off.reshape(repeats, -1).mean(axis=0) - before
    return rises


def _replaced(X: Matrix, donors: Matrix, places: Index) -> Any:
    """Rows with some features taken from others."""
    if sp.issparse(X):
        own = np.zeros(X.shape[1])
        own[places] = 1.0
        return (X @ sp.diags_array(1.0 - own) + donors @ sp.diags_array(own)).tocsr()
    mixed = np.array(X)
    mixed[:, places] = donors[:, places]
    return mixed

"""Which rows are most worth rating next."""

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from tordinal.distances import Matrix

__all__ = ["worth_rating"]

Array = NDArray[np.float64]
CANDIDATES = 200  # least certain rows among which those are chosen, or so many times more
TIMES = 5
SHARES = (0.5, 0.75, 0.9, 0.97, 1.0)


def worth_rating(X: Matrix, confidence: Array, given: NDArray[np.bool_], n: int) -> list[int]:
    """The least certain rows, leaving out those that are like one already chosen.

    Parameters
    ----------
    X : matrix
        Features of all rows.
    confidence : ndarray of shape (n_rows,)
        How certain each rating is.
    given : ndarray of bool
        Which rows are rated already.
    n : int
        How many are wanted.

    Returns
    -------
    rows : list of int
        At most n rows, the least certain first.

    Examples
    --------
    >>> import numpy as np
    >>> X, confidence = np.eye(4), np.array([0.9, 0.5, 0.4, 0.3])
    >>> worth_rating(X, confidence, np.array([False, False, False, True]), 2)
    [2, 1]
    """
    unrated = np.flatnonzero(~given)
    most = max(CANDIDATES, TIMES * n)
    doubtful = unrated[np.argsort(confidence[unrated], kind="stable")[:most]]
    if len(doubtful) == 0:
        return []
    alike = _cosines(X[doubtful])
    pairs = alike[np.triu_indices_from(alike, 1)]
    chosen: list[int] = []
    nearest = np.full(len(doubtful), -np.inf)  # similarity to the most similar one chosen
    for share in SHARES:  # of all pairs that are less alike than two that are chosen
        limit = float(np.quantile(pairs, share)) if len(pairs) and share < 1.0 else np.inf
        for i in range(len(doubtful)):
            if len(chosen) < n and nearest[i] <= limit and i not in chosen:
                chosen.append(i)
                nearest = np.maximum(nearest, alike[i])
    return [int(doubtful[i]) for i in sorted(chosen)]


def _cosines(X: Matrix) -> Array:
    if sp.issparse(X):
        products = np.asarray((X @ X.T).todense(), dtype=np.float64)
    else:
        products = np.asarray(X, dtype=np.float64) @ np.asarray(X, dtype=np.float64).T
    length = np.sqrt(np.diag(products))
    length = np.where(length > 0, length, 1.0)
    return products / length[:, None] / length

"""Algorithm 3: ordinal clusters of controlled overlap in a sparse high-dimensional space."""

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.preprocessing import normalize
from sklearn.utils import check_random_state

FEATURES_PER_CLASS = 2000
DENSITY = 0.01


def make_ordinal_clusters(
    n_samples: int = 2500,
    n_classes: int = 5,
    *,
    p: float = 0.1,
    random_state: int | np.random.RandomState | None = None,
) -> tuple[sp.csr_array, NDArray[np.int64]]:
    """Generate the paper's synthetic data (Algorithm 3).

    There are 2000 (K + 2) features. A row of rank y has each of the features 2000 (y - 1) ..
    2000 (y + 2) with probability 0.01 and each other one with probability 0.01 p. Values are
    uniform in [0, 1), rows are scaled to length 1.

    Parameters
    ----------
    n_samples : int, default=2500
        Number of rows.
    n_classes : int, default=5
        Number of ranks K; each row's rank is drawn uniformly.
    p : float, default=0.1
        Overlap of the classes: the higher, the weaker the cluster assumption.
    random_state : int, RandomState or None, default=None
        Seed.

    Returns
    -------
    X : csr_array of shape (n_samples, 2000 (n_classes + 2))
        Rows of length 1.
    y : ndarray of shape (n_samples,)
        Ranks 1 .. K.

    See Also
    --------
    make_reviews : Made-up texts.
    quantize : Ranks from a number.

    Examples
    --------
    >>> X, y = make_ordinal_clusters(100, p=0.2, random_state=0)
    >>> X.shape, sorted(set(y.tolist()))
    ((100, 14000), [1, 2, 3, 4, 5])
    """
    if n_samples < 1 or n_classes < 2 or not 0 <= p <= 1 / DENSITY:
        raise ValueError(
            f"n_samples={n_samples} must be at least 1, n_classes={n_classes} at least 2, "
            f"and p={p} in 0 .. {1 / DENSITY:g}"
        )
    rng = check_random_state(random_state)
    y = rng.randint(1, n_classes + 1, size=n_samples)
    n_features = FEATURES_PER_CLASS * (n_classes + 2)
    own = 3 * FEATURES_PER_CLASS
    rows, columns = [], []
    # Drawing how many features a row has (binomial), then which ones, costs no more than there are
    # non-zeros.
    for i, rank in enumerate(y):
        start = FEATURES_PER_CLASS * (rank - 1)
        inside = start + _places(rng, own, DENSITY)
        outside = _places(rng, n_features - own, DENSITY * p)
        outside[outside >= start] += own  # numbered as if the row's own features were not there
        columns += [inside, outside]
        rows.append(np.full(len(inside) + len(outside), i))
    column, row = np.concatenate(columns), np.concatenate(rows)
    X = sp.csr_array((rng.uniform(size=len(column)), (row, column)), shape=(n_samples, n_features))
    return normalize(X), y


def _places(rng: np.random.RandomState, n: int, density: float) -> NDArray[np.int64]:
    """Draw places out of n, each with the given probability."""
    count = rng.binomial(n, density)
    if count > n // 2:
        return rng.permutation(n)[:count]
    places: NDArray[np.int64] = np.unique(rng.randint(n, size=count))
    while len(places) < count:
        places = np.unique(np.concatenate([places, rng.randint(n, size=count - len(places))]))
    return places

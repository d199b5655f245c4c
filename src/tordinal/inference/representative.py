"""Whether the rated rows look like a random sample, and the probability that a row is rated."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy import stats
from scipy.linalg import solve
from sklearn import config_context
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KernelCenterer, StandardScaler

from tordinal.inference.difference import FEWEST

__all__ = ["Representativeness", "check_representative", "selection_probabilities"]

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

MOST_COMPARED = 1000  # rated and unrated rows that are compared
N_SPLITS, N_PERMUTATIONS = 5, 199
LARGEST_WEIGHT = 10.0  # of a rated row, in units of the mean weight
# C of the logistic regression that tells rated rows from others. With 10 ratings per feature a weak
# penalty changes errors of the estimates by no more than chance on twelve tables; with 100 and more
# less bias is left.
STRONG_C, WEAK_C, ROWS_PER_FEATURE = 0.1, 10.0, 100
ALARM = 0.05  # p-value below which rated rows do not look like a random sample


@dataclass(frozen=True)
class Representativeness:
    """Whether rated rows look like a random sample, made by `check_representative`.

    Attributes
    ----------
    auc : float
        How well a classifier separates new rated rows from new unrated ones: the area under the
        ROC curve, 0.5 for a random sample.
    p_value : float
        How often random labels are separated as well (permutation test).
    features : DataFrame
        The features that differ most: the standardised difference between the means of rated and
        unrated rows and its p-value, adjusted for the number of features (Bonferroni).
    """

    auc: float
    p_value: float
    features: pd.DataFrame

    @property
    def representative(self) -> bool:
        """Whether the rated rows may be a random sample: the p-value is at least 0.05."""
        return self.p_value >= ALARM


@config_context(transform_output="default")  # whatever the user has set
def check_representative(
    X: Any,
    labeled: ArrayLike,
    *,
    n_features: int = 5,
    random_state: int | np.random.RandomState | None = 0,
) -> Representativeness:
    """Check whether rated rows look like a random sample of all rows.

    A linear classifier separates rated from unrated rows in five-fold cross-validation. If it
    does better than with labels drawn at random, the rated rows are not a random sample, and
    estimates that assume one may be wrong. The converse does not hold: a selection that a linear
    function of the features does not show stays unseen.

    Parameters
    ----------
    X : {array-like, sparse matrix, DataFrame} of shape (n_rows, n_features)
        Features; numbers without missing values. The columns of a data frame that are not numbers
        are one-hot encoded. Dense features are standardised.
    labeled : array-like of bool of shape (n_rows,)
        Which rows are rated.
    n_features : int, default=5
        How many of the features that differ most are listed.
    random_state : int, RandomState or None, default=0
        Seed of the folds, of the random labels, and of the rows that are used: 1,000 rated and
        1,000 unrated ones at most.

    Returns
    -------
    result : Representativeness
        AUC, p-value, and the features that differ most.

    See Also
    --------
    selection_probabilities : A correction where they do not.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(500, 3))
    >>> check_representative(X, X[:, 1] > 1).representative
    False
    >>> check_representative(X, np.arange(500) < 80).representative
    True
    """
    X, names = _features(X)
    rated = _mask(labeled, X.shape[0])
    rng = np.random.default_rng(_seed(random_state))
    kept = np.concatenate([
        rng.permutation(np.flatnonzero(mask))[:MOST_COMPARED] for mask in (rated, ~rated)
    ])  # fmt: skip
    rows = X[kept] if sp.issparse(X) else StandardScaler().fit_transform(X[kept])
    gram = np.asarray((rows @ rows.T).todense() if sp.issparse(rows) else rows @ rows.T)
    areas = _areas(KernelCenterer().fit_transform(gram), rated[kept], rng)
    p_value = (1 + np.sum(areas[1:] >= areas[0])) / len(areas)
    return Representativeness(
        float(areas[0]), float(p_value), _differences(X, rated, names).head(n_features)
    )


def _areas(gram: Array, rated: Mask, rng: np.random.Generator) -> Array:
    """Cross-validated areas under the ROC curve, the first one for the labels as they are.

    The others are for labels permuted within the folds. Ridge regression of the labels needs one
    factorisation for all of them.
    """
    labels = np.tile(rated.astype(np.float64)[:, None], N_PERMUTATIONS + 1)
    # Rated rows come first, and both kinds are in random order: every fold has its part of both.
    fold = np.arange(len(rated)) % N_SPLITS
    for k in range(N_SPLITS):
        labels[fold == k, 1:] = rng.permuted(labels[fold == k, 1:], axis=0)
    ridge = max(float(np.trace(gram)) / len(gram), 1e-300)
    areas = np.zeros(N_PERMUTATIONS + 1)
    for k in range(N_SPLITS):
        train, test = np.flatnonzero(fold != k), np.flatnonzero(fold == k)
        seen = labels[train] - labels[train].mean(axis=0)
        inner = gram[np.ix_(train, train)] + ridge * np.eye(len(train))
        score = gram[np.ix_(test, train)] @ solve(inner, seen, assume_a="pos")
        n = labels[test, 0].sum()
        rank_sum = (stats.rankdata(score, axis=0) * labels[test]).sum(axis=0)
        areas += (rank_sum - n * (n + 1) / 2) / (n * (len(test) - n)) / N_SPLITS
    return areas


@config_context(transform_output="default")
def selection_probabilities(
    X: Any,
    labeled: ArrayLike,
    *,
    estimator: Any = None,
    random_state: int | np.random.RandomState | None = 0,
) -> Array:
    """Estimate the probability that each row is rated, for the argument `probabilities`.

    Where rated rows are not a random sample, their probability given the features makes estimates
    right again if nothing but the features decided which rows were rated. Probabilities come from
    a cross-fitted classifier; the lowest are raised, so that no row has more than ten times the
    mean weight.

    Parameters
    ----------
    X, labeled
        As in `check_representative`.
    estimator : estimator, default=None
        The classifier. None: logistic regression of the scaled features.
    random_state : int, RandomState or None, default=0
        Seed of the folds.

    Returns
    -------
    probabilities : ndarray of shape (n_rows,)
        Between 0 and 1; they sum to about the number of rated rows.

    See Also
    --------
    check_representative : Whether it is needed.
    estimate_table : Takes them as `probabilities`.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(500, 1))
    >>> rated = np.random.default_rng(1).random(500) < 0.5 / (1 + np.exp(-X[:, 0]))
    >>> probabilities = selection_probabilities(X, rated)
    >>> bool(probabilities[X[:, 0] > 1].min() > probabilities[X[:, 0] < -1].max())
    True
    """
    rows, _ = _features(X)
    rated = _mask(labeled, rows.shape[0])
    n_fewer = min(rated.sum(), (~rated).sum())
    # A penalty pulls probabilities together, and leaves a part of the bias.
    C = WEAK_C if ROWS_PER_FEATURE * rows.shape[1] <= n_fewer else STRONG_C
    model = _selection_model(C) if estimator is None else estimator
    splits = StratifiedKFold(N_SPLITS, shuffle=True, random_state=_seed(random_state))
    p = cross_val_predict(model, rows, rated, cv=splits, method="predict_proba")[:, 1]
    return np.clip(p, rated.mean() / LARGEST_WEIGHT, 1.0 - 1e-6)


def _features(X: Any) -> tuple[Any, list[str]]:
    """Features as numbers, and their names."""
    if isinstance(X, pd.DataFrame):
        X = pd.get_dummies(X, dtype=np.float64)
        for name in X.columns:
            if not pd.api.types.is_numeric_dtype(X[name]) or X[name].isna().any():
                raise ValueError(
                    f"X: the column {name!r} ({X[name].dtype}) has missing values, or values that "
                    "are no numbers. Fill them in, or leave the column out."
                )
        names = [str(name) for name in X.columns]
    else:
        X = X.tocsr() if sp.issparse(X) else np.asarray(X)
        if X.ndim != 2:
            raise ValueError(f"X has shape {X.shape}: pass one row per row of the table.")
        names = [f"x{j}" for j in range(X.shape[1])]
    rows = X if sp.issparse(X) else np.asarray(X, dtype=np.float64)
    if not np.isfinite(rows.data if sp.issparse(rows) else rows).all():
        raise ValueError("X has values that are NaN or infinite. Fill them in first.")
    return rows, names


def _mask(labeled: ArrayLike, n_rows: int) -> Mask:
    rated = np.asarray(labeled)
    if rated.shape != (n_rows,) or rated.dtype != bool:
        raise ValueError(
            f"labeled must be {n_rows} booleans, one per row of X, got {rated.dtype} of shape "
            f"{rated.shape}. Pass for example y != -1."
        )
    if min(rated.sum(), (~rated).sum()) < FEWEST:
        raise ValueError(
            f"labeled has {int(rated.sum())} rated and {int((~rated).sum())} unrated rows: a "
            f"comparison needs at least {FEWEST} of each."
        )
    return rated


def _selection_model(C: float = STRONG_C) -> Any:
    return make_pipeline(StandardScaler(with_mean=False), LogisticRegression(C=C, max_iter=1000))


def _differences(X: Any, rated: Mask, names: list[str]) -> pd.DataFrame:
    """Standardised differences between the means of rated and unrated rows, largest first."""

    def moments(rows: Any) -> tuple[Array, Array]:
        mean = np.asarray(rows.mean(axis=0)).ravel()
        square = np.asarray((rows.multiply(rows) if sp.issparse(rows) else rows**2).mean(axis=0))
        return mean, np.maximum(square.ravel() - mean**2, 0.0)

    mean, variance = moments(X[rated])
    other_mean, other_variance = moments(X[~rated])
    spread = np.sqrt((variance + other_variance) / 2)
    spread = np.where(spread > 1e-12 * np.maximum(np.abs(other_mean), 1e-300), spread, np.inf)
    difference = (mean - other_mean) / spread
    z = np.abs(difference) / np.sqrt(1 / rated.sum() + 1 / (~rated).sum())
    frame = pd.DataFrame({
        "feature": names, "difference": difference,
        "p_value": np.minimum(2 * stats.norm.sf(z) * len(names), 1.0),
    })  # fmt: skip
    order = np.argsort(-np.abs(difference), kind="stable")
    return frame.iloc[order].reset_index(drop=True)


def _seed(random_state: Any) -> Any:
    """A seed for scikit-learn and NumPy alike."""
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31))
    return random_state

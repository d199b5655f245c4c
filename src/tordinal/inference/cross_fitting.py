"""Class probabilities of all rows by models that have not seen a row's rating."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.model_selection import KFold

from tordinal.labels import encode_labels
from tordinal.reduction import UNLABELED, Ranks

__all__ = ["cross_fitted_proba"]

Array = NDArray[np.float64]
Index = NDArray[np.int64]


def cross_fitted_proba(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    *,
    cv: Any = 5,
    classes: Sequence[Any] | None = None,
    transductive: bool | None = None,
    random_state: int | np.random.RandomState | None = 0,
) -> Array:
    """Class probabilities of all rows by models that have not seen a row's rating.

    The rated rows are split into folds at random. The model of a fold learns from the ratings of
    the others and predicts the fold and the unrated rows; unrated rows get the mean over the
    models. A model of all ratings would predict them a little better, but then the residuals of
    the rated rows would come from other models than the predictions they correct, and the
    estimates would be biased.

    Parameters
    ----------
    estimator : estimator
        A classifier with `predict_proba`, such as `REDSVM` or `TOR`; it is cloned.
    X : {array-like, sparse matrix, DataFrame} of shape (n_rows, n_features)
        All rows.
    y : array-like of shape (n_rows,)
        Ratings, with unrated rows marked as in `TOR`.
    cv : int or splitter, default=5
        Number of folds, or a splitter that holds out each rated row once. `TransductiveKFold` does
        not: it never holds out the only rating of a class.
    classes : sequence, default=None
        All ratings from the lowest to the highest, the columns of the result. None: the ratings in
        y, or the order of a categorical.
    transductive : bool, default=None
        Whether the estimator also learns from unlabelled rows: it is fitted on all rows with the
        ratings of the fold hidden. None: true of the transductive estimators of tordinal.
    random_state : int, RandomState or None, default=0
        Seed of the folds.

    Returns
    -------
    p : ndarray of shape (n_rows, n_classes)
        Probabilities in the order of the classes; 0 for a class that the ratings of no fold have.

    See Also
    --------
    estimate_table : Uses such probabilities.

    Examples
    --------
    >>> import numpy as np
    >>> from tordinal import REDSVM
    >>> X = np.arange(40.0)[:, None]
    >>> y = np.where(np.arange(40) % 2 == 0, np.arange(40) // 20, -1)
    >>> cross_fitted_proba(REDSVM(loss="logistic"), X, y).shape
    (40, 2)
    """
    final = getattr(estimator, "_final_estimator", estimator)  # of a pipeline
    if classes is None and hasattr(final, "get_params"):
        classes = final.get_params().get("classes")
    labels, rank = encode_labels(y, classes, transductive=True, min_classes=1)
    X = X if hasattr(X, "shape") else np.asarray(X)
    if X.shape[0] != len(rank):
        raise ValueError(
            f"X has {X.shape[0]} rows but y has {len(rank)} labels. Pass one label per row, with "
            "-1 or None for unrated rows."
        )
    if not hasattr(estimator, "predict_proba"):
        raise TypeError(
            f"estimator={estimator!r} has no predict_proba. Pass a classifier with probabilities, "
            "such as tordinal.REDSVM(); for SVC set probability=True."
        )
    if transductive is None:
        transductive = bool(getattr(final, "_transductive", False))
    rated, unrated = np.flatnonzero(rank != UNLABELED), np.flatnonzero(rank == UNLABELED)
    rows = X.tocsr() if sp.issparse(X) else X
    p, predicted = np.zeros((len(rank), len(labels))), np.zeros(len(rank), dtype=np.int64)
    folds = _folds(cv, rated, rank[rated], random_state)
    for fold in folds:
        seen = rank.copy()
        seen[fold] = UNLABELED
        ask = np.concatenate([fold, unrated])
        p[ask] += _predict_fold(estimator, rows, seen, labels, ask, transductive)
        predicted[ask] += 1
    return p / predicted[:, None]


def _folds(cv: Any, rated: Index, rank: Ranks, random_state: Any) -> list[Index]:
    """The rows that each model does not see; together all rated rows, each once."""
    if isinstance(cv, (int, np.integer)):
        if not 2 <= cv <= len(rated):
            raise ValueError(
                f"cv={cv} must be between 2 and the number of rated rows, {len(rated)}."
            )
        # Not stratified: rows are held out at random, whatever their rating, as the unrated are.
        cv = KFold(int(cv), shuffle=True, random_state=random_state)
    folds = [rated[test] for _, test in cv.split(np.zeros((len(rated), 1)), rank)]
    held_out = np.sort(np.concatenate(folds))
    if not np.array_equal(held_out, rated):
        raise ValueError(
            f"cv={cv!r} must hold out each of the {len(rated)} rated rows once. Use "
            "KFold(5, shuffle=True)."
        )
    return folds


def _predict_fold(
    estimator: Any, X: Any, seen: Ranks, labels: NDArray[Any], ask: Index, transductive: bool
) -> Array:
    """Probabilities of some rows by a model of the ratings that are seen."""
    train = np.arange(len(seen)) if transductive else np.flatnonzero(seen != UNLABELED)
    given = np.unique(seen[seen != UNLABELED])
    if len(given) == 1:
        return np.eye(len(labels))[np.full(len(ask), given[0])]
    model = clone(estimator)
    final = getattr(model, "_final_estimator", model)
    if ordered := "classes" in final.get_params():
        # In the order of the scale, whatever that of the alphabet is.
        final.set_params(classes=labels[given].tolist())
    # Classifiers of scikit-learn take fractions for a regression's target.
    names: Any = labels if ordered or labels.dtype.kind != "f" else np.arange(len(labels))
    target = names[np.maximum(seen, 0)][train]
    if transductive:
        target = target.astype(object)
        target[seen[train] == UNLABELED] = None
    model.fit(_rows(X, train), target)
    columns = [names.tolist().index(label) for label in model.classes_.tolist()]
    p = np.zeros((len(ask), len(labels)))
    p[:, columns] = model.predict_proba(_rows(X, ask))
    return p


def _rows(X: Any, rows: Index) -> Any:
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]

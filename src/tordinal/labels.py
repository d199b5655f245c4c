"""How labels become ranks: their order, and the marks of unlabelled rows."""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from tordinal.reduction import UNLABELED, Ranks

Index = NDArray[np.int64]

FOLDS = 5  # of the labelled rows, to calibrate a supervised model


def label_array(y: Any) -> NDArray[Any]:
    """Labels as an array that keeps their types; NumPy would turn None into a string.

    Examples
    --------
    >>> label_array(["good", None])
    array(['good', None], dtype=object)
    >>> label_array([1, 2])
    array([1, 2])
    """
    if isinstance(y, np.ndarray):
        return y
    if isinstance(getattr(y, "dtype", None), pd.api.extensions.ExtensionDtype):
        return np.asarray(y, dtype=object)
    if isinstance(y, (pd.Series, pd.Index)) or hasattr(y, "__array_interface__"):
        return np.asarray(y)
    if hasattr(y, "to_list"):  # polars
        y = y.to_list()
    plain = np.array(y)
    if plain.ndim != 1 or plain.dtype.kind in "biufO":
        return plain
    values = np.empty(len(plain), dtype=object)
    values[:] = list(y)
    return plain if all(isinstance(value, str) for value in values) else values


def single_column(y: Any) -> Any:
    """The one column of a data frame, as a series with its categories; anything else unchanged."""
    if isinstance(y, pd.DataFrame) and y.shape[1] == 1:
        return y.iloc[:, 0]
    if hasattr(y, "to_series") and getattr(y, "width", None) == 1:  # polars
        return y.to_series()
    return y


def unlabeled_rows(y: ArrayLike) -> NDArray[np.bool_]:
    """Where a label is None, NaN, pandas NA or, among integers, -1.

    Examples
    --------
    >>> unlabeled_rows([1, -1, None])
    array([False,  True,  True])
    """
    values = label_array(y)
    hidden = missing_labels(values)
    return hidden | _minus_one(values, hidden)


def is_integer_label(value: Any) -> bool:
    """Whether a label is an integer (a bool is not)."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, (bool, np.bool_))


def encode_labels(
    y: ArrayLike,
    classes: Sequence[Any] | None = None,
    *,
    transductive: bool,
    min_classes: int = 2,
) -> tuple[NDArray[Any], Ranks]:
    """Turn labels into ranks.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Any comparable labels, or an ordered categorical of pandas or polars, whose order counts.
    classes : sequence, optional
        All labels from the lowest to the highest. Without it the labels in y are sorted.
    transductive : bool
        Whether unlabelled rows are allowed. If so, None, NaN, pandas NA and, in integer labels
        that do not have it among `classes`, -1 mark them.
    min_classes : int, default=2
        How many classes must have labels: 2 to learn from, 1 to count.

    Returns
    -------
    classes : ndarray of shape (n_classes,)
        The labels from the lowest rank to the highest.
    ranks : ndarray of shape (n_samples,)
        The rank of each row, `UNLABELED` where it has none.

    Examples
    --------
    >>> order = ["poor", "fair", "good"]
    >>> classes, y = encode_labels(["good", None, "poor"], order, transductive=True)
    >>> classes.tolist(), y.tolist()
    (['poor', 'fair', 'good'], [2, -1, 0])
    """
    order = _categorical_order(y) if classes is None else list(classes)
    values = label_array(y)
    if values.ndim != 1:
        raise ValueError(f"y must have one label per row, got an array of shape {values.shape}")
    hidden = missing_labels(values)
    if hidden.any() and not transductive:
        raise ValueError(
            f"y: {int(hidden.sum())} of {len(hidden)} labels are missing. This estimator is "
            "supervised: use TOR, which learns from unlabelled rows too, or drop those rows."
        )
    if values.dtype.kind == "f" and np.isinf(values).any():
        raise ValueError("Input y contains infinity or a value too large for a label")
    minus_one_is_rank = not transductive or (order is not None and UNLABELED in order)
    if not minus_one_is_rank:
        hidden |= _minus_one(values, hidden)
    labels = values[~hidden]
    if len(labels) == 0:
        raise ValueError(
            f"y: no row is labelled ({len(values)} rows, all of them marked as unlabelled). "
            "Label at least one row of two classes."
        )
    if order is None:
        _reject_continuous(labels)
    order_array = _distinct(labels) if order is None else _checked_order(order)
    if order is None and len(order_array) > 2 and isinstance(order_array.tolist()[0], str):
        warnings.warn(
            "y: the labels are strings and no order was given, so they are ordered "
            f"alphabetically: {' < '.join(map(repr, order_array.tolist()[:6]))}"
            f"{' < ...' if len(order_array) > 6 else ''}. Pass `classes` with the labels from the "
            "lowest to the highest, or an ordered categorical.",
            UserWarning,
            stacklevel=4,
        )
    encoded = ranks_among(values, hidden, order_array.tolist())
    present = np.unique(encoded[~hidden])
    if len(present) < min_classes:
        only = order_array.tolist()[present[0]]
        raise ValueError(
            f"y: all labels are {only!r}: only one class is labelled, so there is nothing to "
            "order. Label rows of at least two classes."
        )
    return order_array, encoded


def ranks_among(values: NDArray[Any], hidden: NDArray[np.bool_], classes: list[Any]) -> Ranks:
    """Ranks of labels among all classes in their order; `UNLABELED` for hidden rows.

    Examples
    --------
    >>> import numpy as np
    >>> ranks_among(np.array([3, 1, -1]), np.array([False, False, True]), [1, 3])
    array([ 1,  0, -1])
    """
    lookup = {label: rank for rank, label in enumerate(classes)}
    encoded = np.full(len(values), UNLABELED, dtype=np.int64)
    try:
        encoded[~hidden] = [lookup[label] for label in values[~hidden].tolist()]
    except KeyError as error:
        raise ValueError(
            f"y: the label {error.args[0]!r} is not among classes={classes}. "
            "Add it to `classes` or mark the row as unlabelled (None)."
        ) from None
    return encoded


def missing_labels(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Where a label is None, NaN or pandas NA."""
    return np.asarray(pd.isna(values), dtype=bool)


def _minus_one(values: NDArray[Any], hidden: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Where an integer label is -1."""
    if values.dtype.kind in "iu":
        return values == UNLABELED
    marked = np.zeros(len(values), dtype=bool)
    if values.dtype.kind == "O":
        marked[~hidden] = [is_integer_label(v) and v == UNLABELED for v in values[~hidden]]
    return marked


def _categorical_order(y: Any) -> list[Any] | None:
    """The categories in use of an ordered categorical, in their order; None for anything else."""
    dtype = getattr(y, "dtype", None)
    if isinstance(dtype, pd.CategoricalDtype) and dtype.ordered:
        categories = list(dtype.categories)
        used = set(pd.Series(y).dropna().unique())
    elif type(dtype).__name__ == "Enum":  # polars: a categorical whose order is part of its type
        categories = list(dtype.categories)  # type: ignore[union-attr]
        used = set(y.drop_nulls().to_list())
    else:
        return None
    return [category for category in categories if category in used - {UNLABELED}]


def _reject_continuous(labels: NDArray[Any]) -> None:
    plain = np.array(labels.tolist())
    if plain.dtype.kind == "f" and (plain != np.floor(plain)).any():
        raise ValueError(
            f"Unknown label type: continuous. y holds {len(np.unique(plain))} distinct numbers "
            f"such as {plain[0]:g}. Cut a number into ranks with tordinal.datasets.quantize, or "
            "name the labels in order with `classes`."
        )


def _distinct(labels: NDArray[Any]) -> NDArray[Any]:
    try:
        distinct = np.array(sorted(set(labels.tolist())))
    except TypeError:
        kinds = sorted({type(label).__name__ for label in labels.tolist()})
        raise ValueError(
            f"y: labels of the types {', '.join(kinds)} cannot be ordered together. "
            "Pass `classes` with their order."
        ) from None
    return distinct.astype(labels.dtype) if labels.dtype.kind != "O" else distinct


def _checked_order(order: list[Any]) -> NDArray[Any]:
    if any(not np.isscalar(label) or pd.isna(label) for label in order):
        raise ValueError(f"classes={order!r} must be a list of labels, none of them missing")
    if len(set(order)) != len(order):
        raise ValueError(f"classes={order!r} names a class twice")
    array = np.array(order)
    if array.tolist() != order:  # mixed types: NumPy would turn them all into strings
        array = np.array(order, dtype=object)
    return array


def folds_by_rank(rank: Ranks, first: int = 0) -> Index:
    """Folds of the labelled rows, dealt in the order of their ranks; -1 for unlabelled rows.

    The same rows get the same folds in any order but for ties.

    Examples
    --------
    >>> import numpy as np
    >>> folds_by_rank(np.array([1, -1, 0, 1, 2]))
    array([ 1, -1,  0,  2,  3])
    """
    labeled = np.flatnonzero(rank != UNLABELED)
    fold = np.full(len(rank), -1)
    by_rank = labeled[np.argsort(rank[labeled], kind="stable")]
    fold[by_rank] = (first + np.arange(len(labeled))) % FOLDS
    return fold

"""Equations 1 to 3: ranks and signs, thresholds and ranks; and how labels become ranks.

Inside the library a rank is an integer 0 .. K-1 (the paper counts from 1) and an unlabelled row has the rank
`UNLABELED`. Threshold k = 0 .. K-2 lies between the ranks k and k + 1.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

UNLABELED = -1

Ranks = NDArray[np.int64]
Array = NDArray[np.float64]


def signs(y: Ranks, n_thresholds: int) -> Array:
    """Equation 1: s_ik = +1 where the rank lies above threshold k, else -1; shape (rows, thresholds).

    Examples
    --------
    >>> import numpy as np
    >>> signs(np.array([0, 2]), 2)
    array([[-1., -1.],
           [ 1.,  1.]])
    """
    return np.where(np.asarray(y)[:, None] > np.arange(n_thresholds), 1.0, -1.0)


def ranks(h: ArrayLike, thresholds: ArrayLike) -> Ranks:
    """Equation 3: the rank of each projection is the number of thresholds below it.

    Examples
    --------
    >>> ranks([-3.0, 0.0, 5.0], [-1.0, 1.0])
    array([0, 1, 2])
    """
    h, thresholds = np.asarray(h), np.asarray(thresholds)
    return (h[:, None] > thresholds).sum(axis=1)


def label_array(y: Any) -> NDArray[Any]:
    """Labels as an array that keeps what they are: NumPy would turn None or NaN beside words into words.

    Examples
    --------
    >>> label_array(["good", None])
    array(['good', None], dtype=object)
    >>> label_array([1, 2])
    array([1, 2])
    """
    if hasattr(y, "dtype"):
        return np.asarray(y, dtype=object) if _is_extension(y) else np.asarray(y)
    plain = np.array(y)
    if plain.ndim != 1 or plain.dtype.kind in "biufO":
        return plain
    values = np.empty(len(plain), dtype=object)
    values[:] = list(y)
    return plain if all(isinstance(value, str) for value in values) else values


def unlabeled_rows(y: ArrayLike) -> NDArray[np.bool_]:
    """Where a label is None, NaN, pandas NA or, among integers, -1.

    Examples
    --------
    >>> unlabeled_rows([1, -1, None])
    array([False,  True,  True])
    """
    values = label_array(y)
    hidden = _missing(values)
    return hidden | _minus_one(values, hidden)


def _missing(values: NDArray[Any]) -> NDArray[np.bool_]:
    return np.asarray(pd.isna(values), dtype=bool)


def is_integer_label(value: Any) -> bool:
    """Whether a label is an integer (a bool is not)."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, (bool, np.bool_))


def encode_labels(
    y: ArrayLike, classes: Sequence[Any] | None = None, *, transductive: bool
) -> tuple[NDArray[Any], Ranks]:
    """Turn labels into ranks.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Any comparable labels, or an ordered pandas categorical, whose order counts.
    classes : sequence, optional
        All labels from the lowest to the highest. Without it the labels found are sorted.
    transductive : bool
        Whether unlabelled rows are allowed. If so, None, NaN, pandas NA and, in integer labels that do not have
        it among `classes`, -1 mark them.

    Returns
    -------
    classes : ndarray of shape (n_classes,)
        The labels from the lowest rank to the highest.
    ranks : ndarray of shape (n_samples,)
        The rank of each row, `UNLABELED` where it has none.

    Examples
    --------
    >>> classes, y = encode_labels(["good", None, "poor"], ["poor", "fair", "good"], transductive=True)
    >>> classes.tolist(), y.tolist()
    (['poor', 'fair', 'good'], [2, -1, 0])
    """
    order = _categorical_order(y) if classes is None else list(classes)
    values = label_array(y)
    if values.ndim != 1:
        raise ValueError(f"y must have one label per row, got an array of shape {values.shape}")
    hidden = _missing(values)
    if hidden.any() and not transductive:
        raise ValueError(
            f"y: {int(hidden.sum())} of {len(hidden)} labels are missing. This estimator is supervised: "
            "use TOR, which learns from unlabelled rows too, or drop those rows."
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
        _refuse_continuous(labels)
    order_array = _distinct(labels) if order is None else _checked_order(order, labels)
    lookup = {label: rank for rank, label in enumerate(order_array.tolist())}
    encoded = np.full(len(values), UNLABELED, dtype=np.int64)
    try:
        encoded[~hidden] = [lookup[label] for label in labels.tolist()]
    except KeyError as error:
        raise ValueError(
            f"y: the label {error.args[0]!r} is not among classes={order_array.tolist()}. "
            "Add it to `classes` or mark the row as unlabelled (None)."
        ) from None
    present = np.unique(encoded[~hidden])
    if len(present) < 2:
        only = order_array.tolist()[present[0]]
        raise ValueError(
            f"y: all labels are {only!r}: only one class is labelled, so there is nothing to order. "
            "Label rows of at least two classes."
        )
    return order_array, encoded


def _is_extension(y: Any) -> bool:
    return isinstance(getattr(y, "dtype", None), pd.api.extensions.ExtensionDtype)


def _categorical_order(y: Any) -> list[Any] | None:
    """The categories in use of an ordered pandas categorical, in their order; None for anything else."""
    dtype = getattr(y, "dtype", None)
    if not isinstance(dtype, pd.CategoricalDtype) or not dtype.ordered:
        return None
    used = set(pd.Series(y).dropna().unique()) - {UNLABELED}
    return [category for category in dtype.categories if category in used]


def _minus_one(values: NDArray[Any], hidden: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Where an integer label is -1."""
    if values.dtype.kind in "iu":
        return values == UNLABELED
    found = np.zeros(len(values), dtype=bool)
    if values.dtype.kind == "O":
        found[~hidden] = [is_integer_label(v) and v == UNLABELED for v in values[~hidden]]
    return found


def _refuse_continuous(labels: NDArray[Any]) -> None:
    plain = np.array(labels.tolist())
    if plain.dtype.kind == "f" and (plain != np.floor(plain)).any():
        raise ValueError(
            f"Unknown label type: continuous. y holds {len(np.unique(plain))} distinct numbers such as {plain[0]:g}. "
            "Cut a number into ranks with tordinal.datasets.quantize, or name the labels in order with `classes`."
        )


def _distinct(labels: NDArray[Any]) -> NDArray[Any]:
    try:
        found = np.array(sorted(set(labels.tolist())))
    except TypeError:
        kinds = sorted({type(label).__name__ for label in labels.tolist()})
        raise ValueError(
            f"y: labels of the types {', '.join(kinds)} cannot be ordered together. Pass `classes` with their order."
        ) from None
    return found.astype(labels.dtype) if labels.dtype.kind != "O" else found


def _checked_order(order: list[Any], labels: NDArray[Any]) -> NDArray[Any]:
    if any(not np.isscalar(label) or pd.isna(label) for label in order):
        raise ValueError(f"classes={order!r} must be a list of labels, none of them missing")
    if len(set(order)) != len(order):
        raise ValueError(f"classes={order!r} names a class twice")
    array = np.array(order)
    if array.tolist() != order:  # mixed types: NumPy would turn them all into strings
        array = np.array(order, dtype=object)
    return array

"""Ratings and class probabilities as numbers per row, which are averaged."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tordinal.inference.difference import Quantity, Sample
from tordinal.labels import encode_labels
from tordinal.reduction import Ranks

__all__ = [
    "LEVEL",
    "check_lengths",
    "check_options",
    "class_scores",
    "mean_quantity",
    "read_numbers",
    "read_ratings",
    "share_quantity",
]

Array = NDArray[np.float64]

LEVEL = 0.9  # of the intervals, unless another is asked for


def read_ratings(
    y: ArrayLike, predicted: ArrayLike, classes: Sequence[Any] | None
) -> tuple[Ranks, Array, NDArray[Any]]:
    """Ranks, class probabilities and classes."""
    p = read_numbers(predicted, "predicted")
    if p.ndim != 2:
        raise ValueError(
            f"predicted has shape {p.shape}: pass class probabilities of shape (rows, classes)."
        )
    labels, rank = encode_labels(y, classes, transductive=True, min_classes=1)
    check_lengths(rank, p)
    if len(labels) != p.shape[1]:
        raise ValueError(
            f"predicted has {p.shape[1]} columns, but there are {len(labels)} classes: "
            f"{labels.tolist()[:10]}. Pass classes= with one rating per column, lowest first."
        )
    if p.min() < -1e-6 or np.abs(p.sum(axis=1) - 1.0).max() > 1e-3:
        i = int(np.argmax(np.abs(p.sum(axis=1) - 1.0) - np.minimum(p.min(axis=1), 0.0)))
        raise ValueError(
            f"predicted must be class probabilities: row {i} has the sum {p[i].sum():.3g} and the "
            f"minimum {p[i].min():.3g}. Pass the result of predict_proba."
        )
    return rank, p, labels


def read_numbers(values: ArrayLike, name: str) -> Array:
    """Finite numbers of one or two dimensions."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim not in (1, 2):
        raise ValueError(f"{name} has shape {array.shape}: pass one row per row of the table.")
    bad = ~np.isfinite(array)
    if bad.any():
        raise ValueError(
            f"{name} has {int(bad.sum())} values that are NaN or infinite, the first in row "
            f"{int(np.argwhere(bad)[0][0])}. Predict every row, rated or not."
        )
    return array


def check_lengths(y: NDArray[Any], predicted: Array, name: str = "y") -> None:
    """Reject arrays of different lengths."""
    if len(y) != len(predicted):
        raise ValueError(
            f"{name} has {len(y)} rows and predicted {len(predicted)}. Pass both for all rows of "
            "the table."
        )


def check_options(level: float, lam: float | None) -> None:
    """Reject a level or a weight of the predictions outside its range."""
    if not 0 < level < 1:
        raise ValueError(f"level={level!r} must be between 0 and 1, such as 0.9.")
    if lam is not None and not 0 <= lam <= 1:
        raise ValueError(f"lam={lam!r} must be between 0 and 1, or None for the best weight.")


def class_scores(labels: NDArray[Any], scores: ArrayLike | None) -> Array:
    """The number of each class."""
    if scores is None:
        numeric = all(
            isinstance(x, (int, float)) and not isinstance(x, bool) for x in labels.tolist()
        )
        return np.asarray(labels, dtype=np.float64) if numeric else np.arange(1.0, len(labels) + 1)
    given = np.asarray(scores, dtype=np.float64)
    if given.shape != (len(labels),) or not np.isfinite(given).all():
        raise ValueError(
            f"scores={scores!r} must be {len(labels)} finite numbers, one for each of the classes "
            f"{labels.tolist()[:10]}."
        )
    return given


def mean_quantity(rank: Ranks, p: Array, scores: Array, sample: Sample) -> Quantity:
    """The average of the scores."""
    low, high = float(scores.min()), float(scores.max())
    step = (high - low) / max(len(scores) - 1, 1)
    return Quantity(scores[rank[sample.rated]], p @ scores, (low, high), step)


def share_quantity(rank: Ranks, p: Array, members: Sequence[int], sample: Sample) -> Quantity:
    """The share of some classes together."""
    known = np.isin(rank[sample.rated], list(members)).astype(np.float64)
    return Quantity(known, p[:, list(members)].sum(axis=1), (0.0, 1.0), 1.0, True)

"""X, y and weights of one block before the first training: checked, encoded, centred and scaled."""

import os
import threading
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from tordinal.engines.dask.pieces import FEW_LABELED, PreparedBlock, StoredRows
from tordinal.labels import (
    label_array,
    missing_labels,
    ranks_among,
    single_column,
    unlabeled_rows,
)
from tordinal.reduction import UNLABELED, Ranks

__all__ = ["distinct_labels", "encode", "features_of", "moments", "prepare", "read_rows", "squares"]

Array = NDArray[np.float64]

MEMORY_SHARE = 0.4  # of a worker's memory limit that rows may take; the others go to disk


def read_rows(number: int, X: Any, dense: bool) -> Any:
    """Check a block of rows, and convert it to a dense array or CSR matrix of floats."""
    if hasattr(X, "tocsr"):
        X = X.tocsr()
    if not sp.issparse(X):
        X = np.asarray(X)
    if X.ndim != 2:
        raise ValueError(f"X: block {number} has {X.ndim} dimensions, not 2")
    if X.dtype not in (np.float32, np.float64):
        X = X.astype(np.float64)
    values = X.data if sp.issparse(X) else X
    if not np.isfinite(values).all():
        raise ValueError(f"X: block {number} contains NaN or infinity; fill or drop those values")
    if sp.issparse(X):
        if dense:
            return X.toarray()
        X = sp.csr_matrix(X)
        if not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        if X.indices.dtype != np.int32 and X.shape[1] < 2**31:
            X.indices = X.indices.astype(np.int32)
    return X


def distinct_labels(y: Any) -> tuple[NDArray[Any], int]:
    """The distinct labels of a block without missing ones, and its number of rows."""
    values = label_array(single_column(y))
    given = values[~missing_labels(values)]
    if given.dtype.kind != "O":
        return np.unique(given), len(values)
    seen = dict.fromkeys(given.tolist())
    labels = np.empty(len(seen), dtype=object)
    labels[:] = list(seen)
    return labels, len(values)


def encode(y: Any, classes: NDArray[Any]) -> Ranks:
    """Ranks of a block's labels."""
    values, order = label_array(single_column(y)), classes.tolist()
    hidden = missing_labels(values) if UNLABELED in order else unlabeled_rows(values)
    return ranks_among(values, hidden, order)


def features_of(X: Any) -> tuple[int, int]:
    """How many rows and features a block has."""
    return X.shape


def moments(X: Any) -> tuple[int, Array, float]:
    """Rows, sums of dense features, and the sum of all squares."""
    if sp.issparse(X):
        return X.shape[0], np.zeros(0), float((X.data.astype(np.float64) ** 2).sum())
    return X.shape[0], X.sum(axis=0, dtype=np.float64), 0.0


def squares(X: Any, centre: Array) -> float:
    """The sum of squares of dense features around their means."""
    return float(((X - centre) ** 2).sum())


class _Kept:
    """Bytes of rows that a worker holds in memory, by the fit that they belong to."""

    lock = threading.Lock()
    bytes: dict[str, int] = {}  # noqa: RUF012


def prepare(
    number: int, X: Any, y: Any, weight: Any, *, classes: NDArray[Any], centre: Any, scale: float,
    token: str,
) -> PreparedBlock:  # fmt: skip
    """Centre and scale rows, encode their labels, and write to disk what memory cannot hold."""
    from distributed import get_worker

    if sp.issparse(X):
        X = X if scale == 1.0 else X / np.sqrt(scale)
    else:
        X = np.ascontiguousarray((X - centre) / np.sqrt(scale))
    rank = encode(y, classes)
    if len(rank) != X.shape[0]:
        raise ValueError(f"y: block {number} has {len(rank)} labels for {X.shape[0]} rows of X")
    weight = np.ones(len(rank)) if weight is None else np.asarray(weight, dtype=np.float64)
    if weight.shape != rank.shape or not (np.isfinite(weight).all() and (weight >= 0).all()):
        raise ValueError(
            f"sample_weight: block {number} must hold {len(rank)} weights, finite and not negative"
        )
    given = np.flatnonzero(rank != UNLABELED)
    few = len(given) <= FEW_LABELED * len(rank)
    prepared = PreparedBlock(number, X, rank, weight, X[given] if few else None)
    worker = get_worker()
    limit = worker.memory_manager.memory_limit
    with _Kept.lock:
        kept = _Kept.bytes.get(token, 0) + prepared.nbytes
        stored = limit is not None and kept > MEMORY_SHARE * limit
        if not stored:
            _Kept.bytes[token] = kept
    if stored:
        path = os.path.join(worker.local_directory, f"tordinal-{token}-{number}.npy")
        prepared.X = StoredRows(path, X)
    return prepared

"""Embeddings beside a table: columns of lists of numbers, and arrays from NumPy files."""

import os
import re
import zipfile
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tordinal.exceptions import InputError
from tordinal.tables.values import TableError, is_missing

__all__ = ["FEATURES", "expanded", "owner_of", "parts_of", "read_features", "vector_size"]

Array = NDArray[np.float64]

FEATURES = "features"  # name of an array beside the table, as a column
LONGEST = 10_000  # numbers in a cell
PART = re.compile(r"\[\d+\]$")


def vector_size(cells: Sequence[Any]) -> int:
    """How many numbers each cell of a column holds as a list; 0 if it is no such column.

    Examples
    --------
    >>> vector_size([[0.5, 1], None, [2, 3]]), vector_size([[1], [1, 2]]), vector_size(["a"])
    (2, 0, 0)
    """
    size = 0
    for cell in cells:
        if not isinstance(cell, (list, tuple, np.ndarray)):
            if is_missing(cell):
                continue
            return 0
        if isinstance(cell, np.ndarray):
            numeric = cell.ndim == 1 and cell.dtype.kind in "fiu"
        else:
            numeric = all(type(value) in (int, float) for value in cell)
        if not numeric or not 0 < len(cell) <= LONGEST or size not in (0, len(cell)):
            return 0
        size = len(cell)
    return size


def expanded(name: str, cells: Sequence[Any]) -> dict[str, list[Any]]:
    """A column of lists as one column per number; any other column as it is.

    Examples
    --------
    >>> expanded("e", [[0.5, 1.0], None])
    {'e[1]': [0.5, None], 'e[2]': [1.0, None]}
    >>> expanded("x", ["a", "b"])
    {'x': ['a', 'b']}
    """
    size = vector_size(cells)
    if size == 0:
        return {name: list(cells) if not isinstance(cells, list) else cells}
    values = np.full((len(cells), size), np.nan)
    for i, cell in enumerate(cells):
        if isinstance(cell, (list, tuple, np.ndarray)):
            values[i] = cell
    columns: NDArray[Any] = values
    if not np.isfinite(values).all():
        columns = values.astype(object)
        columns[~np.isfinite(values)] = None
    return {f"{name}[{j + 1}]": columns[:, j].tolist() for j in range(size)}


def owner_of(name: str) -> str:
    """The column of lists that a column comes from.

    Examples
    --------
    >>> owner_of("embedding[17]"), owner_of("price")
    ('embedding', 'price')
    """
    return PART.sub("", name)


def parts_of(names: Sequence[str], cells: Collection[str]) -> list[str]:
    """Names of columns; of a column of lists the names of its numbers.

    Examples
    --------
    >>> parts_of(["price", "e"], {"price": [], "e[1]": [], "e[2]": []})
    ['price', 'e[1]', 'e[2]']
    """
    parts: list[str] = []
    for name in names:
        own = [] if name in cells else [part for part in cells if owner_of(part) == name]
        parts += own or [name]
    return parts


def read_features(features: Any, n_rows: int) -> Array:
    """Read an array with a row per row of the table.

    Parameters
    ----------
    features : path or array-like of shape (n_rows, n_features)
        A ``.npy`` file, an ``.npz`` file with one array, or the array. No pickled objects are read.
    n_rows : int
        Rows of the table.

    Returns
    -------
    features : ndarray of shape (n_rows, n_features)
        Finite numbers.

    Raises
    ------
    InputError
        If it is not such an array.
    """
    name = os.fspath(features) if isinstance(features, (str, os.PathLike)) else "array"
    values = _load(name) if isinstance(features, (str, os.PathLike)) else np.asarray(features)
    if values.ndim == 1:
        values = values[:, None]
    if values.dtype.kind not in "fiub" or values.ndim != 2:
        raise InputError(
            f"`features` {name}: expected a matrix of numbers, one row per row of the table, got "
            f"{values.dtype} of shape {values.shape}"
        )
    if len(values) != n_rows:
        raise InputError(
            f"`features` {name} has {len(values):,} rows and the table has {n_rows:,}; both must "
            "have the same rows in the same order"
        )
    if not 0 < values.shape[1] <= LONGEST:
        raise InputError(
            f"`features` {name} has {values.shape[1]:,} columns; 1 to {LONGEST:,} can be used"
        )
    if not np.isfinite(values).all():
        row = int(np.argwhere(~np.isfinite(values))[0][0])
        raise InputError(f"`features` {name}: row {row + 1} holds NaN or infinity; replace it")
    return np.asarray(values, dtype=np.float64)


def _load(path: str) -> NDArray[Any]:
    """The array of a NumPy file."""
    try:
        loaded = np.load(path, allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            return loaded
        with loaded as archive:
            if len(archive.files) != 1:
                names = ", ".join(archive.files[:10]) or "none"
                raise TableError(
                    f"`features` {path} must hold one array, and has {len(archive.files)}: {names}"
                )
            return archive[archive.files[0]]
    except TableError:
        raise
    except OSError as error:
        raise TableError(f"`features` {path} cannot be read: {error.strerror or error}") from None
    except (ValueError, EOFError, zipfile.BadZipFile, MemoryError):
        raise TableError(
            f"`features` {path} is not a NumPy file of numbers (.npy, or .npz with one array)"
        ) from None

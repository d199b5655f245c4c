"""Fingerprints: a number that identifies each row of a table."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tordinal.tables.table import cell_text
from tordinal.tables.values import number

__all__ = ["fingerprints", "row_fingerprints"]


def fingerprints(table: Mapping[str, list[Any]], names: Sequence[str]) -> NDArray[np.uint64]:
    """A number for each row that identifies its cells in some columns.

    Examples
    --------
    >>> one, other = fingerprints({"size": ["1.0", 1], "kind": ["a", "a"]}, ["size", "kind"])
    >>> bool(one == other)
    True
    """
    codes = np.empty(len(next(iter(table.values()))), dtype=np.uint64)
    columns = [table[name] for name in names]
    for i in range(len(codes)):
        parts = []
        for cells in columns:
            value = number(cells[i])
            parts.append(cell_text(cells[i]).strip() if value is None else f"{value:.12g}")
        digest = hashlib.blake2b("\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=8)
        codes[i] = int.from_bytes(digest.digest(), "big")
    return codes


def row_fingerprints(table: Mapping[str, list[Any]], names: Sequence[str]) -> list[str]:
    """The same as text of 16 hexadecimal digits, for files that other programs read, too.

    Examples
    --------
    >>> row_fingerprints({"size": [1]}, ["size"])
    ['f6fc42039fba3776']
    """
    return [f"{int(code):016x}" for code in fingerprints(table, names)]

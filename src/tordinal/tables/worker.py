"""Functions of one file that run on a worker, for tables in many files."""

import os
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from tordinal.reduction import UNLABELED
from tordinal.tables.answers import Answers, is_earlier
from tordinal.tables.columns import TableEncoder
from tordinal.tables.compared import Compared, compare
from tordinal.tables.drift import CellCounts
from tordinal.tables.files import read_table
from tordinal.tables.fingerprints import fingerprints
from tordinal.tables.parquet import write_parquet
from tordinal.tables.rating_order import spelled
from tordinal.tables.results import Totals
from tordinal.tables.roles import find_columns
from tordinal.tables.table import Table
from tordinal.tables.table_model import TableModel
from tordinal.tables.target import (
    Ratings,
    count_cells,
    is_rated,
    original_labels,
    ranks_of,
)
from tordinal.tables.values import TableError

__all__ = [
    "Rated",
    "Survey",
    "TableReader",
    "draw",
    "encode",
    "labels_in",
    "rate_file",
    "survey",
    "words_of",
]  # fmt: skip


@dataclass(frozen=True)
class TableReader:
    """Reads every file in the same way.

    Attributes
    ----------
    target : str
        Name of the column of ratings.
    encoding : str or None
        Encoding of text formats.
    order : tuple of str or None
        Ratings from the lowest to the highest, where they were named.
    missing : tuple of str
        Marks of cells without a value.
    replace_earlier : bool
        Whether columns of an earlier run are replaced; otherwise they are an error.
    """

    target: str
    encoding: str | None = None
    order: tuple[str, ...] | None = None
    missing: tuple[str, ...] = ()
    replace_earlier: bool = True

    def table(self, path: str) -> Table:
        """Read a file."""
        if not os.path.exists(path):
            raise TableError(
                f"{path}: a worker cannot find this file; all workers need the same folders"
            )
        table = read_table(path, self.encoding, empty=True)
        earlier = [name for name in table.names if is_earlier(name, self.target)]
        if earlier and not self.replace_earlier:
            raise TableError(f"{path} has a column {earlier[0]!r} already; rename or remove it")
        return table.without(earlier) if earlier else table

    def rated(self, table: Table) -> NDArray[np.bool_]:
        """Which rows have a rating."""
        cells = table[self.target]
        return np.array([is_rated(spelled(c), self.order, self.missing) for c in cells], dtype=bool)


@dataclass
class Survey:
    """Columns and rows of a file, and how often each cell of the target occurs."""

    names: list[str]
    rows: int
    cells: Counter[Any]
    order: list[str] | None

    def n_rated(self, ratings: Ratings) -> int:
        """Number of rows with a rating."""
        return sum(n for cell, n in self.cells.items() if cell in ratings.rank)


def survey(path: str, reader: TableReader) -> Survey:
    """Count the rows of a file, and the cells of the target."""
    table = reader.table(path)
    find_columns([reader.target], table.names, "target")
    cells = count_cells(reader.target, table[reader.target])
    return Survey(table.names, len(table), cells, table.orders.get(reader.target))


def draw(
    path: str, reader: TableReader, n_rated: int, n_others: int, seed: tuple[int, int]
) -> Table:
    """Some rows of a file with a rating and some without one, drawn at random."""
    table = reader.table(path)
    rng, rated = np.random.default_rng(seed), reader.rated(table)
    rows = np.concatenate(
        [
            rng.permutation(np.flatnonzero(kind))[:n]
            for kind, n in ((rated, n_rated), (~rated, n_others))
        ]
    )
    rows.sort()
    part = table.part(rows.tolist())
    part.numbers = [f"{os.path.basename(path)} {table.number(i)}" for i in rows.tolist()]
    return part


def words_of(path: str, reader: TableReader, encoder: TableEncoder) -> dict[str, Counter[str]]:
    """Number of rows of a file with each word."""
    return encoder.count_words(reader.table(path).features(reader.target))


def encode(
    path: str,
    reader: TableReader,
    encoder: TableEncoder,
    columns: Any,
    ratings: Ratings,
    only: bool,
) -> Any:
    """The features of a file's rows in one view: all rows, or only those with a rating."""
    table = reader.table(path)
    if only:
        table = table.part(np.flatnonzero(ranks_of(table[reader.target], ratings) >= 0).tolist())
    if len(table) == 0:
        n = len(encoder.get_feature_names_out()) if columns is None else len(columns)
        return sp.csr_matrix((0, n)) if encoder.views() else np.empty((0, n))
    X = encoder.transform(table.features(reader.target))
    return X if columns is None else X[:, columns]


def labels_in(path: str, reader: TableReader, ratings: Ratings, only: bool) -> NDArray[np.int64]:
    """The ranks of a file's rows, -1 where there is none."""
    rank = ranks_of(reader.table(path)[reader.target], ratings)
    return rank[rank >= 0] if only else rank


@dataclass
class Rated:
    """Counts from rating a file, or several."""

    totals: Totals
    unsure: int
    learned: NDArray[np.uint64]
    compared: Compared
    cells: list[CellCounts]

    def __add__(self, other: "Rated") -> "Rated":
        return Rated(
            self.totals + other.totals, self.unsure + other.unsure,
            np.concatenate([self.learned, other.learned]), self.compared + other.compared,
            [mine + theirs for mine, theirs in zip(self.cells, other.cells, strict=True)],
        )  # fmt: skip


def rate_file(
    path: str,
    out: str,
    reader: TableReader,
    model: TableModel,
    ratings: Ratings | None,
    probabilities: bool,
    abstain: float | None,
) -> Rated:
    """Rate the rows of a file and write them, with the ratings, as Parquet."""
    table, K = reader.table(path), len(model.classes)
    features = model.cells(table)
    p = model.rate(features)[2] if len(table) else np.empty((0, K))
    rank, given = p.argmax(axis=1), np.zeros(len(table), dtype=bool)
    if ratings is not None:
        known = ranks_of(table[reader.target], ratings)
        given = known != UNLABELED
        rank = np.where(given, known, rank)
        p = np.where(given[:, None], np.eye(K)[rank], p)
    confidence = p[np.arange(len(rank)), rank]
    cells = table[reader.target] if given.any() else None
    labels = original_labels(cells, given, model.classes, rank, one_type=True)
    answers = Answers.made(labels, confidence, given, p, model.classes, abstain)
    added = answers.columns(reader.target, probabilities, list(range(len(table))), len(table))
    numbers = {name: [0.5] for name in added if not name.endswith(("_predicted", "_source"))}
    texts = {f"{reader.target}_source": [""]}
    alike = {f"{reader.target}_predicted": model.classes, **numbers, **texts}
    part = f"{out}.{os.getpid()}"  # two workers may have been given the same file
    with open(part, "wb") as file:
        write_parquet(table, added, file, alike)
        file.flush()
        os.fsync(file.fileno())
    os.replace(part, out)
    compared = (
        compare(model, table, labels)
        if ratings is None and reader.target in table.names
        else Compared()
    )
    learned = np.empty(0, dtype=np.uint64)
    if given.any():
        learned = np.unique(fingerprints(features, model.used)[given])
    cells = model.encoder.compare(features) if ratings is None else []
    return Rated(Totals.of(rank, given, confidence, K), answers.unsure, learned, compared, cells)

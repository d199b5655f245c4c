"""Tables in many files: read, encoded, learned from and rated file by file on the workers.

Passes over the files: what they hold; a sample to choose a model on; the words of the texts; the
features, which stay on the workers while a model is fitted; the ratings, written beside each other.
No file is ever whole in the driver.
"""

import glob
import os
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from tordinal.engines.dask.waiting import lost, still_there
from tordinal.estimators import TOR
from tordinal.progress import Listener
from tordinal.reduction import UNLABELED
from tordinal.tables.answers import Answers, is_earlier
from tordinal.tables.columns import TableEncoder
from tordinal.tables.compared import Compared, compare
from tordinal.tables.drift import CellCounts
from tordinal.tables.files import format_of, read_table
from tordinal.tables.fingerprints import fingerprints
from tordinal.tables.parquet import write_parquet
from tordinal.tables.rating_order import spelled
from tordinal.tables.results import Rating, Totals, card_of
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
    "Files",
    "Rated",
    "Source",
    "Survey",
    "find_files",
    "fit_on_all",
    "output_names",
    "sample_sizes",
]

SAMPLED_RATED, SAMPLED_OTHERS = 4000, 4000  # rows that a model is chosen on, at most
MOST_COUNTED = 2_000_000  # words counted at the same time; beyond, those of one row are forgotten
POLL = 1.0  # seconds between two checks of the futures


def find_files(pattern: str) -> list[str]:
    """The tables that a folder or a pattern names, in their order.

    Parameters
    ----------
    pattern : str
        A folder, or a pattern such as ``reviews/*.parquet``.

    Returns
    -------
    files : list of str
        Absolute paths.
    """
    if os.path.isdir(pattern):
        found = [p for p in sorted(Path(pattern).iterdir()) if not p.name.startswith((".", "_"))]
        files = [str(p) for p in found if p.is_file() and _is_table(p.name)]
    else:
        files = sorted(p for p in glob.glob(pattern, recursive=True) if os.path.isfile(p))
    if not files:
        raise TableError(f"{pattern}: no tables found; name a folder or a pattern of files")
    for file in files:
        if format_of(file).sheets:
            raise TableError(
                f"{file}: workbooks are not supported among many files; use Parquet or CSV"
            )
    return [os.path.abspath(file) for file in files]


def _is_table(name: str) -> bool:
    try:
        return bool(format_of(name))
    except TableError:
        return False


@dataclass(frozen=True)
class Source:
    """How every file is read.

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
        """Which rows hold something that is a rating."""
        cells = table[self.target]
        return np.array([is_rated(spelled(c), self.order, self.missing) for c in cells], dtype=bool)


# What runs on a worker ----------------------------------------------------------------------------


@dataclass
class Survey:
    """What a file holds: columns, rows, and how often each cell of the target."""

    names: list[str]
    rows: int
    cells: Counter[Any]
    order: list[str] | None


def survey(path: str, source: Source) -> Survey:
    """Look at a file."""
    table = source.table(path)
    find_columns([source.target], table.names, "target")
    cells = count_cells(source.target, table[source.target])
    return Survey(table.names, len(table), cells, table.orders.get(source.target))


def draw(path: str, source: Source, n_rated: int, n_others: int, seed: tuple[int, int]) -> Table:
    """Some rows of a file with a rating and some without one, drawn at random."""
    table = source.table(path)
    rng, rated = np.random.default_rng(seed), source.rated(table)
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


def words_of(path: str, source: Source, encoder: TableEncoder) -> dict[str, Counter[str]]:
    """In how many rows of a file each word is."""
    return encoder.count_words(source.table(path).features(source.target))


def encode(
    path: str, source: Source, encoder: TableEncoder, columns: Any, ratings: Ratings, only: bool
) -> Any:
    """The features of a file's rows, in one view; of those with a rating `only`, if so wanted."""
    table = source.table(path)
    if only:
        table = table.part(np.flatnonzero(ranks_of(table[source.target], ratings) >= 0).tolist())
    if len(table) == 0:
        n = len(encoder.get_feature_names_out()) if columns is None else len(columns)
        return sp.csr_matrix((0, n)) if encoder.views() else np.empty((0, n))
    X = encoder.transform(table.features(source.target))
    return X if columns is None else X[:, columns]


def labels_in(path: str, source: Source, ratings: Ratings, only: bool) -> NDArray[np.int64]:
    """The ranks of a file's rows, -1 where there is none."""
    rank = ranks_of(source.table(path)[source.target], ratings)
    return rank[rank >= 0] if only else rank


@dataclass
class Rated:
    """What came of rating a file, or several."""

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
    source: Source,
    model: TableModel,
    ratings: Ratings | None,
    probabilities: bool,
    abstain: float | None,
) -> Rated:
    """Rate the rows of a file and write them, with the ratings, as Parquet."""
    table, K = source.table(path), len(model.classes)
    features = table.features(source.target)
    p = model.rate(features)[2] if len(table) else np.empty((0, K))
    rank, given = p.argmax(axis=1), np.zeros(len(table), dtype=bool)
    if ratings is not None:
        known = ranks_of(table[source.target], ratings)
        given = known != UNLABELED
        rank = np.where(given, known, rank)
        p = np.where(given[:, None], np.eye(K)[rank], p)
    confidence = p[np.arange(len(rank)), rank]
    cells = table[source.target] if given.any() else None
    labels = original_labels(cells, given, model.classes, rank, one_type=True)
    answers = Answers.made(labels, confidence, given, p, model.classes, abstain)
    added = answers.columns(source.target, probabilities, list(range(len(table))), len(table))
    numbers = {name: [0.5] for name in added if not name.endswith(("_predicted", "_source"))}
    texts = {f"{source.target}_source": [""]}
    alike = {f"{source.target}_predicted": model.classes, **numbers, **texts}
    part = f"{out}.{os.getpid()}"  # two workers may have been given the same file
    with open(part, "wb") as file:
        write_parquet(table, added, file, alike)
        file.flush()
        os.fsync(file.fileno())
    os.replace(part, out)
    compared = (
        compare(model, table, labels)
        if ratings is None and source.target in table.names
        else Compared()
    )
    learned = np.empty(0, dtype=np.uint64)
    if given.any():
        learned = np.unique(fingerprints(features, model.used)[given])
    cells = model.encoder.compare(features) if ratings is None else []
    return Rated(Totals.of(rank, given, confidence, K), answers.unsure, learned, compared, cells)


def _same(value: Any) -> Any:
    return value


# What the driver does -----------------------------------------------------------------------------


@dataclass
class Files:
    """Tables in many files, on a cluster.

    Attributes
    ----------
    client : distributed.Client
        The cluster.
    paths : list of str
        The files.
    source : Source
        How they are read.
    listen : callable
        Told what is being done, how much of it, of how much.
    """

    client: Any
    paths: list[str]
    source: Source
    listen: Listener

    def each(
        self, what: str, work: Callable[..., Any], args: Sequence[tuple[Any, ...]]
    ) -> Iterator[tuple[int, Any]]:
        """Do something with every file; what came of each, by its place, as soon as it is known.

        Futures among the arguments are replaced by what they stand for. When the caller stops, or
        an error is raised, what has not been done is cancelled.
        """
        from distributed import wait

        self.listen(what, 0, len(args))
        futures = {
            self.client.submit(work, *given, pure=False): place for place, given in enumerate(args)
        }
        try:
            left = dict(futures)
            while left:
                try:
                    wait(list(left), timeout=POLL, return_when="FIRST_COMPLETED")
                except TimeoutError:
                    still_there(self.client)
                self.listen(what, len(args) - len(left), len(args))
                for future in [f for f in left if f.done()]:
                    place = left.pop(future)
                    if future.status != "finished":
                        raise lost(future, f"{self.paths[place]}", "split it into smaller files")
                    result = future.result()
                    future.release()
                    yield place, result
            self.listen(what, len(args), len(args))
        finally:
            self.client.cancel(list(futures))

    def shared(self, value: Any) -> Any:
        """Something that all tasks need: sent once, and made again if its worker is lost."""
        with warnings.catch_warnings():  # of what is large: it is meant to be
            warnings.filterwarnings("ignore", "Sending large graph")
            return self.client.submit(_same, value, pure=False)

    def survey(self) -> list[Survey]:
        """What the files hold; all must have the same columns."""
        args = [(path, self.source) for path in self.paths]
        found = dict(self.each("looking at the files", survey, args))
        surveys = [found[place] for place in range(len(self.paths))]
        for path, other in zip(self.paths, surveys, strict=True):
            odd = set(surveys[0].names) ^ set(other.names)
            if odd:
                raise TableError(
                    f"{path} and {self.paths[0]} have different columns: {sorted(odd)[0]!r} is "
                    "in one of them only"
                )
        return surveys

    def sample(self, rated: list[int], others: list[int], seed: int) -> Table:
        """A table of some rows of each file.

        Parameters
        ----------
        rated, others : list of int
            How many of each file, with a rating and without one.
        seed : int
            Seed of the choice.
        """
        args = [
            (path, self.source, n, m, (seed, place))
            for place, (path, n, m) in enumerate(zip(self.paths, rated, others, strict=True))
        ]
        parts = dict(self.each("drawing a sample", draw, args))
        tables = [parts[place] for place in range(len(self.paths)) if len(parts[place])]
        first = tables[0]
        return replace(
            first,
            columns=[[cell for table in tables for cell in table[name]] for name in first.names],
            numbers=[number for table in tables for number in table.numbers or ()],
        )

    def words(self, encoder: TableEncoder) -> dict[str, Counter[str]]:
        """In how many rows of all files each word is, by the column of texts."""
        shared = self.shared(encoder)
        args = [(path, self.source, shared) for path in self.paths]
        total: dict[str, Counter[str]] = {}
        for _, counts in self.each("counting words", words_of, args):
            for column, words in counts.items():
                mine = total.setdefault(column, Counter())
                mine.update(words)
                if len(mine) > MOST_COUNTED:
                    total[column] = Counter({word: n for word, n in mine.items() if n > 1})
        return total

    def features(
        self,
        encoder: TableEncoder,
        columns: NDArray[np.int64] | None,
        ratings: Ratings,
        sizes: list[int],
        *,
        only_rated: bool,
    ) -> tuple[Any, Any]:
        """Features and ranks of all rows as Dask arrays, a block for each file."""
        import dask.array as da
        from dask.delayed import delayed

        shared, n = self.shared(encoder), len(encoder.get_feature_names_out())
        n = n if columns is None else len(columns)
        places = None if columns is None else self.shared(columns)
        meta = sp.csr_matrix((0, 0)) if encoder.views() else np.empty((0, 0))
        X, y = [], []
        for path, rows in zip(self.paths, sizes, strict=True):
            given = (path, self.source)
            block = delayed(encode)(*given, shared, places, ratings, only_rated)
            X.append(da.from_delayed(block, (rows, n), np.float64, meta))
            labels = delayed(labels_in)(*given, ratings, only_rated)
            y.append(da.from_delayed(labels, (rows,), np.int64))
        return da.concatenate(X), da.concatenate(y)

    def rate(
        self,
        outs: list[str],
        model: TableModel,
        ratings: Ratings | None,
        *,
        probabilities: bool,
        abstain: float | None,
    ) -> Rated:
        """Rate and write every file."""
        shared = self.shared(model)
        args = [
            (path, out, self.source, shared, ratings, probabilities, abstain)
            for path, out in zip(self.paths, outs, strict=True)
        ]
        total: Rated | None = None
        for _, rated in self.each("rating and writing", rate_file, args):
            total = rated if total is None else total + rated
        assert total is not None  # there is at least one file
        return total


# The model of all rows ----------------------------------------------------------------------------


def output_names(paths: list[str]) -> list[str]:
    """Names of the rated files, relative to the folder that holds all inputs."""
    above = os.path.commonpath([os.path.dirname(path) for path in paths])
    outs = []
    for path in paths:
        name = os.path.relpath(path, above)
        while Path(name).suffix.lower() in (".gz", ".bz2", ".xz", ".zip"):
            name = name.removesuffix(Path(name).suffix)
        outs.append(str(Path(name).with_suffix(".parquet")))
    twice = [name for name, n in Counter(outs).items() if n > 1]
    if twice:
        raise TableError(f"two files would both become {twice[0]}; rename one of them")
    return outs


def sample_sizes(surveys: list[Survey], ratings: Ratings) -> tuple[list[int], list[int]]:
    """How many rows to draw from each file, with a rating and without one."""
    rated = [sum(n for cell, n in s.cells.items() if cell in ratings.rank) for s in surveys]
    others = [s.rows - n for s, n in zip(surveys, rated, strict=True)]
    return share_out(rated, SAMPLED_RATED), share_out(others, SAMPLED_OTHERS)


def share_out(sizes: list[int], most: int) -> list[int]:
    """Divide `most` in proportion to sizes; the sizes themselves if their sum is smaller.

    Examples
    --------
    >>> share_out([10, 30, 0], 4)
    [1, 3, 0]
    """
    total = sum(sizes)
    if total <= most:
        return sizes
    ends = np.floor(np.cumsum([0, *sizes]) * (most / total) + 0.5).astype(int)
    return np.minimum(np.diff(ends), sizes).tolist()


def fit_on_all(
    files: Files, rating: Rating, ratings: Ratings, surveys: list[Survey], method: str
) -> TableModel:
    """Fit the chosen model to all rows on the workers."""
    from tordinal import dask

    chosen, leader = rating.model, rating.leader
    encoder = chosen.encoder
    views, seen = encoder.views(), getattr(chosen.estimator, "views_", [None])[0]
    columns = views[seen] if views and seen else None
    transductive = isinstance(leader, TOR)
    rated = [sum(n for cell, n in s.cells.items() if cell in ratings.rank) for s in surveys]
    sizes = [s.rows for s in surveys] if transductive else rated
    X, y = files.features(encoder, columns, ratings, sizes, only_rated=not transductive)
    shared: dict[str, Any] = {"C": leader.C, "loss": leader.loss, "client": files.client}
    shared |= {"classes": list(range(len(ratings.classes)))}
    model: Any
    if transductive:
        free = rating.target.rank < 0
        ratio: Any = leader.class_ratio
        if ratio == "estimated":  # on the sample
            counts = np.bincount(leader.transduction_[free], minlength=len(ratings.classes))
            ratio = counts / counts.sum()
        C2_max = leader.C2_max
        if C2_max is not None:
            C2_max = min(rescale_C2(C2_max, free, sum(rated), sum(sizes)), leader.C)
        model = dask.TOR(
            swaps="optimal" if leader.swaps == "optimal" else "all", class_ratio=ratio,
            C2_max=C2_max, callback=lambda _, done, total: files.listen("all rows", done, total),
            **shared,
        )  # fmt: skip
    else:
        model = dask.REDSVM(**shared)
    files.listen("all rows", 0, 1)
    model.fit(X, y)
    sample = rating.X if columns is None else rating.X[:, columns]
    plain = model.to_local(leader, sample, columns=columns, n_features=rating.X.shape[1])
    whole = TableModel(encoder, plain, chosen.target, chosen.classes, {})
    whole.card = card_of(replace(rating, model=whole), method)
    whole.card["members"] = chosen.card["members"]
    return whole


def rescale_C2(C2_max: float, free: NDArray[np.bool_], n_rated: int, n_rows: int) -> float:
    """Rescale the largest C2 from a sample to all rows.

    The search makes it proportional to the ratio of rated to unrated rows, up to 1.

    Parameters
    ----------
    C2_max : float
        Its value for the sample.
    free : ndarray of bool
        Unrated rows of the sample.
    n_rated, n_rows : int
        Rated rows, and rows, of the whole.

    Returns
    -------
    C2_max : float
        Its value for the whole.

    Examples
    --------
    >>> rescale_C2(1.0, np.array([True, True, False, False]), 10, 110)
    0.1
    """
    in_sample = float(np.sum(~free) / np.sum(free))
    in_all = n_rated / (n_rows - n_rated)
    return C2_max * min(1.0, in_all) / min(1.0, in_sample)

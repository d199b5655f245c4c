"""Tables in many files: read, encoded and rated file by file on the workers.

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

from tordinal.engines.dask.waiting import lost, wait_for_workers
from tordinal.progress import Listener
from tordinal.tables.columns import TableEncoder
from tordinal.tables.files import format_of
from tordinal.tables.table import Table
from tordinal.tables.table_model import TableModel
from tordinal.tables.target import (
    Ratings,
)
from tordinal.tables.values import TableError
from tordinal.tables.worker import (
    Rated,
    Survey,
    TableReader,
    draw,
    encode,
    labels_in,
    rate_file,
    survey,
    words_of,
)

__all__ = ["Files", "find_files", "output_names", "sample_sizes"]

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


def _same(value: Any) -> Any:
    return value


@dataclass
class Files:
    """Tables in many files, on a cluster.

    Attributes
    ----------
    client : distributed.Client
        The cluster.
    paths : list of str
        The files.
    reader : TableReader
        How they are read.
    listen : callable
        Called with the current task, the steps done and the number of steps.
    """

    client: Any
    paths: list[str]
    reader: TableReader
    listen: Listener

    def each(
        self, what: str, work: Callable[..., Any], args: Sequence[tuple[Any, ...]]
    ) -> Iterator[tuple[int, Any]]:
        """Do something with every file; yield the place of each and its result, as they finish.

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
                    wait_for_workers(self.client)
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
        """Share a value among all tasks: it is sent once, and again if its worker is lost."""
        with warnings.catch_warnings():  # about its size, which is intended
            warnings.filterwarnings("ignore", "Sending large graph")
            return self.client.submit(_same, value, pure=False)

    def survey(self) -> list[Survey]:
        """Survey the files; all must have the same columns."""
        args = [(path, self.reader) for path in self.paths]
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
            (path, self.reader, n, m, (seed, place))
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
        """Number of rows of all files with each word, by column of texts."""
        shared = self.shared(encoder)
        args = [(path, self.reader, shared) for path in self.paths]
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
            given = (path, self.reader)
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
            (path, out, self.reader, shared, ratings, probabilities, abstain)
            for path, out in zip(self.paths, outs, strict=True)
        ]
        total: Rated | None = None
        for _, rated in self.each("rating and writing", rate_file, args):
            total = rated if total is None else total + rated
        assert total is not None  # there is at least one file
        return total


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
    rated = [survey.n_rated(ratings) for survey in surveys]
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

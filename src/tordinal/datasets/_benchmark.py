"""The paper's four benchmark datasets: Abalone, Bank, California, Census (section V-B)."""

import gzip
import os
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils import Bunch

from tordinal.datasets._download import Source, data_folder, locate
from tordinal.datasets._quantize import quantize

__all__ = ["fetch_abalone", "fetch_bank", "fetch_california", "fetch_census"]

TORGO = "https://www.dcc.fc.up.pt/~ltorgo/Regression"
ABALONE = Source(
    "https://archive.ics.uci.edu/ml/machine-learning-databases/abalone/abalone.data",
    "de37cdcdcaaa50c309d514f248f7c2302a5f1f88c168905eba23fe2fbc78449f",
    {},
)
BANK = Source(
    f"{TORGO}/bank32nh.tar.gz",
    None,
    {f"Bank32nh/bank32nh.{part}": f"bank/bank32nh.{part}" for part in ("data", "test")},
)
CALIFORNIA = Source(
    "https://ndownloader.figshare.com/files/5976036",
    "aaa5c9a6afe2225cc2aed2723682ae403280c4a3695a2ddda4ffb5d8215ea681",
    {"CaliforniaHousing/cal_housing.data": "california/cal_housing.data"},
)
CENSUS = Source(
    "https://github.com/EpistasisLab/pmlb/raw/253138e2aa4098734fb9154ec3570fbcad5f4197/"
    "datasets/574_house_16H/574_house_16H.tsv.gz",
    "a551e2941365201552a3a819f035c64f297467464f7c7c349d00711316ce3c57",
    {},
)
BANK_NAMES = (
    *(f"a{i}{what}" for i in (1, 2, 3) for what in ("cx", "cy", "sx", "sy", "rho", "pop")), "temp",
    *(f"b{i}{what}" for i in (1, 2, 3) for what in ("x", "y", "call", "eff")), "mxql",
)  # fmt: skip
CALIFORNIA_NAMES = (
    "longitude", "latitude", "housingMedianAge", "totalRooms", "totalBedrooms",
    "population", "households", "medianIncome",
)  # fmt: skip
ABALONE_NAMES = (
    "length", "diameter", "height",
    "whole_weight", "shucked_weight", "viscera_weight", "shell_weight",
)  # fmt: skip

Values = NDArray[np.float64]


def fetch_abalone(
    *,
    data_home: str | os.PathLike[str] | None = None,
    n_ranks: int = 5,
    standardize: bool = True,
    download_if_missing: bool = True,
    return_X_y: bool = False,
    as_frame: bool = False,
) -> Any:
    """Load the abalone dataset: the age of 4,177 shellfish from 8 measurements.

    Parameters
    ----------
    data_home : str or path, default=None
        Folder of the datasets. None: the environment variable ``TORDINAL_DATA``, or the user's
        cache.
    n_ranks : int, default=5
        Number of ranks; `quantize` cuts the target into them.
    standardize : bool, default=True
        Whether features have mean 0 and deviation 1.
    download_if_missing : bool, default=True
        Whether to download files that the folder does not have.
    return_X_y : bool, default=False
        Whether to return only the pair (data, target).
    as_frame : bool, default=False
        Whether data and target are pandas objects.

    Returns
    -------
    data : Bunch
        ``data``, ``target`` (ranks), ``target_values`` (the numbers they come from),
        ``feature_names``, ``rank_sizes``, ``DESCR`` and, with `as_frame`, ``frame``.

    Examples
    --------
    >>> from tordinal.datasets import fetch_abalone
    >>> data = fetch_abalone(data_home="shared/data")  # doctest: +SKIP
    >>> data.data.shape, data.rank_sizes  # doctest: +SKIP
    ((4177, 10), [839, 568, 689, 1121, 960])
    """
    which = BenchmarkSet(
        "Abalone",
        ["abalone/abalone.data"],
        ABALONE,
        _read_abalone,
        "rings",
        "Physical measurements of abalone; the target is the number of rings, which gives the age. "
        "The sex (male, female, infant) is coded as three columns of 0 and 1.",
        4177,
    )
    return _fetch(which, data_home, n_ranks, standardize, download_if_missing, return_X_y, as_frame)


def fetch_bank(
    *,
    data_home: str | os.PathLike[str] | None = None,
    n_ranks: int = 5,
    standardize: bool = True,
    download_if_missing: bool = True,
    return_X_y: bool = False,
    as_frame: bool = False,
) -> Any:
    """Load the bank dataset (bank-32nh): 8,192 simulations of queues in banks from 32 features.

    The target is the share of customers who leave the queue.

    Parameters
    ----------
    data_home, n_ranks, standardize, download_if_missing, return_X_y, as_frame
        As in `fetch_abalone`.

    Returns
    -------
    data : Bunch
        As in `fetch_abalone`.

    Examples
    --------
    >>> from tordinal.datasets import fetch_bank
    >>> fetch_bank(data_home="shared/data").data.shape  # doctest: +SKIP
    (8192, 32)
    """
    which = BenchmarkSet(
        "Bank",
        ["bank/bank32nh.data", "bank/bank32nh.test"],
        BANK,
        _read_bank,
        "rej",
        "A simulation of queues in banks; the target is the share of customers turned away. "
        "A fifth of the targets is exactly 0.",
        8192,
    )
    return _fetch(which, data_home, n_ranks, standardize, download_if_missing, return_X_y, as_frame)


def fetch_california(
    *,
    data_home: str | os.PathLike[str] | None = None,
    n_ranks: int = 5,
    standardize: bool = True,
    download_if_missing: bool = True,
    return_X_y: bool = False,
    as_frame: bool = False,
) -> Any:
    """Load the California housing dataset: the median house value of 20,640 blocks from 8 features.

    Parameters
    ----------
    data_home, n_ranks, standardize, download_if_missing, return_X_y, as_frame
        As in `fetch_abalone`.

    Returns
    -------
    data : Bunch
        As in `fetch_abalone`.

    Examples
    --------
    >>> from tordinal.datasets import fetch_california
    >>> fetch_california(data_home="shared/data").data.shape  # doctest: +SKIP
    (20640, 8)
    """
    which = BenchmarkSet(
        "California",
        ["california/cal_housing.data"],
        CALIFORNIA,
        _read_california,
        "medianHouseValue",
        "Blocks of the census of 1990 in California; the target is the median value of a house, "
        "capped at 500,001.",
        20640,
    )
    return _fetch(which, data_home, n_ranks, standardize, download_if_missing, return_X_y, as_frame)


def fetch_census(
    *,
    data_home: str | os.PathLike[str] | None = None,
    n_ranks: int = 5,
    standardize: bool = True,
    download_if_missing: bool = True,
    return_X_y: bool = False,
    as_frame: bool = False,
) -> Any:
    """Load the census dataset (house-16H): the median house price in 22,784 US regions.

    Parameters
    ----------
    data_home, n_ranks, standardize, download_if_missing, return_X_y, as_frame
        As in `fetch_abalone`.

    Returns
    -------
    data : Bunch
        As in `fetch_abalone`.

    Examples
    --------
    >>> from tordinal.datasets import fetch_census
    >>> fetch_census(data_home="shared/data").data.shape  # doctest: +SKIP
    (22784, 16)
    """
    which = BenchmarkSet(
        "Census",
        ["census/574_house_16H.tsv.gz"],
        CENSUS,
        _read_census,
        "price",
        "Regions of the census of 1990 in the United States; the target is the median price of a "
        "house.",
        22784,
    )
    return _fetch(which, data_home, n_ranks, standardize, download_if_missing, return_X_y, as_frame)


@dataclass(frozen=True)
class BenchmarkSet:
    """A dataset: its name, files, source, reader, target, description and number of rows."""

    name: str
    files: list[str]
    source: Source
    read: Callable[[list[Path]], tuple[Values, Values, list[str]]]
    target: str
    about: str
    rows: int


def _fetch(
    which: BenchmarkSet,
    data_home: Any,
    n_ranks: int,
    standardize: bool,
    download_if_missing: bool,
    return_X_y: bool,
    as_frame: bool,
) -> Any:
    """Find the files, read them, rank the target, and wrap all in a Bunch."""
    home = data_folder(data_home)
    paths = [
        locate(file, home, which.source, download_if_missing=download_if_missing)
        for file in which.files
    ]
    X, values, names = which.read(paths)
    if standardize:
        deviation = X.std(axis=0)
        X = (X - X.mean(axis=0)) / np.where(deviation > 0, deviation, 1.0)
    if len(values) != which.rows:
        warnings.warn(
            f"{', '.join(map(str, paths))}: {len(values):,} rows, but the {which.name} dataset has "
            f"{which.rows:,}; the file may be truncated or another one",
            stacklevel=3,
        )
    rank, counts = quantize(values, n_ranks, return_sizes=True)
    sizes = counts.tolist()
    description = (
        f"{which.name}: {which.about}\n\n"
        f"{len(rank):,} rows, {X.shape[1]} features{', standardised' if standardize else ''}. "
        f"The target {which.target!r} is cut into {n_ranks} ranks of equal frequency without "
        f"splitting ties; they have {sizes} rows.\n"
        f"Source: {which.source.url}\n"
    )
    data: Any = X
    target: Any = rank
    frame = None
    if as_frame:
        data = pd.DataFrame(X, columns=names)
        target = pd.Series(rank, name=which.target)
        frame = data.assign(**{which.target: target})
    if return_X_y:
        return data, target
    return Bunch(
        data=data,
        target=target,
        target_values=values,
        feature_names=names,
        target_names=[which.target],
        rank_sizes=sizes,
        frame=frame,
        DESCR=description,
    )


def _numbers(
    path: Path, delimiter: str | None, n_columns: int, *, skip: int = 0, first: bool = False
) -> Any:
    """Read rows of numbers; the error names a damaged line.

    With `first`, the first column is text, which is returned separately with line numbers.
    """
    rows: list[list[float]] = []
    labels: list[tuple[int, str]] = []
    number = 0
    with (
        gzip.open(path, "rt", encoding="ascii")
        if path.suffix == ".gz"
        else path.open(encoding="ascii") as lines
    ):
        try:
            for number, line in enumerate(lines, start=1):
                cells = line.strip().split(delimiter)
                if number <= skip or cells == [""] or not cells:
                    continue
                try:
                    if first:
                        labels.append((number, cells.pop(0)))
                    # Python accepts 1_000 as a number; data files do not contain it.
                    row = [float(cell.replace("_", "?")) for cell in cells]
                except ValueError as error:
                    raise ValueError(f"{path}: line {number} is damaged: {error}") from None
                if len(row) != n_columns or not np.isfinite(row).all():
                    finite = int(np.isfinite(row).sum())
                    raise ValueError(
                        f"{path}: line {number} has {finite} finite numbers, not {n_columns}"
                    )
                rows.append(row)
        except (EOFError, OSError, UnicodeDecodeError) as error:
            raise ValueError(f"{path}: damaged after line {number}: {error}") from None
    if not rows:
        raise ValueError(f"{path} is empty")
    return (np.array(rows), labels) if first else np.array(rows)


def _read_abalone(paths: list[Path]) -> tuple[Values, Values, list[str]]:
    values, sex = _numbers(paths[0], ",", 8, first=True)
    for number, letter in sex:
        if letter not in ("M", "F", "I"):
            raise ValueError(
                f"{paths[0]}: line {number} is damaged: sex {letter!r} is not M, F or I"
            )
    coded = np.array([[letter == s for s in "MFI"] for _, letter in sex], dtype=np.float64)
    return (
        np.hstack([coded, values[:, :-1]]),
        values[:, -1],
        ["male", "female", "infant", *ABALONE_NAMES],
    )


def _read_bank(paths: list[Path]) -> tuple[Values, Values, list[str]]:
    values = np.vstack([_numbers(path, None, 33) for path in paths])
    return values[:, :-1], values[:, -1], list(BANK_NAMES)


def _read_california(paths: list[Path]) -> tuple[Values, Values, list[str]]:
    values = _numbers(paths[0], ",", 9)
    return values[:, :-1], values[:, -1], list(CALIFORNIA_NAMES)


def _read_census(paths: list[Path]) -> tuple[Values, Values, list[str]]:
    try:
        with gzip.open(paths[0], "rt", encoding="ascii") as lines:
            names = lines.readline().strip().split("\t")
    except (EOFError, OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{paths[0]}: line 1 is damaged: {error}") from None
    if len(names) != 17 or names[-1] != "target":
        raise ValueError(f"{paths[0]}: line 1 is damaged: it should name 16 features and 'target'")
    values = _numbers(paths[0], "\t", 17, skip=1)
    return values[:, :-1], values[:, -1], names[:-1]

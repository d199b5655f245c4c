"""The cells of the study: which runs a figure needs, and how one is run."""

import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tordinal.datasets import (
    fetch_abalone,
    fetch_amazon_reviews,
    fetch_bank,
    fetch_california,
    fetch_census,
    make_ordinal_clusters,
)
from tordinal.distances import Matrix
from tordinal.experiments.methods import OURS, PAPER, Split, choose_C, run_method
from tordinal.experiments.origin import origin
from tordinal.metrics import mean_absolute_error, mean_zero_one_error
from tordinal.text import ReviewVectorizer, TextViews

__all__ = [
    "BENCHMARK",
    "FIGURES",
    "HELD_FOR_LABELS",
    "LABELS",
    "MANY_LABELS",
    "REALIZATIONS",
    "SENTIMENT",
    "Cell",
    "cells_of",
    "run_cell",
]

BENCHMARK = ("abalone", "bank", "california", "census")
SENTIMENT = ("books", "dvd", "electronics", "kitchen")
REALIZATIONS = 20
LABELS = (100, 150, 200, 250, 300, 350, 400)
MANY_LABELS = (100, 200, 400, 600, 800, 1000)  # Fig. 12, as far as 2,000 reviews allow
STRENGTHS = tuple(round(0.1 * k, 1) for k in range(10))  # p of Algorithm 3
C_SWEEP = tuple(10.0**k for k in range(-3, 4))  # Fig. 9
# Methods beyond the paper, if not all: TORCV has no labels before its swaps (Fig. 12).
BEYOND = {"sensitivity": (), "swapping": ("TOR, optimal swaps",)}
LARGE = ("california", "census")  # on which methods beyond the paper have fewer runs
LARGE_LABELS, LARGE_REALIZATIONS = (100, 200, 400), 5
HELD_FOR_LABELS = 400  # rows from which the labelled ones are drawn; all others are unlabelled
# Figures that are two views of the same runs share a study.
FIGURES = {
    "fig5": "benchmark",
    "fig6": "benchmark",
    "fig7": "synthetic",
    "fig8": "synthetic",
    "fig9": "sensitivity",
    "fig10": "sentiment",
    "fig11": "sentiment",
    "fig12": "swapping",
}
FETCH = {
    "abalone": fetch_abalone,
    "bank": fetch_bank,
    "california": fetch_california,
    "census": fetch_census,
}


@dataclass(frozen=True)
class Cell:
    """One run: a method on one realisation of a dataset.

    Attributes
    ----------
    study : {"benchmark", "synthetic", "sensitivity", "sentiment", "swapping"}
        The study that it belongs to.
    dataset, method : str
        The dataset, and the method to run.
    labels, seed : int
        Labelled rows, and the realisation.
    setting : float or None
        p of Algorithm 3, or C1 of the sensitivity study.
    """

    study: str
    dataset: str
    method: str
    labels: int
    seed: int
    setting: float | None = None

    @property
    def key(self) -> tuple[Any, ...]:
        """Its identity in the table of results."""
        return self.study, self.dataset, self.method, self.labels, self.seed, self.setting


def cells_of(
    figure: str,
    *,
    realizations: int = REALIZATIONS,
    labels: tuple[int, ...] | None = None,
    datasets: tuple[str, ...] | None = None,
    ours: bool = False,
) -> Iterator[Cell]:
    """The runs that a figure needs, the first realisation of everything first.

    Parameters
    ----------
    figure : str
        One of `FIGURES`.
    realizations : int
        How many; the seeds are 0, 1, ...
    labels, datasets : tuple or None
        Restrict to these.
    ours : bool
        Whether to add the methods beyond the paper.

    Yields
    ------
    cell : Cell
        A run.

    Examples
    --------
    >>> len(list(cells_of("fig10", realizations=1, labels=(100,))))
    12
    """
    study = FIGURES[figure]
    extra = BEYOND.get(study, OURS) if ours else ()
    for seed in range(realizations):
        if study == "synthetic":
            for p in STRENGTHS if datasets is None or "clusters" in datasets else ():
                for method in ("TOR", *extra):
                    yield Cell(study, "clusters", method, 200, seed, p)
            continue
        names = {"benchmark": BENCHMARK, "sensitivity": ("bank", "census")}.get(study, SENTIMENT)
        for name in names:
            if datasets is not None and name not in datasets:
                continue
            if study == "sensitivity":
                for C in C_SWEEP:
                    for method in ("RED-SVM", "TOR"):
                        yield Cell(study, name, method, 400, seed, C)
                continue
            methods = {
                "benchmark": PAPER,
                "sentiment": ("RED-SVM", "M-TSVM", "TOR"),
                "swapping": ("TOR",),
            }[study]
            for n in labels or (MANY_LABELS if study == "swapping" else LABELS):
                few = name in LARGE and (n not in LARGE_LABELS or seed >= LARGE_REALIZATIONS)
                for method in methods if few else (*methods, *extra):
                    yield Cell(study, name, method, n, seed)


Views = dict[str, NDArray[np.int64]]


@lru_cache(maxsize=2)
def load(
    name: str, data_home: str | None, *, views: bool = False
) -> tuple[Matrix, NDArray[np.int64], Views | None]:
    """Features and ranks of a dataset, prepared as in the paper; texts also in several views."""
    if name in FETCH:
        return *FETCH[name](data_home=data_home, return_X_y=True), None
    texts, stars = fetch_amazon_reviews(name, data_home=data_home, return_X_y=True)
    if views:
        seen = TextViews()
        X = seen.fit_transform(texts)
        return X, stars, seen.views_
    return ReviewVectorizer().fit_transform(texts), stars, None


def run_cell(cell: Cell, data_home: str | None = None, engine: str = "host") -> dict[str, Any]:
    """Run one cell.

    Parameters
    ----------
    cell : Cell
        What to run.
    data_home : str or None
        Folder of the datasets.
    engine : {"host", "cuda", "auto"}
        Where kernel models are fitted.

    Returns
    -------
    result : dict
        A line for the table of results.
    """
    if cell.study == "synthetic":
        X, y = make_ordinal_clusters(2500, p=float(cell.setting or 0.0), random_state=cell.seed)
        kernel, pool, views = "linear", 200, None
    else:
        X, y, views = load(cell.dataset, data_home, views=cell.method == "TORCV")
        kernel = "perceptron" if cell.dataset in BENCHMARK else "linear"
        pool = max(MANY_LABELS) if cell.study == "swapping" else HELD_FOR_LABELS
    order = np.random.RandomState(cell.seed).permutation(len(y))
    labeled, unlabeled = order[: cell.labels], order[max(pool, cell.labels) :]
    if len(unlabeled) == 0 or len(labeled) < cell.labels:
        raise ValueError(
            f"{cell.dataset} has {len(y)} rows, too few for {cell.labels} labels and rows to label"
        )
    split = Split(X, y, labeled, unlabeled, views, engine)
    start = time.perf_counter()
    if cell.study == "sensitivity":
        C = float(cell.setting or 1.0)
    else:
        C = choose_C(cell.method, kernel, split, cell.seed)
    outcome = run_method(cell.method, C, kernel, split)
    seconds = time.perf_counter() - start
    truth, ranks = y[unlabeled], np.unique(y)
    result = {
        **asdict(cell),
        "C1": None if np.isnan(C) else C,
        "zero_one": mean_zero_one_error(truth, outcome.labels),
        "mae": mean_absolute_error(truth, outcome.labels),
        "rank_mae": mean_absolute_error(truth, outcome.labels, classes=ranks),
        "trainings": outcome.trainings,
        "swaps": outcome.swaps,
        "rises": outcome.rises,
        "unlabeled": len(unlabeled),
        "seconds": round(seconds, 3),
        "engine": engine,
        **origin(),
    }
    if outcome.initial is not None:
        result["initial_zero_one"] = mean_zero_one_error(truth, outcome.initial)
        result["initial_mae"] = mean_absolute_error(truth, outcome.initial)
        result["initial_rank_mae"] = mean_absolute_error(truth, outcome.initial, classes=ranks)
    return result

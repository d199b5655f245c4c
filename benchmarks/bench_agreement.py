"""Whether this machine and a Dask cluster give 6,000 reviews the same pseudo-labels."""

import warnings
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.harness import show, timed

DOMAINS = ("books", "dvd", "electronics")  # 2,000 reviews each
LABELED, BLOCK = 300, 1000
SWAPS: tuple[Any, ...] = ("single", "all", "optimal", 10)
TOL = 1e-6


def reviews(data: Path) -> tuple[sp.csr_matrix, np.ndarray]:
    """TF-IDF of the reviews in a random order, and their stars."""
    from tordinal.datasets import fetch_amazon_reviews
    from tordinal.text import ReviewVectorizer

    parts = [fetch_amazon_reviews(name, data_home=data, return_X_y=True) for name in DOMAINS]
    texts = [text for part, _ in parts for text in part]
    stars = np.concatenate([part for _, part in parts])
    order = np.random.default_rng(0).permutation(len(stars))
    X = ReviewVectorizer().fit_transform([texts[i] for i in order])
    return sp.csr_matrix(X), stars[order]


def compared(X: sp.csr_matrix, y: np.ndarray, loss: str, swaps: Any) -> dict[str, Any]:
    """One fit on this machine, and the same on the cluster."""
    import dask.array as da

    import tordinal
    import tordinal.dask

    n = len(y)
    hidden = np.where(np.arange(n) < LABELED, y, -1)
    blocks = [da.from_array(X[i : i + BLOCK], chunks=-1, asarray=False) for i in range(0, n, BLOCK)]
    here, seconds = timed(
        lambda: tordinal.TOR(loss=loss, swaps=swaps, tol=TOL, kernel="linear").fit(X, hidden)
    )
    there, on_cluster = timed(
        lambda: tordinal.dask.TOR(loss=loss, swaps=swaps, tol=TOL).fit(
            da.concatenate(blocks), hidden
        )
    )
    free = hidden == -1
    same = (here.transduction_ == there.transduction_.compute())[free]
    predicted = here.predict(X) == there.predict(X)
    return {
        "loss": loss, "swaps": swaps, "same pseudo-labels, %": 100 * float(same.mean()),
        "different": int((~same).sum()), "same predictions, %": 100 * float(predicted.mean()),
        "objective, relative": there.objective_ / here.objective_ - 1,
        "trainings here": len(here.history_), "on the cluster": len(there.history_),
        "seconds here": seconds, "seconds on the cluster": on_cluster,
    }  # fmt: skip


def pairs(data: Path, combinations: Any) -> Iterator[dict[str, Any]]:
    """One line for each loss and way to swap."""
    from distributed import Client, LocalCluster

    warnings.simplefilter("ignore")
    X, y = reviews(data)
    with LocalCluster(
        n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None,
        silence_logs=50,
    ) as cluster, Client(cluster):  # fmt: skip
        for loss, swaps in combinations:
            yield compared(X, y, loss, swaps)


def run(quick: bool, data: Path) -> list[dict[str, Any]]:
    from tordinal.losses import LOSSES

    losses = ("hinge", "squared_hinge") if quick else tuple(LOSSES)
    rows = []
    for row in pairs(data, product(losses, ("optimal",) if quick else SWAPS)):
        print(row, flush=True)
        rows.append(row)
    show(f"Host and cluster, tol={TOL:g}, {LABELED} of 6,000 reviews labelled", rows)
    return rows

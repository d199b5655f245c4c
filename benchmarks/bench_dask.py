"""TOR beyond one machine: the local engine, and Dask clusters of 1 and 2 workers on its cores."""

import multiprocessing
import resource
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.bench_linear import FEATURES, text_rows
from benchmarks.harness import measure, show

RANKS, BLOCK, LABELED = 5, 50_000, 100  # one row of a hundred is labelled
SETTINGS = {"swaps": "optimal", "C2_start": 0.1}
GIB = 2**30


def block(number: int, rows: int = BLOCK) -> tuple[sp.csr_matrix, np.ndarray]:
    """Some rows with their labels, most of them hidden."""
    X, y = text_rows(rows, RANKS, seed=1000 + number, words=0)
    return X, np.where(np.arange(rows) % LABELED == 0, y, -1)


def rows_of(number: int) -> sp.csr_matrix:
    return block(number)[0]


def labels_of(number: int) -> np.ndarray:
    return block(number)[1]


def local(n: int, loss: str) -> dict[str, Any]:
    from tordinal import TOR

    parts = [block(i) for i in range(n // BLOCK)]
    X, y = sp.vstack([p[0] for p in parts], format="csr"), np.concatenate([p[1] for p in parts])
    TOR(loss=loss, kernel="linear", **SETTINGS).fit(X[:2000], y[:2000])  # compiled before
    start, cpu = time.perf_counter(), time.process_time()
    model = TOR(loss=loss, kernel="linear", **SETTINGS).fit(X, y)
    return {
        "seconds": time.perf_counter() - start, "CPU s": time.process_time() - cpu,
        "objective": model.objective_, "trainings": len(model.history_),
        "labels": np.bincount(model.transduction_).tolist(), "MB of X": _mb(X),
    }  # fmt: skip


def _mb(X: sp.csr_matrix) -> float:
    return (X.data.nbytes + X.indices.nbytes + X.indptr.nbytes) / 2**20


def clustered(
    n: int, loss: str, workers: int, memory: str | None, settings: dict[str, Any]
) -> dict[str, Any]:
    """One fit on a cluster of processes; rows are made block by block on the workers."""
    import dask
    import dask.array as da
    from distributed import Client, LocalCluster, wait

    from tordinal.dask import TOR

    warnings.simplefilter("ignore")
    options = {} if memory is None else {"memory_limit": memory}
    with LocalCluster(
        n_workers=workers, threads_per_worker=1, dashboard_address=None, silence_logs=50, **options
    ) as cluster, Client(cluster):  # fmt: skip
        X = da.concatenate([
            da.from_delayed(
                dask.delayed(rows_of)(i), (BLOCK, FEATURES), np.float32, sp.csr_matrix((0, 0))
            )
            for i in range(n // BLOCK)
        ])  # fmt: skip
        y = da.concatenate([
            da.from_delayed(dask.delayed(labels_of)(i), (BLOCK,), int) for i in range(n // BLOCK)
        ])  # fmt: skip
        TOR(loss=loss, **SETTINGS).fit(X[:BLOCK][:2000], y[:BLOCK][:2000])  # compiled before
        if memory is None:
            X, y = X.persist(), y.persist()
            wait([X, y])
        start = time.perf_counter()
        model = TOR(loss=loss, **settings).fit(X, y)
        seconds = time.perf_counter() - start
        counts = da.bincount(model.transduction_, minlength=RANKS).compute()
        return {
            "seconds": seconds, "objective": model.objective_, "trainings": len(model.history_),
            "round trips": model.n_round_trips_,
            "ms a round trip": 1000 * seconds / model.n_round_trips_,
            "kB a round trip": model.n_bytes_ / 1000 / model.n_round_trips_,
            "labels": counts.tolist(),
            "driver MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        }  # fmt: skip


def alone(work: Any, *args: Any) -> dict[str, Any]:
    """Run in a fresh process that may have children, as workers are."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(work, *args).result()


def run(quick: bool, data: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for n in (100_000,) if quick else (200_000, 800_000):
        for loss in ("squared_hinge", "hinge") if quick else ("squared_hinge",):
            here = measure(local, n, loss)
            print(n, loss, here, flush=True)
            mine = [{"rows": n, "loss": loss, "where": "this process", "workers": 0, **here}]
            for workers in (1, 2):
                there = alone(clustered, n, loss, workers, None, SETTINGS)
                print(n, loss, workers, there, flush=True)
                there["times local"] = there["seconds"] / here["seconds"]
                there["objective - local, relative"] = there["objective"] / here["objective"] - 1
                mine.append(
                    {"rows": n, "loss": loss, "where": "cluster", "workers": workers, **there}
                )
            rows += mine
    keys = ("rows", "loss", "where", "workers", "seconds", "times local", "round trips",
            "ms a round trip", "kB a round trip", "objective - local, relative",
            "driver MB")  # fmt: skip
    show("TOR, five ranks, 1 % labelled", [{k: r.get(k, "") for k in keys} for r in rows])
    if not quick:
        gib = 3 * GIB
        n = int(gib / (_mb(rows_of(0)) * 2**20)) * BLOCK
        # One level of C2, so that the run is about memory and ends within minutes.
        settings = {"swaps": "optimal", "C2_start": 1e-3, "C2_max": 1e-3}
        there = alone(clustered, n, "squared_hinge", 4, "1.5GiB", settings)
        print(n, there, flush=True)
        rows.append({"rows": n, "loss": "squared_hinge", "where": "cluster, 1.5 GiB each",
                     "workers": 4, **there})  # fmt: skip
    return rows

"""Linear models of text-like rows: TOR on up to 800,000, beside LinearSVC on all labels."""

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.harness import measure, show, timed

LABELS, FEATURES, WORDS, OPINIONS, LEXICON = 1000, 47_000, 75, 12, 400


def text_rows(
    n: int, n_ranks: int, dtype: Any = np.float32, seed: int = 0, words: int | None = None
) -> tuple[sp.csr_matrix, np.ndarray]:
    """Rows of unit length with Zipf-distributed words.

    A few of the words are opinions near the row's place on a scale; `words` is the seed by which
    they are chosen, where blocks of the same rows have seeds of their own.
    """
    rng = np.random.default_rng(seed)
    share = 1.0 / (np.arange(FEATURES) + 10.0)
    share /= share.sum()
    cumulative = np.cumsum(share)
    cumulative[-1] = 1.0
    chooser = rng if words is None else np.random.default_rng(words)
    lexicon = chooser.choice(5000, LEXICON, replace=False)
    parts, places = [], []
    for start in range(0, n, 50_000):
        rows = min(50_000, n - start)
        place = rng.random(rows)
        terms = np.searchsorted(cumulative, rng.random((rows, WORDS))).astype(np.int32)
        near = (place[:, None] + 0.25 * rng.normal(size=(rows, OPINIONS))) * LEXICON
        terms[:, :OPINIONS] = lexicon[np.clip(near, 0, LEXICON - 1).astype(int)]
        terms.sort(axis=1)
        first = np.ones_like(terms, dtype=bool)
        first[:, 1:] = terms[:, 1:] != terms[:, :-1]
        lengths, found = first.sum(axis=1), terms[first]
        values = np.log(1.0 / share[found]) * rng.gamma(4.0, 0.25, size=len(found))
        ends = np.concatenate([[0], np.cumsum(lengths)])
        values /= np.repeat(np.sqrt(np.add.reduceat(values * values, ends[:-1])), lengths)
        parts.append(sp.csr_matrix((values.astype(dtype), found, ends), shape=(rows, FEATURES)))
        places.append(place)
    rank = np.minimum((np.concatenate(places) * n_ranks).astype(int), n_ranks - 1)
    return sp.vstack(parts, format="csr"), rank


def store(folder: str, n: int, n_ranks: int) -> dict[str, Any]:
    """Make the rows in a process of their own, so that the memory this takes is not counted."""
    X, y = text_rows(n, n_ranks)
    for name, values in (("data", X.data), ("indices", X.indices), ("indptr", X.indptr), ("y", y)):
        np.save(f"{folder}/{name}.npy", values)
    return {}


def load(folder: str) -> tuple[sp.csr_matrix, np.ndarray]:
    data, indices, indptr, y = (
        np.load(f"{folder}/{name}.npy") for name in ("data", "indices", "indptr", "y")
    )
    return sp.csr_matrix((data, indices, indptr), shape=(len(y), FEATURES)), y


def tor(n: int, n_ranks: int, parameters: dict[str, Any]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        measure(store, folder, n, n_ranks)
        return measure(fit, folder, parameters)


def fit(folder: str, parameters: dict[str, Any]) -> dict[str, Any]:
    from tordinal import TOR

    X, y = load(folder)
    n = len(y)
    known = np.random.default_rng(1).permutation(n)[:LABELS]
    hidden = np.full(n, -1)
    hidden[known] = y[known]
    small = np.where(np.arange(2000) < 200, y[:2000], -1)
    TOR(kernel="linear", swaps="all", **parameters).fit(X[:2000], small)  # compiles
    model, seconds = timed(lambda: TOR(kernel="linear", swaps="all", **parameters).fit(X, hidden))
    rest = hidden == -1
    return {
        "seconds": seconds, "trainings": len(model.history_), "passes": model.n_iter_,
        "swaps": int(sum(r["swaps"] for r in model.history_)),
        "data_mb": (X.data.nbytes + X.indices.nbytes + X.indptr.nbytes) / 2**20,
        "error": float(np.mean(np.abs(model.transduction_ - y)[rest])),
        "supervised": float(np.mean(np.abs(model.initial_labels_ - y)[rest])),
        "dtype": str(X.dtype),
    }  # fmt: skip


def linear_svc(n: int) -> dict[str, Any]:
    from sklearn.svm import LinearSVC

    X, y = text_rows(n, 2, np.float64)  # its solver copies anything else to float64
    model, seconds = timed(
        lambda: LinearSVC(loss="squared_hinge", dual=False, C=1.0, tol=1e-4).fit(X, y)
    )
    return {"seconds": seconds, "error": float(np.mean(model.predict(X) != y))}


def run(quick: bool, data: Path) -> list[dict[str, Any]]:
    sizes = [5_000, 10_000] if quick else [50_000, 200_000, 800_000]
    rows, last = [], {}
    for loss in ("squared_hinge", "hinge"):
        for n in sizes:
            a = tor(n, 5, {"loss": loss})
            growth = ""
            if n != sizes[0]:
                before = sizes[sizes.index(n) - 1]
                growth = f"{np.log(a['seconds'] / last[loss]) / np.log(n / before):.2f}"
            last[loss] = a["seconds"]
            rows.append({
                "TOR, K = 5, swaps all": loss, "rows": n, "s": a["seconds"],
                "trainings": a["trainings"], "swaps": a["swaps"],
                "peak MB": a["peak_mb"], "data MB": a["data_mb"], "growth: s ~ rows^": growth,
                "MAE": a["error"], "MAE before swaps": a["supervised"],
            })  # fmt: skip
            show("Linear TOR", rows)
    yardstick = []
    for n in sizes:
        peer = measure(linear_svc, n)
        svmlin = tor(
            n, 2, {"loss": "squared_hinge", "C": 0.5, "C2_max": 1.0 / (2 * (n - LABELS) * 0.001)}
        )
        whole = tor(n, 2, {"loss": "squared_hinge", "C": 1.0})
        yardstick += [
            {
                "TOR, K = 2, squared hinge": name, "rows": n, "s": a["seconds"],
                "trainings": a["trainings"], "peak MB": a["peak_mb"],
                "LinearSVC, all labels, s": peer["seconds"], "its peak MB": peer["peak_mb"],
                "times LinearSVC": a["seconds"] / peer["seconds"],
                "error": a["error"], "error before swaps": a["supervised"],
            }
            for name, a in (
                ("C 0.5, C2_max 1/(2u 0.001)", svmlin), ("C 1, C2_max untouched", whole)
            )
        ]  # fmt: skip
        show("Beside LinearSVC", yardstick)
    return rows + yardstick

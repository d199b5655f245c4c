"""Errors on real data with 60 labels: TORCV, TOR, REDSVM, mord, skordinal and scikit-learn."""

import json
import re
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed

from benchmarks.harness import show

LABELS, SEEDS = 60, 10
ORDINAL = ("ERA", "ESL", "LEV", "SWD", "car", "balance-scale")
AMAZON = ("books", "dvd", "electronics", "kitchen")
PAIRS = (("TOR", "REDSVM"), ("TORCV", "TORCV supervised"))


def load(data: Path, name: str) -> tuple[Any, np.ndarray]:
    """Standardised features, or tf-idf of the reviews, and ranks from 0.

    Classes of fewer than 15 rows join a neighbour.
    """
    if name in AMAZON:
        from sklearn.feature_extraction.text import TfidfVectorizer

        texts, stars = [], []
        for part in ("positive", "negative"):
            content = (data / "amazon" / name / f"{part}.review").read_text(encoding="latin-1")
            for review in content.split("<review>")[1:]:
                stars.append(float(re.search(r"<rating>\s*([\d.]+)", review)[1]))
                texts.append(re.search(r"<review_text>(.*?)</review_text>", review, re.DOTALL)[1])
        X = TfidfVectorizer(stop_words="english", min_df=2, sublinear_tf=True).fit_transform(texts)
        y = np.array(stars)
    else:
        text = data / "ordinal" / name / f"{name}.txt"
        table = (
            np.loadtxt(text)
            if text.exists()
            else np.loadtxt(data / "ordinal-csv" / f"{name}.csv", delimiter=",")
        )
        X, y = table[:, :-1], table[:, -1]
        X = (X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0, X.std(axis=0), 1.0)
    y = np.unique(y, return_inverse=True)[1]
    while (counts := np.bincount(y)).min() < 15:
        k = int(np.argmin(counts))
        neighbours = [j for j in (k - 1, k + 1) if 0 <= j < len(counts)]
        y[y == k] = min(neighbours, key=lambda j: counts[j])
        y = np.unique(y, return_inverse=True)[1]
    return X, y


def choose(y: np.ndarray, seed: int) -> np.ndarray:
    """Rows whose labels are kept: two of each class, the others at random."""
    rng = np.random.default_rng(seed)
    kept = np.concatenate([rng.permutation(np.flatnonzero(y == k))[:2] for k in np.unique(y)])
    others = rng.permutation(np.setdiff1d(np.arange(len(y)), kept))
    return np.concatenate([kept, others[: LABELS - len(kept)]])


def in_span(X: Any, kept: np.ndarray) -> np.ndarray:
    """Coordinates in the span of the labelled rows: all a regularised linear model can use."""
    K = np.asarray((X[kept] @ X[kept].T).todense())
    values, vectors = np.linalg.eigh(K)
    good = values > 1e-9 * values.max()
    return np.asarray((X @ X[kept].T).todense()) @ (vectors[:, good] / np.sqrt(values[good]))


def methods(text: bool) -> dict[str, Any]:
    import mord
    from sklearn.linear_model import LogisticRegression
    from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier
    from sklearn.svm import SVC
    from skordinal import classifiers as skordinal

    from tordinal import REDSVM, TOR, TORCV

    return {
        "TOR": TOR(),
        "REDSVM": REDSVM(),
        "TORCV": TORCV(),
        "TORCV supervised": TORCV(transduce=False),
        "mord LogisticAT": mord.LogisticAT(),
        "skordinal REDSVM": skordinal.REDSVM(kernel="linear" if text else "rbf"),
        "SVC": SVC(kernel="linear" if text else "rbf"),
        "LabelSpreading": LabelSpreading(kernel="knn"),
        "SelfTraining": SelfTrainingClassifier(LogisticRegression(max_iter=1000)),
    }


def one(data: Path, name: str, seed: int, done: set[str], path: Path) -> None:
    """All methods on one set and seed; each result is appended as soon as it is known."""
    warnings.simplefilter("ignore")
    X, y = load(data, name)
    kept = choose(y, seed)
    hidden = np.full(len(y), -1)
    hidden[kept] = y[kept]
    rest = hidden == -1
    for method, model in methods(sp.issparse(X)).items():
        if f"{name}/{seed}/{method}" in done:
            continue
        rows = (
            in_span(X, kept)
            if sp.issparse(X) and method in ("mord LogisticAT", "skordinal REDSVM")
            else X
        )
        start = time.perf_counter()
        if method in ("TOR", "TORCV", "TORCV supervised", "LabelSpreading", "SelfTraining"):
            model.fit(rows, hidden)
            labels = model.transduction_ if hasattr(model, "transduction_") else model.predict(rows)
        else:
            labels = model.fit(rows[kept], y[kept]).predict(rows)
        seconds = time.perf_counter() - start
        record = {
            "set": name,
            "seed": seed,
            "method": method,
            "seconds": seconds,
            "zero_one": float(np.mean(labels[rest] != y[rest])),
            "mae": float(np.mean(np.abs(labels[rest] - y[rest]))),
        }
        if hasattr(model, "predict_proba") and method in (
            "TOR",
            "REDSVM",
            "TORCV",
            "mord LogisticAT",
        ):
            p = model.predict_proba(rows[rest])
            share = (np.bincount(y[kept], minlength=y.max() + 1) + 0.5) / (
                LABELS + 0.5 * (y.max() + 1)
            )
            for key, q in (("", p), ("base ", np.tile(share, (rest.sum(), 1)))):
                record[key + "log_loss"] = float(
                    -np.mean(np.log(np.maximum(q[np.arange(len(q)), y[rest]], 1e-15)))
                )
                step = np.cumsum(q, axis=1)[:, :-1] - (y[rest][:, None] <= np.arange(y.max()))
                record[key + "rps"] = float(np.mean((step**2).sum(axis=1)))
        with path.open("a") as stream:
            stream.write(json.dumps(record) + "\n")


def summary(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One row per method: mean errors, mean ranks, seconds, and how often its pair beats it.

    Ranks are over sets and seeds.
    """
    cases = sorted({(r["set"], r["seed"]) for r in records})
    names = list(dict.fromkeys(r["method"] for r in records))
    table = {(r["set"], r["seed"], r["method"]): r for r in records}
    rows = []
    for method in names:
        mine = [table[(*c, method)] for c in cases if (*c, method) in table]
        ranks = {}
        for key in ("zero_one", "mae"):
            per = []
            for c in cases:
                values = np.array([table[(*c, n)][key] for n in names if (*c, n) in table])
                own = table[(*c, method)][key]
                per.append((values < own).sum() + 1 + 0.5 * ((values == own).sum() - 1))
            ranks[key] = float(np.mean(per))
        partner = dict(PAIRS).get(method)
        worse = "" if partner is None else sum(
            table[(*c, method)]["mae"] > table[(*c, partner)]["mae"]
            for c in cases if (*c, partner) in table
        )  # fmt: skip
        rows.append({
            "method": method,
            "zero-one": float(np.mean([r["zero_one"] for r in mine])),
            "MAE": float(np.mean([r["mae"] for r in mine])),
            "rank zero-one": ranks["zero_one"], "rank MAE": ranks["mae"],
            "seconds": float(np.mean([r["seconds"] for r in mine])), "cases": len(mine),
            "worse than without unlabelled rows": worse,
        })  # fmt: skip
    return rows


def run(quick: bool, data: Path) -> list[dict[str, Any]]:
    sets = ("ESL", "SWD") if quick else ORDINAL + AMAZON
    seeds = 2 if quick else SEEDS
    path = Path(__file__).parent / "results" / f"board{'-quick' if quick else ''}.jsonl"
    path.parent.mkdir(exist_ok=True)
    past = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    done = {f"{r['set']}/{r['seed']}/{r['method']}" for r in past}
    Parallel(n_jobs=2, batch_size=1)(
        delayed(one)(data, n, s, done, path) for s in range(seeds) for n in sets
    )
    records = [json.loads(line) for line in path.read_text().splitlines()]
    rows = summary(records)
    show(f"{LABELS} labels, {seeds} seeds, {len(sets)} sets", rows)

    def mean(key: str, name: str, method: str) -> float:
        case = (name, method)
        return float(np.mean([r[key] for r in records if (r["set"], r["method"]) == case]))

    def base(key: str, name: str) -> float:
        key = f"base {key}"
        return float(np.mean([r[key] for r in records if r["set"] == name and key in r]))

    names = ("REDSVM", "TOR", "TORCV supervised", "TORCV")
    per_set = [{"set": n, **{m: mean("mae", n, m) for m in names}} for n in sets]
    show("mean MAE by set", per_set)
    scored = [
        m
        for m in ("TOR", "REDSVM", "TORCV", "mord LogisticAT")
        if any(r["method"] == m for r in records)
    ]
    scores = ("log_loss", "rps")
    probabilities = [
        {
            "set": n,
            **{f"{m} {key}": mean(key, n, m) for key in scores for m in scored},
            **{f"class ratio {key}": base(key, n) for key in scores},
        }
        for n in sets
    ]
    show("probabilities of held-out rows", probabilities)
    return rows + per_set + probabilities

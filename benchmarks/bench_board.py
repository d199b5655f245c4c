"""Errors on 16 real sets with 20, 60 and 200 labels: ours, mord, skordinal and scikit-learn."""

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

LABELS, SEEDS = (60, 200, 20), 10
ORDINAL = ("ERA", "ESL", "LEV", "SWD", "car", "balance-scale")
AMAZON = ("books", "dvd", "electronics", "kitchen")
CSV = ("housing", "knowledge", "machine", "obesity", "stock", "thyroid")
HINDSIGHT = "best member in hindsight"
PAIRS = (("TOR", "RED-SVM"), ("TORCV", "TORCV supervised"))


def reviews(data: Path, name: str) -> tuple[list[str], np.ndarray]:
    """Texts and stars of the reviews of some products."""
    texts, stars = [], []
    for part in ("positive", "negative"):
        content = (data / "amazon" / name / f"{part}.review").read_text(encoding="latin-1")
        for review in content.split("<review>")[1:]:
            stars.append(float(re.search(r"<rating>\s*([\d.]+)", review)[1]))
            texts.append(re.search(r"<review_text>(.*?)</review_text>", review, re.DOTALL)[1])
    return texts, np.array(stars)


def load(data: Path, name: str) -> tuple[Any, np.ndarray, Any]:
    """Standardised features, or views of the reviews' texts, ranks from 0, and the views.

    Classes of fewer than 15 rows join a neighbour.
    """
    views = None
    if name in AMAZON:
        from tordinal.text import TextViews

        texts, y = reviews(data, name)
        vectorizer = TextViews(min_df=2)
        X = vectorizer.fit_transform(texts)
        views = vectorizer.views_
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
    return X, y, views


def choose(y: np.ndarray, seed: int, n: int = 60) -> np.ndarray:
    """Rows whose labels are kept: two of each class, the others at random."""
    rng = np.random.default_rng(seed)
    kept = np.concatenate([rng.permutation(np.flatnonzero(y == k))[:2] for k in np.unique(y)])
    others = rng.permutation(np.setdiff1d(np.arange(len(y)), kept))
    return np.concatenate([kept, others[: n - len(kept)]])


def in_span(X: Any, kept: np.ndarray) -> np.ndarray:
    """Coordinates in the span of the labelled rows: all a regularised linear model can use."""
    K = np.asarray((X[kept] @ X[kept].T).todense())
    values, vectors = np.linalg.eigh(K)
    good = values > 1e-9 * values.max()
    return np.asarray((X @ X[kept].T).todense()) @ (vectors[:, good] / np.sqrt(values[good]))


def methods(views: Any, classes: list[int]) -> dict[str, Any]:
    import mord
    from sklearn.dummy import DummyClassifier
    from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer
    from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier
    from sklearn.svm import SVC
    from skordinal import classifiers as skordinal

    from tordinal import REDSVM, TOR, TORCV

    kernel = "linear" if views else "rbf"
    ours: dict[str, Any] = {"classes": classes}
    search = {**ours, "views": views, **({"kernel": "linear"} if views else {})}
    dense = FunctionTransformer(lambda X: X.toarray() if sp.issparse(X) else X, accept_sparse=True)
    return {
        "TORCV": TORCV(**search),
        "TORCV supervised": TORCV(**search, transduce=False),
        "TOR": TOR(**ours),
        "RED-SVM": REDSVM(**ours),
        "mord LogisticAT": mord.LogisticAT(),
        "skordinal REDSVM": skordinal.REDSVM(kernel=kernel),
        "SVC": SVC(kernel=kernel),
        "logistic regression": LogisticRegression(max_iter=1000),
        "random forest": RandomForestClassifier(300, random_state=0),
        "boosting": make_pipeline(dense, HistGradientBoostingClassifier(random_state=0)),
        "LabelSpreading": LabelSpreading(kernel="knn"),
        "SelfTraining": SelfTrainingClassifier(LogisticRegression(max_iter=1000)),
        "constant": DummyClassifier(strategy="prior"),
    }


def case(record: dict[str, Any]) -> str:
    return "/".join(str(record[key]) for key in ("set", "labels", "seed", "method"))


def one(data: Path, name: str, n: int, seed: int, done: set[str], path: Path) -> None:
    """All methods on one set and seed; each result is appended as soon as it is known."""
    warnings.simplefilter("ignore")
    X, y, views = load(data, name)
    words = X if views is None else X[:, views["words"]]
    kept = choose(y, seed, n)
    hidden = np.full(len(y), -1)
    hidden[kept] = y[kept]
    rest = hidden == -1
    for method, model in methods(views, list(range(int(y.max()) + 1))).items():
        record: dict[str, Any] = {"set": name, "labels": n, "seed": seed, "method": method}
        if case(record) in done:
            continue
        peer = views is not None and method in ("mord LogisticAT", "skordinal REDSVM")
        rows = X if method.startswith("TORCV") else in_span(words, kept) if peer else words
        start = time.perf_counter()
        if method in ("TOR", "TORCV", "TORCV supervised", "LabelSpreading", "SelfTraining"):
            model.fit(rows, hidden)
            # SelfTrainingClassifier leaves rows that it is not sure of without a label.
            whole = hasattr(model, "transduction_") and method != "SelfTraining"
            labels = model.transduction_ if whole else model.predict(rows)
        elif method == "constant":  # the guess that is best in each error
            counts = np.bincount(y[kept])
            labels = np.full(len(y), int(np.median(y[kept])))
            record["zero_one"] = float(np.mean(y[rest] != np.argmax(counts)))
        else:
            labels = model.fit(rows[kept], y[kept]).predict(rows)
        record["seconds"] = time.perf_counter() - start
        record.setdefault("zero_one", float(np.mean(labels[rest] != y[rest])))
        record["mae"] = float(np.mean(np.abs(labels[rest] - y[rest])))
        write(path, record)
        if method == "TORCV":
            members = [
                m.transduction_ if hasattr(m, "transduction_") else m.predict(model.seen(X, i))
                for i, m in enumerate(model.estimators_)
            ]
            best = {
                "zero_one": min(float(np.mean(m[rest] != y[rest])) for m in members),
                "mae": min(float(np.mean(np.abs(m[rest] - y[rest]))) for m in members),
            }
            write(path, {**record, "method": HINDSIGHT, "seconds": 0.0, **best})


def write(path: Path, record: dict[str, Any]) -> None:
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
                others = [n for n in names if n != HINDSIGHT and (*c, n) in table]
                values = np.array([table[(*c, n)][key] for n in others])
                own = table[(*c, method)][key]
                ties = max(0, (values == own).sum() - 1)
                per.append((values < own).sum() + 1 + 0.5 * ties)
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
    sets = ("ESL", "SWD") if quick else ORDINAL + CSV + AMAZON
    seeds, labels = (2, (60,)) if quick else (SEEDS, LABELS)
    path = Path(__file__).parent / "results" / f"board{'-quick' if quick else ''}.jsonl"
    path.parent.mkdir(exist_ok=True)
    past = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    done = {case(r) for r in past}
    Parallel(n_jobs=2, batch_size=1)(
        delayed(one)(data, name, n, seed, done, path)
        for seed in range(seeds) for n in labels for name in sets
    )  # fmt: skip
    records = [json.loads(line) for line in path.read_text().splitlines()]
    rows: list[dict[str, Any]] = []
    for n in labels:
        mine = [r for r in records if r["labels"] == n]
        table = summary(mine)
        drawn = len({r["seed"] for r in mine})
        show(f"{n} labels, {drawn} seeds, {len({r['set'] for r in mine})} sets", table)
        names = ("RED-SVM", "TOR", "TORCV supervised", "TORCV", HINDSIGHT)
        per_set = [
            {"labels": n, "set": name, **{m: mean(mine, "mae", name, m) for m in names}}
            for name in sets
        ]
        show(f"mean MAE by set, {n} labels", per_set)
        rows += [{"labels": n, **row} for row in table] + per_set
    return rows


def mean(records: list[dict[str, Any]], key: str, name: str, method: str) -> float:
    """A figure of a method on a set, over the seeds."""
    of = [r[key] for r in records if (r["set"], r["method"]) == (name, method) and key in r]
    return float(np.mean(of)) if of else float("nan")

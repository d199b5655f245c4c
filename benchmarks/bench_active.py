"""Ratings needed for the error that 100 random ones give, by how rows are chosen."""

import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed

from benchmarks.bench_board import AMAZON, choose, load
from benchmarks.harness import show

TABLES = (
    "thyroid", "balance-scale", "knowledge", "machine", "obesity", "stock", "car", "SWD", "ERA",
    "ESL", "LEV", "housing",
)  # fmt: skip
SETS = (*TABLES, *AMAZON)
SEEDS = 10
FIRST, LAST, TARGET, STEP = 10, 120, 100, 5
BASELINE = "random"
LOOKS = (40, 80, 120, 160)


def features(data: Path, name: str) -> tuple[Any, np.ndarray]:
    """Features and ranks; of texts their words."""
    X, y, views = load(data, name)
    return (X if views is None else X[:, views["words"]]), y


def model_of(X: Any, classes: list[int]) -> Any:
    """The model whose errors count: a RED-SVM, linear for texts."""
    from tordinal.active._probabilistic import default_model

    return default_model(X).set_params(classes=classes)


class LeastCertain:
    """What `tordinal label --next` did in 0.2: uncertain rows, unlike each other."""

    def __init__(self, classes: list[int]):
        self.classes = classes

    def query(self, X: Any, y: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
        rated = y != -1
        model = model_of(X, self.classes).fit(X[rated], y[rated])
        confidence = model.predict_proba(X).max(axis=1)
        unrated = np.flatnonzero(~rated)
        doubtful = unrated[np.argsort(confidence[unrated], kind="stable")[: max(200, 5 * n)]]
        products = X[doubtful] @ X[doubtful].T
        products = np.asarray(products.todense() if sp.issparse(X) else products)
        length = np.sqrt(np.maximum(np.diag(products), 1e-12))
        alike = products / length[:, None] / length
        pairs = alike[np.triu_indices_from(alike, 1)]
        chosen: list[int] = []
        nearest = np.full(len(doubtful), -np.inf)
        for share in (0.5, 0.75, 0.9, 0.97, 1.0):
            limit = float(np.quantile(pairs, share)) if len(pairs) and share < 1.0 else np.inf
            for i in range(len(doubtful)):
                if len(chosen) < n and nearest[i] <= limit and i not in chosen:
                    chosen.append(i)
                    nearest = np.maximum(nearest, alike[i])
        return doubtful[sorted(chosen)], np.ones(len(chosen))


def strategies(classes: list[int], seed: int) -> dict[str, Any]:
    from tordinal.active import (
        Entropy,
        ExpectedCost,
        ExpectedError,
        LeastConfidence,
        Mixture,
        Random,
    )

    ours: dict[str, Any] = {"classes": classes, "random_state": seed}
    return {
        BASELINE: Random(**ours),
        "expected error, power 4": ExpectedError(**ours),
        "the same, a quarter audit rows": Mixture(ExpectedError(**ours), random_state=seed),
        "largest expected error": ExpectedError(**ours, power=None),
        "largest, diversity 1": ExpectedError(**ours, power=None, diversity=1.0),
        "least confidence": LeastConfidence(**ours),
        "entropy": Entropy(**ours),
        "--next of 0.2": LeastCertain(classes),
        "He 2022": ExpectedCost(**ours, max_rows=300),
    }


def one(data: Path, name: str, seed: int, method: str, path: Path) -> None:
    """Errors of the finished table, rated rows counted as correct, as ratings are added."""
    X, y = features(data, name)
    classes = list(range(int(y.max()) + 1))
    rng = np.random.default_rng(seed)
    given = np.full(len(y), -1)
    first = rng.permutation(len(y))[:FIRST]
    while len(np.unique(y[first])) < 2:
        first = rng.permutation(len(y))[:FIRST]
    given[first] = y[first]
    strategy, errors, seconds = strategies(classes, seed)[method], {}, 0.0
    for n in range(FIRST, LAST + 1, STEP):
        rated = given != -1
        model = model_of(X, classes).fit(X[rated], given[rated])
        table = np.where(rated, y, model.predict(X))
        errors[n] = float(np.mean(np.abs(table - y)))
        start = time.perf_counter()
        rows, _ = strategy.query(X, given, STEP)
        seconds = max(seconds, time.perf_counter() - start)
        given[rows] = y[rows]
    record = {"set": name, "seed": seed, "method": method, "errors": errors, "slowest": seconds}
    with path.open("a") as stream:
        stream.write(json.dumps(record) + "\n")


def coverage(data: Path, name: str, repeats: int) -> list[dict[str, Any]]:
    """How often intervals hold the error of a model that 30 random rows were enough for.

    Other rows are then chosen by the default strategy with a quarter of audit rows.
    """
    from tordinal import REDSVM
    from tordinal.active import ExpectedError, Mixture, estimate_error

    X, y, _ = load(data, name)
    K = int(y.max()) + 1
    kept = choose(y, 0, 30)
    model = REDSVM(C=10, kernel="perceptron", classes=list(range(K))).fit(X[kept], y[kept])
    pool = np.setdiff1d(np.arange(len(y)), kept)
    loss = np.abs(model.predict(X[pool]) - y[pool]).astype(float)
    p = model.predict_proba(X[pool])
    kinds = {
        "weights, approximate": {},
        "audit rows, approximate": {"audit": True, "interval": "approximate"},
        "audit rows, anytime": {"audit": True, "interval": "anytime"},
    }
    held = {(kind, n): [] for kind in kinds for n in LOOKS}
    width = {(kind, n): [] for kind in kinds for n in LOOKS}
    for seed in range(repeats):
        strategy = Mixture(ExpectedError(), random_state=seed)
        rows, q = strategy.query(X[pool], [None] * len(pool), max(LOOKS), y_proba=p)
        before = True  # the interval held at all looks so far
        for n in LOOKS:
            for kind, options in kinds.items():
                given = dict(options)
                if "audit" in given:
                    given["audit"] = strategy.audit_[:n]
                    if not strategy.audit_[:n].any():
                        continue
                e = estimate_error(loss[rows[:n]], q[:n], len(pool), max_loss=K - 1.0, **given)
                holds = e.low <= loss.mean() <= e.high
                if kind == "audit rows, anytime":
                    before = holds = holds and before
                held[kind, n].append(holds)
                width[kind, n].append(e.high - e.low)
    return [
        {
            "interval": kind, "ratings": n, "set": name, "coverage": float(np.mean(held[kind, n])),
            "width": float(np.mean(width[kind, n])), "error": float(loss.mean()),
        }
        for kind in kinds for n in LOOKS
    ]  # fmt: skip


def needed(errors: np.ndarray, target: float) -> float:
    """Ratings at which a curve of errors first reaches the target, between its points linear."""
    numbers = np.arange(FIRST, LAST + 1, STEP)
    below = np.flatnonzero(errors <= target)
    if len(below) == 0:
        return float("inf")
    k = int(below[0])
    if k == 0:
        return float(FIRST)
    share = (errors[k - 1] - target) / (errors[k - 1] - errors[k])
    return float(numbers[k - 1] + share * STEP)


def run(quick: bool, data: Path) -> list[dict[str, Any]]:
    names = ("machine", "SWD") if quick else SETS
    seeds = 1 if quick else SEEDS
    methods = list(strategies([0, 1], 0))
    path = Path(__file__).parent / "results" / f"active{'-quick' if quick else ''}.jsonl"
    past = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    done = {(r["set"], r["seed"], r["method"]) for r in past}
    Parallel(n_jobs=2, batch_size=1)(
        delayed(one)(data, name, seed, method, path)
        for seed in range(seeds) for name in names for method in methods
        if (name, seed, method) not in done
    )  # fmt: skip
    records = [json.loads(line) for line in path.read_text().splitlines()]
    curves: dict[tuple[str, str], list[list[float]]] = {}
    for r in records:
        curves.setdefault((r["set"], r["method"]), []).append(list(r["errors"].values()))
    mean = {case: np.mean(errors, axis=0) for case, errors in curves.items()}
    at = (TARGET - FIRST) // STEP
    counts = {
        method: [needed(mean[name, method], mean[name, BASELINE][at]) for name in names]
        for method in methods
    }
    rows = [
        {"method": method, **dict(zip(names, counts[method], strict=True)),
         "median": float(np.median(counts[method])),
         "slowest query, s": max(r["slowest"] for r in records if r["method"] == method)}
        for method in methods
    ]  # fmt: skip
    errors = [
        {"method": method, **{name: float(mean[name, method][at]) for name in names}}
        for method in methods
    ]
    show(f"ratings needed for the error of {TARGET} random ones", rows)
    show(f"error of the finished table after {TARGET} ratings", errors)
    repeats = 20 if quick else 200
    found = Parallel(n_jobs=2, batch_size=1)(
        delayed(coverage)(data, name, repeats) for name in names
    )
    covered = [
        {
            "interval": kind, "ratings": n,
            **{name: record["coverage"] for name, record in of.items()},
            "lowest": min(record["coverage"] for record in of.values()),
            "width": float(np.mean([record["width"] for record in of.values()])),
        }
        for kind in dict.fromkeys(r["interval"] for r in found[0]) for n in LOOKS
        for of in [{
            r["set"]: r for records in found for r in records
            if (r["interval"], r["ratings"]) == (kind, n)
        }]
    ]  # fmt: skip
    show("share of intervals at 95 % that hold the error of a model on all rows", covered)
    return rows + errors + covered

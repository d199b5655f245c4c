"""Ratings needed for the error that 100 random ones give, by how rows are chosen."""

import json
import time
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from benchmarks.bench_board import load
from benchmarks.harness import show

SETS = (
    "thyroid", "balance-scale", "knowledge", "machine", "obesity", "stock", "car", "SWD",
)  # fmt: skip
SEEDS = 3
FIRST, LAST, TARGET, STEP = 10, 120, 100, 5
BASELINE = "random"


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
        "expected error": ExpectedError(**ours, diversity=0.0),
        "expected error, diversity 0.5": ExpectedError(**ours, diversity=0.5),
        "expected error, diversity 1": ExpectedError(**ours, diversity=1.0),
        "diversity 1, a quarter audit rows": Mixture(ExpectedError(**ours), random_state=seed),
        "least confidence": LeastConfidence(**ours),
        "entropy": Entropy(**ours),
        "He 2022": ExpectedCost(**ours, max_rows=300),
    }


def one(data: Path, name: str, seed: int, method: str, path: Path) -> None:
    """Errors of the finished table, rated rows counted as correct, as ratings are added."""
    from tordinal import REDSVM

    X, y, _ = load(data, name)
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
        model = REDSVM(C=10, kernel="perceptron", classes=classes).fit(X[rated], given[rated])
        table = np.where(rated, y, model.predict(X))
        errors[n] = float(np.mean(np.abs(table - y)))
        start = time.perf_counter()
        rows, _ = strategy.query(X, given, STEP)
        seconds = max(seconds, time.perf_counter() - start)
        given[rows] = y[rows]
    record = {"set": name, "seed": seed, "method": method, "errors": errors, "slowest": seconds}
    with path.open("a") as stream:
        stream.write(json.dumps(record) + "\n")


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
    return rows + errors

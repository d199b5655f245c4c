"""Ratings needed for the error that 100 random ones give, by how rows are chosen."""

import json
import warnings
from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

import numpy as np
from joblib import Parallel, delayed
from sklearn.metrics.pairwise import cosine_similarity

from benchmarks.bench_board import AMAZON, choose, load
from benchmarks.harness import show

TABLES = (
    "thyroid", "balance-scale", "knowledge", "machine", "obesity", "stock", "car", "SWD", "ERA",
    "ESL", "LEV", "housing",
)  # fmt: skip
SETS = (*TABLES, *AMAZON)
SEEDS, SESSIONS, REPEATS = 10, 20, 50  # draws by strategy; sessions of the studio; for coverage
ROWS = 1500  # of a dataset at most, drawn anew with each seed
COVERED = 1000  # the same for coverage: in larger tables each draw takes a sample of rows first
FIRST, LAST, TARGET, STEP = 10, 120, 100, 10
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

    def query(self, X: Any, y: Any, n: int, *, y_proba: Any) -> tuple[np.ndarray, None]:
        confidence, unrated = y_proba.max(axis=1), np.flatnonzero(y == -1)
        doubtful = unrated[np.argsort(confidence[unrated], kind="stable")[: max(200, 5 * n)]]
        alike = cosine_similarity(X[doubtful])
        pairs = alike[np.triu_indices_from(alike, 1)]
        chosen: list[int] = []
        nearest = np.full(len(doubtful), -np.inf)
        for share in (0.5, 0.75, 0.9, 0.97, 1.0):  # of pairs that are less alike than two chosen
            limit = float(np.quantile(pairs, share)) if len(pairs) and share < 1.0 else np.inf
            for i in range(len(doubtful)):
                if len(chosen) < n and nearest[i] <= limit and i not in chosen:
                    chosen.append(i)
                    nearest = np.maximum(nearest, alike[i])
        return doubtful[chosen], None


def strategies(classes: list[int], seed: int) -> dict[str, Any]:
    from tordinal.active import (
        Entropy,
        ExpectedCost,
        ExpectedError,
        ExpectedErrorReduction,
        LeastConfidence,
        Mixture,
        Random,
    )

    ours: dict[str, Any] = {"classes": classes, "random_state": seed}
    return {
        BASELINE: Random(**ours),
        "random, other draws": Random(classes=classes, random_state=seed + 1000),
        "expected error reduction": ExpectedErrorReduction(**ours),
        "the same, a quarter audit rows": Mixture(
            ExpectedErrorReduction(**ours), random_state=seed
        ),
        "expected error": ExpectedError(**ours),
        "least confidence": LeastConfidence(**ours),
        "entropy": Entropy(**ours),
        "--next of 0.2": LeastCertain(),
        "He 2022": ExpectedCost(**ours, max_rows=300),
    }


def one(X: Any, y: np.ndarray, name: str, seed: int, method: str, path: Path) -> None:
    """Errors of the finished table, rated rows counted as correct, as ratings are added."""
    classes = list(range(int(y.max()) + 1))
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(y))[:ROWS]
    X, y = X[order], y[order]
    given = np.full(len(y), -1)
    first = rng.permutation(len(y))[:FIRST]
    while len(np.unique(y[first])) < 2:
        first = rng.permutation(len(y))[:FIRST]
    given[first] = y[first]
    strategy, errors = strategies(classes, seed)[method], {}
    needs_model = not method.startswith((BASELINE, "He"))
    for n in range(FIRST, LAST + 1, STEP):
        rated = given != -1
        model = model_of(X, classes).fit(X[rated], given[rated])
        errors[n] = float(np.mean(np.where(rated, 0, np.abs(model.predict(X) - y))))
        if n < LAST:
            known = {"y_proba": model.predict_proba(X)} if needs_model else {}
            rows, _ = strategy.query(X, given, STEP, **known)
            given[rows] = y[rows]
    record = {"set": name, "seed": seed, "method": method, "errors": errors}
    append(path, record)


def coverage(X: Any, y: np.ndarray, name: str, repeats: int) -> list[dict[str, Any]]:
    """How often intervals hold the error of a model that 30 random rows were enough for.

    Other rows are then chosen by the default strategy with a quarter of audit rows.
    """
    from tordinal.active import Mixture, estimate_error

    order = np.random.default_rng(0).permutation(len(y))[:COVERED]
    X, y = X[order], y[order]
    K = int(y.max()) + 1
    kept = choose(y, 0, 30)
    given = np.full(len(y), -1)
    given[kept] = y[kept]
    model = model_of(X, list(range(K))).fit(X[kept], y[kept])
    n_rows, loss = len(y) - len(kept), np.abs(model.predict(X) - y).astype(float)
    truth = loss[given == -1].mean()
    p = model.predict_proba(X)
    kinds = {
        "weights, approximate": {},
        "audit rows, approximate": {"audit": True, "interval": "approximate"},
        "audit rows, anytime": {"audit": True, "interval": "anytime"},
    }
    held = {(kind, n): [] for kind in kinds for n in LOOKS}
    width = {(kind, n): [] for kind in kinds for n in LOOKS}
    for seed in range(repeats):
        strategy = Mixture(random_state=seed)
        rows, q = strategy.query(X, given, max(LOOKS), y_proba=p)
        before = True  # the interval held at all looks so far
        for n in LOOKS:
            for kind, kind_options in kinds.items():
                options = dict(kind_options)
                if "audit" in options:
                    options["audit"] = strategy.audit_[:n]
                    if not strategy.audit_[:n].any():
                        continue
                e = estimate_error(loss[rows[:n]], q[:n], n_rows, max_loss=K - 1.0, **options)
                holds = e.low <= truth <= e.high
                if kind == "audit rows, anytime":
                    before = holds = holds and before
                held[kind, n].append(holds)
                width[kind, n].append(e.high - e.low)
    return [
        {
            "interval": kind, "ratings": n, "set": name, "coverage": float(np.mean(held[kind, n])),
            "width": float(np.mean(width[kind, n])), "error": float(truth),
        }
        for kind in kinds for n in LOOKS
    ]  # fmt: skip


def compare(
    records: list[dict[str, Any]], names: tuple[str, ...], methods: list[str]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Ratings needed and errors by method; random rows of the same draws are the measure."""
    curves = {(r["set"], r["method"], r["seed"]): list(r["errors"].values()) for r in records}
    at = (TARGET - FIRST) // STEP
    rows, errors = [], []
    for method in methods:
        counts, after, draws = {}, {}, []
        for name in names:
            seeds = [
                seed for (of, by, seed) in curves
                if (of, by) == (name, method) and (name, BASELINE, seed) in curves
            ]  # fmt: skip
            mean, random = (
                np.mean([curves[name, by, seed] for seed in seeds], axis=0)
                for by in (method, BASELINE)
            )
            counts[name], after[name] = needed(mean, random[at]), float(mean[at])
            draws.append(len(seeds))
        tables = [counts[name] for name in names if name in TABLES]
        texts = [counts[name] for name in names if name not in TABLES]
        rows.append({
            "method": method, "draws": min(draws), **counts,
            "median of tables": float(np.median(tables)),
            "median of texts": float(np.median(texts)),
        })  # fmt: skip
        errors.append({"method": method, **after})
    return rows, errors


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


def courses(X: Any, y: np.ndarray, name: str, seed: int) -> dict[str, Any]:
    """One session of the studio: the true error at every look, and what is shown beside it."""
    from tordinal.tables.simulate import simulate_rating

    order = np.random.default_rng([seed, 1]).permutation(len(y))[:COVERED]
    found = simulate_rating(X[order], y[order], int(y.max()) + 1, most=max(LOOKS), seed=seed)
    looks = [
        {"ratings": n, "truth": truth, **asdict(shown)}
        for n, truth, shown in zip(found.ratings, found.errors, found.estimates, strict=True)
        if shown is not None
    ]
    return {"set": name, "seed": seed, "looks": looks}


def shown_coverage(sessions: list[dict[str, Any]], names: tuple[str, ...]) -> list[dict[str, Any]]:
    """How often what the studio shows holds the error of the finished table at that look."""
    at_one = lambda look: look["low"] <= look["truth"] <= look["high"]  # noqa: E731
    below = lambda look: look["truth"] <= look["high_anytime"]  # noqa: E731
    rows = []
    for kind, holds, so_far in (("at one look", at_one, False), ("at all looks", below, True)):
        for n in LOOKS:
            share, width = {}, []
            for name in names:
                held = []
                for session in sessions:
                    if session["set"] != name:
                        continue
                    looks = [x for x in session["looks"] if x["ratings"] <= n]
                    held.append(all(map(holds, looks)) if so_far else holds(looks[-1]))
                    last = looks[-1]
                    width.append(last["high_anytime"] if so_far else last["high"] - last["low"])
                share[name] = float(np.mean(held))
            rows.append({
                "shown": kind, "ratings": n, **share, "lowest": min(share.values()),
                "mean": float(np.mean(list(share.values()))),
                "width or bound": float(np.mean(width)),
            })  # fmt: skip
    return rows


def append(path: Path, record: dict[str, Any]) -> None:
    with path.open("a") as stream:
        stream.write(json.dumps(record) + "\n")


def past(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def compute(names: tuple[str, ...], data: Path, path: Path, *, quick: bool = False) -> None:
    """Compute what the file of results lacks; each result is appended as soon as it is there."""
    done = {(r["set"], r.get("seed"), kind_of(r)) for r in past(path)}
    loaded = {name: features(data, name) for name in names}

    def cell(name: str, seed: int | None, kind: str) -> None:
        warnings.simplefilter("ignore")
        X, y = loaded[name]
        if kind == "coverage":
            append(path, {"set": name, "coverage": coverage(X, y, name, 10 if quick else REPEATS)})
        elif kind == "session":
            append(path, courses(X, y, name, cast(int, seed)))
        else:
            one(X, y, name, cast(int, seed), kind, path)

    wanted = [
        *((name, seed, method) for seed in range(1 if quick else SEEDS) for name in names
          for method in strategies([0, 1], 0)),
        *((name, None, "coverage") for name in names),
        *((name, seed, "session") for seed in range(2 if quick else SESSIONS) for name in names),
    ]  # fmt: skip
    Parallel(n_jobs=-1, batch_size=1)(delayed(cell)(*w) for w in wanted if w not in done)


def kind_of(record: dict[str, Any]) -> str:
    if "method" in record:
        return str(record["method"])
    return "coverage" if "coverage" in record else "session"


def run(quick: bool, data: Path) -> list[dict[str, Any]]:
    names = ("machine", "SWD", "kitchen") if quick else SETS
    path = Path(__file__).parent / "results" / f"active{'-quick' if quick else ''}.jsonl"
    compute(names, data, path, quick=quick)
    records = [r for r in past(path) if r["set"] in names]
    methods = list(strategies([0, 1], 0))
    rows, errors = compare([r for r in records if "method" in r], names, methods)
    show(f"ratings needed for the error of {TARGET} random ones", rows)
    show(f"error of the finished table after {TARGET} ratings", errors)
    found = {r["set"]: r["coverage"] for r in records if "coverage" in r}
    covered = []
    for k, first in enumerate(found[names[0]]):
        of = {name: found[name][k] for name in names}
        covered.append({
            "interval": first["interval"], "ratings": first["ratings"],
            **{name: record["coverage"] for name, record in of.items()},
            "lowest": min(record["coverage"] for record in of.values()),
            "mean": float(np.mean([record["coverage"] for record in of.values()])),
            "width": float(np.mean([record["width"] for record in of.values()])),
        })  # fmt: skip
    show("share of intervals at 95 % that hold the error of a model on all rows", covered)
    shown = shown_coverage([r for r in records if "looks" in r], names)
    show("share of sessions in which what the studio shows holds, at 90 %", shown)
    return rows + errors + covered + shown

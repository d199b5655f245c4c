"""Promised against true errors: TORCV with 60 labels, 16 sets, 10 draws each."""

import json
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from benchmarks.bench_board import AMAZON, CSV, ORDINAL, choose, load
from benchmarks.harness import show

SEEDS = 10


def one(data: Path, name: str, seed: int) -> dict[str, Any]:
    """Errors that a search promises, and those on the rows whose labels were hidden."""
    from tordinal import TORCV
    from tordinal.tables.expected_error import estimate_error

    warnings.simplefilter("ignore")
    X, y, views = load(data, name)
    kept = choose(y, seed)
    hidden = np.full(len(y), -1)
    hidden[kept] = y[kept]
    rest = hidden == -1
    start = time.perf_counter()
    model = TORCV(views=views, **({"kernel": "linear"} if views else {})).fit(X, hidden)
    seconds = time.perf_counter() - start
    evidence = model.evidence()
    expected = estimate_error(y[evidence.rows], evidence.ranks, list(range(int(y.max()) + 1)))
    labels, truth = model.transduction_[rest], y[rest]
    p = model.predict_proba(X[rest]) if seed < 3 else None
    record = {
        "set": name, "seed": seed, "seconds": seconds,
        "promised wrong": expected.zero_one, "promised off": expected.mae,
        "wrong ±": expected.accuracy_margin, "off ±": expected.mae_margin,
        "true wrong": float(np.mean(labels != truth)),
        "true off": float(np.mean(np.abs(labels - truth))),
    }  # fmt: skip
    if p is not None:
        sure = p.max(axis=1)
        predicted = p.argmax(axis=1)
        record["confidence"] = float(sure.mean())
        record["right"] = float(np.mean(predicted == truth))
        for bound in (0.8, 0.9):
            above = sure >= bound
            record[f"above {bound}"] = float(above.mean())
            record[f"right above {bound}"] = float(np.sum((predicted == truth) & above))
            record[f"sum above {bound}"] = float(sure[above].sum())
            record[f"rows above {bound}"] = int(above.sum())
    return record


def summary(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One row per set, and one for all: how much worse the truth is, and how often it is inside."""
    rows = []
    for name in [*dict.fromkeys(r["set"] for r in records), "all"]:
        mine = [r for r in records if name in (r["set"], "all")]
        row: dict[str, Any] = {"set": name, "draws": len(mine)}
        for what, unit in (("wrong", 100.0), ("off", 1.0)):
            gap = np.array([r[f"true {what}"] - r[f"promised {what}"] for r in mine])
            inside = np.abs(gap) <= np.array([r[f"{what} ±"] for r in mine])
            row[f"true {what}"] = unit * float(np.mean([r[f"true {what}"] for r in mine]))
            row[f"true - promised {what}"] = unit * float(gap.mean())
            row[f"{what} inside the interval, %"] = 100.0 * float(inside.mean())
        scored = [r for r in mine if "confidence" in r]
        row["confidence, %"] = 100.0 * float(np.mean([r["confidence"] for r in scored]))
        row["right, %"] = 100.0 * float(np.mean([r["right"] for r in scored]))
        rows.append(row)
    return rows


def run(quick: bool, data: Path) -> list[dict[str, Any]]:
    sets = ("ESL", "SWD") if quick else ORDINAL + CSV + AMAZON
    seeds = range(2 if quick else SEEDS)
    path = Path(__file__).parent / "results" / f"promises{'-quick' if quick else ''}.jsonl"
    past = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    done = {(r["set"], r["seed"]) for r in past}
    jobs = [(n, s) for s in seeds for n in sets if (n, s) not in done]
    results = Parallel(n_jobs=2, batch_size=1, return_as="generator")(
        delayed(one)(data, *job) for job in jobs
    )
    with path.open("a") as stream:
        for record in results:
            stream.write(json.dumps(record) + "\n")
            stream.flush()
            past.append(record)
    rows = summary(past)
    show(f"60 labels, {len(seeds)} draws of {len(sets)} sets", rows)
    return rows

"""TORCV with a random forest among its candidates, against TORCV without: 60 labels, 16 sets.

The search is shared: what is chosen without the forest is what TORCV without it would choose.
"""

import json
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from benchmarks.bench_board import AMAZON, CSV, ORDINAL, choose, load
from benchmarks.harness import show

LABELS, SEEDS = 60, 2
RULES = ("without", "expert")


def compare(data: Path, name: str, seed: int) -> list[dict[str, Any]]:
    """Errors on the unlabelled rows by the ensembles with and without a forest."""
    from sklearn.ensemble import RandomForestClassifier

    from tordinal import TORCV
    from tordinal.progress import Progress
    from tordinal.search.data import SearchData
    from tordinal.search.ensemble import Comparison
    from tordinal.search.estimate import estimate_errors
    from tordinal.search.experts import Expert, cross_validate_experts
    from tordinal.search.race import race
    from tordinal.search.supervised import best_settings, cross_validate

    warnings.simplefilter("ignore")
    start = time.perf_counter()
    X, y, views = load(data, name)
    kept = choose(y, seed, LABELS)
    hidden = np.full(len(y), -1)
    hidden[kept] = y[kept]
    kernel = {"kernel": "linear"} if views else {}
    forest = RandomForestClassifier(random_state=0)
    model = TORCV(classes=list(range(int(y.max()) + 1)), views=views, experts=[forest], **kernel)
    rows = model._read(X, hidden, None)
    search, progress = SearchData.of(model._config(rows), rows), Progress(model, 1)
    plain = cross_validate(search, search.config.supervised_candidates(), progress)
    candidates = search.config.transductive_candidates(
        best_settings(plain), len(kept), int(rows.unlabeled.sum())
    )
    trials = plain + race(search, plain, candidates, progress)
    forests = cross_validate_experts(search, model._experts(), progress)
    records = []
    members: dict[Any, Any] = {}  # fitted once for both
    for rule in RULES:
        tried = trials + (forests if rule == "expert" else [])
        weights = Comparison(search, tried).ensemble(tried, 9)
        fit = model._member

        def member(search: Any, candidate: Any, *others: Any, fit: Any = fit) -> Any:
            if candidate not in members:
                members[candidate] = fit(search, candidate, *others)
            return members[candidate]

        model._member = member
        model._fit_members(search, weights, progress)
        model._member = fit
        rest = hidden == -1
        off = np.abs(model.transduction_[rest] - y[rest])
        estimated = estimate_errors(search, tried).errors["this model"]
        share = sum(w for t, w in weights.items() if isinstance(t.candidate, Expert))
        records.append({
            "set": name, "seed": seed, "rule": rule, "mae": float(off.mean()),
            "zero_one": float((off > 0).mean()), "estimated": estimated[1], "weight": share,
            "seconds": time.perf_counter() - start,
        })  # fmt: skip
    return records


def one(data: Path, name: str, seed: int, path: Path) -> None:
    """Append the results of one set and seed as soon as they are known."""
    lines = [json.dumps(record) + "\n" for record in compare(data, name, seed)]
    with path.open("a") as stream:
        stream.writelines(lines)


def run(quick: bool, data: Path) -> list[dict[str, Any]]:
    sets = ("ESL", "SWD") if quick else CSV + ORDINAL + AMAZON
    path = Path(__file__).parent / "results" / f"experts{'-quick' if quick else ''}.jsonl"
    path.parent.mkdir(exist_ok=True)
    past = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    done = {(r["set"], r["seed"]) for r in past}
    Parallel(n_jobs=2, batch_size=1)(
        delayed(one)(data, name, seed, path)
        for seed in range(1 if quick else SEEDS) for name in sets if (name, seed) not in done
    )  # fmt: skip
    return summary([json.loads(line) for line in path.read_text().splitlines()])


def summary(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One row per set, and their mean."""
    names = list(dict.fromkeys(r["set"] for r in records))
    rows = []
    for name in names:
        of = {rule: [r for r in records if (r["set"], r["rule"]) == (name, rule)] for rule in RULES}
        errors = {
            f"{short} {rule}": float(np.mean([r[key] for r in of[rule]]))
            for short, key in (("MAE", "mae"), ("zero-one", "zero_one")) for rule in RULES
        }  # fmt: skip
        weight = float(np.mean([r["weight"] for r in of["expert"]]))
        rows.append({"set": name, **errors, "weight": weight, "draws": len(of["expert"])})
    keys = [key for key in rows[0] if key not in ("set", "draws")]
    rows.append({"set": "mean", **{k: float(np.mean([r[k] for r in rows])) for k in keys}})
    show(f"TORCV with a random forest among its candidates, {LABELS} labels", rows)
    return rows


if __name__ == "__main__":
    run("--quick" in sys.argv, Path(sys.argv[-1]))

"""What TORCV's search costs in single TOR fits, and how near it comes to trying everything."""

import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import measure, ordinal_rows, show, timed


def problem(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    X, y = ordinal_rows(n)
    return X, y, np.where(np.arange(n) < 100, y, -1)


def search(n: int) -> dict[str, Any]:
    from tordinal import TOR, TORCV

    X, y, hidden = problem(n)
    TORCV(C=[1.0], kernel=["linear", "perceptron"]).fit(X[:1300], hidden[:1300])
    fits = {}
    for name, model in (
        ("default", TOR()),
        ("perceptron", TOR(kernel="perceptron")),
        ("rbf", TOR(kernel="rbf")),
    ):
        fits[name] = min(timed(lambda model=model: model.fit(X, hidden))[1] for _ in range(3))
    model, seconds = timed(lambda: TORCV().fit(X, hidden))
    tried = int(np.isfinite(model.cv_results_["mean_test_score"]).sum())
    rest = hidden == -1
    return {
        "fits": fits, "seconds": seconds, "best": model.best_score_, "tried": tried,
        "params": str(model.best_params_), "verdict": model.verdict_,
        "mae": float(np.mean(np.abs(model.transduction_[rest] - y[rest]))),
    }  # fmt: skip


def exhaustive(n: int, Cs: list[float]) -> dict[str, Any]:
    """Every setting with every way to transduce, on every fold."""
    from tordinal import TORCV
    from tordinal.fitting import Recipe
    from tordinal.progress import Progress
    from tordinal.search import search as module
    from tordinal.search.candidates import Candidate

    X, _, hidden = problem(n)
    owner = TORCV(C=Cs, n_jobs=2)
    owner.classes_ = np.unique(hidden[hidden > 0])
    rank = np.where(hidden > 0, hidden - 1, -1)
    module.FIRST_FOLDS = owner.cv  # nobody drops out
    start = time.perf_counter()
    run = module.Search(owner, Recipe(), X, rank, Progress(owner, 1))
    supervised = [Candidate(C, k, loss) for loss in owner.loss for k in owner.kernel for C in Cs]
    trials = run.supervised(supervised)
    variants = [
        Candidate(c.C, c.kernel, c.loss, True, ratio, swaps)
        for c in supervised if c.loss == "hinge"
        for ratio in owner.class_ratio for swaps in owner.swaps
    ]  # fmt: skip
    trials += run.race(variants)
    best = max(trials, key=run.estimate)
    return {
        "seconds": time.perf_counter() - start, "best": run.estimate(best),
        "error": best.error(module.REPEATS), "tried": len(trials),
        "params": str(best.candidate.params),
    }  # fmt: skip


def run(quick: bool, data: Path) -> list[dict[str, Any]]:
    n, Cs = (400, [0.1, 1.0]) if quick else (2000, [float(C) for C in np.logspace(-3, 5, 9)])
    a = measure(search, n)
    b = measure(exhaustive, n, Cs)
    rows = [{
        "rows": n, "TORCV s": a["seconds"], **{f"TOR ({k}) s": v for k, v in a["fits"].items()},
        "in default TOR fits": a["seconds"] / a["fits"]["default"], "candidates": a["tried"],
        "CV MAE": -a["best"], "exhaustive CV MAE": -b["best"], "standard error": b["error"],
        "exhaustive candidates": b["tried"], "exhaustive s": b["seconds"],
    }]  # fmt: skip
    show("TORCV's search, 100 labels", rows)
    print("chosen:", a["params"], "| exhaustive:", b["params"], "|", a["verdict"])
    return rows

"""TORCV's time beside a grid search over RED-SVM, and how near it comes to trying everything."""

import itertools
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.bench_label import LEVELS
from benchmarks.harness import measure, ordinal_rows, show, timed

GOALS = {"2,000 x 16": 5, "2,000 reviews": 5, "12,960 x 8 categories": 20, "34,000 reviews": 60}


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
    from tordinal.progress import Progress
    from tordinal.search import race as module
    from tordinal.search.candidates import Candidate
    from tordinal.search.data import REPEATS, SearchData
    from tordinal.search.ensemble import Comparison
    from tordinal.search.supervised import cross_validate

    X, _, hidden = problem(n)
    owner = TORCV(C=Cs, n_jobs=2)
    rows = owner._read(X, np.where(hidden > 0, hidden, -1), None)
    data, progress = SearchData.of(owner._config(), rows), Progress(owner, 1)
    module.KEPT = (1.0, 1.0)  # nobody drops out
    start = time.perf_counter()
    supervised = data.config.supervised_candidates()
    trials = cross_validate(data, supervised, progress)
    variants = [
        Candidate(c.C, c.kernel, c.loss, True, ratio, swaps)
        for c in supervised if c.loss == "hinge"
        for ratio in owner.class_ratio for swaps in owner.swaps
    ]  # fmt: skip
    trials += module.race(data, trials, variants, progress)
    comparison = Comparison(data, trials)
    best = max(trials, key=comparison.estimate)
    return {
        "seconds": time.perf_counter() - start, "best": comparison.estimate(best),
        "error": best.error(REPEATS), "tried": len(trials),
        "params": str(best.candidate.params),
    }  # fmt: skip


def rows_of(name: str, data: Path, n: int | None) -> tuple[Any, np.ndarray, int, dict[str, Any]]:
    """Features, ranks, how many of them are known, and what TORCV is told, for one of `GOALS`."""
    from tordinal.datasets import fetch_amazon_reviews, make_reviews
    from tordinal.text import TextViews

    if name == "2,000 x 16":
        return *ordinal_rows(n or 2000), 100, {}
    if name == "12,960 x 8 categories":
        rng = np.random.default_rng(0)
        cells = rng.permutation(list(itertools.product(*map(range, LEVELS))))[:n]
        X = np.hstack([np.eye(size)[cells[:, j]] for j, size in enumerate(LEVELS)])
        score = X @ rng.normal(size=X.shape[1]) + 0.3 * rng.normal(size=len(X))
        return X, 1 + np.searchsorted(np.quantile(score, [0.3, 0.6, 0.9]), score), 100, {}
    if name == "2,000 reviews":
        texts, stars = fetch_amazon_reviews("books", data_home=data, return_X_y=True)
        order = np.random.RandomState(0).permutation(len(stars))[:n]
        texts, y, labels = [texts[i] for i in order], np.asarray(stars)[order], 100
    else:
        texts, y = make_reviews(n or 34_000, random_state=0)
        labels = 500 if n is None else 100
    views = TextViews()
    X = views.fit_transform(texts)
    return X, np.asarray(y), labels, {"kernel": "linear", "views": views.views_}


def beside_grid_search(name: str, data: Path, n: int | None) -> dict[str, Any]:
    """TORCV, and RED-SVM with scikit-learn's grid search over the same C and kernels."""
    from sklearn.model_selection import GridSearchCV

    from tordinal import REDSVM, TORCV
    from tordinal.metrics import mean_absolute_error, mean_zero_one_error

    (X, y, labels, told), reading = timed(lambda: rows_of(name, data, n))
    hidden = np.where(np.arange(len(y)) < labels, y, -1)
    rest = hidden == -1
    small = slice(0, labels + 100)
    TORCV(**told).fit(X[small], hidden[small])  # compiles
    model = TORCV(**told)
    kernels = ["linear"] if told else list(model.kernel)
    words = X[:, told["views"]["words"]] if told else X
    settings = {"C": np.logspace(-3, 5, 9), "kernel": kernels}  # those of TORCV
    grid = GridSearchCV(REDSVM(), settings, scoring="neg_mean_absolute_error", cv=5)
    found: dict[str, Any] = {"problem": name, "goal s": GOALS[name], "features s": reading}
    for title, fit in (
        ("TORCV", lambda: model.fit(X, hidden).transduction_[rest]),
        ("grid", lambda: grid.fit(words[~rest], y[~rest]).predict(words[rest])),
    ):
        cpu = time.process_time()
        answer, found[f"{title} s"] = timed(fit)
        found[f"{title} CPU s"] = time.process_time() - cpu
        found[f"{title} zero-one"] = mean_zero_one_error(y[rest], answer)
        found[f"{title} MAE"] = mean_absolute_error(y[rest], answer)
    return found


def run(quick: bool, data: Path) -> list[dict[str, Any]]:
    n, Cs = (400, [0.1, 1.0]) if quick else (2000, [float(C) for C in np.logspace(-3, 5, 9)])
    times = []
    for name in GOALS:
        if name == "2,000 reviews" and not (data / "amazon").exists():
            continue
        row = measure(beside_grid_search, name, data, n if quick else None)
        times.append(row | {"peak MB": row.pop("peak_mb")})
    show("TORCV beside a grid search over RED-SVM", times)
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
    return [*times, *rows]

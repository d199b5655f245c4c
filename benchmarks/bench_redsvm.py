"""REDSVM against skordinal's REDSVM (and SVC on the extended problem): time, memory, same predictions."""

from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import measure, ordinal_rows, show, timed


def problem(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    X, y = ordinal_rows(n + 2000)
    return X[:n], y[:n], X[n:]


def ours(n: int, kernel: str, C: float) -> dict[str, Any]:
    from tordinal import REDSVM

    X, y, X_new = problem(n)
    _, compiling = timed(lambda: REDSVM(kernel=kernel).fit(X[:1100], y[:1100]))
    model, seconds = timed(lambda: REDSVM(C=C, kernel=kernel).fit(X, y))
    return {
        "seconds": seconds, "first_use": compiling, "objective": model.objective_, "steps": model.n_iter_,
        "predicted": model.predict(X_new),
    }  # fmt: skip


def theirs(n: int, kernel: str, C: float) -> dict[str, Any]:
    from skordinal.classifiers import REDSVM

    X, y, X_new = problem(n)
    model, seconds = timed(lambda: REDSVM(C=C, kernel=kernel, tol=1e-3, cache_size=2500).fit(X, y))
    return {"seconds": seconds, "predicted": model.predict(X_new)}


def run(quick: bool, data: Path) -> list[dict[str, Any]]:
    cases = [(1000, "perceptron", 1.0)] if quick else [(5000, "perceptron", 1.0), (10000, "perceptron", 1.0)]
    rows = []
    for n, kernel, C in cases:
        a, b = measure(ours, n, kernel, C), measure(theirs, n, kernel, C)
        rows.append({
            "rows": n, "kernel": kernel, "C": C, "tordinal s": a["seconds"], "skordinal s": b["seconds"],
            "times faster": b["seconds"] / a["seconds"], "tordinal MB": a["peak_mb"], "skordinal MB": b["peak_mb"],
            "equal predictions": float(np.mean(a["predicted"] == b["predicted"])),
            "SMO steps": a["steps"], "first use s": a["first_use"],
        })  # fmt: skip
    show("REDSVM, 16 features, tol 1e-3, kernel time included", rows)
    return rows

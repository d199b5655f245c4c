"""SVOR against skordinal's SVOR: time, memory, same predictions."""

from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import measure, ordinal_rows, show, timed

GAMMA = 1 / 16


def problem(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    X, y = ordinal_rows(n + 2000)
    return X[:n], y[:n], X[n:]


def ours(n: int, C: float, constraints: str) -> dict[str, Any]:
    from tordinal import SVOR

    X, y, X_new = problem(n)
    SVOR(kernel="rbf").fit(X[:1100], y[:1100])
    model, seconds = timed(
        lambda: SVOR(C=C, kernel="rbf", gamma=GAMMA, constraints=constraints).fit(X, y)
    )
    return {"seconds": seconds, "predicted": model.predict(X_new)}


def theirs(n: int, C: float, constraints: str) -> dict[str, Any]:
    from skordinal.classifiers import SVOR

    X, y, X_new = problem(n)
    model, seconds = timed(
        lambda: SVOR(C=C, kernel="rbf", gamma=GAMMA, constraints=constraints, tol=1e-3).fit(X, y)
    )
    return {"seconds": seconds, "predicted": model.predict(X_new)}


def run(quick: bool, data: Path) -> list[dict[str, Any]]:
    cases = [(500, 1.0)] if quick else [(2000, 1.0), (2000, 100.0), (5000, 1.0), (5000, 100.0)]
    rows = []
    for n, C in cases:
        for constraints in ("implicit", "explicit"):
            a, b = measure(ours, n, C, constraints), measure(theirs, n, C, constraints)
            rows.append({
                "rows": n, "C": C, "constraints": constraints,
                "tordinal s": a["seconds"], "skordinal s": b["seconds"],
                "times faster": b["seconds"] / a["seconds"],
                "tordinal MB": a["peak_mb"], "skordinal MB": b["peak_mb"],
                "equal predictions": float(np.mean(a["predicted"] == b["predicted"])),
            })  # fmt: skip
    show("SVOR, rbf kernel, 16 features, tol 1e-3, kernel time included", rows)
    return rows

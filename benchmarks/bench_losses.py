"""Fit time of every loss beside hinge, REDSVM and TOR, dense perceptron and sparse linear."""

from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import measure, ordinal_rows, show, timed

LOSSES = ("hinge", "laplacian", "squared_hinge", "logistic", "square")


def fit(method: str, kind: str, n: int, loss: str) -> dict[str, Any]:
    from tordinal import REDSVM, TOR
    from tordinal.datasets import make_ordinal_clusters

    if kind == "perceptron":
        X, y = ordinal_rows(n)
        kernel = "perceptron"
    else:
        X, y = make_ordinal_clusters(n, p=0.2, random_state=0)
        kernel = "linear"
    model = (REDSVM if method == "REDSVM" else TOR)(kernel=kernel, loss=loss)
    target = y if method == "REDSVM" else np.where(np.arange(n) < 200, y, -1)
    small = np.r_[0:1100]
    type(model)(kernel=kernel, loss=loss).fit(X[small], y[small])
    model, seconds = timed(lambda: model.fit(X, target))
    return {"seconds": seconds, "trainings": len(model.history_), "n_iter": model.n_iter_}


def run(quick: bool, data: Path) -> list[dict[str, Any]]:
    cases = [("REDSVM", "perceptron", 600), ("TOR", "sparse linear", 600)] if quick else [
        ("REDSVM", "perceptron", 2000), ("REDSVM", "perceptron", 5000),
        ("REDSVM", "sparse linear", 2500),
        ("TOR", "perceptron", 2000), ("TOR", "perceptron", 5000), ("TOR", "sparse linear", 2500),
    ]  # fmt: skip
    rows = []
    for method, kind, n in cases:
        results = {loss: measure(fit, method, kind, n, loss) for loss in LOSSES}
        for loss, result in results.items():
            rows.append({
                "method": method, "data": kind, "rows": n, "loss": loss,
                "seconds": result["seconds"],
                "times hinge": result["seconds"] / results["hinge"]["seconds"],
                "trainings": result["trainings"], "steps or products": result["n_iter"],
                "MB": result["peak_mb"],
            })  # fmt: skip
    show("Losses, C = 1, tol 1e-3, kernel time included", rows)
    return rows

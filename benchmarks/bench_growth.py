"""How time and memory grow with the rows: REDSVM and TOR on 1,000 to 22,784 census rows."""

from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import census, measure, ordinal_rows, show, timed


def rows_of(n: int, data: str) -> tuple[np.ndarray, np.ndarray]:
    return census(Path(data), n) if (Path(data) / "census").is_dir() else ordinal_rows(n)


def redsvm(n: int, data: str) -> dict[str, Any]:
    from tordinal import REDSVM

    X, y = rows_of(n, data)
    REDSVM(kernel="perceptron").fit(X[:1000], y[:1000])
    model, seconds = timed(lambda: REDSVM(kernel="perceptron").fit(X, y))
    return {"seconds": seconds, "steps": model.n_iter_, "trainings": 1}


def tor(n: int, data: str) -> dict[str, Any]:
    from tordinal import TOR

    X, y = rows_of(max(n, 6000), data)
    hidden = np.where(np.arange(len(y)) < 100, y, -1)
    TOR(kernel="perceptron", C2_max=1e-2).fit(X[:6000], hidden[:6000])
    model, seconds = timed(lambda: TOR(kernel="perceptron").fit(X[:n], hidden[:n]))
    return {"seconds": seconds, "steps": model.n_iter_, "trainings": len(model.history_)}


def run(quick: bool, data: Path) -> list[dict[str, Any]]:
    sizes = [500, 1000, 2000] if quick else [1000, 2000, 4000, 8000, 16000, 22784]
    rows = []
    for name, work in (("REDSVM", redsvm), ("TOR, 100 labels", tor)):
        runs = [measure(work, n, str(data)) for n in sizes]
        slope = np.polyfit(np.log(sizes), np.log([r["seconds"] for r in runs]), 1)[0]
        rows += [
            {
                "fit": name, "rows": n, "s": r["seconds"], "peak MB": r["peak_mb"],
                "trainings": r["trainings"], "steps": r["steps"],
                "us a step": 1e6 * r["seconds"] / r["steps"], "fitted: s ~ rows^": f"{slope:.2f}",
            }
            for n, r in zip(sizes, runs, strict=True)
        ]  # fmt: skip
        show("Growth, perceptron kernel, C = 1, tol 1e-3, kernel time included", rows)
    return rows

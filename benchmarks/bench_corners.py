"""No slow corner: seconds over shapes, kernels, losses and C, a process and 60 s for each field."""

import multiprocessing
import time
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.bench_linear import text_rows
from benchmarks.harness import ordinal_rows, show

LIMIT, LABELS = 60.0, 100
LOSSES = ("hinge", "squared_hinge", "logistic", "square", "laplacian")
SHAPES = [
    (1000, 16, "linear"), (1000, 16, "perceptron"), (1000, 16, "rbf"),
    (2000, 16, "linear"), (2000, 16, "perceptron"), (2000, 16, "rbf"),
    (2000, 256, "linear"), (2000, 256, "perceptron"), (2000, 256, "rbf"),
    (2000, 384, "linear"),
    (5000, 256, "linear"), (5000, 256, "perceptron"), (5000, 256, "rbf"),
    (5000, 768, "linear"),
    (2000, "text", "linear"), (2000, "text", "rbf"),
    (5000, "text", "linear"), (5000, "text", "rbf"),
]  # fmt: skip
# The other estimators, with their usual settings, on some of them.
OTHERS = [
    (2000, 16, "perceptron"),
    (2000, 256, "linear"),
    (5000, 256, "rbf"),
    (5000, "text", "linear"),
]


def problem(n: int, d: int | str) -> tuple[Any, np.ndarray, np.ndarray]:
    """Rows, ranks, and the ranks of which only the first are shown."""
    if d == "text":
        X, y = text_rows(n, 5, np.float64)
        X = sp.csr_matrix(X)[:, :10_000]
    else:
        X, y = ordinal_rows(n, int(d))
    return X, y, np.where(np.arange(n) < LABELS, y, -1)


def fit(name: str, n: int, d: int | str, kernel: str, parameters: dict[str, Any]) -> dict[str, Any]:
    import tordinal

    kind = getattr(tordinal, name)
    X, y, hidden = problem(n, d)
    y = hidden if name in ("TOR", "MTSVM") else y
    some = np.r_[:150] if len(np.unique(y[:150])) > 1 else np.arange(len(y))
    kind(kernel=kernel, **parameters).fit(X[some], y[some])  # compiles, or loads what is compiled
    start, cpu = time.perf_counter(), time.process_time()
    model = kind(kernel=kernel, **parameters).fit(X, y)
    return {
        "seconds": time.perf_counter() - start, "cpu": time.process_time() - cpu,
        "objective": float(getattr(model, "objective_", np.nan)),
        "trainings": len(getattr(model, "history_", [0])),
    }  # fmt: skip


def _work(pipe: Any, args: tuple[Any, ...]) -> None:
    pipe.send("ready")
    pipe.send(fit(*args))


def field(*args: Any) -> dict[str, Any] | None:
    """A field of the map in a process of its own; None where the limit was reached."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=_work, args=(there, args), daemon=True)
    process.start()
    here.recv()  # the process is up
    result = here.recv() if here.poll(2 * LIMIT) else None  # half of it for compilation
    process.kill()
    process.join()
    return None if result is None or result["seconds"] > LIMIT else result


def _row(name: str, n: int, d: int | str, kernel: str, columns: list[dict[str, Any]]) -> Any:
    row: dict[str, Any] = {"fit": name, "rows": n, "features": d, "kernel": kernel}
    details = []
    for parameters in columns:
        result = field(name, n, d, kernel, parameters)
        title = ", ".join(f"{key}={value}" for key, value in parameters.items())
        row[title] = f"> {LIMIT:.0f}" if result is None else f"{result['seconds']:.2f}"
        details.append(
            {"field": f"{name} {n} x {d} {kernel}", "parameters": title, **(result or {})}
        )
    print(" ".join(map(str, row.values())), flush=True)
    return row, details


def run(quick: bool, data: Path) -> list[dict[str, Any]]:
    shapes, others = (SHAPES[:2], OTHERS[:1]) if quick else (SHAPES, OTHERS)
    columns: list[dict[str, Any]] = [{"loss": loss, "C": C} for loss in LOSSES for C in (1, 100)]
    rows, details = [], []
    for shape in shapes:
        row, more = _row("TOR", *shape, columns)
        rows.append(row)
        details += more
    for name in ("REDSVM", "SVOR", "MTSVM"):
        for shape in others:
            row, more = _row(name, *shape, [{"C": 1}, {"C": 100}])
            rows.append(row)
            details += more
    show("Seconds, compiled before", rows[: len(shapes)])
    show("The other estimators", rows[len(shapes) :])
    return rows + [d for d in details if "seconds" in d]

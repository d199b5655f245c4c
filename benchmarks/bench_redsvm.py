"""REDSVM against skordinal's REDSVM, and SVC on the extended problem: time, memory, answers."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import census, measure, ordinal_rows, show, timed


def problem(n: int, data: str, dense_linear: bool) -> tuple[np.ndarray, np.ndarray]:
    return (
        ordinal_rows(n)
        if dense_linear or not (Path(data) / "census").is_dir()
        else census(Path(data), n)
    )


def ours(n: int, kernel: str, C: float, data: str) -> dict[str, Any]:
    from tordinal import REDSVM

    X, y = problem(n, data, kernel == "linear")
    _, compiling = timed(lambda: REDSVM(kernel=kernel).fit(X[:5000], y[:5000]))
    start = time.process_time()
    model, seconds = timed(lambda: REDSVM(C=C, kernel=kernel).fit(X, y))
    cpu = time.process_time() - start
    moved = traffic(lambda: REDSVM(C=C, kernel=kernel).fit(X, y)) if kernel != "linear" else 0.0
    return {
        "cpu": cpu, "kb_a_step": moved / 1024 / max(model.n_iter_, 1),
        "share": moved / seconds / bandwidth(),
        "seconds": seconds, "first_use": compiling, "objective": model.objective_,
        "steps": model.n_iter_, "predicted": model.predict(X),
    }  # fmt: skip


def traffic(fit: Callable[[], Any]) -> float:
    """Bytes of kernel values that a fit reads from main memory, counted in a run of its own.

    Rows that are combined are read whole. Of rows that come into a working set some columns are
    read, but never less than a line of the cache (64 bytes) each. Steps work in the cache.
    """
    from tordinal.engines.host.gram import Gram

    total = 0.0
    combine, block = Gram.combine, Gram.block

    def counted_combine(self: Any, index: Any, coefficients: Any) -> Any:
        nonlocal total
        total += len(index) * self.n_rows * self.dtype.itemsize
        return combine(self, index, coefficients)

    def counted_block(self: Any, rows: Any, columns: Any) -> Any:
        nonlocal total
        if not isinstance(rows, slice):
            total += len(rows) * min(64 * len(columns), self.n_rows * self.dtype.itemsize)
        return block(self, rows, columns)

    Gram.combine, Gram.block = counted_combine, counted_block  # type: ignore[method-assign]
    try:
        fit()
    finally:
        Gram.combine, Gram.block = combine, block  # type: ignore[method-assign]
    return total


def bandwidth() -> float:
    """Bytes a second that one core reads from main memory."""
    data = np.ones(2**24)
    data.sum()
    return data.nbytes / min(timed(data.sum)[1] for _ in range(5))


def theirs(n: int, kernel: str, C: float, data: str) -> dict[str, Any]:
    from skordinal.classifiers import REDSVM

    X, y = problem(n, data, kernel == "linear")
    model, seconds = timed(lambda: REDSVM(C=C, kernel=kernel, tol=1e-3, cache_size=2500).fit(X, y))
    return {"seconds": seconds, "predicted": model.predict(X), "objective": None}


def with_svc(n: int, kernel: str, C: float, data: str) -> dict[str, Any]:
    """scikit-learn's SVC on the extended problem: each row once per threshold."""
    from sklearn.svm import SVC

    from tordinal.couplings import Reduction
    from tordinal.losses import Hinge
    from tordinal.problem import Problem
    from tordinal.reduction import ranks, signs

    X, y = problem(n, data, kernel == "linear")
    X = X - X.mean(axis=0)
    m = len(np.unique(y)) - 1
    extended = np.hstack([np.repeat(X, m, axis=0), -np.tile(np.eye(m), (n, 1))])
    model, seconds = timed(
        lambda: SVC(kernel="linear", C=C, tol=1e-3).fit(extended, signs(y - 1, m).ravel())
    )
    w, t = model.coef_[0, :-m], np.sort(model.coef_[0, -m:] - model.intercept_[0])
    h = X @ w
    extended_problem = Problem(Hinge(), Reduction(), m)
    value = extended_problem.objective(y - 1, np.full(n, C), h, float(w @ w), t)
    return {"seconds": seconds, "predicted": 1 + ranks(h, t), "objective": value}


def run(quick: bool, data: Path) -> list[dict[str, Any]]:
    cases = [
        (n, "perceptron", 1.0, theirs, "skordinal.REDSVM")
        for n in ((1000,) if quick else (5000, 10000, 22784))
    ]
    if not quick:
        cases += [
            (5000, "linear", 100.0, theirs, "skordinal.REDSVM"),
            (5000, "linear", 100.0, with_svc, "SVC, extended"),
        ]
    rows = []
    for n, kernel, C, peer, name in cases:
        a, b = measure(ours, n, kernel, C, str(data)), measure(peer, n, kernel, C, str(data))
        equal = float(np.mean(a["predicted"] == b["predicted"]))
        ratio = "" if b["objective"] is None else f"{a['objective'] / b['objective']:.5f}"
        rows.append({
            "rows": n, "kernel": kernel, "C": C, "tordinal s": a["seconds"], "peer": name,
            "peer s": b["seconds"], "times faster": b["seconds"] / a["seconds"],
            "tordinal MB": a["peak_mb"], "peer MB": b["peak_mb"], "equal predictions": equal,
            "objective / peer's": ratio, "steps": a["steps"], "CPU s": a["cpu"],
            "kB a step": a["kb_a_step"], "share of bandwidth": a["share"],
            "first use s": a["first_use"],
        })  # fmt: skip
        show(
            "REDSVM, tol 1e-3, kernel time included (perceptron: census; linear: 16 features)",
            rows,
        )
    return rows

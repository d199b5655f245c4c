"""Timing in processes of their own, tables, and results with versions and machine."""

import json
import multiprocessing
import os
import platform
import resource
import sys
import time
from collections.abc import Callable
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from tordinal.engines.cuda.device import find_device

PACKAGES = ("tordinal", "numpy", "scipy", "scikit-learn", "numba", "skordinal")
WHERE_USED = {"cupy": "cupy-cuda13x", "torch": "torch", "torchkm": "torchkm"}


def measure(work: Callable[..., dict[str, Any]], *args: Any) -> dict[str, Any]:
    """Run ``work(*args)`` in a fresh process; its result with the process's peak memory in MB.

    A virtual machine gets memory from its host when it first touches it, which takes seconds for
    gigabytes. So that no run is charged for it, that much memory is touched and given back before.
    """
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool:
        pool.apply(_touch_memory)
    with context.Pool(1) as pool:
        return pool.apply(_run, (work, args))


def _touch_memory(gigabytes: int = 3) -> None:
    [np.ones(2**27) for _ in range(gigabytes)]


def _run(work: Callable[..., dict[str, Any]], args: tuple[Any, ...]) -> dict[str, Any]:
    result = work(*args)
    result["peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return result


def timed(fit: Callable[[], Any]) -> tuple[Any, float]:
    start = time.perf_counter()
    return fit(), time.perf_counter() - start


def show(title: str, rows: list[dict[str, Any]]) -> None:
    table = Table(title=title)
    for name in rows[0]:
        table.add_column(name, justify="left" if isinstance(rows[0][name], str) else "right")
    for row in rows:
        table.add_row(*(f"{v:.3g}" if isinstance(v, float) else str(v) for v in row.values()))
    Console(width=150).print(table)


def save(name: str, records: list[dict[str, Any]], out: Path, quick: bool) -> Path:
    out.mkdir(parents=True, exist_ok=True)
    path = out / f"{name}{'-quick' if quick else ''}.json"
    used = [package for module, package in WHERE_USED.items() if module in sys.modules]
    versions = {}
    for package in (*PACKAGES, *used):
        try:
            versions[package] = version(package)
        except PackageNotFoundError:  # the checkout itself on a machine where nothing is installed
            versions[package] = "not installed"
    machine = {
        "cores": os.cpu_count(),
        "machine": platform.machine(),
        "python": platform.python_version(),
    }
    if "cupy" in sys.modules:
        machine["gpu"] = find_device().name
    content = {
        "date": date.today().isoformat(),
        "machine": machine,
        "versions": versions,
        "records": records,
    }
    path.write_text(json.dumps(content, indent=1) + "\n")
    return path


def page(results: Path, target: Path) -> Path:
    """Write the page of results for the docs: for each stored benchmark its notes and a table."""
    parts = [
        "# Benchmarks\n\n"
        "Made by `python -m benchmarks --page` from `benchmarks/results/`. "
        "Every figure is from one run.\n"
    ]
    for path in sorted(results.glob("*.json")):
        if path.stem.endswith("-quick"):
            continue
        content = json.loads(path.read_text())
        versions = ", ".join(f"{name} {number}" for name, number in content["versions"].items())
        machine = content["machine"]
        gpu = f", {machine['gpu']}" if "gpu" in machine else ""
        parts.append(
            f"\n## {path.stem}\n\n`python -m benchmarks {path.stem}`, {content['date']}, "
            f"{machine['cores']} cores{gpu}, Python {machine['python']}, "
            f"{versions}.\n"
        )
        notes = results / f"{path.stem}.md"
        if notes.exists():
            parts.append("\n" + notes.read_text())
        last: list[str] = []
        for record in content["records"]:
            if "field" in record:  # single figures behind a map
                continue
            if list(record) != last:
                last = list(record)
                parts.append("\n| " + " | ".join(last) + " |\n" + "|---" * len(last) + "|\n")
            cells = (f"{v:.3g}" if isinstance(v, float) else str(v) for v in record.values())
            parts.append("| " + " | ".join(cells) + " |\n")
    target.write_text("".join(parts))
    return target


def ordinal_rows(n: int, n_features: int = 16, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows and five equally frequent ranks of a noisy nonlinear score."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_features))
    score = X @ rng.normal(size=n_features) + 2 * np.sin(2 * X[:, 0]) + rng.normal(size=n)
    return X, 1 + np.searchsorted(np.quantile(score, [0.2, 0.4, 0.6, 0.8]), score)


def census(data: Path, n: int | None = None, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Standardised census rows and five ranks, in a random order."""
    import pandas as pd

    from tordinal.datasets import quantize

    table = pd.read_csv(data / "census" / "574_house_16H.tsv.gz", sep="\t")
    X = table.drop(columns="target").to_numpy(dtype=np.float64)
    y = quantize(table["target"].to_numpy(), 5)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    order = np.random.default_rng(seed).permutation(len(y))[:n]
    return X[order], y[order]

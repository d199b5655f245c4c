"""``tordinal label`` on reviews, categories and numbers: time and memory, and how they grow."""

import csv
import itertools
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import show

SIZES = {1_000: 100, 5_000: 250, 20_000: 500, 100_000: 1_000}  # rows and labels


def write_table(path: Path, n: int, labels: int) -> np.ndarray:
    from tordinal.datasets import make_reviews

    texts, stars = make_reviews(n, random_state=0)
    known = np.zeros(n, dtype=bool)
    known[np.random.default_rng(0).permutation(n)[:labels]] = True
    # Rare words of all kinds, so that the vocabulary is as large as that of real text.
    rng = np.random.default_rng(1)
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["review", "stars"])
        for text, star, is_known in zip(texts, stars, known, strict=True):
            names = " ".join(f"w{v}" for v in np.minimum(rng.zipf(1.3, 20), 60_000))
            writer.writerow([f"{text} {names}", star if is_known else ""])
    return stars


NUMERIC = {10_000: 300, 100_000: 300, 500_000: 300}  # rows of ten numbers, and labels


def write_numbers(path: Path, n: int, labels: int) -> np.ndarray:
    """Ten normal columns, graded by a sum and a product of them with noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 10)).round(4)
    score = X[:, 0] + X[:, 1] + X[:, 2] * X[:, 3] + 0.5 * rng.normal(size=n)
    grade = 1 + np.digitize(score, np.quantile(score, [0.2, 0.45, 0.7]))
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*(f"x{j}" for j in range(X.shape[1])), "stars"])
        for i, row in enumerate(X.tolist()):
            writer.writerow([*row, grade[i] if i < labels else ""])
    return grade


LEVELS = (3, 5, 4, 4, 3, 2, 3, 3)  # values of eight categories: 12,960 rows, every combination


def write_categories(path: Path, labels: int) -> np.ndarray:
    """Every combination of eight categories, graded by a weighted sum and one interaction."""
    cells = np.array(list(itertools.product(*map(range, LEVELS))))
    cells = np.random.default_rng(0).permutation(cells)
    weight = np.array([1.0, 1.2, 0.4, 0.5, 0.6, 0.3, 0.5, 2.0]) / (np.array(LEVELS) - 1)
    score = cells @ weight + 0.5 * ((cells[:, 7] == 2) & (cells[:, 0] > 0))
    grade = 1 + np.digitize(score, np.quantile(score, [0.3, 0.55, 0.8, 0.95]))
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*(f"c{j}" for j in range(len(LEVELS))), "stars"])
        for i, row in enumerate(cells):
            writer.writerow([*(f"v{v}" for v in row), grade[i] if i < labels else ""])
    return grade


def label(kind: str, n: int, labels: int) -> dict[str, Any]:
    """Run the command in a process of its own."""
    code = (
        "import resource, sys, runpy\nsys.argv[0] = 'tordinal'\nfrom tordinal.cli import main\n"
        "try: main()\nexcept SystemExit as end: assert not end.code, end.code\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)"
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        if kind == "8 categories":
            stars = write_categories(path / "in.csv", labels)
        else:
            write = write_table if kind == "reviews" else write_numbers
            stars = write(path / "in.csv", n, labels)
        command = [
            "label", path / "in.csv", "--target", "stars", "-o", path / "out.csv",
            "--report", path / "r.html", "--model", path / "m.skops", "--quiet", "--jobs", "2",
        ]  # fmt: skip
        start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(
            [sys.executable, "-c", code, *map(str, command)],
            capture_output=True,
            text=True,
            check=False,
        )
        seconds = time.perf_counter() - start
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        if done.returncode:
            raise RuntimeError(done.stderr)
        with (path / "out.csv").open(newline="") as file:
            rows = list(csv.DictReader(file))
        off = [
            abs(int(r["stars_predicted"]) - s)
            for r, s in zip(rows, stars, strict=True)
            if r["stars_source"] == "predicted"
        ]
        sizes = {
            name: (path / name).stat().st_size / 2**20 for name in ("in.csv", "r.html", "m.skops")
        }
    return {
        "seconds": seconds,
        "cpu": cpu,
        "peak_mb": float(done.stdout.split()[-1]),
        "mae": float(np.mean(off)),
        **sizes,
    }


def run(quick: bool, data: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    tables = [("reviews", *size) for size in SIZES.items() if not quick or size[0] <= 5_000]
    numeric = [("10 numbers", *size) for size in NUMERIC.items() if not quick or size[0] <= 10_000]
    for kind, n, labels in [("8 categories", 12_960, 100), *tables, *numeric]:
        a = label(kind, n, labels)
        last = rows[-1] if rows and rows[-1]["table"] == kind else None
        growth = (
            f"{np.log(a['seconds'] / last['s']) / np.log(n / last['rows']):.2f}" if last else ""
        )
        rows.append({
            "table": kind, "rows": n, "labels": labels, "s": a["seconds"], "CPU s": a["cpu"],
            "peak MB": a["peak_mb"], "growth: s ~ rows^": growth, "MAE": a["mae"],
            "table MB": a["in.csv"], "report MB": a["r.html"], "model MB": a["m.skops"],
        })  # fmt: skip
        show("tordinal label, everything untouched", rows)
    return rows

"""``tordinal label`` on made-up reviews: time, memory and how they grow with the rows."""

import csv
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


def label(n: int, labels: int) -> dict[str, Any]:
    """Run the command in a process of its own."""
    code = (
        "import resource, sys, runpy\nsys.argv[0] = 'tordinal'\nfrom tordinal.cli import main\n"
        "try: main()\nexcept SystemExit as end: assert not end.code, end.code\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)"
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        stars = write_table(path / "in.csv", n, labels)
        command = [
            "label", path / "in.csv", "--target", "stars", "--text", "review",
            "-o", path / "out.csv", "--report", path / "r.html", "--model", path / "m.skops",
            "--quiet", "--jobs", "2",
        ]  # fmt: skip
        start = time.perf_counter()
        done = subprocess.run(
            [sys.executable, "-c", code, *map(str, command)],
            capture_output=True,
            text=True,
            check=False,
        )
        seconds = time.perf_counter() - start
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
        "peak_mb": float(done.stdout.split()[-1]),
        "mae": float(np.mean(off)),
        **sizes,
    }


def run(quick: bool, data: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for n, labels in SIZES.items():
        if quick and n > 5_000:
            break
        a = label(n, labels)
        growth = (
            f"{np.log(a['seconds'] / rows[-1]['s']) / np.log(n / rows[-1]['rows']):.2f}"
            if rows
            else ""
        )
        rows.append({
            "rows": n, "labels": labels, "s": a["seconds"], "peak MB": a["peak_mb"],
            "growth: s ~ rows^": growth, "MAE": a["mae"],
            "table MB": a["in.csv"], "report MB": a["r.html"], "model MB": a["m.skops"],
        })  # fmt: skip
        show("tordinal label, method auto, text", rows)
    return rows

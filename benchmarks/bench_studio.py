"""The studio in a browser: from a key press to the next row and to new estimates; memory."""

import contextlib
import csv
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.bench_board import AMAZON, reviews
from benchmarks.harness import show

ROWS, RATINGS = 5000, 200  # reviews; ratings, each of which waits for new estimates
BURST = 40  # further ratings, given as fast as rows appear
FEWEST = 12  # ratings after which there are estimates in any case
STUDIO = [sys.executable, "-c", "from tordinal.cli import main; main()", "studio"]
# Runs in the page: when a key was pressed, its row was replaced and painted, and when estimates
# that count the new rating were shown.
WATCH = """() => {
  window.seen = { key: 0, row: 0, estimate: 0, wanted: Infinity };
  document.addEventListener("keydown", () => {
    Object.assign(seen, { key: performance.now(), row: 0, estimate: 0, wanted: state.rated + 1 });
  }, true);
  const showRow = show, showNumbers = showEstimates;
  show = (next) => {
    showRow(next);
    if (!seen.row) requestAnimationFrame(() => { seen.row = performance.now(); });
  };
  showEstimates = (e) => {
    showNumbers(e);
    if (e.ratings >= seen.wanted && !seen.estimate) seen.estimate = performance.now();
  };
}"""


def write_table(data: Path, path: Path, n: int) -> list[str]:
    """A table of reviews without stars; their stars."""
    found = [pair for name in AMAZON for pair in zip(*reviews(data, name), strict=True)]
    order = np.random.default_rng(0).permutation(len(found))[:n]
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["review"])
        writer.writerows([found[i][0].strip()] for i in order)
    return [f"{found[i][1]:g}" for i in order]


@contextlib.contextmanager
def studio(table: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A running studio: its process, and the address with the token."""
    process = subprocess.Popen(
        [*STUDIO, str(table), "--text", "review", "--target", "stars", "--order", "1,2,4,5",
         "--no-browser", "--goal", "0.5"],
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert process.stderr is not None
        for line in process.stderr:
            if found := re.search(r"http://127\.0\.0\.1:\d+/\?token=\S+", line):
                yield process, found[0]
                return
        raise RuntimeError("the studio did not start")
    finally:
        process.terminate()
        process.wait(60)


def used(process: Any) -> tuple[float, float]:
    """CPU seconds and memory in MB so far."""
    times = process.cpu_times()
    return times.user + times.system, process.memory_info().rss / 2**20


def rate(tab: Any, stars: list[str], *, waits: bool) -> tuple[float, float | None]:
    """Rate the row that is shown. Milliseconds until the next row, and until new estimates."""
    row, kind, n_rated = tab.evaluate("[state.item.row, state.item.kind, state.mine]")
    # Ratings of a row that is asked twice change no estimate; the first few ratings give none.
    is_counted = waits and kind == "new" and n_rated >= FEWEST
    tab.keyboard.press(stars[row - 2])
    tab.wait_for_function("c => seen.row && !busy && (seen.estimate || !c)", arg=is_counted)
    to_row, to_estimate = tab.evaluate("[seen.row - seen.key, seen.estimate - seen.key]")
    return to_row, to_estimate if is_counted else None


def spread(kind: str, values: list[float]) -> dict[str, Any]:
    middle, high = np.quantile(values, [0.5, 0.95])
    return {
        "what": kind, "median, ms": float(middle), "95 %, ms": float(high),
        "largest, ms": max(values), "n": len(values),
    }  # fmt: skip


def run(quick: bool, data: Path) -> list[dict[str, Any]]:
    import psutil
    from playwright.sync_api import sync_playwright

    n_rows, n_ratings, burst = (500, 30, 10) if quick else (ROWS, RATINGS, BURST)
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        table = Path(folder) / "reviews.csv"
        stars = write_table(data, table, n_rows)
        start = time.perf_counter()
        process, address = stack.enter_context(studio(table))
        opening = time.perf_counter() - start
        server = psutil.Process(process.pid)
        browser = stack.enter_context(sync_playwright()).chromium.launch(
            executable_path=chromium, args=["--no-sandbox"]
        )
        tab = browser.new_page()
        tab.goto(address)
        tab.wait_for_selector("#row-title:has-text('Row ')")
        tab.evaluate(WATCH)
        rows, estimates, memory, cpu = [], [], [], []
        for _ in range(n_ratings):
            row, estimate = rate(tab, stars, waits=True)
            rows.append(row)
            if estimate is not None:
                estimates.append(estimate)
            seconds, megabytes = used(server)
            cpu.append(seconds)
            memory.append(megabytes)
        hurried = [rate(tab, stars, waits=False)[0] for _ in range(burst)]
        browser.close()
    settled = max(len(memory) // 4, 1)
    records = [
        spread("key to next row", rows),
        spread("key to new estimates", estimates),
        spread("key to next row, without waiting for estimates", hurried),
    ]
    show(f"{n_ratings} ratings of {n_rows} reviews", records)
    growth = np.polyfit(np.arange(settled, len(memory)), memory[settled:], 1)[0]
    rest = [
        {
            "seconds to open": opening, "CPU s per rating": float(np.mean(np.diff(cpu))),
            f"MB after {settled}": memory[settled - 1], f"MB after {n_ratings}": memory[-1],
            "MB per 100 ratings": float(100 * growth),
            "load of the machine": os.getloadavg()[1],
        }
    ]  # fmt: skip
    show("the process of the studio", rest)
    return [*records, *rest]

"""Ten minutes of random problems from the whole ranges of the solvers' contract."""

import contextlib
import multiprocessing
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.harness import show

LIMIT = 20.0  # CPU seconds for one fit: other work on the machine does not count


def _contract() -> Any:
    """The promises, which live with the tests."""
    tests = str(Path(__file__).parents[1] / "tests")
    if tests not in sys.path:
        sys.path.insert(0, tests)
    import contract

    return contract


def check(seeds: Any, results: Any) -> None:
    """Check case after case; the one at work is announced, so that a timeout can name it."""
    contract = _contract()
    while True:
        seed, number = seeds.get()
        case = contract.draw(seed, contract.COMBINATIONS[number])
        results.put(("begin", str(case)))
        start = time.process_time()
        with contextlib.suppress(Exception):  # reported below
            case.make().solve(case.y, case.cost, tol=contract.TOL)
        seconds = time.process_time() - start
        try:
            verdict = contract.verdict(case)
        except Exception as error:
            verdict = contract.Verdict([repr(error)])
        results.put(("end", (str(case), seconds, vars(verdict))))


def run(quick: bool, data: Path) -> list[dict[str, Any]]:
    contract, context = _contract(), multiprocessing.get_context("spawn")
    end = time.monotonic() + (20 if quick else 600)
    rows = {
        s.__name__: {"solver": s.__name__, "cases": 0, "converged": 0, "warned": 0,
                     "rejected": 0, "references run": 0, "timeouts": 0, "silent differences": 0,
                     "slowest CPU s": 0.0}
        for s, *_ in contract.COMBINATIONS
    }  # fmt: skip
    numbers = len(contract.COMBINATIONS)
    todo = ((seed, seed % numbers) for seed in range(1000, 10**6))
    seeds, results = context.Queue(), context.Queue()
    worker = context.Process(target=check, args=(seeds, results), daemon=True)
    worker.start()
    while time.monotonic() < end:
        seeds.put(next(todo))
        words = results.get()[1]
        row = rows[words.split()[0]]
        row["cases"] += 1
        # A case is solved several times: alone, warm, permuted, twice.
        started = time.monotonic()
        while results.empty() and time.monotonic() - started < 10 * LIMIT:
            time.sleep(0.005)
        if results.empty():
            print("timeout:", words)
            row["timeouts"] += 1
            worker.kill()
            seeds, results = context.Queue(), context.Queue()
            worker = context.Process(target=check, args=(seeds, results), daemon=True)
            worker.start()
            continue
        words, seconds, verdict = results.get()[1]
        row["slowest CPU s"] = max(row["slowest CPU s"], seconds)
        if seconds > LIMIT:
            print(f"{seconds:.1f} s:", words)
            row["timeouts"] += 1
        row["converged"] += verdict["converged"]
        row["rejected"] += verdict["rejected"]
        row["warned"] += not (verdict["converged"] or verdict["rejected"])
        row["references run"] += verdict["compared"]
        if verdict["broken"]:
            row["silent differences"] += 1
            print(words, verdict["broken"], flush=True)
    worker.kill()
    show("The contract, tol 1e-5", list(rows.values()))
    return list(rows.values())

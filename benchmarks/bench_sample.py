"""Whether TORCV's error suffers when members are fitted with a part of the unlabelled rows."""

from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import measure, show


def fit(name: str, seed: int, most: int, data: str) -> dict[str, Any]:
    import time

    from sklearn.preprocessing import StandardScaler

    from tordinal import TORCV
    from tordinal.datasets import fetch_california, fetch_census

    fetch = {"census": fetch_census, "california": fetch_california}[name]
    bunch = fetch(data_home=data)
    X, y = StandardScaler().fit_transform(bunch.data), np.asarray(bunch.target)
    given = np.random.default_rng(seed).permutation(len(y))[:100]
    hidden = np.full(len(y), -1)
    hidden[given] = y[given]
    wall, cpu = time.perf_counter(), time.process_time()
    model = TORCV(max_unlabeled=most, swaps=("all", "optimal")).fit(X, hidden)
    off = np.abs(model.transduction_ - y)[hidden == -1]
    return {
        "zero_one": float((off > 0).mean()), "mae": float(off.mean()),
        "s": time.perf_counter() - wall, "CPU s": time.process_time() - cpu,
    }  # fmt: skip


def run(quick: bool, data: Path) -> list[dict[str, Any]]:
    rows = []
    for name in ("census", "california"):
        for most in (2_500, 5_000, 10_000, 10**9):
            found = [measure(fit, name, s, most, str(data)) for s in range(1 if quick else 5)]
            mean = {key: float(np.mean([f[key] for f in found])) for key in found[0]}
            all_rows = "all" if most == 10**9 else f"{most:,}"
            rows.append({"dataset": name, "unlabelled rows": all_rows, "draws": len(found), **mean})
            show("TORCV, 100 labels, members fitted with a part of the unlabelled rows", rows)
    return rows

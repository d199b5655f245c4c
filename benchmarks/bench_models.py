"""A thousand damaged model files: each is rejected or works, none ends in a traceback or signal."""

import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.harness import show, timed


def run(quick: bool, data: Path) -> list[dict[str, Any]]:
    from tordinal.datasets import make_reviews
    from tordinal.tables.columns import TableEncoder
    from tordinal.tables.models import dump_model
    from tordinal.tables.rating import Settings, rate
    from tordinal.tables.target import read_target

    sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
    from damaged_models import fuzz

    texts, stars = make_reviews(120, random_state=0)
    target = read_target("stars", [str(s) if i < 40 else "" for i, s in enumerate(stars)], None)
    shop = ["abcdefgh"[i % 8] for i in range(120)]
    table = {"review": texts, "n": [str(i % 7) for i in range(120)], "shop": shop}
    rows = []
    for name, settings in (
        ("TORCV, words and phrases", Settings(C=1.0, choose_columns=False)),
        ("TOR, rbf kernel", Settings(method="tor", kernel="rbf", choose_columns=False)),
    ):
        model = rate(table, target, TableEncoder(), settings, lambda *_: None).model
        few = {column: cells[:20] for column, cells in table.items()}
        with tempfile.TemporaryDirectory() as folder:
            n = 50 if quick else 1000
            outcomes, seconds = timed(lambda: fuzz(dump_model(model), Path(folder), n, few))  # noqa: B023
        known = ("used", "rejected", "rejected on use")
        failed = [what for what in outcomes if what not in known]
        row = {"model": name, "files": n, **{k: outcomes.get(k, 0) for k in known}}
        rows.append({**row, "failed": len(failed), "s": seconds})
        print(*failed, sep="\n")
    show("Damaged model files", rows)
    return rows

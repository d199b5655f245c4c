"""``tordinal reproduce``: the paper's study, figure by figure."""

import os
import time
from pathlib import Path

from rich.console import Console

from tordinal.cli.session import Teller
from tordinal.experiments.cells import BENCHMARK, FIGURES, SENTIMENT, Cell, cells_of
from tordinal.experiments.claims import claims_page
from tordinal.experiments.figures import draw_figure
from tordinal.experiments.study import missing_cells, run_study
from tordinal.experiments.table import ResultTable

__all__ = ["run_reproduce"]


def run_reproduce(
    figure: str,
    realizations: int,
    labels: str | None,
    datasets: str | None,
    jobs: int,
    data: str | None,
    out: Path,
    *,
    ours: bool,
    quiet: bool,
) -> None:
    """Run what a figure still needs, and draw it from the table.

    Parameters
    ----------
    figure : str
        ``fig5`` to ``fig12``, ``claims`` or ``all``.
    realizations : int
        How many.
    labels, datasets : str or None
        Lists with commas.
    jobs : int
        Runs at the same time.
    data : str or None
        Folder of the data sets.
    out : Path
        Folder for table, figures and claims.
    ours, quiet : bool
        Whether to add the methods beyond the paper, and to say nothing.
    """
    started, console = time.perf_counter(), Console(quiet=quiet)
    sizes = _sizes(labels)
    names = tuple(name.strip() for name in datasets.split(",")) if datasets is not None else None
    for name in names or ():
        if name not in (*BENCHMARK, *SENTIMENT):
            raise ValueError(f"--datasets {name}: no such data set; there are {', '.join((*BENCHMARK, *SENTIMENT))}")
    wanted = list(FIGURES) if figure == "all" else [figure] if figure in FIGURES else []
    cells = [c for f in wanted for c in cells_of(f, realizations=realizations, labels=sizes, datasets=names, ours=ours)]
    table = ResultTable(out / "results.jsonl")
    todo = missing_cells(cells, table)
    if cells:
        console.print(f"{len(dict.fromkeys(cells)):,} runs are needed, {len(todo):,} are left to do.", highlight=False)
    with Teller(quiet) as teller:

        def tell(done: int, total: int, running: list[Cell]) -> None:
            cells = [f"{c.dataset}, {c.method}, {c.labels} labels" for c in running]
            teller(
                "running",
                done,
                total,
                cells[0] + (f" and {len(cells) - 1} more" if len(cells) > 1 else "") if cells else "",
            )

        done = run_study(todo, out, data_home=data, jobs=jobs, on_progress=tell) if todo else 0
    results = table.frame()
    written = [path for f in wanted for path in draw_figure(f, results, out)]
    if figure in ("claims", "all"):
        if len(results) == 0:
            raise ValueError(f"{table.path} has no results yet; run: tordinal reproduce all")
        page, part = out / "claims.md", out / ".claims.md.part"
        part.write_text(claims_page(results), encoding="utf-8")
        os.replace(part, page)
        written.append(page)
    console.print(
        f"Ran {done:,} of them in {time.perf_counter() - started:.1f} s. Results: {table.path}", highlight=False
    )
    for path in written:
        console.print(f"  {path}", highlight=False, soft_wrap=True)


def _sizes(labels: str | None) -> tuple[int, ...] | None:
    if labels is None:
        return None
    try:
        sizes = tuple(int(part) for part in labels.split(","))
    except ValueError:
        raise ValueError(f"--labels {labels}: name whole numbers with commas between them, as in 100,400") from None
    if min(sizes) < 10 or max(sizes) > 1000:
        raise ValueError(f"--labels {labels}: must lie between 10 and 1000")
    return sizes

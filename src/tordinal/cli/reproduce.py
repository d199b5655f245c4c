"""``tordinal reproduce``: the paper's study, figure by figure."""

import time
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console

from tordinal.cli.session import ProgressDisplay
from tordinal.engines.cuda.device import FEWEST_ROWS, resolve_engine
from tordinal.exceptions import InputError
from tordinal.experiments.cells import FIGURES, HELD_FOR_LABELS, MANY_LABELS, Cell, cells_of
from tordinal.experiments.claims import claims_page, read_reasons
from tordinal.experiments.figures import draw_figure, incomplete
from tordinal.experiments.origin import origin
from tordinal.experiments.study import missing_cells, repeat_cells, run_study
from tordinal.experiments.table import KEY, ResultTable, alone_in
from tordinal.tables.outputs import Outputs

__all__ = ["run_reproduce"]

FEWEST_LABELS = 10
STUDIES_OF_LABELS = ("benchmark", "sentiment", "swapping")


def run_reproduce(
    figure: str,
    out: Path,
    data: str | None,
    *,
    realizations: int,
    labels: str | None,
    datasets: str | None,
    jobs: int,
    ours: bool,
    quiet: bool,
    check: int | None = None,
    engine: str = "host",
) -> None:
    """Run the missing cells of a figure, and draw it from the table.

    Parameters
    ----------
    figure : str
        ``fig5`` to ``fig12``, ``claims`` or ``all``.
    out : Path
        Folder for table, figures and claims.
    data : str or None
        Folder of the datasets.
    realizations : int
        How many.
    labels, datasets : str or None
        Lists with commas.
    jobs : int
        Runs at the same time.
    ours, quiet : bool
        Whether to add the methods beyond the paper, and to print errors only.
    check : int or None
        Instead, repeat this many random results of the table and compare them.
    engine : {"host", "cuda", "auto"}
        Where kernel models are fitted.
    """
    started, console = (
        time.perf_counter(),
        Console(quiet=quiet, soft_wrap=True, highlight=False, markup=False),
    )
    wanted = list(FIGURES) if figure == "all" else [figure] if figure in FIGURES else []
    sizes, names = _sizes(labels, wanted), _names(datasets, wanted)
    if jobs == 0 or jobs < -1:
        raise InputError(
            f"--jobs {jobs}: name a number of runs at the same time, or -1 for one per core"
        )
    if data is not None and not Path(data).is_dir():
        raise InputError(
            f"--data {data}: no such folder; remove the option to download the datasets"
        )
    resolve_engine(engine, FEWEST_ROWS)  # an error now, not in the first run
    cells = [
        c
        for f in wanted
        for c in cells_of(
            f,
            realizations=realizations,
            labels=sizes,
            datasets=names,
            ours=ours or check is not None,
        )
    ]
    table = ResultTable(out / "results.jsonl")
    if check is not None:
        _check(check, [c.key for c in cells], table, data, jobs, engine, console, quiet)
        return
    with alone_in(out):
        if cells:  # the claims alone may be those of results by another version
            for version, n in table.move_other_versions(origin()["version"]).items():
                console.print(
                    f"{n:,} results of version {version} were moved to results-{version}.jsonl"
                )
            done = _run(cells, table, data, jobs, engine, console, quiet)
            console.print(
                f"Ran {done:,} in {time.perf_counter() - started:.1f} s. Results: {table.path}"
            )
        results = table.frame()
        if table.ignored:
            console.print(
                f"Lines without a result were skipped: {', '.join(map(str, table.ignored))}"
            )
        drawn = [f for f in wanted if figure != "all" or (results["study"] == FIGURES[f]).any()]
        for path in (path for f in drawn for path in draw_figure(f, results, out)):
            console.print(f"  {path}")
        for f in drawn:
            if few := incomplete(f, results):
                console.print(f"{f} is not complete ({'; '.join(few)}): tordinal reproduce {f}")
        if missing := [f for f in wanted if f not in drawn]:
            console.print(f"No results yet for {', '.join(missing)}")
        if figure in ("claims", "all"):
            if len(results) == 0:
                raise InputError(f"{table.path} has no results yet; run: tordinal reproduce all")
            page = claims_page(results, read_reasons(out / "reasons.toml"))
            place = str(out / "claims.md")
            with Outputs({}, {"claims": place}) as outputs:
                outputs.write(place, lambda file: file.write(page.encode()))
                outputs.commit()
            console.print(f"  {place}")


def _check(
    n: int,
    keys: list[tuple[Any, ...]],
    table: ResultTable,
    data: str | None,
    jobs: int,
    engine: str,
    console: Console,
    quiet: bool,
) -> None:
    """Repeat some results of a table and print how well they agree."""
    wanted = set(keys)
    latest = {key: row for row in table.rows() if (key := tuple(row[k] for k in KEY))}
    rows = [row for key, row in latest.items() if key in wanted]
    if not rows:
        raise InputError(f"{table.path} has no results of these figures; run them first")
    with ProgressDisplay(quiet) as display:
        repeated = repeat_cells(
            rows,
            n,
            data_home=data,
            jobs=jobs,
            engine=engine,
            on_progress=partial(_show_progress, display),
        )
    page, place = repeated.page(), str(table.path.with_name("check.md"))
    with Outputs({}, {"check": place}) as outputs:
        outputs.write(place, lambda file: file.write(page.encode()))
        outputs.commit()
    console.print(page.split("\n\n", 1)[1].strip())
    console.print(f"  {place}")


def _show_progress(display: ProgressDisplay, done: int, total: int, running: list[Cell]) -> None:
    """Show which cells are running."""
    cells = [f"{c.dataset}, {c.method}, {c.labels} labels" for c in running]
    more = f" and {len(cells) - 1} more" if len(cells) > 1 else ""
    display("running", done, total, cells[0] + more if cells else "")


def _run(
    cells: list[Cell],
    table: ResultTable,
    data: str | None,
    jobs: int,
    engine: str,
    console: Console,
    quiet: bool,
) -> int:
    """Run missing cells, and show which are running."""
    todo = missing_cells(cells, table)
    console.print(f"{len(dict.fromkeys(cells)):,} runs are needed, {len(todo):,} are missing.")
    with ProgressDisplay(quiet) as display:
        return (
            run_study(
                todo, table.path.parent, data_home=data, jobs=jobs, engine=engine,
                on_progress=partial(_show_progress, display),
            )
            if todo
            else 0
        )  # fmt: skip


def _names(datasets: str | None, figures: list[str]) -> tuple[str, ...] | None:
    """The datasets to restrict to; each must belong to one of the figures."""
    if datasets is None:
        return None
    names = tuple(name.strip() for name in datasets.split(",") if name.strip())
    known = list(
        dict.fromkeys(c.dataset for f in figures or FIGURES for c in cells_of(f, realizations=1))
    )
    for name in names or ("",):
        if name not in known:
            raise InputError(
                f"--datasets {name or datasets!r}: no such dataset here; "
                f"there are {', '.join(known)}"
            )
    return names


def _sizes(labels: str | None, figures: list[str]) -> tuple[int, ...] | None:
    """Numbers of labels to restrict to."""
    if labels is None:
        return None
    try:
        sizes = tuple(int(part) for part in labels.split(","))
    except ValueError:
        raise InputError(
            f"--labels {labels}: name whole numbers with commas between them, as in 100,400"
        ) from None
    if figures and not any(FIGURES[f] in STUDIES_OF_LABELS for f in figures):
        raise InputError(f"--labels {labels}: {figures[0]} has a fixed number of labels")
    largest = max(MANY_LABELS) if figures == ["fig12"] else HELD_FOR_LABELS
    if min(sizes) < FEWEST_LABELS or max(sizes) > largest:
        raise InputError(f"--labels {labels}: must lie between {FEWEST_LABELS} and {largest}")
    return sizes

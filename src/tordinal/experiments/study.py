"""Running what is missing in the table of results, in parallel, each result saved when known."""

from collections.abc import Callable, Iterable
from itertools import islice
from pathlib import Path

from joblib import Parallel, delayed, effective_n_jobs

from tordinal.experiments.cells import Cell, run_cell
from tordinal.experiments.table import KEY, ResultTable

__all__ = ["missing_cells", "run_study"]


def missing_cells(cells: Iterable[Cell], table: ResultTable) -> list[Cell]:
    """The cells that the table has no result of yet.

    Parameters
    ----------
    cells : iterable of Cell
        What is wanted.
    table : ResultTable
        What is known.

    Returns
    -------
    missing : list of Cell
        What is left to do, each cell once.
    """
    known = table.keys()
    return [cell for cell in dict.fromkeys(cells) if cell.key not in known]


def run_study(
    cells: Iterable[Cell],
    out: Path,
    *,
    data_home: str | None = None,
    jobs: int = 1,
    on_progress: Callable[[int, int, list[Cell]], None] = lambda *_: None,
) -> int:
    """Run what is missing.

    Parameters
    ----------
    cells : iterable of Cell
        What is wanted.
    out : Path
        Folder of the table, ``results.jsonl``.
    data_home : str or None
        Folder of the data sets.
    jobs : int
        Cells at the same time, each in a process of its own; -1 uses all cores.
    on_progress : callable
        Told how many are done, of how many, and which are running.

    Returns
    -------
    n : int
        How many cells were run.
    """
    table = ResultTable(out / "results.jsonl")
    todo = missing_cells(cells, table)
    waiting = {cell.key: cell for cell in todo}
    at_once = effective_n_jobs(jobs)
    on_progress(0, len(todo), todo[:at_once])
    # Unordered: no result waits for another.
    run = Parallel(n_jobs=jobs, batch_size=1, return_as="generator_unordered")
    for done, result in enumerate(
        run(delayed(run_cell)(cell, data_home) for cell in todo), start=1
    ):
        table.append(result)
        del waiting[tuple(result[name] for name in KEY)]
        # Cells are begun in their order, so the first ones without a result are running.
        on_progress(done, len(todo), list(islice(waiting.values(), at_once)))
    return len(todo)

"""Running the study: what is missing in the table, in parallel, each result on disk as soon as it is known."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed

from tordinal.experiments.cells import Cell, run_cell
from tordinal.experiments.table import ResultTable

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
    on_result: Callable[[int, int, dict[str, Any]], None] | None = None,
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
    on_result : callable, optional
        Told how many are done, of how many, and the last result.

    Returns
    -------
    n : int
        How many cells were run.
    """
    table = ResultTable(out / "results.jsonl")
    todo = missing_cells(cells, table)
    run = Parallel(n_jobs=jobs, return_as="generator_unordered")
    for done, result in enumerate(run(delayed(run_cell)(cell, data_home) for cell in todo), start=1):
        table.append(result)
        if on_result is not None:
            on_result(done, len(todo), result)
    return len(todo)

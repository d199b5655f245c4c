"""Running the missing cells of the study in parallel; each result is saved when it is known."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from tordinal.experiments.cells import Cell, run_cell
from tordinal.experiments.table import KEY, ResultTable
from tordinal.parallel import EndsWithParent

__all__ = ["Repeated", "missing_cells", "repeat_cells", "run_study"]


def missing_cells(cells: Iterable[Cell], table: ResultTable) -> list[Cell]:
    """The cells without a result in the table.

    Parameters
    ----------
    cells : iterable of Cell
        The cells to run.
    table : ResultTable
        What is known.

    Returns
    -------
    missing : list of Cell
        The missing cells, each once.
    """
    known = table.keys()
    return [cell for cell in dict.fromkeys(cells) if cell.key not in known]


def run_study(
    cells: Iterable[Cell],
    out: Path,
    *,
    data_home: str | None = None,
    jobs: int = 1,
    engine: str = "host",
    on_progress: Callable[[int, int, list[Cell]], None] = lambda *_: None,
) -> int:
    """Run the missing cells.

    Parameters
    ----------
    cells : iterable of Cell
        The cells to run.
    out : Path
        Folder of the table, ``results.jsonl``.
    data_home : str or None
        Folder of the data sets.
    jobs : int
        Cells at the same time, each in its own process; -1 uses all cores.
    engine : {"host", "cuda", "auto"}
        Where kernel models are fitted.
    on_progress : callable
        Called with how many are done, how many there are, and which are running.

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
        run(delayed(EndsWithParent(run_cell))(cell, data_home, engine) for cell in todo), start=1
    ):
        table.append(result)
        del waiting[tuple(result[name] for name in KEY)]
        # Cells are begun in their order, so the first ones without a result are running.
        on_progress(done, len(todo), list(islice(waiting.values(), at_once)))
    return len(todo)


@dataclass(frozen=True)
class Repeated:
    """Results, and those of the same cells run again.

    Attributes
    ----------
    before, now : list of dict
        Lines of the table of results, and of the second run.
    """

    before: list[dict[str, Any]]
    now: list[dict[str, Any]]

    def differences(self, error: str) -> "np.ndarray[Any, np.dtype[np.float64]]":
        """Absolute differences between the first and the second results."""
        return np.array(
            [abs(a[error] - b[error]) for a, b in zip(self.before, self.now, strict=True)]
        )

    def page(self) -> str:
        """The page, in Markdown."""
        n, wrong, off = len(self.now), self.differences("zero_one"), self.differences("mae")
        same = int(np.sum((wrong == 0) & (off == 0)))
        others = [i for i in range(n) if wrong[i] or off[i]]
        chosen = sum(a.get("C1") != b.get("C1") for a, b in zip(self.before, self.now, strict=True))
        made = sorted({_made_by(row) for row in self.before}), _made_by(self.now[0])
        lines = [
            "# Cells of the study, run again",
            "",
            f"{n} random results of {', '.join(made[0])} were computed again by {made[1]}: {same} "
            "have the same errors to the last bit; the zero-one error differs by at most "
            f"{100 * wrong.max():.2f} points ({100 * wrong.mean():.3f} on average), the absolute "
            f"error by at most {off.max():.4f} ({off.mean():.5f}); {chosen} chose another C1.",
        ]
        if others:
            lines += ["", "| cell | zero-one error | again | absolute error | again | C1 | again |",
                      "|---|---|---|---|---|---|---|"]  # fmt: skip
        for i in others:
            a, b = self.before[i], self.now[i]
            cell = ", ".join(str(a[k]) for k in KEY if a[k] is not None)
            both = [f"{row[e]:.4f}" for e in ("zero_one", "mae") for row in (a, b)]
            lines.append(
                "| " + " | ".join([cell, *both, *(str(r.get("C1")) for r in (a, b))]) + " |"
            )
        return "\n".join(lines) + "\n"


def _made_by(row: dict[str, Any]) -> str:
    return f"tordinal {row.get('version', '?')} ({row.get('commit', 'no commit')})"


def repeat_cells(
    rows: list[dict[str, Any]],
    n: int,
    *,
    seed: int = 0,
    data_home: str | None = None,
    jobs: int = 1,
    engine: str = "host",
    on_progress: Callable[[int, int, list[Cell]], None] = lambda *_: None,
) -> Repeated:
    """Run random cells of a table of results again.

    Parameters
    ----------
    rows : list of dict
        The results.
    n : int
        How many to run again, at most.
    seed : int
        Seed of the choice.
    data_home : str or None
        Folder of the data sets.
    jobs : int
        Cells at the same time.
    engine : {"host", "cuda", "auto"}
        Where kernel models are fitted.
    on_progress : callable
        Called with how many are done, how many there are, and which are running.

    Returns
    -------
    repeated : Repeated
        Both results of each.
    """
    chosen = np.random.RandomState(seed).permutation(len(rows))[:n]
    before = [rows[i] for i in sorted(chosen)]
    cells = [Cell(*(row[name] for name in KEY)) for row in before]
    on_progress(0, len(cells), cells[: effective_n_jobs(jobs)])
    run = Parallel(n_jobs=jobs, batch_size=1, return_as="generator")
    now = []
    for result in run(delayed(EndsWithParent(run_cell))(cell, data_home, engine) for cell in cells):
        now.append(result)
        on_progress(len(now), len(cells), cells[len(now) : len(now) + effective_n_jobs(jobs)])
    return Repeated(before, now)

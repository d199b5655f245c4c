"""``tordinal label``: a table in, a rated table and a report out."""

import csv
import os
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from rich.console import Console
from rich.text import Text

from tordinal.cli.session import Teller, console_for, finishing, grid, in_options
from tordinal.kernels import KERNELS
from tordinal.losses import LOSSES
from tordinal.report.page import render_report
from tordinal.tables.columns import TableEncoder, find_columns
from tordinal.tables.files import format_of, read_table, write_table
from tordinal.tables.models import dump_model
from tordinal.tables.outputs import Outputs
from tordinal.tables.rating import Rating, Settings, rate
from tordinal.tables.target import read_target
from tordinal.tables.values import TableError, visible

__all__ = ["Job", "run_label"]


@dataclass(frozen=True)
class Job:
    """The files and columns of a ``tordinal label``."""

    file: str
    target: str
    out: str
    text: list[str]
    columns: list[str] | None
    drop: list[str]
    order: str | None
    report: str | None = None
    model: str | None = None
    encoding: str | None = None
    missing: str | None = None


def run_label(job: Job, settings: Settings, *, quiet: bool = False) -> Rating:
    """Read, rate, and write all outputs or none.

    Parameters
    ----------
    job : Job
        Files and columns.
    settings : Settings
        How to rate.
    quiet : bool
        Whether to say nothing but errors.

    Returns
    -------
    rating : Rating
        What was found.
    """
    started = time.perf_counter()
    if settings.C is not None and not 0 < settings.C < float("inf"):
        raise TableError(f"--C {settings.C:g} must be a positive number")
    for option, name, known in (
        ("--kernel", settings.kernel, [k for k in KERNELS if k != "precomputed"]),
        ("--loss", settings.loss, list(LOSSES)),
    ):
        if name is not None and name not in known:
            raise TableError(
                f"{option} {name}: there is none of that name; choose from {', '.join(known)}"
            )
    if settings.jobs == 0:
        raise TableError(
            "--jobs 0: name how many fits may run at the same time, or -1 for all cores"
        )
    console = console_for(job.out, quiet)
    wanted = {"--out": job.out, "--report": job.report, "--model": job.model}
    destinations = {name: path for name, path in wanted.items() if path is not None}
    if "-" in (job.report, job.model):
        raise TableError(
            "--report and --model need a file; only the table can go to standard output"
        )
    if job.out != "-":
        format_of(job.out)
    with Outputs({"FILE": job.file}, destinations) as outputs, Teller(quiet) as teller:
        teller("reading the table", 0, 1)
        table = read_table(job.file, job.encoding)
        find_columns([job.target], table.names, "target")
        added = [f"{job.target}_{what}" for what in ("predicted", "confidence", "source")]
        earlier = [name for name in added if name in table.names]
        table = table.without(earlier) if earlier else table
        marks = _names(job.missing) or []
        order = _names(job.order) or table.order(job.target)
        target = read_target(job.target, table[job.target], order, marks)
        encoder = TableEncoder(
            job.text, _listed(job.columns, table.names), _listed(job.drop, table.names) or (),
            marks, table.decimal,
        )  # fmt: skip
        for option, names in (
            ("text", job.text),
            ("columns", encoder.columns or ()),
            ("drop", encoder.drop),
        ):
            if job.target in names:
                raise TableError(
                    f"`{option}` {job.target}: that is the target, which is never learned from"
                )
            find_columns(names, table.names, option)
        rating = rate(table.features(job.target), target, encoder, settings, teller)
        rating.notes = [in_options(note) for note in rating.notes]
        if earlier:
            rating.notes.append(f"earlier answers are replaced: {', '.join(earlier)}")
        teller("writing", 0, 1)
        values = rating_columns(rating.labels, rating.confidence, rating.given)
        cells: dict[str, Any] = dict(zip(added, values, strict=True))
        kind = format_of(job.out, default=table.format)
        outputs.write(job.out, lambda file: write_table(table, cells, file, kind))
        if job.report is not None:
            page = render_report(
                rating, table, os.path.basename(job.file), os.path.basename(job.out)
            )
            outputs.write(job.report, lambda file: file.write(page.encode()))
        if job.model is not None:
            content = dump_model(rating.model)
            outputs.write(job.model, lambda file: file.write(content))
        teller("writing", 1, 1)
        finishing()
        outputs.commit()
    _summarise(console, job, rating, time.perf_counter() - started)
    return rating


def rating_columns(
    labels: list[Any], confidence: Any, given: Any
) -> tuple[list[Any], list[float], list[str]]:
    """The three columns that are added."""
    source = ["given" if g else "predicted" for g in given]
    return labels, [round(float(c), 4) for c in confidence], source


def _names(order: str | None) -> list[str] | None:
    """A list of ratings from one option; quotes protect commas."""
    return (
        None
        if order is None
        else [name.strip() for name in next(csv.reader([order], skipinitialspace=True))]
    )


def _listed(options: list[str] | None, known: list[str]) -> list[str] | None:
    """Column names from options that may hold several, separated by commas.

    Spaces around a name are kept where the table's own name has them.
    """
    if options is None:
        return None
    padded = {name.strip(): name for name in known}
    asked = [
        n for option in options for n in ([option] if option in known else _names(option) or [])
    ]
    return [name if name in known else padded.get(name, name) for name in asked]


def _summarise(console: Console, job: Job, rating: Rating, seconds: float) -> None:
    """Say what the answer is worth, what was done, and where the result lies."""
    useful = rating.worth.judgement == "useful"
    console.print(Text(visible(str(rating.worth)), style="bold" if useful else "bold yellow"))
    columns = grid("column", "taken as", "how or why", "missing")
    for c in rating.model.encoder.plan_:
        missing = (
            f"{c['missing']:,} {'imputed' if c['role'] != 'left out' else ''}".strip()
            if c["missing"]
            else ""
        )
        columns.add_row(Text(visible(c["name"]) or "(no name)"), c["role"], c["why"], missing)
    console.print(columns)
    counts = grid("rating", "given", "predicted")
    for k, name in enumerate(rating.target.classes):
        counts.add_row(
            Text(visible(str(name))),
            f"{int(np.sum(rating.rank[rating.given] == k)):,}",
            f"{int(np.sum(rating.rank[~rating.given] == k)):,}",
        )
    console.print(counts)
    for note in rating.notes:
        console.print(Text(f"Note: {visible(note)}."))
    console.print(Text(rating.verdict))
    predicted = int((~rating.given).sum())
    console.print(
        f"Rated {predicted:,} of {len(rating.rank):,} rows in {seconds:.1f} s:", highlight=False
    )
    for what, path in (("table", job.out), ("report", job.report), ("model", job.model)):
        if path is not None:
            console.print(
                Text(f"  {what:7} {visible(path) if path != '-' else 'standard output'}"),
                soft_wrap=True,
            )

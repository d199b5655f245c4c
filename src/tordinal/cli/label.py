"""``tordinal label``: a table in, a rated table and a report out."""

import csv
import os
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.text import Text

from tordinal.cli.session import (
    ProgressDisplay,
    confirm_overwriting,
    console_for,
    grid,
    ignore_interrupts,
    with_option_names,
)
from tordinal.kernels import KERNELS
from tordinal.losses import LOSSES
from tordinal.report.page import render_report
from tordinal.tables.answers import Answers, decimal_of, is_earlier
from tordinal.tables.columns import TableEncoder, find_columns
from tordinal.tables.files import format_of, read_table, write_table
from tordinal.tables.filled import fill_in, to_fill_in
from tordinal.tables.models import dump_model
from tordinal.tables.outputs import Outputs
from tordinal.tables.rating import Rating, Settings, rate
from tordinal.tables.suggest import worth_rating
from tordinal.tables.target import read_target
from tordinal.tables.totals import total_rows
from tordinal.tables.values import TableError, visible

__all__ = ["Job", "check_job", "listed", "names_in", "run_label", "say_how_long", "summarise"]

QUICK_ROWS, SECONDS, SECONDS_A_ROW = 200, 5.0, 0.0025  # of a search, on a machine of two cores


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
    sheet: str | None = None
    filled: str | None = None
    next: tuple[int, str] | None = None
    probabilities: bool = False
    abstain: float | None = None
    meaning: bool = False
    force: bool = False


def run_label(
    job: Job,
    settings: Settings,
    *,
    quiet: bool = False,
    parallel: Callable[[], Any] = nullcontext,
) -> Rating:
    """Read, rate, and write all outputs or none.

    Parameters
    ----------
    job : Job
        Files and columns.
    settings : Settings
        How to rate.
    quiet : bool
        Whether to say nothing but errors.
    parallel : callable
        Makes a context in which models are fitted.

    Returns
    -------
    rating : Rating
        What was found.
    """
    started = time.perf_counter()
    check_job(job, settings)
    console = console_for(job.out, quiet)
    wanted = {"--out": job.out, "--report": job.report, "--model": job.model}
    wanted["--next"] = None if job.next is None else job.next[1]
    destinations = {name: path for name, path in wanted.items() if path is not None}
    inputs = {"FILE": job.file} | ({} if job.filled is None else {"--filled": job.filled})
    outputs = Outputs(inputs, destinations)
    confirm_overwriting(destinations.values(), job.target, job.force)
    with outputs, ProgressDisplay(quiet) as teller:
        teller("reading the table", 0, 1)
        table = read_table(job.file, job.encoding, job.sheet)
        notes = list(table.notes)
        find_columns([job.target], table.names, "target")
        earlier = [name for name in table.names if is_earlier(name, job.target)]
        table = table.without(earlier) if earlier else table
        if earlier:
            notes.append(f"earlier answers are replaced: {', '.join(earlier)}")
        marks = names_in(job.missing) or []
        order = names_in(job.order) or table.order(job.target)
        if job.filled is not None:
            form = read_table(job.filled, job.encoding)
            notes += fill_in(table, job.target, form, order, marks)
        totals = total_rows(table)
        kept = [i for i in range(len(table)) if i not in totals]
        part = table.part(kept) if totals else table
        if totals:
            numbers = ", ".join(str(table.number(i)) for i in totals)
            notes.append(f"row {numbers} looks like a total, and is left out")
        target = read_target(job.target, part[job.target], order, marks)
        encoder = TableEncoder(
            job.text, listed(job.columns, table.names), listed(job.drop, table.names) or (),
            marks, table.decimal, "wordllama" if job.meaning else None,
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
        say_how_long(console, settings, len(part))
        rating = rate(part.features(job.target), target, encoder, settings, teller, parallel)
        rating.notes = [with_option_names(note) for note in [*notes, *rating.notes]]
        teller("writing", 0, 1)
        answers = Answers.of(rating, job.abstain)
        cells = answers.columns(job.target, job.probabilities, kept, len(table))
        decimal = decimal_of(table, encoder)
        outputs.write(job.out, lambda file: write_table(table, cells, file, job.out, decimal))
        if job.report is not None:
            page = render_report(
                rating, part, os.path.basename(job.file), os.path.basename(job.out),
                None if job.abstain is None else (answers.unsure, job.abstain),
            )  # fmt: skip
            outputs.write(job.report, lambda file: file.write(page.encode()))
        if job.model is not None:
            content = dump_model(rating.model)
            outputs.write(job.model, lambda file: file.write(content))
        if job.next is not None:
            number, path = job.next
            rows = worth_rating(rating.X, rating.confidence, rating.given, number)
            form = to_fill_in(part, job.target, rows)
            predicted = Answers.of(rating, None).some(rows, job.target)
            outputs.write(path, lambda file: write_table(form, predicted, file, path, decimal))
        teller("writing", 1, 1)
        ignore_interrupts()
        outputs.commit()
    summarise(console, job, rating, answers.unsure, time.perf_counter() - started)
    return rating


def check_job(job: Job, settings: Settings) -> None:
    """Refuse what can be refused before anything is read."""
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
    if settings.quick and settings.method != "auto":
        raise TableError(f"--quick goes with --method auto, not {settings.method}")
    if "-" in (job.report, job.model) or (job.next is not None and job.next[1] == "-"):
        raise TableError(
            "--report, --model and --next need a file; only the table can go to standard output"
        )
    if job.next is not None and job.next[0] < 1:
        raise TableError(f"--next {job.next[0]}: name how many rows, at least 1")
    for path in (job.out, *((job.next[1],) if job.next is not None else ())):
        if path != "-":
            format_of(path)


def say_how_long(console: Console, settings: Settings, n_rows: int) -> None:
    """Say about how long a search takes, where that is long enough to wonder."""
    if settings.method == "auto" and not settings.quick and n_rows > QUICK_ROWS:
        seconds = SECONDS + SECONDS_A_ROW * n_rows
        about = f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} minutes"
        console.print(
            f"{n_rows:,} rows: choosing a model takes about {about}; --quick takes less.",
            highlight=False,
        )


def names_in(order: str | None) -> list[str] | None:
    """A list of ratings from one option; quotes protect commas."""
    return (
        None
        if order is None
        else [name.strip() for name in next(csv.reader([order], skipinitialspace=True))]
    )


def listed(options: list[str] | None, known: list[str]) -> list[str] | None:
    """Column names from options that may hold several, separated by commas.

    Spaces around a name are kept where the table's own name has them.
    """
    if options is None:
        return None
    padded = {name.strip(): name for name in known}
    asked = [
        n for option in options for n in ([option] if option in known else names_in(option) or [])
    ]
    return [name if name in known else padded.get(name, name) for name in asked]


def summarise(console: Console, job: Job, rating: Rating, unsure: int, seconds: float) -> None:
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
        why = Text(visible(c["why"]))
        columns.add_row(Text(visible(c["name"]) or "(no name)"), c["role"], why, missing)
    console.print(columns)
    totals = rating.totals
    counts = grid("rating", "given", "predicted")
    for k, name in enumerate(rating.target.classes):
        counts.add_row(Text(visible(str(name))), f"{totals.given[k]:,}", f"{totals.predicted[k]:,}")
    console.print(counts)
    for note in rating.notes:
        console.print(Text(f"Note: {visible(note)}."))
    console.print(Text(visible(rating.verdict)))
    if rating.curve is not None:
        console.print(Text(str(rating.curve)))
    found = int(totals.predicted.sum())
    if found:
        console.print(
            f"Of {found:,} rows without a rating {totals.sure[80]:,} have a confidence of 80 % or "
            f"more, {totals.sure[90]:,} of 90 % or more.",
            highlight=False,
        )
    if job.abstain is not None:
        console.print(
            f"{unsure:,} rows below a confidence of {job.abstain:g} stay unrated.",
            highlight=False,
        )
    console.print(
        f"Rated {found - unsure:,} of {totals.rows:,} rows in {seconds:.1f} s:", highlight=False
    )
    files = {"table": job.out, "report": job.report, "model": job.model}
    files["next"] = None if job.next is None else job.next[1]
    for what, path in files.items():
        if path is not None:
            console.print(
                Text(f"  {what:7} {visible(path) if path != '-' else 'standard output'}"),
                soft_wrap=True,
            )

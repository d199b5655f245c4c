"""``tordinal label``: a table in, a rated table and a report out."""

import os
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
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
from tordinal.cli.table_options import TableOptions, listed
from tordinal.inference import TableEstimates
from tordinal.progress import Listener
from tordinal.rated import RatedTable
from tordinal.rated_table import rate_table
from tordinal.tables.abstaining import describe_abstaining
from tordinal.tables.check_first import describe_checks
from tordinal.tables.estimates import describe, largest_groups
from tordinal.tables.files import format_of, write_table
from tordinal.tables.models import dump_model
from tordinal.tables.outputs import Outputs
from tordinal.tables.results import Rating
from tordinal.tables.settings import Settings
from tordinal.tables.values import TableError, sentence, visible

__all__ = ["Job", "announce_duration", "check_job", "run_label", "summarise"]

# A search takes about this long on a machine with two cores; shorter ones are not announced.
QUICK_ROWS, SECONDS, SECONDS_PER_ROW = 200, 5.0, 0.0015
MANY_ROWS, SECONDS_PER_MORE = 10_000, 0.0002  # beyond, models are fitted to a part of the rows
MOST_GROUPS = 20  # of a column that are printed
MOST_COLUMNS, SHOWN_NAMES = 20, 3  # lines about columns; names in a line about many


@dataclass(frozen=True, kw_only=True)
class Job(TableOptions):
    """The files and columns of a ``tordinal label``."""

    out: str
    report: str | None = None
    model: str | None = None
    by: list[str] = field(default_factory=list)
    groups: str | None = None
    filled: list[str] = field(default_factory=list)
    ratings: str | None = None
    next: tuple[int, str] | None = None
    probabilities: bool = False
    reasons: bool = False
    reweight: bool = False
    weight: str | None = None
    features: str | None = None
    hint: list[str] = field(default_factory=list)
    abstain: float | None = None
    force: bool = False

    @property
    def outputs(self) -> dict[str, str]:
        """Files to write, by their kind."""
        paths = {"table": self.out, "report": self.report, "model": self.model}
        paths["groups"] = self.groups
        paths["next"] = None if self.next is None else self.next[1]
        return {name: path for name, path in paths.items() if path is not None}


def run_label(
    job: Job,
    settings: Settings,
    *,
    quiet: bool = False,
    parallel: Callable[[], Any] = nullcontext,
    listen: Listener | None = None,
) -> RatedTable:
    """Read, rate, and write all outputs or none.

    Parameters
    ----------
    job : Job
        Files and columns.
    settings : Settings
        How to rate.
    quiet : bool
        Whether to print errors only.
    parallel : callable
        Makes a context in which models are fitted.
    listen : callable or None
        Called with the current task, the steps done and the number of steps. None: progress is
        shown on the terminal.

    Returns
    -------
    rated : RatedTable
        The rated table.
    """
    started = time.perf_counter()
    check_job(job)
    console = console_for(job.out, quiet)
    names = {"table": "--out"}
    destinations = {names.get(name, f"--{name}"): path for name, path in job.outputs.items()}
    inputs = {"FILE": job.file}
    inputs |= {f"--filled ({k})" if k > 1 else "--filled": p for k, p in enumerate(job.filled, 1)}
    if job.ratings is not None:
        inputs["--ratings"] = job.ratings
    if job.features is not None:
        inputs["--features"] = job.features
    outputs = Outputs(inputs, destinations)
    confirm_overwriting(destinations.values(), job.target, job.force)
    with outputs, ProgressDisplay(quiet) as display:
        progress = listen or display
        progress("reading the table", 0, 1)
        table = job.read()
        is_announced = False

        def tell(task: str, done: int, total: int, *detail: str) -> None:
            nonlocal is_announced
            if not is_announced:  # all options have been checked
                announce_duration(console, settings, len(table))
                is_announced = True
            progress(task, done, total, *detail)

        with parallel():
            rated = rate_table(
                table,
                job.target,
                **job.of(table.names),
                by=listed(job.by, table.names),
                method=settings.method,
                C=settings.C,
                kernel=settings.kernel,
                loss=settings.loss,
                encoder=settings.encoder,
                tune=settings.tune,
                download=settings.download,
                quick=settings.quick,
                abstain=job.abstain,
                probabilities=job.probabilities,
                features=job.features,
                hint=listed(job.hint, table.names),
                cost=settings.cost,
                class_weight=settings.class_weight,
                sample_weight=job.weight,
                reasons=job.reasons,
                reweight=job.reweight,
                filled=job.filled or None,
                ratings=job.ratings,
                encoding=job.encoding,
                random_state=settings.seed,
                n_jobs=settings.jobs,
                engine=settings.engine,
                callback=tell,
            )
        rated.rating.notes = [with_option_names(note) for note in rated.notes]
        progress("writing", 0, 1)
        outputs.write(job.out, lambda file: rated.write(file, job.out))
        if job.report is not None:
            page = rated.to_html(os.path.basename(job.file), os.path.basename(job.out))
            outputs.write(job.report, lambda file: file.write(page.encode()))
        if job.model is not None:
            content = dump_model(rated.model)
            outputs.write(job.model, lambda file: file.write(content))
        if job.groups is not None:
            groups = rated.groups.to_csv(index=False, float_format="%.6g")
            outputs.write(job.groups, lambda file: file.write(groups.encode()))
        if job.next is not None:
            number, path = job.next
            form, added = rated.form(number)
            outputs.write(path, lambda file: write_table(form, added, file, path, rated.decimal))
        ignore_interrupts()
        outputs.commit()
    summarise(
        console, job, rated.rating, rated.answers.unsure, time.perf_counter() - started,
        estimates=rated.estimates, groups=rated.groups, checks=describe_checks(rated.checks),
    )  # fmt: skip
    return rated


def check_job(job: Job) -> None:
    """Check the options before anything is read."""
    if job.groups is not None and not job.by:
        raise TableError("--groups needs --by COLUMN: the columns whose groups are estimated")
    if job.groups == "-":
        raise TableError("--groups needs a file; only the table can go to standard output")
    if "-" in (job.report, job.model) or (job.next is not None and job.next[1] == "-"):
        raise TableError(
            "--report, --model and --next need a file; only the table can go to standard output"
        )
    if job.next is not None and job.next[0] < 1:
        raise TableError(f"--next {job.next[0]}: the number of rows must be at least 1")
    for path in (job.out, *((job.next[1],) if job.next is not None else ())):
        if path != "-":
            format_of(path)


def announce_duration(console: Console, settings: Settings, n_rows: int) -> None:
    """Announce about how long a search takes, unless it is short."""
    if settings.method == "auto" and not settings.quick and n_rows > QUICK_ROWS:
        seconds = SECONDS + SECONDS_PER_ROW * min(n_rows, MANY_ROWS)
        seconds += SECONDS_PER_MORE * max(n_rows - MANY_ROWS, 0)
        about = f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} minutes"
        console.print(
            f"{n_rows:,} rows: choosing a model takes about {about}; --quick is faster.",
            highlight=False,
        )


def summarise(
    console: Console,
    job: Job,
    rating: Rating,
    unsure: int,
    seconds: float,
    *,
    estimates: TableEstimates | None = None,
    groups: pd.DataFrame | None = None,
    checks: str = "",
) -> None:
    """Print the expected error, the estimates, what was done, and the files that were written."""
    expected = rating.expected_error
    useful = expected.judgement == "useful"
    console.print(Text(visible(str(expected)), style="bold" if useful else "bold yellow"))
    _print_columns(console, rating.model.encoder.plan_)
    totals = rating.totals
    counts = grid("rating", "given", "predicted")
    for k, name in enumerate(rating.target.classes):
        counts.add_row(Text(visible(str(name))), f"{totals.given[k]:,}", f"{totals.predicted[k]:,}")
    console.print(counts)
    if estimates is not None:
        console.print(Text(describe(rating, estimates)))
    if groups is not None and len(groups):
        _print_groups(console, groups)
    for note in rating.notes:
        console.print(Text(f"Note: {sentence(note)}"))
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
        console.print(Text(describe_abstaining(rating, job.abstain)))
    if checks:
        more = "The report lists them." if job.report else "--report R.html lists them."
        console.print(Text(f"{checks} {more}"))
    console.print(
        f"Rated {found - unsure:,} of {totals.rows:,} rows in {seconds:.1f} s:", highlight=False
    )
    for what, path in job.outputs.items():
        where = visible(path) if path != "-" else "standard output"
        console.print(Text(f"  {what:7} {where}"), soft_wrap=True)


def _print_columns(console: Console, plan: list[dict[str, Any]]) -> None:
    """Print how each column was read; of many columns, those that are read alike share a line."""
    alike: dict[Any, list[dict[str, Any]]] = {}
    for place, c in enumerate(plan):
        kind = (c["role"], c["why"]) if len(plan) > MOST_COLUMNS else place
        alike.setdefault(kind, []).append(c)
    grids = grid("column", "read as", "how or why", "missing")
    for columns in list(alike.values())[:MOST_COLUMNS]:
        first, missing = columns[0], sum(c["missing"] for c in columns)
        names = [visible(c["name"]) or "(no name)" for c in columns[:SHOWN_NAMES]]
        more = len(columns) - len(names)
        name = ", ".join(names) + (f" and {more:,} more" if more else "")
        count = f"{missing:,} {'imputed' if first['role'] != 'excluded' else ''}".strip()
        grids.add_row(
            Text(name), first["role"], Text(visible(first["why"])), count if missing else ""
        )
    console.print(grids)
    if len(alike) > MOST_COLUMNS:
        rest = sum(len(columns) for columns in list(alike.values())[MOST_COLUMNS:])
        console.print(f"and {rest:,} other columns; --report R.html lists all.", highlight=False)


def _print_groups(console: Console, groups: pd.DataFrame) -> None:
    """Print the average of the largest groups, the highest first."""
    for name, part in groups.groupby("column", sort=False):
        table = grid(visible(str(name)), "rows", "ratings", "average", "90 % interval")
        for row in largest_groups(part, MOST_GROUPS).itertuples():
            known = np.isfinite(row.average_low)
            table.add_row(
                Text(visible(str(row.group)), no_wrap=True, overflow="ellipsis"),
                f"{row.rows:,}", f"{row.ratings:,}",
                f"{row.average:.2f}" if np.isfinite(row.average) else "unknown",
                f"{row.average_low:.2f} to {row.average_high:.2f}" if known else "too few ratings",
            )  # fmt: skip
        console.print(table)
        if len(part) > MOST_GROUPS:
            more = f"These are the {MOST_GROUPS} largest of {len(part):,} groups; --groups FILE "
            console.print(f"{more}writes all of them.", highlight=False)

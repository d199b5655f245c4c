"""``label`` and ``predict`` for tables in many files, on the workers of a Dask cluster."""

import os
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from tordinal.cli.label import Job, announce_duration, check_job, summarise
from tordinal.cli.predict import summarise_predictions
from tordinal.cli.session import (
    ProgressDisplay,
    confirm_overwriting,
    console_for,
    ignore_interrupts,
    with_option_names,
)
from tordinal.cli.table_options import names_in
from tordinal.report.page import render_report
from tordinal.tables.many import Files, find_files, output_names
from tordinal.tables.models import dump_model, load_model
from tordinal.tables.outputs import OutputFolder, Outputs
from tordinal.tables.rate_files import draw_sample, fit_files, write_files
from tordinal.tables.results import Rating
from tordinal.tables.settings import WORDLLAMA, Settings
from tordinal.tables.values import TableError
from tordinal.tables.worker import Rated, TableReader

__all__ = ["check_label", "check_names", "run_label_many", "run_predict_many"]


def run_label_many(
    job: Job, settings: Settings, *, quiet: bool = False, parallel: Callable[[], Any]
) -> Rating:
    """Rate the rows of many files, and write a file for each.

    The model is chosen on a sample and fitted to all rows on the workers.

    Parameters
    ----------
    job : Job
        Files and columns; `file` is a folder or a pattern, `out` a folder.
    settings : Settings
        How to rate.
    quiet : bool
        Whether to print errors only.
    parallel : callable
        Makes a context in which models are fitted on the cluster.

    Returns
    -------
    rating : Rating
        The result, with the rows of the sample.
    """
    from distributed import default_client

    started = time.perf_counter()
    paths = find_files(job.file)
    outs = output_names(paths)
    console = console_for(job.out, quiet)
    asked = {"--report": job.report, "--model": job.model}
    destinations = {k: v for k, v in asked.items() if v is not None}
    outputs = Outputs({path: path for path in paths}, destinations)
    confirm_overwriting(destinations.values(), job.target, job.force)
    with (
        outputs,
        OutputFolder("--out", job.out) as folder,
        ProgressDisplay(quiet) as progress,
    ):
        reader = TableReader(
            target=job.target,
            encoding=job.encoding,
            order=tuple(names_in(job.order)) or None,
            missing=tuple(names_in(job.missing)),
        )
        files = Files(default_client(), paths, reader, progress)
        sample = draw_sample(files, settings.seed)
        announce_duration(console, settings, len(sample.table))
        columns = job.of(sample.table.names)
        del columns["order"]  # the reader has it
        rating = fit_files(files, sample, columns, settings, parallel)
        rating.notes = [with_option_names(note) for note in rating.notes]
        done = write_files(
            files, folder.places(outs), sample, rating, probabilities=job.probabilities,
            abstain=job.abstain,
        )  # fmt: skip
        if job.report is not None:
            page = render_report(
                rating, sample.table, job.file, os.path.basename(job.out.rstrip("/")),
                abstained=None if job.abstain is None else (done.unsure, job.abstain),
            )  # fmt: skip
            outputs.write(job.report, lambda file: file.write(page.encode()))
        if job.model is not None:
            content = dump_model(rating.model)
            outputs.write(job.model, lambda file: file.write(content))
        ignore_interrupts()
        folder.commit()
        outputs.commit()
    summarise(console, job, rating, done.unsure, time.perf_counter() - started)
    return rating


def check_label(job: Job, settings: Settings) -> None:
    """Check what many files do not support, before a cluster is started."""
    check_job(replace(job, out="-"))
    single = {
        "--next": job.next,
        "--filled": job.filled,
        "--ratings": job.ratings,
        "--sheet": job.sheet,
        "--by": job.by,
        "--reasons": job.reasons,
        "--reweight": job.reweight,
        "--weight": job.weight,
        "--features": job.features,
        "--hint": job.hint,
        "--cost": settings.cost,
        "--class-weight": settings.class_weight,
    }
    for option, value in single.items():
        if value:
            raise TableError(f"{option} requires a single table, and {job.file} names many")
    if settings.encoder not in (None, WORDLLAMA):
        raise TableError(
            f"--encoder {settings.encoder} requires a single table, and {job.file} names many; "
            "many tables support wordllama only"
        )
    check_names(job.file, job.out)
    if settings.kernel not in (None, "linear"):
        raise TableError(
            f"--kernel {settings.kernel}: models of many files are linear; remove the option"
        )


def check_names(file: str, out: str) -> None:
    """Check that a pattern has files and that the output is a folder."""
    find_files(file)
    if out == "-" or (Path(out).suffix and not os.path.isdir(out)):
        raise TableError(f"--out {out}: FILE names many tables, so OUT must be a folder")


def run_predict_many(
    model_path: str,
    file: str,
    out: str,
    encoding: str | None,
    *,
    probabilities: bool = False,
    abstain: float | None = None,
    quiet: bool = False,
) -> Rated:
    """Rate every row of many files with a saved model.

    Parameters
    ----------
    model_path, file, out : str
        The model, a folder or pattern of tables, and the folder for the rated ones.
    encoding : str or None
        Encoding of text formats.
    probabilities : bool
        Whether to add a column per rating.
    abstain : float or None
        Confidence below which rows stay unrated.
    quiet : bool
        Whether to print errors only.

    Returns
    -------
    rated : Rated
        Counts over all files.
    """
    from distributed import default_client

    started = time.perf_counter()
    paths = find_files(file)
    outs = output_names(paths)
    console = console_for(out, quiet)
    with OutputFolder("--out", out) as folder, ProgressDisplay(quiet) as progress:
        model = load_model(model_path)
        reader = TableReader(model.target, encoding, replace_earlier=False)
        files = Files(default_client(), paths, reader, progress)
        done = files.rate(
            folder.places(outs), model, None, probabilities=probabilities, abstain=abstain
        )
        ignore_interrupts()
        folder.commit()
    seconds = time.perf_counter() - started
    summarise_predictions(
        console, model, done.compared, done.totals.predicted.tolist(), done.cells, out=out,
        unsure=None if abstain is None else (done.unsure, abstain), seconds=seconds,
    )  # fmt: skip
    return done

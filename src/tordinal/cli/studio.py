"""``tordinal studio``: rate rows in the browser, and see how good the rated table will be."""

import math
import os
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated

import typer

from tordinal.cli.options import (
    Columns,
    Debug,
    Drop,
    Encoding,
    Force,
    Missing,
    NewOrder,
    NewTarget,
    Quiet,
    Sheet,
    Table,
    Texts,
)
from tordinal.cli.table_options import TableOptions

__all__ = ["studio"]

LONGEST_GUIDE = 200_000  # letters
SHOWN = 200  # ratings up to which a simulation goes, by default


def studio(
    file: Table,
    target: NewTarget,
    text: Texts = None,
    columns: Columns = None,
    drop: Drop = None,
    order: NewOrder = None,
    missing: Missing = None,
    guide: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Text with guidelines for raters, shown beside each row.",
        ),
    ] = None,
    rater: Annotated[
        str, typer.Option(metavar="NAME", help="Name of the rater, if several people rate.")
    ] = "",
    goal: Annotated[
        float | None,
        typer.Option(
            metavar="0.4",
            help="Error of the finished table to aim at, in steps: the studio shows how many more "
            "ratings that takes.",
            min=0.0,
        ),
    ] = None,
    out: Annotated[
        str | None,
        typer.Option(
            "--out",
            "-o",
            metavar="OUT",
            help="Where Finish writes the rated table. Default: FILE with .rated in its name.",
        ),
    ] = None,
    report: Annotated[
        str | None,
        typer.Option(metavar="R.html", help="Report. Default: FILE with .report.html instead."),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(metavar="M.skops", help="Model. Default: FILE with .model.skops instead."),
    ] = None,
    simulate: Annotated[
        bool,
        typer.Option(
            "--simulate",
            help="Rate a fully rated table again, without a browser: how many ratings would have "
            "been enough?",
        ),
    ] = False,
    load: Annotated[
        Path | None,
        typer.Option(
            "--import",
            metavar="FILE",
            dir_okay=False,
            help="Import ratings from a CSV, Label Studio .json or Prodigy .jsonl, and exit.",
        ),
    ] = None,
    export: Annotated[
        str | None,
        typer.Option(
            "--export",
            metavar="FILE",
            help="Write the ratings as CSV, Label Studio .json or Prodigy .jsonl, and exit.",
        ),
    ] = None,
    port: Annotated[
        int,
        typer.Option(
            help="Port on 127.0.0.1. Default: one that is free.", min=0, max=65535, metavar="N"
        ),
    ] = 0,
    browser: Annotated[bool, typer.Option(help="Open the browser.")] = True,
    sheet: Sheet = None,
    seed: Annotated[
        int, typer.Option(help="Seed of the choice of rows.", min=0, max=2**31, metavar="N")
    ] = 0,
    encoding: Encoding = None,
    force: Force = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Rate rows in the browser: the most useful ones first, until it is good enough.

    A digit rates the row and shows the next one. Beside it are the estimated error of the
    finished table, averages and shares, and what more ratings would bring. Every rating is written
    to FILE's log (reviews.ratings.jsonl) at once; FILE itself is never changed. Stop with Ctrl-C
    and give the same command again to continue. The page is served on this machine only.

    [bold]Examples[/]

    tordinal studio reviews.csv --target stars --order 1,2,3,4,5

    tordinal studio reviews.csv --text review --target stars --goal 0.4 --guide guide.txt

    tordinal label reviews.csv --target stars --ratings reviews.ratings.jsonl -o rated.csv
    """
    from tordinal.cli.session import reporting_errors

    kept = "stopped; every rating is in the log, and the same command resumes from there"
    with reporting_errors(kept, debug=debug):
        from tordinal.exceptions import InputError
        from tordinal.tables.files import format_of
        from tordinal.tables.rating_events import check_rater

        format_of(file)
        job = StudioJob(
            file=file, target=target, text=text or [], columns=columns, drop=drop or [],
            order=order, missing=missing, sheet=sheet, encoding=encoding, seed=seed, force=force,
            quiet=quiet, out=out or _beside(file, ".rated"),
            report=report or _beside(file, ".report.html"),
            model=model or _beside(file, ".model.skops"),
        )  # fmt: skip
        if goal is not None and not math.isfinite(goal):
            raise InputError(f"--goal {goal}: must be a number of steps, such as 0.4")
        if simulate and export is not None:
            raise InputError("--simulate and --export cannot be combined; give one of them")
        if simulate:
            _simulate(job, goal)
        elif load is not None or export is not None:
            _exchange(job, load, export)
        else:
            check_rater(rater)
            _serve(job, rater, goal, _read_guide(guide), port, browser)


@dataclass(frozen=True, kw_only=True)
class StudioJob(TableOptions):
    """The table of a ``tordinal studio``, how it is read, and the files to write at the end."""

    seed: int
    force: bool
    quiet: bool
    out: str
    report: str
    model: str

    @property
    def inputs(self) -> dict[str, str]:
        """Files that no output may replace."""
        from tordinal.tables.ratings_log import ratings_path

        return {"FILE": self.file, "the log of ratings": str(ratings_path(self.file))}


def _beside(file: str, ending: str) -> str:
    """A name beside a file.

    Examples
    --------
    >>> _beside("a/reviews.csv", ".rated"), _beside("reviews.csv.gz", ".report.html")
    ('a/reviews.rated.csv', 'reviews.report.html')
    """
    from tordinal.tables.files import PACKED

    stem, suffix = os.path.splitext(file)
    if suffix.lower() in PACKED:
        stem, suffix = os.path.splitext(stem)
    return stem + ending + (suffix if "." not in ending[1:] else "")


def _read_guide(path: Path | None) -> str:
    from tordinal.exceptions import InputError

    if path is None:
        return ""
    text = _read_text("--guide", path).strip()
    if len(text) > LONGEST_GUIDE:
        raise InputError(f"--guide {path}: longer than {LONGEST_GUIDE:,} letters")
    return text


def _read_text(option: str, path: Path) -> str:
    from tordinal.exceptions import InputError

    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{option} {path}: not UTF-8 text") from None
    except FileNotFoundError:
        raise InputError(f"{option} {path}: no such file") from None


def _open(job: StudioJob):  # type: ignore[no-untyped-def]
    """The table and its log."""
    from tordinal.cli.session import ProgressDisplay
    from tordinal.studio.project import open_project

    with ProgressDisplay(job.quiet) as progress:
        progress("reading the table", 0, 1)
        table = job.read()
        return open_project(table, job.target, job.file, listen=progress, **job.of(table.names))


def _serve(
    job: StudioJob, rater: str, goal: float | None, guide: str, port: int, browser: bool
) -> None:
    from rich.console import Console
    from rich.text import Text

    from tordinal.cli.session import confirm_overwriting, with_option_names
    from tordinal.studio.assessor import Assessor
    from tordinal.studio.finishing import Finishing
    from tordinal.studio.server import Studio, bind, serve
    from tordinal.studio.session import RatingSession
    from tordinal.tables.outputs import Outputs
    from tordinal.tables.values import visible

    console = Console(stderr=True, quiet=job.quiet, soft_wrap=True)
    listener = bind(port)
    outputs = {"--out": job.out, "--report": job.report, "--model": job.model}
    with Outputs(job.inputs, outputs):  # checks where they go
        confirm_overwriting(outputs.values(), job.target, job.force)
    project = _open(job)
    for note in project.notes:
        console.print(Text(f"Note: {visible(with_option_names(note))}."))
    session = RatingSession(project, rater, job.seed)
    assessor = Assessor(session)
    confirmed = {path for path in outputs.values() if os.path.exists(path)}
    finishing = Finishing(lambda listen: _finish(job, str(project.log.path), confirmed, listen))
    studio = Studio(session, assessor, finishing, job.file, goal=goal, guide=guide)

    def announce(address: str) -> None:
        console.print(
            Text(
                f"Ratings go to {visible(str(project.log.path))}.\n"
                f"The studio is open at {address}\nStop it with Ctrl-C."
            )
        )

    serve(studio, listener, announce=announce, browser=browser)
    n = len(session.logged.ratings)
    console.print(
        Text(
            f"\nStopped. {n:,} rated rows are in {visible(str(project.log.path))}; the same "
            "command resumes from there."
        )
    )


def _finish(job: StudioJob, log: str, confirmed: set[str], listen):  # type: ignore[no-untyped-def]
    """Do what ``tordinal label --ratings`` does."""
    from tordinal.cli.label import Job, run_label
    from tordinal.cli.session import with_option_names
    from tordinal.exceptions import InputError
    from tordinal.studio.finishing import Written
    from tordinal.tables.outputs import is_own_output
    from tordinal.tables.settings import Settings

    for path in (job.out, job.report, job.model):
        if os.path.exists(path) and path not in confirmed and not is_own_output(path, job.target):
            raise InputError(f"{path} exists already; move it away, and finish again")
    shared = {field.name: getattr(job, field.name) for field in fields(TableOptions)}
    label = Job(**shared, out=job.out, ratings=log, report=job.report, model=job.model, force=True)
    try:
        rated = run_label(label, Settings(seed=job.seed), quiet=True, listen=listen)
    except InputError as error:
        raise InputError(with_option_names(str(error))) from None
    paths = {what: os.path.realpath(path) for what, path in label.outputs.items()}
    return Written(paths, str(rated.expected_error), Path(job.report).read_text("utf-8"))


def _exchange(job: StudioJob, load: Path | None, export: str | None) -> None:
    """Import ratings from another tool, and export them."""
    from rich.text import Text

    from tordinal.cli.session import confirm_overwriting, console_for
    from tordinal.exceptions import InputError
    from tordinal.tables.outputs import Outputs
    from tordinal.tables.ratings_exchange import export_ratings, import_ratings, news_of
    from tordinal.tables.values import visible

    console = console_for("", job.quiet)
    kinds = [_kind("--import", str(load)) if load else "", _kind("--export", export or "x.csv")]
    inputs = job.inputs | ({"--import": str(load)} if load else {})
    with Outputs(inputs, {"--export": export} if export else {}) as outputs:
        confirm_overwriting([export] if export else [], None, job.force)
        project = _open(job)
        log = project.log
        if load is not None:
            content = _read_text("--import", load)
            events = import_ratings(kinds[0], content, project.table, log.header, project.prints)
            if not events:
                raise InputError(f"--import {load}: no ratings were found in it")
            table = project.table
            places = {str(table.number(i)): i for i in range(len(table))}
            known = {event.id for event in log.events}
            n = log.append(*news_of(events, known, project.read_log(), places))
            others = f"; {len(events) - n:,} were there already, or are older"
            console.print(
                Text(f"{n:,} ratings were taken over into {visible(str(log.path))}"
                     + (others if len(events) > n else "") + ".")
            )  # fmt: skip
        if export is not None:
            logged = project.read_log()
            text = project.texts[0] if len(project.texts) == 1 else None
            content = export_ratings(kinds[1], project.table, log.header, logged, text)
            outputs.write(export, lambda file: file.write(content.encode()))
            outputs.commit()
            console.print(Text(f"{len(logged.ratings):,} rated rows are in {visible(export)}."))


def _kind(option: str, path: str) -> str:
    """The format of ratings by the extension of a file."""
    from tordinal.exceptions import InputError

    kinds = {".csv": "csv", ".json": "label-studio", ".jsonl": "prodigy"}
    suffix = os.path.splitext(path)[1].lower()
    if suffix not in kinds:
        raise InputError(
            f"{option} {path}: the name must end in .csv, .json (Label Studio) or .jsonl (Prodigy)"
        )
    return kinds[suffix]


def _simulate(job: StudioJob, goal: float | None) -> None:
    """Print how many ratings of a fully rated table would have been enough."""
    from rich.text import Text

    from tordinal.cli.session import ProgressDisplay, console_for, grid
    from tordinal.tables.simulate import simulate_table

    console = console_for("", quiet=False)  # --quiet hides progress: the results are the output
    with ProgressDisplay(job.quiet) as progress:
        progress("reading the table", 0, 1)
        table = job.read()
        course = simulate_table(
            table, job.target, seed=job.seed, **job.of(table.names),
            listen=lambda done, total: progress("rating", done, total),
        )  # fmt: skip
    rows = grid("ratings", "off by", "estimated", "90 % interval", "at any time at most")
    for n, error, found in zip(course.ratings, course.errors, course.estimates, strict=True):
        estimates = ["", "", ""] if found is None else [
            f"{found.error:.2f}", f"{found.low:.2f} to {found.high:.2f}",
            f"{found.high_anytime:.2f}",
        ]  # fmt: skip
        rows.add_row(f"{n:,}", f"{error:.2f}", *estimates)
    console.print(rows)
    console.print(Text(course.describe(goal)))

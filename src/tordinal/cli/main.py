"""The ``tordinal`` command. Heavy modules are imported by the commands that need them."""

import inspect as inspect_module
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from tordinal.cli.label_command import label as label_command
from tordinal.cli.next import next_rows as next_command
from tordinal.cli.options import (
    Abstain,
    Debug,
    Encoding,
    Engine,
    EngineName,
    Features,
    Force,
    Probabilities,
    Quiet,
    RatedOut,
    SavedModel,
    Scheduler,
    Sheet,
)
from tordinal.cli.studio import studio as studio_command
from tordinal.cli.table_options import names_many
from tordinal.exceptions import InputError


class _PlainFlags:
    """The help shows no type beside flags: they take no value."""

    def get_params(self, ctx: Any) -> list[Any]:
        params = super().get_params(ctx)  # type: ignore[misc]
        for param in params:
            if getattr(param, "is_flag", False):
                param.metavar = ""
        return params


class _Command(_PlainFlags, TyperCommand):
    pass


class _Group(_PlainFlags, TyperGroup):
    pass


app = typer.Typer(
    cls=_Group,
    help="Transductive ordinal regression: "
    "some rows of a table have an ordered rating; rate the rest.",
    epilog="Exit status: 0 done; 2 wrong input or interrupted; 70 a bug in tordinal. "
    "Nothing is written unless it is 0.",
    no_args_is_help=True,
    pretty_exceptions_show_locals=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


# The figures of the paper that `reproduce` draws.
FigureName = StrEnum("FigureName", "fig5 fig6 fig7 fig8 fig9 fig10 fig11 fig12 claims all")


def _version(asked: bool) -> None:
    if asked:
        import tordinal

        typer.echo(f"tordinal {tordinal.__version__}")
        raise typer.Exit


@app.callback()
def tordinal(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=_version,
            is_eager=True,
            help="Show the version and exit.",
        ),
    ] = False,
) -> None:
    """Rate the rows of a table from a few rows with ordered ratings."""


app.command("label")(label_command)
app.command("next")(next_command)
app.command("studio")(studio_command)


@app.command()
def predict(
    model: SavedModel,
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="Table of new rows; - for standard input.")
    ],
    out: RatedOut,
    probabilities: Probabilities = False,
    abstain: Abstain = None,
    features: Features = None,
    sheet: Sheet = None,
    scheduler: Scheduler = None,
    encoding: Encoding = None,
    force: Force = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Rate new rows with a saved model.

    FILE needs the columns that the model learned from. Every row is predicted; if FILE has
    ratings, the errors are shown. A folder or a quoted pattern ('new/*.parquet') means many tables,
    which are rated on a Dask cluster into a folder with a Parquet file for each.
    """
    from tordinal.cli.session import reporting_errors

    with reporting_errors(debug=debug):
        if not names_many(file):
            from tordinal.cli.predict import run_predict

            if scheduler is not None:
                raise InputError(
                    f"--scheduler {scheduler}: a single table is rated locally; name a folder or a "
                    "pattern of files to rate them on a cluster"
                )
            run_predict(
                model, file, out, encoding, sheet, probabilities=probabilities, abstain=abstain,
                force=force, quiet=quiet, features=features,
            )  # fmt: skip
            return
        for option, value in (("--sheet", sheet), ("--features", features)):
            if value is not None:
                raise InputError(f"{option} requires a single table, and {file} names many")
        from tordinal.cli.cluster import on_cluster
        from tordinal.cli.many import check_names, run_predict_many

        check_names(file, out)
        with on_cluster(scheduler or "local"):
            run_predict_many(
                model, file, out, encoding, probabilities=probabilities, abstain=abstain,
                quiet=quiet,
            )  # fmt: skip


@app.command()
def inspect(
    model: SavedModel,
    debug: Debug = False,
) -> None:
    """Describe a saved model: classes, thresholds, settings, size, versions, expected error."""
    from tordinal.cli.session import reporting_errors

    with reporting_errors(debug=debug):
        from tordinal.cli.predict import run_inspect

        run_inspect(model)


@app.command()
def reproduce(
    figure: Annotated[FigureName, typer.Argument(help="What to reproduce.")],
    realizations: Annotated[
        int,
        typer.Option(
            help="Independent realisations; their seeds are 0, 1, ...", min=1, metavar="N"
        ),
    ] = 20,
    labels: Annotated[
        str | None, typer.Option(metavar="100,400", help="Numbers of labels. Default: the paper's.")
    ] = None,
    datasets: Annotated[
        str | None, typer.Option(metavar="A,B", help="Only these datasets.")
    ] = None,
    ours: Annotated[
        bool, typer.Option("--ours", help="Add methods beyond the paper: optimal swaps, TORCV.")
    ] = False,
    jobs: Annotated[
        int, typer.Option(help="Number of runs at the same time; -1 uses all cores.", metavar="N")
    ] = 1,
    data: Annotated[
        str | None,
        typer.Option(
            metavar="DIR", help="Folder of the datasets. Default: TORDINAL_DATA, or a download."
        ),
    ] = None,
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Folder for results and figures.", file_okay=False)
    ] = Path("tordinal-study"),
    check: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, help="Run N random results of the table again, and compare."
        ),
    ] = None,
    engine: Engine = EngineName.host,
    scheduler: Scheduler = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Run the paper's study again, figure by figure.

    Every result is appended to results.jsonl in the output folder as soon as it is known. Interrupt
    it at any moment and give the same command again: nothing is computed twice. Figures are drawn
    from that table as PNG and SVG; claims writes a verdict on every claim of the paper's section
    VI.
    """
    from tordinal.cli.session import reporting_errors

    kept = "interrupted; results so far are kept, and the same command continues from there"
    with reporting_errors(kept, debug=debug):
        from tordinal.cli.cluster import on_cluster
        from tordinal.cli.reproduce import run_reproduce

        if scheduler is not None and jobs == 1:
            jobs = -1  # one run for each thread of the cluster
        with on_cluster(scheduler) as parallel, parallel():
            run_reproduce(
                figure.value, out, data, realizations=realizations, labels=labels,
                datasets=datasets, jobs=jobs, ours=ours, quiet=quiet, check=check,
                engine=engine.value,
            )  # fmt: skip


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the demo's files.", file_okay=False)] = Path(
        "tordinal-demo"
    ),
    labels: Annotated[
        int, typer.Option(help="Grades that are kept; the others are hidden.", min=10, max=400)
    ] = 60,
    seed: Annotated[
        int, typer.Option(help="Seed of the choice of grades that are kept.", min=0, metavar="N")
    ] = 0,
    reviews: Annotated[
        Path | None,
        typer.Option(
            metavar="CSV", help="Only write a table of 300 made-up reviews, 60 of them with stars."
        ),
    ] = None,
    debug: Debug = False,
) -> None:
    """Grade the diabetes of 442 patients from 60 known grades, and compare with the truth.

    Runs `tordinal label` on a table that it writes first. Needs no network: the data come with
    scikit-learn.

    [bold]Example[/]

    tordinal demo --reviews reviews.csv
    """
    from tordinal.cli.session import reporting_errors

    with reporting_errors(debug=debug):
        from tordinal.cli.demo import run_demo, write_reviews

        if reviews is not None:
            write_reviews(reviews, seed)
        else:
            run_demo(out, labels, seed)


for _command in app.registered_commands:
    # typer keeps line breaks of docstrings: one line for each paragraph wraps at any width.
    _paragraphs = inspect_module.cleandoc(_command.callback.__doc__ or "").split("\n\n")
    _command.cls = _Command
    _command.help = "\n\n".join(" ".join(text.split()) for text in _paragraphs)


def main() -> None:
    """Run the command line."""
    app()

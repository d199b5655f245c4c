"""The ``tordinal`` command. Heavy modules are imported by the commands that need them."""

import os
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from tordinal.cli.next import next_rows as next_command
from tordinal.cli.options import (
    Abstain,
    ClassWeight,
    Columns,
    Cost,
    Debug,
    Drop,
    Encoding,
    Features,
    Filled,
    Force,
    Hint,
    Missing,
    Probabilities,
    Quiet,
    RatedOut,
    Ratings,
    Reasons,
    Reweight,
    SavedModel,
    Scheduler,
    Sheet,
    Texts,
    Weight,
)
from tordinal.cli.studio import studio as studio_command
from tordinal.exceptions import InputError

app = typer.Typer(
    help="Transductive ordinal regression: "
    "some rows of a table have an ordered rating; rate the rest.",
    epilog="Exit status: 0 done; 2 wrong input or interrupted; 70 a bug in tordinal. "
    "Except with 0, nothing is written.",
    no_args_is_help=True,
    pretty_exceptions_show_locals=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


class Method(StrEnum):
    """Ways to rate."""

    auto = "auto"
    tor = "tor"
    redsvm = "redsvm"


class FigureName(StrEnum):
    """Figures of the paper."""

    fig5 = "fig5"
    fig6 = "fig6"
    fig7 = "fig7"
    fig8 = "fig8"
    fig9 = "fig9"
    fig10 = "fig10"
    fig11 = "fig11"
    fig12 = "fig12"
    claims = "claims"
    all = "all"


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
            "--version", callback=_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Rate the rows of a table from a few rows with ordered ratings."""


@app.command()
def label(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="Table: .xlsx, .csv, .tsv, .jsonl or .parquet; - for standard input.",
        ),
    ],
    target: Annotated[
        str,
        typer.Option(
            metavar="COLUMN", help="Column of the ratings. Rows with an empty cell are rated."
        ),
    ],
    out: RatedOut,
    text: Texts = None,
    columns: Columns = None,
    drop: Drop = None,
    order: Annotated[
        str | None,
        typer.Option(
            metavar='"A,B,C"',
            help="Ratings from the lowest to the highest, if they are not numbers.",
        ),
    ] = None,
    missing: Missing = None,
    features: Features = None,
    hint: Hint = None,
    method: Annotated[
        Method,
        typer.Option(
            help="auto chooses by cross-validation, and whether unrated rows help; "
            "tor uses them, redsvm does not."
        ),
    ] = Method.auto,
    C: Annotated[
        float | None,
        typer.Option("--C", help="Cost of errors. Default: 1 for tor and redsvm, chosen by auto."),
    ] = None,
    kernel: Annotated[
        str | None,
        typer.Option(
            help="Kernel: linear, perceptron, rbf, poly or laplacian. Default: chosen by auto."
        ),
    ] = None,
    loss: Annotated[
        str | None,
        typer.Option(
            help="Loss: hinge, squared_hinge, logistic, square or laplacian. Default: hinge, or "
            "chosen by auto."
        ),
    ] = None,
    encoder: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL",
            help="Sentence encoder for the texts: a folder or name of a model of "
            'sentence-transformers (pip install "tordinal\\[encoder]"), or wordllama.',
        ),
    ] = None,
    tune: Annotated[
        bool | None,
        typer.Option(help="Tune the encoder to the ratings. Default: if there is a GPU."),
    ] = None,
    download: Annotated[
        bool, typer.Option("--download", help="Download the encoder if it is not in the cache.")
    ] = False,
    embeddings: Annotated[
        bool,
        typer.Option(
            "--embeddings", "--meaning", hidden=True, help="Deprecated: --encoder wordllama."
        ),
    ] = False,
    quick: Annotated[
        bool,
        typer.Option("--quick", help="Choose one of a few models: takes seconds, less accurate."),
    ] = False,
    cost: Cost = None,
    class_weight: ClassWeight = None,
    weight: Weight = None,
    probabilities: Probabilities = False,
    reasons: Reasons = False,
    abstain: Abstain = None,
    next_rows: Annotated[
        tuple[int, str] | None,
        typer.Option(
            "--next",
            metavar="N FILE",
            help="Write the N rows whose ratings would help most, to fill in.",
        ),
    ] = None,
    filled: Filled = None,
    ratings: Ratings = None,
    sheet: Sheet = None,
    by: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="Estimate average and shares per group of a column; may be given several times.",
        ),
    ] = None,
    groups: Annotated[
        str | None, typer.Option(metavar="G.csv", help="Write the estimates per group (--by).")
    ] = None,
    reweight: Reweight = False,
    report: Annotated[
        str | None, typer.Option(metavar="R.html", help="Write a report for a browser.")
    ] = None,
    model: Annotated[
        str | None, typer.Option(metavar="M.skops", help="Save the model for `tordinal predict`.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Same seed, same result.", min=0, max=2**32 - 1)] = 0,
    jobs: Annotated[
        int | None, typer.Option(help="Fits at the same time; -1 uses all cores.")
    ] = None,
    scheduler: Scheduler = None,
    encoding: Encoding = None,
    force: Force = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Rate the rows of a table that have no rating yet.

    OUT has every row and column of FILE unchanged, and three more columns: COLUMN_predicted,
    COLUMN_confidence (from 0 to 1) and COLUMN_source (given, predicted, or unsure with --abstain).

    A folder or a quoted pattern means many tables, which need not fit this machine: they are rated
    on a Dask cluster, and OUT is a folder with a Parquet file for each.

    The kind of each column is inferred: numbers are scaled, categories one-hot encoded, long texts
    split into words; identifiers and constants are excluded. The output lists what each column was
    read as.

    [bold]Examples[/]

    tordinal label reviews.csv --text review --target stars -o rated.csv --report report.html

    tordinal label survey.xlsx --target grade -o rated.xlsx --next 20 to-rate.xlsx

    tordinal label 'reviews/*.parquet' --target stars -o rated/ --scheduler tcp://host:8786

    tordinal label people.parquet --target grade --order "poor,fair,good" --drop name -o out.parquet

    cat rows.jsonl | tordinal label - --target stars -o - > rated.jsonl
    """
    from tordinal.cli.session import reporting_errors

    with reporting_errors(debug=debug):
        from tordinal.tables.files import format_of

        many = _names_many(file)
        for path in (*(() if many else (file, out)), *(filled or ())):
            if path != "-" and not os.path.isdir(path):
                format_of(path)  # fail before heavy imports
        from tordinal.cli.cluster import on_cluster
        from tordinal.cli.label import Job, run_label
        from tordinal.tables.costs import parse_class_weight, parse_cost
        from tordinal.tables.settings import Settings

        settings = Settings(
            method=method.value, C=C, kernel=kernel, loss=loss, seed=seed, jobs=jobs, quick=quick,
            cost=None if cost is None else parse_cost(cost),
            class_weight=None if class_weight is None else parse_class_weight(class_weight),
            encoder=_named_encoder(encoder, embeddings), tune=tune, download=download,
        )  # fmt: skip
        job = Job(
            file=file, target=target, out=out, text=text or [], columns=columns, drop=drop or [],
            order=order, report=report, model=model, encoding=encoding, missing=missing,
            sheet=sheet, filled=filled or [], ratings=ratings, next=next_rows,
            probabilities=probabilities, abstain=abstain, by=by or [],
            groups=groups, force=force, reasons=reasons, reweight=reweight, weight=weight,
            features=features, hint=hint or [],
        )  # fmt: skip
        if many:
            from tordinal.cli.many import check_label, run_label_many

            check_label(job, settings)
        with on_cluster(scheduler or ("local" if many else None)) as parallel:
            if many:
                run_label_many(job, settings, quiet=quiet, parallel=parallel)
            else:
                run_label(job, settings, quiet=quiet, parallel=parallel)


def _named_encoder(encoder: str | None, embeddings: bool) -> str | None:
    """The encoder, by its deprecated option, too."""
    if not embeddings:
        return encoder
    typer.echo("--embeddings and --meaning are deprecated: use --encoder wordllama", err=True)
    return encoder or "wordllama"


def _names_many(file: str) -> bool:
    """Whether a name means many files: a folder, or a pattern."""
    return os.path.isdir(file) or (
        file != "-" and any(c in file for c in "*?[") and not os.path.exists(file)
    )


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
        if not _names_many(file):
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
        int, typer.Option(help="Independent realisations; their seeds are 0, 1, ...", min=1)
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
    jobs: Annotated[int, typer.Option(help="Runs at the same time; -1 uses all cores.")] = 1,
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
        int, typer.Option(help="Seed of the choice of grades that are kept.", min=0)
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


def main() -> None:
    """Run the command line."""
    app()

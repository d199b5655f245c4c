"""``tordinal label``: the command with its options. `tordinal.cli.label` does the work."""

import os
from enum import StrEnum
from typing import Annotated

import typer

from tordinal.cli.options import (
    INPUT,
    MODEL,
    OUTPUT,
    RUN,
    Abstain,
    ClassWeight,
    Columns,
    Cost,
    Debug,
    Drop,
    Encoding,
    Engine,
    EngineName,
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
    Scheduler,
    Sheet,
    Texts,
    Weight,
)
from tordinal.cli.table_options import names_many

__all__ = ["label"]


class Method(StrEnum):
    """Ways to rate."""

    auto = "auto"
    tor = "tor"
    redsvm = "redsvm"


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
            rich_help_panel=INPUT,
        ),
    ] = None,
    missing: Missing = None,
    features: Features = None,
    hint: Hint = None,
    method: Annotated[
        Method,
        typer.Option(
            help="auto chooses the model by cross-validation, and whether to use the unrated rows; "
            "tor uses them, redsvm does not.",
            rich_help_panel=MODEL,
        ),
    ] = Method.auto,
    C: Annotated[
        float | None,
        typer.Option(
            "--C",
            help="Cost of errors. Default: chosen by auto; 1 for tor and redsvm.",
            metavar="C",
            rich_help_panel=MODEL,
        ),
    ] = None,
    kernel: Annotated[
        str | None,
        typer.Option(
            help="Kernel: linear, perceptron, rbf, poly or laplacian. Default: chosen by auto.",
            metavar="KERNEL",
            rich_help_panel=MODEL,
        ),
    ] = None,
    loss: Annotated[
        str | None,
        typer.Option(
            help="Loss: hinge, squared_hinge, logistic, square or laplacian. Default: hinge, or "
            "chosen by auto.",
            metavar="LOSS",
            rich_help_panel=MODEL,
        ),
    ] = None,
    encoder: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL",
            help="Sentence encoder for the texts: a folder or name of a model of "
            'sentence-transformers (pip install "tordinal\\[encoder]"), or wordllama.',
            rich_help_panel=MODEL,
        ),
    ] = None,
    tune: Annotated[
        bool | None,
        typer.Option(
            help="Tune the encoder to the ratings. Default: if there is a GPU.",
            rich_help_panel=MODEL,
        ),
    ] = None,
    download: Annotated[
        bool,
        typer.Option(
            "--download",
            help="Download the encoder if it is not in the cache.",
            rich_help_panel=MODEL,
        ),
    ] = False,
    embeddings: Annotated[
        bool,
        typer.Option(
            "--embeddings",
            "--meaning",
            hidden=True,
            help="Deprecated: --encoder wordllama.",
        ),
    ] = False,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick",
            help="Try only a few models: faster, less accurate.",
            rich_help_panel=MODEL,
        ),
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
            rich_help_panel=OUTPUT,
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
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    groups: Annotated[
        str | None,
        typer.Option(
            metavar="G.csv", help="Write the estimates per group (--by).", rich_help_panel=OUTPUT
        ),
    ] = None,
    reweight: Reweight = False,
    report: Annotated[
        str | None,
        typer.Option(
            metavar="R.html", help="Write a report for a browser.", rich_help_panel=OUTPUT
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="M.skops", help="Save the model for `tordinal predict`.", rich_help_panel=OUTPUT
        ),
    ] = None,
    seed: Annotated[
        int,
        typer.Option(
            help="Same seed, same result.", min=0, max=2**32 - 1, metavar="N", rich_help_panel=RUN
        ),
    ] = 0,
    jobs: Annotated[
        int | None,
        typer.Option(
            help="Number of fits that run at the same time; -1 uses all cores.",
            rich_help_panel=RUN,
            metavar="N",
        ),
    ] = None,
    engine: Engine = EngineName.host,
    scheduler: Scheduler = None,
    encoding: Encoding = None,
    force: Force = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Rate the rows of a table that have no rating yet.

    OUT has every row and column of FILE unchanged, and three more columns: COLUMN_predicted,
    COLUMN_confidence (from 0 to 1) and COLUMN_source (given, predicted, or unsure with --abstain).

    FILE may be a folder or a quoted pattern: the tables are rated on a Dask cluster (by default on
    this machine) and need not fit into memory. OUT is then a folder with a Parquet file for each.

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

        many = names_many(file)
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
            engine=engine.value,
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
    """The encoder, also by its deprecated option."""
    if not embeddings:
        return encoder
    typer.echo("--embeddings and --meaning are deprecated: use --encoder wordllama", err=True)
    return encoder or "wordllama"

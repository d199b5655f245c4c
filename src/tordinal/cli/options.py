"""Options that several commands share, and long ones."""

from typing import Annotated

import typer

__all__ = [
    "ClassWeight",
    "Cost",
    "Debug",
    "Encoding",
    "Features",
    "Force",
    "Hint",
    "Quiet",
    "Reasons",
    "Reweight",
    "Sheet",
    "Weight",
]

Cost = Annotated[
    str | None,
    typer.Option(
        metavar="low=2",
        help="What errors cost: low=2 makes predictions that are too low twice as bad; high=3; or "
        "a matrix (rows: true ratings), as 0,1,2;1,0,1;2,1,0 or a file.",
    ),
]
ClassWeight = Annotated[
    str | None,
    typer.Option(
        "--class-weight",
        metavar="balanced",
        help="balanced: rare ratings count as much as frequent ones; or weights, as 5=3,1=2.",
    ),
]
Weight = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="Column with the weight of each given rating."),
]
Features = Annotated[
    str | None,
    typer.Option(
        metavar="E.npy",
        help="Embeddings or other numbers to learn from: .npy, or .npz with one array, a row per "
        "row of FILE.",
    ),
]
Hint = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN",
        help="Column with a noisy rating from elsewhere, such as a language model's, on any "
        "ordered scale: it is recalibrated by the ratings, and used if it helps. May be given "
        "several times.",
    ),
]
Reasons = Annotated[
    bool, typer.Option("--reasons", help="Add a column with the main reasons of each rating.")
]
Reweight = Annotated[
    bool,
    typer.Option(
        "--reweight",
        help="Weigh given ratings by how rarely rows like theirs are rated, in averages and shares "
        "of the whole table.",
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")]
Debug = Annotated[bool, typer.Option("--debug", help="Print the traceback of an error.")]
Force = Annotated[bool, typer.Option("--force", help="Replace existing files without asking.")]
Encoding = Annotated[
    str | None, typer.Option(help="Encoding of a CSV, TSV or JSON-lines FILE, if it is not UTF-8.")
]
Sheet = Annotated[str | None, typer.Option(help="Sheet of an .xlsx FILE. Default: the first.")]

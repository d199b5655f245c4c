"""Options that several commands share, and options with long help."""

from enum import StrEnum
from typing import Annotated

import typer

__all__ = [
    "Abstain",
    "ClassWeight",
    "Columns",
    "Cost",
    "Debug",
    "Drop",
    "Encoding",
    "Engine",
    "EngineName",
    "Features",
    "Filled",
    "Force",
    "Hint",
    "Missing",
    "NewOrder",
    "NewTarget",
    "Probabilities",
    "Quiet",
    "RatedOut",
    "Ratings",
    "Reasons",
    "Reweight",
    "SavedModel",
    "Scheduler",
    "Sheet",
    "Table",
    "Texts",
    "Weight",
]

# Groups of options in the help.
INPUT = "Input"
MODEL = "Model"
OUTPUT = "Output"
RUN = "Run"

Cost = Annotated[
    str | None,
    typer.Option(
        metavar="low=2",
        help="What errors cost: low=2 makes predictions that are too low twice as bad; high=3; or "
        "a matrix (rows: true ratings), such as 0,1,2;1,0,1;2,1,0, or a file with one.",
        rich_help_panel=MODEL,
    ),
]
ClassWeight = Annotated[
    str | None,
    typer.Option(
        "--class-weight",
        metavar="balanced",
        help="balanced: rare ratings count as much as frequent ones; or weights, such as 5=3,1=2.",
        rich_help_panel=MODEL,
    ),
]
Weight = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN", help="Column with the weight of each given rating.", rich_help_panel=INPUT
    ),
]
Features = Annotated[
    str | None,
    typer.Option(
        metavar="E.npy",
        help="Embeddings or other numbers to use beside FILE: .npy, or .npz with one array, with a "
        "row for each row of FILE.",
        rich_help_panel=INPUT,
    ),
]
Hint = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN",
        help="Column with a noisy rating from elsewhere, such as a language model's, on any "
        "ordered scale: it is recalibrated by the ratings, and used if it helps. May be given "
        "several times.",
        rich_help_panel=INPUT,
    ),
]
Reasons = Annotated[
    bool,
    typer.Option(
        "--reasons",
        help="Add a column with the main reasons of each rating.",
        rich_help_panel=OUTPUT,
    ),
]
Reweight = Annotated[
    bool,
    typer.Option(
        "--reweight",
        help="Averages and shares: give more weight to ratings of kinds of rows that are rarely "
        "rated.",
        rich_help_panel=OUTPUT,
    ),
]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="Print errors only.", rich_help_panel=RUN)
]
Debug = Annotated[
    bool,
    typer.Option("--debug", help="Print the traceback of an error.", rich_help_panel=RUN),
]
Force = Annotated[
    bool,
    typer.Option(
        "--force",
        help="Replace existing files without asking. Outputs of an earlier run are replaced "
        "anyway, unless rows have been rated in them.",
        rich_help_panel=OUTPUT,
    ),
]
Encoding = Annotated[
    str | None,
    typer.Option(
        help="Encoding of a CSV, TSV or JSON-lines FILE, if it is not UTF-8.",
        metavar="NAME",
        rich_help_panel=INPUT,
    ),
]
Sheet = Annotated[
    str | None,
    typer.Option(
        help="Sheet of an .xlsx FILE. Default: the first.", metavar="NAME", rich_help_panel=INPUT
    ),
]
Table = Annotated[
    str, typer.Argument(metavar="FILE", help="Table: .xlsx, .csv, .tsv, .jsonl or .parquet.")
]
NewTarget = Annotated[
    str,
    typer.Option(
        metavar="COLUMN", help="Column of the ratings. With --order it need not exist yet."
    ),
]
RatedOut = Annotated[
    str,
    typer.Option(
        "--out", "-o", metavar="OUT", help="Where the rated table goes; - for standard output."
    ),
]
Texts = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN",
        help="Column to read as text; may be given several times.",
        rich_help_panel=INPUT,
    ),
]
Columns = Annotated[
    list[str] | None,
    typer.Option(
        metavar="A,B",
        help="Columns to learn from. Default: all useful ones, or those of --text.",
        rich_help_panel=INPUT,
    ),
]
Drop = Annotated[
    list[str] | None, typer.Option(metavar="A,B", help="Columns to exclude.", rich_help_panel=INPUT)
]
NewOrder = Annotated[
    str | None,
    typer.Option(
        metavar='"A,B,C"',
        help="Ratings from the lowest to the highest. Needed before two different ratings are "
        "given.",
        rich_help_panel=INPUT,
    ),
]
Missing = Annotated[
    str | None,
    typer.Option(
        metavar='"A,B"',
        help="Cells that mean a missing value, besides empty ones, n/a, ? and -.",
        rich_help_panel=INPUT,
    ),
]
Filled = Annotated[
    list[str] | None,
    typer.Option(
        metavar="FILE",
        help="Form written by --next or `tordinal next`, filled in; once for each round.",
        rich_help_panel=INPUT,
    ),
]
Ratings = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="Log of ratings (TABLE.ratings.jsonl), or a table with the columns row and COLUMN.",
        rich_help_panel=INPUT,
    ),
]
SavedModel = Annotated[
    str, typer.Argument(metavar="MODEL", help="Model saved by `tordinal label --model`.")
]
Probabilities = Annotated[
    bool,
    typer.Option(
        "--probabilities",
        help="Add a column with the probability of each rating.",
        rich_help_panel=OUTPUT,
    ),
]
Abstain = Annotated[
    float | None,
    typer.Option(
        metavar="0.6",
        help="Leave rows below this confidence unrated.",
        min=0.0,
        max=1.0,
        rich_help_panel=OUTPUT,
    ),
]


class EngineName(StrEnum):
    """Where kernel models are fitted."""

    host = "host"
    cuda = "cuda"
    auto = "auto"


Engine = Annotated[
    EngineName,
    typer.Option(
        help="Where kernel models are fitted: this machine, or an NVIDIA GPU "
        '(pip install "tordinal\\[cuda]"); auto uses a GPU if it is faster.',
        rich_help_panel=RUN,
    ),
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Work on the Dask cluster of this scheduler; local starts a cluster on this machine.",
        rich_help_panel=RUN,
    ),
]

"""The ``tordinal`` command. Heavy modules are imported by the commands that need them."""

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    help="Transductive ordinal regression: a few rows of a table carry an ordered rating; rate the rest.",
    no_args_is_help=True,
    pretty_exceptions_show_locals=False,
)


@app.callback()
def tordinal() -> None:
    """Keep sub-commands even where there is only one."""


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the demo's files.", file_okay=False)] = Path("tordinal-demo"),
    labels: Annotated[int, typer.Option(help="Grades that are kept; the others are hidden.", min=10, max=400)] = 60,
    seed: Annotated[int, typer.Option(help="Which grades are kept.", min=0)] = 0,
) -> None:
    """Grade the diabetes progression of 442 patients of whom 60 are graded, and compare with the truth.

    Needs no network: the data come with scikit-learn.
    """
    from tordinal.cli.demo import run_demo

    run_demo(out, labels, seed)


def main() -> None:
    """Run the command line."""
    app()

"""``tordinal next``: the rows to rate next, as a form to fill in with a spreadsheet."""

import difflib
from typing import TYPE_CHECKING, Annotated

import typer

from tordinal.cli.options import (
    Columns,
    Debug,
    Drop,
    Encoding,
    Filled,
    Force,
    Missing,
    NewOrder,
    NewTarget,
    Quiet,
    Ratings,
    Sheet,
    Table,
    Texts,
)

if TYPE_CHECKING:
    from rich.console import Console

    from tordinal.tables.next_rows import NextRows
    from tordinal.tables.table import Table as InputTable

__all__ = ["next_rows"]


def next_rows(
    file: Table,
    target: NewTarget,
    out: Annotated[
        str, typer.Option("--out", "-o", metavar="FORM", help="Where the form to fill in goes.")
    ],
    n: Annotated[int, typer.Option("-n", help="Number of rows.", min=1, metavar="N")] = 20,
    filled: Filled = None,
    ratings: Ratings = None,
    text: Texts = None,
    columns: Columns = None,
    drop: Drop = None,
    order: NewOrder = None,
    missing: Missing = None,
    sheet: Sheet = None,
    seed: Annotated[
        int, typer.Option(help="Same seed, same rows.", min=0, max=2**32 - 1, metavar="N")
    ] = 0,
    encoding: Encoding = None,
    force: Force = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Choose the rows to rate next, even before there is any rating.

    FORM has N rows of FILE and an empty column for the rating: fill it in with a spreadsheet.
    Three quarters of the rows are those whose ratings help most; before there are two different
    ratings, rows that cover the data. The others are drawn at random. FORM records how each row was
    drawn, so that errors and averages can be estimated even though difficult rows were preferred.

    [bold]Examples[/]

    tordinal next reviews.csv --target stars --order 1,2,3,4,5 -o round1.csv

    tordinal next reviews.csv --target stars --filled round1.csv -o round2.csv

    tordinal label reviews.csv --target stars --filled round1.csv --filled round2.csv -o rated.csv
    """
    from tordinal.cli.session import reporting_errors

    with reporting_errors(debug=debug):
        from tordinal.tables.files import format_of
        from tordinal.tables.values import TableError

        if out == "-":
            raise TableError("--out -: the form cannot go to standard output; name a file")
        forms = filled or []
        for path in (file, out, *forms):
            if path != "-":
                format_of(path)  # fail before heavy imports

        from tordinal.cli.session import (
            ProgressDisplay,
            confirm_overwriting,
            console_for,
            ignore_interrupts,
        )
        from tordinal.cli.table_options import TableOptions
        from tordinal.tables.files import read_table, write_table
        from tordinal.tables.next_rows import next_rows as rows_of
        from tordinal.tables.outputs import Outputs
        from tordinal.tables.preparation import prepare

        inputs = {"FILE": file}
        inputs |= {f"--filled ({k})" if k > 1 else "--filled": p for k, p in enumerate(forms, 1)}
        if ratings is not None:
            inputs["--ratings"] = ratings
        outputs = Outputs(inputs, {"--out": out})
        confirm_overwriting([out], target, force)
        with outputs, ProgressDisplay(quiet) as progress:
            progress("reading the table", 0, 1)
            options = TableOptions(
                file=file, target=target, text=text or [], columns=columns, drop=drop or [],
                order=order, missing=missing, sheet=sheet, encoding=encoding,
            )  # fmt: skip
            table = options.read()
            if order is not None:
                table = _with_new_column(table, target)
            selected = options.of(table.names)
            prepared = prepare(
                table, target, read=lambda path: read_table(path, encoding),
                filled=filled, ratings=ratings, **selected,
            )  # fmt: skip
            progress("choosing rows", 0, 1)
            rows = rows_of(prepared, target, n, missing=selected["missing"], seed=seed)
            outputs.write(out, lambda f: write_table(rows.form, rows.added, f, out, rows.decimal))
            progress("choosing rows", 1, 1)
            ignore_interrupts()
            outputs.commit()
        _print_rows(console_for(out, quiet), rows, target, [*forms, out], len(prepared.part))


def _with_new_column(table: "InputTable", target: str) -> "InputTable":
    """The table with an empty column for the ratings, unless it has one or its name is misspelt."""
    from tordinal.tables.collected import with_target

    similar = difflib.get_close_matches(target, table.names, n=1, cutoff=0.7)
    if target in table.names or similar:
        return table
    table = with_target(table, target)
    table.notes.append(f"the table has no column {target} yet")
    return table


def _print_rows(
    console: "Console", rows: "NextRows", target: str, forms: list[str], n_rows: int
) -> None:
    from rich.text import Text

    from tordinal.cli.session import with_option_names
    from tordinal.tables.values import visible

    for note in rows.notes:
        console.print(Text(f"Note: {visible(with_option_names(note))}."))
    scale = " < ".join(visible(str(c)) for c in rows.classes)
    options = " ".join(f"--filled {path}" for path in forms)
    console.print(
        Text(
            f"{len(rows.form):,} rows to rate are in {visible(forms[-1])} ({rows.n_rated:,} of "
            f"{n_rows:,} are rated so far). Fill in the column {visible(target)} "
            f"({scale}), then continue with tordinal next or tordinal label and {visible(options)}."
        ),
        soft_wrap=True,
    )

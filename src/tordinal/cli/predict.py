"""``tordinal predict`` and ``tordinal inspect``: what can be done with a saved model."""

import time
from typing import Any

import numpy as np
from rich.markup import escape
from rich.text import Text

from tordinal.cli.label import Answers, decimal_of
from tordinal.cli.session import Teller, console_for, finishing, grid
from tordinal.metrics import mean_absolute_error, mean_zero_one_error
from tordinal.tables.files import Table, format_of, read_table, write_table
from tordinal.tables.models import load_model
from tordinal.tables.outputs import Outputs
from tordinal.tables.rating import TableModel
from tordinal.tables.values import TableError, is_missing, number, visible

__all__ = ["run_inspect", "run_predict"]


def run_predict(
    model_path: str,
    file: str,
    out: str,
    encoding: str | None,
    sheet: str | None = None,
    *,
    probabilities: bool = False,
    abstain: float | None = None,
    quiet: bool = False,
) -> None:
    """Rate every row of a table with a saved model.

    Parameters
    ----------
    model_path, file, out : str
        The model, the table and where the rated one goes.
    encoding, sheet : str or None
        Encoding of the table; its sheet in a workbook.
    probabilities : bool
        Whether to add a column per rating.
    abstain : float or None
        Confidence below which rows stay unrated.
    quiet : bool
        Whether to say nothing but errors.
    """
    started = time.perf_counter()
    console = console_for(out, quiet)
    if out != "-":
        format_of(out)
    with (
        Outputs({"FILE": file, "MODEL": model_path}, {"--out": out}) as outputs,
        Teller(quiet) as teller,
    ):
        teller("reading", 0, 1)
        model = load_model(model_path)
        table = read_table(file, encoding, sheet)
        teller("predicting", 0, 1)
        features = table.features(model.target)
        labels, confidence, probability = model.rate(features)
        answers = Answers.made(
            labels, confidence, np.zeros(len(table), dtype=bool), probability, model.classes,
            abstain,
        )  # fmt: skip
        added = answers.columns(model.target, probabilities, list(range(len(table))), len(table))
        for name in added:
            if name in table.names:
                raise TableError(f"{file} has a column {name!r} already; rename or remove it")
        decimal = decimal_of(table, model.encoder)
        outputs.write(out, lambda file: write_table(table, added, file, out, decimal))
        finishing()
        outputs.commit()
    if model.target in table.names:
        console.print(_compared(model, table, labels), highlight=False)
    for note in table.notes:
        console.print(Text(f"Note: {visible(note)}."))
    if abstain is not None:
        console.print(
            f"{answers.unsure:,} rows below a confidence of {abstain:g} stay unrated.",
            highlight=False,
        )
    console.print(
        f"Rated {len(table):,} rows in {time.perf_counter() - started:.1f} s:", highlight=False
    )
    console.print(
        Text(f"  table   {visible(out) if out != '-' else 'standard output'}"), soft_wrap=True
    )


def _compared(model: TableModel, table: Table, labels: list[Any]) -> str:
    """Errors where the table has ratings; rows that the model learned from tell nothing."""
    cells = [c.strip() if isinstance(c, str) else c for c in table[model.target]]
    ranks = {_spelled(c): k for k, c in enumerate(model.classes)}
    rated = [i for i, c in enumerate(cells) if not is_missing(c) and _spelled(c) in ranks]
    learned = model.known(table.features(model.target))
    new = [i for i in rated if not learned[i]]
    lines = []
    if len(new) < len(rated):
        lines.append(
            f"The model learned from {len(rated) - len(new):,} of the {len(rated):,} rated rows: "
            "how well it rates those says nothing, and they are not counted."
        )
    if new:
        truth = [ranks[_spelled(cells[i])] for i in new]
        predicted = [ranks[_spelled(labels[i])] for i in new]
        lines.append(
            f"On {len(new):,} rated rows that are new to it: "
            f"{100 * mean_zero_one_error(truth, predicted):.0f} % wrong, "
            f"{mean_absolute_error(truth, predicted):.2f} steps off on average."
        )
    return "\n".join(lines) or f"No row of {visible(model.target)} has a rating to compare with."


def _spelled(value: Any) -> Any:
    """A rating as a number where it is one, so that 4, "4" and "4.0" are the same."""
    return value if (parsed := number(value)) is None else parsed


def run_inspect(path: str) -> None:
    """Show what a saved model is.

    Parameters
    ----------
    path : str
        The model.
    """
    model = load_model(path)
    card, console = model.card, console_for("", quiet=False)
    facts = grid("model", escape(visible(path)))
    facts.add_row("rates", Text(visible(model.target)))
    facts.add_row("ratings, low to high", Text(" < ".join(visible(str(c)) for c in model.classes)))
    facts.add_row("thresholds", ", ".join(f"{t:.4g}" for t in card["thresholds"]))
    facts.add_row("method", card["method"])
    facts.add_row(
        "trained on",
        f"{card['rows']:,} rows, {card['ratings']:,} rated, {card['features']:,} features",
    )
    facts.add_row("worth", card["worth"])
    for name, label in (
        ("this model", "error"),
        ("supervised", "without unrated rows"),
        ("transductive", "with them"),
    ):
        if name in card["errors"]:
            wrong, off = card["errors"][name]
            facts.add_row(
                f"{label}, cross-validated",
                f"{100 * wrong:.1f} % wrong, {off:.3f} steps off on average",
            )
    facts.add_row("verdict", card["verdict"])
    facts.add_row(
        "versions", ", ".join(f"{name} {number}" for name, number in card["versions"].items())
    )
    console.print(facts)
    seen = ["sees"] if any("view" in m for m in card["members"]) else []
    members = grid("kind", "kernel", "loss", "C", *seen)
    for m in card["members"]:
        view = [m.get("view", "")] if seen else []
        members.add_row(m["kind"], m["kernel"], m["loss"], f"{m['C']:g}", *view)
    console.print(members)
    columns = grid("column", "taken as", "how or why")
    for c in card["columns"]:
        columns.add_row(Text(visible(c["name"]) or "(no name)"), c["role"], c["why"])
    console.print(columns)

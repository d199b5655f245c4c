"""``tordinal predict`` and ``tordinal inspect``: using a saved model."""

import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.text import Text

from tordinal.cli.session import (
    ProgressDisplay,
    confirm_overwriting,
    console_for,
    grid,
    ignore_interrupts,
)
from tordinal.tables.answers import Answers, decimal_of
from tordinal.tables.compared import Compared, compare
from tordinal.tables.drift import CellCounts, rating_warning
from tordinal.tables.files import format_of, read_table, write_table
from tordinal.tables.models import load_model
from tordinal.tables.outputs import Outputs
from tordinal.tables.table_model import TableModel
from tordinal.tables.values import TableError, sentence, visible
from tordinal.tables.vectors import FEATURES, owner_of, read_features

__all__ = ["run_inspect", "run_predict", "summarise_predictions"]


def run_predict(
    model_path: str,
    file: str,
    out: str,
    encoding: str | None,
    sheet: str | None = None,
    *,
    probabilities: bool = False,
    abstain: float | None = None,
    force: bool = False,
    quiet: bool = False,
    features: str | None = None,
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
    force : bool
        Whether to replace an existing file without asking.
    quiet : bool
        Whether to print errors only.
    features : str or None
        NumPy file of numbers beside the table.
    """
    started = time.perf_counter()
    console = console_for(out, quiet)
    if out != "-":
        format_of(out)
    outputs = Outputs({"FILE": file, "MODEL": model_path}, {"--out": out})
    model = load_model(model_path)
    confirm_overwriting([out], model.target, force)
    with outputs, ProgressDisplay(quiet) as progress:
        progress("reading", 0, 1)
        table = read_table(file, encoding, sheet)
        if features is not None:
            table.vectors = read_features(features, len(table))
        elif any(owner_of(name) == FEATURES != name for name in model.used):
            raise TableError(
                f"{model_path} learned from an array beside the table; name one with --features"
            )
        progress("predicting", 0, 1)
        cells = model.cells(table)
        labels, confidence, probability = model.rate(cells)
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
        ignore_interrupts()
        outputs.commit()
    compared = compare(model, table, labels) if model.target in table.names else None
    predicted = np.bincount(model.decide(probability), minlength=len(model.classes)).tolist()
    summarise_predictions(
        console, model, compared, predicted, model.encoder.compare(cells), out=out,
        unsure=None if abstain is None else (answers.unsure, abstain),
        seconds=time.perf_counter() - started, notes=table.notes,
    )  # fmt: skip


def summarise_predictions(
    console: Console,
    model: TableModel,
    compared: Compared | None,
    predicted: Sequence[int],
    cells: Sequence[CellCounts],
    *,
    unsure: tuple[int, float] | None,
    out: str,
    seconds: float,
    notes: Sequence[str] = (),
) -> None:
    """Print how the rows differ from the training rows, the results, and the file written."""
    rows, before = sum(predicted), model.card.get("counts")
    _show_counts(console, model.classes, predicted, before)
    if before is not None:
        warning = rating_warning(model.classes, predicted, before)
        if warning:
            console.print(Text(f"Warning: {visible(warning)}", style="bold yellow"))
    first, *others = model.encoder.warnings(cells) or [""]
    if first:
        console.print(Text(f"Warning: {visible(first)}:", style="bold yellow"))
        for line in others:
            console.print(Text(f"  {visible(line)}"))
    if rows and not cells:
        console.print(
            "Note: an earlier version saved the model, so this table was not compared with its "
            "training table. Label that table again to enable the comparison.",
            highlight=False,
        )
    if compared is not None:
        console.print(compared.about(visible(model.target)), highlight=False, markup=False)
    for note in notes:
        console.print(Text(f"Note: {sentence(note)}"))
    if unsure is not None:
        console.print(
            f"{unsure[0]:,} rows below a confidence of {unsure[1]:g} stay unrated.",
            highlight=False,
        )
    console.print(
        f"Rated {rows:,} {'row' if rows == 1 else 'rows'} in {seconds:.1f} s:", highlight=False
    )
    console.print(
        Text(f"  table   {visible(out) if out != '-' else 'standard output'}"), soft_wrap=True
    )


def _show_counts(
    console: Console,
    classes: Sequence[Any],
    predicted: Sequence[int],
    before: Mapping[str, Sequence[int]] | None,
) -> None:
    """How often each rating is predicted, beside what was given and predicted at training."""
    names = [] if before is None else ["given", "predicted"]
    counts = grid("rating", "predicted", *(f"{name} in training" for name in names))
    for k, rating in enumerate(classes):
        numbers = [predicted[k], *(before[name][k] for name in names if before is not None)]
        counts.add_row(Text(visible(str(rating))), *(f"{n:,}" for n in numbers))
    console.print(counts)


def run_inspect(path: str) -> None:
    """Describe a saved model.

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
    facts.add_row("method", _shown(card["method"]))
    facts.add_row(
        "trained on",
        f"{card['rows']:,} rows, {card['ratings']:,} rated, {card['features']:,} features",
    )
    if model.encoder.sentences is not None:
        facts.add_row("sentence encoder", _shown(model.encoder.sentences))
    facts.add_row("expected error", _shown(card["worth"]))
    for name, label in (
        ("this model", "error"),
        ("supervised", "without unrated rows"),
        ("transductive", "with them"),
    ):
        if name in card["errors"]:
            wrong, off = card["errors"][name]
            facts.add_row(
                f"{label}, cross-validated",
                f"{100 * wrong:.1f} % wrong, off by {off:.3f} steps on average",
            )
    facts.add_row("verdict", _shown(card["verdict"]))
    versions = ", ".join(f"{name} {number}" for name, number in card["versions"].items())
    facts.add_row("versions", _shown(versions))
    console.print(facts)
    seen = ["sees"] if any("view" in m for m in card["members"]) else []
    members = grid("kind", "kernel", "loss", "C", *seen)
    for m in card["members"]:
        view = [m.get("view", "")] if seen else []
        cells = (m["kind"], m["kernel"], m["loss"], f"{m['C']:g}", *view)
        members.add_row(*map(_shown, cells))
    console.print(members)
    columns = grid("column", "read as", "how or why")
    for c in card["columns"]:
        columns.add_row(_shown(c["name"] or "(no name)"), c["role"], _shown(c["why"]))
    console.print(columns)


def _shown(value: object) -> Text:
    """A text of a model file, without control characters."""
    return Text(visible(str(value)))

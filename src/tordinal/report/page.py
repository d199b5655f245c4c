"""The report page: its content and the template that renders it."""

import datetime
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

import numpy as np
import pandas as pd
from jinja2 import Environment, StrictUndefined

from tordinal.report import answers, palette, pictures
from tordinal.report.drawing import Picture, class_colour
from tordinal.tables.abstaining import abstain_curve, describe_abstaining
from tordinal.tables.check_first import (
    CONTRADICTED,
    DOUBTFUL,
    DUPLICATE,
    describe_checks,
    rows_to_check,
)
from tordinal.tables.estimates import describe, estimate_rating, largest_groups
from tordinal.tables.files import Table
from tordinal.tables.reasons import Reasons
from tordinal.tables.results import Rating
from tordinal.tables.roles import CODE_NAME
from tordinal.tables.suggest import rows_to_rate
from tordinal.tables.values import sentence, short_number, visible

__all__ = ["render_report"]

EXAMPLES = 3  # rows shown per class
NEXT = 10  # rows suggested for labelling
LONGEST = 1000  # characters of a cell that are shown
FOLDED = 160  # characters from which a cell is folded
SHOWN_COLUMNS = 4  # columns of a row that are shown, beside what identifies it
MOST_CHECKED = 10  # rows to check first of each kind that are listed
MOST_GROUPS = 40  # groups of a column that are listed; the others are in the file of --groups


def render_report(
    rating: Rating,
    table: Table,
    source: str,
    result: str,
    *,
    abstained: tuple[int, float] | None = None,
    groups: pd.DataFrame | None = None,
    reasons: Reasons | None = None,
    reweight: bool = False,
) -> str:
    """Write the report.

    Parameters
    ----------
    rating : Rating
        What was found.
    table : Table
        The table that was rated.
    source, result : str
        Names of the input and the output.
    abstained : (int, float) or None
        How many rows stay unrated because their confidence is below a limit, and that limit.
    groups : DataFrame or None
        Estimates by group, as `estimate_groups` makes them.
    reasons : Reasons or None
        Why rows are rated as they are. None: they are found here.
    reweight : bool
        Whether estimates of the whole table weigh given ratings.

    Returns
    -------
    html : str
        One self-contained page without scripts.
    """
    names = [visible(str(c)) for c in rating.target.classes]
    n, totals = len(names), rating.totals
    leader, transducer = rating.leader, rating.transducer
    h = leader.predict_projection(rating.model.seen(rating.X))
    truth = rating.target.rank[rating.held_out]
    shown = [
        pictures.class_shares(
            names,
            totals.given,
            totals.predicted,
        )
    ]
    if rating.expected_error.judgement != "unknown":
        confidence = rating.cv_probability[np.arange(len(truth)), rating.cv_rank]
        shown.append(pictures.by_rating(names, truth, rating.cv_rank))
        shown.append(pictures.reliability(confidence, rating.cv_rank == truth))
        shown.append(pictures.confusion(names, truth, rating.cv_rank))
    if rating.curve is not None:
        shown.append(pictures.learning(rating.curve))
    curve = abstain_curve(rating, None if abstained is None else abstained[1])
    if len(curve) > 1:
        shown.append(answers.abstaining(curve))
    shown.append(pictures.projection(names, h, leader.thresholds_, rating.rank))
    if transducer is not None and any(r["swaps"] for r in transducer.history_):
        shown.append(pictures.objective(transducer.history_))
    estimates = estimate_rating(rating, reweight=reweight)
    columns = _shown_columns(rating, table)
    reasons = Reasons(rating, table.features(rating.target.name)) if reasons is None else reasons
    checks = rows_to_check(rating, table.features(rating.target.name))
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    template = environment.from_string(
        files("tordinal.report").joinpath("report.html.j2").read_text("utf-8")
    )
    page = template.render(
        source=visible(source),
        numbering="labels of the index"
        if table.format == "frame"
        else "those of a spreadsheet, where the header is row 1",
        result=visible(result),
        target=visible(rating.target.name),
        rows=totals.rows,
        n_given=int(totals.given.sum()),
        n_found=int(totals.predicted.sum()) - (abstained[0] if abstained else 0),
        n_unrated=int(totals.predicted.sum()),
        abstained=abstained,
        classes=names,
        card=rating.model.card,
        errors=rating.error_rows,
        sure=totals.sure,
        estimates=estimates,
        average="" if estimates is None else describe(rating, estimates),
        groups=_groups(groups, rating.target.classes),
        curve="" if rating.curve is None else str(rating.curve),
        expected=rating.expected_error,
        sentence=visible(str(rating.expected_error)),
        useful=rating.expected_error.judgement == "useful",
        verdict=rating.verdict,
        notes=[sentence(note) for note in rating.notes],
        pictures=shown,
        moved=rating.moved if rating.whole is None else None,
        folded=FOLDED,
        transduced=transducer is not None,
        plan=[{**c, "name": visible(c["name"]) or "(no name)"} for c in rating.model.encoder.plan_],
        columns=[visible(c) for c in columns],
        suggested=_rows(
            rating, table, columns, names, [d.place for d in rows_to_rate(rating, NEXT)], reasons
        ),
        examples=[
            (names[k], _rows(rating, table, columns, names, _typical(rating, k), reasons))
            for k in range(n)
        ],
        colours=[class_colour(k, n) for k in range(n)],
        palette=palette.shades(),
        why=_why_pictures(reasons),
        unclear=_unclear(reasons),
        agreement=reasons.agreement if reasons.agrees else None,
        abstaining="" if abstained is None else describe_abstaining(rating, abstained[1]),
        checks=describe_checks(checks),
        slips=_checked(rating, table, columns, names, checks, CONTRADICTED),
        twins=_checked(rating, table, columns, names, checks, DUPLICATE),
        doubtful=_checked(rating, table, columns, names, checks, DOUBTFUL, reasons),
        n_checks=dict(checks["why"].value_counts()),
    )
    return page.replace(" %", "\u00a0%")  # no line break between a number and its sign


def _why_pictures(reasons: Reasons) -> list[Picture]:
    """Which columns matter, and which words."""
    shown = []
    if len(reasons.columns):
        shown.append(answers.importance(reasons.columns))
    if len(reasons.words):
        shown.append(answers.words(reasons.words, reasons.agreement))
    return shown


def _unclear(reasons: Reasons) -> list[str]:
    """Columns without a clear effect."""
    columns = reasons.columns
    return [visible(str(name)) for name in columns["column"][~columns["clear"].astype(bool)]]


def _rows(
    rating: Rating, table: Table, columns: list[str], names: list[str], rows: list[int],
    reasons: Reasons | None,
) -> list[dict[str, Any]]:  # fmt: skip
    """Rows as they are shown, with their reasons if these are wanted."""
    sentences = [""] * len(rows) if reasons is None else reasons.sentences(rows)
    return [
        {**_row(rating, table, columns, i, names), "why": why}
        for i, why in zip(rows, sentences, strict=True)
    ]


def _checked(
    rating: Rating, table: Table, columns: list[str], names: list[str], checks: pd.DataFrame,
    why: str, reasons: Reasons | None = None,
) -> list[dict[str, Any]]:  # fmt: skip
    """Some rows to check first, with what else was given, predicted or expected."""
    mine = checks[checks["why"] == why].head(MOST_CHECKED)
    listed = _rows(rating, table, columns, names, mine["row"].tolist(), reasons)
    for row, check in zip(listed, mine.itertuples(), strict=True):
        row["other"] = "" if check.other is None else visible(str(check.other))
        row["off"] = float(check.expected_error)
        like = "" if pd.isna(check.like) else table.number(int(check.like))
        row["like"] = f"{like:,}" if isinstance(like, int) else visible(like)
    return listed


def _shown_columns(rating: Rating, table: Table) -> list[str]:
    """The columns that tell a reader most about a row: what identifies it, then texts."""
    plan = rating.model.encoder.plan_
    excluded = [c["name"] for c in plan if c["role"] == "excluded"]
    # Numbers from beside the table, and those of lists, have no cells of their own.
    used = [c for c in plan if c["role"] != "excluded" and c["name"] in table.names]
    ordered = [c["name"] for c in used if c["role"] == "text"] + [
        c["name"] for c in used if c["role"] != "text"
    ]
    identifiers = [c["name"] for c in plan if c["why"] == "identifier"]
    identifiers += [name for name in excluded if CODE_NAME.search(name)]
    # Of several the one with the most different cells.
    identifiers.sort(key=lambda name: -len(set(map(str, table[name]))))
    return identifiers[:1] + ordered[:SHOWN_COLUMNS]


def _groups(groups: pd.DataFrame | None, classes: Sequence[Any]) -> list[dict[str, Any]]:
    """The largest groups of each column, as they are shown: a picture and rows of a table."""
    if groups is None or len(groups) == 0:
        return []
    return [
        {
            "column": visible(str(name)),
            "n_groups": len(part),
            "picture": pictures.averages(
                visible(str(name)), _records(largest_groups(part, pictures.MOST_GROUPS))
            ),
            "rows": [
                {**row, "shares": [_share(row, f"share_{label}") for label in classes]}
                for row in _records(largest_groups(part, MOST_GROUPS))
            ],
        }
        for name, part in groups.groupby("column", sort=False)
    ]


def _records(groups: pd.DataFrame) -> list[dict[str, Any]]:
    """Groups with names that are safe to show."""
    return [{**row, "group": visible(str(row["group"]))} for row in groups.to_dict("records")]


def _share(row: dict[str, Any], name: str) -> tuple[str, str]:
    """A share of a group and its interval, if it has one."""
    value, low, high = (100 * row[f"{name}{end}"] for end in ("", "_low", "_high"))
    shown = "unknown" if np.isnan(value) else f"{value:.0f} %"
    return shown, "" if np.isnan(low) else f"{low:.0f} to {high:.0f} %"


def _row(
    rating: Rating, table: Table, columns: list[str], i: int, names: list[str]
) -> dict[str, Any]:
    """A row as it is shown."""
    cells = []
    for column in columns:
        value = table[column][i]
        text = "" if value is None else short_number(str(value)[: LONGEST + 1])
        if isinstance(value, datetime.datetime):
            text = text.removesuffix(" 00:00:00")
        cells.append(visible(text if len(text) <= LONGEST else text[:LONGEST] + "…"))
    k, number = int(rating.rank[i]), table.number(i)
    return {
        "number": f"{number:,}" if isinstance(number, int) else visible(number),
        "cells": cells,
        "class": names[k],
        "k": k,
        "given": bool(rating.given[i]),
        "confidence": float(rating.confidence[i]),
    }


def _typical(rating: Rating, k: int) -> list[int]:
    """Rows of a class: the predicted ones the model is surest of, or given ones without those."""
    members = np.flatnonzero(rating.rank == k)
    predicted = members[~rating.given[members]]
    chosen = predicted if len(predicted) else members
    order = np.argsort(-rating.confidence[chosen], kind="stable")
    return [int(i) for i in chosen[order[:EXAMPLES]]]

"""The report page: its content and the template that renders it."""

from importlib.resources import files
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from jinja2 import Environment, StrictUndefined
from numpy.typing import NDArray

from tordinal.report import pictures
from tordinal.tables.estimates import assumption, describe, estimate_rating
from tordinal.tables.files import Table
from tordinal.tables.results import Rating
from tordinal.tables.suggest import rows_to_rate
from tordinal.tables.values import visible

__all__ = ["render_report"]

EXAMPLES = 3  # rows shown per class
NEXT = 10  # rows suggested for labelling
LONGEST = 1000  # characters of a cell that are shown
FOLDED = 160  # characters from which a cell is folded
SHOWN_COLUMNS = 4  # columns of a row that are shown
MOST_GROUPS = 40  # groups of a column that are listed; the others are in the file of --groups


def render_report(
    rating: Rating,
    table: Table,
    source: str,
    result: str,
    abstained: tuple[int, float] | None = None,
    groups: pd.DataFrame | None = None,
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
    words, weight, what = _influences(rating, table, h)
    if words:
        shown.append(pictures.pushes(words, weight, what))
    shown.append(pictures.projection(names, h, leader.thresholds_, rating.rank))
    if transducer is not None and any(r["swaps"] for r in transducer.history_):
        shown.append(pictures.objective(transducer.history_))
    estimates = estimate_rating(rating)
    shown[1:1] = [pictures.averages(name, of_column) for name, of_column in _groups(groups)]
    columns = _shown_columns(rating)
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    template = environment.from_string(
        files("tordinal.report").joinpath("report.html.j2").read_text("utf-8")
    )
    return template.render(
        source=visible(source),
        numbering="labels of the index"
        if table.format == "frame"
        else "those of a spreadsheet, where the header is row 1",
        result=visible(result),
        target=visible(rating.target.name),
        rows=totals.rows,
        n_given=int(totals.given.sum()),
        n_found=int(totals.predicted.sum()) - (abstained[0] if abstained else 0),
        abstained=abstained,
        classes=names,
        card=rating.model.card,
        errors=rating.error_rows,
        sure=totals.sure,
        estimates=estimates,
        average="" if estimates is None else describe(rating, estimates),
        assumption=assumption(rating),
        groups=_groups(groups),
        most_groups=MOST_GROUPS,
        curve="" if rating.curve is None else str(rating.curve),
        expected=rating.expected_error,
        sentence=visible(str(rating.expected_error)),
        useful=rating.expected_error.judgement == "useful",
        verdict=rating.verdict,
        notes=[visible(note) for note in rating.notes],
        pictures=shown,
        moved=rating.moved if rating.whole is None else None,
        folded=FOLDED,
        transduced=transducer is not None,
        plan=[{**c, "name": visible(c["name"]) or "(no name)"} for c in rating.model.encoder.plan_],
        columns=[visible(c) for c in columns],
        suggested=[
            _row(rating, table, columns, draw.place, names) for draw in rows_to_rate(rating, NEXT)
        ],
        examples=[
            (names[k], [_row(rating, table, columns, i, names) for i in _typical(rating, k)])
            for k in range(n)
        ],
        colours=[pictures.class_colour(k, n) for k in range(n)],
    )


def _influences(
    rating: Rating, table: Table, h: NDArray[Any]
) -> tuple[list[str], NDArray[Any], str]:
    """The features that move the projection most, and by how much one standard deviation does.

    With a linear kernel that is the weight; with another one, or where words act through latent
    axes too, the slope of the projection over the feature.
    """
    X, encoder = rating.X, rating.model.encoder
    estimator = rating.model.estimator
    members = getattr(estimator, "estimators_", [estimator])
    mean = np.asarray(X.mean(axis=0)).ravel()
    square = (
        np.asarray(X.multiply(X).mean(axis=0)).ravel() if sp.issparse(X) else np.mean(X * X, axis=0)
    )
    deviation = np.sqrt(np.maximum(square - mean * mean, 0.0))
    texts = [c["name"] for c in encoder.plan_ if c["role"] == "text"]
    linear = next((m for m in members if m.kernel == "linear" and not texts), None)
    if linear is not None:
        weight = np.asarray(linear.coef_).ravel() * deviation
    else:
        covariance = np.asarray(X.T @ (h - h.mean())).ravel() / len(h)
        weight = np.divide(
            covariance, deviation, out=np.zeros_like(covariance), where=deviation > 0
        )
    features = encoder.get_feature_names_out()
    order = np.argsort(-weight, kind="stable")
    order = order[[not (features[i][0] in texts and features[i][1].startswith("(")) for i in order]]
    keep = order if len(order) <= 60 else np.concatenate([order[:30], order[-30:]])
    forms = {}
    for place, name in enumerate(texts):
        vectorizer = encoder.encoder_.named_transformers_[f"text {place}"]
        forms[name] = vectorizer.words_.surface_forms(
            "" if c is None else str(c) for c in table[name][:5000]
        )
    named = []
    for i in keep:
        column, value = features[i]
        word = (
            forms[column].get(value, value)
            if column in forms
            else f"{column}: {value}"
            if value
            else column
        )
        named.append(visible(word))
    return (
        named,
        weight[keep],
        "words"
        if len(texts) == len({c for c, _ in features})
        else "columns and words"
        if texts
        else "columns",
    )


def _shown_columns(rating: Rating) -> list[str]:
    """Columns that say most about a row to a reader: texts first."""
    used = [c for c in rating.model.encoder.plan_ if c["role"] != "excluded"]
    ordered = [c["name"] for c in used if c["role"] == "text"] + [
        c["name"] for c in used if c["role"] != "text"
    ]
    return ordered[:SHOWN_COLUMNS]


def _groups(groups: pd.DataFrame | None) -> list[tuple[str, list[dict[str, Any]]]]:
    """The groups of each column, with names that are safe to show."""
    if groups is None or len(groups) == 0:
        return []
    return [
        (
            visible(name),
            [{**row, "group": visible(row["group"])} for row in part.to_dict("records")],
        )
        for name, part in groups.groupby("column", sort=False)
    ]


def _row(
    rating: Rating, table: Table, columns: list[str], i: int, names: list[str]
) -> dict[str, Any]:
    """A row as it is shown."""
    cells = []
    for column in columns:
        value = table[column][i]
        text = "" if value is None else str(value)[: LONGEST + 1]
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

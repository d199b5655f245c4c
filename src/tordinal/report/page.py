"""The page: what is said in the report, and the template that says it."""

from importlib.resources import files
from typing import Any

import numpy as np
import scipy.sparse as sp
from jinja2 import Environment, StrictUndefined
from numpy.typing import NDArray

from tordinal.distances import Matrix
from tordinal.report import pictures
from tordinal.tables.files import Table
from tordinal.tables.rating import Rating
from tordinal.tables.values import visible

__all__ = ["render_report"]

EXAMPLES = 3  # rows shown per class
NEXT = 10  # rows suggested for labelling
CANDIDATES = 200  # least certain rows among which those are chosen
LONGEST = 280  # characters of a cell that are shown
SHOWN_COLUMNS = 4  # columns of a row that are shown


def render_report(rating: Rating, table: Table, source: str, result: str) -> str:
    """Write the report.

    Parameters
    ----------
    rating : Rating
        What was found.
    table : Table
        The table that was rated.
    source, result : str
        Names of the input and the output.

    Returns
    -------
    html : str
        One self-contained page without scripts.
    """
    names = [visible(str(c)) for c in rating.target.classes]
    n, given = len(names), rating.given
    leader, transducer = rating.leader, rating.transducer
    h = leader.predict_projection(rating.X)
    shown = [
        pictures.class_shares(
            names,
            np.bincount(rating.rank[given], minlength=n),
            np.bincount(rating.rank[~given], minlength=n),
        ),
        pictures.projection(names, h, leader.thresholds_, rating.rank),
    ]
    if len(rating.held_out):
        shown.append(pictures.confusion(names, rating.target.rank[rating.held_out], rating.cv_rank))
    if transducer is not None:
        shown.append(pictures.objective(transducer.history_))
    words, weight, what = _influences(rating, table, h)
    if words:
        shown.append(pictures.pushes(words, weight, what))
    moved = (
        0
        if transducer is None
        else int(np.sum(transducer.initial_labels_ != transducer.transduction_))
    )
    columns = _shown_columns(rating)
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    template = environment.from_string(
        files("tordinal.report").joinpath("report.html.j2").read_text("utf-8")
    )
    return template.render(
        source=visible(source),
        result=visible(result),
        target=visible(rating.target.name),
        rows=len(given),
        n_given=int(given.sum()),
        n_found=int((~given).sum()),
        classes=names,
        card=rating.model.card,
        errors=rating.errors,
        guess=_guess(rating),
        worth=visible(str(rating.worth)),
        useful=rating.worth.judgement == "useful",
        verdict=rating.verdict,
        notes=[visible(note) for note in rating.notes],
        pictures=shown,
        moved=moved,
        transduced=transducer is not None,
        plan=[{**c, "name": visible(c["name"]) or "(no name)"} for c in rating.model.encoder.plan_],
        columns=[visible(c) for c in columns],
        suggested=[_row(rating, table, columns, i, names) for i in _worth_labelling(rating)],
        examples=[
            (names[k], [_row(rating, table, columns, i, names) for i in _typical(rating, k)])
            for k in range(n)
        ],
        colours=[pictures.class_colour(k, n) for k in range(n)],
    )


def _guess(rating: Rating) -> tuple[float, float]:
    """Errors of always giving the most frequent rating: what a model must beat."""
    return 1.0 - rating.worth.constant_right, rating.worth.constant_off


def _influences(
    rating: Rating, table: Table, h: NDArray[Any]
) -> tuple[list[str], NDArray[Any], str]:
    """The features that move the projection most, and by how much one standard deviation does.

    With a linear kernel that is the weight; with another one, the slope of the projection over the
    feature.
    """
    X, encoder = rating.X, rating.model.encoder
    estimator = rating.model.estimator
    members = getattr(estimator, "estimators_", [estimator])
    mean = np.asarray(X.mean(axis=0)).ravel()
    square = (
        np.asarray(X.multiply(X).mean(axis=0)).ravel() if sp.issparse(X) else np.mean(X * X, axis=0)
    )
    deviation = np.sqrt(np.maximum(square - mean * mean, 0.0))
    linear = next((m for m in members if m.kernel == "linear"), None)
    if linear is not None:
        weight = np.asarray(linear.coef_).ravel() * deviation
    else:
        covariance = np.asarray(X.T @ (h - h.mean())).ravel() / len(h)
        weight = np.divide(
            covariance, deviation, out=np.zeros_like(covariance), where=deviation > 0
        )
    order = np.argsort(-weight, kind="stable")
    keep = order if len(order) <= 60 else np.concatenate([order[:30], order[-30:]])
    features = encoder.get_feature_names_out()
    texts = [c["name"] for c in encoder.plan_ if c["role"] == "text"]
    forms = {}
    for place, name in enumerate(texts):
        vectorizer = encoder.encoder_.named_transformers_[f"text {place}"]
        forms[name] = vectorizer.surface_forms(
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
    used = [c for c in rating.model.encoder.plan_ if c["role"] != "left out"]
    ordered = [c["name"] for c in used if c["role"] == "text"] + [
        c["name"] for c in used if c["role"] != "text"
    ]
    return ordered[:SHOWN_COLUMNS]


def _row(
    rating: Rating, table: Table, columns: list[str], i: int, names: list[str]
) -> dict[str, Any]:
    """A row as it is shown."""
    cells = []
    for column in columns:
        value = table[column][i]
        text = "" if value is None else str(value)[: LONGEST + 1]
        cells.append(visible(text if len(text) <= LONGEST else text[:LONGEST] + "…"))
    k = int(rating.rank[i])
    return {
        "number": i + 1,
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


def _worth_labelling(rating: Rating) -> list[int]:
    """The least certain rows, leaving out those that are like one already chosen."""
    unrated = np.flatnonzero(~rating.given)
    doubtful = unrated[np.argsort(rating.confidence[unrated], kind="stable")[:CANDIDATES]]
    if len(doubtful) == 0:
        return []
    alike = _cosines(rating.X[doubtful])
    limit = float(np.median(alike[np.triu_indices_from(alike, 1)])) if len(doubtful) > 1 else 1.0
    chosen: list[int] = []
    for i in range(len(doubtful)):
        if len(chosen) < NEXT and all(alike[i, j] <= limit for j in chosen):
            chosen.append(i)
    rest = [i for i in range(len(doubtful)) if i not in chosen]
    return [
        int(doubtful[i])
        for i in sorted(chosen + rest[: max(0, min(NEXT, len(doubtful)) - len(chosen))])
    ]


def _cosines(X: Matrix) -> NDArray[Any]:
    dense = X.toarray() if sp.issparse(X) else np.asarray(X, dtype=np.float64)
    length = np.linalg.norm(dense, axis=1)
    unit = dense / np.where(length > 0, length, 1.0)[:, None]
    return unit @ unit.T

"""Rating a table: encode its columns, fit a model, label every row, keep what a report needs."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from joblib import parallel_config
from numpy.typing import NDArray

from tordinal.distances import Matrix
from tordinal.engines.cuda.device import resolve_engine
from tordinal.estimators import Evidence
from tordinal.fitting import Recipe
from tordinal.losses import check_loss
from tordinal.progress import Listener
from tordinal.reduction import UNLABELED, Ranks
from tordinal.search.verdict import effect
from tordinal.tables.columns import TableEncoder
from tordinal.tables.costs import costs_of, describe_cost, weights_of_ranks
from tordinal.tables.curve import Curve, learning_curve
from tordinal.tables.fingerprints import fingerprints
from tordinal.tables.groups import useless_groups
from tordinal.tables.hints import Hint, choose_hints, hint_values, ranks_as_they_are
from tordinal.tables.results import Rating, Totals, card_of
from tordinal.tables.selection import Selection
from tordinal.tables.sentences import read_sentences
from tordinal.tables.settings import WORDLLAMA, Settings, make_estimator
from tordinal.tables.table_model import TableModel
from tordinal.tables.target import Target

__all__ = [
    "Rating",
    "Settings",
    "TableModel",
    "Totals",
    "card_of",
    "rate",
    "rate_features",
    "read_columns",
]

CHOOSING_ROWS = 3000  # rows with a rating, and without one, that columns are chosen with
QUICK_TEXTS = 10_000  # rows from which a quick rating reads the words of texts alone


def rate(
    table: Mapping[str, list[Any]],
    target: Target,
    encoder: TableEncoder,
    settings: Settings,
    listen: Listener,
    *,
    weight: NDArray[np.float64] | None = None,
    selection: Selection | None = None,
) -> Rating:
    """Rate the rows of a table that have no rating.

    Parameters
    ----------
    table : mapping of str to list
        Cells of all columns but the target.
    target : Target
        The ratings that are given.
    encoder : TableEncoder
        How the columns are to be read; it is fitted here.
    settings : Settings
        How to rate.
    listen : callable
        Called with the current task, the steps done and the number of steps.
    weight : ndarray of shape (n_rows,) or None
        How much each given rating counts.
    selection : Selection or None
        How the rated rows were chosen. None: they count as a random sample.

    Returns
    -------
    rating : Rating
        Ranks, probabilities, errors and the model.

    Examples
    --------
    >>> from tordinal.tables.target import read_target
    >>> target = read_target("grade", ["low", "", "low", "high", "", "high"], ["low", "high"])
    >>> table = {"size": [1, 2, 3, 8, 9, 10]}
    >>> rate(table, target, TableEncoder(), Settings(method="tor"), lambda *_: None).labels
    ['low', 'low', 'low', 'high', 'high', 'high']
    """
    notes = list(target.notes)
    X = read_columns(table, target, encoder, settings, listen, notes)
    return rate_features(
        table, X, target, encoder, settings, listen, notes=notes, weight=weight,
        selection=selection,
    )  # fmt: skip


def read_columns(
    table: Mapping[str, list[Any]],
    target: Target,
    encoder: TableEncoder,
    settings: Settings,
    listen: Listener,
    notes: list[str],
) -> Matrix:
    """Fit the encoder to a table; return its features, without columns that do harm."""
    listen("reading columns", 0, 1)
    encoder.plan(table, target.name)
    listen("reading columns", 1, 1)
    # Models may be fitted on a cluster. Columns are not: a task that is lost there ends the read.
    with parallel_config(backend="sequential"):
        if settings.choose_columns:
            _exclude_useless_columns(table, target, encoder, settings, listen, notes)
        if settings.quick and len(target.rank) > QUICK_TEXTS:
            encoder.set_params(n_axes=0)
        X = encoder.encode(table)
    if settings.encoder in (None, WORDLLAMA):
        return X
    sentences, encoded = read_sentences(
        encoder.joined_texts(table), target, settings, listen, notes
    )
    return encoder.add_sentences(X, sentences, encoded)


def rate_features(
    table: Mapping[str, list[Any]],
    X: Matrix,
    target: Target,
    encoder: TableEncoder,
    settings: Settings,
    listen: Listener,
    *,
    notes: list[str] | None = None,
    weight: NDArray[np.float64] | None = None,
    selection: Selection | None = None,
) -> Rating:
    """Rate the rows of a table whose features are known; parameters as in `rate`."""
    notes = [] if notes is None else notes
    rated, n_classes = target.rank != UNLABELED, len(target.classes)
    method, cost = settings.method, costs_of(settings.cost, target)
    class_weight = weights_of_ranks(settings.class_weight, target)
    counts = np.bincount(target.rank[rated])
    if method == "auto" and counts[counts > 1].sum() < 2:
        method = "tor"
        notes.append(
            "too few ratings to choose a model by cross-validation: "
            "TOR with its usual settings was used"
            + (", without the costs" if cost is not None or class_weight is not None else "")
        )
    # A supervised model is not given the rows that have no rating.
    rows = np.flatnonzero(rated) if method == "redsvm" else np.arange(len(target.rank))
    if settings.engine == "auto":
        resolve_engine("auto", len(rows), notes.append)
    views, hints = encoder.views(), encoder.hint_places()
    texts = views is not None
    own = np.sort(np.concatenate([*hints.values(), np.empty(0, dtype=np.int64)]))
    if 0 < len(own) < X.shape[1] and method == "auto":
        views = {**(views or {"all columns": np.arange(X.shape[1])}), "hint": own}

    def fit(columns: NDArray[np.int64]) -> tuple[Any, Evidence]:
        estimator = make_estimator(
            method, settings, _views_of(views, columns), list(range(n_classes)), len(target.rank),
            texts,
        )  # fmt: skip
        estimator.set_params(callback=listen)
        if method == "auto":
            estimator.set_params(cost=cost, class_weight=class_weight)
        some = X if len(columns) == X.shape[1] else X[:, columns]
        estimator.fit(some[rows], target.rank[rows], None if weight is None else weight[rows])
        evidence = estimator.evidence()
        return estimator, replace(evidence, rows=rows[evidence.rows])

    notes += [f"{doubt}: is that right?" for doubt in encoder.doubts_]
    if hints:
        estimator, evidence, kept, judged = _choose_hints(
            fit, table, X, target, encoder, hints, selection, settings.seed
        )
        X, notes = X[:, kept], [*notes, *map(str, judged)]
    else:
        (estimator, evidence), judged = fit(np.arange(X.shape[1])), []
    listen("probabilities", 0, 3)
    listen("probabilities", 1, 3)
    probability = estimator.predict_proba(X)
    listen("probabilities", 2, 3)
    labels = getattr(estimator, "transduction_", None)
    labels = estimator.predict(X) if labels is None else labels
    rank = np.where(target.rank == UNLABELED, labels, target.rank).astype(np.int64)
    if getattr(estimator, "views", None):
        encoder.describe_texts(_views(estimator.views_))
    model = TableModel(encoder, estimator, target.name, target.classes, {})
    model.learned = np.unique(fingerprints(table, model.used)[rated])
    rating = Rating(
        model=model,
        target=target,
        X=X,
        rank=rank,
        probability=probability,
        held_out=evidence.rows,
        cv_rank=evidence.ranks,
        cv_probability=evidence.probability,
        errors=evidence.errors,
        spread=evidence.spread,
        verdict=evidence.verdict,
        curve=_curve(model, X, target.rank, n_classes, settings.seed, selection),
        notes=notes,
        selection=selection,
        seed=settings.seed,
        hints=judged,
    )
    rating.verdict = _verdict(rating, evidence.verdict)
    if method == "auto" and cost is not None:
        notes.append(describe_cost(rating, cost))
    listen("probabilities", 3, 3)
    model.card = card_of(rating, method)
    return rating


def _views_of(
    views: dict[str, NDArray[np.int64]] | None, columns: NDArray[np.int64]
) -> dict[str, NDArray[np.int64]] | None:
    """Views of some columns of the features; views without any of them are dropped."""
    if views is None:
        return None
    seen = {n: np.flatnonzero(np.isin(columns, places)) for n, places in views.items()}
    return {name: places for name, places in seen.items() if len(places)}


def _choose_hints(
    fit: Callable[[NDArray[np.int64]], tuple[Any, Evidence]],
    table: Mapping[str, list[Any]],
    X: Matrix,
    target: Target,
    encoder: TableEncoder,
    hints: dict[str, NDArray[np.int64]],
    selection: Selection | None,
    seed: int,
) -> tuple[Any, Evidence, NDArray[np.int64], list[Hint]]:
    """Fit the model with the hints that help; the encoder excludes the others."""
    plan = {c["name"]: c for c in encoder.plan_}
    values = {name: hint_values(plan[name], table[name], encoder.missing) for name in hints}
    on_scale = {
        name: ranks_as_they_are(
            v.tolist() if "decimal" in plan[name]["style"] else table[name], target.classes
        )
        for name, v in values.items()
    }
    chosen = choose_hints(
        fit, X, hints, values, {n: r for n, r in on_scale.items() if r is not None}, target,
        None if selection is None else selection.weights(), seed,
    )  # fmt: skip
    encoder.exclude_hints([hint.name for hint in chosen[3] if not hint.used])
    return chosen


def _verdict(rating: Rating, without_errors: str) -> str:
    """Whether the unrated rows helped, in words that need no explanation."""
    if rating.transducer is not None and rating.moved == 0:
        return "The unrated rows changed nothing: no row got another rating than without them."
    if not rating.errors:
        return without_errors
    without = rating.errors.get("supervised", rating.errors["this model"])[1]
    name = "transductive" if "transductive" in rating.errors else "this model"
    if name == "this model" and rating.transducer is None:
        off = without if rating.selection is None else rating.expected_error.mae
        return f"Only the rated rows were used: off by {off:.2f} steps on average."
    with_them = rating.errors[name][1]
    # The errors are of the same rows, and vary together: what counts is the spread of differences.
    spread = rating.spread.get("difference", rating.spread[name])
    words = {1: "help", 0: "make no visible difference", -1: "do not help"}
    helps = words[effect(without - with_them, spread, len(rating.held_out))]
    # The errors of single models are not weighted.
    where = "" if rating.selection is None else "on the rated rows, which may be difficult ones, "
    return (
        f"The unrated rows {helps}: {where}a single model is off by {with_them:.2f} steps on "
        f"average with them, by {without:.2f} without."
    )


def _exclude_useless_columns(
    table: Mapping[str, list[Any]],
    target: Target,
    encoder: TableEncoder,
    settings: Settings,
    listen: Listener,
    notes: list[str],
) -> None:
    """Exclude the groups of columns that make a text harder to understand."""
    asked = {*encoder.text, *(encoder.columns or ())}
    used = [c for c in encoder.plan_ if c["role"] != "excluded"]
    if not any(c["role"] == "text" for c in used) or len(used) < 2 or asked:
        return
    some = _some_rows(target.rank, settings.seed)
    X = encoder.encode({c["name"]: [table[c["name"]][i] for i in some] for c in used})
    rated = np.flatnonzero(target.rank[some] != UNLABELED)
    useless = useless_groups(
        X[rated],
        target.rank[some][rated],
        len(target.classes),
        encoder.groups(),
        encoder.own_words(table),
        settings.seed,
        lambda done, total: listen("choosing columns", done, total),
    )
    if useless:
        encoder.exclude(
            dict.fromkeys(useless, "held-out rows are rated as well or better without it")
        )
        kept = {c["name"] for c in encoder.plan_ if c["role"] != "excluded"}
        gone = [c["name"] for c in used if c["name"] not in kept]
        notes.append(
            f"excluded, because held-out rows are rated as well without them: {', '.join(gone)}; "
            "use `columns` to choose the columns yourself"
        )


def _some_rows(rank: Ranks, seed: int) -> NDArray[np.int64]:
    """Rows to choose columns with: rated ones, and some others for their words."""
    rng = np.random.RandomState(seed)
    parts = (np.flatnonzero(rank != UNLABELED), np.flatnonzero(rank == UNLABELED))
    return np.sort(np.concatenate([rng.permutation(part)[:CHOOSING_ROWS] for part in parts]))


def _views(names: list[str]) -> str:
    """Describe how the models read the texts.

    Examples
    --------
    >>> _views(["words", "words and phrases", "words"])
    'words (2 of 3 models); words and phrases (1)'
    """
    counts = Counter(names).most_common()
    (first, n), rest = counts[0], counts[1:]
    if not rest:
        return first
    return "; ".join([f"{first} ({n} of {len(names)} models)", *(f"{v} ({n})" for v, n in rest)])


def _curve(
    model: TableModel, X: Matrix, rank: Ranks, n_classes: int, seed: int,
    selection: Selection | None,
) -> Curve | None:  # fmt: skip
    """The learning curve of the first model, without unrated rows.

    None if it sees the projection of a tuned encoder: the encoder has learned from all ratings, so
    a curve of parts of them would be too flat.
    """
    if model.encoder.is_tuned and X.shape[1] - 1 in model.columns(X.shape[1]):
        return None
    rated = rank != UNLABELED
    leader, X = model.members[0], model.seen(X[rated])
    recipe = Recipe(
        C=leader.C, kernel=leader.kernel, loss=check_loss(leader.loss), gamma=leader.gamma,
        degree=leader.degree, coef0=leader.coef0, tol=1e-2,
    )  # fmt: skip
    weights = None if selection is None else selection.weights()[rated]
    return learning_curve(X, rank[rated], n_classes, recipe, recipe.kernel_for(X), seed, weights)

"""Checks of a model that was read from a file: every part must fit the others before it is used.

A model file is untrusted. Loading it runs no code, but compiled code trusts index arrays and
shapes: a sparse matrix whose indices point outside of it, or support vectors with too few columns,
would be read and written beyond their memory. So nothing is computed with a model before its arrays
have been checked here.
"""

from collections.abc import Iterator, Mapping
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import OneHotEncoder

from tordinal.estimators import TORCV
from tordinal.kernels import Precomputed
from tordinal.projection import Projection
from tordinal.tables.sentences import SentenceFeatures
from tordinal.tables.table_model import TableModel
from tordinal.text import LatentAxes

__all__ = ["check_model"]

ROLES = ("number", "date", "category", "text", "hint", "excluded")
DEEPEST = 60  # levels of objects within objects; a real model has about 12
WIDEST = 100_000  # numbers per text of a sentence encoder
PROBE = ("", "1", "a word or two", None)  # cells of rows that any model can rate


def check_model(model: TableModel) -> None:
    """Raise a ValueError if parts of a model are damaged or do not fit together.

    Parameters
    ----------
    model : TableModel
        A model as it was read from a file.
    """
    for part in _parts(model, set(), 0):
        _check_part(part)
    _check_table(model)
    for member in model.members:
        _check_member(member, len(model.classes))
    if isinstance(model.estimator, TORCV):
        _check_ensemble(model.estimator)
    _check_answers(model)


def _parts(value: Any, seen: set[int], depth: int) -> Iterator[Any]:
    """All objects that a model consists of."""
    if depth > DEEPEST:
        raise ValueError("it is nested too deeply")
    if id(value) in seen:
        return
    seen.add(id(value))
    yield value
    if isinstance(value, Mapping):
        children: list[Any] = [*value.keys(), *value.values()]
    elif isinstance(value, (list, tuple, set)):
        children = list(value)
    elif isinstance(value, np.ndarray) and value.dtype == object:
        children = value.ravel().tolist()
    elif sp.issparse(value):
        children = []
    else:
        state = getattr(value, "__dict__", {})
        children = [child for name, child in state.items() if name != "cv_results_"]
    for child in children:
        if not isinstance(child, (str, bytes, int, float, bool, type(None))):
            yield from _parts(child, seen, depth + 1)


def _check_part(part: Any) -> None:
    if sp.issparse(part):
        _check_sparse(part)
    elif isinstance(part, np.ndarray):
        if part.dtype.kind not in "biufUO":
            raise ValueError(f"an array in it holds values of type {part.dtype}")
        if part.dtype.kind == "f" and not np.isfinite(part).all():
            raise ValueError("an array in it holds values that are not numbers")
    elif isinstance(part, OneHotEncoder):
        if hasattr(part, "categories_"):  # beside the fitted one there is its unfitted template
            _check_one_hot(part)
    elif hasattr(part, "vocabulary_"):
        places = part.vocabulary_
        if not isinstance(places, dict) or sorted(places.values()) != list(range(len(places))):
            raise ValueError("the words of a text in it are not numbered as they should be")
        if part.use_idf and np.shape(part.idf_) != (len(places),):
            raise ValueError("the weights of words in it do not fit the words")
    elif isinstance(part, LatentAxes) and getattr(part, "n_axes_", 0) > 0:
        shape = (part.n_axes_, len(part.vectorizer_.vocabulary_))
        if np.shape(part.svd_.components_) != shape:
            raise ValueError("the axes of a text in it do not fit its words")


def _check_sparse(X: Any) -> None:
    """Check the arrays themselves first: even scipy's own check trusts their shapes."""
    if X.format != "csr" or len(X.shape) != 2 or min(X.shape) < 0:
        raise ValueError("a sparse matrix in it is not in the form that models use")
    for name in ("data", "indices", "indptr"):
        array = getattr(X, name, None)
        kinds = "biuf" if name == "data" else "iu"
        if not isinstance(array, np.ndarray) or array.ndim != 1 or array.dtype.kind not in kinds:
            raise ValueError("a sparse matrix in it is damaged")
    if not len(X.indices) == len(X.data) == (X.indptr[-1] if len(X.indptr) else -1):
        raise ValueError("a sparse matrix in it is damaged")
    X.check_format(full_check=True)
    if not np.isfinite(X.data).all():
        raise ValueError("a sparse matrix in it holds values that are not numbers")


def _check_one_hot(encoder: OneHotEncoder) -> None:
    """Compare the place of each category with the one that follows from the rare ones."""
    rare = getattr(encoder, "_infrequent_indices", None)
    rare = [None] * len(encoder.categories_) if rare is None else rare
    widths = []
    for categories, indices in zip(encoder.categories_, rare, strict=True):
        n = len(categories)
        indices = np.empty(0, dtype=np.int64) if indices is None else np.asarray(indices)
        if len(np.unique(indices)) < len(indices) or not np.isin(indices, np.arange(n)).all():
            raise ValueError("the categories of a column in it are damaged")
        widths.append(n - len(indices) + (len(indices) > 0))
    maps = getattr(encoder, "_default_to_infrequent_mappings", [None] * len(rare))
    for categories, indices, places in zip(encoder.categories_, rare, maps, strict=True):
        if (indices is None) != (places is None):
            raise ValueError("the categories of a column in it are damaged")
        if indices is not None:
            frequent = np.setdiff1d(np.arange(len(categories)), indices)
            expected = np.full(len(categories), len(frequent))
            expected[frequent] = np.arange(len(frequent))
            if not np.array_equal(places, expected):
                raise ValueError("the categories of a column in it are damaged")
    outs = list(getattr(encoder, "_n_features_outs", widths))
    dropped = (vars(encoder).get(name) for name in ("drop_idx_", "_drop_idx_after_grouping"))
    if outs != widths or any(value is not None for value in dropped):
        raise ValueError("the categories of a column in it are damaged")


def _check_table(model: TableModel) -> None:
    plan = model.encoder.plan_
    for column in plan:
        texts = [column[key] for key in ("name", "role", "why")]
        if not all(isinstance(text, str) for text in texts) or column["role"] not in ROLES:
            raise ValueError("its plan of the columns is damaged")
        if column["role"] == "hint":
            _check_hint(column)
    if not isinstance(model.target, str) or not isinstance(model.classes, list):
        raise ValueError("its target or its ratings are damaged")
    if len(model.classes) < 2 or not all(
        isinstance(c, (str, bool, int, float)) for c in model.classes
    ):
        raise ValueError("its ratings are damaged")
    learned = model.learned
    if not isinstance(learned, np.ndarray) or learned.dtype != np.uint64 or learned.ndim != 1:
        raise ValueError("its list of rated rows is damaged")
    _check_card(model.card, len(model.classes))
    _check_training(model)
    _check_sentences(model)


def _check_hint(column: Mapping[str, Any]) -> None:
    """Check the levels and steps of a hint."""
    numbers = [*column["cuts"], *column["above"], column["absent"], column["length"]]
    style = column["style"]
    numbers += list(style.get("levels", {}).values())
    sound = (
        len(column["cuts"]) == len(column["above"])
        and all(type(value) is float and np.isfinite(value) for value in numbers)
        and ("levels" in style or style["decimal"] in (".", ","))
    )
    if not sound:
        raise ValueError("a hint in it is damaged")


def _check_training(model: TableModel) -> None:
    """Check the statistics that new cells are compared with; older models have none."""
    if not hasattr(model.encoder, "training_"):
        return
    training, n = model.encoder.training_, len(model.used)
    shapes = {"missing": (n,), "strange": (n,), "quantiles": (n, 11), "at_most": (n, 11)}
    sound = (
        isinstance(training, dict)
        and training.keys() == {"rows", *shapes}
        and type(training["rows"]) is int
        and 0 <= training["rows"] < 2**53
    )
    for name, shape in shapes.items() if sound else ():
        array = training[name]
        kind = np.float64 if name == "quantiles" else np.int64
        sound &= isinstance(array, np.ndarray) and array.shape == shape and array.dtype == kind
        if sound and kind is np.int64:
            sound &= bool(((array >= 0) & (array <= training["rows"])).all())
        if sound and len(shape) == 2:
            sound &= bool(np.isfinite(array).all() and (array[:, 1:] >= array[:, :-1]).all())
    if not sound:
        raise ValueError("its description of the training table is damaged")


def _check_sentences(model: TableModel) -> None:
    """Check the description of the sentence encoder; its weights are checked when it is used."""
    sentences = model.encoder.sentences
    if sentences is None:
        return
    sound = (
        isinstance(sentences, SentenceFeatures)
        and isinstance(sentences.name, str)
        and isinstance(sentences.weights, str)
        and type(sentences.tuned) is bool
        and type(sentences.n_features) is int
        and (sentences.n_features == 1 if sentences.tuned else 1 <= sentences.n_features <= WIDEST)
        and (isinstance(sentences.content, bytes) if sentences.tuned else not sentences.content)
    )
    if not sound:
        raise ValueError("its sentence encoder is damaged or missing")


def _check_card(card: Any, n_classes: int) -> None:
    """Check the card, which ``tordinal inspect`` shows."""
    known = {
        "method": str, "worth": str, "verdict": str, "rows": int, "ratings": int, "features": int,
        "members": list, "thresholds": list, "columns": list, "errors": dict, "versions": dict,
    }  # fmt: skip
    for key, kind in known.items():
        if not isinstance(card.get(key), kind):
            raise ValueError(f"its description has no {key!r} of the right type")
    sound = (
        all(isinstance(t, Real) for t in card["thresholds"])
        and all(isinstance(c[k], str) for c in card["columns"] for k in ("name", "role", "why"))
        and all(isinstance(m["C"], Real) for m in card["members"])
        and all(isinstance(m[k], str) for m in card["members"] for k in ("kind",))
        and all(isinstance(v, str) for pair in card["versions"].items() for v in pair)
        and all(
            len(e) == 2 and all(isinstance(v, Real) for v in e) for e in card["errors"].values()
        )
    )
    counts = card.get("counts")  # older models do not have them
    if counts is not None:
        sound &= isinstance(counts, dict) and counts.keys() == {"given", "predicted"}
        sound = sound and all(
            isinstance(part, list)
            and len(part) == n_classes
            and all(type(n) is int and 0 <= n < 2**53 for n in part)
            for part in counts.values()
        )
    if not sound:
        raise ValueError("its description is damaged")


def _check_member(member: Any, n_classes: int) -> None:
    projection, n_features = member._projection, member.n_features_in_
    if not isinstance(projection, Projection) or not isinstance(n_features, int):
        raise ValueError("a model in it has no projection")
    thresholds = np.asarray(member.thresholds_)
    if thresholds.shape != (n_classes - 1,) or not np.isfinite(thresholds).all():
        raise ValueError("its thresholds do not fit its ratings")
    if not np.array_equal(np.asarray(member.classes_), np.arange(n_classes)):
        raise ValueError("its classes do not fit its ratings")
    support, dual_coef = np.asarray(projection.support), np.asarray(projection.dual_coef)
    if support.ndim != 1 or support.dtype.kind not in "iu" or dual_coef.shape != support.shape:
        raise ValueError("its support vectors are damaged")
    if projection.coef is not None:
        if np.asarray(projection.coef).shape != (n_features,):
            raise ValueError("its coefficients do not fit its features")
    elif isinstance(projection.kernel, Precomputed):
        raise ValueError("it was trained on a matrix of kernel values, not on a table")
    elif np.shape(projection.support_vectors) != (len(support), n_features):
        raise ValueError("its support vectors do not fit its features")
    for name in ("gamma", "degree", "coef0"):
        value = getattr(projection.kernel, name, 1.0)
        if not isinstance(value, Real) or not np.isfinite(float(value)):
            raise ValueError(f"the parameter {name} of its kernel is damaged")


def _check_ensemble(estimator: TORCV) -> None:
    n = len(estimator.estimators_)
    together = (estimator.views_, estimator._columns, estimator._calibrations, estimator._weights)
    if n == 0 or any(len(part) != n for part in together):
        raise ValueError("the members of its ensemble do not fit together")
    if not (np.asarray(estimator._weights) >= 0).all() or not np.sum(estimator._weights) > 0:
        raise ValueError("the weights of its ensemble are damaged")
    if estimator._custom:
        costs, n = estimator._decides_by, len(estimator.classes_)
        if np.shape(costs) != (n, n) or not (np.asarray(costs) >= 0).all():
            raise ValueError("its costs of errors are damaged")
    for columns in estimator._columns:
        if columns is not None and (
            np.ndim(columns) != 1 or not np.isin(columns, np.arange(estimator.n_features_in_)).all()
        ):
            raise ValueError("a view of its ensemble is damaged")


def _check_answers(model: TableModel) -> None:
    """Rate a few made-up rows, to find any other part that does not fit."""
    table = {name: list(PROBE) for name in model.used}
    sentences = model.encoder.sentences
    n_encoded = 0 if sentences is None else sentences.n_features
    # Heavy packages are loaded by the first predictions only.
    X = model.encoder.transform(table, np.zeros((len(PROBE), n_encoded)))
    labels, _, p = model.rate_features(X)
    model.encoder.warnings(model.encoder.compare(table))
    if p.shape != (len(PROBE), len(model.classes)) or not np.isfinite(p).all():
        raise ValueError("its answers are not probabilities")
    if not np.allclose(p.sum(axis=1), 1.0) or len(labels) != len(PROBE):
        raise ValueError("its answers are not probabilities")

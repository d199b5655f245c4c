"""Experts: estimators of the user that compete with the other candidates."""

import warnings
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import delayed
from numpy.typing import NDArray
from scipy.special import logit
from sklearn import get_config
from sklearn.base import clone
from sklearn.exceptions import FitFailedWarning
from sklearn.utils.validation import has_fit_parameter

from tordinal.calibration import FLOOR
from tordinal.costs import decide
from tordinal.parallel import in_order
from tordinal.progress import Progress
from tordinal.reduction import UNLABELED, Ranks
from tordinal.search.candidates import pick_columns
from tordinal.search.data import REPEATS, SearchData
from tordinal.search.trials import Trial

__all__ = [
    "Expert",
    "cross_validate_experts",
    "expert_distances",
    "expert_ranks",
    "fit_expert",
    "read_experts",
    "see",
]

Array = NDArray[np.float64]
Index = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Expert:
    """A classifier as a candidate.

    Attributes
    ----------
    name : str
        Its name.
    estimator : estimator
        A classifier with `predict_proba`, not fitted.
    columns : ndarray, callable or None
        The columns of X that it uses, or a function of X. None: X.
    transductive : bool
        Whether it learns from unlabelled rows, marked as -1.
    """

    name: str
    estimator: Any
    columns: Any = None
    transductive: bool = False

    view = setting = None

    @property
    def params(self) -> dict[str, Any]:
        """The entry in `cv_results_`."""
        return {"expert": self.name}

    @property
    def kind(self) -> str:
        """Its name: experts are not grouped into kinds."""
        return self.name

    def see(self, X: Any) -> Any:
        """The columns of some rows that it uses."""
        return see(X, self.columns)


def see(X: Any, columns: Any) -> Any:
    """Some columns of rows, or the result of a function of the rows."""
    if columns is None:
        return X
    return columns(X) if callable(columns) else X[:, columns]


def read_experts(experts: Any, n_features: int) -> list[Expert]:
    """The experts, from the parameter of `TORCV`.

    Parameters
    ----------
    experts : list or None
        Estimators or tuples, as in `TORCV`.
    n_features : int
        Columns of X.

    Returns
    -------
    experts : list of Expert
        The experts, with distinct names.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> [e.name for e in read_experts([DummyClassifier(), ("mine", DummyClassifier(), [0])], 2)]
    ['dummyclassifier', 'mine']
    """
    if experts is None:
        return []
    if not isinstance(experts, (list, tuple)):
        raise ValueError(f"experts={experts!r} must be a list of estimators or (name, estimator)")
    unnamed = [type(e).__name__.lower() for e in experts if not isinstance(e, tuple)]
    count, seen = Counter(unnamed), Counter[str]()
    read = []
    for given in experts:
        if isinstance(given, tuple):
            if not 2 <= len(given) <= 4 or not isinstance(given[0], str):
                raise ValueError(
                    f"experts: {given!r} must be (name, estimator), (name, estimator, columns) or "
                    "(name, estimator, columns, transductive)"
                )
            name, estimator, *rest = given
            columns, transductive = (*rest, None, None)[:2]
        else:
            name, estimator, columns, transductive = type(given).__name__.lower(), given, None, None
            seen[name] += 1
            name = f"{name}-{seen[name]}" if count[name] > 1 else name
        if isinstance(estimator, type):
            raise ValueError(
                f"experts: {estimator.__name__} is a class. Pass {estimator.__name__}()."
            )
        for method in ("fit", "predict_proba"):
            if not hasattr(estimator, method):
                raise ValueError(
                    f"experts: {name!r} has no {method}. Pass a classifier with fit and "
                    "predict_proba."
                )
        if transductive is None:
            transductive = getattr(_last_step(estimator), "_transductive", False)
        if columns is not None and not callable(columns):
            columns = pick_columns(columns, n_features, f"columns of expert {name!r}")
        read.append(Expert(name, estimator, columns, bool(transductive)))
    names = Counter(expert.name for expert in read)
    if twice := [name for name, n in names.items() if n > 1]:
        raise ValueError(f"experts: the name {twice[0]!r} occurs twice. Rename one of them.")
    return read


def _last_step(estimator: Any) -> Any:
    """The classifier at the end of a pipeline."""
    return getattr(estimator, "_final_estimator", estimator)


def fit_expert(expert: Expert, X: Any, rank: Ranks, weight: Array) -> Any:
    """A copy of the estimator, fitted to some rows, with their weights if it supports them.

    Weights that are all 1 are not passed.
    """
    given = {}
    if (weight != 1.0).any():
        last = _last_step(expert.estimator)
        if last is expert.estimator and has_fit_parameter(last, "sample_weight"):
            given["sample_weight"] = weight
        elif last is not expert.estimator and has_fit_parameter(last, "sample_weight"):
            given[_weight_of_last_step(expert.estimator)] = weight
    return clone(expert.estimator).fit(expert.see(X), rank, **given)


def _weight_of_last_step(pipeline: Any) -> str:
    """The parameter of a pipeline for the weights of its classifier."""
    routed = get_config().get("enable_metadata_routing", False)
    return "sample_weight" if routed else f"{pipeline.steps[-1][0]}__sample_weight"


def expert_distances(fitted: Any, X: Any, n_classes: int) -> Array:
    """Distances to thresholds that give an expert's probabilities by the logistic curve.

    They are the logits of P(y > k), so that an expert is calibrated as any other candidate. A small
    share of the uniform distribution is mixed in, so that unknown classes have probabilities, too.

    Parameters
    ----------
    fitted : estimator
        Fitted to ranks.
    X : object
        The columns of some rows that it uses.
    n_classes : int
        K.

    Returns
    -------
    distances : ndarray of shape (n_rows, n_classes - 1)
        Descending in each row.
    """
    known = np.asarray(fitted.classes_)
    if not np.isin(known, np.arange(n_classes)).all():
        raise ValueError(
            f"it treats {sorted(set(known.tolist()) - set(range(n_classes)))} as classes: an "
            "expert that does not know that -1 marks unlabelled rows must not be transductive"
        )
    given = np.asarray(fitted.predict_proba(X), dtype=np.float64)
    if given.shape != (X.shape[0] if hasattr(X, "shape") else len(X), len(known)):
        raise ValueError(f"its predict_proba returned an array of shape {given.shape}")
    total = given.sum(axis=1, keepdims=True)
    if not (np.isfinite(given).all() and (given >= 0).all() and (total > 0).all()):
        raise ValueError("its predict_proba returned values that are not probabilities")
    p = np.full((len(given), n_classes), FLOOR / n_classes)
    p[:, known.astype(np.int64)] += (1.0 - FLOOR) * given / total
    above = np.cumsum(p[:, :0:-1], axis=1)[:, ::-1]
    return logit(np.clip(above, 0.0, 1.0 - FLOOR / n_classes))


def expert_ranks(distances: Array, costs: Array) -> Ranks:
    """The ranks of least expected cost by an expert's probabilities."""
    above = 1.0 / (1.0 + np.exp(-distances))
    edge = np.ones((len(above), 1))
    return decide(np.hstack([edge, above]) - np.hstack([above, 0.0 * edge]), costs)


def cross_validate_experts(
    data: SearchData, experts: list[Expert], progress: Progress
) -> list[Trial]:
    """Cross-validate experts on the folds of the supervised candidates.

    An expert that fails in a fold is excluded, with a warning.

    Parameters
    ----------
    data : SearchData
        The rows.
    experts : list of Expert
        The experts.
    progress : Progress
        Where progress is reported.

    Returns
    -------
    trials : list of Trial
        A trial of each expert.
    """
    splits = range(REPEATS * data.n_splits)
    jobs = [(expert, split) for expert in experts for split in splits]
    results = in_order(
        (delayed(_try_expert)(data, expert, split) for expert, split in jobs),
        data.config.n_jobs,
    )
    trials = {expert: Trial(expert) for expert in experts}
    for done, ((expert, split), result) in enumerate(zip(jobs, results, strict=True)):
        progress.part("experts", done + 1, len(jobs))
        trial = trials[expert]
        if isinstance(result, Exception) and not trial.dropped:
            trial.dropped = True
            warnings.warn(
                f"the expert {expert.name!r} failed in cross-validation and is excluded: "
                f"{type(result).__name__}: {result}",
                FitFailedWarning,
                stacklevel=5,
            )
        elif not isinstance(result, Exception):
            labels = expert_ranks(result, data.config.scoring.expert_costs)
            data.record(trial, split, result, labels)
    return list(trials.values())


def _try_expert(data: SearchData, expert: Expert, split: int) -> Array | Exception:
    """Distances of the rows that a split holds out, or the error."""
    X, place = data.rows.X, data.held_out(split)
    hidden = data.labeled[place]
    rank = data.rows.rank.copy()
    rank[hidden] = UNLABELED
    rows = data.sampled if expert.transductive else np.delete(data.labeled, place)
    try:
        fitted = fit_expert(expert, X[rows], rank[rows], data.fit_weight[rows])
        return expert_distances(fitted, expert.see(X[hidden]), data.rows.n_classes)
    except Exception as error:
        return error

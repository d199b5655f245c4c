"""Rating a table: encode its columns, choose and fit a model, label every row, and keep what a report needs."""

import platform
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tordinal.estimators import REDSVM, TOR, TORCV
from tordinal.estimators._calibrator import cross_validate
from tordinal.kernels import Matrix
from tordinal.metrics import mean_absolute_error, mean_zero_one_error
from tordinal.reduction import UNLABELED, Ranks
from tordinal.tables.columns import TableEncoder
from tordinal.tables.target import Target

__all__ = ["Rating", "Settings", "TableModel", "rate"]

Array = NDArray[np.float64]
Listener = Callable[[str, int, int], None]

MANY_ROWS = 5000


@dataclass(frozen=True)
class Settings:
    """How to rate: the options of ``tordinal label``."""

    method: str = "auto"
    C: float | None = None
    kernel: str | None = None
    loss: str | None = None
    seed: int = 0
    jobs: int | None = None


@dataclass
class TableModel:
    """A fitted model for the rows of a table, which is what a model file holds.

    Attributes
    ----------
    encoder : TableEncoder
        Columns to features.
    estimator : TORCV, TOR or REDSVM
        Features to ranks.
    target : str
        Name of the column that it rates.
    classes : list
        Ratings from the lowest to the highest.
    card : dict
        What there is to know about it: settings, sizes, errors, versions.
    """

    encoder: TableEncoder
    estimator: Any
    target: str
    classes: list[Any]
    card: dict[str, Any]

    def rate(self, table: Mapping[str, list[Any]]) -> tuple[list[Any], Array]:
        """Rate new rows.

        Parameters
        ----------
        table : mapping of str to list
            Cells by column.

        Returns
        -------
        labels : list
            The rating of each row.
        confidence : ndarray of shape (n_rows,)
            Its probability.
        """
        X = self.encoder.transform(table)
        p = self.estimator.predict_proba(X)
        rank = p.argmax(axis=1)  # probabilities agree with predictions
        return [self.classes[k] for k in rank], p.max(axis=1)


@dataclass
class Rating:
    """What came of rating a table, row by row, for the output and the report.

    Attributes
    ----------
    model : TableModel
        The fitted model.
    target : Target
        The ratings that were given.
    X : matrix
        Features of the rows.
    rank : ndarray of shape (n_rows,)
        Rank of every row, given or found.
    probability : ndarray of shape (n_rows, n_classes)
        Probabilities of the classes.
    held_out : ndarray
        Rows whose rating was hidden from the model in cross-validation.
    cv_rank : ndarray
        What the model then said of them.
    errors : dict of str to (float, float)
        Cross-validated zero-one and absolute error by model: "this model", "supervised", "transductive".
    verdict : str
        Whether the unrated rows helped.
    notes : list of str
        What else should be said.
    """

    model: TableModel
    target: Target
    X: Matrix
    rank: Ranks
    probability: Array
    held_out: NDArray[np.int64]
    cv_rank: Ranks
    errors: dict[str, tuple[float, float]]
    verdict: str
    notes: list[str] = field(default_factory=list)

    @property
    def labels(self) -> list[Any]:
        """The rating of each row in its own spelling."""
        return [self.target.classes[k] for k in self.rank]

    @property
    def given(self) -> NDArray[np.bool_]:
        """Which ratings were given."""
        return self.target.rank != UNLABELED

    @property
    def confidence(self) -> Array:
        """Probability of each row's rating; 1 where it was given."""
        return np.where(self.given, 1.0, self.probability[np.arange(len(self.rank)), self.rank])

    @property
    def leader(self) -> Any:
        """The model, or the first member of a committee: the one whose projection is shown."""
        estimator = self.model.estimator
        return estimator.best_estimator_ if isinstance(estimator, TORCV) else estimator

    @property
    def transducer(self) -> TOR | None:
        """The model with unlabelled rows whose objective and swaps can be shown, if any was used."""
        estimator = self.model.estimator
        members = estimator.estimators_ if isinstance(estimator, TORCV) else [estimator]
        return next((m for m in members if isinstance(m, TOR)), None)


def rate(
    table: Mapping[str, list[Any]], target: Target, encoder: TableEncoder, settings: Settings, listen: Listener
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
        Told what is being done, how much of it, of how much.

    Returns
    -------
    rating : Rating
        Ranks, probabilities, errors and the model.

    Examples
    --------
    >>> from tordinal.tables.target import read_target
    >>> target = read_target("grade", ["low", "", "low", "high", "", "high"], ["low", "high"])
    >>> done = rate({"size": [1, 2, 3, 8, 9, 10]}, target, TableEncoder(), Settings("tor"), lambda *_: None)
    >>> done.labels
    ['low', 'low', 'low', 'high', 'high', 'high']
    """
    listen("reading columns", 0, 1)
    X = encoder.fit_transform(table)
    listen("reading columns", 1, 1)
    notes = list(target.notes)
    has_text = any(column["role"] == "text" for column in encoder.plan_)
    method = settings.method
    counts = np.bincount(target.rank[target.rank != UNLABELED])
    if method == "auto" and counts[counts > 1].sum() < 2:
        method = "tor"
        notes.append("too few ratings to choose a model by cross-validation: TOR with its usual settings was used")
    estimator = _estimator(method, settings, has_text, list(range(len(target.classes))), len(target.rank))
    supervised = isinstance(estimator, REDSVM)
    rows = np.flatnonzero(target.rank != UNLABELED) if supervised else np.arange(len(target.rank))
    estimator._listen = listen
    try:
        estimator.fit(X[rows], target.rank[rows])
    finally:
        del estimator._listen
    listen("probabilities", 0, 1)
    if isinstance(estimator, TORCV):
        held_out, cv_rank, errors, verdict = _searched(estimator)
    else:
        held_out, cv_rank, errors, verdict = _cross_validated(estimator, rows, X, target)
    probability = estimator.predict_proba(X)
    listen("probabilities", 1, 1)
    found = estimator.predict(X) if supervised else estimator.transduction_
    rank = np.where(target.rank == UNLABELED, found, target.rank).astype(np.int64)
    model = TableModel(encoder, estimator, target.name, target.classes, {})
    rating = Rating(model, target, X, rank, probability, held_out, cv_rank, errors, verdict, notes)
    model.card = _card(rating, method)
    return rating


def _estimator(method: str, settings: Settings, has_text: bool, classes: list[int], n_rows: int) -> Any:
    """The estimator that the settings ask for."""
    shared: dict[str, Any] = {"classes": classes}
    # One swap per training, as in the paper, takes a number of trainings that grows with the rows.
    many = n_rows > MANY_ROWS
    if method == "auto":
        shared |= {"random_state": settings.seed, "n_jobs": settings.jobs}
        shared |= {"swaps": ("all", "optimal")} if many else {}
        # Rows of unit length have their cosine as inner product, so other kernels see nothing that it does not.
        kernel = settings.kernel or ("linear" if has_text else None)
        given: dict[str, Any] = {"C": settings.C, "kernel": kernel, "loss": settings.loss}
        return TORCV(**shared, **{name: value for name, value in given.items() if value is not None})
    kernel = settings.kernel or ("linear" if has_text else "perceptron")
    C = 1.0 if settings.C is None else settings.C
    shared |= {"swaps": "all"} if many and method == "tor" else {}
    return {"tor": TOR, "redsvm": REDSVM}[method](C=C, kernel=kernel, loss=settings.loss or "hinge", **shared)


def _searched(search: TORCV) -> tuple[NDArray[np.int64], Ranks, dict[str, tuple[float, float]], str]:
    """What a search has found out in its cross-validation."""
    held_out = np.flatnonzero([label is not None for label in search.cv_predictions_])
    cv_rank = search.cv_predictions_[held_out].astype(np.int64)
    return held_out, cv_rank, search.cv_errors_, search.verdict_


def _cross_validated(
    model: Any, rows: NDArray[np.int64], X: Matrix, target: Target
) -> tuple[NDArray[np.int64], Ranks, dict[str, tuple[float, float]], str]:
    """Cross-validation of a single model, and of its supervised counterpart on the same folds."""
    y = target.rank
    own, distances = model._calibrator.held_out(model)
    own, cv_rank = rows[own], (distances > 0).sum(axis=1)
    if len(own) == 0:
        return own, cv_rank, {}, "too few ratings for an estimate of the error"
    errors = {"this model": _errors(y[own], cv_rank)}
    if not isinstance(model, TOR):
        return own, cv_rank, errors, f"supervised only: MAE {errors['this model'][1]:.2f} (5-fold, {len(own)} labels)"
    plain = REDSVM(C=model.C, kernel=model.kernel, loss=model.loss, classes=model.classes)
    rows, distances = cross_validate(plain, distances.shape[1], X, y, np.ones(len(y)))
    errors["supervised"] = _errors(y[rows], (distances > 0).sum(axis=1))
    helps = "helps" if errors["this model"][1] < errors["supervised"][1] else "does not help"
    verdict = (
        f"transduction {helps} here: MAE {errors['this model'][1]:.2f} against {errors['supervised'][1]:.2f} "
        f"supervised (5-fold, {len(own)} labels)"
    )
    return own, cv_rank, errors, verdict


def _errors(truth: Ranks, found: Ranks) -> tuple[float, float]:
    return mean_zero_one_error(truth, found), mean_absolute_error(truth, found)


def _card(rating: Rating, method: str) -> dict[str, Any]:
    """What `tordinal inspect` shows."""
    leader, estimator = rating.leader, rating.model.estimator
    packages = ("tordinal", "numpy", "scipy", "scikit-learn", "numba", "pandas")
    return {
        "method": {"auto": "TORCV", "tor": "TOR", "redsvm": "REDSVM"}[method],
        "members": [
            {"kind": type(m).__name__, **{p: getattr(m, p) for p in ("C", "kernel", "loss")}}
            for m in (estimator.estimators_ if isinstance(estimator, TORCV) else [estimator])
        ],
        "thresholds": [float(t) for t in leader.thresholds_],
        "rows": len(rating.rank),
        "ratings": int(rating.given.sum()),
        "features": int(rating.X.shape[1]),
        "columns": [{k: c[k] for k in ("name", "role", "why")} for c in rating.model.encoder.plan_],
        "errors": {name: [float(v) for v in values] for name, values in rating.errors.items()},
        "verdict": rating.verdict,
        "versions": {"python": platform.python_version(), **{name: version(name) for name in packages}},
    }

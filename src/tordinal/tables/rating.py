"""Rating a table: encode its columns, fit a model, label every row, keep what a report needs."""

import platform
import warnings
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any

import numpy as np
import pandas as pd
from joblib import parallel_config
from numpy.typing import NDArray

from tordinal.distances import Matrix
from tordinal.estimators import REDSVM, TOR, TORCV
from tordinal.fitting import Recipe
from tordinal.kernels import KERNELS
from tordinal.losses import LOSSES, check_loss
from tordinal.progress import Listener
from tordinal.reduction import UNLABELED, Ranks
from tordinal.tables.answers import Answers
from tordinal.tables.columns import TableEncoder
from tordinal.tables.curve import Curve, learning_curve
from tordinal.tables.expected_error import (
    ExpectedError,
    estimate_error,
    mean_margin,
    share_margin,
)
from tordinal.tables.fingerprints import fingerprints
from tordinal.tables.frames import add_columns, frame_of, table_of
from tordinal.tables.groups import useless_groups
from tordinal.tables.target import Target
from tordinal.tables.values import TableError

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

Array = NDArray[np.float64]

MANY_ROWS = 5000
CHOOSING_ROWS = 3000  # rows with a rating, and without one, that columns are chosen with
QUICK_TEXTS = 10_000  # rows from which a quick rating reads the words of texts alone
QUICK_C = (0.1, 1.0, 10.0)
METHODS = ("auto", "tor", "redsvm")
MODELS = {
    "this model": "the model used here",
    "supervised": "best single model without unrated rows",
    "transductive": "best single model with unrated rows",
}


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How to rate: options of ``tordinal label`` and `tordinal.rate_table`."""

    method: str = "auto"
    C: float | None = None
    kernel: str | None = None
    loss: str | None = None
    seed: int = 0
    jobs: int | None = None
    quick: bool = False
    choose_columns: bool = True
    single: bool = False  # one model with a linear kernel, which can be fitted on a cluster

    def __post_init__(self) -> None:
        """Reject wrong values before anything is read."""
        if self.C is not None and not 0 < self.C < float("inf"):
            raise TableError(f"`C` {self.C:g} must be a positive number")
        for option, name, known in (
            ("method", self.method, METHODS),
            ("kernel", self.kernel, [k for k in KERNELS if k != "precomputed"]),
            ("loss", self.loss, list(LOSSES)),
        ):
            if name is not None and name not in known:
                raise TableError(f"`{option}` {name} is not known; choose from {', '.join(known)}")
        if self.jobs == 0:
            raise TableError("`n_jobs` 0: give the number of parallel fits, or -1 for all cores")
        if self.quick and self.method != "auto":
            raise TableError(f"`quick` requires `method` auto, not {self.method}")


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
    learned : ndarray of uint64
        Fingerprints of the rated rows that it learned from, sorted.
    """

    encoder: TableEncoder
    estimator: Any
    target: str
    classes: list[Any]
    card: dict[str, Any]
    learned: NDArray[np.uint64] = field(default_factory=lambda: np.empty(0, dtype=np.uint64))

    @property
    def used(self) -> list[str]:
        """Columns that it learned from."""
        return [c["name"] for c in self.encoder.plan_ if c["role"] != "excluded"]

    def known(self, table: Mapping[str, list[Any]]) -> NDArray[np.bool_]:
        """Which rows it has learned from with their ratings."""
        return np.isin(fingerprints(table, self.used), self.learned)

    @property
    def members(self) -> list[Any]:
        """The models that it consists of, the first one being the best."""
        return getattr(self.estimator, "estimators_", [self.estimator])

    def seen(self, X: Matrix) -> Matrix:
        """What the first of them sees of some features."""
        return self.estimator.seen(X) if hasattr(self.estimator, "seen") else X

    def rate(self, table: Mapping[str, list[Any]]) -> tuple[list[Any], Array, Array]:
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
        probability : ndarray of shape (n_rows, n_classes)
            Probabilities of all ratings.
        """
        X = self.encoder.transform(table)
        p = self.estimator.predict_proba(X)
        rank = p.argmax(axis=1)  # probabilities agree with predictions
        return [self.classes[k] for k in rank], p.max(axis=1), p

    def predict(
        self, frame: Any, *, probabilities: bool = False, abstain: float | None = None
    ) -> pd.DataFrame:
        """Rate the rows of a data frame.

        Parameters
        ----------
        frame : DataFrame or pyarrow.Table
            New rows, with the columns that the model learned from. A warning says which of them
            differ from those of training.
        probabilities : bool, default=False
            Whether to add a column with the probability of each rating.
        abstain : float or None, default=None
            Rows below this confidence stay unrated.

        Returns
        -------
        frame : DataFrame
            The rows with the columns ``<target>_predicted``, ``<target>_confidence`` and
            ``<target>_source``.
        """
        table = table_of(frame)
        cells = table.features(self.target)
        labels, confidence, p = self.rate(cells)
        for line in self.encoder.warnings(self.encoder.compare(cells)):
            warnings.warn(line, stacklevel=2)
        given = np.zeros(len(table), dtype=bool)
        answers = Answers.made(labels, confidence, given, p, self.classes, abstain)
        added = answers.columns(self.target, probabilities, list(range(len(table))), len(table))
        return add_columns(frame if isinstance(frame, pd.DataFrame) else frame_of(table), added, {})


@dataclass(frozen=True)
class Totals:
    """Counts over all rows that were rated.

    Attributes
    ----------
    given, predicted : ndarray of shape (n_classes,)
        Ratings that were given, and found.
    sure : dict of int to int
        Rows without a given rating whose confidence is at least 80 and 90 %.
    """

    given: NDArray[np.int64]
    predicted: NDArray[np.int64]
    sure: dict[int, int]

    @property
    def rows(self) -> int:
        """All rows."""
        return int(self.given.sum() + self.predicted.sum())

    @property
    def counts(self) -> dict[str, list[int]]:
        """Rows by rating, as a saved model keeps them."""
        return {"given": self.given.tolist(), "predicted": self.predicted.tolist()}

    @classmethod
    def of(
        cls, rank: Ranks, given: NDArray[np.bool_], confidence: Array, n_classes: int
    ) -> "Totals":
        """Count some rows."""
        sure = {b: int(np.sum(confidence[~given] >= b / 100)) for b in (80, 90)}
        counts = [np.bincount(rank[part], minlength=n_classes) for part in (given, ~given)]
        return cls(counts[0], counts[1], sure)

    def __add__(self, other: "Totals") -> "Totals":
        sure = {bound: n + other.sure[bound] for bound, n in self.sure.items()}
        return Totals(self.given + other.given, self.predicted + other.predicted, sure)


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
        Their predictions.
    cv_probability : ndarray of shape (len(held_out), n_classes)
        With which probabilities.
    errors : dict of str to (float, float)
        Cross-validated zero-one and absolute error by model: "this model", "supervised",
        "transductive".
    spread : dict of str to float
        Standard deviation of the distances behind each absolute error.
    verdict : str
        Whether the unrated rows helped.
    curve : Curve or None
        How errors fall with the number of ratings.
    notes : list of str
        Notes for the user.
    whole : Totals or None
        Counts over all rows, where these are a sample of them.
    """

    model: TableModel
    target: Target
    X: Matrix
    rank: Ranks
    probability: Array
    held_out: NDArray[np.int64]
    cv_rank: Ranks
    cv_probability: Array
    errors: dict[str, tuple[float, float]]
    spread: dict[str, float]
    verdict: str
    curve: Curve | None = None
    notes: list[str] = field(default_factory=list)
    whole: Totals | None = None

    @property
    def totals(self) -> Totals:
        """Counts over all rows."""
        n_classes = len(self.target.classes)
        return self.whole or Totals.of(self.rank, self.given, self.confidence, n_classes)

    @property
    def labels(self) -> list[Any]:
        """The rating of each row; given ratings are spelled as they were given."""
        return self.target.labels(self.rank)

    @property
    def given(self) -> NDArray[np.bool_]:
        """Which ratings were given."""
        return self.target.rank != UNLABELED

    @property
    def confidence(self) -> Array:
        """Probability of each row's rating; 1 where it was given."""
        return np.where(self.given, 1.0, self.probability[np.arange(len(self.rank)), self.rank])

    @property
    def expected_error(self) -> ExpectedError:
        """The error on ratings that were held out."""
        return estimate_error(self.target.rank[self.held_out], self.cv_rank, self.target.classes)

    @property
    def error_rows(self) -> list[tuple[str, float, float, float, float]]:
        """Zero-one error and MAE, each with its margin, of each model and a constant prediction.

        Empty where there are too few ratings.
        """
        n, expected = len(self.held_out), self.expected_error
        if expected.judgement == "unknown":
            return []
        rows = [
            (label, wrong, share_margin(wrong, n), off, mean_margin(self.spread[name], n))
            for name, label in MODELS.items()
            if name in self.errors
            for wrong, off in [self.errors[name]]
        ]
        wrong, truth = 1.0 - expected.constant_accuracy, self.target.rank[self.held_out]
        spread = float(np.std(np.abs(truth - int(np.median(truth)))))
        constant = (share_margin(wrong, n), expected.constant_mae, mean_margin(spread, n))
        return [*rows, ("always the same rating", wrong, *constant)]

    @property
    def leader(self) -> Any:
        """The model, or the first member of an ensemble: the one whose projection is shown."""
        return self.model.members[0]

    @property
    def moved(self) -> int:
        """Rows that unrated ones moved to another rating than a supervised model gave them."""
        return max(
            (
                int(np.sum(m.initial_labels_ != m.transduction_))
                for m in self.model.members
                if isinstance(m, TOR) and hasattr(m, "initial_labels_")
            ),
            default=0,
        )

    @property
    def transducer(self) -> TOR | None:
        """The model whose objective and swaps can be shown, if unrated rows were used."""
        return next((m for m in self.model.members if isinstance(m, TOR)), None)


def rate(
    table: Mapping[str, list[Any]],
    target: Target,
    encoder: TableEncoder,
    settings: Settings,
    listen: Listener,
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
    >>> table = {"size": [1, 2, 3, 8, 9, 10]}
    >>> rate(table, target, TableEncoder(), Settings(method="tor"), lambda *_: None).labels
    ['low', 'low', 'low', 'high', 'high', 'high']
    """
    notes = list(target.notes)
    X = read_columns(table, target, encoder, settings, listen, notes)
    return rate_features(table, X, target, encoder, settings, listen, notes)


def read_columns(
    table: Mapping[str, list[Any]],
    target: Target,
    encoder: TableEncoder,
    settings: Settings,
    listen: Listener,
    notes: list[str],
) -> Matrix:
    """Fit the encoder to a table: its features, without columns that do harm."""
    listen("reading columns", 0, 1)
    encoder.plan(table, target.name)
    listen("reading columns", 1, 1)
    # Models may be fitted on a cluster. Columns are not: a task that is lost there ends the read.
    with parallel_config(backend="sequential"):
        if settings.choose_columns:
            _exclude_useless_columns(table, target, encoder, settings, listen, notes)
        if settings.quick and len(target.rank) > QUICK_TEXTS:
            encoder.set_params(n_axes=0)
        return encoder.encode(table)


def rate_features(
    table: Mapping[str, list[Any]],
    X: Matrix,
    target: Target,
    encoder: TableEncoder,
    settings: Settings,
    listen: Listener,
    notes: list[str] | None = None,
) -> Rating:
    """Rate the rows of a table whose features are known; parameters as in `rate`."""
    notes = [] if notes is None else notes
    rated, n_classes = target.rank != UNLABELED, len(target.classes)
    method = settings.method
    counts = np.bincount(target.rank[rated])
    if method == "auto" and counts[counts > 1].sum() < 2:
        method = "tor"
        notes.append(
            "too few ratings to choose a model by cross-validation: "
            "TOR with its usual settings was used"
        )
    views = encoder.views()
    estimator = _estimator(method, settings, views, list(range(n_classes)), len(target.rank))
    estimator.set_params(callback=listen)
    # A supervised model is not given the rows that have no rating.
    rows = np.flatnonzero(rated) if method == "redsvm" else np.arange(len(target.rank))
    estimator.fit(X[rows], target.rank[rows])
    notes += [f"{doubt}: is that right?" for doubt in encoder.doubts_]
    listen("probabilities", 0, 3)
    evidence = estimator.evidence()
    listen("probabilities", 1, 3)
    probability = estimator.predict_proba(X)
    listen("probabilities", 2, 3)
    labels = getattr(estimator, "transduction_", None)
    labels = estimator.predict(X) if labels is None else labels
    rank = np.where(target.rank == UNLABELED, labels, target.rank).astype(np.int64)
    if getattr(estimator, "views", None):
        encoder.say_how(_views(estimator.views_))
    model = TableModel(encoder, estimator, target.name, target.classes, {})
    model.learned = np.unique(fingerprints(table, model.used)[rated])
    rating = Rating(
        model,
        target,
        X,
        rank,
        probability,
        rows[evidence.rows],
        evidence.ranks,
        evidence.probability,
        evidence.errors,
        evidence.spread,
        evidence.verdict,
        _curve(model, X[rated], target.rank[rated], n_classes, settings.seed),
        notes,
    )
    rating.verdict = _verdict(rating, evidence.verdict)
    listen("probabilities", 3, 3)
    model.card = card_of(rating, method)
    return rating


def _verdict(rating: Rating, said: str) -> str:
    """Whether the unrated rows helped, in words that need no explanation."""
    if rating.transducer is not None and rating.moved == 0:
        return "The unrated rows changed nothing: no row got another rating than without them."
    if not rating.errors:
        return said
    without = rating.errors.get("supervised", rating.errors["this model"])[1]
    name = "transductive" if "transductive" in rating.errors else "this model"
    if name == "this model" and rating.transducer is None:
        return f"Only the rated rows were used: off by {without:.2f} steps on average."
    with_them = rating.errors[name][1]
    # Half a standard error of one of the errors: they are of the same rows, and vary together.
    noise = 0.5 * rating.spread[name] / np.sqrt(max(len(rating.held_out), 1))
    helps = "help" if with_them < without else "do not help"
    if abs(with_them - without) < noise:
        helps = "make no visible difference"
    return (
        f"The unrated rows {helps}: a single model is off by {with_them:.2f} steps on average with "
        f"them, by {without:.2f} without."
    )


def _exclude_useless_columns(
    table: Mapping[str, list[Any]],
    target: Target,
    encoder: TableEncoder,
    settings: Settings,
    listen: Listener,
    notes: list[str],
) -> None:
    """Plan to do without the groups of columns that make a text harder to understand."""
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
        notes.append(
            f"excluded, because held-out rows are rated as well without: {', '.join(useless)}; "
            "use `columns` to choose the columns yourself"
        )


def _some_rows(rank: Ranks, seed: int) -> NDArray[np.int64]:
    """Rows that columns are chosen with: rated ones, and some others for their words."""
    rng = np.random.RandomState(seed)
    parts = (np.flatnonzero(rank != UNLABELED), np.flatnonzero(rank == UNLABELED))
    return np.sort(np.concatenate([rng.permutation(part)[:CHOOSING_ROWS] for part in parts]))


def _views(names: list[str]) -> str:
    """How the models read the texts.

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


def _curve(model: TableModel, X: Matrix, rank: Ranks, n_classes: int, seed: int) -> Curve | None:
    """The learning curve of the first model, without unrated rows."""
    leader, X = model.members[0], model.seen(X)
    recipe = Recipe(
        C=leader.C, kernel=leader.kernel, loss=check_loss(leader.loss), gamma=leader.gamma,
        degree=leader.degree, coef0=leader.coef0, tol=1e-2,
    )  # fmt: skip
    return learning_curve(X, rank, n_classes, recipe, recipe.kernel_for(X), seed)


def _estimator(
    method: str,
    settings: Settings,
    views: dict[str, NDArray[np.int64]] | None,
    classes: list[int],
    n_rows: int,
) -> Any:
    """The estimator that the settings ask for; texts have views."""
    shared: dict[str, Any] = {"classes": classes}
    # With one swap per training, as in the paper, the number of trainings grows with the rows.
    many = n_rows > MANY_ROWS
    if method == "auto":
        shared |= {"random_state": settings.seed, "n_jobs": settings.jobs}
        shared |= {"swaps": ("all", "optimal")} if many else {}
        # Rows of text have unit length: their inner product is the cosine, and other kernels see no
        # more than that.
        kernel = settings.kernel or ("linear" if views or settings.single else None)
        given: dict[str, Any] = {"C": settings.C, "kernel": kernel, "loss": settings.loss}
        if settings.single:
            shared |= {"ensemble_size": 1}
        if settings.quick:
            shared |= {"ensemble_size": 1, "swaps": "optimal", "class_ratio": "labeled"}
            views = None
            usual = {"C": QUICK_C, "kernel": "linear" if settings.single else "perceptron"}
            usual |= {"loss": "hinge"}
            given = {name: usual[name] if v is None else v for name, v in given.items()}
        given = {name: value for name, value in given.items() if value is not None}
        return TORCV(**shared, **given, views=views)
    kernel = settings.kernel or ("linear" if views or settings.single else "perceptron")
    C = 1.0 if settings.C is None else settings.C
    shared |= {"swaps": "all"} if many and method == "tor" else {}
    return {"tor": TOR, "redsvm": REDSVM}[method](
        C=C, kernel=kernel, loss=settings.loss or "hinge", **shared
    )


def card_of(rating: Rating, method: str) -> dict[str, Any]:
    """What `tordinal inspect` shows."""
    leader, members = rating.leader, rating.model.members
    views = getattr(rating.model.estimator, "views_", [None] * len(members))
    packages = ("tordinal", "numpy", "scipy", "scikit-learn", "numba", "pandas")
    return {
        "method": {"auto": "TORCV", "tor": "TOR", "redsvm": "REDSVM"}[method],
        "members": [
            {
                "kind": type(m).__name__,
                **{p: getattr(m, p) for p in ("C", "kernel", "loss")},
                **({"view": view} if view else {}),
            }
            for m, view in zip(members, views, strict=True)
        ],
        "thresholds": [float(t) for t in leader.thresholds_],
        "rows": len(rating.rank),
        "ratings": int(rating.given.sum()),
        "features": int(rating.X.shape[1]),
        "columns": [{k: c[k] for k in ("name", "role", "why")} for c in rating.model.encoder.plan_],
        "worth": str(rating.expected_error),
        "errors": {name: [float(v) for v in values] for name, values in rating.errors.items()},
        "verdict": rating.verdict,
        "counts": rating.totals.counts,
        "versions": {
            "python": platform.python_version(),
            **{name: version(name) for name in packages},
        },
    }

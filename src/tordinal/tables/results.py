"""Results of rating a table: ranks, probabilities, errors, and what a report needs."""

import platform
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tordinal.distances import Matrix
from tordinal.estimators import TOR
from tordinal.reduction import UNLABELED, Ranks
from tordinal.tables.curve import Curve
from tordinal.tables.expected_error import (
    HeldOutError,
    effective_size,
    estimate_error,
    mean_margin,
    share_margin,
    weighted_median,
    weighted_spread,
)
from tordinal.tables.hints import Hint
from tordinal.tables.selection import Selection
from tordinal.tables.table_model import TableModel
from tordinal.tables.target import Target

__all__ = ["Rating", "Totals", "card_of"]

Array = NDArray[np.float64]

MODELS = {
    "this model": "the model used here",
    "supervised": "best single model without unrated rows",
    "transductive": "best single model with unrated rows",
}


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
    """Results of rating a table, row by row, for the output and the report.

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
    selection : Selection or None
        How the rated rows were chosen. None: they count as a random sample.
    differs : bool
        Whether rated and unrated rows differ visibly.
    reweighted : bool
        Whether averages and shares weigh given ratings by how rarely rows like theirs are rated.
    seed : int
        Seed of the draw of rows to rate next.
    hints : list of Hint
        Whether columns with noisy ratings from elsewhere are used.
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
    selection: Selection | None = None
    differs: bool = False
    reweighted: bool = False
    seed: int = 0
    hints: list[Hint] = field(default_factory=list)

    @property
    def weights(self) -> Array | None:
        """Weights of the rows that were held out, where it is known how they were chosen."""
        return None if self.selection is None else self.selection.weights()[self.held_out]

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
    def expected_error(self) -> HeldOutError:
        """The error on ratings that were held out."""
        truth = self.target.rank[self.held_out]
        return estimate_error(truth, self.cv_rank, self.target.classes, self.weights)

    @property
    def error_rows(self) -> list[tuple[str, float, float, float, float]]:
        """Zero-one error and MAE, each with its margin, of each model and a constant prediction.

        Empty where there are too few ratings.
        """
        n, expected = len(self.held_out), self.expected_error
        if expected.judgement == "unknown":
            return []
        truth = self.target.rank[self.held_out]
        w = np.ones(n) if self.weights is None else self.weights
        size = effective_size(w)
        errors = dict(self.errors)
        if self.weights is not None:
            # Predictions of the others are not kept row by row, so they cannot be weighted.
            errors = {"this model": (expected.zero_one, expected.mae)}
        spread = {"this model": weighted_spread(np.abs(truth - self.cv_rank), w)} | (
            self.spread if self.weights is None else {}
        )
        rows = [
            (label, wrong, share_margin(wrong, size), off, mean_margin(spread[name], size))
            for name, label in MODELS.items()
            if name in errors
            for wrong, off in [errors[name]]
        ]
        wrong = 1.0 - expected.constant_accuracy
        varies = weighted_spread(np.abs(truth - weighted_median(truth, self.weights)), w)
        constant = (share_margin(wrong, size), expected.constant_mae, mean_margin(varies, size))
        return [*rows, ("always the same rating", wrong, *constant)]

    @property
    def leader(self) -> Any:
        """The model, or the first member of an ensemble: the one whose projection is shown."""
        return self.model.members[0]

    @property
    def moved(self) -> int:
        """Number of rows that swaps gave another rating, in the member with most of them."""
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


def card_of(rating: Rating, method: str) -> dict[str, Any]:
    """The description that `tordinal inspect` shows."""
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

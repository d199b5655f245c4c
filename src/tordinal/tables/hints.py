"""Hints: columns with noisy ratings from elsewhere, such as a language model's.

A hint need not be on the scale of the ratings, nor agree with it: its ordered levels become
features, so every model that learns from them recalibrates the hint by the given ratings.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tordinal.reduction import UNLABELED
from tordinal.tables.cells import is_mark, read_number
from tordinal.tables.expected_error import FEWEST, SIGNIFICANT, mean_margin
from tordinal.tables.groups import errors_alone
from tordinal.tables.rating_order import LEADING_NUMBER, rank_of, spelled
from tordinal.tables.scales import levels_of, plain
from tordinal.tables.target import Target
from tordinal.tables.values import TableError, is_missing

__all__ = [
    "BESIDE_TEXTS",
    "Hint",
    "choose_hints",
    "fit_steps",
    "hint_features",
    "hint_values",
    "plan_hint",
    "ranks_as_they_are",
]

Array = NDArray[np.float64]
Index = NDArray[np.int64]
Column = dict[str, Any]

# Length of a hint beside texts of length 1. With 1 the error of four sets of made-up reviews with
# 60 ratings was 0.03 higher in the mean for weak hints, and the same for good ones.
BESIDE_TEXTS = 0.5
MOST_STEPS = 10  # a hint with more values is cut at its quantiles
ROUNDING = 1e-12
READABLE = 0.5  # share of the cells that must be readable


def plan_hint(
    name: str, cells: Sequence[Any], scale: Sequence[Any], missing: Sequence[str], decimal: str
) -> tuple[Column, str]:
    """Find out how a hint is read: as numbers, or as words of the ratings' scale or a known one.

    Parameters
    ----------
    name : str
        Name of the column.
    cells : sequence
        Its cells.
    scale : sequence
        The ratings from the lowest to the highest.
    missing : sequence of str
        Marks of missing values, besides the usual ones.
    decimal : {".", ","}
        The usual decimal separator.

    Returns
    -------
    column : dict
        Its entry in `TableEncoder.plan_`.
    doubt : str
        What may be wrong with it; empty if nothing is.

    Examples
    --------
    >>> column, doubt = plan_hint("llm", ["4 stars", "2 stars", "", "sorry"], [1, 2, 3], [], ".")
    >>> column["style"], hint_values(column, ["3 stars", "5", "sorry"]).tolist()
    ({'decimal': '.'}, [3.0, 5.0, nan])
    >>> doubt
    "column llm: 1 of 3 cells cannot be read as a rating and count as missing: 'sorry' (1)"
    """
    if any(isinstance(c, (dict, list, bytes)) for c in cells):
        raise TableError(f"`hint` {name} holds nested or binary values; name a column of ratings")
    own = _words_of(scale)  # "none" may be one of them
    counts = Counter(
        spelled(c) for c in cells if plain(str(c)) in own or not _is_missing(c, missing)
    )
    column: Column = {"name": name, "role": "hint", "missing": len(cells) - counts.total()}
    if len(counts) < 2:
        why = "one value only" if counts else "empty"
        return {**column, "role": "excluded", "why": why}, f"the hint {name} is not used: {why}"
    words = [str(c) for c in counts]
    # Where several styles read as many cells, numbers come first, then the ratings' own words.
    styles: list[Column] = [{"decimal": decimal}, {"decimal": "," if decimal == "." else "."}]
    styles += [{"levels": levels} for levels in (own, levels_of(words)) if levels]
    read = [np.isnan(hint_values({"style": style}, list(counts))) for style in styles]
    n = np.array(list(counts.values()))
    style, unread = min(zip(styles, read, strict=True), key=lambda pair: int(n[pair[1]].sum()))
    odd = Counter({c: k for c, k, lost in zip(counts, n.tolist(), unread, strict=True) if lost})
    listed = ", ".join(f"{str(word)!r} ({k:,})" for word, k in odd.most_common(3))
    if odd.total() > READABLE * counts.total():
        raise TableError(
            f"`hint` {name}: the order of its values is not known: {listed}. Write numbers, words "
            "of the ratings or of a known scale, such as low, medium and high; without `hint` the "
            "column is read as any other"
        )
    why = "ordered, recalibrated by the ratings"
    column |= {"why": why, "style": style, "missing": column["missing"] + odd.total()}
    about = f"{odd.total():,} of {counts.total():,} cells cannot be read as a rating"
    return column, f"column {name}: {about} and count as missing: {listed}" if odd else ""


def _is_missing(cell: Any, missing: Sequence[str] = ()) -> bool:
    return is_missing(cell) or is_mark(cell, missing)


def _words_of(scale: Sequence[Any]) -> dict[str, float]:
    return {plain(str(label)): float(k) for k, label in enumerate(scale)}


def hint_values(column: Column, cells: Sequence[Any], missing: Sequence[str] = ()) -> Array:
    """Cells of a hint as numbers in their order; NaN where there is none or it cannot be read."""
    style = column["style"]
    known: dict[Any, float] = {}
    values = np.full(len(cells), np.nan)
    words = style.get("levels", {})
    for i, cell in enumerate(map(spelled, cells)):
        if plain(str(cell)) in words or not _is_missing(cell, missing):
            if cell not in known:
                known[cell] = _value(style, cell)
            values[i] = known[cell]
    return values


def _value(style: Column, cell: Any) -> float:
    if "levels" in style:
        return float(style["levels"].get(plain(str(cell)), np.nan))
    value = read_number(cell, style["decimal"])
    if value is None and (match := LEADING_NUMBER.match(str(cell))):
        value = float(match[1].replace("\u2212", "-").replace(",", "."))
    return np.nan if value is None else value


def fit_steps(values: Array, length: float = 1.0) -> Column:
    """Steps between the values of a hint, and the share of rows at or above each of them.

    Examples
    --------
    >>> fit_steps(np.array([1.0, 2.0, 2.0, np.nan, 5.0]))
    {'cuts': [2.0, 5.0], 'above': [0.75, 0.25], 'absent': 0.2, 'length': 1.0}
    """
    known = values[~np.isnan(values)]
    cuts = np.unique(known)[1:]
    if len(cuts) > MOST_STEPS:
        inner = np.linspace(0, 1, MOST_STEPS + 2)[1:-1]
        cuts = np.setdiff1d(np.quantile(known, inner, method="higher"), known.min())
    above = (known[:, None] >= cuts).mean(axis=0)
    return {
        "cuts": cuts.tolist(), "above": above.tolist(), "absent": float(np.isnan(values).mean()),
        "length": length,
    }  # fmt: skip


def hint_features(column: Column, values: Array) -> Array:
    """Which steps a hint reaches, centred and of one length, and whether it is missing.

    A linear function of them is any function of the hint: this is what recalibrates it.

    Examples
    --------
    >>> values = np.array([1.0, 2.0, 2.0, 5.0])
    >>> hint_features(fit_steps(values), values).round(2).tolist()
    [[-1.22, -0.41], [0.41, -0.41], [0.41, -0.41], [0.41, 1.22]]
    """
    cuts, above = np.array(column["cuts"]), np.array(column["above"])
    absent = np.isnan(values)
    steps = np.where(absent[:, None], above, values[:, None] >= cuts) - above
    steps *= column["length"] / np.sqrt(max(float(np.sum(above * (1.0 - above))), 1e-12))
    if column["absent"] == 0.0:
        return steps
    return np.column_stack([steps, column["length"] * (absent - column["absent"])])


@dataclass
class Hint:
    """Quality of a hint, and whether it helps.

    Attributes
    ----------
    name : str
        Its column.
    used : bool
        Whether the model learns from it.
    n : int
        Given ratings that it was compared with.
    off, off_margin : float
        Its mean distance from them in steps after recalibration, cross-validated, and half the
        width of the interval; NaN with too few ratings.
    as_it_is : float
        The same of the hint as it stands; NaN if it is on another scale.
    error, error_without : float
        The model's cross-validated mean absolute error with the hint and without it; NaN where one
        of them is not known.
    clear : bool
        Whether the difference is beyond chance.
    """

    name: str
    used: bool
    n: int
    off: float
    off_margin: float
    as_it_is: float
    error: float
    error_without: float
    clear: bool

    def __str__(self) -> str:
        if np.isnan(self.off):
            return f"the hint {self.name} is used; too few ratings to tell whether it helps"
        alone = f"by itself, recalibrated, it is off by {self.off:.2f} (± {self.off_margin:.2f})"
        if not np.isnan(self.as_it_is):
            alone += f", as it is by {self.as_it_is:.2f}"
        alone += f" on {self.n:,} ratings"
        if np.isnan(self.error_without):
            return f"the hint {self.name} is the only column: {alone}"
        errors = (
            f"the error is {self.error:.2f} steps with it and {self.error_without:.2f} without "
            f"(cross-validated); {alone}"
        )
        if not self.used:
            return f"the hint {self.name} does not help and is not used: {errors}"
        helps = "helps" if self.clear else "is used, but makes no visible difference"
        if self.error >= self.error_without:
            helps = "is used as it is good by itself, though it makes no visible difference"
        return f"the hint {self.name} {helps}: {errors}"


def choose_hints(
    fit: Callable[[Index], tuple[Any, Any]],
    X: Any,
    places: Mapping[str, Index],
    values: Mapping[str, Array],
    as_they_are: Mapping[str, Array],
    target: Target,
    weights: Array | None = None,
    seed: int = 0,
) -> tuple[Any, Any, Index, list[Hint]]:
    """Fit models without hints and with more and more of them, the best first; keep what helps.

    Parameters
    ----------
    fit : callable
        Fits a model to some columns of X: the model and its `Evidence`, whose rows are those of X.
    X : matrix
        Features of all rows.
    places : mapping of str to ndarray
        The columns of each hint.
    values : mapping of str to ndarray
        The cells of each hint as numbers, NaN for missing ones.
    as_they_are : mapping of str to ndarray
        Ranks that hints on the ratings' own scale stand for.
    target : Target
        The ratings.
    weights : ndarray of shape (n_rows,) or None
        How much each rated row counts in errors.
    seed : int
        Seed of folds.

    Returns
    -------
    model, evidence
        What `fit` returned for the hints that are used.
    kept : ndarray
        The columns of X that the model sees.
    hints : list of Hint
        Whether each hint is used.
    """
    rank, weights = target.rank, np.ones(len(target.rank)) if weights is None else weights
    alone, as_it_is, informative = {}, {}, {}
    for name, columns in places.items():
        rows = np.flatnonzero((rank != UNLABELED) & ~np.isnan(values[name]))
        held, alone[name] = errors_alone(X[rows][:, columns], rank[rows], len(target.classes), seed)
        informative[name] = _beats_the_median(alone[name], rank[rows][held])
        if name in as_they_are:
            off = np.abs(as_they_are[name] - rank)[rows]
            as_it_is[name] = float(np.mean(off))
            informative[name] |= _beats_the_median(off, rank[rows])
    kept = np.setdiff1d(np.arange(X.shape[1]), np.concatenate(list(places.values())))
    best = fit(kept) if len(kept) else None
    hints = []
    for name in sorted(places, key=lambda name: _mean(alone[name])):
        more = np.sort(np.concatenate([kept, places[name]]))
        tried = fit(more)
        error = _Errors.of(tried[1], rank, weights)
        error_without = None if best is None else _Errors.of(best[1], rank, weights)
        gain, deviation = (0.0, 0.0) if error_without is None else error_without.gain(error)
        unknown = error_without is None or len(error.rows) < FEWEST
        # Few ratings hide what a good hint brings: one that is good by itself is excluded only
        # where it does harm. Any other must help, by more than rounding.
        least = -deviation if informative[name] else ROUNDING
        used = unknown or gain > least
        off = alone[name] if len(alone[name]) >= FEWEST else np.full(1, np.nan)
        hints.append(Hint(
            name, used, len(alone[name]), float(off.mean()),
            mean_margin(float(off.std()), len(off)),
            as_it_is.get(name, np.nan), error.mean,
            np.nan if error_without is None else error_without.mean,
            gain > SIGNIFICANT * deviation,
        ))  # fmt: skip
        if used:
            best, kept = tried, more
    assert best is not None
    return (*best, kept, hints)


def _beats_the_median(off: Array, rank: Index) -> bool:
    """Whether distances are clearly shorter than those from the median rank."""
    if len(off) < FEWEST:
        return False
    gain = np.abs(np.median(rank) - rank) - off
    return bool(gain.mean() > SIGNIFICANT * gain.std() / np.sqrt(len(gain)))


def _mean(off: Array) -> float:
    return float(off.mean()) if len(off) else float("inf")


@dataclass
class _Errors:
    """Distances of held-out predictions from the given ratings, by row."""

    rows: Index
    off: Array
    weights: Array

    @classmethod
    def of(cls, evidence: Any, rank: Index, weights: Array) -> "_Errors":
        return cls(evidence.rows, np.abs(evidence.ranks - rank[evidence.rows]), weights)

    @property
    def mean(self) -> float:
        """As `estimate_error` computes it, so that both are rounded alike."""
        if not len(self.rows):
            return np.inf
        return float(np.average(self.off, weights=self._weights(self.rows)))

    def _weights(self, rows: Index) -> Array:
        return self.weights[rows] if self.weights[rows].any() else np.ones(len(rows))

    def gain(self, other: "_Errors") -> tuple[float, float]:
        """The difference to another error on the same rows, and its standard deviation."""
        rows, here, there = np.intersect1d(self.rows, other.rows, return_indices=True)
        if len(rows) == 0:
            return 0.0, 0.0
        share, gain = self._weights(rows), self.off[here] - other.off[there]
        share = share / share.sum()
        mean = float(share @ gain)
        return mean, float(np.sqrt(share**2 @ (gain - mean) ** 2))


def ranks_as_they_are(cells: Sequence[Any], classes: Sequence[Any]) -> Array | None:
    """The ranks that the cells of a hint stand for; None if it is on another scale.

    Examples
    --------
    >>> ranks_as_they_are(["2", "", "1"], ["1", "2"]), ranks_as_they_are(["80"], ["1", "2"])
    (array([ 1., nan,  0.]), None)
    """
    ranks = [rank_of(cell, classes) for cell in cells]
    known = [k for k in ranks if k is not None]
    present = sum(not _is_missing(c) for c in cells)
    if not known or len(known) < present:
        return None
    return np.array([np.nan if k is None else float(k) for k in ranks])

"""Whether new rows are like those that a model was trained on, column by column and as classes.

Only counts are compared, so counts of several parts of a table may be added up.
"""

import datetime
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import hypergeom

__all__ = ["CellCounts", "ColumnCells", "column_warnings", "describe_training", "rating_warning"]

Array = NDArray[np.float64]

QUANTILES = np.linspace(0.0, 1.0, 11)
FALSE_ALARM = 1e-3  # probability of any warning in a table from the same population
FALSE_ALARM_HALF = (
    1e-2  # the same for one column half of whose cells differ, in a table of few rows
)
WIDER = 0.5  # of the range of training, on both sides: values beyond are outside
SHIFTED = 0.3  # distance of distribution functions from which a column is shifted
MORE = 0.1  # share of missing cells above that of training
OTHER_RATINGS = 0.25  # share of a rating above that of training
ENOUGH_PREDICTED = 30  # rows at training from which predictions are compared with those alone
LAST_DAY = datetime.date.max.toordinal()
MAX_LINES, MAX_NAMES, MAX_EXAMPLES, MAX_LENGTH = 5, 5, 2, 30
KEPT_EXAMPLES = 20
CANNOT_READ = {
    "number": "cannot be read as numbers", "date": "cannot be read as dates",
    "hint": "cannot be read as ratings",
}  # fmt: skip


@dataclass
class ColumnCells:
    """The cells of a column as an encoder reads them.

    Attributes
    ----------
    size : int
        Number of cells.
    missing : int
        Those that are missing.
    values : ndarray
        The numbers and dates; empty for other columns.
    words : Counter
        The values of a category, or the unreadable cells of a column of numbers or dates.
    """

    size: int
    missing: int
    values: Array = field(default_factory=lambda: np.empty(0))
    words: Counter[str] = field(default_factory=Counter)


@dataclass
class CellCounts:
    """How the cells of a column compare with those of training; counts may be added up.

    Attributes
    ----------
    size, missing : int
        Cells, and those that are missing.
    strange : int
        Unreadable numbers and dates, or cells with a category that was not seen at training.
    examples : Counter
        The most frequent of these.
    below, above : int
        Values outside the range of training after it was widened.
    at_most : ndarray of shape (11,)
        How many values are at most each decile of training.
    """

    size: int
    missing: int
    strange: int
    examples: Counter[str]
    below: int
    above: int
    at_most: NDArray[np.int64]

    @classmethod
    def of(
        cls, cells: ColumnCells, known: set[str] | None, quantiles: Array, any_values: bool
    ) -> "CellCounts":
        """Count the cells of a column.

        Parameters
        ----------
        cells : ColumnCells
            The cells.
        known : set of str or None
            The categories of training; None for a column that is not a category.
        quantiles : ndarray of shape (11,)
            Deciles of training, with the minimum and the maximum.
        any_values : bool
            Whether the column had values at training.
        """
        words = cells.words
        if known is not None:
            words = Counter({word: n for word, n in words.items() if word not in known})
        margin = WIDER * (quantiles[-1] - quantiles[0]) if any_values else math.inf
        examples = Counter(dict(words.most_common(KEPT_EXAMPLES)))
        return cls(
            cells.size, cells.missing, words.total(), examples,
            int(np.sum(cells.values < quantiles[0] - margin)),
            int(np.sum(cells.values > quantiles[-1] + margin)),
            _count_at_most(cells.values, quantiles),
        )  # fmt: skip

    def __add__(self, other: "CellCounts") -> "CellCounts":
        return CellCounts(
            self.size + other.size, self.missing + other.missing, self.strange + other.strange,
            self.examples + other.examples, self.below + other.below, self.above + other.above,
            self.at_most + other.at_most,
        )  # fmt: skip


def _count_at_most(values: Array, quantiles: Array) -> NDArray[np.int64]:
    return np.searchsorted(np.sort(values), quantiles, side="right").astype(np.int64)


def describe_training(columns: Sequence[ColumnCells], categories: Sequence[bool]) -> dict[str, Any]:
    """Statistics of the training cells that a model keeps, to compare new cells with.

    Parameters
    ----------
    columns : sequence of ColumnCells
        The cells of each column.
    categories : sequence of bool
        Which columns are categories.

    Returns
    -------
    training : dict
        ``rows``, and arrays with an entry per column: ``missing``; ``strange``, the unreadable
        cells of numbers and dates and the categories that occur once; ``quantiles``, the deciles;
        ``at_most``, the number of values up to each of them.

    Examples
    --------
    >>> cells = ColumnCells(4, 1, np.array([1.0, 2.0, 3.0]))
    >>> describe_training([cells], [False])["at_most"][0].tolist()
    [1, 1, 1, 1, 2, 2, 2, 3, 3, 3, 3]
    """
    quantiles = np.array(
        [
            np.quantile(c.values, QUANTILES, method="inverted_cdf")
            if len(c.values)
            else np.zeros(len(QUANTILES))
            for c in columns
        ]
    ).reshape(len(columns), len(QUANTILES))
    # As many categories occur once as cells of a new table of this size will be unseen (Good and
    # Turing's estimate).
    strange = [
        sum(n == 1 for n in c.words.values()) if category else c.words.total()
        for c, category in zip(columns, categories, strict=True)
    ]
    return {
        "rows": columns[0].size if columns else 0,
        "missing": np.array([c.missing for c in columns], dtype=np.int64),
        "strange": np.array(strange, dtype=np.int64),
        "quantiles": quantiles,
        "at_most": np.array(
            [_count_at_most(c.values, q) for c, q in zip(columns, quantiles, strict=True)],
            dtype=np.int64,
        ).reshape(quantiles.shape),
    }


def column_warnings(
    columns: Sequence[Mapping[str, Any]], training: Mapping[str, Any], counts: Sequence[CellCounts]
) -> list[str]:
    """Describe which columns of a table differ from those of training.

    Parameters
    ----------
    columns : sequence of dict
        ``name`` and ``role`` of the columns that a model uses.
    training : dict
        From `describe_training`.
    counts : sequence of CellCounts
        Counts of each column's cells.

    Returns
    -------
    lines : list of str
        One line for the table, then the columns in which most cells differ; empty if none does.

    Examples
    --------
    >>> cells = ColumnCells(99, 0, np.arange(99.0))
    >>> training = describe_training([cells], [False])
    >>> new = ColumnCells(99, 0, np.arange(99.0) + 1900)
    >>> counts = CellCounts.of(new, None, training["quantiles"][0], True)
    >>> column_warnings([{"name": "age", "role": "number"}], training, [counts])[1]
    'age: 99 of 99 values are far above those of training (0 to 98).'
    """
    tests = 4 * len(columns)
    found: list[tuple[float, str, str]] = []
    for place, (column, count) in enumerate(zip(columns, counts, strict=True)):
        own = {name: training[name][place] for name in training if name != "rows"}
        difference = _difference(column["role"], count, training["rows"], own, tests)
        if difference is not None:
            found.append((difference[0], str(column["name"]), difference[1]))
    if not found:
        return []
    found.sort(key=lambda one: -one[0])
    differ = "1 column differs" if len(found) == 1 else f"{len(found):,} columns differ"
    lines = [
        f"{differ} from the training table (of {len(columns):,} used): ratings may be wrong",
        *(f"{name or '(no name)'}: {text}." for _, name, text in found[:MAX_LINES]),
    ]
    rest = [name for _, name, _ in found[MAX_LINES:]]
    if rest:
        dots = ", ..." if len(rest) > MAX_NAMES else ""
        also = "1 more column" if len(rest) == 1 else f"{len(rest):,} more columns"
        lines.append(f"{also}: {', '.join(rest[:MAX_NAMES])}{dots}")
    return lines


def _difference(
    role: str, new: CellCounts, rows: int, old: Mapping[str, Any], tests: int
) -> tuple[float, str] | None:
    """The most severe difference of a column: the share of cells that differ, and a description."""
    if new.size == 0:
        return None
    low, high = old["quantiles"][0], old["quantiles"][-1]
    n_new, n_old = new.size - new.missing - new.strange, int(old["at_most"][-1])
    if role == "hint" and n_new == 0 and not new.strange:
        return 1.0, "the column of the hint is missing or empty, so rows are rated without it"
    was_missing, was_strange = int(old["missing"]), int(old["strange"])
    unreadable = role in CANNOT_READ
    surprising = _is_surprising(new.strange, new.size, was_strange, rows, tests)
    if new.strange and (surprising or (unreadable and was_strange == 0)):
        examples = new.examples.most_common(MAX_EXAMPLES)
        listed = ", ".join(f"{_shorten(word)!r} ({n:,})" for word, n in examples)
        what = CANNOT_READ.get(role, "hold values that training did not have")
        then = "; they count as missing" if unreadable else ""
        text = f"{new.strange:,} of {new.size:,} cells {what}, such as {listed}{then}"
        return new.strange / new.size, text
    share, before = new.missing / new.size, was_missing / max(rows, 1)
    if share >= before + MORE and _is_surprising(new.missing, new.size, was_missing, rows, tests):
        empty = "empty" if role == "text" else "missing"
        text = f"{new.missing:,} of {new.size:,} cells are {empty} ({_percent(share)}); "
        return share, f"{text}in training {_percent(before)} were"
    found: list[tuple[float, str]] = []
    for outside, where in ((new.below, "below"), (new.above, "above")):
        if _is_surprising(outside, n_new, 0, n_old, tests):
            values = "values" if role == "number" else "dates"
            between = f"{_shown(low, role)} to {_shown(high, role)}"
            text = f"{outside:,} of {n_new:,} {values} are far {where} those of training"
            found.append((outside / new.size, f"{text} ({between})"))
    if role == "number" and n_new and n_old:  # later dates are to be expected
        now, then_ = new.at_most / n_new, old["at_most"] / n_old
        place = int(np.argmax(np.abs(now - then_)))
        distance = abs(now - then_)[place]
        # The inequality of Dvoretzky, Kiefer and Wolfowitz, for two samples.
        chance = math.sqrt(math.log(2 * tests / FALSE_ALARM) / 2 * (1 / n_new + 1 / n_old))
        # Counts of values outside are easier to read, unless they are the lesser part.
        if distance > max(SHIFTED, chance, *(2 * share for share, _ in found)):
            value = _shown(old["quantiles"][place], role)
            text = f"{_percent(now[place])} of the values are at most {value}; "
            return float(distance), f"{text}in training {_percent(then_[place])} were"
    return max(found, key=lambda one: one[0], default=None)


def rating_warning(
    classes: Sequence[Any], counts: Sequence[int], before: Mapping[str, Sequence[int]]
) -> str:
    """Warn about ratings that are predicted far more often than at training; empty if none is.

    Parameters
    ----------
    classes : sequence
        The ratings.
    counts : sequence of int
        How often each is predicted now.
    before : mapping
        How often each was ``given`` and ``predicted`` at training.

    Returns
    -------
    warning : str
        One sentence.

    Examples
    --------
    >>> rating_warning(["mild", "severe"], [2, 98], {"given": [9, 9], "predicted": [80, 20]})
    "98 % of the rows are predicted as 'severe'; in training 20 % were."
    """
    n, predicted = sum(counts), sum(before["predicted"]) >= ENOUGH_PREDICTED
    both = zip(before["given"], before["predicted"], strict=True)
    old = before["predicted"] if predicted else [g + p for g, p in both]
    n_old = sum(old)
    if n == 0 or n_old == 0:
        return ""
    rises = [k / n - k_old / n_old for k, k_old in zip(counts, old, strict=True)]
    rise, place = max((rise, place) for place, rise in enumerate(rises))
    if rise < OTHER_RATINGS or not _is_surprising(
        counts[place], n, old[place], n_old, len(classes)
    ):
        return ""
    then = "were" if predicted else "of all rows had this rating"
    return (
        f"{_percent(counts[place] / n)} of the rows are predicted as {str(classes[place])!r}; "
        f"in training {_percent(old[place] / n_old)} {then}."
    )


def _is_surprising(k: int, n: int, k_old: int, n_old: int, tests: int) -> bool:
    """Whether k of n cells are significantly more than k_old of n_old.

    This is Fisher's exact test. With k_old = 0 it is exact for values beyond the largest of the
    old ones, whatever their distribution.
    """
    if k == 0:
        return False
    p = hypergeom.sf(k - 1, n + n_old, k + k_old, n)
    return bool(p < FALSE_ALARM / tests or (2 * k >= n and p < FALSE_ALARM_HALF))


def _percent(share: float) -> str:
    """A share for people.

    Examples
    --------
    >>> [_percent(share) for share in (0.0, 0.001, 0.5, 0.999)]
    ['0 %', 'less than 1 %', '50 %', 'more than 99 %']
    """
    if 0 < share < 0.01:
        return "less than 1 %"
    return "more than 99 %" if 0.99 < share < 1 else f"{100 * share:.0f} %"


def _shown(value: float, role: str) -> str:
    """A number or a day as a cell has it."""
    if role == "date" and 1 <= value < LAST_DAY:
        return datetime.date.fromordinal(int(value)).isoformat()
    return f"{value:.6g}"


def _shorten(word: str) -> str:
    return word if len(word) <= MAX_LENGTH else f"{word[: MAX_LENGTH - 3]}..."

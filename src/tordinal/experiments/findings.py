"""Measurements about a claim of the paper: comparisons, tests and verdicts.

Differences are tested in pairs over the realisations.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import wilcoxon

__all__ = [
    "BOTH", "FEWEST", "LEVEL", "Check", "Checked", "Finding", "by_seed", "compare", "gains", "holm",
    "less", "pick", "swapped",
]  # fmt: skip

LEVEL = 0.05  # of the paired tests over realisations
FEWEST = 5  # realisations that a test needs
BOTH = {"zero_one": "zero-one error", "mae": "absolute error"}


class Checked(NamedTuple):
    """One check: its numbers, whether they are as claimed, and the p-value of a test."""

    right: bool
    text: str
    p: float | None = None

    def passed(self, p: float | None = None) -> bool:
        """Whether it passed, by its own p-value or a corrected one."""
        p = self.p if p is None else p
        return self.right and (p is None or p < LEVEL)


@dataclass
class Finding:
    """Measurements about one claim: checks that passed or not, each with its numbers."""

    checks: list[Checked] = field(default_factory=list)

    def add(self, passed: bool, text: str) -> None:
        """Note a check without a test."""
        self.checks.append(Checked(bool(passed), text))

    def add_less(self, pair: tuple[float, float, float], text: str, *, enough: bool = True) -> None:
        """Check that the first of a pair (see `less`) is significantly smaller, and by enough.

        A pair without a p-value is no check.
        """
        one, other, p = pair
        if np.isfinite(p):
            self.checks.append(Checked(bool(one < other and enough), text, p))

    def passed(self, corrected: Mapping[float, float] | None = None) -> int:
        """How many checks passed, by their own p-values or corrected ones."""
        return sum(
            c.passed(None if c.p is None or corrected is None else corrected[c.p])
            for c in self.checks
        )

    def verdict(self, corrected: Mapping[float, float] | None = None) -> str:
        """All checks, some, or none of them."""
        if not self.checks:
            return "not measured"
        passed = self.passed(corrected)
        return (
            "holds"
            if passed == len(self.checks)
            else "holds in part"
            if passed
            else "does not hold"
        )


def holm(p_values: Iterable[float]) -> dict[float, float]:
    """P-values corrected for the number of tests by Holm's method.

    Parameters
    ----------
    p_values : iterable of float
        Of all tests.

    Returns
    -------
    corrected : dict of float to float
        By the value itself; equal ones have equal corrections.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    {0.01: 0.03, 0.03: 0.06, 0.04: 0.06}
    """
    ordered, largest = sorted(p_values), 0.0
    corrected: dict[float, float] = {}
    for place, p in enumerate(ordered):
        largest = max(largest, min(1.0, (len(ordered) - place) * p))
        corrected.setdefault(p, largest)  # of equals the first, whose correction is the strictest
    return corrected


Check = Callable[[pd.DataFrame], Finding]


def pick(results: pd.DataFrame, **where: object) -> pd.DataFrame:
    """The results with these values in these columns."""
    for column, value in where.items():
        results = results[results[column] == value]
    return results


def by_seed(rows: pd.DataFrame, column: str) -> "pd.Series[float]":
    """The mean of each realisation, which counts once: its numbers of labels share rows."""
    return rows.groupby("seed")[column].mean()


def less(one: "pd.Series[float]", other: "pd.Series[float]") -> tuple[float, float, float]:
    """Means over common realisations, and the p-value of the first being less.

    The test is Wilcoxon's, paired and one-sided. All are NaN where the realisations shared are too
    few for any p-value below `LEVEL`.
    """
    pairs = pd.concat([one, other], axis=1, keys=["one", "other"]).dropna()
    if len(pairs) < FEWEST:
        return np.nan, np.nan, np.nan
    difference = pairs["one"] - pairs["other"]
    p = float(wilcoxon(difference, alternative="less").pvalue) if (difference != 0).any() else 1.0
    return float(pairs["one"].mean()), float(pairs["other"].mean()), p


def compare(
    results: pd.DataFrame, study: str, dataset: str, one: str, other: str, error: str
) -> tuple[float, float, float]:
    """`less` for the errors of two methods, over the runs that both have."""
    runs = pick(results, study=study, dataset=dataset).assign(
        setting=lambda r: r["setting"].fillna(-1.0)
    )
    table = runs.pivot_table(index=["labels", "setting", "seed"], columns="method", values=error)
    pairs = table.reindex(columns=[one, other]).dropna().groupby(level="seed").mean()
    return less(pairs[one], pairs[other])


def gains(
    results: pd.DataFrame,
    study: str,
    dataset: str,
    error: str,
    other: str = "RED-SVM",
    by: str = "seed",
) -> "pd.Series[float]":
    """How far TOR's error is below that of another method, per realisation or number of labels."""
    runs = pick(results, study=study, dataset=dataset)
    table = runs.pivot_table(index=["labels", "seed"], columns="method", values=error)
    pairs = table.reindex(columns=["TOR", other]).dropna().groupby(level=by).mean()
    return pairs[other] - pairs["TOR"]


def swapped(results: pd.DataFrame, study: str) -> pd.DataFrame:
    """TOR's runs, with the decrease of both errors since its initialisation."""
    rows = pick(results, study=study, method="TOR")
    return rows.assign(**{f"gain_{e}": rows[f"initial_{e}"] - rows[e] for e in BOTH})

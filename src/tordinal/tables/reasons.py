"""Why rows are rated as they are: columns that matter, words that count, reasons of single rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import spearmanr

from tordinal.tables.importance import column_importance
from tordinal.tables.results import Rating
from tordinal.tables.surrogate import Surrogate, fit_surrogate
from tordinal.tables.table import cell_text
from tordinal.tables.values import short_number, visible
from tordinal.tables.vectors import owner_of

__all__ = ["Reasons"]

Array = NDArray[np.float64]
Index = NDArray[np.int64]

AGREES = 0.3  # share of the variance from which the additive model is shown
MOST_WORDS = 12  # that raise, and that lower ratings
MOST_REASONS = 3  # of a row, in one cell
LEAST = 0.05  # steps that count as a reason
MONOTONE = 0.7  # rank correlation from which a number has a direction
LONGEST = 30  # characters of a cell that are shown


@dataclass
class Reasons:
    """Why rows are rated as they are, computed when needed.

    Effects are those of an additive model that is fitted to the predictions, with one effect per
    word and per value of a column; `agreement` says how well it follows them.

    Attributes
    ----------
    rating : Rating
        A rated table.
    table : mapping of str to sequence
        Cells by column.
    seed : int
        Seed of everything random.

    Examples
    --------
    >>> import pandas as pd
    >>> from tordinal import rate_table
    >>> from tordinal.datasets import make_reviews
    >>> texts, stars = make_reviews(300, random_state=0)
    >>> reviews = pd.DataFrame({"review": texts, "stars": stars}).astype({"stars": "Int64"})
    >>> reviews.loc[100:, "stars"] = pd.NA
    >>> reasons = rate_table(reviews, "stars", quick=True).reasons
    >>> reasons.agreement > 0.5
    True
    >>> "horrible" in reasons.words["term"].head(5).tolist()
    True
    """

    rating: Rating
    table: Mapping[str, Sequence[Any]]
    seed: int = 0

    @cached_property
    def columns(self) -> pd.DataFrame:
        """How much each column matters, the most important first.

        `rise` is how much larger the mean absolute error is on ratings that the model has not seen
        where the cells of the column are those of other rows, `margin` half the width of its 95 %
        interval; it is `clear` where the interval is above 0. Then `direction` is "up" where a
        larger number means a higher rating, and "down" where it means a lower one.
        """
        frame, ways = column_importance(self.rating, self.seed), self._directions()
        return frame.assign(
            direction=[
                ways.get(name, "") if clear else ""
                for name, clear in zip(frame["column"], frame["clear"], strict=True)
            ]
        )

    @cached_property
    def surrogate(self) -> Surrogate | None:
        """The additive model; None where all predictions are the same, or there are few rows."""
        p = self.rating.probability
        expected = p @ np.arange(p.shape[1])
        return fit_surrogate(
            self.table, self.rating.X, self.rating.model.encoder, expected, self.seed
        )

    @property
    def agreement(self) -> float:
        """Share of the variance of the predictions that the additive model explains (R squared).

        It is that of rows that the model was not fitted to.
        """
        return 0.0 if self.surrogate is None else self.surrogate.agreement

    @property
    def agrees(self) -> bool:
        """Whether effects can be shown: the additive model follows the predictions."""
        return self.agreement >= AGREES

    @cached_property
    def words(self) -> pd.DataFrame:
        """Words, phrases and values of categories with the largest effects, lowest first.

        `effect` is by how many steps rows with it are rated higher than rows without it that are
        equal otherwise; `rows` is in how many of them it is. Effects below a twentieth of a step
        are not listed. Empty unless the additive model agrees with the predictions.
        """
        names = ["column", "term", "effect", "rows"]
        surrogate = self.surrogate
        if surrogate is None or not self.agrees:
            return pd.DataFrame(columns=names)
        n_rows = len(self.rating.rank)
        labels = self._labels(surrogate)
        impact = np.abs(surrogate.coef) * surrogate.deviation
        taken: dict[tuple[str, bool], set[str]] = {}
        count, found = {True: 0, False: 0}, []
        for j in np.argsort(-impact, kind="stable"):
            up = bool(surrogate.coef[j] > 0)
            column, term, tokens = labels[j]
            small = impact[j] < 1e-6 or abs(surrogate.coef[j]) < LEAST
            if not term or count[up] == MOST_WORDS or small:
                continue
            if taken.setdefault((column, up), set()).intersection(tokens):
                continue  # "awful", and not "awful story", too
            taken[column, up].update(tokens)
            count[up] += 1
            share = float(surrogate.mean[j])
            found.append((column, term, float(surrogate.coef[j]), round(share * n_rows)))
        frame = pd.DataFrame(found, columns=names)
        return frame.sort_values("effect", kind="stable", ignore_index=True)

    def _labels(self, surrogate: Surrogate) -> list[tuple[str, str, tuple[str, ...]]]:
        """Column, term and stems of each feature; no term for a number."""
        labels = [
            (name, form, tokens)
            for name, terms in surrogate.terms.items()
            for form, tokens in zip(terms.shown, terms.tokens, strict=True)
        ]
        for place, owner in enumerate(surrogate.owners):
            column, value = surrogate.features[owner]
            labels.append((column, value, (f"{place}",)))
        return labels

    def _directions(self) -> dict[str, str]:
        """Columns of numbers in which larger values mean higher, or lower, ratings."""
        surrogate = self.surrogate
        if surrogate is None or not self.agrees:
            return {}
        rows = np.arange(min(len(self.rating.rank), 2000))
        values = self.rating.X[rows][:, surrogate.places]
        values = np.asarray(values.todense() if hasattr(values, "todense") else values)
        _, effects = surrogate.contributions(surrogate.encode(self.table, self.rating.X, rows))
        ways = {}
        for j, (column, value) in enumerate(surrogate.features):
            if not value and np.ptp(values[:, j]) > 0 and np.ptp(effects[:, j]) > LEAST:
                rho = float(spearmanr(values[:, j], effects[:, j]).statistic)
                if abs(rho) > MONOTONE:
                    ways[column] = "up" if rho > 0 else "down"
        return ways

    def effects(self, rows: Sequence[int]) -> list[list[tuple[str, str, float]]]:
        """For each of some rows its reasons, the largest first: column, word or cell, and effect.

        Empty lists unless the additive model agrees with the predictions.
        """
        surrogate, places = self.surrogate, np.asarray(rows, dtype=np.int64)
        if surrogate is None or not self.agrees:
            return [[] for _ in rows]
        words, others = surrogate.contributions(surrogate.encode(self.table, self.rating.X, places))
        labels = self._labels(surrogate)
        owners = [owner_of(column) for column, _ in surrogate.features]
        columns = list(dict.fromkeys(owners))
        owner = np.array([columns.index(name) for name in owners], dtype=int)
        of_columns = np.zeros((len(places), len(columns)))
        np.add.at(of_columns.T, owner, others.T)
        found = []
        for i, row in enumerate(places):
            own = [
                (labels[j], float(effect))
                for j, effect in zip(
                    words.indices[words.indptr[i] : words.indptr[i + 1]],
                    words.data[words.indptr[i] : words.indptr[i + 1]],
                    strict=True,
                )
            ]
            own += [
                ((name, self._cell(name, row), (f"{j}",)), float(of_columns[i, j]))
                for j, name in enumerate(columns)
            ]
            found.append(_largest(own))
        return found

    def _cell(self, name: str, row: int) -> str:
        """A cell as it is shown in a reason."""
        if name not in self.table:  # lists of numbers
            return "(numbers)"
        text = " ".join(cell_text(self.table[name][row]).split()) or "(missing)"
        text = short_number(text)
        return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"

    def explain(self, row: int) -> pd.DataFrame:
        """Why a row is rated as it is.

        Parameters
        ----------
        row : int
            Its place, from 0.

        Returns
        -------
        reasons : DataFrame
            `column`, `what` (a word, or the cell) and `effect` in steps beside the mean row, the
            largest first. Empty unless the additive model agrees with the predictions.
        """
        return pd.DataFrame(self.effects([row])[0], columns=["column", "what", "effect"])

    def sentences(self, rows: Sequence[int]) -> list[str]:
        """The largest reasons of each of some rows, in words for one cell.

        Effects below a twentieth of a step are not named.
        """
        texts = [] if self.surrogate is None else list(self.surrogate.terms)
        return [_sentence(own, texts) for own in self.effects(rows)]


def _largest(own: list[tuple[tuple[str, str, tuple[str, ...]], float]]) -> list[Any]:
    """Reasons by their size; a phrase is dropped if one of its words is there."""
    taken: dict[tuple[str, bool], set[str]] = {}
    kept = []
    for (column, what, tokens), effect in sorted(own, key=lambda reason: -abs(reason[1])):
        same = taken.setdefault((column, effect > 0), set())
        if not same.intersection(tokens):
            same.update(tokens)
            kept.append((column, what, effect))
    return kept


def _sentence(own: list[tuple[str, str, float]], texts: list[str]) -> str:
    """Reasons in words: what makes the rating higher, and what makes it lower."""
    parts: dict[str, list[str]] = {"higher": [], "lower": []}
    for column, what, effect in [r for r in own if abs(r[2]) >= LEAST][:MOST_REASONS]:
        name = what if column in texts and len(texts) == 1 else f"{column} {what}"
        parts["higher" if effect > 0 else "lower"].append(f"{visible(name)} ({abs(effect):.1f})")
    return "; ".join(f"{way}: {', '.join(names)}" for way, names in parts.items() if names)

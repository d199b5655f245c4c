"""Effects of words and columns on predictions: an additive model of the predictions.

The ensemble that rates a table has no coefficients. A ridge regression of its expected ratings on
the words of texts and on the other columns has, and how well the two agree on rows that it was not
fitted to shows how far it can be trusted.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.linear_model import Ridge

from tordinal.distances import Matrix
from tordinal.tables.columns import TableEncoder
from tordinal.tables.terms import Terms

__all__ = ["Surrogate", "fit_surrogate"]

Array = NDArray[np.float64]
Index = NDArray[np.int64]

MOST_ROWS = 5000  # rows that it is fitted to
PENALTIES = (0.3, 3.0, 30.0, 300.0)
BINS = 6  # parts of the range of a number, each with its own effect
MOST_BINNED = 60  # columns of numbers beyond which their effect is linear
FEWEST_ROWS = 20


@dataclass
class Surrogate:
    """An additive model of expected ratings.

    Attributes
    ----------
    terms : dict of str to Terms
        Words of each column of texts.
    features : list of (str, str)
        Column and value of each other feature of the encoder, and where it is.
    agreement : float
        Share of the variance of the predictions that it explains on rows it was not fitted to.
    coef : ndarray
        Effect of each feature, in steps: of the words first, then of the others.
    mean : ndarray
        Mean of each feature.
    """

    terms: dict[str, Terms]
    features: list[tuple[str, str]]
    places: Index
    edges: list[Array]
    agreement: float
    coef: Array
    mean: Array
    deviation: Array

    @property
    def n_words(self) -> int:
        """How many features are words."""
        return sum(len(terms.tokens) for terms in self.terms.values())

    @property
    def owners(self) -> list[int]:
        """For each feature that is no word, its place in `features`."""
        sizes = [1 + (len(edges) + 1 if len(edges) else 0) for edges in self.edges]
        return [place for place, size in enumerate(sizes) for _ in range(size)]

    def encode(self, table: Mapping[str, Sequence[Any]], X: Matrix, rows: Index) -> sp.csr_array:
        """Features of some rows."""
        parts = [
            terms.presence([table[name][i] for i in rows]) for name, terms in self.terms.items()
        ]
        if len(self.places):
            some = X[rows][:, self.places]
            dense = np.asarray(some.todense() if sp.issparse(some) else some, dtype=np.float64)
            parts.append(sp.csr_array(_binned(dense, self.edges)))
        return sp.csr_array(sp.hstack(parts, format="csr"))

    def contributions(self, Z: sp.csr_array) -> tuple[sp.csr_array, Array]:
        """What each word and each other feature of `features` adds to the rating of each row.

        Returns
        -------
        words : CSR array of shape (n_rows, n_words)
            Effects of the words that a row has.
        others : ndarray of shape (n_rows, len(features))
            Effects of the values of other columns, beside the mean over all rows.
        """
        n = self.n_words
        words = Z[:, :n] @ sp.diags_array(self.coef[:n])
        effects = (np.asarray(Z[:, n:].todense()) - self.mean[n:]) * self.coef[n:]
        others = np.zeros((Z.shape[0], len(self.features)))
        np.add.at(others.T, np.array(self.owners, dtype=np.int64), effects.T)
        return sp.csr_array(words), others


def fit_surrogate(
    table: Mapping[str, Sequence[Any]], X: Matrix, encoder: TableEncoder, predicted: Array,
    seed: int = 0,
) -> Surrogate | None:  # fmt: skip
    """Fit the additive model.

    Parameters
    ----------
    table : mapping of str to sequence
        Cells by column.
    X : matrix
        Features of the encoder.
    encoder : TableEncoder
        The fitted encoder.
    predicted : ndarray of shape (n_rows,)
        What is predicted for each row, such as expected ranks.
    seed : int
        Seed of the rows that it is fitted to.

    Returns
    -------
    surrogate : Surrogate or None
        None with fewer than 20 rows, or where all predictions are the same.
    """
    rng = np.random.RandomState(seed)
    rows = rng.permutation(len(predicted))[:MOST_ROWS]
    if len(rows) < FEWEST_ROWS or np.ptp(predicted[rows]) < 1e-9:
        return None
    texts = [c["name"] for c in encoder.plan_ if c["role"] == "text"]
    fewest = 2 + len(rows) // 500
    terms = {name: Terms((table[name][i] for i in rows), fewest) for name in texts}
    names = encoder.get_feature_names_out()
    places = np.array([j for j, (column, _) in enumerate(names) if column not in texts], dtype=int)
    some = X[rows][:, places]
    dense = np.asarray(some.todense() if sp.issparse(some) else some, dtype=np.float64)
    surrogate = Surrogate(
        terms, [names[j] for j in places], places, _edges(dense), 0.0, np.empty(0), np.empty(0),
        np.empty(0),
    )  # fmt: skip
    Z = surrogate.encode(table, X, rows)
    if Z.shape[1] == 0:
        return None
    y = predicted[rows]
    fitted, chosen, tested = np.split(
        np.arange(len(rows)), [len(rows) * 3 // 5, len(rows) * 4 // 5]
    )
    tried = {
        a: _agreement(_ridge(a, Z[fitted], y[fitted]), Z[chosen], y[chosen]) for a in PENALTIES
    }
    penalty = max(tried, key=lambda a: tried[a])
    part = np.concatenate([fitted, chosen])
    surrogate.agreement = _agreement(_ridge(penalty, Z[part], y[part]), Z[tested], y[tested])
    surrogate.coef = _ridge(penalty, Z, y).coef_
    surrogate.mean = np.asarray(Z.mean(axis=0)).ravel()
    square = np.asarray(Z.multiply(Z).mean(axis=0)).ravel()
    surrogate.deviation = np.sqrt(np.maximum(square - surrogate.mean**2, 0.0))
    return surrogate


def _ridge(penalty: float, Z: Any, y: Array) -> Any:
    return Ridge(alpha=penalty, solver="sparse_cg", tol=1e-6).fit(Z, y)


def _agreement(model: Any, Z: Any, y: Array) -> float:
    """Share of the variance that is explained."""
    variance = float(np.sum((y - y.mean()) ** 2))
    return 1.0 - float(np.sum((model.predict(Z) - y) ** 2)) / variance if variance > 0 else 0.0


def _edges(dense: Array) -> list[Array]:
    """Where the bins of each feature begin; none where it has few values, or there are many."""
    empty = np.empty(0)
    if dense.shape[1] > MOST_BINNED:
        return [empty] * dense.shape[1]
    inner = np.linspace(0, 1, BINS + 1)[1:-1]
    found = [np.unique(np.quantile(values, inner)) for values in dense.T]
    return [
        edges if len(np.unique(values)) > 2 else empty
        for edges, values in zip(found, dense.T, strict=True)
    ]


def _binned(dense: Array, edges: list[Array]) -> Array:
    """Each feature, and where it is in bins, a column for each of them."""
    parts = []
    for values, ends in zip(dense.T, edges, strict=True):
        parts.append(values[:, None])
        if len(ends):
            parts.append(np.eye(len(ends) + 1)[np.searchsorted(ends, values, side="right")])
    return np.hstack(parts) if parts else np.empty((len(dense), 0))

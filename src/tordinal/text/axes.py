"""Latent semantic axes of texts, learned from labelled and unlabelled ones."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import ArpackError
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.decomposition import TruncatedSVD
from sklearn.preprocessing import normalize
from sklearn.utils.validation import check_is_fitted

__all__ = ["LatentAxes"]

LONGEST = 20_000  # characters of a text that are used


class LatentAxes(TransformerMixin, BaseEstimator):
    """Project texts on the main axes of all texts (latent semantic analysis), rows of unit length.

    Terms that occur together are near each other on the axes, also terms that are in no labelled
    text: so unlabelled texts help before any model is fitted.

    Parameters
    ----------
    vectorizer : vectorizer
        Counts the terms of a text, such as `TextVectorizer`.
    n_axes : int, default=25
        Number of axes: at most a quarter of the number of texts; 0: none.
    learn_from : int, default=10000
        Largest number of texts that terms and axes are learned from, evenly spaced.

    Attributes
    ----------
    n_axes_ : int
        Number of axes found; 0 if no term is frequent enough.

    See Also
    --------
    TextViews : Words, and axes of phrases and of letters.
    TextVectorizer : Words alone.

    Examples
    --------
    >>> from tordinal.text import LatentAxes, TextVectorizer
    >>> texts = ["good story", "good plot", "dull story", "dull plot"] * 3
    >>> X = LatentAxes(TextVectorizer(), n_axes=2).fit_transform(texts)
    >>> X.shape
    (12, 2)
    """

    def __init__(self, vectorizer: Any, *, n_axes: int = 25, learn_from: int = 10_000):
        self.vectorizer = vectorizer
        self.n_axes = n_axes
        self.learn_from = learn_from

    def fit(self, texts: Iterable[str], y: Any = None) -> "LatentAxes":
        """Learn terms and axes.

        Parameters
        ----------
        texts : iterable of str
            Texts.
        y : None
            Not used.

        Returns
        -------
        self : LatentAxes
            The fitted axes.
        """
        self._learn(list(texts))
        return self

    def fit_transform(self, texts: Iterable[str], y: Any = None) -> NDArray[np.float64]:
        """Learn terms and axes, and project the same texts.

        Parameters
        ----------
        texts : iterable of str
            Texts.
        y : None
            Not used.

        Returns
        -------
        X : ndarray of shape (n_texts, n_axes)
            Their projections.
        """
        texts = list(texts)
        terms = self._learn(texts)
        return self._place(terms) if len(texts) <= self.learn_from else self.transform(texts)

    def transform(self, texts: Iterable[str]) -> NDArray[np.float64]:
        """Project texts.

        Parameters
        ----------
        texts : iterable of str
            Texts.

        Returns
        -------
        X : ndarray of shape (n_texts, n_axes)
            Their projections; all zero for a text without a known term.
        """
        check_is_fitted(self)
        texts = [text[:LONGEST] for text in texts]
        if self.n_axes_ == 0:
            return np.zeros((len(texts), 0))
        return self._place(self.vectorizer_.transform(texts))

    def _learn(self, texts: list[str]) -> Any:
        """Learn from some of the texts; their terms."""
        n = len(texts)
        some = np.linspace(0, n - 1, self.learn_from).astype(int) if n > self.learn_from else None
        texts = [text[:LONGEST] for text in (texts if some is None else [texts[i] for i in some])]
        self.vectorizer_ = clone(self.vectorizer)
        self.n_axes_ = 0
        if self.n_axes == 0:
            return np.zeros((n, 0))
        try:
            terms = self.vectorizer_.fit_transform(texts)
        except ValueError as error:  # scikit-learn's error for an empty vocabulary
            if "vocabulary" not in str(error) and "no terms" not in str(error):
                raise
            return np.zeros((n, 0))
        n_axes = min(self.n_axes, len(texts) // 4, terms.shape[1] - 1)
        if n_axes > 1:  # a single one, scaled to unit length, is constant
            self.n_axes_ = n_axes
            self.svd_ = _main_axes(terms, n_axes)
        return terms

    def _place(self, terms: Any) -> NDArray[np.float64]:
        if self.n_axes_ == 0:
            return np.zeros((terms.shape[0], 0))
        return normalize(self.svd_.transform(terms), copy=False)


def _main_axes(terms: Any, n_axes: int) -> TruncatedSVD:
    """The main axes of rows; with fewer axes than that, Lanczos' method may break down."""
    try:
        return TruncatedSVD(n_axes, algorithm="arpack", random_state=0).fit(terms)
    except ArpackError:
        return TruncatedSVD(n_axes, n_iter=10, n_oversamples=20, random_state=0).fit(terms)

"""Texts in several views at once, for `TORCV` to choose from."""

import itertools
from collections.abc import Iterable, Mapping
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.preprocessing import normalize
from sklearn.utils.validation import check_is_fitted

from tordinal.text.axes import LatentAxes
from tordinal.text.meaning import known_by_name
from tordinal.text.vectorizers import LetterVectorizer, TextVectorizer

__all__ = ["MANY_TEXTS", "TextViews", "views_with_encoder"]

MOST_TERMS = 50_000  # phrases or runs of letters that axes are learned from
MOST_WORDS = 100_000  # words of texts in many places
MANY_TEXTS = 1000  # beyond, a word of a single text carries no information


# Sparse features do not go into a data frame, whatever the output is set to.
class TextViews(TransformerMixin, BaseEstimator, auto_wrap_output_keys=None):  # type: ignore[call-arg]
    """Texts in several views at once: words, and the latent axes of phrases and of letters.

    Words are tf-idf of stems (`TextVectorizer`). Phrases are single stems and pairs of
    neighbouring ones, stop words included ("not good"); letters are runs of four
    within words; both become `LatentAxes`. Each of the three is a row of unit length.
    `views_` names the combinations that `TORCV` may choose from.

    Parameters
    ----------
    n_axes : int, default=25
        Axes of phrases and of letters, each.
    language, stop_words
        As in `ReviewVectorizer`.
    min_df : int or float, default=1
        Least number or share of texts that a word must be in.
    meaning : "wordllama" or object, default=None
        An embedding model: an object with ``encode(texts)`` or ``transform(texts)``, such as a
        sentence encoder. Embeddings are scaled to unit length and are a separate view. "wordllama"
        is the model that ``pip install "tordinal[meaning]"`` installs; nothing is downloaded.

    Attributes
    ----------
    views_ : dict of str to ndarray
        Columns of each view, by its name.

    See Also
    --------
    SentenceEncoder : Texts by a sentence encoder, tuned by the ratings.
    ReviewVectorizer : Words alone, for a pipeline.
    tordinal.TORCV : Chooses among views.

    Examples
    --------
    >>> from tordinal import TORCV
    >>> from tordinal.text import TextViews
    >>> texts = ["good story", "good plot", "fair story", "fair plot", "dull story"] * 8
    >>> texts = TextViews(n_axes=3).fit(texts)
    >>> list(texts.views_)
    ['words', 'words and phrases', 'words, phrases and letters', 'phrases and letters']
    >>> model = TORCV(kernel="linear", views=texts.views_)
    """

    def __init__(
        self,
        *,
        n_axes: int = 25,
        language: str | None = "english",
        stop_words: str | list[str] | None = "english",
        min_df: int | float = 1,
        meaning: Any = None,
    ):
        self.n_axes = n_axes
        self.language = language
        self.stop_words = stop_words
        self.min_df = min_df
        self.meaning = meaning

    def fit(self, texts: Iterable[str], y: Any = None) -> "TextViews":
        """Learn words and axes.

        Parameters
        ----------
        texts : iterable of str
            Texts.
        y : None
            Not used.

        Returns
        -------
        self : TextViews
            The fitted views.
        """
        self.fit_transform(texts)
        return self

    def fit_transform(self, texts: Iterable[str], y: Any = None) -> sp.csr_matrix:
        """Learn words and axes, and encode the same texts.

        Parameters
        ----------
        texts : iterable of str
            Texts.
        y : None
            Not used.

        Returns
        -------
        X : CSR matrix
            Words first, then the axes of phrases, then those of letters.
        """
        texts = list(texts)
        # Rare terms carry no information on other texts; in a small collection most are rare.
        rare = min(3, 1 + len(texts) // 300)
        self.words_ = TextVectorizer(
            language=self.language, stop_words=self.stop_words, min_df=self.min_df
        )
        phrases = TextVectorizer(
            language=self.language, stop_words=None, ngram_range=(1, 2), min_df=rare,
            max_features=MOST_TERMS, sublinear_tf=True,
        )  # fmt: skip
        letters = LetterVectorizer(
            analyzer="char_wb", ngram_range=(4, 4), min_df=rare, max_features=MOST_TERMS,
            sublinear_tf=True,
        )  # fmt: skip
        self.phrases_ = LatentAxes(phrases, n_axes=self.n_axes)
        self.letters_ = LatentAxes(letters, n_axes=self.n_axes)
        parts = [part.fit_transform(texts) for part in self._parts()] + self._embedded(texts)
        self.views_ = _combinations([part.shape[1] for part in parts])
        self.n_meaning_ = parts[3].shape[1] if self.meaning is not None else 0
        return sp.hstack(parts, format="csr")

    def transform(self, texts: Iterable[str]) -> sp.csr_matrix:
        """Encode texts.

        Parameters
        ----------
        texts : iterable of str
            Texts.

        Returns
        -------
        X : CSR matrix
            As of `fit_transform`.
        """
        check_is_fitted(self)
        texts = list(texts)
        parts = [part.transform(texts) for part in self._parts()] + self._embedded(texts)
        return sp.hstack(parts, format="csr")

    def use_words(self, counts: Mapping[str, int], n_texts: int) -> Self:
        """Learn words and their weights from more texts than the axes.

        Parameters
        ----------
        counts : mapping of str to int
            In how many texts each stem is: sums of ``words_.count``.
        n_texts : int
            How many texts there are.

        Returns
        -------
        self : TextViews
            The same views with other words.
        """
        check_is_fitted(self)
        words = clone(self.words_).set_params(
            min_df=2 if n_texts >= MANY_TEXTS else 1, max_features=MOST_WORDS
        )
        self.words_ = words.learn_from_counts(counts, n_texts)
        axes = [self.phrases_.n_axes_, self.letters_.n_axes_]
        embedded = [self.n_meaning_] if self.meaning is not None else []
        self.views_ = _combinations([len(self.words_.vocabulary_), *axes, *embedded])
        return self

    def _embedded(self, texts: list[str]) -> list[NDArray[np.float64]]:
        """The embeddings of the texts, if there is a model for them."""
        if self.meaning is None:
            return []
        known = known_by_name(self.meaning)
        encode = getattr(known, "encode", None) or getattr(known, "transform", None)
        if encode is None:
            raise ValueError(
                f"meaning={self.meaning!r} has neither encode(texts) nor transform(texts), and is "
                "not the name of a known model"
            )
        X = encode(texts)
        X = np.asarray(X.todense() if sp.issparse(X) else X, dtype=np.float64)
        if X.ndim != 2 or len(X) != len(texts) or not np.isfinite(X).all():
            raise ValueError(
                f"meaning must make one finite row of numbers per text, got shape {X.shape} for "
                f"{len(texts)} texts"
            )
        return [normalize(X)]

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Name the features: stems, and numbered axes in brackets.

        Parameters
        ----------
        input_features : None
            Not used.

        Returns
        -------
        names : ndarray of str
            One name per feature.
        """
        check_is_fitted(self)
        axes = [
            f"({name} {i + 1})"
            for name, part in (("phrases", self.phrases_), ("letters", self.letters_))
            for i in range(part.n_axes_)
        ]
        axes += [f"(meaning {i + 1})" for i in range(self.n_meaning_)]
        return np.array([*self.words_.get_feature_names_out(), *axes], dtype=object)

    def _parts(self) -> tuple[TextVectorizer, LatentAxes, LatentAxes]:
        return self.words_, self.phrases_, self.letters_


def _combinations(sizes: list[int]) -> dict[str, NDArray[np.int64]]:
    """Columns of each view of words, phrases and letters."""
    ends = np.cumsum([0, *sizes])
    words, phrases, letters, *meaning = (np.arange(a, b) for a, b in itertools.pairwise(ends))
    views = {"words": words}
    if len(phrases):
        views["words and phrases"] = np.concatenate([words, phrases])
    if len(phrases) and len(letters):
        views["words, phrases and letters"] = np.concatenate([words, phrases, letters])
        views["phrases and letters"] = np.concatenate([phrases, letters])
    if meaning:
        views["meaning"] = meaning[0]
        views["words, phrases, letters and meaning"] = np.arange(ends[-1])
    return views


def views_with_encoder(
    views: Mapping[str, NDArray[np.int64]],
    encoder: NDArray[np.int64],
    others: NDArray[np.int64] | None = None,
    *,
    tuned: bool,
) -> dict[str, NDArray[np.int64]]:
    """Add columns of a sentence encoder to the views of words.

    The projection of a tuned encoder is added to each view, and each view is kept without it, too:
    on long texts words alone may be better. Embeddings of an encoder that is not tuned are a
    separate view, and one with everything else.

    Parameters
    ----------
    views : mapping of str to ndarray
        Columns of the views of words, including the view of all of them.
    encoder : ndarray
        Columns of the encoder.
    others : ndarray, optional
        Columns other than texts, which are in all views.
    tuned : bool
        Whether the encoder is tuned.

    Returns
    -------
    views : dict of str to ndarray
        All views.

    Examples
    --------
    >>> import numpy as np
    >>> views_with_encoder({"words": np.arange(2)}, np.array([2]), tuned=True)
    {'words and encoder': array([0, 1, 2]), 'words': array([0, 1])}
    """
    if tuned:
        joined = {f"{name} and encoder": np.append(at, encoder) for name, at in views.items()}
        return {**joined, **views}
    largest = max(views, key=lambda name: len(views[name]))
    both = np.append(views[largest], encoder)
    alone = encoder if others is None else np.append(others, encoder)
    return {**views, "encoder": alone, f"{largest} and encoder": both}

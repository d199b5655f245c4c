"""Text as vectors: as the paper prepares reviews (section V-D), and in views beyond it."""

import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import ArpackError
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import normalize
from sklearn.utils.validation import check_is_fitted

__all__ = ["LatentAxes", "ReviewVectorizer", "TextVectorizer", "TextViews"]

# Scripts that put no spaces between words: Thai, Lao, Burmese, Khmer, Chinese, Japanese.
UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\U00020000-\U0002fa1f"
)
SMILEYS = r"[:;=][-^']?[)(DP/|]|[\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff]"
LONGEST_RUN = 3  # characters of such scripts that are taken together
LONGEST = 20_000  # characters of a text that its axes are made from
MOST_TERMS = 50_000  # phrases or runs of letters that axes are made of
MOST_WORDS = 100_000  # words of texts that lie in many places
MANY_TEXTS = 1000  # from which a word of a single text says nothing


class _Saved(TfidfVectorizer):
    """A vectorizer whose state is small: its terms as one text, and no address in memory."""

    def __getstate__(self) -> dict[str, Any]:
        """The state; equal models have equal bytes."""
        state = dict(super().__getstate__())
        state.pop("_stop_words_id", None)
        if "vocabulary_" in state:
            terms = sorted(state["vocabulary_"], key=state["vocabulary_"].__getitem__)
            state["vocabulary_"] = "\n".join(terms)  # no term holds a line break
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Make the dictionary of the terms again."""
        terms = state.get("vocabulary_")
        if isinstance(terms, str):
            places = {term: i for i, term in enumerate(terms.split("\n"))}
            state = {**state, "vocabulary_": places}
        super().__setstate__(state)


class LetterVectorizer(_Saved):
    """Texts as tf-idf of runs of letters within words, with the parameters of `TfidfVectorizer`."""


class ReviewVectorizer(_Saved):
    """Texts as tf-idf of stems without stop words, rows of unit length.

    The linear kernel of two rows is then the cosine of two texts.

    Parameters
    ----------
    language : str or None, default="english"
        Language of the Snowball stemmer. None: words stay as they are.
    stop_words : {"english"}, list of str or None, default="english"
        Words to leave out, before stemming.
    ngram_range : tuple of (int, int), default=(1, 1)
        Lengths of the sequences of stems that are counted.
    min_df, max_df : int or float
        Least and largest number (int) or share (float) of texts that a stem must be in.
    max_features : int or None, default=None
        At most so many stems, the most frequent ones.
    sublinear_tf : bool, default=False
        Whether the logarithm of a count takes its place: 1 + log(tf).
    dtype : dtype, default=numpy.float64
        Type of the result.

    Attributes
    ----------
    vocabulary_ : dict of str to int
        Column of each stem.

    Examples
    --------
    >>> from tordinal.text import ReviewVectorizer
    >>> vectorizer = ReviewVectorizer()
    >>> texts = ["A gripping story, I loved it", "Loving the stories", "The cover was torn"]
    >>> X = vectorizer.fit_transform(texts)
    >>> vectorizer.get_feature_names_out()
    array(['cover', 'grip', 'love', 'stori', 'torn'], dtype=object)
    >>> bool((X[0] @ X[1].T).toarray()[0, 0] > 0.7)
    True
    """

    def __init__(
        self,
        *,
        language: str | None = "english",
        stop_words: str | list[str] | None = "english",
        ngram_range: tuple[int, int] = (1, 1),
        min_df: int | float = 1,
        max_df: int | float = 1.0,
        max_features: int | None = None,
        sublinear_tf: bool = False,
        dtype: Any = np.float64,
    ):
        super().__init__(
            stop_words=stop_words,
            ngram_range=ngram_range,
            min_df=min_df,
            max_df=max_df,
            max_features=max_features,
            sublinear_tf=sublinear_tf,
            dtype=dtype,
        )
        self.language = language

    def build_tokenizer(self) -> Callable[[str], list[str]]:
        """Cut a text into stems without the stop words."""
        pattern = re.compile(self.token_pattern)
        stems = _Stems(self.language, [word.lower() for word in super().get_stop_words() or ()])
        return lambda text: [stem for stem in map(stems.__getitem__, pattern.findall(text)) if stem]

    def decode(self, doc: Any) -> str:
        """A text as a string; what is none is refused."""
        if not isinstance(doc, (str, bytes)):
            raise ValueError(
                f"every text must be a string, but one is {doc!r}; put '' where there is none"
            )
        return super().decode(doc)

    def get_stop_words(self) -> None:
        """None: the tokenizer has taken them out before stemming."""
        return None

    def count(self, texts: Iterable[str]) -> Counter[str]:
        """In how many texts each stem is, as `learn_from_counts` takes it.

        Parameters
        ----------
        texts : iterable of str
            Some of the texts.

        Returns
        -------
        counts : Counter
            Numbers of texts; those of several parts may be added up.
        """
        cut = self.build_analyzer()
        return Counter(stem for text in texts for stem in set(cut(text)))

    def learn_from_counts(self, counts: Mapping[str, int], n_texts: int) -> Self:
        """Fit to texts that lie in several places, from how many of them hold each stem.

        The result is that of `fit` on all texts, but that `max_features` keeps the stems that are
        in most texts.

        Parameters
        ----------
        counts : mapping of str to int
            Numbers of texts, from `count`.
        n_texts : int
            How many texts there are.

        Returns
        -------
        self : ReviewVectorizer
            The fitted vectorizer.

        Examples
        --------
        >>> texts = ["A gripping story", "Loving the stories", "The cover was torn"]
        >>> one = ReviewVectorizer()
        >>> counts = one.count(texts[:1]) + one.count(texts[1:])
        >>> one = one.learn_from_counts(counts, len(texts))
        >>> other = ReviewVectorizer().fit(texts)
        >>> one.vocabulary_ == other.vocabulary_, bool((one.idf_ == other.idf_).all())
        (True, True)
        """
        least, most = (
            bound * n_texts if isinstance(bound, float) else bound
            for bound in (self.min_df, self.max_df)
        )
        terms = [term for term, n in counts.items() if least <= n <= most]
        if self.max_features is not None and len(terms) > self.max_features:
            terms = sorted(terms, key=lambda term: (-counts[term], term))[: self.max_features]
        if not terms:
            raise ValueError("no terms remain: the texts hold nothing but stop words")
        self.vocabulary_ = {term: place for place, term in enumerate(sorted(terms))}
        df = np.array([counts[term] for term in self.vocabulary_], dtype=self.dtype)
        self.idf_ = np.log((1.0 + n_texts) / (1.0 + df)) + 1.0
        return self

    def surface_forms(self, texts: Iterable[str]) -> dict[str, str]:
        """For each stem the word that it most often stands for in some texts, to show to people.

        Parameters
        ----------
        texts : iterable of str
            Texts.

        Returns
        -------
        forms : dict of str to str
            The most frequent word of each stem found.

        Examples
        --------
        >>> ReviewVectorizer().surface_forms(["stories, stories and one story"])
        {'stori': 'stories', 'and': 'and', 'one': 'one'}
        """
        pattern, stems = re.compile(self.token_pattern), _Stems(self.language, ())
        counts: dict[str, int] = {}
        for text in texts:
            for word in pattern.findall(text.lower()):
                counts[word] = counts.get(word, 0) + 1
        # The last one written wins: the most frequent, and of equals the first in the alphabet.
        by_frequency = sorted(sorted(counts, reverse=True), key=counts.__getitem__)
        forms = {stems[word]: word for word in by_frequency}
        return {stems[word]: forms[stems[word]] for word in counts}


class TextVectorizer(ReviewVectorizer):
    """Texts of any kind as tf-idf: stems of words, smileys, and characters where no spaces are.

    Words are those of `ReviewVectorizer`. An emoji or a smiley is a word of its own. Of scripts
    that put no spaces between words, runs of one to three characters are counted. The parameters
    are those of `ReviewVectorizer`.

    Examples
    --------
    >>> from tordinal.text import TextVectorizer
    >>> vectorizer = TextVectorizer().fit(["Loved it \U0001f600 :)", "\u597d\u5403"])
    >>> sorted(vectorizer.vocabulary_)
    [':)', 'love', '\u5403', '\u597d', '\u597d\u5403', '\U0001f600']
    """

    def build_tokenizer(self) -> Callable[[str], list[str]]:
        """Cut a text into stems, smileys and runs of characters."""
        words = super().build_tokenizer()
        pattern = re.compile(f"([{UNSPACED}]+)|({SMILEYS})", re.IGNORECASE)

        def tokens(text: str) -> list[str]:
            cut = words(pattern.sub(" ", text))
            for run, smiley in pattern.findall(text):
                cut += [smiley] if smiley else _runs(run)
            return cut

        return tokens


class LatentAxes(TransformerMixin, BaseEstimator):
    """Texts as points on the main axes of all texts, rows of unit length.

    Terms that go together lie near each other on the axes, whether or not a labelled text holds
    them: what the unlabelled texts say about words is used before any model is fitted.

    Parameters
    ----------
    vectorizer : vectorizer
        How a text becomes counts of terms, such as `TextVectorizer`.
    n_axes : int, default=25
        How many axes; at most one for four texts.
    learn_from : int, default=10000
        How many texts, spread evenly over all, terms and axes are learned from at most.

    Attributes
    ----------
    n_axes_ : int
        How many axes there are; none if no term is frequent enough.

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
        """Learn terms and axes, and place the same texts.

        Parameters
        ----------
        texts : iterable of str
            Texts.
        y : None
            Not used.

        Returns
        -------
        X : ndarray of shape (n_texts, n_axes)
            Their places.
        """
        texts = list(texts)
        terms = self._learn(texts)
        return self._place(terms) if len(texts) <= self.learn_from else self.transform(texts)

    def transform(self, texts: Iterable[str]) -> NDArray[np.float64]:
        """Place texts.

        Parameters
        ----------
        texts : iterable of str
            Texts.

        Returns
        -------
        X : ndarray of shape (n_texts, n_axes)
            Their places; all zero for a text without a known term.
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
        try:
            terms = self.vectorizer_.fit_transform(texts)
        except ValueError as error:  # scikit-learn's words for a vocabulary without a term
            if "vocabulary" not in str(error) and "no terms" not in str(error):
                raise
            return np.zeros((n, 0))
        n_axes = min(self.n_axes, len(texts) // 4, terms.shape[1] - 1)
        if n_axes > 1:  # a single one, scaled to unit length, says nothing
            self.n_axes_ = n_axes
            self.svd_ = _main_axes(terms, n_axes)
        return terms

    def _place(self, terms: Any) -> NDArray[np.float64]:
        if self.n_axes_ == 0:
            return np.zeros((terms.shape[0], 0))
        return normalize(self.svd_.transform(terms), copy=False)


def _main_axes(terms: Any, n_axes: int) -> TruncatedSVD:
    """The main axes of rows; where they have fewer than so many, Lanczos' method may break down."""
    try:
        return TruncatedSVD(n_axes, algorithm="arpack", random_state=0).fit(terms)
    except ArpackError:
        return TruncatedSVD(n_axes, n_iter=10, n_oversamples=20, random_state=0).fit(terms)


class TextViews(TransformerMixin, BaseEstimator):
    """Texts in several views at once: words, and the latent axes of phrases and of letters.

    Words are tf-idf of stems (`TextVectorizer`). Phrases are single stems and pairs of
    neighbouring ones with the stop words left in ("not good"), letters are runs of four
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
        Something that knows what texts mean: an object with ``encode(texts)`` or
        ``transform(texts)``, such as a model of sentence embeddings. What it makes of each text is
        scaled to unit length and is a view of its own. "wordllama" is the one that
        ``pip install "tordinal[meaning]"`` brings along; nothing is downloaded when it is used.

    Attributes
    ----------
    views_ : dict of str to ndarray
        Columns of each view, by its name.

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
        # A term of very few texts says nothing of others; in a small collection most are such.
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
        parts = [part.fit_transform(texts) for part in self._parts()] + self._meant(texts)
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
        parts = [part.transform(texts) for part in self._parts()] + self._meant(texts)
        return sp.hstack(parts, format="csr")

    def use_words(self, counts: Mapping[str, int], n_texts: int) -> Self:
        """Take words and their weights from more texts than the axes were learned from.

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
        meant = [self.n_meaning_] if self.meaning is not None else []
        self.views_ = _combinations([len(self.words_.vocabulary_), *axes, *meant])
        return self

    def _meant(self, texts: list[str]) -> list[NDArray[np.float64]]:
        """What the texts mean, where something knows it."""
        if self.meaning is None:
            return []
        known = _wordllama() if self.meaning == "wordllama" else self.meaning
        encode = getattr(known, "encode", None) or getattr(known, "transform", None)
        if encode is None:
            raise ValueError(
                f"meaning={self.meaning!r} is not 'wordllama' and has neither encode(texts) nor "
                "transform(texts)"
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


class _WordLlama:
    """Static embeddings of 256 numbers, which come with the package wordllama."""

    def __init__(self) -> None:
        try:
            import wordllama
        except ModuleNotFoundError:
            raise ModuleNotFoundError(
                "meaning='wordllama' needs a package that is not installed: "
                'pip install "tordinal[meaning]"'
            ) from None
        # It looks for its own files among the downloaded ones alone.
        own = Path(wordllama.__file__).parent
        self._model = wordllama.WordLlama.load(dim=256, cache_dir=own, disable_download=True)

    def encode(self, texts: list[str]) -> NDArray[np.float64]:
        """One row per text; of a text without a word all zero."""
        X = np.array(self._model.embed([text[:LONGEST] for text in texts]), dtype=np.float64)
        X[[not text.strip() for text in texts]] = 0.0
        return X


@lru_cache(maxsize=1)
def _wordllama() -> _WordLlama:
    return _WordLlama()


def _combinations(sizes: list[int]) -> dict[str, NDArray[np.int64]]:
    """Columns of the views of words, phrases and letters; the views that there are."""
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


def _runs(text: str) -> list[str]:
    """All runs of one to three characters."""
    return [
        text[i : i + length]
        for length in range(1, LONGEST_RUN + 1)
        for i in range(len(text) - length + 1)
    ]


def spaced_words(text: str) -> float:
    """How many words a text has, two characters counting as one where no spaces are."""
    unspaced = len(re.findall(f"[{UNSPACED}]", text))
    return len(text.split()) + unspaced / 2


class _Stems(dict[str, str]):
    """The stem of each word, looked up once; empty for stop words."""

    def __init__(self, language: str | None, stop_words: Iterable[str]):
        super().__init__(dict.fromkeys(stop_words, ""))
        self._stem: Callable[[str], str] = _stemmer(language) if language is not None else str

    def __missing__(self, word: str) -> str:
        self[word] = self._stem(word)
        return self[word]


def _stemmer(language: str) -> Callable[[str], str]:
    import Stemmer

    if language not in Stemmer.algorithms():
        known = ", ".join(Stemmer.algorithms())
        raise ValueError(f"language={language!r} has no stemmer: use None or one of {known}")
    return Stemmer.Stemmer(language).stemWord

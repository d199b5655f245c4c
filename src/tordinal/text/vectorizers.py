"""Texts as tf-idf: stems without stop words as in the paper (section V-D), smileys, letters."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Self

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

__all__ = ["LetterVectorizer", "ReviewVectorizer", "TextVectorizer", "spaced_words"]

# Scripts without spaces between words: Thai, Lao, Burmese, Khmer, Chinese, Japanese.
UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\U00020000-\U0002fa1f"
)
SMILEYS = r"[:;=][-^']?[)(DP/|]|[\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff]"
LONGEST_RUN = 3  # longest run of characters of such scripts that is counted


class _Saved(TfidfVectorizer):
    """A vectorizer with a small state: its terms as one text, and no memory addresses."""

    def __getstate__(self) -> dict[str, Any]:
        """The state; equal models have equal bytes."""
        state = dict(super().__getstate__())
        state.pop("_stop_words_id", None)
        if "vocabulary_" in state:
            terms = sorted(state["vocabulary_"], key=state["vocabulary_"].__getitem__)
            state["vocabulary_"] = "\n".join(terms)  # no term contains a line break
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore the dictionary of the terms."""
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
        Language of the Snowball stemmer. None: no stemming.
    stop_words : {"english"}, list of str or None, default="english"
        Words to exclude, before stemming.
    ngram_range : tuple of (int, int), default=(1, 1)
        Lengths of the sequences of stems that are counted.
    min_df, max_df : int or float
        Least and largest number (int) or share (float) of texts that a stem must be in.
    max_features : int or None, default=None
        Largest number of stems; the most frequent ones are kept.
    sublinear_tf : bool, default=False
        Whether to replace counts tf by 1 + log(tf).
    dtype : dtype, default=numpy.float64
        Type of the result.

    Attributes
    ----------
    vocabulary_ : dict of str to int
        Column of each stem.

    See Also
    --------
    TextVectorizer : The same with smileys, and scripts without spaces.
    TextViews : Several views of texts for `TORCV`.

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
        """Split a text into stems without stop words."""
        pattern = re.compile(self.token_pattern)
        stems = _Stems(self.language, [word.lower() for word in super().get_stop_words() or ()])
        return lambda text: [stem for stem in map(stems.__getitem__, pattern.findall(text)) if stem]

    def decode(self, doc: Any) -> str:
        """A text as a string; anything else raises an error."""
        if not isinstance(doc, (str, bytes)):
            raise ValueError(
                f"every text must be a string, but one is {doc!r}; use '' for a missing one"
            )
        return super().decode(doc)

    def get_stop_words(self) -> None:
        """None: the tokenizer has removed them before stemming."""
        return None

    def count(self, texts: Iterable[str]) -> Counter[str]:
        """Count the texts that contain each stem, for `learn_from_counts`.

        Parameters
        ----------
        texts : iterable of str
            Some of the texts.

        Returns
        -------
        counts : Counter
            Numbers of texts; counts of several parts may be added.
        """
        cut = self.build_analyzer()
        return Counter(stem for text in texts for stem in set(cut(text)))

    def learn_from_counts(self, counts: Mapping[str, int], n_texts: int) -> Self:
        """Fit to texts in several places, from the number of texts with each stem.

        The result is that of `fit` on all texts, except that `max_features` keeps the stems that
        are in most texts.

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
            raise ValueError("no terms remain: the texts contain only stop words")
        self.vocabulary_ = {term: place for place, term in enumerate(sorted(terms))}
        df = np.array([counts[term] for term in self.vocabulary_], dtype=self.dtype)
        self.idf_ = np.log((1.0 + n_texts) / (1.0 + df)) + 1.0
        return self

    def surface_forms(self, texts: Iterable[str]) -> dict[str, str]:
        """Find the most frequent word of each stem, to show to people.

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
    """Texts as tf-idf: stems, smileys, and characters of scripts without spaces.

    Words are those of `ReviewVectorizer`. Emojis and smileys count as words. In
    scripts without spaces between words, runs of one to three characters are counted. Parameters
    are those of `ReviewVectorizer`.

    See Also
    --------
    ReviewVectorizer : The paper's preparation of reviews.
    TextViews : Several views of texts for `TORCV`.

    Examples
    --------
    >>> from tordinal.text import TextVectorizer
    >>> vectorizer = TextVectorizer().fit(["Loved it \U0001f600 :)", "\u597d\u5403"])
    >>> sorted(vectorizer.vocabulary_)
    [':)', 'love', '\u5403', '\u597d', '\u597d\u5403', '\U0001f600']
    """

    def build_tokenizer(self) -> Callable[[str], list[str]]:
        """Split a text into stems, smileys and runs of characters."""
        words = super().build_tokenizer()
        pattern = re.compile(f"([{UNSPACED}]+)|({SMILEYS})", re.IGNORECASE)

        def tokens(text: str) -> list[str]:
            cut = words(pattern.sub(" ", text))
            for run, smiley in pattern.findall(text):
                cut += [smiley] if smiley else _runs(run)
            return cut

        return tokens


def _runs(text: str) -> list[str]:
    """All runs of one to three characters."""
    return [
        text[i : i + length]
        for length in range(1, LONGEST_RUN + 1)
        for i in range(len(text) - length + 1)
    ]


def spaced_words(text: str) -> float:
    """Number of words of a text; in scripts without spaces two characters count as one."""
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

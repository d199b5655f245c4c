"""Text as vectors, the way the paper prepares reviews (section V-D)."""

import re
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

__all__ = ["ReviewVectorizer", "TextVectorizer"]

# Scripts that put no spaces between words: Thai, Lao, Burmese, Khmer, Chinese, Japanese.
UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\U00020000-\U0002fa1f"
)
SMILEYS = r"[:;=][-^']?[)(DP/|]|[\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff]"
LONGEST_RUN = 3  # characters of such scripts that are taken together


class ReviewVectorizer(TfidfVectorizer):
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
        dtype: Any = np.float64,
    ):
        super().__init__(
            stop_words=stop_words,
            ngram_range=ngram_range,
            min_df=min_df,
            max_df=max_df,
            max_features=max_features,
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

    def __getstate__(self) -> dict[str, Any]:
        """The state without an address in memory, so that equal models have equal bytes."""
        state = super().__getstate__()
        state.pop("_stop_words_id", None)
        return state

    def get_stop_words(self) -> None:
        """None: the tokenizer has taken them out before stemming."""
        return None

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

"""Words and phrases of texts: counted by their stems, shown as they are written."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from tordinal.tables.values import is_missing
from tordinal.text import TextVectorizer
from tordinal.text.vectorizers import UNSPACED

__all__ = ["Terms"]

# Words that turn or strengthen the next one: with it they are a phrase.
TURNING = {
    *("not", "no", "never", "nor", "without", "hardly", "cannot", "nothing", "very", "too"),
    *("less", "more", "most", "least", "only"),
}
STOP_WORDS = ENGLISH_STOP_WORDS - TURNING
NOT = re.compile(r"(?<=n)['\u2019](?=t\b)", re.IGNORECASE)  # don't, which is one word
ENDING = re.compile(r"(?<=\w)['\u2019](?:ve|ll|re|d|s|m)\b", re.IGNORECASE)  # I've, it's
APOSTROPHE = "\u02bc"  # a letter to regular expressions
MOST_TERMS = 20_000


class Terms:
    """The words and phrases of a column of texts.

    A phrase is two neighbouring words; neither is a stop word. Words with the same stem are
    one term, which is shown as its most frequent form.

    Parameters
    ----------
    cells : iterable
        Texts that the terms are taken from.
    fewest : int
        Texts that a term must be in.

    Attributes
    ----------
    shown : list of str
        Each term as people write it.
    tokens : list of tuple of str
        The stems that it consists of.

    Examples
    --------
    >>> terms = Terms(["A good story", "good stories", "not good, the story"], 2)
    >>> terms.shown
    ['good', 'good stories', 'story']
    >>> terms.presence(["bad story"]).toarray().tolist()
    [[0.0, 0.0, 1.0]]
    """

    def __init__(self, cells: Iterable[Any], fewest: int):
        self._cut = TextVectorizer(language=None, stop_words=None).build_analyzer()
        self._stems = TextVectorizer(stop_words=None).build_tokenizer()
        self._known: dict[str, str] = {}
        texts, forms = Counter[tuple[str, ...]](), dict[tuple[str, ...], Counter[str]]()
        for cell in cells:
            found = self._found(cell)
            texts.update(found.keys())
            for term, form in found.items():
                forms.setdefault(term, Counter())[form] += 1
        kept = sorted(term for term, n in texts.items() if n >= fewest)
        if len(kept) > MOST_TERMS:
            kept = sorted(sorted(kept, key=lambda term: -texts[term])[:MOST_TERMS])
        self.tokens = kept
        # The most frequent form, and of equals the first in the alphabet.
        self.shown = [min(forms[t].items(), key=lambda item: (-item[1], item[0]))[0] for t in kept]
        self._place = {term: j for j, term in enumerate(kept)}

    def presence(self, cells: Sequence[Any]) -> sp.csr_array:
        """Which terms each text has: a row of zeros and ones."""
        places = [
            sorted(self._place[term] for term in self._found(cell) if term in self._place)
            for cell in cells
        ]
        ends = np.cumsum([0, *map(len, places)])
        indices: NDArray[np.int64] = np.array([j for row in places for j in row], dtype=np.int64)
        return sp.csr_array(
            (np.ones(len(indices)), indices, ends), shape=(len(places), len(self.tokens))
        )

    def _found(self, cell: Any) -> dict[tuple[str, ...], str]:
        """The terms of a text, each with the form that it first has there."""
        text = "" if is_missing(cell) else ENDING.sub("", NOT.sub(APOSTROPHE, str(cell)))
        words = [word.replace(APOSTROPHE, "'") for word in self._cut(text)]
        found: dict[tuple[str, ...], str] = {}
        previous = ""
        for word in words:
            stop = word in STOP_WORDS
            if not stop and word not in TURNING and not word.endswith("n't"):
                found.setdefault((self._stem(word),), word)
                if previous:
                    term = (self._stem(previous), self._stem(word))
                    found.setdefault(term, f"{previous} {word}")
            previous = "" if stop or re.search(f"[{UNSPACED}]", word) else word
        return found

    def _stem(self, word: str) -> str:
        if word not in self._known:
            stems = self._stems(word)
            self._known[word] = stems[0] if len(stems) == 1 else word
        return self._known[word]

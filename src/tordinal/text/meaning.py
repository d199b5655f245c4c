"""Embeddings of texts that come with a package and are never downloaded."""

from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["WordLlama", "known_by_name"]

LONGEST = 20_000  # characters of a text that are read


def known_by_name(meaning: Any) -> Any:
    """Resolve an embedding model that is given by its name."""
    return _wordllama() if isinstance(meaning, str) and meaning == "wordllama" else meaning


class WordLlama:
    """Static embeddings of 256 numbers, which come with the package wordllama."""

    def __init__(self) -> None:
        try:
            import wordllama
        except ModuleNotFoundError:
            raise ModuleNotFoundError(
                "meaning='wordllama' needs a package that is not installed: "
                'pip install "tordinal[meaning]"'
            ) from None
        # It searches its files only among downloaded ones.
        own = Path(wordllama.__file__).parent
        self._model = wordllama.WordLlama.load(dim=256, cache_dir=own, disable_download=True)

    def encode(self, texts: list[str]) -> NDArray[np.float64]:
        """One row per text; of a text without a word all zero."""
        X = np.array(self._model.embed([text[:LONGEST] for text in texts]), dtype=np.float64)
        X[[not text.strip() for text in texts]] = 0.0
        return X


@lru_cache(maxsize=1)
def _wordllama() -> WordLlama:
    return WordLlama()

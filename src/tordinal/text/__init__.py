"""Text as vectors: as the paper prepares reviews (section V-D), and in views beyond it."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tordinal.text.axes import LatentAxes
from tordinal.text.vectorizers import ReviewVectorizer, TextVectorizer
from tordinal.text.views import TextViews

if TYPE_CHECKING:
    from tordinal.text.encoder import SentenceEncoder

__all__ = ["LatentAxes", "ReviewVectorizer", "SentenceEncoder", "TextVectorizer", "TextViews"]


def __getattr__(name: str) -> Any:
    if name == "SentenceEncoder":
        return import_module("tordinal.text.encoder").SentenceEncoder
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

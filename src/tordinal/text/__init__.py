"""Text as vectors: as the paper prepares reviews (section V-D), and in views beyond it."""

from tordinal.text.axes import LatentAxes
from tordinal.text.vectorizers import ReviewVectorizer, TextVectorizer
from tordinal.text.views import TextViews

__all__ = ["LatentAxes", "ReviewVectorizer", "TextVectorizer", "TextViews"]

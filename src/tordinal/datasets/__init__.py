"""Data: Algorithm 3's clusters, made-up reviews, and ranks from numbers."""

from tordinal.datasets._quantize import quantize
from tordinal.datasets._reviews import make_reviews
from tordinal.datasets._synthetic import make_ordinal_clusters

__all__ = ["make_ordinal_clusters", "make_reviews", "quantize"]

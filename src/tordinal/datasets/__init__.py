"""Data: Algorithm 3's generator, and ranks from a number."""

from tordinal.datasets._quantize import quantize
from tordinal.datasets._synthetic import make_ordinal_clusters

__all__ = ["make_ordinal_clusters", "quantize"]

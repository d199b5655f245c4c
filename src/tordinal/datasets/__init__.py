"""Data: the paper's datasets, Algorithm 3's clusters, made-up reviews, and ranks from numbers."""

from tordinal.datasets._amazon import fetch_amazon_reviews
from tordinal.datasets._benchmark import fetch_abalone, fetch_bank, fetch_california, fetch_census
from tordinal.datasets._quantize import quantize
from tordinal.datasets._reviews import make_reviews
from tordinal.datasets._synthetic import make_ordinal_clusters

__all__ = [
    "fetch_abalone",
    "fetch_amazon_reviews",
    "fetch_bank",
    "fetch_california",
    "fetch_census",
    "make_ordinal_clusters",
    "make_reviews",
    "quantize",
]

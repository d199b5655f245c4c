"""Which rows to rate next, and estimates for all rows from these ratings."""

from tordinal.active.base import Strategy
from tordinal.active.coverage import Coverage
from tordinal.active.entropy import Entropy
from tordinal.active.error_reduction import ExpectedErrorReduction
from tordinal.active.estimates import ErrorEstimate, estimate_error, lure_weights
from tordinal.active.expected_cost import ExpectedCost
from tordinal.active.expected_error import ExpectedError
from tordinal.active.least_confidence import LeastConfidence
from tordinal.active.mixture import Mixture
from tordinal.active.random import Random

__all__ = [
    "Coverage",
    "Entropy",
    "ErrorEstimate",
    "ExpectedCost",
    "ExpectedError",
    "ExpectedErrorReduction",
    "LeastConfidence",
    "Mixture",
    "Random",
    "Strategy",
    "estimate_error",
    "lure_weights",
]

"""Averages and shares of a whole table, with confidence intervals: prediction-powered inference.

Predictions for all rows give an estimate, and rated rows that were not used to make their own
prediction correct it. The intervals hold whatever the model is worth if the rated rows are a random
sample of the table, or were chosen with known probabilities. docs/mathematics.md
has the derivation.
"""

from tordinal.inference.cross_fitting import cross_fitted_proba
from tordinal.inference.estimates import (
    Estimate,
    TableEstimates,
    estimate_mean,
    estimate_share_at_least,
    estimate_shares,
    estimate_table,
)
from tordinal.inference.groups import estimate_by_group
from tordinal.inference.representative import (
    Representativeness,
    check_representative,
    selection_probabilities,
)

__all__ = [
    "Estimate",
    "Representativeness",
    "TableEstimates",
    "check_representative",
    "cross_fitted_proba",
    "estimate_by_group",
    "estimate_mean",
    "estimate_share_at_least",
    "estimate_shares",
    "estimate_table",
    "selection_probabilities",
]

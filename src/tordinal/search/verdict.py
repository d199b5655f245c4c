"""What a search says about itself: a table of results, and one line."""

from typing import Any

import numpy as np

from tordinal.search.promise import Promise
from tordinal.search.search import Search
from tordinal.search.trials import Trial

__all__ = ["results", "verdict"]


def results(search: Search, trials: list[Trial]) -> dict[str, Any]:
    """`cv_results_`."""
    estimates = np.array([search.estimate(t) for t in trials])
    dropped = np.array([t.dropped for t in trials])
    order = np.where(np.isfinite(estimates) & ~dropped, -estimates, np.inf)
    table: dict[str, Any] = {
        "params": [t.candidate.params for t in trials],
        "transductive": np.array([t.candidate.transductive for t in trials]),
        "view": np.array([t.candidate.view for t in trials], dtype=object),
        "mean_test_score": np.where(np.isfinite(estimates), estimates, np.nan),
        "std_test_score": np.array([np.std(list(t.scores.values())) for t in trials]),
        "rank_test_score": 1 + np.searchsorted(np.sort(order), order),
        "dropped": dropped,
    }
    for k in range(search.n_splits):
        table[f"split{k}_test_score"] = np.array([t.scores.get(k, np.nan) for t in trials])
    return table


def verdict(search: Search, promised: Promise) -> str:
    """Whether transduction helps, in one line."""
    setup = f"({search.n_splits}-fold, {len(search.labeled)} labels)"
    by_error = search.scorer is None
    name = "MAE" if by_error else "score"
    said = {kind: e[1] for kind, e in promised.errors.items()} if by_error else promised.scores
    plain, with_rest = said["supervised"], said.get("transductive")
    if with_rest is None:
        return f"supervised only: {name} {plain:.2f} {setup}"
    better = with_rest < plain if by_error else with_rest > plain
    helps = "helps here" if better else "does not help here"
    return f"transduction {helps}: {name} {with_rest:.2f} against {plain:.2f} supervised {setup}"

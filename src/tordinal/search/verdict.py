"""The results of a search: a table, and a summary in one line."""

from typing import Any

import numpy as np

from tordinal.search.data import SearchData
from tordinal.search.ensemble import Comparison
from tordinal.search.estimate import EstimatedErrors
from tordinal.search.trials import Trial

__all__ = ["results", "verdict"]


def results(data: SearchData, trials: list[Trial]) -> dict[str, Any]:
    """`cv_results_`."""
    comparison = Comparison(data, trials)
    estimates = np.array([comparison.estimate(t) for t in trials])
    dropped = np.array([t.dropped for t in trials])
    order = np.where(np.isfinite(estimates) & ~dropped, -estimates, np.inf)
    table: dict[str, Any] = {
        "params": [t.candidate.params for t in trials],
        "transductive": np.array([t.candidate.transductive for t in trials]),
        "view": np.array([t.candidate.view for t in trials], dtype=object),
        "mean_test_score": np.where(np.isfinite(estimates), estimates, np.nan),
        "std_test_score": np.array(
            [np.std(list(t.scores.values())) if t.scores else np.nan for t in trials]
        ),
        "rank_test_score": 1 + np.searchsorted(np.sort(order), order),
        "dropped": dropped,
    }
    for k in range(data.n_splits):
        table[f"split{k}_test_score"] = np.array([t.scores.get(k, np.nan) for t in trials])
    return table


def verdict(data: SearchData, estimated: EstimatedErrors) -> str:
    """Whether transduction helps, in one line."""
    setup = f"({data.n_splits}-fold, {len(data.labeled)} labels)"
    by_error = data.config.scoring.scorer is None
    name = "MAE" if by_error else "score"
    values = {k: e[1] for k, e in estimated.errors.items()} if by_error else estimated.scores
    supervised, transductive = values["supervised"], values.get("transductive")
    if transductive is None:
        return f"supervised only: {name} {supervised:.2f} {setup}"
    better = transductive < supervised if by_error else transductive > supervised
    helps = "helps here" if better else "does not help here"
    return (
        f"transduction {helps}: {name} {transductive:.2f} against {supervised:.2f} supervised "
        f"{setup}"
    )

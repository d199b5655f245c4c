"""What a search says about itself: a table of results, errors side by side, and one line."""

from typing import Any

import numpy as np

from tordinal.search.search import Search
from tordinal.search.trials import Trial

__all__ = ["errors", "results", "verdict"]


def results(search: Search, trials: list[Trial]) -> dict[str, Any]:
    """`cv_results_`."""
    estimates = np.array([search.estimate(t) for t in trials])
    dropped = np.array([t.dropped for t in trials])
    order = np.where(np.isfinite(estimates) & ~dropped, -estimates, np.inf)
    table: dict[str, Any] = {
        "params": [t.candidate.params for t in trials],
        "transductive": np.array([t.candidate.transductive for t in trials]),
        "mean_test_score": np.where(np.isfinite(estimates), estimates, np.nan),
        "std_test_score": np.array([np.std(list(t.scores.values())) for t in trials]),
        "rank_test_score": 1 + np.searchsorted(np.sort(order), order),
        "dropped": dropped,
    }
    for k in range(search.n_splits):
        table[f"split{k}_test_score"] = np.array([t.scores.get(k, np.nan) for t in trials])
    return table


def errors(
    search: Search, trials: list[Trial], chosen: list[Trial]
) -> dict[str, tuple[float, float]]:
    """Zero-one and absolute error of held-out rows: by the committee and the best of each kind."""
    answers = {"this model": search.committee_labels(chosen)}
    for name, transductive in (("supervised", False), ("transductive", True)):
        kind = [t for t in trials if t.candidate.transductive == transductive and not t.dropped]
        whole = [t for t in kind if search.estimate(t) > -np.inf]
        if whole:
            answers[name] = search.committee_labels([max(whole, key=search.estimate)])
    table = {}
    for name, (rows, labels) in answers.items():
        distance = np.abs(search.rank[rows] - labels)
        table[name] = (float(np.mean(distance > 0)), float(np.mean(distance)))
    return table


def verdict(search: Search, trials: list[Trial]) -> str:
    """Whether transduction helps, in one line."""
    setup = f"({search.n_splits}-fold, {len(search.labeled)} labels)"
    name, sign = ("MAE", -1.0) if search.scorer is None else ("score", 1.0)
    plain = [search.estimate(t) for t in trials if not t.candidate.transductive]
    with_rest = [search.estimate(t) for t in trials if t.candidate.transductive and not t.dropped]
    best = max(plain, default=-np.inf)
    if not with_rest:
        return f"supervised only: {name} {sign * best:.2f} {setup}"
    helps = "helps here" if max(with_rest) > best else "does not help here"
    return (
        f"transduction {helps}: {name} {sign * max(with_rest) + 0:.2f} against "
        f"{sign * best + 0:.2f} supervised {setup}"
    )

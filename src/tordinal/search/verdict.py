"""The results of a search: a table, and a summary in one line."""

from typing import Any

import numpy as np

from tordinal.search.data import SearchData
from tordinal.search.ensemble import Comparison
from tordinal.search.estimate import EstimatedErrors
from tordinal.search.trials import Trial

__all__ = ["effect", "results", "verdict"]

VISIBLE = 1.64  # standard errors from which a difference is not taken for chance: 90 % confidence


def effect(gain: float, spread: float, n: int) -> int:
    """Return 1 if unlabelled rows help, -1 if they hurt, 0 if the difference may be chance.

    Parameters
    ----------
    gain : float
        How much better the model is with them, on average over n rows or folds.
    spread : float
        Standard deviation of the gain over these.
    n : int
        How many there are.

    Examples
    --------
    >>> effect(0.1, 0.5, 100), effect(0.1, 0.5, 20), effect(-0.2, 0.5, 100)
    (1, 0, -1)
    """
    return 0 if abs(gain) <= VISIBLE * spread / np.sqrt(max(n, 1)) else 1 if gain > 0 else -1


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
    gain = supervised - transductive if by_error else transductive - supervised
    spread = estimated.spread["difference" if by_error else "score difference"]
    n = len(estimated.rows) if by_error else data.n_splits
    words = {1: "helps", 0: "makes no visible difference", -1: "does not help"}
    helps = words[effect(gain, spread, n)]
    return (
        f"transduction {helps} here: {name} {transductive:.2f} against {supervised:.2f} supervised "
        f"{setup}"
    )

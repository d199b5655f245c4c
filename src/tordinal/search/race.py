"""Stage 2: transductive candidates, in a race fold by fold."""

import math
from dataclasses import replace

import numpy as np
from joblib import delayed
from numpy.typing import NDArray

from tordinal.engines.host.gram import Gram
from tordinal.engines.host.rows import Rows
from tordinal.fitting import Budget, Recipe, held_out
from tordinal.parallel import in_order
from tordinal.progress import Progress
from tordinal.reduction import Ranks
from tordinal.search.candidates import Candidate
from tordinal.search.data import SearchData
from tordinal.search.ensemble import Comparison
from tordinal.search.trials import Trial
from tordinal.training_set import TrainingSet

__all__ = ["race"]

Array = NDArray[np.float64]
Index = NDArray[np.int64]

KEPT = (
    0.67,
    0.4,
)  # shares of the transductive candidates that are kept after one fold, and after two
# Limits of solver iterations of a transductive candidate in a fold of the race. One that takes many
# times as long as others is dropped: it would also take as long to fit at the end.
FIRST_STEPS, FIRST_STEPS_A_ROW = 500_000, 200  # in the first fold
TIMES_MEDIAN, LEAST_STEPS = 20.0, 100_000  # in later ones, by the fold before
RACE_TOL = 1e-2  # tolerance in the race
RACE_C2, RACE_SHARE, RACE_FACTOR = 1e-3, 1e-2, 4.0  # its first C2, at most this share of C; factor


def race(
    data: SearchData, supervised: list[Trial], candidates: list[Candidate], progress: Progress
) -> list[Trial]:
    """Cross-validate transductive candidates fold by fold; worse ones are dropped early.

    Parameters
    ----------
    data : SearchData
        The rows.
    supervised : list of Trial
        Trials of the supervised candidates, for comparison.
    candidates : list of Candidate
        Transductive candidates.
    progress : Progress
        Where progress is reported.

    Returns
    -------
    trials : list of Trial
        A trial of each candidate, in the same order.
    """
    comparison = Comparison(data, supervised)
    first = {c.kind: c for c in candidates}
    held = {kind: data.hold(c, data.sampled) for kind, c in first.items()}
    # Fits use the solver's form of the rows instead of X.
    n = len(data.sampled)
    weight = data.fit_weight[data.sampled]
    rows = TrainingSet(None, data.rows.rank[data.sampled], weight, data.rows.n_classes)
    trials = [Trial(c) for c in candidates]
    # How many are in the race in each fold.
    places = [len(trials), *(math.ceil(share * len(trials)) for share in KEPT)]
    places += [places[-1]] * (data.n_splits - len(places))
    alive, done, total = trials, 0, sum(places[: data.n_splits])
    limit: float = FIRST_STEPS + FIRST_STEPS_A_ROW * n
    for k in range(data.n_splits):
        if len(alive) > places[k]:
            alive = sorted(alive, key=lambda t: -comparison.estimate(t))[: places[k]]
        hidden = data.held_out(k)  # labelled rows come first
        results = in_order(
            (
                delayed(_within_budget)(
                    Budget(limit), _coarse(data.recipe(trial.candidate)), rows,
                    held[trial.candidate.kind], hidden, data.memory_share,
                )
                for trial in alive
            ),
            data.config.n_jobs,
        )  # fmt: skip
        spent = []
        for trial, (budget, distances, labels) in zip(alive, results, strict=True):
            data.record(trial, k, distances, labels)
            trial.over_budget |= budget.exceeded
            spent.append(budget.spent)
            done += 1
            progress.part("transductive candidates", done, total)
        alive = [trial for trial in alive if not trial.over_budget]
        limit = max(LEAST_STEPS, TIMES_MEDIAN * float(np.median(spent or [0.0])))
    for trial in trials:
        trial.dropped = trial not in alive
    return trials


def _coarse(recipe: Recipe) -> Recipe:
    """The recipe in the race: larger steps of C2 and a larger tolerance.

    This halves the time and changes held-out ranks less than other folds do.
    """
    start, tol = min(RACE_C2, RACE_SHARE * recipe.C), max(recipe.tol, RACE_TOL)
    return replace(recipe, tol=tol, C2_start=start, C2_factor=RACE_FACTOR, rough=True)


def _within_budget(
    budget: Budget, recipe: Recipe, rows: TrainingSet, data: Gram | Rows, hidden: Index,
    share: float,
) -> tuple[Budget, Array, Ranks]:  # fmt: skip
    """`held_out`, and the share of the budget that it took."""
    return budget, *held_out(
        recipe, rows, data, hidden, transductive=True, share=share, budget=budget
    )

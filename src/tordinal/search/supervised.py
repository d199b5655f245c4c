"""Stage 1: supervised candidates, by repeated cross-validation on the labelled rows."""

import numpy as np
from joblib import delayed
from numpy.typing import NDArray

from tordinal.engines.host.gram import Gram
from tordinal.engines.host.rows import Rows
from tordinal.fitting import Recipe
from tordinal.losses import check_loss, is_smooth
from tordinal.parallel import in_order
from tordinal.progress import Progress
from tordinal.search.candidates import Candidate, Kind
from tordinal.search.data import REPEATS, SearchData
from tordinal.search.ensemble import NEAR_TIE
from tordinal.search.trials import Trial
from tordinal.solvers import Solution, solver_for
from tordinal.training_set import TrainingSet

__all__ = ["best_settings", "cross_validate"]

Array = NDArray[np.float64]
Index = NDArray[np.int64]

SETTINGS = 3  # supervised settings (loss, kernel and its best C) whose variants enter the race
SUPERVISED_STEPS = 200_000  # a setting that takes longer on a few hundred rows is not competitive
AT_BOUND = 0.999  # share of the cost at which a dual variable counts as at its bound


def cross_validate(
    data: SearchData, candidates: list[Candidate], progress: Progress
) -> list[Trial]:
    """Cross-validate supervised candidates; those of one kind share a path of increasing C.

    Parameters
    ----------
    data : SearchData
        The rows.
    candidates : list of Candidate
        Supervised candidates.
    progress : Progress
        Where progress is reported.

    Returns
    -------
    trials : list of Trial
        A trial of each candidate, in the same order.
    """
    groups: dict[Kind, list[Candidate]] = {}
    for candidate in candidates:
        groups.setdefault(candidate.kind, []).append(candidate)
    paths = [sorted(group, key=lambda c: c.C) for group in groups.values()]
    jobs = [
        (split, path, held)
        for path in paths
        for held in [data.hold(path[0], data.labeled)]
        for split in range(REPEATS * data.n_splits)
    ]
    weight = data.fit_weight[data.labeled]
    labeled = TrainingSet(None, data.truth, weight, data.rows.n_classes)
    results = in_order(
        (
            delayed(_supervised_path)(
                data.recipe(path[0]), held, labeled, data.held_out(split), [c.C for c in path],
                data.memory_share,
            )
            for split, path, held in jobs
        ),
        data.config.n_jobs,
    )  # fmt: skip
    trials = {c: Trial(c) for c in candidates}
    for done, ((split, path, _), distances) in enumerate(zip(jobs, results, strict=True)):
        progress.part("supervised candidates", done + 1, len(jobs))
        for candidate, d in zip(path, distances, strict=True):
            data.record(trials[candidate], split, d, (d > 0).sum(axis=1))
    return [trials[c] for c in candidates]


def _supervised_path(
    recipe: Recipe,
    data: Gram | Rows,
    labeled: TrainingSet,
    hidden: Index,
    costs: list[float],
    share: float,
) -> list[Array]:
    """Distances of held-out rows for each C, from the smallest up, each started from the last."""
    solver = solver_for(data, recipe.problem(labeled.n_classes), share)
    weight = labeled.weight.copy()
    weight[hidden] = 0.0
    solution: Solution | None = None
    distances = []
    for C in costs:
        # Once no variable is at its bound a larger C changes nothing.
        u = None if solution is None else solution.u
        if u is None or np.abs(u).max() >= AT_BOUND:
            solution = solver.solve(
                labeled.rank, C * weight, warm=solution, tol=recipe.tol, max_iter=SUPERVISED_STEPS
            )
        assert solution is not None
        distances.append(solution.h[hidden][:, None] - solution.thresholds)
    return distances


def best_settings(trials: list[Trial]) -> list[Candidate]:
    """The best C of each loss and kernel, the best of those first; near-ties to the smaller C."""
    groups: dict[Kind, list[Trial]] = {}
    quick = [t for t in trials if not is_smooth(check_loss(t.candidate.loss))]
    for trial in quick or trials:
        if trial.mean() > -np.inf:
            groups.setdefault(trial.candidate.kind, []).append(trial)
    best = []
    for group in groups.values():
        top = max(group, key=Trial.mean)
        least = top.mean() - NEAR_TIE * top.error(REPEATS)
        near = [t for t in group if t.mean() >= least]
        best.append(min(near, key=lambda t: t.candidate.C))
    return [t.candidate for t in sorted(best, key=lambda t: -t.mean())[:SETTINGS]]

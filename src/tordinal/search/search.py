"""The cross-validation behind `TORCV`: folds, shared kernels, a race of transductive candidates."""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from joblib import delayed, effective_n_jobs
from numpy.typing import NDArray
from sklearn.metrics import get_scorer
from sklearn.utils import check_random_state

from tordinal.distances import Matrix
from tordinal.engines.host.gram import Gram
from tordinal.engines.host.rows import Rows
from tordinal.fitting import Budget, Recipe, held_out
from tordinal.kernels import Kernel
from tordinal.losses import check_loss, is_smooth
from tordinal.metrics import SCORERS
from tordinal.model_selection import deal_folds, take
from tordinal.parallel import in_order
from tordinal.progress import Progress
from tordinal.reduction import UNLABELED, Ranks
from tordinal.search.candidates import Candidate, Kind, Views, options
from tordinal.search.committee import COSTS, diverse, votes
from tordinal.search.trials import HeldOut, Trial, score
from tordinal.solvers import Solution, solver_for
from tordinal.training_set import TrainingSet

__all__ = ["Search", "best_settings"]

Array = NDArray[np.float64]
Index = NDArray[np.int64]

REPEATS = 2  # how often the cheap supervised cross-validation is repeated, with other folds
SETTINGS = 3  # supervised settings (loss, kernel and its best C) whose variants enter the race
KEPT = (0.67, 0.4)  # share of the transductive candidates that go on after one fold, and after two
SUPERVISED_STEPS = 200_000  # a setting that takes longer on a few hundred rows is hopeless
# Solver iterations of a transductive candidate in a fold of the race. One that takes many times
# what the others take is out: it would cost as many times more to fit at the end.
FIRST_STEPS, FIRST_STEPS_A_ROW = 500_000, 200  # in the first fold
TIMES_MEDIAN, LEAST_STEPS = 20.0, 100_000  # in later ones, by the fold before
RACE_TOL = 1e-2  # tolerance in the race
RACE_C2, RACE_SHARE, RACE_FACTOR = 1e-3, 1e-2, 4.0  # its first C2, at most this share of C; factor
CLEARLY = 3.0  # standard errors of a difference from which a candidate is no member
CONVINCING = {"dense": 60, "sparse": 20}  # labels from which a gain by unlabelled rows is believed
NEAR_TIE = 0.25  # standard errors within which the simpler model wins
HITS = ("accuracy", "neg_mean_zero_one_error")  # scorers that ask for the right rank or none
AT_BOUND = 0.999  # share of the cost at which a dual variable counts as at its bound


class Search:
    """The cross-validation behind `TORCV`.

    Parameters
    ----------
    owner : TORCV
        The estimator, for its parameters.
    base : Recipe
        What all candidates have in common.
    X : matrix
        All rows.
    rank : ndarray of shape (n_rows,)
        Their ranks.
    views : dict of str to ndarray
        Columns of each view.
    progress : Progress
        Whom to tell.
    """

    def __init__(
        self, owner: Any, base: Recipe, X: Matrix, rank: Ranks, views: Views, progress: Progress
    ):
        self.owner, self.base, self.X, self.rank = owner, base, X, rank
        self.progress = progress
        self.n_classes = len(owner.classes_)
        self.labeled = np.flatnonzero(rank != UNLABELED)
        rng = check_random_state(owner.random_state)
        self.n_splits = min(owner.cv, _most_splits(rank))
        if self.n_splits < 2:
            raise ValueError(
                "y: to choose, TORCV must hold labels out, and the only label of a class cannot "
                "be. Label more rows, or choose a model yourself and use TOR."
            )
        self.folds = [deal_folds(rank[self.labeled], self.n_splits, rng) for _ in range(REPEATS)]
        unlabeled = np.flatnonzero(rank == UNLABELED)
        if len(unlabeled) > owner.cv_unlabeled:
            unlabeled = np.sort(rng.choice(unlabeled, owner.cv_unlabeled, replace=False))
        self._rng_for_fit = np.random.RandomState(rng.randint(2**31))
        self.rows = np.concatenate([self.labeled, unlabeled])  # labelled rows first
        self.views = views
        self._seen: dict[str | None, Matrix] = {}
        # Errors are counted row by row, so that the rows of a fold can be left out; a scorer of
        # scikit-learn sees a fold as a whole.
        scoring = "both" if owner.scoring is None else owner.scoring
        name = scoring if isinstance(scoring, str) else ""
        self.cost = COSTS.get(name)
        self.decides_by = name if self.cost else "zero_one" if name in HITS else "absolute"
        self.scorer = None if self.cost else _scorer(owner.scoring)
        self.trials: dict[Candidate, Trial] = {}

    def draw_unlabeled(self, most: int) -> Index:
        """All labelled rows and at most so many unlabelled ones, drawn at random, in order."""
        unlabeled = np.flatnonzero(self.rank == UNLABELED)
        if len(unlabeled) > most:
            unlabeled = self._rng_for_fit.choice(unlabeled, most, replace=False)
        return np.sort(np.concatenate([self.labeled, unlabeled]))

    # Stage 1: supervised models, by repeated cross-validation -----------------------------------

    def supervised(self, candidates: list[Candidate]) -> list[Trial]:
        """Cross-validate supervised candidates; those of one kind share a path of rising C."""
        groups: dict[Kind, list[Candidate]] = {}
        for candidate in candidates:
            groups.setdefault(candidate.kind, []).append(candidate)
        self.trials = {c: Trial(c) for c in candidates}
        jobs: list[tuple[int, list[Candidate], Index, Any]] = []
        for group in groups.values():
            path = sorted(group, key=lambda c: c.C)
            data = self._hold(path[0], self.labeled)
            jobs += [
                (repeat * self.n_splits + k, path, np.flatnonzero(fold == k), data)
                for repeat, fold in enumerate(self.folds)
                for k in range(self.n_splits)
            ]
        results = self._parallel(
            delayed(_supervised_path)(
                self._recipe(path[0]), data, self.rank[self.labeled], rows, [c.C for c in path],
                self.n_classes, self._share,
            )
            for _, path, rows, data in jobs
        )  # fmt: skip
        for done, ((split, path, rows, _), distances) in enumerate(zip(jobs, results, strict=True)):
            self.progress.part("supervised candidates", done + 1, len(jobs))
            for candidate, d in zip(path, distances, strict=True):
                self._note(self.trials[candidate], split, rows, d, (d > 0).sum(axis=1))
        return [self.trials[c] for c in candidates]

    # Stage 2: transductive models, in a race ----------------------------------------------------

    def race(self, candidates: list[Candidate]) -> list[Trial]:
        """Cross-validate transductive candidates fold by fold; the worse ones drop out early."""
        first = {c.kind: c for c in candidates}
        data = {kind: self._hold(c, self.rows) for kind, c in first.items()}
        # What is held of the rows stands for them in a fit.
        rows = TrainingSet(None, self.rank[self.rows], np.ones(len(self.rows)), self.n_classes)
        trials = [Trial(c) for c in candidates]
        # How many are in the race in each fold.
        left = [len(trials), *(math.ceil(share * len(trials)) for share in KEPT)]
        left += [left[-1]] * (self.n_splits - len(left))
        alive, done, total = trials, 0, sum(left[: self.n_splits])
        budget: float = FIRST_STEPS + FIRST_STEPS_A_ROW * len(self.rows)
        for k in range(self.n_splits):
            if len(alive) > left[k]:
                alive = sorted(alive, key=lambda t: -self.estimate(t))[: left[k]]
            hidden = np.flatnonzero(self.folds[0] == k)  # labelled rows come first
            results = self._parallel(
                delayed(_within_budget)(
                    Budget(budget), self._quick(trial.candidate), rows,
                    data[trial.candidate.kind], hidden, self._share,
                )
                for trial in alive
            )  # fmt: skip
            spent = []
            for trial, (budget_left, distances, labels) in zip(alive, results, strict=True):
                self._note(trial, k, hidden, distances, labels)
                trial.exhausted |= budget_left.exceeded
                spent.append(budget_left.spent)
                done += 1
                self.progress.part("transductive candidates", done, total)
            alive = [trial for trial in alive if not trial.exhausted]
            budget = max(LEAST_STEPS, TIMES_MEDIAN * float(np.median(spent or [0.0])))
        for trial in trials:
            trial.dropped = trial not in alive
        return trials

    # Scores -------------------------------------------------------------------------------------

    def _note(self, trial: Trial, split: int, rows: Index, distances: Array, labels: Ranks) -> None:
        """Score the held-out rows of one fold, by their place among the labelled ones."""
        truth = self.rank[self.labeled][rows]
        if self.cost is not None:
            trial.scores[split] = -float(np.mean(self.cost(labels - truth)))
        else:
            classes = self.owner.classes_
            answer = HeldOut(self.owner.__sklearn_tags__(), classes, labels, distances)
            trial.scores[split] = score(
                self.scorer, answer, self.X[self.labeled[rows]], classes[truth],
                trial.candidate.params,
            )  # fmt: skip
        trial.labels[split] = labels
        if split < self.n_splits:
            trial.distances[split] = distances

    def estimate(self, trial: Trial, without: int | None = None) -> float:
        """Estimated score of a candidate; where asked for, `without` the rows of a fold.

        Transductive candidates are tried on fewer folds than the supervised ones they extend. What
        counts is the difference on the folds they share, added to the supervised score over all
        repeats.
        """
        base = self.trials.get(trial.candidate.setting)
        if not trial.candidate.transductive or base is None:
            return self._mean(trial, list(trial.scores), without)
        shared = [split for split in trial.scores if split in base.scores]
        return (
            self._mean(base, list(base.scores), without)
            + self._mean(trial, shared, without)
            - self._mean(base, shared, without)
        )

    def _mean(self, trial: Trial, splits: list[int], without: int | None) -> float:
        """Mean score of some folds, of all repeats, without the rows of one fold of the first."""
        if without is None:
            return trial.mean(splits)
        if self.cost is None:  # a scorer scores folds, not rows, and other repeats hold those rows
            return trial.mean([s for s in splits if s < self.n_splits and s != without])
        rank, off = self.rank[self.labeled], []
        for split in splits:
            rows = self._held(split)
            kept = self.folds[0][rows] != without
            off.append(self.cost(trial.labels[split] - rank[rows])[kept])
        return -float(np.mean(np.concatenate(off)))

    def _held(self, split: int) -> Index:
        """The rows that were held out, by their place among the labelled ones."""
        return np.flatnonzero(self.folds[split // self.n_splits] == split % self.n_splits)

    def best(self, trials: list[Trial], n: int, without: int | None = None) -> list[Trial]:
        """The best candidates; for a single one near-ties go to the simpler model.

        `without` leaves a fold out of the choice.
        """
        estimates = {t: self.estimate(t, without) for t in trials if not t.dropped}
        whole = [t for t, estimate in estimates.items() if estimate > -np.inf]
        order = sorted(
            whole, key=lambda t: (-round(estimates[t], 9), *self._complexity(t.candidate))
        )
        if not order:
            return []
        top = order[0]
        if n > 1:
            return diverse([t for t in order if not self._clearly_worse(t, top, without)], n)
        least = estimates[top] - NEAR_TIE * top.error(REPEATS)
        near = [t for t in order if estimates[t] >= least]
        return [min(near, key=lambda t: self._complexity(t.candidate))]

    def committee(
        self, trials: list[Trial], n: int, without: int | None = None
    ) -> dict[Trial, float]:
        """Who has a say, and with what weight, the weightiest first: the n best candidates.

        With few labels a transductive candidate owes its place to chance as often as not, so those
        who would have been chosen without unlabelled rows keep a part of the say. Of sparse rows,
        which are mostly texts, unlabelled ones help so often that fewer labels convince.
        """
        chosen = self.best(trials, n, without)
        seats = _shares(chosen)
        convincing = CONVINCING["sparse" if sp.issparse(self.X) else "dense"]
        believed = min(1.0, len(self.labeled) / convincing) ** 2
        if n > 1 and believed < 1.0 and any(t.candidate.transductive for t in chosen):
            plain = self.best([t for t in trials if not t.candidate.transductive], n, without)
            seats = {trial: believed * share for trial, share in seats.items()}
            for trial, share in _shares(plain).items():
                seats[trial] = seats.get(trial, 0.0) + (1.0 - believed) * share
        return dict(sorted(seats.items(), key=lambda seat: -seat[1]))

    def _clearly_worse(self, trial: Trial, top: Trial, without: int | None) -> bool:
        """Whether a candidate lost to the best by more than chance does, on the rows of both.

        A vote evens out the chance of a choice among equals, but several bad models outvote a good
        one.
        """
        if self.cost is None:
            shared = [s for s in trial.scores if s in top.scores and s != without]
            lost = np.array([top.scores[s] - trial.scores[s] for s in shared])
        else:
            rank = self.rank[self.labeled]
            shared = [s for s in trial.labels if s in top.labels and s < self.n_splits]
            lost = np.concatenate(
                [
                    self.cost(trial.labels[s] - rank[self._held(s)])
                    - self.cost(top.labels[s] - rank[self._held(s)])
                    for s in shared
                    if s != without
                ]
            )
        return float(lost.mean()) > CLEARLY * float(lost.std()) / np.sqrt(len(lost))

    def _complexity(self, c: Candidate) -> tuple[bool, int, int, float]:
        kernels = [id(k) for k in options(self.owner.kernel)]
        return c.transductive, list(self.views).index(c.view), kernels.index(id(c.kernel)), c.C

    def held_out(self, trial: Trial, without: int | None = None) -> tuple[Array, Ranks, Array]:
        """Distances, ranks and weights of a candidate's held-out rows, for its calibration."""
        splits = [k for k in trial.distances if k != without]
        y = self.rank[self.labeled][np.concatenate([self._held(k) for k in splits])]
        return np.concatenate([trial.distances[k] for k in splits]), y, np.ones(len(y))

    # Fits ---------------------------------------------------------------------------------------

    def kernel_for(self, candidate: Candidate) -> Kernel:
        """The kernel of a candidate, settled once for the search and what is fitted after it."""
        return self._recipe(candidate).kernel_for(self.seen_by(candidate))

    def seen_by(self, candidate: Candidate) -> Matrix:
        """All rows in the view of a candidate."""
        if candidate.view not in self._seen:
            columns = self.views[candidate.view]
            self._seen[candidate.view] = self.X if columns is None else self.X[:, columns]
        return self._seen[candidate.view]

    def _quick(self, candidate: Candidate) -> Recipe:
        """How a candidate is fitted in the race: in larger steps of C2, less exactly.

        That halves the time and changes held-out ranks by less than other folds would.
        """
        recipe = self._recipe(candidate)
        start = min(RACE_C2, RACE_SHARE * recipe.C)
        tol = max(recipe.tol, RACE_TOL)
        return replace(recipe, tol=tol, C2_start=start, C2_factor=RACE_FACTOR, rough=True)

    def _recipe(self, candidate: Candidate) -> Recipe:
        return candidate.recipe(self.base, self.n_classes)

    def _hold(self, candidate: Candidate, rows: Index) -> Gram | Rows:
        pairwise = candidate.kernel == "precomputed"
        X = take(self.seen_by(candidate), rows, rows, pairwise=pairwise)
        return self._recipe(candidate).hold(self.kernel_for(candidate), X, self.n_classes)

    @property
    def _share(self) -> float:
        return 1.0 / effective_n_jobs(self.owner.n_jobs)

    def _parallel(self, jobs: Any) -> Iterator[Any]:
        return in_order(jobs, self.owner.n_jobs)


def _within_budget(
    budget: Budget, recipe: Recipe, rows: TrainingSet, data: Gram | Rows, hidden: Index,
    share: float,
) -> tuple[Budget, Array, Ranks]:  # fmt: skip
    """`held_out`, and how much of the budget it took."""
    return budget, *held_out(
        recipe, rows, data, hidden, transductive=True, share=share, budget=budget
    )


def _supervised_path(
    recipe: Recipe,
    data: Gram | Rows,
    y: Ranks,
    rows: Index,
    costs: list[float],
    n_classes: int,
    share: float,
) -> list[Array]:
    """Distances of held-out rows for each C, from the smallest up, each started from the last."""
    solver = solver_for(data, recipe.problem(n_classes), share)
    weight = np.ones(len(y))
    weight[rows] = 0.0
    solution: Solution | None = None
    distances = []
    for C in costs:
        # Once no variable is at its bound a larger C changes nothing.
        u = None if solution is None else solution.u
        if u is None or np.abs(u).max() >= AT_BOUND:
            solution = solver.solve(
                y, C * weight, warm=solution, tol=recipe.tol, max_iter=SUPERVISED_STEPS
            )
        assert solution is not None
        distances.append(solution.h[rows][:, None] - solution.thresholds)
    return distances


def _shares(members: list[Trial]) -> dict[Trial, float]:
    """The share of each member in the votes."""
    weights = votes(len(members))
    return dict(zip(members, (weights / weights.sum()).tolist(), strict=True))


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


def _scorer(scoring: Any) -> Any:
    """A scorer: one of ours by its name, of scikit-learn by its, or the user's."""
    ours = SCORERS.get(scoring) if isinstance(scoring, str) else None
    return get_scorer(scoring) if ours is None else ours


def _most_splits(rank: Ranks) -> int:
    counts = np.bincount(rank[rank != UNLABELED])
    return int(counts[counts > 1].sum())

"""The cross-validation behind `TORCV`: candidates, folds, shared kernels and scores."""

import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.exceptions import FitFailedWarning
from sklearn.metrics import get_scorer
from sklearn.utils import check_random_state

from tordinal.calibration import identity_calibration
from tordinal.estimators._progress import Progress
from tordinal.estimators.redsvm import REDSVM
from tordinal.estimators.tor import TOR, SolverTrainer, check_class_ratio, resolve_ratio
from tordinal.kernels import Gram, Kernel, LinearFeatures, Matrix, hold_kernel, resolve_gamma
from tordinal.losses import Loss, check_loss, is_smooth
from tordinal.model_selection import deal_folds, take
from tordinal.reduction import UNLABELED, Ranks
from tordinal.solvers import make_solver
from tordinal.transduction import c2_schedule, class_counts, transduce

Array = NDArray[np.float64]
Index = NDArray[np.int64]

REPEATS = 2  # how often the cheap supervised cross-validation is repeated, with other folds
SETTINGS = 3  # supervised settings (loss, kernel and its best C) whose transductive variants enter the race
FIRST_FOLDS = 2  # folds after which the worse half of the transductive candidates drops out
SUPERVISED_STEPS = 200_000  # a setting that takes longer on a few hundred rows is hopeless
NEAR_TIE = 0.25  # standard errors within which the simpler model wins


@dataclass(frozen=True)
class Candidate:
    """One way to rate the rows."""

    C: float
    kernel: Any
    loss: Any
    transductive: bool = False
    class_ratio: Any = "labeled"
    swaps: Any = "single"
    C2_max: Any = None

    @property
    def params(self) -> dict[str, Any]:
        """Parameters of the estimator that this is."""
        shared = {"C": self.C, "kernel": self.kernel, "loss": self.loss}
        if not self.transductive:
            return shared
        return {**shared, "class_ratio": self.class_ratio, "swaps": self.swaps, "C2_max": self.C2_max}

    @property
    def setting(self) -> "Candidate":
        """The supervised candidate that this one extends."""
        return Candidate(self.C, self.kernel, self.loss)


@dataclass(eq=False)
class Trial:
    """What cross-validation found out about a candidate.

    Attributes
    ----------
    scores : dict of int to float
        Score of each fold that was tried, the higher the better.
    distances, labels : dict of int to ndarray
        Distances to thresholds, and predicted ranks, of the held-out rows of the first repeat's folds.
    """

    candidate: Candidate
    scores: dict[int, float] = field(default_factory=dict)
    distances: dict[int, Array] = field(default_factory=dict)
    labels: dict[int, Ranks] = field(default_factory=dict)
    dropped: bool = False

    def mean(self, folds: Sequence[int] | None = None) -> float:
        """Mean score, -inf where the scorer failed."""
        values = [self.scores[f] for f in (self.scores if folds is None else folds)]
        return float(np.mean(values)) if values and np.isfinite(values).all() else -np.inf

    def error(self) -> float:
        """Standard error of the mean score of one pass through the folds."""
        values = list(self.scores.values())
        return float(np.std(values) / np.sqrt(max(len(values) / REPEATS, 2)))


class Search:
    """The cross-validation behind `TORCV`: shared kernel matrices, folds and scores."""

    def __init__(self, owner: Any, X: Matrix, rank: Ranks, progress: Progress):
        self.owner, self.X, self.rank, self.progress = owner, X, rank, progress
        self.n_classes = len(owner.classes_)
        self.labeled = np.flatnonzero(rank != UNLABELED)
        rng = check_random_state(owner.random_state)
        self.n_splits = min(owner.cv, _most_splits(rank))
        if self.n_splits < 2:
            raise ValueError(
                "y: to choose, TORCV must hold labels out, and the only label of a class cannot be. Label more rows, or "
                "choose a model yourself and use TOR."
            )
        self.folds = [deal_folds(rank[self.labeled], self.n_splits, rng) for _ in range(REPEATS)]
        unlabeled = np.flatnonzero(rank == UNLABELED)
        if len(unlabeled) > owner.cv_unlabeled:
            unlabeled = np.sort(rng.choice(unlabeled, owner.cv_unlabeled, replace=False))
        self.rows = np.concatenate([self.labeled, unlabeled])  # labelled rows first
        self.scorer = None if owner.scoring is None else get_scorer(owner.scoring)
        self.trials: dict[Candidate, Trial] = {}

    # Stage 1: supervised models, by repeated cross-validation ---------------------------------------------------

    def supervised(self, candidates: list[Candidate]) -> list[Trial]:
        """Cross-validate supervised candidates; those of one loss and kernel share a path of rising C."""
        groups: dict[tuple[int, int], list[Candidate]] = {}
        for candidate in candidates:
            groups.setdefault(_kind(candidate), []).append(candidate)
        self.trials = {c: Trial(c) for c in candidates}
        jobs: list[tuple[int, list[Candidate], Index, Any, Loss]] = []
        for group in groups.values():
            held_kernel = self._hold(group[0].kernel, group[0].loss, self.labeled)
            loss = check_loss(group[0].loss)
            path = sorted(group, key=lambda c: c.C)
            jobs += [
                (repeat * self.n_splits + k, path, np.flatnonzero(fold == k), held_kernel, loss)
                for repeat, fold in enumerate(self.folds)
                for k in range(self.n_splits)
            ]
        found = self._parallel(
            delayed(_supervised_path)(
                kernel, loss, self.rank[self.labeled], held, [c.C for c in path], self.n_classes - 1, self.owner.tol,
            )
            for _, path, held, kernel, loss in jobs
        )  # fmt: skip
        for done, ((split, path, held, _, _), distances) in enumerate(zip(jobs, found, strict=True)):
            self.progress.part("supervised candidates", done + 1, len(jobs))
            for candidate, d in zip(path, distances, strict=True):
                self._note(self.trials[candidate], split, held, d, (d > 0).sum(axis=1))
        return [self.trials[c] for c in candidates]

    # Stage 2: transductive models, in a race ------------------------------------------------------------------

    def race(self, candidates: list[Candidate]) -> list[Trial]:
        """Cross-validate transductive candidates fold by fold; after a few folds the worse half drops out."""
        kernels = {_kind(c): c for c in candidates}
        held_kernels = {key: self._hold(c.kernel, c.loss, self.rows) for key, c in kernels.items()}
        trials = [Trial(c) for c in candidates]
        alive = trials
        total = len(trials) * FIRST_FOLDS + (len(trials) + 1) // 2 * (self.n_splits - FIRST_FOLDS)
        done = 0
        for stage in (range(min(FIRST_FOLDS, self.n_splits)), range(FIRST_FOLDS, self.n_splits)):
            jobs = [(trial, k) for k in stage for trial in alive]
            found = self._parallel(
                delayed(_transductive_fold)(
                    held_kernels[_kind(trial.candidate)], trial.candidate, self._hidden(k), self.n_classes,
                    np.flatnonzero(self.folds[0] == k), self.owner.tol, self.owner.max_iter,
                )
                for trial, k in jobs
            )  # fmt: skip
            for (trial, k), (distances, labels) in zip(jobs, found, strict=True):
                self._note(trial, k, np.flatnonzero(self.folds[0] == k), distances, labels)
                done += 1
                self.progress.part("transductive candidates", done, total)
            if stage.start == 0 and self.n_splits > FIRST_FOLDS:
                alive = sorted(alive, key=lambda t: -self.estimate(t))[: (len(alive) + 1) // 2]
                for trial in trials:
                    trial.dropped = trial not in alive
        return trials

    def _hidden(self, k: int) -> Ranks:
        """Ranks of the rows in the search with fold k hidden among the unlabelled ones."""
        hidden = self.rank[self.rows].copy()
        hidden[: len(self.labeled)][self.folds[0] == k] = UNLABELED
        return hidden

    # Scores -----------------------------------------------------------------------------------------------------

    def _note(self, trial: Trial, split: int, held: Index, distances: Array, labels: Ranks) -> None:
        """Score the held-out rows of one fold."""
        truth = self.rank[self.labeled][held]
        if self.scorer is None:
            trial.scores[split] = -float(np.mean(np.abs(labels - truth)))
        else:
            rows = self.labeled[held]
            answer = HeldOut(self.owner.classes_, labels, distances)
            try:
                trial.scores[split] = float(self.scorer(answer, self.X[rows], self.owner.classes_[truth]))
            except Exception as error:  # a scorer is the user's: its failure marks the candidate, no more
                warnings.warn(f"scoring failed for {trial.candidate.params}: {error}", FitFailedWarning, stacklevel=2)
                trial.scores[split] = np.nan
        if split < self.n_splits:
            trial.distances[split], trial.labels[split] = distances, labels

    def estimate(self, trial: Trial) -> float:
        """Estimated score of a candidate.

        Transductive candidates are tried on fewer folds than the supervised ones they extend. What counts is the difference on
        the folds they share, added to the supervised score over all repeats.
        """
        base = self.trials.get(trial.candidate.setting)
        if not trial.candidate.transductive or base is None:
            return trial.mean()
        shared = [split for split in trial.scores if split in base.scores]
        return base.mean() + trial.mean(shared) - base.mean(shared)

    def best(self, trials: list[Trial], n: int) -> list[Trial]:
        """The best candidates; for a single one near-ties go to the simpler model."""
        whole = [t for t in trials if not t.dropped and self.estimate(t) > -np.inf]
        order = sorted(whole, key=lambda t: (-round(self.estimate(t), 9), *self._complexity(t.candidate)))
        if not order or n > 1:
            return self._diverse(order, n)
        top = order[0]
        near = [t for t in order if self.estimate(t) >= self.estimate(top) - NEAR_TIE * top.error()]
        return [min(near, key=lambda t: self._complexity(t.candidate))]

    @staticmethod
    def _diverse(order: list[Trial], n: int) -> list[Trial]:
        """The first n, but at most a quarter of them of one kind: candidates that differ only in C agree too much to vote."""
        chosen: list[Trial] = []
        seats = Counter[tuple[int, int, bool]]()
        for trial in order:
            kind = (*_kind(trial.candidate), trial.candidate.transductive)
            if seats[kind] < max(1, n // 4) and len(chosen) < n:
                chosen.append(trial)
                seats[kind] += 1
        return chosen

    def _complexity(self, c: Candidate) -> tuple[bool, int, float]:
        kernels = [id(k) for k in options(self.owner.kernel)]
        return c.transductive, kernels.index(id(c.kernel)), c.C

    def held_out(self, trial: Trial) -> tuple[Array, Ranks, Array]:
        """Distances, ranks and weights of a candidate's held-out rows, for its calibration."""
        order = [np.flatnonzero(self.folds[0] == k) for k in trial.distances]
        y = self.rank[self.labeled][np.concatenate(order)]
        return np.concatenate(list(trial.distances.values())), y, np.ones(len(y))

    def committee_labels(self, chosen: list[Trial]) -> tuple[Index, Ranks]:
        """Cross-validated rank of each labelled row that was held out, by the committee."""
        rows, labels = [], []
        for k in range(self.n_splits):
            rows.append(self.labeled[self.folds[0] == k])
            labels.append(median_ranks([t.labels[k] for t in chosen]))
        return np.concatenate(rows), np.concatenate(labels)

    def errors(self, trials: list[Trial], chosen: list[Trial]) -> dict[str, tuple[float, float]]:
        """Zero-one and absolute error of the held-out rows: by the committee and by the best candidate of each kind."""
        held, labels = self.committee_labels(chosen)
        found = {"this model": (held, labels)}
        for name, transductive in (("supervised", False), ("transductive", True)):
            kind = [t for t in trials if t.candidate.transductive == transductive and not t.dropped]
            whole = [t for t in kind if self.estimate(t) > -np.inf]
            if whole:
                found[name] = self.committee_labels([max(whole, key=self.estimate)])
        return {
            name: (float(np.mean(self.rank[rows] != labels)), float(np.mean(np.abs(self.rank[rows] - labels))))
            for name, (rows, labels) in found.items()
        }

    def results(self, trials: list[Trial]) -> dict[str, Any]:
        """`cv_results_`."""
        estimates = np.array([self.estimate(t) for t in trials])
        order = np.where(np.isfinite(estimates) & ~np.array([t.dropped for t in trials]), -estimates, np.inf)
        found: dict[str, Any] = {
            "params": [t.candidate.params for t in trials],
            "transductive": np.array([t.candidate.transductive for t in trials]),
            "mean_test_score": np.where(np.isfinite(estimates), estimates, np.nan),
            "std_test_score": np.array([np.std(list(t.scores.values())) for t in trials]),
            "rank_test_score": 1 + np.searchsorted(np.sort(order), order),
            "dropped": np.array([t.dropped for t in trials]),
        }
        for k in range(self.n_splits):
            found[f"split{k}_test_score"] = np.array([t.scores.get(k, np.nan) for t in trials])
        return found

    def verdict(self, trials: list[Trial]) -> str:
        """Whether transduction helps, in one line."""
        setup = f"({self.n_splits}-fold, {len(self.labeled)} labels)"
        name, sign = ("MAE", -1.0) if self.scorer is None else ("score", 1.0)
        plain = max((self.estimate(t) for t in trials if not t.candidate.transductive), default=-np.inf)
        with_rest = max((self.estimate(t) for t in trials if t.candidate.transductive and not t.dropped), default=None)
        if with_rest is None:
            return f"supervised only: {name} {sign * plain:.2f} {setup}"
        helps = "transduction helps here" if with_rest > plain else "transduction does not help here"
        return f"{helps}: {name} {sign * with_rest + 0:.2f} against {sign * plain + 0:.2f} supervised {setup}"

    # Fits ---------------------------------------------------------------------------------------------------------

    def refit(self, candidates: list[Candidate]) -> list[Any]:
        """Fit candidates on all rows: supervised ones on the labelled, transductive ones on every row."""
        owner = self.owner
        shared = {name: getattr(owner, name) for name in ("gamma", "degree", "coef0", "tol", "max_iter", "cache_size")}
        models: dict[Candidate, Any] = {}
        for done, candidate in enumerate(sorted(set(candidates), key=lambda c: (c.transductive, str(c.kernel)))):
            self.progress.part("committee", done, len(candidates))
            kind = TOR if candidate.transductive else REDSVM
            model = kind(**shared, **candidate.params, classes=list(range(self.n_classes)))
            rows = np.arange(len(self.rank)) if candidate.transductive else self.labeled
            part = take(self.X, rows, rows, pairwise=candidate.kernel == "precomputed")
            models[candidate] = model.fit(part, self.rank[rows])
        return [models[candidate] for candidate in candidates]

    def labels_of_all_rows(self, model: Any) -> Ranks:
        """Ranks of all rows by a fitted member, whose labels are ranks."""
        return model.transduction_ if isinstance(model, TOR) else self._predict(model)

    def _predict(self, model: Any) -> Ranks:
        columns = self.labeled if model.kernel == "precomputed" else np.arange(len(self.rank))
        return model.predict(take(self.X, np.arange(len(self.rank)), columns, pairwise=model.kernel == "precomputed"))

    def _hold(self, kernel: Any, loss: Any, rows: Index) -> Gram | LinearFeatures:
        owner = self.owner
        gamma = resolve_gamma(owner.gamma, self.X) if kernel in ("rbf", "poly", "laplacian") else 1.0
        X = take(self.X, rows, rows, pairwise=kernel == "precomputed")
        return hold_kernel(
            Kernel(kernel, gamma, owner.degree, owner.coef0), X, owner.cache_size, smooth=is_smooth(check_loss(loss))
        )

    def _parallel(self, jobs: Any) -> Iterator[Any]:
        """Results in the order of the jobs, each as soon as it is there."""
        return Parallel(n_jobs=self.owner.n_jobs, prefer="threads", return_as="generator")(jobs)


class HeldOut:
    """A fold's answer, in the shape that scikit-learn's scorers ask for."""

    _estimator_type = "classifier"

    def __init__(self, classes: NDArray[Any], labels: Ranks, distances: Array):
        self.classes_, self._labels, self._distances = classes, labels, distances

    def __sklearn_tags__(self) -> Any:
        return REDSVM().__sklearn_tags__()

    def predict(self, X: Any) -> NDArray[Any]:
        return self.classes_[self._labels]

    def predict_proba(self, X: Any) -> Array:
        return identity_calibration(self._distances.shape[1]).probabilities(self._distances)


def _supervised_path(
    held_kernel: Gram | LinearFeatures, loss: Loss, y: Ranks, held: Index, Cs: list[float], m: int, tol: float
) -> list[Array]:
    """Distances of the held-out rows for each C, from the smallest to the largest, each started from the last."""
    solver = make_solver(held_kernel, loss)
    weight = np.ones(len(y))
    weight[held] = 0.0
    solution, found = None, []
    for C in Cs:
        # Once no variable is at its bound a larger C changes nothing.
        settled = (
            solution is not None
            and solution.beta is not None
            and np.abs(solution.beta).max() < 0.999 * solution.cost.max()
        )
        if not settled:
            solution = solver.solve(y, C * weight, m, warm=solution, tol=tol, max_iter=SUPERVISED_STEPS)
        assert solution is not None
        found.append(solution.h[held][:, None] - solution.thresholds)
    return found


def _transductive_fold(
    held_kernel: Gram | LinearFeatures,
    candidate: Candidate,
    hidden: Ranks,
    n_classes: int,
    held: Index,
    tol: float,
    max_iter: int,
) -> tuple[Array, Ranks]:
    """Distances and pseudo-labels of the held-out rows, which are unlabelled here."""
    unlabeled = hidden == UNLABELED
    trainer = SolverTrainer(make_solver(held_kernel, check_loss(candidate.loss)), n_classes - 1, tol, max_iter)
    ratio = check_class_ratio(candidate.class_ratio, n_classes)

    def counts(supervised: Any) -> Index:
        return class_counts(resolve_ratio(ratio, hidden, supervised, n_classes), int(unlabeled.sum()))

    schedule = list(c2_schedule(candidate.C, 1e-5, 2.0, candidate.C2_max))
    result = transduce(trainer, hidden, np.ones(len(hidden)), candidate.C, schedule, counts, candidate.swaps)
    return result.fit.h[held][:, None] - result.fit.thresholds, result.y[held]


def _kind(candidate: Candidate) -> tuple[int, int]:
    """What candidates that differ only in C and in how they transduce have in common: loss and kernel."""
    return id(candidate.loss), id(candidate.kernel)


def best_settings(trials: list[Trial]) -> list[Candidate]:
    """The best C of each loss and kernel, the best of those first; near-ties go to the smaller C, which is quicker too."""
    groups: dict[tuple[int, int], list[Trial]] = {}
    quick = [t for t in trials if not is_smooth(check_loss(t.candidate.loss))]
    for trial in quick or trials:
        if trial.mean() > -np.inf:
            groups.setdefault(_kind(trial.candidate), []).append(trial)
    best = []
    for group in groups.values():
        top = max(group, key=Trial.mean)
        near = [t for t in group if t.mean() >= top.mean() - NEAR_TIE * top.error()]
        best.append(min(near, key=lambda t: t.candidate.C))
    return [t.candidate for t in sorted(best, key=lambda t: -t.mean())[:SETTINGS]]


def votes(n: int) -> Array:
    """Weights of a committee's members, best first: n, n - 1, ..., 1."""
    return np.arange(n, 0, -1, dtype=np.float64)


def median_ranks(labels: list[Ranks]) -> Ranks:
    """The weighted lower median of the members' ranks, best member first.

    Examples
    --------
    >>> import numpy as np
    >>> median_ranks([np.array([0, 2]), np.array([1, 2]), np.array([1, 0])])
    array([0, 2])
    """
    weight, found = votes(len(labels)), np.array(labels)
    below = np.stack([weight @ (found <= k) for k in range(int(found.max()) + 1)])
    return (below < 0.5 * weight.sum()).sum(axis=0)


def _most_splits(rank: Ranks) -> int:
    counts = np.bincount(rank[rank != UNLABELED])
    return int(counts[counts > 1].sum())


def options(value: Any) -> list[Any]:
    """A parameter of the search as the list of what to try."""
    return list(dict.fromkeys(value)) if isinstance(value, (list, tuple)) else [value]


def is_ratio(value: Any) -> bool:
    """Whether a class ratio is given by numbers."""
    return not isinstance(value, str) and all(isinstance(v, (int, float, np.number)) for v in value)

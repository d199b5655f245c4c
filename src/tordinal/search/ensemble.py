"""Stage 3: the ensemble, its members, and how it decides."""

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from tordinal.calibration import fit_calibration
from tordinal.search.candidates import Candidate
from tordinal.search.data import REPEATS, SearchData
from tordinal.search.trials import Trial

__all__ = ["NEAR_TIE", "Comparison", "diverse", "mean_probabilities", "member_weights"]

Array = NDArray[np.float64]

CLEARLY = 3.0  # standard errors of a difference from which a candidate is excluded
CONVINCING = {"dense": 60, "sparse": 20}  # labels from which a gain by unlabelled rows is trusted
EXPERT_GAIN = (
    2.0  # standard errors of its gain from which an expert is included: about 95 % confidence
)
NEAR_TIE = 0.25  # standard errors within which the simpler model wins


@dataclass(frozen=True)
class Comparison:
    """Compares candidates by their trials.

    If a fold is excluded, nothing depends on the labels of its rows.

    Attributes
    ----------
    data : SearchData
        The rows.
    trials : list of Trial
        Trials of all candidates so far, the supervised ones at least.
    """

    data: SearchData
    trials: list[Trial]

    @cached_property
    def _by_candidate(self) -> dict[Any, Trial]:
        return {trial.candidate: trial for trial in self.trials}

    def estimate(self, trial: Trial, excluding: int | None = None) -> float:
        """Estimated score of a candidate, optionally `excluding` the rows of a fold.

        Transductive candidates are tried on fewer folds than the supervised ones they extend. Their
        estimate is the difference on the folds that both share, plus the supervised score over
        all repeats.
        """
        base = self._by_candidate.get(trial.candidate.setting)
        if not trial.candidate.transductive or base is None:
            return self._mean(trial, list(trial.scores), excluding)
        shared = [split for split in trial.scores if split in base.scores]
        return (
            self._mean(base, list(base.scores), excluding)
            + self._mean(trial, shared, excluding)
            - self._mean(base, shared, excluding)
        )

    def _mean(self, trial: Trial, splits: list[int], excluding: int | None) -> float:
        """Mean score of some splits, without the rows of one fold of the first repeat."""
        data = self.data
        if excluding is None:
            return trial.mean(splits)
        if (
            data.config.scoring.costs is None
        ):  # a scorer scores folds, not rows, and other repeats hold those rows
            return trial.mean([s for s in splits if s < data.n_splits and s != excluding])
        costs, weights = [], []
        for split in splits:
            rows = data.held_out(split)
            kept = data.folds[0][rows] != excluding
            costs.append(self._costs(trial, split)[kept])
            weights.append(data.weight[rows[kept]])
        return -float(np.average(np.concatenate(costs), weights=np.concatenate(weights)))

    def _costs(self, trial: Trial, split: int) -> Array:
        """The cost of the prediction for each row that a split holds out."""
        costs = self.data.config.scoring.costs
        assert costs is not None
        return costs[self.data.truth[self.data.held_out(split)], trial.labels[split]]

    def best(self, trials: list[Trial], n: int, excluding: int | None = None) -> list[Trial]:
        """The n best candidates; for n = 1 near-ties go to the simpler model."""
        estimates = {t: self.estimate(t, excluding) for t in trials if not t.dropped}
        scored = [t for t, estimate in estimates.items() if estimate > -np.inf]
        order = sorted(
            scored, key=lambda t: (-round(estimates[t], 9), *self._complexity(t.candidate))
        )
        if not order:
            return []
        top = order[0]
        if n > 1:
            return diverse([t for t in order if not self._clearly_worse(t, top, excluding)], n)
        least = estimates[top] - NEAR_TIE * top.error(REPEATS)
        near = [t for t in order if estimates[t] >= least]
        return [min(near, key=lambda t: self._complexity(t.candidate))]

    def ensemble(
        self, trials: list[Trial], n: int, excluding: int | None = None
    ) -> dict[Trial, float]:
        """The members, with their weights, the largest first.

        Experts, the best one first, are included if that improves the probabilities of held-out
        rows by more than two standard errors: otherwise the simpler ensemble is preferred.
        """
        accepted = [t for t in trials if isinstance(t.candidate, Candidate)]
        experts = [t for t in trials if not isinstance(t.candidate, Candidate)]
        members = self._of_candidates(accepted, n, excluding)
        for expert in sorted(experts, key=lambda t: -self.estimate(t, excluding)):
            joined = self._of_candidates([*accepted, expert], n, excluding)
            if expert in joined and (not members or self._better(joined, members, excluding)):
                accepted, members = [*accepted, expert], joined
        return members

    def _better(
        self, members: dict[Trial, float], others: dict[Trial, float], excluding: int | None
    ) -> bool:
        """Whether an ensemble is significantly better than another."""
        gain, weight = self._probability_scores(others, excluding)
        return _exceeds_chance(
            gain - self._probability_scores(members, excluding)[0], weight, EXPERT_GAIN
        )

    def _probability_scores(
        self, members: dict[Trial, float], excluding: int | None
    ) -> tuple[Array, Array]:
        """The ranked probability score of an ensemble in rows of the first repeat; their weights.

        It needs fewer rows than the number of wrong ranks to distinguish ensembles.
        """
        data = self.data
        splits = [k for k in range(data.n_splits) if k != excluding]
        p = [
            fit_calibration(*data.for_calibration(t, excluding)).probabilities(
                np.concatenate([t.distances[k] for k in splits])
            )
            for t in members
        ]
        at_most = np.cumsum(mean_probabilities(p, list(members.values())), axis=1)
        rows = np.concatenate([data.held_out(k) for k in splits])
        at_most -= data.truth[rows, None] <= np.arange(at_most.shape[1])
        return (at_most**2).sum(axis=1), data.weight[rows]

    def _of_candidates(
        self, trials: list[Trial], n: int, excluding: int | None
    ) -> dict[Trial, float]:
        """The n best candidates with their weights, the largest first.

        With few labels a transductive candidate is among the best by chance as often as not, so
        those that would be chosen without unlabelled rows keep a part of the weight. On
        sparse rows, which are mostly texts, unlabelled rows help so often that fewer labels are
        enough.
        """
        chosen = self.best(trials, n, excluding)
        weights = _shares(chosen, n)
        convincing = CONVINCING["sparse" if sp.issparse(self.data.rows.X) else "dense"]
        believed = min(1.0, len(self.data.labeled) / convincing) ** 2
        if n > 1 and believed < 1.0 and any(t.candidate.transductive for t in chosen):
            plain = self.best([t for t in trials if not t.candidate.transductive], n, excluding)
            weights = {trial: believed * share for trial, share in weights.items()}
            for trial, share in _shares(plain, n).items():
                weights[trial] = weights.get(trial, 0.0) + (1.0 - believed) * share
        return dict(sorted(weights.items(), key=lambda item: -item[1]))

    def _clearly_worse(self, trial: Trial, top: Trial, excluding: int | None) -> bool:
        """Whether a candidate is significantly worse than the best, on the rows that both predict.

        Votes reduce the variance of a choice among equals, but several bad models outvote a good
        one.
        """
        data = self.data
        if data.config.scoring.costs is None:
            shared = [s for s in trial.scores if s in top.scores and s != excluding]
            lost = np.array([top.scores[s] - trial.scores[s] for s in shared])
            return _exceeds_chance(lost, np.ones(len(lost)), CLEARLY)
        shared = [s for s in trial.labels if s in top.labels and s < data.n_splits]
        shared = [s for s in shared if s != excluding]
        lost = np.concatenate([self._costs(trial, s) - self._costs(top, s) for s in shared])
        rows = np.concatenate([data.held_out(s) for s in shared])
        return _exceeds_chance(lost, data.weight[rows], CLEARLY)

    def _complexity(self, c: Any) -> tuple[bool, int, int, float]:
        """How near-ties are decided; experts count as less simple than other models."""
        config = self.data.config
        if not isinstance(c, Candidate):
            return c.transductive, len(config.views), 0, 0.0
        kernels = [id(k) for k in config.kernel]
        return c.transductive, list(config.views).index(c.view), kernels.index(id(c.kernel)), c.C


def _exceeds_chance(gain: Array, weight: Array, errors: float) -> bool:
    """Whether a weighted mean is more than some of its standard errors above 0."""
    share = weight / weight.sum()
    mean = float(share @ gain)
    return mean > errors * float(np.sqrt(share**2 @ (gain - mean) ** 2))


def _shares(members: list[Trial], n: int) -> dict[Trial, float]:
    """The share of each member in the decision; an expert gets a quarter, like a whole kind."""
    weights = member_weights(len(members))
    weights += [0 if isinstance(t.candidate, Candidate) else max(1, n // 4) - 1 for t in members]
    return dict(zip(members, (weights / weights.sum()).tolist(), strict=True))


def member_weights(n: int) -> Array:
    """Weights of the members, best first: 1, and half more for the best, to break ties.

    Examples
    --------
    >>> member_weights(3)
    array([1.5, 1. , 1. ])
    """
    weights = np.ones(n)
    weights[:1] += 0.5
    return weights


def diverse(order: list[Trial], n: int) -> list[Trial]:
    """The first n, but at most a quarter of them of one kind.

    Candidates that differ only in C agree too much to correct each other.
    """
    chosen: list[Trial] = []
    n_of_kind = Counter[tuple[Any, bool]]()
    for trial in order:
        kind = (trial.candidate.kind, trial.candidate.transductive)
        if n_of_kind[kind] < max(1, n // 4) and len(chosen) < n:
            chosen.append(trial)
            n_of_kind[kind] += 1
    return chosen


def mean_probabilities(members: list[Array], weights: Array | list[float]) -> Array:
    """The members' probabilities of the classes, weighted."""
    return np.average(members, axis=0, weights=weights)

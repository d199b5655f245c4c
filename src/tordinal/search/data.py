"""The rows of a search: folds, views, and the form that is solved fastest."""

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from tordinal.distances import Matrix
from tordinal.engines.cuda.device import FEWEST_ROWS
from tordinal.engines.host.gram import Gram
from tordinal.engines.host.rows import Rows
from tordinal.fitting import Recipe
from tordinal.kernels import Kernel
from tordinal.model_selection import deal_folds, take
from tordinal.reduction import UNLABELED, Ranks
from tordinal.search.candidates import Candidate
from tordinal.search.config import SearchConfig
from tordinal.search.trials import Trial
from tordinal.training_set import TrainingSet

__all__ = ["REPEATS", "SearchData"]

Array = NDArray[np.float64]
Index = NDArray[np.int64]

REPEATS = 2  # how often the cheap supervised cross-validation is repeated, with other folds


@dataclass(frozen=True)
class SearchData:
    """The rows of a search.

    Attributes
    ----------
    config : SearchConfig
        The parameters of the search.
    rows : TrainingSet
        All rows.
    labeled : ndarray
        The labelled rows.
    sampled : ndarray
        The labelled rows, then the unlabelled ones that take part in a fold.
    fitted : ndarray
        The rows that a transductive candidate is fitted to in the end, in order.
    folds : list of ndarray of shape (n_labeled,)
        For each repeat the fold in which each labelled row is held out. Split number
        ``repeat * n_splits + k`` is fold k of a repeat.
    n_splits : int
        Folds of a repeat.
    """

    config: SearchConfig
    rows: TrainingSet
    labeled: Index
    sampled: Index
    fitted: Index
    folds: list[Index]
    n_splits: int
    _views: dict[str | None, Matrix] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, config: SearchConfig, rows: TrainingSet) -> "SearchData":
        """Make the folds, and draw unlabelled rows if there are too many."""
        rank = rows.rank
        counted = rows.weight > 0
        labeled = np.flatnonzero(~rows.unlabeled & counted)
        unlabeled = np.flatnonzero(rows.unlabeled & counted)
        rng = check_random_state(config.random_state)
        counts = np.bincount(rank[labeled])
        n_splits = min(config.cv, int(counts[counts > 1].sum()))
        if n_splits < 2:
            raise ValueError(
                "y: TORCV must hold out labels to choose a model, and cannot hold out the only "
                "label of a class. Label more rows, or choose a model yourself and use TOR."
            )
        folds = [deal_folds(rank[labeled], n_splits, rng) for _ in range(REPEATS)]
        few, many = unlabeled, unlabeled
        if len(unlabeled) > config.cv_unlabeled:
            few = np.sort(rng.choice(unlabeled, config.cv_unlabeled, replace=False))
        rng = np.random.RandomState(rng.randint(2**31))
        if len(unlabeled) > config.max_unlabeled:
            many = rng.choice(unlabeled, config.max_unlabeled, replace=False)
        sampled, fitted = np.concatenate([labeled, few]), np.sort(np.concatenate([labeled, many]))
        return cls(config, rows, labeled, sampled, fitted, folds, n_splits)

    # Folds --------------------------------------------------------------------------------------

    @cached_property
    def truth(self) -> Ranks:
        """Ranks of the labelled rows."""
        return self.rows.rank[self.labeled]

    @cached_property
    def weight(self) -> Array:
        """Their weights."""
        return self.rows.weight[self.labeled]

    def held_out(self, split: int) -> Index:
        """Rows that a split holds out, by their position among the labelled ones."""
        return np.flatnonzero(self.folds[split // self.n_splits] == split % self.n_splits)

    def record(self, trial: Trial, split: int, distances: Array, labels: Ranks) -> None:
        """Score the predictions of a candidate for the held-out rows of a split."""
        rows = self.held_out(split)
        trial.scores[split] = self.config.scoring.score(
            labels, self.truth[rows], distances, self.rows.X[self.labeled[rows]],
            trial.candidate.params, self.weight[rows],
        )  # fmt: skip
        trial.labels[split] = labels
        if split < self.n_splits:
            trial.distances[split] = distances

    def for_calibration(
        self, trial: Trial, excluding: int | None = None
    ) -> tuple[Array, Ranks, Array]:
        """Distances, ranks and weights of a candidate's held-out rows, without those of a fold."""
        splits = [k for k in trial.distances if k != excluding]
        rows = np.concatenate([self.held_out(k) for k in splits])
        distances = np.concatenate([trial.distances[k] for k in splits])
        return distances, self.truth[rows], self.weight[rows]

    # Fits ---------------------------------------------------------------------------------------

    def recipe(self, candidate: Candidate) -> Recipe:
        """How to fit a candidate."""
        return candidate.recipe(self.config.base, self.rows.n_classes)

    def view(self, candidate: Candidate) -> Matrix:
        """All rows, with the columns that a candidate uses."""
        if candidate.view not in self._views:
            columns, X = self.config.views[candidate.view], self.rows.X
            self._views[candidate.view] = X if columns is None else X[:, columns]
        return self._views[candidate.view]

    def kernel(self, candidate: Candidate) -> Kernel:
        """The kernel of a candidate, with parameters that depend on all rows."""
        return self.recipe(candidate).kernel_for(self.view(candidate))

    def hold(self, candidate: Candidate, rows: Index) -> Gram | Rows:
        """Some rows, in the form that the candidate is fitted fastest with."""
        X = take(self.view(candidate), rows, rows, pairwise=candidate.kernel == "precomputed")
        recipe = replace(self.recipe(candidate), engine=self.engine(len(rows)))
        return recipe.hold(self.kernel(candidate), X, self.rows.n_classes)

    def engine(self, n_rows: int) -> str:
        """Where kernel values of so many rows are held: few are faster on this machine."""
        return self.config.base.engine if n_rows >= FEWEST_ROWS else "host"

    @property
    def fit_weight(self) -> Array:
        """The weight of each row in a fit: its own times that of its class."""
        classes = self.config.class_weights[np.maximum(self.rows.rank, 0)]
        return self.rows.weight * np.where(self.rows.unlabeled, 1.0, classes)

    @property
    def memory_share(self) -> float:
        """Share of the memory for kernel values that one of the parallel fits may use."""
        return 1.0 / effective_n_jobs(self.config.n_jobs)

    @property
    def can_transduce(self) -> bool:
        """Whether any row is unlabelled."""
        return bool((self.rows.rank == UNLABELED).any())

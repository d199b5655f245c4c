"""The parameters of a search."""

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tordinal.fitting import Recipe
from tordinal.search.candidates import Candidate, Views
from tordinal.search.scoring import Scoring

__all__ = ["SearchConfig"]


@dataclass(frozen=True)
class SearchConfig:
    """All parameters of a search.

    Attributes
    ----------
    base : Recipe
        Parameters that all candidates share.
    C, kernel, loss : list
        Values to try in supervised candidates.
    class_ratio, swaps, C2_max : list
        Values to try in transductive candidates.
    views : dict of str to ndarray
        Columns of each view.
    scoring : Scoring
        How candidates are compared.
    class_weights : ndarray of shape (n_classes,)
        Weights of the classes.
    ensemble_size : int
        Candidates in the ensemble at most.
    cv : int
        Number of folds at most.
    cv_unlabeled, max_unlabeled : int
        Unlabelled rows in a fold, and in the last fit of a candidate, at most.
    n_jobs : int or None
        Fits at the same time.
    random_state : int, RandomState or None
        Seed of the folds and of the unlabelled rows that are used.
    """

    base: Recipe
    C: list[float]
    kernel: list[Any]
    loss: list[Any]
    class_ratio: list[Any]
    swaps: list[Any]
    C2_max: list[Any]
    views: Views
    scoring: Scoring
    class_weights: NDArray[np.float64]
    ensemble_size: int
    cv: int
    cv_unlabeled: int
    max_unlabeled: int
    n_jobs: int | None
    random_state: Any

    def supervised_candidates(self) -> list[Candidate]:
        """All supervised candidates."""
        return [
            Candidate(C, kernel, loss, view=view)
            for view, loss, kernel, C in itertools.product(
                self.views, self.loss, self.kernel, self.C
            )
        ]

    def transductive_candidates(
        self, settings: list[Candidate], n_labeled: int, n_unlabeled: int
    ) -> list[Candidate]:
        """All transductive variants of some supervised candidates."""
        balanced = min(1.0, n_labeled / n_unlabeled)  # equal weights in sum
        candidates = [
            Candidate(
                s.C, s.kernel, s.loss, True, class_ratio, swaps,
                balanced * s.C if C2_max == "balanced" else C2_max, s.view,
            )
            for s in settings
            for class_ratio, swaps, C2_max in itertools.product(
                self.class_ratio, self.swaps, self.C2_max
            )
        ]  # fmt: skip
        return list(dict.fromkeys(candidates))  # "balanced" may equal a given number

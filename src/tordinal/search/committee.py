"""The committee: which of the best candidates vote, and their weighted median."""

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from tordinal.reduction import Ranks
from tordinal.search.candidates import Kind
from tordinal.search.trials import Trial

__all__ = ["diverse", "median_ranks", "votes"]

Array = NDArray[np.float64]


def votes(n: int) -> Array:
    """Weights of a committee's members, best first: 1, and half more for the best, to break ties.

    Examples
    --------
    >>> votes(3)
    array([1.5, 1. , 1. ])
    """
    weights = np.ones(n)
    weights[:1] += 0.5
    return weights


def median_ranks(labels: list[Ranks]) -> Ranks:
    """The weighted lower median of the members' ranks, best member first.

    Examples
    --------
    >>> import numpy as np
    >>> median_ranks([np.array([0, 2]), np.array([1, 2]), np.array([1, 0])])
    array([1, 2])
    """
    weight, ranks = votes(len(labels)), np.array(labels)
    below = np.stack([weight @ (ranks <= k) for k in range(int(ranks.max()) + 1)])
    return (below < 0.5 * weight.sum()).sum(axis=0)


def diverse(order: list[Trial], n: int) -> list[Trial]:
    """The first n, but at most a quarter of them of one kind.

    Candidates that differ only in C agree too much to vote.
    """
    chosen: list[Trial] = []
    seats = Counter[tuple[Kind, bool]]()
    for trial in order:
        kind = (trial.candidate.kind, trial.candidate.transductive)
        if seats[kind] < max(1, n // 4) and len(chosen) < n:
            chosen.append(trial)
            seats[kind] += 1
    return chosen

"""The committee: which of the best candidates have a say, and what they decide together."""

from collections import Counter
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from tordinal.reduction import Ranks
from tordinal.search.candidates import Kind
from tordinal.search.trials import Trial

__all__ = ["COSTS", "decide", "diverse", "mean_probabilities", "votes"]

Array = NDArray[np.float64]

COSTS: dict[str, Callable[[Ranks], Array]] = {  # of being some ranks off
    "absolute": lambda off: np.abs(off).astype(np.float64),
    "zero_one": lambda off: (off != 0).astype(np.float64),
    "both": lambda off: 0.5 * (np.abs(off) + (off != 0)),
}


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


def mean_probabilities(members: list[Array], weights: Array | list[float]) -> Array:
    """The members' probabilities of the classes, weighted."""
    return np.average(members, axis=0, weights=weights)


def decide(p: Array, cost: str) -> Ranks:
    """The rank of least expected cost: the median by "absolute" cost, the mode by "zero_one".

    Examples
    --------
    >>> import numpy as np
    >>> p = np.array([[0.45, 0.15, 0.1, 0.3]])
    >>> [int(decide(p, cost)[0]) for cost in ("absolute", "zero_one", "both")]
    [1, 0, 0]
    """
    rank = np.arange(p.shape[1])
    expected = p @ COSTS[cost](rank[:, None] - rank)
    return np.argmin(np.round(expected, 12), axis=1)  # ties, to the last bit, go to the lower one


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

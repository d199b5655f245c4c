"""What a search may promise: each row is rated by models that were chosen without looking at it.

The best of many candidates owes part of its score to chance, and its own score does not show that.
So the choice is made again for every fold, by the errors on the rows of the other folds, and the
fold's rows are rated by what was chosen then. Nothing is fitted anew for it.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tordinal.calibration import agree_with, fit_calibration, fit_power, raise_to
from tordinal.reduction import Ranks
from tordinal.search.committee import decide, mean_probabilities
from tordinal.search.search import Search
from tordinal.search.trials import Trial

__all__ = ["Promise", "promise"]

Array = NDArray[np.float64]
Index = NDArray[np.int64]


@dataclass(frozen=True)
class Promise:
    """How well models rate rows that neither their fit nor their choice has seen.

    Attributes
    ----------
    rows : ndarray
        The labelled rows that were held out.
    ranks : ndarray of shape (len(rows),)
        Their ranks by the committee.
    probability : ndarray of shape (len(rows), n_classes)
        Probabilities of the classes, calibrated.
    power : float
        The power of the committee's probabilities that makes them so.
    errors : dict of str to (float, float)
        Zero-one and absolute error: of the committee ("this model"), of the best candidate without
        unlabelled rows ("supervised") and of the best with them ("transductive").
    spread : dict of str to float
        Standard deviation of the distances behind each absolute error.
    scores : dict of str to float
        What the last two score in terms of the scorer.
    """

    rows: Index
    ranks: Ranks
    probability: Array
    power: float
    errors: dict[str, tuple[float, float]]
    spread: dict[str, float]
    scores: dict[str, float]


def promise(search: Search, trials: list[Trial], n_members: int) -> Promise:
    """Rate every fold by what the other folds would have chosen.

    Parameters
    ----------
    search : Search
        The search, after its trials.
    trials : list of Trial
        All of them.
    n_members : int
        Size of the committee.

    Returns
    -------
    promise : Promise
        What may be expected.
    """
    whole = [t for t in trials if not t.dropped and search.estimate(t) > -np.inf]
    parts = [np.flatnonzero(search.folds[0] == k) for k in range(search.n_splits)]
    rows = np.concatenate(parts)
    truth = search.rank[search.labeled][rows]
    chosen = [search.committee(whole, n_members, without=k) for k in range(search.n_splits)]
    of_folds = [_probabilities(search, members, k) for k, members in enumerate(chosen)]
    ranks = np.concatenate([_ranks(search, chosen[k], p, k) for k, p in enumerate(of_folds)])
    p = agree_with(np.concatenate(of_folds), ranks)
    power = fit_power(p, ranks, truth)
    errors, scores = {"this model": _errors(truth, ranks)}, {}
    spread = {"this model": float(np.std(np.abs(truth - ranks)))}
    for name, transductive in (("supervised", False), ("transductive", True)):
        kind = [t for t in whole if t.candidate.transductive == transductive]
        if kind:
            single = [search.best(kind, 1, without=k)[0] for k in range(search.n_splits)]
            said = np.concatenate([t.labels[k] for k, t in enumerate(single)])
            errors[name] = _errors(truth, said)
            spread[name] = float(np.std(np.abs(truth - said)))
            scores[name] = float(np.mean([t.scores[k] for k, t in enumerate(single)]))
    p = raise_to(p, power)
    return Promise(search.labeled[rows], ranks, p, power, errors, spread, scores)


def _probabilities(search: Search, members: dict[Trial, float], k: int) -> Array:
    """Probabilities of a fold's rows, by members that were calibrated on the others."""
    p = [
        fit_calibration(*search.held_out(t, without=k)).probabilities(t.distances[k])
        for t in members
    ]
    return mean_probabilities(p, list(members.values()))


def _ranks(search: Search, members: dict[Trial, float], p: Array, k: int) -> Ranks:
    """Ranks of a fold's rows: what a committee decides, or a single model's own."""
    return decide(p, search.decides_by) if len(members) > 1 else next(iter(members)).labels[k]


def _errors(truth: Ranks, predicted: Ranks) -> tuple[float, float]:
    distance = np.abs(truth - predicted)
    return float(np.mean(distance > 0)), float(np.mean(distance))

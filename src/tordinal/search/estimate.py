"""Stage 4: estimated errors, from models that were chosen without the row that they rate.

The score of the best of many candidates is too optimistic. So the choice is repeated for every
fold, by the errors on the rows of the other folds, and the models chosen then rate the rows of the
fold. No model is fitted for this.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tordinal.calibration import agree_with, fit_calibration, fit_power, sharpen
from tordinal.costs import decide
from tordinal.reduction import Ranks
from tordinal.search.data import SearchData
from tordinal.search.ensemble import Comparison, mean_probabilities
from tordinal.search.trials import Trial

__all__ = ["EstimatedErrors", "estimate_errors"]

Array = NDArray[np.float64]
Index = NDArray[np.int64]


@dataclass(frozen=True)
class EstimatedErrors:
    """Errors on rows that were used neither to fit nor to choose the model.

    Attributes
    ----------
    rows : ndarray
        The labelled rows that were held out.
    ranks : ndarray of shape (len(rows),)
        Their ranks by the ensemble.
    probability : ndarray of shape (len(rows), n_classes)
        Probabilities of the classes, calibrated.
    power : float
        The power of the ensemble's probabilities that calibrates them.
    errors : dict of str to (float, float)
        Zero-one and absolute error: of the ensemble ("this model"), of the best candidate without
        unlabelled rows ("supervised") and of the best with them ("transductive").
    spread : dict of str to float
        Standard deviation of the distances behind each absolute error; "difference": of the
        difference between the last two, row by row; "score difference": of the difference between
        their scores, fold by fold.
    scores : dict of str to float
        Scores of the last two by the scorer.
    """

    rows: Index
    ranks: Ranks
    probability: Array
    power: float
    errors: dict[str, tuple[float, float]]
    spread: dict[str, float]
    scores: dict[str, float]


def estimate_errors(data: SearchData, trials: list[Trial]) -> EstimatedErrors:
    """Rate every fold by the ensemble that the other folds choose.

    Parameters
    ----------
    data : SearchData
        The rows.
    trials : list of Trial
        All trials.

    Returns
    -------
    estimated : EstimatedErrors
        The errors to expect.
    """
    comparison, folds = Comparison(data, trials), range(data.n_splits)
    scored = [t for t in trials if not t.dropped and comparison.estimate(t) > -np.inf]
    rows = np.concatenate([data.held_out(k) for k in folds])
    truth, weight = data.truth[rows], data.weight[rows]
    chosen = [comparison.ensemble(scored, data.config.ensemble_size, excluding=k) for k in folds]
    of_folds = [_probabilities(data, members, k) for k, members in enumerate(chosen)]
    p, scoring = np.concatenate(of_folds), data.config.scoring
    if scoring.custom:
        power = fit_power(p, p.argmax(axis=1), truth, weight)
        p = sharpen(p, power)
        ranks = decide(p, scoring.decides_by)
    else:
        ranks = np.concatenate([_ranks(data, chosen[k], p, k) for k, p in enumerate(of_folds)])
        p = agree_with(p, ranks)
        power = fit_power(p, ranks, truth, weight)
        p = sharpen(p, power)
    errors, scores = {"this model": _errors(truth, ranks)}, {}
    spread = {"this model": float(np.std(np.abs(truth - ranks)))}
    distances, of_scores = [], []
    for name, transductive in (("supervised", False), ("transductive", True)):
        kind = [t for t in scored if t.candidate.transductive == transductive]
        if kind:
            single = [comparison.best(kind, 1, excluding=k)[0] for k in folds]
            predicted = np.concatenate([t.labels[k] for k, t in enumerate(single)])
            errors[name] = _errors(truth, predicted)
            distances.append(np.abs(truth - predicted))
            spread[name] = float(np.std(distances[-1]))
            of_scores.append(np.array([t.scores[k] for k, t in enumerate(single)]))
            scores[name] = float(np.mean(of_scores[-1]))
    if len(distances) == 2:
        spread["difference"] = float(np.std(distances[0] - distances[1]))
        spread["score difference"] = float(np.std(of_scores[0] - of_scores[1]))
    return EstimatedErrors(data.labeled[rows], ranks, p, power, errors, spread, scores)


def _probabilities(data: SearchData, members: dict[Trial, float], k: int) -> Array:
    """Probabilities of a fold's rows, by members that were calibrated on the others."""
    p = [
        fit_calibration(*data.for_calibration(t, excluding=k)).probabilities(t.distances[k])
        for t in members
    ]
    return mean_probabilities(p, list(members.values()))


def _ranks(data: SearchData, members: dict[Trial, float], p: Array, k: int) -> Ranks:
    """Ranks of a fold's rows: the decision of an ensemble, or of a single model."""
    if len(members) > 1:
        return decide(p, data.config.scoring.decides_by)
    return next(iter(members)).labels[k]


def _errors(truth: Ranks, predicted: Ranks) -> tuple[float, float]:
    distance = np.abs(truth - predicted)
    return float(np.mean(distance > 0)), float(np.mean(distance))

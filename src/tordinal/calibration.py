"""Class probabilities from distances to thresholds.

The distances of a row to the thresholds become cumulative probabilities
P(y > k) = logistic(alpha (h - t_k) + delta_k) with one slope alpha > 0 for all thresholds, so that
they never cross. Slope and offsets are fitted to distances of rows that were held out.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from tordinal.reduction import Ranks, signs

Array = NDArray[np.float64]

PRIOR = 1.0  # strength of the prior that shrinks the offsets towards 0
MIN_SLOPE = 1e-3
NEGLIGIBLE = 1e-13  # relative change of the likelihood that is noise
FLOOR = 1e-3  # share of the uniform distribution mixed in, so that no class has probability 0
MAX_POWER = 20.0  # largest power of temperature scaling


@dataclass(frozen=True)
class Calibration:
    """A map from distances h - t_k, shape (rows, K - 1), to class probabilities.

    Examples
    --------
    >>> import numpy as np
    >>> Calibration(1.0, np.zeros(1)).probabilities(np.array([[0.0]]))
    array([[0.5, 0.5]])
    """

    slope: float
    offsets: Array

    def probabilities(self, distances: Array) -> Array:
        """Probability of each class, shape (rows, K)."""
        # The running minimum makes the cumulative probabilities descend whatever the offsets are.
        logits = np.minimum.accumulate(self.slope * distances + self.offsets, axis=1)
        above = expit(logits)
        ones, zeros = np.ones((len(above), 1)), np.zeros((len(above), 1))
        p = np.hstack([ones, above]) - np.hstack([above, zeros])
        return (1.0 - FLOOR) * p + FLOOR / p.shape[1]


def identity_calibration(n_thresholds: int) -> Calibration:
    """The logistic model's own probabilities: P(y > k) = logistic(h - t_k)."""
    return Calibration(1.0, np.zeros(n_thresholds))


def fit_calibration(distances: Array, y: Ranks, weight: Array) -> Calibration:
    """Fit slope and offsets by penalised maximum likelihood, with Newton's method.

    The likelihood is that of the K - 1 cumulative events.

    Parameters
    ----------
    distances : ndarray of shape (n_samples, n_thresholds)
        h - t_k of rows that were held out when h and t were fitted.
    y : ndarray of shape (n_samples,)
        Their ranks.
    weight : ndarray of shape (n_samples,)
        Weights.
    """
    n, m = distances.shape
    if n == 0:
        return identity_calibration(m)
    s = signs(y, m)
    # With two classes the threshold stays, so that the class with P > 1/2 is predicted.
    fit_offsets = m > 1
    x = np.concatenate([[1.0], np.zeros(m)])  # slope, offsets
    penalty = np.concatenate([[1e-3], np.full(m, PRIOR if fit_offsets else 1e12)])
    centre = x.copy()

    def value(v: Array) -> float:
        loss = np.logaddexp(0.0, -s * (v[0] * distances + v[1:]))
        return float(weight @ loss.sum(axis=1) + 0.5 * penalty @ (v - centre) ** 2)

    for _ in range(100):
        g = s * (x[0] * distances + x[1:])
        pull = -weight[:, None] * s * expit(-g)
        curve = weight[:, None] * expit(g) * expit(-g)
        gradient = np.concatenate([[(pull * distances).sum()], pull.sum(axis=0)]) + penalty * (
            x - centre
        )
        H = np.diag(np.concatenate([[(curve * distances**2).sum()], curve.sum(axis=0)]) + penalty)
        H[0, 1:] = H[1:, 0] = (curve * distances).sum(axis=0)
        step = -np.linalg.solve(H, gradient)
        if float(np.abs(step).max()) < 1e-13 * (1.0 + float(np.abs(x).max())):
            break
        size, now, slope = 1.0, value(x), float(gradient @ step)
        # Where values differ by rounding only, a full Newton step is best.
        if -slope > NEGLIGIBLE * now:
            while size > 1e-10 and value(x + size * step) > now + 1e-4 * size * slope:
                size *= 0.5
        x = x + size * step
    return Calibration(max(float(x[0]), MIN_SLOPE), x[1:] if fit_offsets else np.zeros(m))


def agree_with(p: Array, predicted: Ranks) -> Array:
    """Change probabilities just enough to make the predicted class the most probable one.

    A row's predicted class is the median of its distribution, or has the least expected cost, and
    need not be its mode. Just enough probability is moved to it.
    """
    rows = np.arange(len(p))
    lead = p.max(axis=1) - p[rows, predicted]
    share = np.where(lead > 0, (lead + 1e-9) / (1.0 + lead), 0.0)
    mixed = p * (1.0 - share)[:, None]
    mixed[rows, predicted] += share
    return mixed


def sharpen(p: Array, power: float) -> Array:
    """Raise probabilities to a power and normalise them: temperature scaling.

    A power above 1 makes them more extreme, one below 1 less.

    Examples
    --------
    >>> import numpy as np
    >>> sharpen(np.array([[0.6, 0.3, 0.1]]), 2.0).round(2)
    array([[0.78, 0.2 , 0.02]])
    """
    logs = power * np.log(p)
    raised = np.exp(logs - logs.max(axis=1, keepdims=True))
    return raised / raised.sum(axis=1, keepdims=True)


def fit_power(p: Array, predicted: Ranks, truth: Ranks, weight: Array | None = None) -> float:
    """Find the power at which the mean probability of the predictions is their accuracy.

    Parameters
    ----------
    p : ndarray of shape (n_samples, n_classes)
        Probabilities of rows that were held out, the predicted class being the most probable one.
    predicted, truth : ndarray of shape (n_samples,)
        Predicted and true ranks.
    weight : ndarray of shape (n_samples,) or None
        How much each row counts; None: all alike.

    Returns
    -------
    power : float
        Between 1/20 and 20; 1 without any rows.
    """
    w = np.ones(len(p)) if weight is None else weight
    if w.sum() == 0:
        return 1.0
    # One more right and one more wrong prediction: a few rows do not prove that all will be right.
    n = float(w.sum() ** 2 / np.sum(w**2))  # as many rows of equal weight
    wanted = (n * float(np.average(predicted == truth, weights=w)) + 1.0) / (n + 2.0)
    rows = np.arange(len(p))
    low, high = -np.log(MAX_POWER), np.log(MAX_POWER)
    for _ in range(40):
        middle = 0.5 * (low + high)
        if np.average(sharpen(p, np.exp(middle))[rows, predicted], weights=w) < wanted:
            low = middle
        else:
            high = middle
    return float(np.exp(0.5 * (low + high)))

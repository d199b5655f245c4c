"""Small problems that many tests share."""

import numpy as np


def ordinal_problem(n=60, n_classes=4, n_features=3, noise=0.5, seed=0):
    """Rows, and ranks 0 .. K-1 of a noisy nonlinear score, every rank present."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_features))
    score = X[:, 0] + 0.5 * X[:, 1] ** 2 + noise * rng.normal(size=n)
    y = np.empty(n, dtype=np.int64)
    y[np.argsort(score)] = np.arange(n) * n_classes // n
    return X, y


def hide(y, n_labels, seed=0):
    """The ranks with all but n_labels replaced by -1; every rank keeps one at least."""
    rng = np.random.default_rng(seed)
    keep = [rng.choice(np.flatnonzero(y == k)) for k in np.unique(y)]
    others = rng.permutation(np.setdiff1d(np.arange(len(y)), keep))
    keep = np.concatenate([keep, others[: max(0, n_labels - len(keep))]]).astype(int)
    hidden = np.full(len(y), -1)
    hidden[keep] = y[keep]
    return hidden

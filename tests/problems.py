"""Small problems that many tests share."""

import numpy as np
import pandas as pd
import scipy.sparse as sp

from tordinal import TORCV
from tordinal.couplings import Reduction
from tordinal.engines.host.gram import Gram
from tordinal.experiments.cells import FIGURES, cells_of
from tordinal.experiments.table import KEY
from tordinal.kernels import make_kernel
from tordinal.losses import LOSSES, is_smooth
from tordinal.problem import Problem
from tordinal.search.data import SearchData
from tordinal.solvers import KernelNewton

SMOOTH = [name for name in LOSSES if is_smooth(LOSSES[name]())]
LINES = [name for name in LOSSES if name not in SMOOTH]


def ordinal_problem(n=60, n_classes=4, n_features=3, noise=0.5, seed=0):
    """Rows, and ranks 0 .. K-1 of a noisy nonlinear score, every rank present."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_features))
    score = X[:, 0] + 0.5 * X[:, 1] ** 2 + noise * rng.normal(size=n)
    y = np.empty(n, dtype=np.int64)
    y[np.argsort(score)] = np.arange(n) * n_classes // n
    return X, y


def problem_of(loss="hinge", coupling=None, n_thresholds=3):
    """A loss by its name or as an object, with the coupling of RED-SVM unless told otherwise."""
    loss = LOSSES[loss]() if isinstance(loss, str) else loss
    return Problem(loss, coupling or Reduction(), n_thresholds)


def kernel_newton(loss, kernel="perceptron", n=50, seed=0):
    """A `KernelNewton` on a small problem, and its ranks."""
    X, y = ordinal_problem(n, 4, seed=seed)
    return KernelNewton(Gram(make_kernel(kernel, X, 0.3), X, 100), problem_of(loss)), y


def two_matrices(sparse):
    """Two small matrices, one with an empty row, dense and in the form that is asked for."""
    rng = np.random.default_rng(1)
    A, B = rng.normal(size=(7, 5)), rng.normal(size=(4, 5))
    A[2] = 0.0
    return A, B, *((sp.csr_array(A), sp.csr_array(B)) if sparse else (A, B))


def hide(y, n_labels, seed=0):
    """The ranks with all but n_labels replaced by -1; every rank keeps one at least."""
    rng = np.random.default_rng(seed)
    keep = [rng.choice(np.flatnonzero(y == k)) for k in np.unique(y)]
    others = rng.permutation(np.setdiff1d(np.arange(len(y)), keep))
    keep = np.concatenate([keep, others[: max(0, n_labels - len(keep))]]).astype(int)
    hidden = np.full(len(y), -1)
    hidden[keep] = y[keep]
    return hidden


def islands(n=240):
    """Rows whose rank no line and no smooth curve finds, but a tree does; and noise."""
    rng = np.random.default_rng(0)
    code = rng.integers(0, 12, n)
    y = np.array([0, 2, 1, 0, 2, 0, 1, 2, 1, 0, 1, 2])[code]
    return np.column_stack([code, rng.normal(size=(n, 2))]).astype(float), y


def search_data(X, rank, **params):
    """What the stages of a search read, for a `TORCV` with some parameters."""
    owner = TORCV(**params)
    rows = owner._read(X, rank, None)
    return SearchData.of(owner._config(rows), rows)


def study_results(
    studies=("benchmark", "synthetic", "sensitivity", "sentiment", "swapping"),
    realizations=5,
    ours=True,
):
    """A table in which TOR is best by a little."""
    rng = np.random.default_rng(0)
    rows = []
    for figure in FIGURES:
        for cell in cells_of(figure, realizations=realizations, ours=ours):
            if cell.study in studies:
                error = (
                    0.5
                    - 0.1 * cell.method.startswith("TOR")
                    + 0.02 * rng.random()
                    - 1e-4 * cell.labels
                )
                row = dict(
                    zip(KEY, cell.key, strict=True),
                    zero_one=error,
                    mae=1.5 * error,
                    rank_mae=1.4 * error,
                    trainings=1000 - cell.labels,
                )
                if cell.method.startswith("TOR,") or cell.method == "TOR":
                    place = 0.1 if cell.setting is None else cell.setting
                    gain = 0.1 - abs(place - 0.1) - 1e-5 * cell.labels
                    row |= {
                        "initial_zero_one": error + gain,
                        "initial_mae": 1.5 * error + gain,
                        "initial_rank_mae": 1.4 * error + gain,
                        "swaps": 4,
                    }
                    row["rises"] = int(
                        cell.study == "sentiment" and cell.seed == 0 and cell.labels < 250
                    )
                rows.append(row)
    return pd.DataFrame(rows).drop_duplicates(list(KEY))

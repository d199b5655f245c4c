"""The methods of the study, and how C1 is chosen for each (section V-A)."""

import warnings
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from tordinal.distances import Matrix
from tordinal.estimators import MTSVM, REDSVM, SVOR, TOR, TORCV
from tordinal.metrics import mean_zero_one_error
from tordinal.model_selection import deal_folds

__all__ = ["C_GRID", "METHODS", "OURS", "PAPER", "Outcome", "Split", "choose_C", "run_method"]

Labels = NDArray[np.int64]

C_GRID = tuple(10.0**k for k in range(-3, 6))
N_SPLITS = 5
FIRST_FOLDS = 2  # folds after which bad values of C are dropped for transductive methods
SURVIVORS = 3  # values of C that go through all folds
LARGE_C = 10.0  # from here on, a larger C is tried only while the last one is among the survivors
CV_STEPS = 50_000  # of a training in cross-validation; a C that needs more is not competitive
MANY_ROWS = 5000  # unlabelled ones from which TORCV swaps many pairs at once
CV_UNLABELED = 300  # unlabelled rows that a fold of a transductive method uses at most

METHODS: dict[str, Any] = {
    "SVOR-EXC": lambda C, kernel: SVOR(C=C, kernel=kernel, constraints="explicit"),
    "SVOR-IMC": lambda C, kernel: SVOR(C=C, kernel=kernel, constraints="implicit"),
    "RED-SVM": lambda C, kernel: REDSVM(C=C, kernel=kernel),
    "M-TSVM": lambda C, kernel: MTSVM(C=C, kernel=kernel),
    "TOR": lambda C, kernel: TOR(C=C, kernel=kernel),
    "TOR, optimal swaps": lambda C, kernel: TOR(C=C, kernel=kernel, swaps="optimal"),
    "TORCV": lambda C, kernel: TORCV(kernel=kernel),
}
PAPER = ("SVOR-EXC", "SVOR-IMC", "RED-SVM", "M-TSVM", "TOR")
OURS = ("TOR, optimal swaps", "TORCV")
TRANSDUCTIVE = ("M-TSVM", "TOR", "TOR, optimal swaps", "TORCV")


@dataclass(frozen=True)
class Outcome:
    """Predictions of a method for the unlabelled rows.

    Attributes
    ----------
    labels : ndarray
        Their labels.
    initial : ndarray or None
        The labels of TOR's initialisation (Algorithm 2), before any swap.
    trainings, swaps : int or None
        SVM trainings, and pairs of labels swapped; None for `TORCV`, which trains many models.
    rises : int or None
        Trainings after a swap, with the same C2, whose objective was not smaller than before it.
    """

    labels: Labels
    initial: Labels | None
    trainings: int | None
    swaps: int | None
    rises: int | None = None


@dataclass(frozen=True)
class Split:
    """Rows with known and with hidden labels.

    Attributes
    ----------
    X : matrix
        All rows.
    y : ndarray
        All labels; methods do not see those of unlabelled rows.
    labeled, unlabeled : ndarray
        Rows with known and with hidden labels.
    views : dict or None
        Views of the features that `TORCV` may choose from.
    engine : {"host", "cuda", "auto"}
        Where kernel models are fitted.
    """

    X: Matrix
    y: Labels
    labeled: Labels
    unlabeled: Labels
    views: dict[str, Labels] | None = None
    engine: str = "host"


def run_method(name: str, C: float, kernel: str, split: Split, max_iter: int = -1) -> Outcome:
    """Label some rows with a method that knows the labels of others.

    Parameters
    ----------
    name : str
        One of `METHODS`.
    C : float
        C1.
    kernel : str
        Kernel.
    split : Split
        The rows.
    max_iter : int
        Solver iterations of a training at most.

    Returns
    -------
    outcome : Outcome
        Labels of the unlabelled rows, and what it took.
    """
    X, y, labeled, unlabeled = split.X, split.y, split.labeled, split.unlabeled
    model = METHODS[name](C, kernel).set_params(max_iter=max_iter, engine=split.engine)
    if name == "TORCV":
        model.set_params(views=split.views)
        if len(unlabeled) > MANY_ROWS:
            model.set_params(swaps=("all", "optimal"))  # single pairs need a training each
    if name not in TRANSDUCTIVE:
        model.fit(X[labeled], y[labeled])
        return Outcome(model.predict(X[unlabeled]), None, 1, 0)
    rows = np.concatenate([labeled, unlabeled])
    hidden = np.concatenate([y[labeled], np.full(len(unlabeled), -1)])
    model.fit(X[rows], hidden)
    n = len(labeled)
    labels = model.transduction_[n:]
    if name == "TORCV":
        return Outcome(labels, None, None, None)
    histories = model.histories_ if name == "M-TSVM" else [model.history_]
    initial = None if name == "M-TSVM" else model.initial_labels_[n:]
    swaps = sum(record["swaps"] for history in histories for record in history)
    rises = sum(
        now["objective"] >= before["objective"]
        for history in histories
        for before, now in pairwise(history)
        if before["swaps"] > 0 and now["C2"] == before["C2"]
    )
    return Outcome(labels, initial, sum(map(len, histories)), int(swaps), rises)


def choose_C(name: str, kernel: str, split: Split, seed: int) -> float:
    """C1 by five-fold cross-validation on the labelled rows.

    The least zero-one error wins, and the smallest C in a tie. Transductive methods keep the
    held-out rows among the unlabelled ones; a fold uses at most `CV_UNLABELED` of those. For them,
    only the three best values are kept after two folds, and values above 10 are tried in order as
    long as the last one is among those three.

    Parameters
    ----------
    name, kernel, split
        As in `run_method`.
    seed : int
        Seed of the folds.

    Returns
    -------
    C : float
        One of `C_GRID`.
    """
    if name == "TORCV":  # chooses by itself
        return float("nan")
    rng = np.random.RandomState(seed)
    y, labeled, unlabeled = split.y, split.labeled, split.unlabeled
    classes = np.unique(y[labeled], return_inverse=True)[1]
    fold = deal_folds(classes, N_SPLITS, rng)
    others = rng.permutation(unlabeled)[:CV_UNLABELED] if name in TRANSDUCTIVE else unlabeled[:0]
    errors: dict[float, list[float]] = {C: [] for C in C_GRID}

    def test(C: float, k: int) -> None:
        held = labeled[fold == k]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            others_too = np.concatenate([held, others])
            part = replace(split, labeled=labeled[fold != k], unlabeled=others_too)
            outcome = run_method(name, C, kernel, part, max_iter=CV_STEPS)
        errors[C].append(mean_zero_one_error(y[held], outcome.labels[: len(held)]))

    def best() -> list[float]:
        return sorted((C for C in C_GRID if errors[C]), key=lambda C: (np.mean(errors[C]), C))

    transductive = name in TRANSDUCTIVE
    for C in C_GRID:
        for k in range(FIRST_FOLDS if transductive else N_SPLITS):
            test(C, k)
        if transductive and C >= LARGE_C and C not in best()[:SURVIVORS]:
            break
    if not transductive:
        return best()[0]
    survivors = best()[:SURVIVORS]
    for C in survivors:
        for k in range(FIRST_FOLDS, N_SPLITS):
            test(C, k)
    return next(C for C in best() if C in survivors)

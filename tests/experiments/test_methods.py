"""The methods of the study."""

from dataclasses import replace

import numpy as np
import pytest

from tordinal.experiments import methods
from tordinal.experiments.methods import C_GRID, METHODS, Outcome, Split, choose_C, run_method


@pytest.mark.parametrize("name", METHODS)
def test_every_method_labels_the_unlabelled_rows(name, monkeypatch):
    monkeypatch.setattr(methods, "C_GRID", (0.1, 1.0))
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    y = 1 + np.digitize(X[:, 0], [-0.5, 0.5])
    labeled, unlabeled = np.arange(40), np.arange(40, 120)
    split = Split(X, y, labeled, unlabeled)
    C = choose_C(name, "linear", split, 0)
    assert np.isnan(C) if name == "TORCV" else C in (0.1, 1.0)
    outcome = run_method(name, C, "linear", split)
    assert np.mean(outcome.labels != y[unlabeled]) < 0.5
    # The labels of unlabelled rows are not looked at.
    hidden = y.copy()
    hidden[unlabeled] = 1
    same = run_method(name, C, "linear", replace(split, y=hidden))
    np.testing.assert_array_equal(same.labels, outcome.labels)
    assert (outcome.initial is not None) == (name in ("TOR", "TOR, optimal swaps"))


def test_hopeless_values_of_C_are_dropped_early(monkeypatch):
    tried = []

    def run(name, C, kernel, split, max_iter=-1):
        tried.append(C)
        unlabeled = split.unlabeled
        wrong = np.arange(len(unlabeled)) < (abs(np.log10(C)) + 1)  # best at C = 1
        return Outcome(np.where(wrong, y[unlabeled] + 1, y[unlabeled]), None, 1, 0)

    monkeypatch.setattr(methods, "run_method", run)
    y = np.arange(400) % 4
    split = Split(np.zeros((400, 1)), y, np.arange(100), np.arange(100, 400))
    for name in ("RED-SVM", "TOR"):
        tried.clear()
        assert choose_C(name, "linear", split, 0) == 1.0
        folds = {C: tried.count(C) for C in C_GRID}
        if name == "RED-SVM":
            assert set(folds.values()) == {5}
        else:
            assert [folds[C] for C in C_GRID] == [2, 2, 5, 5, 5, 2, 0, 0, 0]

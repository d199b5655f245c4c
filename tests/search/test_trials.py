import numpy as np
import pytest
from sklearn.exceptions import FitFailedWarning
from sklearn.metrics import get_scorer

from tordinal import TOR
from tordinal.search.candidates import Candidate
from tordinal.search.trials import HeldOut, Trial, score


def test_means_and_errors_of_the_folds_that_were_tried():
    trial = Trial(Candidate(1.0, "rbf", "hinge"), {0: -1.0, 1: -3.0, 2: -2.0})
    assert trial.mean() == -2.0
    assert trial.mean([0, 1]) == -2.0
    assert trial.error(1) == pytest.approx(np.std([1, 3, 2]) / np.sqrt(3))
    trial.scores[3] = np.nan
    assert trial.mean() == -np.inf


def held_out():
    distances = np.array([[1.0, -1.0], [2.0, 1.0]])
    return HeldOut(TOR().__sklearn_tags__(), np.array([10, 20, 30]), np.array([1, 2]), distances)


def test_scorers_see_labels_and_probabilities():
    answer, X = held_out(), np.zeros((2, 1))
    assert answer.predict(X).tolist() == [20, 30]
    np.testing.assert_allclose(answer.predict_proba(X).sum(axis=1), 1.0)
    assert score(get_scorer("accuracy"), answer, X, np.array([20, 10]), {}) == 0.5


def test_a_scorer_that_fails_marks_the_candidate():
    def broken(answer, X, y):
        raise ZeroDivisionError("no")

    with pytest.warns(FitFailedWarning, match="C=2: no"):
        assert np.isnan(score(broken, held_out(), np.zeros((2, 1)), np.array([20, 10]), "C=2"))

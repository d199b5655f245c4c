import numpy as np
import pytest
from sklearn.exceptions import FitFailedWarning

from tordinal import TOR
from tordinal.metrics import SCORERS
from tordinal.search.scoring import HeldOut, Scoring

TAGS, CLASSES = TOR().__sklearn_tags__(), np.array([10, 20, 30])
DISTANCES = np.array([[1.0, -1.0], [2.0, 1.0]])
LABELS, TRUTH, ROWS = np.array([1, 2]), np.array([1, 0]), np.zeros((2, 1))
WEIGHTS = np.ones(2)


def score(scoring):
    return Scoring.of(scoring, TAGS, CLASSES).score(LABELS, TRUTH, DISTANCES, ROWS, "C=2", WEIGHTS)


def test_scorers_see_labels_and_probabilities():
    answer = HeldOut(TAGS, CLASSES, LABELS, DISTANCES)
    assert answer.predict(ROWS).tolist() == [20, 30]
    p = answer.predict_proba(ROWS)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    np.testing.assert_allclose(p[0, 0], 1 / (1 + np.e), atol=1e-3)


@pytest.mark.parametrize(
    ("scoring", "expected", "decides_by"),
    [
        (None, -0.75, "both"),
        ("absolute", -1.0, "absolute"),
        ("zero_one", -0.5, "zero_one"),
        ("accuracy", 0.5, "zero_one"),
        ("neg_mean_absolute_error", -1.0, "absolute"),
        (SCORERS["neg_mean_zero_one_error"], -0.5, "absolute"),
        (lambda answer, X, y: float(y.sum()), 30.0, "absolute"),
    ],
)
def test_the_score_of_a_fold(scoring, expected, decides_by):
    assert score(scoring) == pytest.approx(expected)
    assert Scoring.of(scoring, TAGS, CLASSES).name == decides_by


def test_a_scorer_that_fails_gives_no_score():
    def broken(answer, X, y):
        raise ZeroDivisionError("no")

    with pytest.warns(FitFailedWarning, match="C=2: no"):
        assert np.isnan(score(broken))


def test_costs_and_weights_count_in_the_score():
    scoring = Scoring.of(None, TAGS, CLASSES, {"low": 3}, np.array([1.0, 2.0, 1.0]))
    assert scoring.custom
    np.testing.assert_allclose(scoring.costs, [[0, 1, 2], [6, 0, 2], [6, 3, 0]])
    predicted, truth, weight = np.array([0, 2, 1]), np.array([1, 1, 1]), np.array([1.0, 1.0, 2.0])
    got = scoring.score(predicted, truth, DISTANCES[[0, 1, 0]], np.zeros((3, 1)), "", weight)
    assert got == pytest.approx(-(6 + 2) / 4)


def test_a_scorer_that_takes_weights_gets_them():
    weighted = Scoring.of("accuracy", TAGS, CLASSES)
    given = (LABELS, TRUTH, DISTANCES, ROWS, "")
    assert weighted.score(*given, np.array([3.0, 1.0])) == pytest.approx(0.75)
    plain = Scoring.of(lambda answer, X, y: float(np.mean(answer.predict(X) == y)), TAGS, CLASSES)
    assert plain.score(*given, np.array([3.0, 1.0])) == pytest.approx(0.5)


def test_a_single_expert_decides_by_the_median_unless_wrong_ranks_are_counted():
    off = np.abs(np.arange(3)[:, None] - np.arange(3))
    np.testing.assert_array_equal(Scoring.of(None, TAGS, CLASSES).expert_costs, off)
    np.testing.assert_array_equal(Scoring.of("accuracy", TAGS, CLASSES).expert_costs, off > 0)
    own = Scoring.of("accuracy", TAGS, CLASSES, {"high": 4})
    np.testing.assert_array_equal(own.expert_costs, np.triu(4 * off) + np.tril(off))

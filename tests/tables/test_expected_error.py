import numpy as np
import pytest

from tordinal.tables.expected_error import estimate_error

CLASSES = ["poor", "fair", "good"]


def ratings(n=100, seed=0):
    return np.random.default_rng(seed).choice(3, n, p=[0.2, 0.2, 0.6])


def noisy(truth, share, seed=1):
    """Predictions of which a share is wrong by one step."""
    rng = np.random.default_rng(seed)
    wrong = rng.random(len(truth)) < share
    return np.where(wrong, np.where(truth == 1, 2, 1), truth)


def test_a_good_answer_is_useful_and_says_by_how_much():
    truth = ratings()
    error = estimate_error(truth, noisy(truth, 0.2), CLASSES)
    assert error.judgement == "useful"
    assert error.most_frequent == "good"
    assert error.constant_accuracy == np.mean(truth == 2)
    said = str(error)
    assert said.startswith("Useful: ")
    assert f"{100 * error.accuracy:.0f} % exactly right (± " in said
    assert "always predicting good would be " in said


def test_a_constant_answer_is_no_better_and_is_reported_to_be():
    truth = ratings()
    error = estimate_error(truth, np.full(100, 2), CLASSES)
    assert error.judgement == "no better"
    assert str(error).startswith("No better than always predicting good: ")
    assert "Rate more rows" in str(error)


def test_both_constant_guesses_are_shown_where_they_differ():
    truth = np.repeat([0, 1, 2], [40, 25, 35])
    error = estimate_error(truth, noisy(truth, 0.2), CLASSES)
    assert (error.most_frequent, error.median) == ("poor", "fair")
    assert "always predicting poor would be 40 % right, always predicting fair would " in str(error)
    assert "would be off by 0.75 steps." in str(error)


def test_chance_alone_is_rarely_called_useful():
    called = [
        estimate_error(ratings(60, s), ratings(60, s + 999), CLASSES).judgement for s in range(200)
    ]
    assert called.count("useful") <= 20
    assert called.count("no better") > 100


@pytest.mark.parametrize("share", [0.05, 0.3, 0.6, 0.95])
def test_the_interval_covers_the_truth_nearly_as_often_as_it_says(share):
    covered = 0
    for seed in range(300):
        truth = ratings(60, seed)
        error = estimate_error(truth, noisy(truth, 1 - share, seed + 10_000), CLASSES)
        covered += abs(error.accuracy - share) <= error.accuracy_margin + 0.03
    assert covered >= 0.9 * 300


def test_few_ratings_give_no_estimate():
    error = estimate_error(np.array([0, 1, 2]), np.array([0, 1, 2]), CLASSES)
    assert error.judgement == "unknown"
    assert "only 3 could be held out" in str(error)

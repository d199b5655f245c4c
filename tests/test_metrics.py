import pickle

import numpy as np
import pytest
import sklearn.metrics
from hypothesis import given
from hypothesis import strategies as st
from problems import ordinal_problem

from tordinal import REDSVM
from tordinal.metrics import (
    SCORERS,
    macro_mean_absolute_error,
    mean_absolute_error,
    mean_zero_one_error,
    quadratic_weighted_kappa,
    ranked_probability_score,
)

ERRORS = [
    mean_zero_one_error,
    mean_absolute_error,
    macro_mean_absolute_error,
    quadratic_weighted_kappa,
]


def test_equal_to_scikit_learn():
    rng = np.random.default_rng(0)
    a, b = rng.integers(1, 6, 100), rng.integers(1, 6, 100)
    assert mean_zero_one_error(a, b) == pytest.approx(1 - sklearn.metrics.accuracy_score(a, b))
    assert mean_absolute_error(a, b) == pytest.approx(sklearn.metrics.mean_absolute_error(a, b))
    kappa = sklearn.metrics.cohen_kappa_score(a, b, weights="quadratic")
    assert quadratic_weighted_kappa(a, b) == pytest.approx(kappa)
    by_class = [np.abs(b[a == k] - k).mean() for k in range(1, 6)]
    assert macro_mean_absolute_error(a, b) == pytest.approx(np.mean(by_class))


@given(st.lists(st.floats(0.01, 1), min_size=2, max_size=2), st.integers(0, 1))
def test_with_two_classes_the_ranked_probability_score_is_briers(p, y):
    p = np.array(p) / sum(p)
    brier = sklearn.metrics.brier_score_loss([y], [p[1]], labels=[0, 1], pos_label=1)
    assert ranked_probability_score([y], [p], labels=[0, 1]) == pytest.approx(brier)


@pytest.mark.parametrize("metric", ERRORS)
def test_unlabelled_rows_are_excluded_when_asked_to(metric):
    true, predicted = [1, 2, 3, -1, 2], [1, 2, 2, 3, 2]
    assert metric(true, predicted, ignore_unlabeled=True) == pytest.approx(
        metric([1, 2, 3, 2], [1, 2, 2, 2])
    )
    with pytest.raises(ValueError, match="no label"):
        metric([-1, -1], [1, 2], ignore_unlabeled=True)
    p = np.full((3, 2), 0.5)
    assert ranked_probability_score(
        [0, 1, -1], p, labels=[0, 1], ignore_unlabeled=True
    ) == pytest.approx(0.25)


def test_words_need_their_order():
    with pytest.raises(ValueError, match="classes"):
        mean_absolute_error(["a", "b"], ["b", "b"])
    with pytest.raises(ValueError, match="shapes"):
        mean_zero_one_error([1, 2], [1])
    with pytest.raises(ValueError, match="not among"):
        mean_absolute_error(["a", "z"], ["a", "a"], classes=["a", "b"])
    with pytest.raises(ValueError, match="labels=classes_"):
        ranked_probability_score([1, 2], [[0.2, 0.3, 0.5], [0.2, 0.3, 0.5]])
    assert quadratic_weighted_kappa(["a", "b"], ["a", "b"], classes=["a", "b"]) == 1.0


@pytest.mark.parametrize("name", sorted(SCORERS))
def test_scorers_prefer_the_better_model(name):
    X, y = ordinal_problem(150, 4, noise=0.2)
    good, poor = REDSVM(kernel="rbf", C=10).fit(X, y), REDSVM(kernel="rbf", C=1e-4).fit(X, y)
    some = np.where(np.arange(150) % 3 == 0, -1, y)  # unlabelled rows do not disturb
    assert SCORERS[name](good, X, some) > SCORERS[name](poor, X, some)


def test_a_class_that_does_not_occur_keeps_its_place_in_kappa():
    true, predicted = [1, 2, 5, 5], [1, 5, 5, 2]
    kappa = sklearn.metrics.cohen_kappa_score(
        true, predicted, labels=[1, 2, 3, 4, 5], weights="quadratic"
    )
    assert quadratic_weighted_kappa(true, predicted) == pytest.approx(kappa)
    assert quadratic_weighted_kappa(true, predicted, classes=[1, 2, 3, 4, 5]) == pytest.approx(
        kappa
    )


@pytest.mark.parametrize("name", sorted(SCORERS))
def test_scorers_know_the_order_of_words(name):
    X, y = ordinal_problem(60, 3)
    words = ["poor", "fair", "good"]
    model = REDSVM(classes=words).fit(X, np.array(words)[y])
    assert np.isfinite(SCORERS[name](model, X, np.array(words)[y]))


def test_missing_marks_beside_words_and_lengths():
    assert mean_zero_one_error(["a", np.nan], ["a", "b"], ignore_unlabeled=True) == 0.0
    with pytest.raises(ValueError, match="3 rows and y_proba 2"):
        ranked_probability_score([1, 2, 1], [[0.5, 0.5]] * 2, ignore_unlabeled=True)


def test_scorers_count_minus_one_where_it_is_a_class_and_can_be_pickled():
    X, y = ordinal_problem(60, 3)
    y = y - 1
    model = REDSVM().fit(X, y)
    error = mean_absolute_error(y, model.predict(X), classes=model.classes_)
    assert error > 0
    scorer = pickle.loads(pickle.dumps(SCORERS["neg_mean_absolute_error"]))
    assert scorer(model, X, y) == pytest.approx(-error)
    assert SCORERS["neg_mean_zero_one_error"](model, X, y) == pytest.approx(model.score(X, y) - 1)


def test_kappa_of_half_stars_and_of_one_label():
    halves = [0.5, 1.0, 1.5, 3.0], [0.5, 1.0, 3.0, 3.0]
    doubled = [[int(2 * v) for v in values] for values in halves]
    expected = sklearn.metrics.cohen_kappa_score(*doubled, weights="quadratic", labels=range(7))
    assert quadratic_weighted_kappa(*halves) == pytest.approx(expected)
    assert quadratic_weighted_kappa([2, 2], [2, 2]) == 1.0

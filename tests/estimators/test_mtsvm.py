import numpy as np
import pytest
from problems import hide, ordinal_problem

from tordinal import MTSVM, TOR
from tordinal.transduction import class_counts


@pytest.mark.parametrize("kernel", ["linear", "perceptron", "rbf"])
def test_two_classes_are_tor(kernel):
    X, y = ordinal_problem(60, 2, noise=1.0)
    hidden = hide(y, 12)
    many, one = MTSVM(kernel=kernel).fit(X, hidden), TOR(kernel=kernel).fit(X, hidden)
    np.testing.assert_array_equal(many.transduction_, one.transduction_)
    np.testing.assert_allclose(many.decision_function(X), one.decision_function(X), atol=1e-8)


@pytest.mark.parametrize("class_ratio", ["labeled", [1, 2, 3, 4]])
def test_class_counts_follow_the_ratio(class_ratio):
    X, y = ordinal_problem(80, 4, noise=1.0)
    hidden = hide(y, 20)
    model = MTSVM(kernel="rbf", class_ratio=class_ratio).fit(X, hidden)
    unlabeled = hidden == -1
    shares = (
        np.bincount(hidden[~unlabeled]) / 20
        if class_ratio == "labeled"
        else np.array(class_ratio) / 10
    )
    wanted = [
        class_counts(np.array([1 - share, share]), int(unlabeled.sum()))[1] for share in shares
    ]
    np.testing.assert_array_equal(model.pseudo_labels_[unlabeled].sum(axis=0), wanted)


def test_the_largest_decision_value_wins():
    X, y = ordinal_problem(80, 4, noise=1.0)
    hidden = hide(y, 20)
    model = MTSVM(kernel="rbf").fit(X, hidden)
    unlabeled = hidden == -1
    first, second = np.sort(model.decision_function(X), axis=1).T[[-1, -2]]
    clear = unlabeled & (first - second > 1e-6)  # two margins of exactly -1 tie, to rounding
    assert clear.sum() > 40
    np.testing.assert_array_equal(model.transduction_[clear], model.predict(X)[clear])
    # Of those that tie, the one with the largest intercept wins.
    values = np.round(model.decision_function(X), 6)
    best = np.where(values == values.max(axis=1, keepdims=True), model.intercept_, -np.inf)
    np.testing.assert_array_equal(model.predict(X), best.argmax(axis=1))


@pytest.mark.parametrize("seed", range(5))
def test_the_order_of_classes_and_rows_does_not_matter(seed):
    X, y = ordinal_problem(80, 4, noise=1.0, seed=seed)
    hidden = hide(y, 20)
    model = MTSVM(C=10, tol=1e-6).fit(X, hidden)
    reversed_ranks = MTSVM(C=10, tol=1e-6).fit(X, np.where(hidden == -1, -1, 3 - hidden))
    np.testing.assert_array_equal(reversed_ranks.transduction_, 3 - model.transduction_)
    order = np.random.default_rng(seed).permutation(80)
    permuted = MTSVM(C=10, tol=1e-6).fit(X[order], hidden[order])
    np.testing.assert_array_equal(permuted.transduction_, model.transduction_[order])


@pytest.mark.parametrize("cache_size", [100, 0.02])
def test_results_do_not_depend_on_n_jobs(cache_size):
    X, y = ordinal_problem(80, 4, noise=1.0)
    hidden = hide(y, 20)
    one = MTSVM(kernel="perceptron", cache_size=cache_size, n_jobs=1).fit(X, hidden)
    two = MTSVM(kernel="perceptron", cache_size=cache_size, n_jobs=2).fit(X, hidden)
    np.testing.assert_array_equal(one.transduction_, two.transduction_)
    np.testing.assert_allclose(one.dual_coef_, two.dual_coef_, atol=1e-10)

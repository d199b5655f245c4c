import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from problems import hide, ordinal_problem

from tordinal import TOR
from tordinal.class_ratios import (
    check_class_ratio,
    estimate_ratio,
    resolve_ratio,
)


def test_class_ratios():
    np.testing.assert_allclose(check_class_ratio([1, 3], 2), [0.25, 0.75])
    assert check_class_ratio("uniform", 2) == "uniform"
    for bad in ([1], [1, -1], [0, 0], [1, np.nan]):
        with pytest.raises(ValueError, match="class_ratio"):
            check_class_ratio(bad, 2)
    rank = np.array([0, 0, 1, -1, -1])

    class Fit:
        h, thresholds = np.array([0, 0, 0, 1.0, 1.0]), np.array([0.5])

    for name, ratio in {
        "labeled": [2 / 3, 1 / 3], "uniform": [0.5, 0.5], "predicted": [0.0, 1.0],
        "blend": [1 / 3, 2 / 3],
    }.items():  # fmt: skip
        np.testing.assert_allclose(resolve_ratio(name, rank, Fit(), 2), ratio)


def drawn(ratio, n, noise, seed):
    """Calibrated posteriors, for equal shares, of rows drawn with another ratio."""
    rng = np.random.default_rng(seed)
    y = rng.choice(len(ratio), n, p=ratio)
    x = y + noise * rng.standard_normal(n)
    density = np.exp(-0.5 * ((x[:, None] - np.arange(len(ratio))) / noise) ** 2)
    return density / density.sum(axis=1, keepdims=True)


def test_the_estimate_finds_the_ratio_of_rows_drawn_with_another_one():
    ratio = np.array([0.6, 0.3, 0.1])
    labeled = np.full(3, 1 / 3)
    p = drawn(ratio, 5000, 0.3, 0)
    np.testing.assert_allclose(estimate_ratio(p, labeled, 0), ratio, atol=0.02)
    # More labels draw it towards theirs.
    off = [np.abs(estimate_ratio(p, labeled, n) - labeled).max() for n in (0, 50, 500, 50_000)]
    assert sorted(off, reverse=True) == off
    assert off[-1] < 0.01


def test_posteriors_that_say_nothing_leave_the_labelled_ratio():
    labeled = np.array([0.7, 0.2, 0.1])
    p = np.tile(labeled, (100, 1))
    np.testing.assert_allclose(estimate_ratio(p, labeled, 10), labeled)


@given(st.integers(0, 50), st.integers(2, 5), st.floats(0.2, 5.0), st.integers(0, 200))
@settings(max_examples=30, deadline=None)
def test_an_estimate_is_a_ratio(seed, K, noise, n_labels):
    rng = np.random.default_rng(seed)
    p = drawn(rng.dirichlet(np.ones(K)), 40, noise, seed)
    labeled = rng.dirichlet(np.ones(K))
    ratio = estimate_ratio(p, labeled, n_labels)
    assert ratio.min() >= 0
    np.testing.assert_allclose(ratio.sum(), 1.0)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_tor_with_an_estimated_ratio_corrects_unlucky_labels(kernel):
    X, y = ordinal_problem(300, 3, seed=3)
    rng = np.random.default_rng(0)
    # Twenty labels of the lowest class, five of each other one, where shares are equal.
    kept = np.concatenate(
        [rng.permutation(np.flatnonzero(y == k))[: (20, 5, 5)[k]] for k in range(3)]
    )
    hidden = np.full(300, -1)
    hidden[kept] = y[kept]
    true = np.bincount(y[hidden == -1]) / (hidden == -1).sum()

    def off(ratio):
        model = TOR(kernel=kernel, swaps="all", class_ratio=ratio).fit(X, hidden)
        return np.abs(
            np.bincount(model.transduction_[hidden == -1], minlength=3) / 270 - true
        ).sum()

    assert off("estimated") < off("labeled")


def test_a_class_without_unlabelled_rows_or_a_single_fold_is_no_obstacle():
    X, y = ordinal_problem(40, 2, seed=1)
    model = TOR(class_ratio="estimated").fit(X, hide(y, 3))
    assert set(model.transduction_) <= {0, 1}


def test_labelled_rows_count_by_their_weights():
    rank, weight = np.array([0, 0, 1, -1]), np.array([1.0, 0.0, 3.0, 1.0])
    ratio = resolve_ratio("labeled", rank, None, 2, weight=weight)
    np.testing.assert_allclose(ratio, [0.25, 0.75])
    X, y = ordinal_problem(90, 3)
    hidden = hide(y, 45)
    weight = np.where(hidden == 0, 0.0, 1.0)
    weight[np.flatnonzero(hidden == 0)[:2]] = 1.0
    kept = (weight > 0) | (hidden == -1)
    free = hidden == -1
    weighted = TOR(class_ratio="labeled").fit(X, hidden, sample_weight=weight)
    without = TOR(class_ratio="labeled").fit(X[kept], hidden[kept])
    assert np.array_equal(
        np.bincount(weighted.transduction_[free]), np.bincount(without.transduction_[free[kept]])
    )

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.ensemble import RandomForestClassifier

from tordinal.inference import check_representative, estimate_mean, selection_probabilities


def rows(seed=0, n=600):
    return np.random.default_rng(seed).normal(size=(n, 6))


def chosen(score, n, seed=0):
    """Rows rated by chance, the likelier the higher their score."""
    odds = np.exp(score)
    mask = np.zeros(len(score), dtype=bool)
    rng = np.random.default_rng(seed)
    mask[rng.choice(len(score), n, replace=False, p=odds / odds.sum())] = True
    return mask


def test_false_alarms_are_as_rare_as_promised():
    p_values = [
        check_representative(rows(seed), chosen(np.zeros(600), 60, seed)).p_value
        for seed in range(80)
    ]
    assert np.mean(np.array(p_values) < 0.05) < 0.1
    assert 0.4 < np.mean(p_values) < 0.6


def test_a_biased_selection_is_found_and_its_features_are_named():
    X = pd.DataFrame(rows(), columns=["age", "length", "price", "a", "b", "c"])
    X["shop"] = np.where(X["price"] > 0, "north", "south")
    result = check_representative(X, chosen(1.5 * X["price"].to_numpy(), 60), n_features=3)
    assert not result.representative
    assert result.auc > 0.6
    assert result.features["feature"].iloc[0] == "price"
    assert result.features["p_value"].iloc[0] < 0.01
    assert result.features["difference"].iloc[0] > 0.5
    assert set(result.features["feature"]) == {"price", "shop_north", "shop_south"}


def test_sparse_rows():
    X = sp.random_array((600, 50), density=0.1, rng=np.random.default_rng(0), format="csc")
    rated = chosen(6.0 * X[:, [7]].toarray().ravel(), 150)
    result = check_representative(X, rated)
    assert result.features["feature"].iloc[0] == "x7"
    assert not result.representative
    assert not check_representative(X.toarray(), rated).representative


def test_the_estimate_is_right_again_with_probabilities_from_the_features():
    errors = {"plain": [], "reweighted": []}
    for seed in range(15):
        X = rows(seed)
        rng = np.random.default_rng(seed)
        truth = np.digitize(X[:, 0] + 0.5 * rng.normal(size=600), [-1, 0, 1])
        rated = chosen(X[:, 0], 100, seed)
        y, useless = np.where(rated, truth, -1), np.full((600, 4), 0.25)
        probabilities = selection_probabilities(X, rated)
        for name, given in (("plain", None), ("reweighted", probabilities)):
            estimate = estimate_mean(y, useless, classes=range(4), probabilities=given)
            errors[name].append(estimate.value - truth.mean())
    assert np.mean(errors["plain"]) > 0.4
    assert abs(np.mean(errors["reweighted"])) < 0.5 * np.mean(errors["plain"])
    assert probabilities.sum() == pytest.approx(100, rel=0.1)
    assert probabilities.min() >= 100 / 600 / 10
    # A selection of both ends needs a classifier that is not linear.
    rated = chosen(2.0 * np.abs(X[:, 0]), 100)
    forest = RandomForestClassifier(100, min_samples_leaf=10, random_state=0)
    probabilities = selection_probabilities(X, rated, estimator=forest)
    far = np.abs(X[:, 0]) > 1
    assert probabilities[far].mean() > 2 * probabilities[~far].mean()


@pytest.mark.parametrize(
    ("X", "labeled", "message"),
    [
        (rows(), np.arange(600), r"labeled must be 600 booleans.*got int"),
        (rows(), np.ones(5, dtype=bool), r"got bool of shape \(5,\)"),
        (rows(), np.ones(600, dtype=bool), "600 rated and 0 unrated rows"),
        (np.full((600, 2), np.nan), np.arange(600) < 60, "X has values that are NaN"),
        (np.zeros(600), np.arange(600) < 60, r"X has shape \(600,\)"),
    ],
)
def test_what_cannot_be_compared_is_rejected(X, labeled, message):
    with pytest.raises(ValueError, match=message):
        check_representative(X, labeled)


def test_many_ratings_and_one_feature_leave_hardly_any_bias():
    errors, held = [], 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=800)
        truth = np.clip(np.round(3 + x + 0.5 * rng.normal(size=800)), 1, 5).astype(int)
        rated = rng.random(800) < 1 / (1 + np.exp(1.5 - x))
        y, useless = np.where(rated, truth, -1), np.full((800, 5), 0.2)
        probabilities = selection_probabilities(x[:, None], rated)
        found = estimate_mean(y, useless, classes=range(1, 6), probabilities=probabilities)
        errors.append(found.value - truth.mean())
        held += found.low <= truth.mean() <= found.high
    assert abs(np.mean(errors)) < 0.04  # 0.07 with a strong penalty
    assert held >= 24

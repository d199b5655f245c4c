import numpy as np
import pytest
import scipy.sparse as sp

from tordinal.tables.groups import useless_groups


def groups_with_noise(n=120, seed=0):
    """One group that says much about the ratings, and one of many features that says nothing."""
    rng = np.random.default_rng(seed)
    good = rng.normal(size=(n, 2))
    y = np.digitize(good[:, 0] + 0.3 * rng.normal(size=n), [-0.5, 0.5])
    bad = rng.normal(size=(n, 40))
    groups = {"review": np.arange(2), "product": np.arange(2, 42)}
    return np.hstack([good, bad]), y, groups


def test_what_drowns_the_rest_is_excluded():
    X, y, groups = groups_with_noise()
    told = []
    useless = useless_groups(X, y, 3, groups, [], 0, lambda *progress: told.append(progress))
    assert list(useless) == ["product"]
    assert 0 <= useless["product"] < 0.5
    assert told[-1][0] == told[-1][1]
    assert useless_groups(sp.csr_array(X), y, 3, groups, [], 0) == useless


def test_what_helps_is_kept():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(150, 2))
    y = np.digitize(X.sum(axis=1), [-0.7, 0.7])
    assert useless_groups(X, y, 3, {"one": np.array([0]), "two": np.array([1])}, [], 0) == {}


def test_one_group_or_few_ratings_are_left_alone():
    X, y, groups = groups_with_noise()
    assert useless_groups(X, y, 3, {"all": np.arange(42)}, [], 0) == {}
    assert useless_groups(X[:10], y[:10], 3, groups, [], 0) == {}


@pytest.mark.parametrize("seed", range(5))
def test_the_rows_own_words_are_not_excluded_on_noise(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(150, 20)), rng.integers(0, 5, 150)  # nothing says anything
    groups = {"text": np.arange(8), "title": np.arange(8, 14), "shop": np.arange(14, 20)}
    useless = useless_groups(X, y, 5, groups, ["text", "title"], seed)
    assert "text" not in useless
    assert "title" not in useless


def test_the_longest_text_stays_and_another_goes_only_with_evidence():
    X, y, groups = groups_with_noise(seed=1)
    assert useless_groups(X, y, 3, groups, ["product", "review"], 0) == {}
    assert list(useless_groups(X, y, 3, groups, ["review", "product"], 0)) == ["product"]

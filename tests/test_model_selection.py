import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from problems import hide, ordinal_problem
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tordinal import TOR
from tordinal.metrics import SCORERS
from tordinal.model_selection import TransductiveKFold, content_folds


@given(
    st.lists(st.integers(-1, 4), min_size=12, max_size=80), st.integers(2, 6), st.integers(0, 99)
)
def test_properties_of_the_splitter(y, n_splits, seed):
    y = np.array(y)
    classes, counts = np.unique(y[y >= 0], return_counts=True)
    splitter = TransductiveKFold(n_splits, random_state=seed)
    if len(classes) < 2 or counts[counts > 1].sum() < n_splits:
        with pytest.raises(ValueError, match=r"n_splits|one class|no row"):
            list(splitter.split(y, y))
        return
    splits = list(splitter.split(y, y))
    assert len(splits) == splitter.get_n_splits() == n_splits
    tested = np.concatenate([test for _, test in splits])
    assert len(set(tested)) == len(tested)
    for train, test in splits:
        assert len(test) > 0
        assert np.all(y[test] >= 0)
        assert not set(train) & set(test)
        assert set(np.flatnonzero(y < 0)) <= set(train)  # unlabelled rows are in every training set
        assert set(y[train][y[train] >= 0]) == set(classes)  # no class is dropped from training
        assert len(train) + len(test) == len(y)
    for label, count in zip(classes, counts, strict=True):
        per_fold = [np.sum(y[test] == label) for _, test in splits]
        assert max(per_fold) - min(per_fold) <= 1  # as even as can be
        assert sum(per_fold) == (count if count > 1 else 0)
    sizes = [len(test) for _, test in splits]
    assert max(sizes) - min(sizes) <= 1


def test_every_mark_of_an_unlabelled_row_and_a_repeatable_shuffle():
    y = pd.Series(["a", None, "b", "a", "b", None, "a", "b"])
    splits = [list(TransductiveKFold(2, random_state=3).split(y, y)) for _ in range(2)]
    for (train, test), (train2, test2) in zip(*splits, strict=True):
        np.testing.assert_array_equal(train, train2)
        np.testing.assert_array_equal(test, test2)
        assert {1, 5} <= set(train)
    with pytest.raises(ValueError, match="at least 2"):
        list(TransductiveKFold(1).split(y, y))


def test_grid_search_and_cross_validation_in_a_pipeline():
    X, y = ordinal_problem(100, 3)
    hidden = hide(y, 40)
    pipeline = make_pipeline(StandardScaler(), TOR(kernel="perceptron"))
    folds = TransductiveKFold(4, random_state=0)
    search = GridSearchCV(
        pipeline,
        {"tor__C": [0.01, 1.0]},
        cv=folds,
        scoring=SCORERS["neg_mean_absolute_error"],
        error_score="raise",
    ).fit(X, hidden)
    assert search.best_params_["tor__C"] in (0.01, 1.0)
    assert np.mean(search.predict(X) == y) > 0.5
    scores = cross_validate(pipeline, X, hidden, cv=folds, error_score="raise")["test_score"]
    assert len(scores) == 4
    assert np.isfinite(scores).all()


def test_content_folds_do_not_depend_on_order_or_repetition():
    X, y = ordinal_problem(40, 3)
    fold = content_folds(X, y, 5)
    order = np.random.default_rng(0).permutation(40)
    np.testing.assert_array_equal(content_folds(X[order], y[order], 5), fold[order])
    repeated = np.repeat(np.arange(40), np.random.default_rng(1).integers(1, 4, 40))
    np.testing.assert_array_equal(content_folds(X[repeated], y[repeated], 5), fold[repeated])


def test_folds_of_words_need_no_order(recwarn):
    y = ["good", None, "poor", "fair", None, "good", "poor", "fair"]
    folds = list(TransductiveKFold(2, random_state=0).split(np.zeros((8, 1)), y))
    assert sorted(i for _, test in folds for i in test) == [0, 2, 3, 5, 6, 7]
    assert not recwarn.list

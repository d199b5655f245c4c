import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from problems import hide, ordinal_problem
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from tordinal import REDSVM, TOR
from tordinal.inference import cross_fitted_proba, estimate_mean
from tordinal.model_selection import TransductiveKFold


class Memory(ClassifierMixin, BaseEstimator):
    """Knows the labels of the rows that it has seen, and says class 0 of all others."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.seen_ = dict(zip(np.asarray(X)[:, 0].tolist(), np.asarray(y).tolist(), strict=True))
        return self

    def predict_proba(self, X):
        labels = [self.seen_.get(x, self.classes_[0]) for x in np.asarray(X)[:, 0].tolist()]
        return (np.array(labels)[:, None] == self.classes_).astype(float)


def problem(n=60, seed=0):
    X, y = ordinal_problem(300, 3, n_features=4, seed=seed)
    rng = np.random.default_rng(seed)
    rated = np.sort(rng.choice(300, n, replace=False))
    hidden = np.full(300, -1)
    hidden[rated] = y[rated]
    return X, y, hidden


def test_no_row_is_predicted_by_a_model_that_has_seen_it():
    _, _, hidden = problem()
    P = cross_fitted_proba(Memory(), np.arange(300.0)[:, None], hidden)
    np.testing.assert_array_equal(P[:, 0], 1.0)


def test_the_estimates_of_a_model_that_learns_by_heart_are_right():
    held = []
    for seed in range(60):
        _, truth, hidden = problem(seed=seed)
        P = cross_fitted_proba(Memory(), np.arange(300.0)[:, None], hidden, random_state=seed)
        estimate = estimate_mean(hidden, P)
        held.append(estimate.low <= truth.mean() <= estimate.high)
    assert 0.8 < np.mean(held) < 0.98


def test_unrated_rows_get_the_mean_over_the_folds():
    X, _, hidden = problem()
    P = cross_fitted_proba(REDSVM(loss="logistic"), X, hidden, cv=KFold(3))
    rated, unrated = np.flatnonzero(hidden >= 0), np.flatnonzero(hidden < 0)
    expected = np.zeros((len(unrated), 3))
    for train, test in KFold(3).split(rated):
        model = REDSVM(loss="logistic").fit(X[rated[train]], hidden[rated[train]])
        expected += model.predict_proba(X[unrated]) / 3
        np.testing.assert_allclose(P[rated[test]], model.predict_proba(X[rated[test]]))
    np.testing.assert_allclose(P[unrated], expected)


def test_a_transductive_model_sees_all_rows_but_not_the_labels_of_the_fold():
    X, _, hidden = problem()
    P = cross_fitted_proba(TOR(loss="logistic"), X, hidden, cv=KFold(2))
    rated = np.flatnonzero(hidden >= 0)
    _train, test = next(iter(KFold(2).split(rated)))
    seen = hidden.copy()
    seen[rated[test]] = -1
    model = TOR(loss="logistic").fit(X, seen)
    np.testing.assert_allclose(P[rated[test]], model.predict_proba(X[rated[test]]))
    inside = make_pipeline(StandardScaler(), TOR(loss="logistic"))
    assert cross_fitted_proba(inside, X, hidden, cv=2, transductive=True).shape == (300, 3)


def test_coverage_with_a_transductive_model():
    held = []
    for seed in range(25):
        X, truth, hidden = problem(seed=seed)
        P = cross_fitted_proba(TOR(loss="logistic"), X, hidden, random_state=seed)
        estimate = estimate_mean(hidden, P)
        held.append(estimate.low <= truth.mean() <= estimate.high)
    assert np.mean(held) >= 0.76


def test_kinds_of_rows_and_labels_agree():
    X, _, hidden = problem()
    expected = cross_fitted_proba(REDSVM(loss="logistic"), X, hidden)
    for rows in (pd.DataFrame(X), sp.csr_array(X), sp.csc_array(X), X.tolist()):
        P = cross_fitted_proba(REDSVM(loss="logistic"), rows, hidden)
        np.testing.assert_allclose(P, expected, atol=1e-3)
    words = ["poor", "fair", "good"]  # not in the order of the alphabet
    named = [words[k] if k >= 0 else None for k in hidden]
    P = cross_fitted_proba(REDSVM(loss="logistic"), X, named, classes=words)
    np.testing.assert_allclose(P, expected, atol=1e-6)
    P = cross_fitted_proba(LogisticRegression(), X, named, classes=words)
    assert np.mean(P.argmax(axis=1) == expected.argmax(axis=1)) > 0.7


def test_classes_that_a_fold_or_all_ratings_lack_have_their_column():
    X, _, _ = problem()
    hidden = hide(np.zeros(300, dtype=int), 20)
    hidden[np.flatnonzero(hidden == 0)[0]] = 1  # one row of its class
    P = cross_fitted_proba(REDSVM(loss="logistic"), X, hidden, classes=range(4))
    assert P.shape == (300, 4)
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
    assert (P[:, 2:] == 0).all()
    alone = cross_fitted_proba(REDSVM(), X, np.where(hidden >= 0, 2, -1), classes=range(4))
    assert (alone[:, 2] == 1).all()


def test_what_cannot_be_cross_fitted_is_rejected():
    X, _, hidden = problem()
    with pytest.raises(TypeError, match="has no predict_proba"):
        cross_fitted_proba(LinearSVC(), X, hidden)
    with pytest.raises(ValueError, match="X has 10 rows but y has 300"):
        cross_fitted_proba(REDSVM(), X[:10], hidden)
    with pytest.raises(
        ValueError, match="cv=61 must be between 2 and the number of rated rows, 60"
    ):
        cross_fitted_proba(REDSVM(), X, hidden, cv=61)
    hidden[np.flatnonzero(hidden == 2)[1:]] = -1  # the only rating of a class is never held out
    with pytest.raises(ValueError, match=r"must hold out each of the .* rated rows once"):
        cross_fitted_proba(REDSVM(), X, hidden, cv=TransductiveKFold(3))


def test_pipelines_know_the_order_of_the_classes_and_unlabelled_rows():
    X, _, hidden = problem()
    names = np.array(["poor", "fair", "good"], dtype=object)
    given = np.where(hidden == -1, None, names[hidden])
    unchanged = StandardScaler(with_mean=False, with_std=False)
    alone, within = (
        cross_fitted_proba(model, X, given, classes=names.tolist())
        for model in (REDSVM(), make_pipeline(unchanged, REDSVM()))
    )
    assert np.allclose(alone, within)
    step = make_pipeline(unchanged, TOR())
    assert np.allclose(
        cross_fitted_proba(step, X, hidden), cross_fitted_proba(TOR(), X, hidden), atol=1e-3
    )


def test_fractions_are_ranks_to_classifiers_of_scikit_learn():
    X, _, hidden = problem()
    halves = np.where(hidden == -1, np.nan, 1.0 + hidden / 2)
    p = cross_fitted_proba(LogisticRegression(), X, halves, classes=[1.0, 1.5, 2.0])
    assert np.allclose(p, cross_fitted_proba(LogisticRegression(), X, hidden))


def test_the_classes_of_the_estimator_are_the_scale():
    X, _, hidden = problem()
    p = cross_fitted_proba(REDSVM(classes=[0, 1, 2, 3]), X, hidden)
    assert p.shape == (300, 4)
    assert np.all(p[:, 3] == 0)

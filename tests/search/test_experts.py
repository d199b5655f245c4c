import numpy as np
import pytest
import scipy.sparse as sp
from problems import hide, ordinal_problem, search_data
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from tordinal import TOR, TORCV
from tordinal.calibration import identity_calibration
from tordinal.progress import Progress
from tordinal.search.experts import (
    cross_validate_experts,
    expert_distances,
    expert_ranks,
    read_experts,
)


class Spy(ClassifierMixin, BaseEstimator):
    """Notes the ranks and columns that each copy was fitted to."""

    seen = ()

    def __init__(self, fails=0):
        self.fails = fails

    def fit(self, X, y):
        type(self).seen += ((X.shape[1], np.asarray(y)),)
        if len(type(self).seen) == self.fails:
            raise RuntimeError("out of luck")
        self.classes_ = np.unique(y[y >= 0])
        return self

    def predict_proba(self, X):
        return np.full((X.shape[0], len(self.classes_)), 1 / len(self.classes_))


@pytest.fixture(autouse=True)
def forget():
    Spy.seen = ()


def tried(experts, make=np.asarray, heard=None):
    X, y = ordinal_problem(90, 3)
    data = search_data(make(X), hide(y, 30), cv=3, cv_unlabeled=20)
    owner = TORCV(callback=None if heard is None else lambda *what: heard.append(what))
    return data, cross_validate_experts(data, read_experts(experts, 3), Progress(owner, 1))


def test_experts_are_named_and_distinguished():
    own = ("own", SVC(probability=True), slice(1, None))
    semi = ("semi", LogisticRegression(), None, True)
    read = read_experts([DummyClassifier(), DummyClassifier(), own, TOR(), semi], 3)
    assert [e.name for e in read] == [
        "dummyclassifier-1",
        "dummyclassifier-2",
        "own",
        "tor",
        "semi",
    ]
    assert [e.transductive for e in read] == [False, False, False, True, True]
    assert read[2].columns.tolist() == [1, 2]
    assert read_experts([make_pipeline(StandardScaler(), TOR())], 3)[0].transductive
    assert read_experts(None, 3) == []


@pytest.mark.parametrize(
    ("experts", "message"),
    [
        (DummyClassifier(), "must be a list"),
        ([DummyClassifier], r"DummyClassifier is a class. Pass DummyClassifier\(\)"),
        ([SVC()], "has no predict_proba"),
        ([("a",)], r"must be \(name, estimator\)"),
        ([(1, DummyClassifier())], r"must be \(name, estimator\)"),
        ([("a", DummyClassifier()), ("a", DummyClassifier())], "'a' occurs twice"),
        (
            [("a", DummyClassifier(), [7])],
            "columns of expert 'a' must select some of the 3",
        ),
    ],
)
def test_bad_experts_are_named(experts, message):
    with pytest.raises(ValueError, match=message):
        read_experts(experts, 3)


class Fixed:
    """Gives the probabilities that it was told."""

    def __init__(self, classes, p):
        self.classes_, self.p = classes, np.array(p)

    def predict_proba(self, X):
        return self.p


def test_the_logistic_curve_gives_an_experts_probabilities_back():
    p = np.random.default_rng(0).dirichlet(np.ones(4), 50)
    distances = expert_distances(Fixed([0, 1, 2, 3], p), np.zeros(50), 4)
    assert (np.diff(distances) <= 0).all()
    again = identity_calibration(3).probabilities(distances)
    np.testing.assert_allclose(again, p, atol=2e-3)  # the shares of the uniform distribution
    np.testing.assert_array_equal(expert_ranks(distances, "zero_one"), again.argmax(axis=1))
    median = (p.cumsum(axis=1) < 0.5).sum(axis=1)
    agree = expert_ranks(distances, "absolute") == median
    assert agree[np.abs(p.cumsum(axis=1) - 0.5).min(axis=1) > 2e-3].all()


def test_a_class_that_an_expert_does_not_know_has_nearly_no_probability():
    expert = Fixed([0, 2], [[0.0, 1.0], [1.0, 0.0], [0.5, 0.5]])
    distances = expert_distances(expert, np.zeros(3), 4)
    p = identity_calibration(3).probabilities(distances)
    assert np.isfinite(distances).all()
    np.testing.assert_allclose(p, [[0, 0, 1, 0], [1, 0, 0, 0], [0.5, 0, 0.5, 0]], atol=2e-3)


@pytest.mark.parametrize(
    ("classes", "p", "message"),
    [
        ([-1, 0], [[0.5, 0.5]], "treats .-1. as classes"),
        ([0, 1], [[0.5]], r"shape \(1, 1\)"),
        ([0, 1], [[np.nan, 1.0]], "not probabilities"),
        ([0, 1], [[-0.5, 1.5]], "not probabilities"),
        ([0, 1], [[0.0, 0.0]], "not probabilities"),
    ],
)
def test_what_is_no_probability_is_an_error(classes, p, message):
    with pytest.raises(ValueError, match=message):
        expert_distances(Fixed(classes, p), np.zeros(1), 2)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_held_out_predictions_are_those_of_the_estimator(make):
    tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    data, (trial,) = tried([tree], make)
    X, rank = data.rows.X, data.rows.rank
    assert sorted(trial.scores) == list(range(6))
    for split in range(6):
        hidden = data.labeled[data.held_out(split)]
        known = np.setdiff1d(data.labeled, hidden)
        p = tree.fit(X[known], rank[known]).predict_proba(X[hidden])
        expected = (p.cumsum(axis=1) < 0.5 - 1e-3).sum(axis=1)
        clear = np.abs(p.cumsum(axis=1) - 0.5).min(axis=1) > 2e-3
        np.testing.assert_array_equal(trial.labels[split][clear], expected[clear])
    assert sorted(trial.distances) == [0, 1, 2]


def test_only_transductive_experts_see_unlabelled_rows_and_none_a_held_out_label():
    heard = []
    data, _ = tried(
        [("plain", Spy(), [0, 2]), ("all", Spy(), lambda X: X[:, :1], True)], heard=heard
    )
    plain, whole = Spy.seen[:6], Spy.seen[6:]
    sizes = [len(data.held_out(split)) for split in range(6)]
    assert [(n, len(y), y.min()) for n, y in plain] == [(2, 30 - size, 0) for size in sizes]
    assert [(n, len(y), (y < 0).sum()) for n, y in whole] == [(1, 50, 20 + size) for size in sizes]
    assert heard == [("experts", done + 1, 12) for done in range(12)]


def test_an_expert_that_fails_in_a_fold_drops_out_with_a_warning():
    with pytest.warns(
        FitFailedWarning, match="'spy' failed .* RuntimeError: out of luck"
    ) as caught:
        _, (spy, other) = tried([Spy(fails=3), DummyClassifier()])
    assert len(caught) == 1
    assert spy.dropped
    assert not other.dropped

import numpy as np
import pytest
import scipy.sparse as sp
from problems import hide, ordinal_problem

import tordinal.search.search as search_module
from tordinal import REDSVM, TOR, TORCV
from tordinal.fitting import Recipe
from tordinal.progress import Progress
from tordinal.search.candidates import Candidate
from tordinal.search.search import Search, best_settings


@pytest.fixture
def search():
    X, y = ordinal_problem(90, 3)
    owner = TORCV(cv=3)
    owner.classes_ = np.arange(3)
    return Search(owner, Recipe(), X, hide(y, 30), {None: None}, Progress(owner, 1))


def score_of(search, model, transductive):
    """The mean over the folds of minus the absolute error, by fitting the estimator itself."""
    scores = []
    for k in range(search.n_splits):
        fold = np.full(len(search.rank), -1)
        fold[search.labeled] = search.folds[0][: len(search.labeled)]
        rows = np.flatnonzero(fold == k)
        visible = np.where(fold == k, -1, search.rank)
        if transductive:
            predicted = model.fit(search.X, visible).transduction_[rows]
        else:
            known = visible >= 0
            predicted = model.fit(search.X[known], visible[known]).predict(search.X[rows])
        scores.append(-np.abs(predicted - search.rank[rows]).mean())
    return scores


def test_supervised_scores_are_those_of_the_estimator(search):
    candidates = [Candidate(C, "linear", "hinge") for C in (0.1, 1.0)]
    trials = search.supervised(candidates)
    for trial, C in zip(trials, (0.1, 1.0), strict=True):
        expected = score_of(search, REDSVM(C=C, tol=1e-5), False)
        first = [trial.scores[k] for k in range(3)]
        np.testing.assert_allclose(first, expected, atol=0.11)  # a row near a threshold may differ


def test_transductive_scores_are_those_of_the_estimator(search):
    search.supervised([Candidate(1.0, "linear", "hinge")])
    (trial,) = search.race([Candidate(1.0, "linear", "hinge", True)])
    expected = score_of(search, TOR(), True)
    np.testing.assert_allclose([trial.scores[k] for k in range(3)], expected, atol=0.11)


def test_the_worse_candidates_drop_out_fold_by_fold(search):
    search.supervised([Candidate(C, "linear", "hinge") for C in (1e-6, 1.0)])
    trials = search.race([Candidate(C, "linear", "hinge", True) for C in (1e-6, 1e-5, 0.5, 1.0)])
    assert [t.dropped for t in trials].count(True) == 2
    assert sorted(len(t.scores) for t in trials) == [1, 2, 3, 3]
    assert all(t.dropped == (len(t.scores) < 3) for t in trials)
    assert all(search.estimate(t) > -np.inf for t in trials if not t.dropped)


def test_with_few_labels_the_supervised_choice_keeps_a_part_of_the_say(search, monkeypatch):
    plain = search.supervised([Candidate(C, "linear", "hinge") for C in (1.0, 0.1)])
    trials = plain + search.race([Candidate(1.0, "linear", "hinge", True)])
    trials[2].scores = dict.fromkeys(range(3), 1.0)  # better than can be
    chosen, without = search.best(trials, 9), search.best(plain, 9)
    assert chosen[0] is trials[2]
    seats = search.committee(
        trials, 9
    )  # by 30 labels of dense rows unlabelled ones are no gain yet
    assert list(seats.values()) == sorted(seats.values(), reverse=True)
    assert sum(seats.values()) == pytest.approx(1.0)
    assert seats[trials[2]] == pytest.approx(0.25 * 1.5 / (0.5 + len(chosen)))
    assert set(seats) == set(chosen) | set(without)
    assert search.committee(trials, 1) == {search.best(trials, 1)[0]: 1.0}
    monkeypatch.setattr(search, "X", sp.csr_matrix(search.X))
    assert list(search.committee(trials, 9)) == chosen


def test_the_best_settings_are_near_the_top(search):
    trials = search.supervised([Candidate(C, "linear", "hinge") for C in (1e-7, 0.1, 1.0)])
    assert Candidate(1e-7, "linear", "hinge") not in best_settings(trials)


def test_a_candidate_that_takes_many_times_the_work_of_others_is_out(search, monkeypatch):
    cheap = Candidate(1.0, "rbf", "hinge", True)
    dear = Candidate(1e4, "rbf", "hinge", True)
    search.supervised([cheap.setting, dear.setting])
    monkeypatch.setattr(search_module, "LEAST_STEPS", 0)
    monkeypatch.setattr(search_module, "TIMES_MEDIAN", 3.0)
    trials = search.race([cheap, cheap, dear])
    assert [trial.exhausted for trial in trials] == [False, False, True]
    assert trials[2].dropped
    assert len(trials[2].scores) == 2  # out after the first fold with a budget by others
    monkeypatch.setattr(search_module, "FIRST_STEPS", 0)
    monkeypatch.setattr(search_module, "FIRST_STEPS_A_ROW", 0)
    assert all(trial.dropped for trial in search.race([cheap, dear]))

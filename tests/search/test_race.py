import numpy as np
import pytest
from problems import hide, ordinal_problem, search_data

from tordinal import TOR, TORCV
from tordinal.progress import Progress
from tordinal.search import race as race_module
from tordinal.search.candidates import Candidate
from tordinal.search.ensemble import Comparison
from tordinal.search.race import race
from tordinal.search.supervised import cross_validate

SILENT = Progress(TORCV(), 1)


@pytest.fixture
def data():
    X, y = ordinal_problem(90, 3)
    return search_data(X, hide(y, 30), cv=3)


def run(data, candidates):
    supervised = cross_validate(data, [c.setting for c in candidates], SILENT)
    return supervised, race(data, supervised, candidates, SILENT)


def test_transductive_scores_are_those_of_the_estimator(data):
    _, (trial,) = run(data, [Candidate(1.0, "linear", "hinge", True)])
    for k in range(3):
        hidden = data.labeled[data.held_out(k)]
        visible = data.rows.rank.copy()
        visible[hidden] = -1
        expected = TOR().fit(data.rows.X, visible).transduction_[hidden]
        assert np.mean(trial.labels[k] == expected) >= 0.8  # the race is less exact


def test_the_worse_candidates_drop_out_fold_by_fold(data):
    supervised, trials = run(
        data, [Candidate(C, "linear", "hinge", True) for C in (1e-6, 1e-5, 0.5, 1.0)]
    )
    assert [t.dropped for t in trials].count(True) == 2
    assert sorted(len(t.scores) for t in trials) == [1, 2, 3, 3]
    assert all(t.dropped == (len(t.scores) < 3) for t in trials)
    comparison = Comparison(data, supervised + trials)
    assert all(comparison.estimate(t) > -np.inf for t in trials)


def test_a_candidate_that_takes_many_times_the_work_of_others_is_out(data, monkeypatch):
    cheap = Candidate(1.0, "rbf", "hinge", True)
    dear = Candidate(1e4, "rbf", "hinge", True)
    monkeypatch.setattr(race_module, "LEAST_STEPS", 0)
    monkeypatch.setattr(race_module, "TIMES_MEDIAN", 3.0)
    _, trials = run(data, [cheap, cheap, dear])
    assert [trial.over_budget for trial in trials] == [False, False, True]
    assert trials[2].dropped
    assert len(trials[2].scores) == 2  # out after the first fold with a budget by others
    monkeypatch.setattr(race_module, "FIRST_STEPS", 0)
    monkeypatch.setattr(race_module, "FIRST_STEPS_A_ROW", 0)
    assert all(trial.dropped for trial in run(data, [cheap, dear])[1])

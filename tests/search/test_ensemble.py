import numpy as np
import pytest
import scipy.sparse as sp
from problems import hide, ordinal_problem, search_data

from tordinal import TORCV
from tordinal.progress import Progress
from tordinal.search.candidates import Candidate
from tordinal.search.ensemble import (
    Comparison,
    diverse,
    mean_probabilities,
    member_weights,
)
from tordinal.search.experts import Expert
from tordinal.search.race import race
from tordinal.search.supervised import cross_validate
from tordinal.search.trials import Trial

SILENT = Progress(TORCV(), 1)


def test_the_best_member_has_half_a_weight_more():
    first, second = np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]])
    np.testing.assert_allclose(member_weights(2), [1.5, 1.0])
    np.testing.assert_allclose(mean_probabilities([first, second], member_weights(2)), [[0.6, 0.4]])


def test_no_kind_has_more_than_a_quarter_of_the_members():
    kernels = ["linear", "rbf"]
    order = [Trial(Candidate(float(C), k, "hinge")) for k in kernels for C in range(1, 9)]
    chosen = diverse(order, 8)
    assert [trial.candidate.kernel for trial in chosen] == ["linear"] * 2 + ["rbf"] * 2
    assert [trial.candidate.C for trial in chosen] == [1.0, 2.0, 1.0, 2.0]
    assert diverse(order, 1) == order[:1]


def test_with_few_labels_the_supervised_choice_keeps_a_part_of_the_weight():
    X, y = ordinal_problem(90, 3)
    for make, believed in ((np.asarray, 0.25), (sp.csr_array, 1.0)):
        data = search_data(make(X), hide(y, 30), cv=3)
        plain = cross_validate(data, [Candidate(C, "linear", "hinge") for C in (1, 0.1)], SILENT)
        trials = plain + race(data, plain, [Candidate(1, "linear", "hinge", True)], SILENT)
        trials[2].scores = dict.fromkeys(range(3), 1.0)  # better than can be
        comparison = Comparison(data, trials)
        chosen, supervised = comparison.best(trials, 9), comparison.best(plain, 9)
        assert chosen[0] is trials[2]
        weights = comparison.ensemble(trials, 9)
        assert list(weights.values()) == sorted(weights.values(), reverse=True)
        assert sum(weights.values()) == pytest.approx(1.0)
        assert weights[trials[2]] == pytest.approx(believed * 1.5 / (0.5 + len(chosen)))
        assert set(weights) == set(chosen) | (set(supervised) if believed < 1 else set())
        assert comparison.ensemble(trials, 1) == {comparison.best(trials, 1)[0]: 1.0}


def predicting(data, rows_wrong, C):
    """A trial of a candidate that is one rank off for some rows, and equally sure of all."""
    trial = Trial(Candidate(C, "linear", "hinge"))
    for split in range(2 * data.n_splits):
        rows = data.held_out(split)
        off = np.where(np.isin(rows, rows_wrong), 1, 0)
        labels = np.where(data.truth[rows] > 0, data.truth[rows] - off, data.truth[rows] + off)
        above = labels[:, None] > np.arange(data.rows.n_classes - 1)
        data.record(trial, split, np.where(above, 1.0, -1.0), labels)
    return trial


def test_the_choice_for_a_fold_does_not_depend_on_its_rows():
    X, y = ordinal_problem(60, 3)
    data = search_data(X, hide(y, 30), cv=3)
    in_fold, others = data.held_out(0), np.concatenate([data.held_out(1), data.held_out(2)])
    wrong_in_fold = predicting(data, in_fold, 1.0)
    wrong_in_others = predicting(data, others[:6], 2.0)
    trials = [wrong_in_fold, wrong_in_others]
    comparison = Comparison(data, trials)
    assert comparison.best(trials, 1) == [wrong_in_others]
    assert comparison.best(trials, 1, excluding=0) == [wrong_in_fold]
    assert comparison.estimate(wrong_in_fold, excluding=0) == 0.0


def test_a_candidate_that_is_clearly_worse_is_no_member():
    X, y = ordinal_problem(60, 3)
    data = search_data(X, hide(y, 30), cv=3)
    good, fair, bad = (predicting(data, np.arange(n), C) for n, C in ((1, 1.0), (4, 2.0), (20, 4)))
    comparison = Comparison(data, [good, fair, bad])
    assert comparison.best([bad, good, fair], 9) == [good, fair]


def test_a_near_tie_goes_to_the_smaller_C_unless_asked_for_several():
    X, y = ordinal_problem(60, 3)
    data = search_data(X, hide(y, 30), cv=3)
    best, simple = predicting(data, np.arange(5), 10.0), predicting(data, np.arange(6), 0.1)
    best.scores = dict(enumerate([-0.1, -0.3, -0.2] * 2))
    simple.scores = dict(enumerate([-0.1, -0.3, -0.21] * 2))
    comparison = Comparison(data, [best, simple])
    assert comparison.best([best, simple], 1) == [simple]
    assert comparison.best([best, simple], 2)[0] is best


def test_an_expert_joins_where_the_ensemble_gains_more_than_a_standard_error():
    X, y = ordinal_problem(60, 3)
    data = search_data(X, hide(y, 30), cv=3)
    usual = predicting(data, np.arange(8), 1.0)
    within_error = np.array([2, 3, 4, 5, 6, 7, 20])  # one error less, of three that differ
    for wrong, joins in ((np.arange(2), True), (within_error, False), (np.arange(12), False)):
        expert = predicting(data, wrong, 1.0)
        expert.candidate = Expert("mine", None)
        trials = [usual, expert]
        comparison = Comparison(data, trials)
        assert (expert in comparison.ensemble(trials, 1)) == joins
        assert comparison.ensemble([usual], 1) == {usual: 1.0}
    assert comparison.ensemble([expert], 9) == {expert: 1.0}  # there is no other


def test_whether_an_expert_joins_for_a_fold_does_not_depend_on_its_rows():
    X, y = ordinal_problem(60, 3)
    data = search_data(X, hide(y, 30), cv=3)
    usual = predicting(data, data.held_out(0), 1.0)
    expert = predicting(data, data.held_out(1), 1.0)
    expert.candidate = Expert("mine", None)
    comparison = Comparison(data, [usual, expert])
    assert comparison.ensemble([usual, expert], 1, excluding=1) == {expert: 1.0}
    assert comparison.ensemble([usual, expert], 1, excluding=0) == {usual: 1.0}


def test_an_expert_has_the_weight_of_a_whole_kind():
    X, y = ordinal_problem(60, 3)
    data = search_data(X, hide(y, 30), cv=3)
    trials = [predicting(data, np.arange(6), 1.0), predicting(data, np.arange(2), 2.0)]
    trials[1].candidate = Expert("mine", None)
    weights = Comparison(data, trials).ensemble(trials, 9)
    assert weights == pytest.approx({trials[1]: 2.5 / 3.5, trials[0]: 1 / 3.5})

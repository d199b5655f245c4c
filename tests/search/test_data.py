import numpy as np
import pytest
import scipy.sparse as sp
from problems import hide, ordinal_problem, search_data

from tordinal.search.candidates import Candidate
from tordinal.search.data import REPEATS
from tordinal.search.trials import Trial


def test_each_repeat_holds_every_labelled_row_out_once():
    X, y = ordinal_problem(90, 3)
    data = search_data(X, hide(y, 30), cv=4)
    for repeat in range(REPEATS):
        splits = [data.held_out(repeat * data.n_splits + k) for k in range(data.n_splits)]
        assert sorted(np.concatenate(splits)) == list(range(30))
    assert any((a != b).any() for a, b in [data.folds])
    np.testing.assert_array_equal(data.truth, hide(y, 30)[data.labeled])


def test_unlabelled_rows_are_drawn_where_there_are_too_many():
    X, y = ordinal_problem(90, 3)
    rank = hide(y, 30)
    data = search_data(X, rank, cv_unlabeled=20, max_unlabeled=10)
    np.testing.assert_array_equal(data.sampled[:30], data.labeled)
    assert len(np.unique(data.sampled)) == 50
    assert len(np.unique(data.fitted)) == 40
    assert set(data.labeled) <= set(data.fitted)
    again = search_data(X, rank, cv_unlabeled=20, max_unlabeled=10)
    np.testing.assert_array_equal(data.fitted, again.fitted)
    other = search_data(X, rank, cv_unlabeled=20, max_unlabeled=10, random_state=1)
    assert (data.fitted != other.fitted).any()


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_a_view_has_its_columns(make):
    X, y = ordinal_problem(60, 3)
    data = search_data(make(X), hide(y, 20), views={"some": [2, 0], "all": slice(None)})
    seen = data.view(Candidate(1.0, "linear", "hinge", view="some"))
    np.testing.assert_array_equal(seen.toarray() if sp.issparse(seen) else seen, X[:, [2, 0]])
    kernel = data.kernel(Candidate(1.0, "rbf", "hinge", view="some"))
    assert kernel.gamma == pytest.approx(1 / (2 * X[:, [2, 0]].var()))


def test_calibration_can_exclude_a_fold():
    X, y = ordinal_problem(60, 3)
    data = search_data(X, hide(y, 20), cv=2)
    trial = Trial(Candidate(1.0, "linear", "hinge"))
    for split in range(REPEATS * 2):
        n = len(data.held_out(split))
        data.record(trial, split, np.full((n, 2), float(split)), data.truth[data.held_out(split)])
    assert list(trial.scores.values()) == [0.0] * 4
    distances, ranks, _ = data.for_calibration(trial, excluding=0)
    assert (distances == 1.0).all()
    np.testing.assert_array_equal(ranks, data.truth[data.held_out(1)])
    assert len(data.for_calibration(trial)[1]) == 20  # of the first repeat only

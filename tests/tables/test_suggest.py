import numpy as np
import scipy.sparse as sp

from tordinal.tables.suggest import worth_rating


def test_rows_are_unrated_uncertain_and_unlike_each_other():
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(100, 5)), 4, axis=0)  # every row four times
    confidence = np.repeat(rng.random(100), 4)
    given = np.arange(400) % 4 == 0
    rows = worth_rating(X, confidence, given, 10)
    assert len(rows) == len(set(rows)) == 10
    assert not given[rows].any()
    assert confidence[rows[0]] == confidence[~given].min()
    assert len({r // 4 for r in rows}) == 10
    assert worth_rating(sp.csr_array(X), confidence, given, 10) == rows


def test_there_may_be_fewer_than_asked_for():
    given = np.array([True, False, False])
    assert worth_rating(np.eye(3), np.array([0.1, 0.3, 0.2]), given, 5) == [2, 1]
    assert worth_rating(np.eye(3), np.ones(3), np.ones(3, dtype=bool), 5) == []

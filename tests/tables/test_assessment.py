import numpy as np
import pytest
import scipy.sparse as sp

from tordinal.active._probabilistic import default_model
from tordinal.tables.assessment import assess, curve_of
from tordinal.tables.selection import Draw, Selection


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    truth = np.digitize(X[:, 0] + 0.4 * rng.normal(size=300), [-0.7, 0.7])
    return X, truth


def test_before_two_ratings_differ_nothing_is_reported(rows):
    X, _ = rows
    rank = np.full(300, -1)
    assert assess(X, rank, ["a", "b", "c"], None) is None
    rank[:5] = 1
    assert assess(X, rank, ["a", "b", "c"], None) is None
    assert curve_of(X, rank, 3, None) is None


def test_rated_rows_are_predicted_by_models_that_have_not_seen_their_rating(rows):
    X, truth = rows
    rank = np.where(np.arange(300) < 60, truth, -1)
    wrong = rank.copy()
    wrong[7] = 2 if truth[7] == 0 else 0
    right, slipped = (assess(X, r, [1, 2, 3], None) for r in (rank, wrong))
    # Its own rating does not change what is predicted for a row.
    assert np.allclose(right.probability[7], slipped.probability[7])
    assert not np.allclose(right.probability[8:60], slipped.probability[8:60])


def test_intervals_hold_in_most_random_samples(rows):
    X, truth = rows
    held = []
    for seed in range(12):
        rated = np.random.default_rng(seed).permutation(300)[:80]
        rank = np.full(300, -1)
        rank[rated] = truth[rated]
        found = assess(X, rank, [1, 2, 3], None)
        said = default_model(X).fit(X[rated], truth[rated]).predict(X)
        true = np.abs(said - truth)[rank < 0].sum() / 300
        mean = found.estimates.mean
        held.append(
            (found.error.low <= true <= found.error.high, mean.low <= 1 + truth.mean() <= mean.high)
        )
        assert found.n_ratings == 80
    assert min(np.sum(held, axis=0)) >= 9  # of 12, at 90 %


def test_a_slip_is_worth_a_second_look(rows):
    X, truth = rows
    rank = np.where(np.arange(300) < 100, truth, -1)
    sure = int(np.argmax(X[:100, 0]))
    rank[sure] = 0
    assert sure in assess(X, rank, [1, 2, 3], None).second_looks


def test_weights_of_drawn_rows_count(rows):
    X, truth = rows
    rank = np.where(np.arange(300) < 60, truth, -1)
    draws = [Draw(i, (0.5 + i % 2) / (300 - i), 300 - i, i % 2 == 0) for i in range(60)]
    weighted = assess(X, rank, [1, 2, 3], Selection((), tuple(draws), 300))
    plain = assess(X, rank, [1, 2, 3], None)
    assert weighted.error.error != plain.error.error
    assert np.array_equal(weighted.probability, plain.probability)


def test_sparse_rows_and_few_ratings(rows):
    X, _ = rows
    rank = np.full(300, -1)
    rank[:3] = [0, 1, 0]
    found = assess(sp.csr_matrix(X), rank, [1, 2, 3], None)
    assert found.error is None
    assert found.probability.shape == (300, 3)
    assert found.predicted_rank(200) in (0, 1)


def test_the_curve_falls_with_more_ratings(rows):
    X, truth = rows
    rank = np.where(np.arange(300) < 120, truth, -1)
    curve = curve_of(X, rank, 3, None)
    assert curve.n == 120
    assert curve.doubled <= curve.now

import numpy as np
import scipy.sparse as sp

from tordinal.datasets import make_ordinal_clusters
from tordinal.tables.suggest import draw_rows


def table(n_rated=60):
    X, y = make_ordinal_clusters(n_samples=300, n_classes=3, random_state=0)
    rank = np.unique(y, return_inverse=True)[1]
    rated = np.random.default_rng(0).permutation(300) < n_rated
    return X, np.where(rated, rank, -1)


def test_draws_are_of_unrated_rows_and_say_with_which_chance():
    X, rank = table()
    draws = draw_rows(X, rank, 3, 40)
    places = [d.place for d in draws]
    assert len(set(places)) == 40
    assert (rank[places] == -1).all()
    assert [d.n_left for d in draws] == list(range(240, 200, -1))
    assert 3 <= sum(d.audit for d in draws) <= 20  # a quarter is expected
    # No row is less than a quarter as probable as with a uniform draw.
    assert all(d.probability * d.n_left >= 0.25 - 1e-9 for d in draws)
    assert draw_rows(sp.csr_array(X), rank, 3, 40, probability=np.full((300, 3), 1 / 3))


def test_difficult_rows_are_preferred_and_other_rows_come_once_there_are_more_ratings():
    X, rank = table()
    p = np.where(np.arange(300)[:, None] < 30, [0.5, 0.0, 0.5], [1.0, 0.0, 0.0])
    draws = draw_rows(X, rank, 3, 20, probability=p)
    chosen = [d.place for d in draws if not d.audit]
    assert chosen
    assert all(i < 30 for i in chosen)
    again = draw_rows(X, rank, 3, 20, probability=p)
    assert again == draws
    rank[draws[0].place] = 0
    assert {d.place for d in draw_rows(X, rank, 3, 20, probability=p)} != {d.place for d in draws}


def test_before_the_first_rating_rows_cover_the_data():
    X = np.repeat([[0.0], [10.0], [20.0]], 30, axis=0)
    draws = draw_rows(X, np.full(90, -1), 3, 12)
    assert {X[d.place, 0] for d in draws} == {0.0, 10.0, 20.0}


def test_there_may_be_fewer_than_asked_for():
    X, rank = table(298)
    assert len(draw_rows(X, rank, 3, 10)) == 2
    assert draw_rows(X, np.zeros(300, dtype=np.int64), 3, 10) == []

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from tordinal.tables.logged_ratings import LoggedRatings
from tordinal.tables.raters import agreement, repeats_to_ask, second_looks, self_agreement
from tordinal.tables.rating_events import Event

CLASSES = ["poor", "fair", "good", "great"]


def event(rating, rater, time="2026-01-01T00:00:00.000Z", kind="rate"):
    return Event(event=kind, rating=CLASSES[rating], rater=rater, time=time)


def logged(ratings, repeats=()):
    """Ratings as lists of ranks by rater; None: not rated."""
    found = {}
    for rater, ranks in ratings.items():
        for i, k in enumerate(ranks):
            if k is not None:
                time = f"2026-01-01T00:{i:02}:00.000Z"
                found.setdefault(i, {})[rater] = event(k, rater, time)
    return LoggedRatings(
        CLASSES, 99, found, [(i, event(k, r, kind="repeat")) for i, r, k in repeats]
    )


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=5, max_size=40))
def test_kappa_is_that_of_scikit_learn_and_rows_to_discuss_are_those_that_differ(pairs):
    a, b = map(list, zip(*pairs, strict=True))
    found = agreement(logged({"A": a, "B": b}), "A", "B")
    distance = np.abs(np.subtract(a, b))
    assert found.off == pytest.approx(distance.mean())
    assert found.low - 1e-9 <= found.off <= found.high + 1e-9
    assert found.same == np.mean(distance == 0)
    if len(set(a + b)) > 1:
        expected = cohen_kappa_score(a, b, weights="quadratic", labels=range(4))
        assert found.kappa == pytest.approx(expected, nan_ok=True)
    assert [i for i, _, _ in found.to_discuss] == sorted(
        np.flatnonzero(distance), key=lambda i: -distance[i]
    )


def test_only_rows_that_both_rated_count():
    both = logged({"A": [0, 1, None, 3], "B": [None, 1, 2, 0]})
    found = agreement(both, "A", "B")
    assert found.n == 2
    assert found.to_discuss == [(3, "great", "poor")]
    assert "too few" in str(found)
    assert agreement(both, "A", "C") is None


def test_asking_twice_gives_the_floor_of_the_error():
    ranks = [0, 1, 2, 3, 1, 2]
    repeats = [(i, "A", min(k + 1, 3)) for i, k in enumerate(ranks)]
    found = self_agreement(logged({"A": ranks, "B": ranks}, repeats), "A")
    assert found.off == pytest.approx(5 / 6)
    assert found.floor == pytest.approx(5 / 12)
    # Whatever is predicted is off from the two ratings by half their distance or more.
    rng = np.random.default_rng(0)
    again = np.minimum(np.add(ranks, 1), 3)
    for _ in range(20):
        p = rng.integers(0, 4, 6)
        assert (np.abs(p - ranks) + np.abs(p - again)).mean() / 2 >= found.floor
    assert self_agreement(logged({"A": ranks}), "A") is None


def test_second_looks_are_at_ratings_two_ranks_from_the_model():
    p = np.eye(4)[[0, 1, 2, 3, 0]] * 0.8 + 0.05
    rows = np.array([10, 11, 12, 13, 14])
    assert second_looks(np.array([0, 2, 0, 1, 3]), p, rows) == [12, 13, 14]
    assert second_looks(np.array([0, 1, 2, 3, 1]), p, rows) == []


def test_older_rows_are_asked_again_and_none_of_them_three_times():
    of = logged({"A": [0, 1, 2, 3, 0, 1], "B": [0] * 12}, [(1, "A", 1)])
    rows = repeats_to_ask(of, "A", 5)
    assert sorted(rows) == [0, 2]
    assert repeats_to_ask(of, "A", 1) == rows[:1]
    assert repeats_to_ask(of, "C", 3) == []

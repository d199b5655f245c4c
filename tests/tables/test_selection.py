import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tordinal.tables.logged_ratings import Choice, LoggedRatings
from tordinal.tables.selection import Draw, Selection, drawn_in, select_rows


def draw_by(weight, n_first, n_drawn, rng):
    """Some rows at random, then others with a probability in proportion to weights."""
    n_rows = len(weight)
    first = rng.permutation(n_rows)[:n_first].tolist()
    left = np.ones(n_rows, dtype=bool)
    left[first] = False
    draws = []
    for _ in range(n_drawn):
        p = np.where(left, weight, 0.0)
        p = p / p.sum()
        i = int(rng.choice(n_rows, p=p))
        draws.append(Draw(i, float(p[i]), int(left.sum()), False))
        left[i] = False
    return Selection(tuple(first), tuple(draws), n_rows)


@pytest.mark.parametrize("n_first", [0, 10])
def test_weighted_means_are_those_of_all_rows_though_difficult_rows_were_preferred(n_first):
    rng = np.random.default_rng(0)
    loss = rng.random(80) ** 2
    weight = 0.3 + loss  # difficult rows are drawn more often
    means, plain = [], []
    for _ in range(400):
        selection = draw_by(weight, n_first, 30, rng)
        w = selection.weights()
        means.append(w @ loss / w.sum())
        plain.append(loss[w > 0].mean())
    standard_error = np.std(means) / 20
    assert abs(np.mean(means) - loss.mean()) < 3 * standard_error + 0.003  # a ratio: small bias
    assert np.mean(plain) - loss.mean() > 10 * standard_error


@settings(max_examples=30)
@given(st.integers(0, 10), st.integers(0, 10), st.integers(0, 2**31))
def test_uniform_draws_are_a_random_sample(n_first, n_drawn, seed):
    if n_first + n_drawn == 0:
        return
    selection = draw_by(np.ones(30), n_first, n_drawn, np.random.default_rng(seed))
    weights, chosen = selection.weights(), selection.probabilities()
    rated = weights > 0
    assert rated.sum() == n_first + n_drawn
    assert weights[rated] == pytest.approx(1.0)
    assert chosen[rated] == pytest.approx(rated.sum() / 30)
    assert np.isnan(chosen[~rated]).all()


def test_skipped_rows_change_nothing_for_the_others():
    uniform = [Draw(i, 1 / (20 - i), 20 - i, True) for i in range(10)]
    selection = select_rows(np.arange(20) < 10, uniform[::2], range(20))
    assert selection.weights()[:10] == pytest.approx(1.0)


def test_rows_and_rounds_may_come_in_any_order():
    early = [Draw(10 + i, 0.1, 40 - i, False) for i in range(4)]
    late = [Draw(30 + i, 0.2, 20 - i, True) for i in range(3)]
    again = Draw(10, 0.9, 5, False)  # a row that was drawn twice counts by its first draw
    places = [i for i in range(40) if i != 3]  # a total
    rated = np.isin(places, [0, 10, 11, 12, 13, 30, 31])  # row 32 is not rated
    selection = select_rows(rated, [again, *late, *early], places)
    assert [d.place for d in selection.draws] == [9, 10, 11, 12, 29, 30]
    assert selection.first == (0,)
    assert selection.draws[0].probability == 0.1
    assert selection.n_rows == 39
    assert "6 rated rows were drawn with recorded probabilities, 2 of them uniformly" in str(
        selection
    )
    assert "the other 1 count as a random sample" in str(selection)
    assert select_rows(rated, late, places) is None


def test_only_rows_that_were_rated_are_taken_from_a_log():
    logged = LoggedRatings([1, 2], 9, choices=[
        Choice(4, 0.5, True, "rated", 9), Choice(5, 0.1, False, "skipped", 8),
        Choice(6, 0.1, False, "open", 7),
    ])  # fmt: skip
    assert drawn_in(logged) == [Draw(4, 0.5, 9, True)]

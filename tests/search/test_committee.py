import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tordinal.search.candidates import Candidate
from tordinal.search.committee import COSTS, decide, diverse, mean_probabilities, votes
from tordinal.search.trials import Trial


@st.composite
def probabilities(draw):
    n_classes = draw(st.integers(2, 6))
    p = draw(st.lists(st.integers(0, 20), min_size=n_classes, max_size=n_classes).filter(any))
    return np.array([p], dtype=float) / sum(p)


@given(probabilities(), st.sampled_from(sorted(COSTS)))
def test_no_other_rank_costs_less_in_the_mean(p, cost):
    expected = [
        sum(p[0, truth] * COSTS[cost](np.array(rank - truth)) for truth in range(p.shape[1]))
        for rank in range(p.shape[1])
    ]
    chosen = decide(p, cost)[0]
    assert expected[chosen] == pytest.approx(min(expected))
    assert all(other > expected[chosen] - 1e-9 for other in expected[:chosen])


@given(probabilities())
def test_the_median_and_the_mode(p):
    assert decide(p, "absolute")[0] == np.flatnonzero(p.cumsum() >= 0.5 - 1e-9)[0]
    assert p[0, decide(p, "zero_one")[0]] == p.max()


def test_the_best_member_has_half_a_vote_more():
    first, second = np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]])
    np.testing.assert_allclose(votes(2), [1.5, 1.0])
    np.testing.assert_allclose(mean_probabilities([first, second], votes(2)), [[0.6, 0.4]])


def test_no_kind_has_more_than_a_quarter_of_the_seats():
    kernels = ["linear", "rbf"]
    order = [Trial(Candidate(float(C), k, "hinge")) for k in kernels for C in range(1, 9)]
    chosen = diverse(order, 8)
    assert [trial.candidate.kernel for trial in chosen] == ["linear"] * 2 + ["rbf"] * 2
    assert [trial.candidate.C for trial in chosen] == [1.0, 2.0, 1.0, 2.0]
    assert diverse(order, 1) == order[:1]

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import approx_fprime

from tordinal.couplings import Explicit, Implicit, Reduction, zero_sum

COUPLINGS = [Reduction(), Reduction(3.0), Implicit(), Explicit()]


@pytest.mark.parametrize("coupling", COUPLINGS, ids=str)
def test_the_derivatives_of_the_penalty(coupling):
    t = np.array([-1.0, 0.5, 2.5])
    curvature = coupling.penalty_curvature(3)
    np.testing.assert_allclose(approx_fprime(t, coupling.penalty, 1e-7), curvature @ t, atol=1e-5)
    assert coupling.penalty(t) == pytest.approx(0.5 * t @ curvature @ t)
    assert coupling.scaled(2.0).penalty(t) == pytest.approx(2.0 * coupling.penalty(t))


def test_the_thresholds_that_a_row_uses():
    for coupling in (Reduction(), Implicit()):
        first, last = coupling.spans(3)
        assert (first == 0).all()
        assert (last == 3).all()
    first, last = Explicit().spans(3)
    used = [list(range(a, b)) for a, b in zip(first, last, strict=True)]
    assert used == [[0], [0, 1], [1, 2], [2]]


numbers = st.lists(st.floats(-5, 5), min_size=3, max_size=3).map(np.array)


@given(least=numbers, most=numbers)
def test_the_worst_pair_by_trying_them_all(least, most):
    assert Reduction().worst_pair(np.zeros(3), least, most)[2] == most.max() - least.min()
    k, l, worst = Implicit().worst_pair(np.zeros(3), least, most)
    assert k == l
    assert worst == (most - least).max()
    # One multiplier is positive: thresholds 0 and 1 are tied, 2 is free. Raising at k and lowering
    # at l < k is always allowed.
    c = np.array([-1.0, 1.0, 0.0])
    allowed = [(k, l) for k in range(3) for l in range(3) if k >= l or (k, l) == (0, 1)]
    k, l, worst = Explicit().worst_pair(c, least, most)
    assert (k, l) in allowed
    assert worst == max(most[l] - least[k] for k, l in allowed)


@pytest.mark.parametrize("coupling", COUPLINGS, ids=str)
@given(least=numbers, most=numbers, c=numbers)
def test_pairs_that_are_always_allowed_are_among_those_allowed(coupling, least, most, c):
    always = coupling.pairs(3)
    worst = max(most[l] - least[k] for k in range(3) for l in range(3) if always[k, l])
    assert coupling.worst_pair(c - c.mean(), least, most)[2] >= worst


def test_how_far_a_pair_may_move():
    c = np.array([-1.0, -0.5, 1.5])
    assert Reduction().room(c, -1, -1) == np.inf
    assert Explicit().room(c, 2, 0) == np.inf
    assert Explicit().room(c, 0, 2) == 1.0
    assert Explicit().room(c, 1, 2) == 1.5


@given(st.lists(st.floats(-3, 3), min_size=1, max_size=20), st.integers(0, 100))
def test_zero_sum_moves_the_fewest_and_nothing_grows(values, seed):
    before = np.array(values)
    beta = zero_sum(before.copy(), np.random.default_rng(seed).normal(size=len(before)))
    assert abs(beta.sum()) < 1e-9
    assert (np.abs(beta) <= np.abs(before) + 1e-12).all()
    assert (beta * before >= -1e-12).all()


@pytest.mark.parametrize("coupling", COUPLINGS, ids=str)
@given(seed=st.integers(0, 1000))
def test_a_balanced_start_meets_the_constraint_and_thresholds_are_in_order(coupling, seed):
    rng = np.random.default_rng(seed)
    beta = rng.normal(size=(12, 3))
    coupling.balance(beta, rng.normal(size=(12, 3)))
    c = beta.sum(axis=0)
    assert abs(c.sum()) < 1e-9
    if not coupling.any_pair:
        assert np.abs(c).max() < 1e-9
    t = coupling.thresholds(c, rng.normal(size=3), rng.normal(size=3))
    assert (np.diff(t) >= 0).all()


def test_the_middle_of_the_best_thresholds():
    ends = {0: (0.0, 1.0), 1: (3.0, 5.0), 2: (2.0, 3.0), 3: (4.0, np.inf)}

    def least(first, last, origin):
        lows, highs = zip(*(ends[k] for k in range(first, last)), strict=True)
        low, high = max(lows) - origin[first], min(highs) - origin[first]
        return (low, high) if low <= high else (high, low)

    t = np.array([0.0, 1.0, 1.0, 2.0])
    assert Implicit().middle(t, least).tolist() == [0.5, 2.5, 4.0, 4.0]
    assert Explicit().middle(t, least).tolist() == [0.5, 3.0, 3.0, 4.0]
    assert Reduction().middle(t, least).tolist() == [2.5, 3.5, 3.5, 4.5]

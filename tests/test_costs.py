import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tordinal.costs import COSTS, check_cost, cost_matrix, decide, weigh_classes


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


@given(probabilities(), st.integers(0, 2**32 - 1))
def test_any_matrix_of_costs_is_minimised(p, seed):
    """Brute force over all predictions, with a matrix of the user's."""
    n_classes = p.shape[1]
    costs = np.random.default_rng(seed).integers(0, 9, (n_classes, n_classes)).astype(float)
    np.fill_diagonal(costs, 0.0)
    expected = [
        sum(p[0, truth] * costs[truth, predicted] for truth in range(n_classes))
        for predicted in range(n_classes)
    ]
    chosen = decide(p, costs)[0]
    assert expected[chosen] == pytest.approx(min(expected))
    assert decide(p, 1e9 * costs)[0] == chosen  # the unit of the costs does not matter


@pytest.mark.parametrize("low", [0.5, 1.0, 2.0, 5.0])
def test_low_twice_as_bad_is_a_higher_quantile(low):
    """By the newsvendor's rule: the quantile low / (low + high) of the distribution."""
    p = np.random.default_rng(0).dirichlet(np.ones(6), 200)
    quantile = (p.cumsum(axis=1) >= low / (low + 1.0) - 1e-12).argmax(axis=1)
    np.testing.assert_array_equal(decide(p, cost_matrix({"low": low}, 6)), quantile)


@pytest.mark.parametrize(
    ("cost", "message"),
    [
        ({"below": 2}, '"low" or "high"'),
        ({"low": -1}, "positive cost"),
        ({}, "positive cost"),
        ([[0, 1], [1, 0]], "3 x 3"),
        ("cheap", "3 x 3"),
        ([[0, 1, 2], [1, 0, np.inf], [2, 1, 0]], "finite"),
        ([[0, 1, -2], [1, 0, 1], [2, 1, 0]], "not negative"),
        ([[1, 0, 2], [1, 0, 1], [2, 1, 0]], "lowest where the true class"),
        (np.zeros((3, 3)), "lowest where the true class"),
    ],
)
def test_wrong_costs_are_rejected(cost, message):
    with pytest.raises(ValueError, match=message):
        check_cost(cost, 3)


def test_weights_of_classes_are_those_of_scikit_learn():
    from sklearn.utils import compute_class_weight

    rank, classes = np.array([0, 0, 0, 1, 2, 2]), np.array(["a", "b", "c"])
    ours = weigh_classes("balanced", classes, rank)
    np.testing.assert_allclose(
        ours, compute_class_weight("balanced", classes=classes, y=classes[rank])
    )
    assert weigh_classes({"b": 3}, classes, rank).tolist() == [1.0, 3.0, 1.0]
    assert weigh_classes(None, classes, rank).tolist() == [1.0, 1.0, 1.0]
    with pytest.raises(ValueError, match="'d' is not among"):
        weigh_classes({"d": 3}, classes, rank)
    with pytest.raises(ValueError, match="'b' must be positive"):
        weigh_classes({"b": 0}, classes, rank)

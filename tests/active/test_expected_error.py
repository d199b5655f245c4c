import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tordinal.active import ExpectedError
from tordinal.active.expected_error import expected_absolute_error


@given(st.integers(2, 10), st.integers(0, 10**6))
def test_it_is_the_least_expected_error_of_all_ranks(K, seed):
    p = np.random.default_rng(seed).dirichlet(np.full(K, 0.5), 20)
    distance = np.abs(np.arange(K)[:, None] - np.arange(K))
    assert np.allclose(expected_absolute_error(p), (p @ distance).min(axis=1))


def test_the_order_of_the_classes_counts():
    p = [[0.5, 0.0, 0.5], [0.34, 0.33, 0.33], [0.0, 0.5, 0.5]]
    rows, probabilities = ExpectedError(power=None).query(np.eye(3), [None] * 3, 3, y_proba=p)
    assert rows.tolist() == [0, 1, 2]
    assert probabilities.tolist() == [1.0, 1.0, 1.0]


def test_rows_are_drawn_in_proportion_to_a_power():
    p = [[1.0, 0.0], [0.9, 0.1], [0.8, 0.2], [0.6, 0.4]]
    weight = np.array([0.0, 0.1, 0.2, 0.4]) ** 4
    strategy = ExpectedError()
    rows, probabilities = strategy.query(np.eye(4), [None] * 4, 4, y_proba=p)
    for row, probability in zip(rows, probabilities, strict=True):
        assert np.isclose(probability, 1.0 if row == 0 else weight[row] / weight.sum())
        weight[row] = 0.0

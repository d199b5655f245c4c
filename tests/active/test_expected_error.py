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
    rows, probabilities = ExpectedError().query(np.eye(3), [None] * 3, 3, y_proba=p)
    assert rows.tolist() == [0, 1, 2]
    assert probabilities.tolist() == [1.0, 1.0, 1.0]

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tordinal.reduction import ranks, signs


@given(st.lists(st.integers(0, 5), min_size=1))
def test_signs_and_ranks_are_inverse(y):
    y = np.array(y)
    thresholds = np.arange(5) + 0.5
    np.testing.assert_array_equal(ranks(y, thresholds), y)
    np.testing.assert_array_equal((signs(y, 5) > 0).sum(axis=1), y)

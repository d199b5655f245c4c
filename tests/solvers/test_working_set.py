import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tordinal.kernels import Gram, Kernel
from tordinal.solvers.working_set import WorkingSet

GRAM = Gram(Kernel("rbf", 0.1), np.random.default_rng(0).normal(size=(200, 3)), 10)


@given(st.lists(st.sets(st.integers(0, 199), min_size=1, max_size=50), min_size=1, max_size=6))
def test_the_set_holds_what_was_asked_for_with_its_kernel(wishes):
    work = WorkingSet(GRAM)
    assert work.capacity == 50
    for wish in wishes:
        work.take(np.array(sorted(wish)))
        assert wish <= set(work.index.tolist())
        assert len(set(work.index.tolist())) == len(work.index) <= work.capacity
        n = len(work.index)
        np.testing.assert_array_equal(work.rows[:n, :n], GRAM.rows[np.ix_(work.index, work.index)])
        np.testing.assert_array_equal(work.diagonal, GRAM.diagonal[work.index])

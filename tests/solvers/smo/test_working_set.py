from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tordinal.engines.host.gram import Gram
from tordinal.kernels import RBF
from tordinal.solvers.smo import working_set
from tordinal.solvers.smo.working_set import WorkingSet

GRAM = Gram(RBF(0.1), np.random.default_rng(0).normal(size=(200, 3)), 10)


@given(st.lists(st.sets(st.integers(0, 199), min_size=1, max_size=50), min_size=1, max_size=6))
def test_the_set_holds_what_was_asked_for_with_its_kernel(wishes):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(working_set, "TUNING", replace(working_set.TUNING, capacity=50))
        work = WorkingSet(GRAM, 100)
    assert not work.whole
    for wish in wishes:
        work.take(np.array(sorted(wish)))
        assert wish <= set(work.index.tolist())
        assert len(set(work.index.tolist())) == len(work.index) <= work.capacity
        n = len(work.index)
        expected = GRAM.rows[np.ix_(work.index, work.index)]
        np.testing.assert_allclose(work.matrix[:n, :n], expected, rtol=1e-6)


def test_a_small_set_holds_the_rows_that_count():
    work = WorkingSet(GRAM, 4096)
    assert work.whole
    for used in (np.arange(0, 200, 3), np.arange(200)):
        work.begin(used)
        np.testing.assert_array_equal(work.index, used)
        np.testing.assert_allclose(work.matrix, GRAM.rows[np.ix_(used, used)], rtol=1e-6)

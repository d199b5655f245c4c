import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tordinal.search.candidates import Candidate
from tordinal.search.committee import diverse, median_ranks, votes
from tordinal.search.trials import Trial


@given(st.lists(st.lists(st.integers(0, 4), min_size=3, max_size=3), min_size=1, max_size=7))
def test_the_median_by_writing_out_the_votes(members):
    labels = [np.array(member) for member in members]
    written = np.repeat(labels, (2 * votes(len(labels))).astype(int), axis=0)
    expected = np.sort(written, axis=0)[(len(written) - 1) // 2]
    np.testing.assert_array_equal(median_ranks(labels), expected)


def test_no_kind_has_more_than_a_quarter_of_the_seats():
    kernels = ["linear", "rbf"]
    order = [Trial(Candidate(float(C), k, "hinge")) for k in kernels for C in range(1, 9)]
    chosen = diverse(order, 8)
    assert [trial.candidate.kernel for trial in chosen] == ["linear"] * 2 + ["rbf"] * 2
    assert [trial.candidate.C for trial in chosen] == [1.0, 2.0, 1.0, 2.0]
    assert diverse(order, 1) == order[:1]

"""What every engine's pseudo-labels promise Algorithm 1: see tests/engines/conformance.py."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tordinal.engines.host.pseudo_labels import HostLabels

FIT = SimpleNamespace(
    h=np.array([-2.0, 3.0, -1.0, 0.5, 2.0, -0.5]), thresholds=np.array([0.0, 1.0])
)
GIVEN = np.array([0, 2, -1, -1, -1, -1])


def labels():
    made = HostLabels(GIVEN, np.ones(6))
    made.assign(FIT, lambda fit: np.array([1, 2, 1]))
    return made


def test_costs_are_those_of_labelled_and_unlabelled_rows_times_their_weights():
    made = HostLabels(GIVEN, np.arange(6.0))
    np.testing.assert_array_equal(made.costs(2.0, 0.5), [0, 2, 1, 1.5, 2, 2.5])
    assert (made.n_rows, made.n_unlabeled) == (6, 4)


def test_ranks_are_handed_out_in_the_order_of_the_projections():
    made = labels()
    assert made.y.tolist() == [0, 2, 0, 1, 2, 1]
    assert made.initial.tolist() == made.y.tolist()
    assert GIVEN.tolist() == [0, 2, -1, -1, -1, -1]  # the input is left alone


@pytest.mark.parametrize("swaps", ["single", "all", "optimal", 2])
@given(st.lists(st.floats(-3, 3), min_size=6, max_size=6))
def test_a_swap_keeps_counts_and_given_ranks_and_can_be_undone(swaps, h):
    made, fit = labels(), SimpleNamespace(h=np.array(h), thresholds=FIT.thresholds)
    before = made.y.copy()
    n_swaps = made.swap(fit, lambda d: d, swaps)
    assert (made.gain(fit, lambda d: d) > 0) == (n_swaps > 0)
    assert np.bincount(made.y).tolist() == np.bincount(before).tolist()
    assert made.y[:2].tolist() == [0, 2]
    made.undo()
    np.testing.assert_array_equal(made.y, before)

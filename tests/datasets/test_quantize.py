import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tordinal.datasets import quantize


@given(st.lists(st.integers(0, 30), min_size=10, max_size=200).filter(lambda v: len(set(v)) >= 5))
def test_quantize_never_splits_ties_and_uses_every_rank(values):
    values = np.array(values)
    ranks = quantize(values, 5)
    assert set(ranks) == {1, 2, 3, 4, 5}
    for value in set(values.tolist()):
        assert len(set(ranks[values == value])) == 1
    order = np.argsort(values, kind="stable")
    assert np.all(np.diff(ranks[order]) >= 0)


@given(st.lists(st.integers(0, 12), min_size=8, max_size=60).filter(lambda v: len(set(v)) >= 4))
def test_quantize_is_as_even_as_ties_allow(values):
    squares = np.sum(np.bincount(quantize(values, 4)) ** 2)
    distinct = np.unique(values)
    for cuts in itertools.combinations(distinct[:-1], 3):
        assert squares <= np.sum(np.bincount(np.searchsorted(cuts, values, side="left")) ** 2)


def test_quantize_is_even_where_it_can_be():
    np.testing.assert_array_equal(
        np.bincount(quantize(np.random.default_rng(0).normal(size=1000), 5))[1:], [200] * 5
    )
    with pytest.raises(ValueError, match="distinct"):
        quantize([1, 1, 2], 3)
    with pytest.raises(ValueError, match="finite"):
        quantize([1, np.nan, 2], 2)
    with pytest.raises(ValueError, match="finite numbers"):
        quantize(["low", "high"], 2)
    with pytest.raises(ValueError, match="whole number"):
        quantize([1, 2, 3], 2.0)


def test_sizes_are_those_of_the_ranks():
    values = np.random.default_rng(1).integers(0, 20, size=300)
    ranks, sizes = quantize(values, 4, return_sizes=True)
    np.testing.assert_array_equal(ranks, quantize(values, 4))
    np.testing.assert_array_equal(sizes, [np.sum(ranks == k) for k in (1, 2, 3, 4)])


def test_the_order_of_the_rows_and_an_increasing_change_of_scale_do_not_matter():
    values = np.random.default_rng(2).normal(size=101)
    ranks = quantize(values, 5)
    np.testing.assert_array_equal(quantize(values[::-1], 5), ranks[::-1])
    np.testing.assert_array_equal(quantize(np.exp(values), 5), ranks)


@pytest.mark.parametrize("n_ranks", [-1, 0, 1])
def test_fewer_than_two_ranks_are_rejected(n_ranks):
    with pytest.raises(ValueError, match=f"n_ranks={n_ranks} must be at least 2 and at most 3"):
        quantize([1, 2, 3], n_ranks)


def test_a_table_is_no_list_of_numbers():
    with pytest.raises(ValueError, match="list of finite numbers"):
        quantize([[1, 2], [3, 4]], 2)

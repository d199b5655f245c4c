import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tordinal.datasets import make_ordinal_clusters, quantize


def test_algorithm_3_has_the_papers_densities():
    X, y = make_ordinal_clusters(1000, p=0.3, random_state=0)
    assert X.shape == (1000, 14000)
    np.testing.assert_allclose(np.sqrt(X.multiply(X).sum(axis=1)), 1.0)
    dense = X.toarray() != 0
    for rank in range(1, 6):
        own = slice(2000 * (rank - 1), 2000 * (rank + 2))
        rows = dense[y == rank]
        inside, total = rows[:, own].mean(), rows.sum() / len(rows)
        assert inside == pytest.approx(0.01, rel=0.05)
        assert (total - 6000 * inside) / 8000 == pytest.approx(0.003, rel=0.08)


def test_the_seed_decides():
    a, b = make_ordinal_clusters(50, random_state=1), make_ordinal_clusters(50, random_state=1)
    assert (a[0] != b[0]).nnz == 0
    np.testing.assert_array_equal(a[1], b[1])


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


def test_dense_clusters_and_the_limits_of_p():
    X, _ = make_ordinal_clusters(2, p=100, random_state=0)
    assert X.nnz > 2 * 7000
    with pytest.raises(ValueError, match=r"p=200 in 0 \.\. 100"):
        make_ordinal_clusters(2, p=200)

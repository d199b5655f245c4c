import numpy as np
import pytest

from tordinal.datasets import make_ordinal_clusters


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


def test_dense_clusters_and_the_limits_of_p():
    X, _ = make_ordinal_clusters(2, p=100, random_state=0)
    assert X.nnz > 2 * 7000
    with pytest.raises(ValueError, match=r"p=200 in 0 \.\. 100"):
        make_ordinal_clusters(2, p=200)


def test_the_number_of_ranks_decides_the_number_of_features():
    X, y = make_ordinal_clusters(40, 3, random_state=0)
    assert X.shape == (40, 2000 * 5)
    assert set(y) == {1, 2, 3}


def test_without_overlap_a_row_has_features_of_its_own_rank_only():
    X, y = make_ordinal_clusters(60, p=0, random_state=0)
    for row, rank in zip(X, y, strict=True):
        places = row.nonzero()[-1]
        assert 2000 * (rank - 1) <= places.min()
        assert places.max() < 2000 * (rank + 2)


@pytest.mark.parametrize("options", [{"n_samples": 0}, {"n_classes": 1}, {"p": -0.1}])
def test_impossible_sizes_are_rejected(options):
    name, value = next(iter(options.items()))
    with pytest.raises(ValueError, match=f"{name}={value}"):
        make_ordinal_clusters(**{"n_samples": 5, **options})

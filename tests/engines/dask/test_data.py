import numpy as np
import pytest
import scipy.sparse as sp
from clusters import in_blocks, labels_in_blocks
from problems import hide, ordinal_problem

from tordinal.engines.dask.data import BlockedData, is_dask
from tordinal.engines.host.rows import linear_rows


def read(client, X, sizes, y, **options):
    return BlockedData(client, in_blocks(X, sizes, **options), y, None, None, "token", True)


def test_rows_are_centred_and_scaled_as_on_one_machine(client):
    X, y = ordinal_problem(60, 3)
    X = 1000.0 * X + 5.0
    data, local = read(client, X, [40, 20], hide(y, 20)), linear_rows(X)
    np.testing.assert_allclose(data.centre, local.centre)
    assert data.scale == local.scale
    first = data.prepared[0].result()
    np.testing.assert_allclose(first.X, local.matrix[:40], atol=1e-9)
    assert data.sizes == [40, 20]
    assert data.classes.tolist() == [0, 1, 2]


def test_rows_with_many_dense_features(client):
    """The centre has more than the 100 kB from which `Client.map` makes a task of an argument."""
    X, y = np.random.default_rng(0).normal(size=(20, 14_000)) + 5.0, np.arange(20) % 2
    data, local = read(client, X, [12, 8], y), linear_rows(X)
    assert data.centre.nbytes > 1e5
    np.testing.assert_allclose(data.centre, local.centre)
    assert data.scale == local.scale
    np.testing.assert_allclose(data.prepared[1].result().X, local.matrix[12:], atol=1e-9)


def test_wide_sparse_rows_stay_as_they_are(client):
    _, y = ordinal_problem(60, 3)
    X = sp.random(60, 400, 0.05, random_state=0, format="csr")
    sizes = [30, 30]
    blocks = labels_in_blocks(hide(y, 8), sizes)
    data = read(client, X, sizes, blocks, known=False)
    assert not data.dense
    assert data.centre is None
    second = data.prepared[1].result()
    np.testing.assert_allclose(second.X.toarray() * np.sqrt(data.scale), X[30:].toarray())
    assert second.labeled.shape[0] == int((second.rank != -1).sum())


def test_what_is_no_dask_array_is_unique_names(client):
    X, y = ordinal_problem(20, 2)
    assert is_dask(in_blocks(X, [20]))
    assert not is_dask(X)
    with pytest.raises(ValueError, match="blocks of unknown size"):
        read(client, X, [10, 10], y, known=False)

import numpy as np
import pytest
import scipy.sparse as sp

from tordinal.engines.dask import pieces


@pytest.mark.parametrize("sparse", [True, False])
def test_rows_on_disk_are_those_in_memory(tmp_path, sparse):
    X = sp.random(20, 30, 0.2, random_state=0, format="csr")
    X = X if sparse else X.toarray()
    here, stored = pieces.products(X), pieces.StoredRows(str(tmp_path / "rows"), X)
    v, D = np.arange(30.0), np.arange(20.0)
    np.testing.assert_array_equal(stored.dot(v), here.dot(v))
    np.testing.assert_array_equal(stored.curved(D, v), here.curved(D, v))
    assert stored.dense == here.dense
    assert pieces.nbytes(stored) == 0 < pieces.nbytes(X)
    del stored
    assert not (tmp_path / "rows").exists()


def test_labels_of_a_block_become_ranks():
    classes = np.array(["low", "mid", "top"])
    y = np.array(["top", None, "low", np.nan], dtype=object)
    assert pieces.encode(y, classes).tolist() == [2, -1, 0, -1]
    assert pieces.encode(np.array([5, -1, 3]), np.array([3, 4, 5])).tolist() == [2, -1, 0]
    assert pieces.encode(np.array([-1, 0]), np.array([-1, 0])).tolist() == [0, 1]
    labels, n = pieces.distinct_labels(y)
    assert set(labels) == {"top", "low"}
    assert n == 4


def test_a_block_is_brought_to_a_form_that_can_be_worked_with():
    X = sp.coo_matrix(([1, 2, 3], ([0, 0, 1], [1, 1, 0])), shape=(2, 2))
    read = pieces.read_rows(0, X, dense=False)
    assert read.format == "csr"
    assert read.has_canonical_format
    assert read.toarray().tolist() == [[0, 3], [3, 0]]
    assert pieces.read_rows(0, X, dense=True).dtype == np.float64
    with pytest.raises(ValueError, match="block 3 contains NaN"):
        pieces.read_rows(3, np.array([[np.inf]]), dense=True)

import numpy as np
import pytest
import scipy.sparse as sp

from tordinal.engines.dask import preparing


def test_labels_of_a_block_become_ranks():
    classes = np.array(["low", "mid", "top"])
    y = np.array(["top", None, "low", np.nan], dtype=object)
    assert preparing.encode(y, classes).tolist() == [2, -1, 0, -1]
    assert preparing.encode(np.array([5, -1, 3]), np.array([3, 4, 5])).tolist() == [2, -1, 0]
    assert preparing.encode(np.array([-1, 0]), np.array([-1, 0])).tolist() == [0, 1]
    labels, n = preparing.distinct_labels(y)
    assert set(labels) == {"top", "low"}
    assert n == 4


def test_a_block_is_brought_to_a_form_that_can_be_worked_with():
    X = sp.coo_matrix(([1, 2, 3], ([0, 0, 1], [1, 1, 0])), shape=(2, 2))
    read = preparing.read_rows(0, X, dense=False)
    assert read.format == "csr"
    assert read.has_canonical_format
    assert read.toarray().tolist() == [[0, 3], [3, 0]]
    assert preparing.read_rows(0, X, dense=True).dtype == np.float64
    with pytest.raises(ValueError, match="block 3 contains NaN"):
        preparing.read_rows(3, np.array([[np.inf]]), dense=True)

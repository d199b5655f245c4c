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

import pickle

import dask.array as da
import numpy as np
import pytest
import scipy.sparse as sp
from clusters import in_blocks
from problems import hide, ordinal_problem

import tordinal
from tordinal.dask import TOR
from tordinal.engines.dask import preparing

QUICK = {"loss": "square", "C2_start": 0.1}
FINE = {"tol": 1e-6, "C2_start": 0.1}


def problem(n=120, K=3, labels=30, seed=0):
    X, y = ordinal_problem(n, K, seed=seed)
    return X, y, hide(y, labels)


def test_predictions_for_every_kind_of_rows(client, tmp_path):
    X, _, hidden = problem(100, 3, 30)
    model = TOR(**QUICK).fit(in_blocks(X, [60, 40]), hidden)
    plain = model.predict(X)
    np.testing.assert_array_equal(model.predict(sp.csr_matrix(X)), plain)
    lazy = model.predict(in_blocks(sp.csr_matrix(X), [50, 50]))
    assert isinstance(lazy, da.Array)
    np.testing.assert_array_equal(lazy.compute(), plain)
    local = pickle.loads(pickle.dumps(model.to_local()))
    assert isinstance(local, tordinal.TOR)
    np.testing.assert_array_equal(local.predict(X), plain)
    np.testing.assert_allclose(local.predict_proba(X).sum(axis=1), 1.0)
    with pytest.raises(ValueError, match="features"):
        model.predict(X[:, :1])


def test_rows_beyond_memory_are_read_from_disk(client, monkeypatch):
    X, _, hidden = problem(100, 3, 30)
    for rows in (X, sp.csr_matrix(np.hstack([X] * 200))):
        kept = TOR(loss="squared_hinge", **FINE).fit(in_blocks(rows, [60, 40]), hidden)
        monkeypatch.setattr(preparing, "MEMORY_SHARE", 0.0)
        with pytest.warns(UserWarning, match="2 of 2 blocks of X do not fit into the memory"):
            stored = TOR(loss="squared_hinge", **FINE).fit(in_blocks(rows, [60, 40]), hidden)
        monkeypatch.undo()
        np.testing.assert_allclose(stored.coef_, kept.coef_, rtol=1e-9)
        np.testing.assert_array_equal(stored.transduction_.compute(), kept.transduction_.compute())


def test_progress_is_reported(client):
    X, _, hidden = problem(60, 2, 20)
    told = []
    TOR(callback=lambda *what: told.append(what), **QUICK).fit(in_blocks(X, [60]), hidden)
    assert told[-1][1] < told[-1][2]
    assert [done for _, done, _ in told] == sorted(done for _, done, _ in told)

"""Dask clusters and arrays for tests."""

import itertools

import dask
import dask.array as da
import numpy as np
import scipy.sparse as sp
from distributed import LocalCluster
from distributed.utils import get_mp_context

PRELOAD = ["distributed", "dask.array", "tordinal.dask", "tordinal.cli.many"]


def start(n_workers, **options):
    """A cluster; workers that are processes are forked from one that has imported what they need.

    So are those that come in place of a killed one, hence not for the time of this call alone.
    """
    dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"})
    get_mp_context().set_forkserver_preload(PRELOAD)
    return LocalCluster(
        n_workers=n_workers,
        threads_per_worker=1,
        dashboard_address=":0",
        silence_logs=50,
        **options,
    )


def in_blocks(X, sizes, known=True):
    """A Dask array of rows in blocks of some sizes."""
    ends = np.cumsum([0, *sizes])
    assert ends[-1] == X.shape[0]
    meta = sp.csr_matrix((0, 0)) if sp.issparse(X) else np.empty((0, 0))
    return da.concatenate(
        [
            da.from_delayed(
                dask.delayed(X[a:b]),
                shape=(b - a if known else np.nan, X.shape[1]),
                dtype=X.dtype,
                meta=meta,
            )
            for a, b in itertools.pairwise(ends)
        ],
        allow_unknown_chunksizes=not known,
    )


def labels_in_blocks(y, sizes):
    ends = np.cumsum([0, *sizes])
    return da.concatenate(
        [
            da.from_delayed(dask.delayed(y[a:b]), shape=(np.nan,), dtype=y.dtype)
            for a, b in itertools.pairwise(ends)
        ],
        allow_unknown_chunksizes=True,
    )

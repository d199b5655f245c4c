"""``--scheduler``: fits of a command on the workers of a Dask cluster."""

import contextlib
import logging
from collections.abc import Callable, Iterator
from typing import Any

__all__ = ["on_cluster"]

PATIENCE = "15s"  # for a scheduler to answer, and for its first worker


@contextlib.contextmanager
def on_cluster(scheduler: str | None) -> Iterator[Callable[[], Any]]:
    """Connect to a cluster; what it gives makes contexts in which joblib's work runs there.

    Parameters
    ----------
    scheduler : str or None
        Address of a Dask scheduler, "local" for a cluster of this machine's cores, None for none.
    """
    if scheduler is None:
        yield contextlib.nullcontext
        return
    from tordinal.dask import need_dask

    need_dask("--scheduler")
    import joblib
    from distributed import Client, LocalCluster

    with contextlib.ExitStack() as stack:
        try:
            where = (
                stack.enter_context(
                    LocalCluster(
                        threads_per_worker=1, dashboard_address=":0", silence_logs=logging.ERROR
                    )
                )
                if scheduler == "local"
                else scheduler
            )
            client = stack.enter_context(Client(where, timeout=PATIENCE))
            client.wait_for_workers(1, timeout=PATIENCE)
        except (OSError, TimeoutError, ValueError, TypeError) as error:
            raise ValueError(
                f"--scheduler {scheduler}: no Dask scheduler with workers answers there "
                f"({type(error).__name__}); start one with `dask scheduler` and `dask worker "
                "ADDRESS`, or say --scheduler local"
            ) from error
        yield lambda: joblib.parallel_config(backend="dask")

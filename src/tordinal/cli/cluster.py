"""``--scheduler``: run the fits of a command on the workers of a Dask cluster."""

import contextlib
import logging
from collections.abc import Callable, Iterator
from typing import Any

from tordinal.exceptions import InputError

__all__ = ["on_cluster"]

TIMEOUT = "15s"  # for the scheduler and its first worker


@contextlib.contextmanager
def on_cluster(scheduler: str | None) -> Iterator[Callable[[], Any]]:
    """Connect to a cluster; yield a function that makes contexts in which joblib runs there.

    Parameters
    ----------
    scheduler : str or None
        Address of a Dask scheduler, "local" for a cluster on this machine, None for no cluster.
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
            client = stack.enter_context(Client(where, timeout=TIMEOUT))
            client.wait_for_workers(1, timeout=TIMEOUT)
        except (OSError, TimeoutError, ValueError, TypeError) as error:
            raise InputError(
                f"--scheduler {scheduler}: no Dask scheduler with workers answers there "
                f"({type(error).__name__}); start one with `dask scheduler` and `dask worker "
                "ADDRESS`, or use --scheduler local"
            ) from error
        yield lambda: joblib.parallel_config(backend="dask")

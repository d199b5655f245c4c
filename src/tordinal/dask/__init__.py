"""Beyond one machine: TOR and RED-SVM on rows on the workers of a Dask cluster.

Linear models, every loss. X is a Dask array of dense or CSR blocks; labels, projections and
pseudo-labels stay with its rows. ``pip install "tordinal[dask]"`` brings what this needs.
"""

from importlib import import_module
from typing import Any

__all__ = ["REDSVM", "TOR", "need_dask"]


def need_dask(what: str) -> None:
    """Raise an error with the command to install Dask, if it is not installed.

    Parameters
    ----------
    what : str
        What needs it.
    """
    try:
        import_module("dask.array")
        import_module("distributed")
    except ImportError as error:
        raise ImportError(
            f'{what} needs Dask, which is not installed: pip install "tordinal[dask]"'
        ) from error


def __getattr__(name: str) -> Any:
    """Import the estimators when they are first used."""
    if name in ("TOR", "REDSVM"):
        need_dask(f"tordinal.dask.{name}")
        return getattr(import_module("tordinal.dask.estimators"), name)
    raise AttributeError(f"module 'tordinal.dask' has no attribute {name!r}")

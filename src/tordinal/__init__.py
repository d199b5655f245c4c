"""Transductive ordinal regression: some rows have an ordered rating, tordinal rates the rest."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tordinal.estimators import MTSVM, REDSVM, SVOR, TOR, TORCV
    from tordinal.rated import RatedTable
    from tordinal.rated_table import rate_table
    from tordinal.tables.models import load_model

__all__ = ["MTSVM", "REDSVM", "SVOR", "TOR", "TORCV", "RatedTable", "load_model", "rate_table"]

_HOMES = dict.fromkeys(["MTSVM", "REDSVM", "SVOR", "TOR", "TORCV"], "tordinal.estimators") | {
    "RatedTable": "tordinal.rated",
    "load_model": "tordinal.tables.models",
    "rate_table": "tordinal.rated_table",
}


def __getattr__(name: str) -> Any:
    """Import a name when it is first used, so that ``tordinal --help`` is fast."""
    if name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
    elif name == "__version__":
        value = import_module("importlib.metadata").version("tordinal")
    else:
        raise AttributeError(f"module 'tordinal' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__, "__version__"])

"""Transductive ordinal regression: a few rows carry an ordered rating, tordinal rates the rest."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tordinal.estimators import MTSVM, REDSVM, SVOR, TOR, TORCV

__all__ = ["MTSVM", "REDSVM", "SVOR", "TOR", "TORCV"]


def __getattr__(name: str) -> Any:
    """Import the estimators when first asked for, so that ``tordinal --help`` answers at once."""
    if name in __all__:
        value = getattr(import_module("tordinal.estimators"), name)
    elif name == "__version__":
        value = import_module("importlib.metadata").version("tordinal")
    else:
        raise AttributeError(f"module 'tordinal' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__, "__version__"])

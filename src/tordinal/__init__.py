"""Transductive ordinal regression: a few rows carry an ordered rating, and tordinal rates the rest."""

from importlib.metadata import version

from tordinal.estimators import MTSVM, REDSVM, SVOR, TOR, TORCV

__version__ = version("tordinal")
__all__ = ["MTSVM", "REDSVM", "SVOR", "TOR", "TORCV"]

"""Plots, with the API of scikit-learn's Display classes."""

from tordinal.plotting._style import COLOURS, STYLES, class_colours
from tordinal.plotting.confusion import OrdinalConfusionDisplay
from tordinal.plotting.history import HistoryDisplay
from tordinal.plotting.losses import OrdinalLossDisplay
from tordinal.plotting.projection import ProjectionDisplay
from tordinal.plotting.reliability import ReliabilityDisplay

__all__ = [
    "COLOURS",
    "STYLES",
    "HistoryDisplay",
    "OrdinalConfusionDisplay",
    "OrdinalLossDisplay",
    "ProjectionDisplay",
    "ReliabilityDisplay",
    "class_colours",
]

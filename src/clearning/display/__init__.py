"""Plots in scikit-learn's Display convention; matplotlib is imported only when one is drawn."""

from clearning.display.confusion import ConfusionDisplay
from clearning.display.losses import LossDisplay
from clearning.display.model import plot_model
from clearning.display.path import PathDisplay
from clearning.display.reliability import ReliabilityDisplay
from clearning.display.search import CVDisplay
from clearning.display.temperature import TemperatureDisplay

__all__ = [
    "CVDisplay",
    "ConfusionDisplay",
    "LossDisplay",
    "PathDisplay",
    "ReliabilityDisplay",
    "TemperatureDisplay",
    "plot_model",
]

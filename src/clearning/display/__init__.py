"""Plots in scikit-learn's Display convention; matplotlib is imported only when one is drawn."""

from clearning.display.losses import LossDisplay

__all__ = ["LossDisplay"]

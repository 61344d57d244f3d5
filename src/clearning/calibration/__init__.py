"""Class probabilities for any margin classifier."""

from clearning.calibration._calibrators import (
    CoherenceCalibrator,
    PlattCalibrator,
    SollichCalibrator,
)
from clearning.calibration._classifier import CalibratedMarginClassifier

__all__ = [
    "CalibratedMarginClassifier",
    "CoherenceCalibrator",
    "PlattCalibrator",
    "SollichCalibrator",
]

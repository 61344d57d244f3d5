"""Class probabilities for any margin classifier."""

from clearning.calibration._calibrators import (
    CoherenceCalibrator,
    PlattCalibrator,
    SollichCalibrator,
)
from clearning.calibration._classifier import CalibratedMarginClassifier
from clearning.calibration._joint import JointCoherenceCalibrator
from clearning.calibration._weighted import WeightedMarginClassifier

__all__ = [
    "CalibratedMarginClassifier",
    "CoherenceCalibrator",
    "JointCoherenceCalibrator",
    "PlattCalibrator",
    "SollichCalibrator",
    "WeightedMarginClassifier",
]

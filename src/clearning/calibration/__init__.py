"""Class probabilities for any margin classifier."""

from clearning.calibration._calibrators import (
    CoherenceCalibrator,
    PlattCalibrator,
    SollichCalibrator,
)

__all__ = [
    "CoherenceCalibrator",
    "PlattCalibrator",
    "SollichCalibrator",
]

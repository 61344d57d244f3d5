"""Large-margin classification with probabilities and certificates.

Zhang, Liu, Dai and Jordan's coherence functions join the hinge and the logistic loss in one smooth,
convex family with a temperature ρ, a margin u and a closed-form class probability.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.2.0"

# Names are looked up on first use, so that `import clearning` stays light.
_HOME = {
    "BlockwiseCLearningClassifier": "blockwise",
    "BlockwiseCLearningClassifierCV": "blockwise",
    "CLearningClassifier": "linear",
    "CLearningClassifierCV": "linear",
    "KernelCLearningClassifier": "kernel",
    "KernelCLearningClassifierCV": "kernel",
    "CalibratedMarginClassifier": "calibration",
    "CoherenceCalibrator": "calibration",
    "JointCoherenceCalibrator": "calibration",
    "PlattCalibrator": "calibration",
    "SollichCalibrator": "calibration",
    "WeightedMarginClassifier": "calibration",
    "RegularizationPath": "path",
    "clearning_path": "path",
    "kernel_clearning_path": "path",
    "TemperaturePath": "temperature",
    "temperature_path": "temperature",
    "kernel_temperature_path": "temperature",
}
__all__ = ["__version__", *sorted(_HOME)]

# Submodules too, so that `clearning.display` works after `import clearning`.
_SUBMODULES = (
    "calibration",
    "datasets",
    "display",
    "export",
    "kernels",
    "losses",
    "metrics",
    "report",
    "tables",
)


def __getattr__(name: str) -> Any:
    if name in _SUBMODULES:
        return import_module(f"{__name__}.{name}")
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*__all__, *_SUBMODULES])

"""The problems that R's glmnet was asked to solve; `data/make_glmnet.py` keeps its answers.

Inputs are read from the file with the answers, so that they are the same numbers everywhere.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

FILE = Path(__file__).parent / "data" / "glmnet.npz"

ALPHAS = np.array([0.2, 0.1, 0.05, 0.02, 0.005])
FACTORS = np.array([0.0, 2.0, 1.0, 0.5, 1.0, 3.0, 1.0, 1.0])
LOWER = np.array([-0.1, 0.0, -1.0, -np.inf, -0.05, -1.0, -0.2, 0.0])
UPPER = np.array([0.2, 0.1, np.inf, 0.1, 0.3, 0.0, 0.05, np.inf])

# name -> options of clearning_path; a string names one of the inputs.
PATHS: dict[str, dict[str, Any]] = {
    "lasso": {"l1_ratio": 1.0},
    "elastic_net": {"l1_ratio": 0.5},
    "ridge": {"l1_ratio": 0.0},
    "no_intercept": {"l1_ratio": 0.7, "fit_intercept": False},
    "weights": {"l1_ratio": 0.8, "sample_weight": "weights"},
    "offsets": {"l1_ratio": 0.8, "offset": "offsets"},
    "penalty_factors": {"l1_ratio": 0.8, "penalty_factor": FACTORS},
    "bounds": {"l1_ratio": 0.3, "bounds": (LOWER, UPPER)},
    "standardize": {"l1_ratio": 0.8, "standardize": True},
    "standardize_weights": {"l1_ratio": 1.0, "standardize": True, "sample_weight": "weights"},
    "standardize_bounds": {"l1_ratio": 0.5, "standardize": True, "bounds": (LOWER, UPPER)},
    "sparse": {"l1_ratio": 1.0, "sparse": True},
    "sparse_standardize": {
        "l1_ratio": 0.5,
        "sparse": True,
        "standardize": True,
        "sample_weight": "weights",
    },
    "everything": {
        "l1_ratio": 0.6,
        "sparse": True,
        "standardize": True,
        "sample_weight": "weights",
        "offset": "offsets",
        "penalty_factor": FACTORS,
        "bounds": (LOWER, UPPER),
    },
}

# name -> options of CLearningClassifierCV, over the grid below and the folds of the inputs.
CV_ALPHAS = np.geomspace(0.3, 0.003, 12)
CROSS_VALIDATIONS: dict[str, dict[str, Any]] = {
    "lasso": {"l1_ratio": 1.0},
    "ridge": {"l1_ratio": 0.0},
    "weights": {"l1_ratio": 0.5, "sample_weight": "weights"},
    "offsets": {"l1_ratio": 0.5, "offset": "offsets"},
    "sparse_standardize": {"l1_ratio": 0.8, "sparse": True, "standardize": True},
    "penalty_factors": {"l1_ratio": 0.8, "penalty_factor": FACTORS},
}


def data_of(options: dict[str, Any], inputs: Any) -> tuple[np.ndarray, np.ndarray, dict[str, Any]]:
    """A case's design and labels, and its options with the inputs that they name."""
    options = dict(options)
    prefix = "sparse_" if options.pop("sparse", False) else ""
    for name in ("sample_weight", "offset"):
        if name in options:
            options[name] = inputs[options[name]]
    return inputs[f"{prefix}X"], inputs[f"{prefix}y"], options

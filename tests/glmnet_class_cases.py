"""Problems of many classes that R's glmnet was asked, and where its answers are kept."""

from pathlib import Path

import numpy as np

FILE = Path(__file__).parent / "data" / "glmnet_classes.npz"
ALPHAS = np.geomspace(0.15, 0.01, 4)

# u and rho enter glmnet as an offset u/rho on every class but the true one.
CASES = {
    "lasso": {"l1_ratio": 1.0},
    "net": {"l1_ratio": 0.6},
    "grouped lasso": {"l1_ratio": 1.0, "groups": "classes"},
    "grouped net": {"l1_ratio": 0.4, "groups": "classes"},
    "ridge": {"l1_ratio": 0.0},
    "weighted": {"l1_ratio": 0.8, "weighted": True},
    "factored": {"l1_ratio": 1.0, "groups": "classes", "factors": True},
    "shifted": {"l1_ratio": 0.7, "offset": True},
    "no intercept": {"l1_ratio": 0.9, "fit_intercept": False},
    "margin": {"l1_ratio": 0.5, "u": 1.0},
    "grouped margin": {"l1_ratio": 1.0, "groups": "classes", "u": 0.7},
    "cold": {"l1_ratio": 1.0, "u": 1.0, "rho": 0.4},
    "hot and grouped": {"l1_ratio": 1.0, "groups": "classes", "u": 1.0, "rho": 2.5},
}


def make_inputs() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(21)
    X = rng.standard_normal((60, 7)) * np.linspace(0.5, 2.0, 7)
    y = (X[:, :3] + 0.8 * rng.standard_normal((60, 3))).argmax(axis=1)
    return {
        "X": X,
        "y": y,
        "weights": rng.uniform(0.2, 3.0, 60),
        "offsets": rng.standard_normal((60, 3)),
        "factors": np.array([1.0, 0.5, 2.0, 1.0, 0.0, 1.0, 3.0]),
    }

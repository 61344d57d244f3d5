"""Keeps every estimator of the installed version as a pickle, with what it predicts.

    python tests/data/make_pickles.py

writes `pickles-<version>.zip` beside this file: one pickle a name, the samples `X.npy`, and each
object's answers. Files of released versions are never made again: they are what users have.
"""

from __future__ import annotations

import io
import pickle
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import make_moons

import clearning
from clearning import losses

LOSSES = (
    "CLoss",
    "Coherence",
    "Exponential",
    "Hinge",
    "HuberizedHinge",
    "Logistic",
    "SquaredHinge",
)
ANSWERS = ("predict", "decision_function", "predict_proba", "predict_log_proba")


def samples() -> tuple[np.ndarray, np.ndarray]:
    """Two moons beside two columns of noise."""
    X, y = make_moons(60, noise=0.25, random_state=0)
    return np.hstack([X, np.random.default_rng(0).normal(size=(60, 2))]), y


def objects(X: np.ndarray, y: np.ndarray) -> dict[str, Any]:
    """One fitted object of every public kind."""
    K = np.exp(-np.square(X[:, None] - X[None]).sum(axis=2))
    linear = clearning.CLearningClassifier(alpha=0.05).fit(X, y)
    scores = linear.decision_function(X)
    return {
        "linear": linear,
        "linear-logistic": clearning.CLearningClassifier(loss="logistic", l1_ratio=1.0).fit(X, y),
        "linear-hinge": clearning.CLearningClassifier(loss="hinge").fit(X, y),
        "linear-unfitted": clearning.CLearningClassifier(rho=0.3),
        "linear-cv": clearning.CLearningClassifierCV(alphas=10, cv=3).fit(X, y),
        "linear-cv-calibrated": clearning.CLearningClassifierCV(
            loss="hinge", alphas=5, cv=3, calibrate=True
        ).fit(X, y),
        "kernel": clearning.KernelCLearningClassifier().fit(X, y),
        "kernel-landmarks": clearning.KernelCLearningClassifier(n_landmarks=12).fit(X, y),
        "kernel-precomputed": clearning.KernelCLearningClassifier(kernel="precomputed").fit(K, y),
        "kernel-cv": clearning.KernelCLearningClassifierCV(alphas=5, cv=3).fit(X, y),
        "calibrated": clearning.CalibratedMarginClassifier(
            clearning.CLearningClassifier(loss="hinge"), cv=3
        ).fit(X, y),
        "calibrated-ensemble": clearning.CalibratedMarginClassifier(
            clearning.CLearningClassifier(loss="squared_hinge"), cv=3, ensemble=True
        ).fit(X, y),
        "weighted": clearning.WeightedMarginClassifier(
            clearning.CLearningClassifier(loss="hinge")
        ).fit(X, y),
        "coherence-calibrator": clearning.CoherenceCalibrator().fit(scores, y),
        "platt-calibrator": clearning.PlattCalibrator().fit(scores, y),
        "sollich-calibrator": clearning.SollichCalibrator().fit(scores, y),
        "path": clearning.clearning_path(X, y, alphas=5),
        "kernel-path": clearning.kernel_clearning_path(K, y, alphas=5),
        "temperature-path": clearning.temperature_path(X, y, alpha=0.05, rhos=4),
        "losses": [getattr(losses, name)() for name in LOSSES],
    }


def given(name: str, X: np.ndarray) -> np.ndarray:
    """What an object of this name predicts from: samples, a kernel matrix or scores."""
    if name in ("kernel-precomputed", "kernel-path"):
        return np.exp(-np.square(X[:, None] - X[None]).sum(axis=2))
    return X[:, 0] if name.endswith("-calibrator") else X


def answers(name: str, thing: Any, X: np.ndarray) -> dict[str, np.ndarray]:
    """All that an object predicts; a loss's values."""
    if name == "losses":
        return {repr(loss): loss.value(X[:, 0]) for loss in thing}
    if name.endswith("-unfitted"):
        return {key: np.array(repr(value)) for key, value in thing.get_params().items()}
    found = {}
    for method in ANSWERS:
        if hasattr(thing, method):
            found[method] = np.asarray(getattr(thing, method)(given(name, X)))
    return found


def main() -> None:
    X, y = samples()
    target = Path(__file__).parent / f"pickles-{clearning.__version__}.zip"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:

        def write(name: str, **arrays: Any) -> None:
            buffer = io.BytesIO()
            np.savez(buffer, **arrays)
            archive.writestr(name, buffer.getvalue())

        write("X.npz", X=X)
        for name, thing in objects(X, y).items():
            archive.writestr(f"{name}.pickle", pickle.dumps(thing, protocol=4))
            write(f"{name}.npz", **answers(name, thing, X))


if __name__ == "__main__":
    main()

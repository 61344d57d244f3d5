"""Seconds to calibrate a million scores, and to make the many fits of weighted classifiers.

    python benchmarks/calibration/speed.py [--scores 1000000]

The first table is beside scikit-learn's sigmoid calibration, the second beside a single fit. Runs
are interleaved and the smallest of five is kept; CPU seconds of one thread.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from functools import partial
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from scipy.special import expit
from sklearn.calibration import _SigmoidCalibration
from sklearn.datasets import make_classification

from clearning import (
    CLearningClassifier,
    CoherenceCalibrator,
    KernelCLearningClassifier,
    PlattCalibrator,
    WeightedMarginClassifier,
)

FITS: dict[str, Callable] = {
    "scikit-learn sigmoid": _SigmoidCalibration,
    "coherence (default)": CoherenceCalibrator,
    "coherence, one margin": lambda: CoherenceCalibrator(u="fit-one"),
    "coherence-svm": lambda: CoherenceCalibrator(u=1.0),
    "temperature": lambda: CoherenceCalibrator(u=0.0),
    "coherence, offset": lambda: CoherenceCalibrator(offset=True),
    "platt": PlattCalibrator,
}


ESTIMATORS: dict[str, tuple[tuple[int, int], Any]] = {
    "linear, 1000 x 100": ((1000, 100), CLearningClassifier(rho=0.1, l1_ratio=0.0)),
    "linear, 200 x 500": ((200, 500), CLearningClassifier(rho=0.1, l1_ratio=0.0)),
    "kernel, n = 400": ((400, 5), KernelCLearningClassifier(rho=0.1, l1_ratio=0.0)),
    "kernel, hinge loss, n = 400": (
        (400, 5),
        KernelCLearningClassifier(loss="hinge", l1_ratio=0.0),
    ),
}


def smallest(tasks: dict[str, Callable[[], Any]], repeats: int = 5) -> dict[str, float]:
    seconds = dict.fromkeys(tasks, np.inf)
    for _ in range(repeats):
        for name, task in tasks.items():
            started = time.process_time()
            task()
            seconds[name] = min(seconds[name], time.process_time() - started)
    return seconds


def calibrators(n_scores: int) -> None:
    rng = np.random.default_rng(0)
    f = 2 * rng.normal(size=n_scores)
    y = (rng.uniform(size=len(f)) < expit(1.5 * f - 0.3)).astype(int)
    seconds = smallest({name: lambda make=make: make().fit(f, y) for name, make in FITS.items()})
    reference = seconds["scikit-learn sigmoid"]
    print(f"| {n_scores} scores | seconds | of scikit-learn's |\n|---|---:|---:|")
    for name, value in seconds.items():
        print(f"| {name} | {value:.3f} | {value / reference:.2f} |")


def weighted_fits() -> None:
    print("\n| 49 weighted fits | seconds | one fit | cost in fits |\n|---|---:|---:|---:|")
    for name, (shape, estimator) in ESTIMATORS.items():
        X, y = make_classification(
            *shape, n_informative=4, n_redundant=0, flip_y=0.1, random_state=0
        )
        model = WeightedMarginClassifier(estimator, n_weights=50)
        seconds = smallest(
            {"all": partial(model.fit, X, y), "one": partial(estimator.fit, X, y)}, repeats=3
        )
        ratio = seconds["all"] / seconds["one"]
        print(f"| {name} | {seconds['all']:.3f} | {seconds['one']:.4f} | {ratio:.1f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scores", type=int, default=1_000_000)
    calibrators(parser.parse_args().scores)
    weighted_fits()


if __name__ == "__main__":
    main()

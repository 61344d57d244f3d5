"""Seconds to calibrate a million scores, and to make the many fits of weighted classifiers.

    python benchmarks/calibration/speed.py [--scores 1000000]

The first table is beside scikit-learn's sigmoid calibration, the second beside a single fit. Runs
are interleaved and the smallest of five is kept; CPU seconds of one thread. A run of a million
scores is kept, for `section()`, its part of RESULTS.md.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
import runner
from report import Section, Table, Target, number
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

MANY = 1_000_000
N_WEIGHTS = 50
NAME = "calibration-speed"

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


def calibrators(n_scores: int) -> dict[str, float]:
    """Seconds to fit each calibrator."""
    rng = np.random.default_rng(0)
    f = 2 * rng.normal(size=n_scores)
    y = (rng.uniform(size=len(f)) < expit(1.5 * f - 0.3)).astype(int)
    return smallest({name: lambda make=make: make().fit(f, y) for name, make in FITS.items()})


def weighted_fits() -> dict[str, tuple[float, float]]:
    """Seconds of all weighted fits, and of one fit."""
    found = {}
    for name, (shape, estimator) in ESTIMATORS.items():
        X, y = make_classification(
            *shape, n_informative=4, n_redundant=0, flip_y=0.1, random_state=0
        )
        model = WeightedMarginClassifier(estimator, n_weights=N_WEIGHTS)
        seconds = smallest(
            {"all": partial(model.fit, X, y), "one": partial(estimator.fit, X, y)}, repeats=3
        )
        found[name] = seconds["all"], seconds["one"]
    return found


def run(n_scores: int) -> dict[str, Any]:
    result = {
        "n_scores": n_scores,
        "calibrators": calibrators(n_scores),
        "weighted": weighted_fits(),
    }
    if n_scores == MANY:
        runner.remember(result, "study", name=NAME)
    return result


def build(result: dict[str, Any]) -> Section:
    section = Section("Speed of calibration, one thread")
    section.text("Processor seconds, the smallest of five; runs are interleaved.")
    seconds = result["calibrators"]
    reference = seconds["scikit-learn sigmoid"]
    table = Table([f"{result['n_scores']:,} scores", "seconds", "of scikit-learn's"])
    for name, value in seconds.items():
        table.add(name, number(value), f"{value / reference:.2f}")
        if name.startswith("coherence"):
            what = f"{result['n_scores']:,} scores, {name}, of scikit-learn's sigmoid"
            section.targets.append(Target(what, 0.5, value / reference))
    section.table(table)
    section.text(
        f"`WeightedMarginClassifier` with m = {N_WEIGHTS}: each fit starts from its neighbour's "
        "solution."
    )
    table = Table([f"{N_WEIGHTS - 1} weighted fits", "seconds", "one fit", "cost in fits"])
    for name, (all_, one) in result["weighted"].items():
        table.add(name, number(all_), number(one), f"{all_ / one:.1f}")
    section.table(table)
    return section


def section() -> Section:
    """The last run's tables; without one, everything is timed."""
    result = runner.recall("study", name=NAME)
    if result is None:
        worker = runner.Worker(run, threads=1)
        result = worker(MANY, limit=3600.0)
        worker.close()
    return build(result)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scores", type=int, default=MANY)
    print(build(run(parser.parse_args().scores)))


if __name__ == "__main__":
    main()

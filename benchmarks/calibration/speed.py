"""Seconds to fit a million scores, beside scikit-learn's sigmoid calibration.

    python benchmarks/calibration/speed.py [--scores 1000000]

Runs are interleaved and the smallest of five is kept; CPU seconds of one thread.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from scipy.special import expit
from sklearn.calibration import _SigmoidCalibration

from clearning import CoherenceCalibrator, PlattCalibrator

FITS: dict[str, Callable] = {
    "scikit-learn sigmoid": _SigmoidCalibration,
    "coherence (default)": CoherenceCalibrator,
    "coherence, one margin": lambda: CoherenceCalibrator(u="fit-one"),
    "coherence-svm": lambda: CoherenceCalibrator(u=1.0),
    "temperature": lambda: CoherenceCalibrator(u=0.0),
    "coherence, offset": lambda: CoherenceCalibrator(offset=True),
    "platt": PlattCalibrator,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scores", type=int, default=1_000_000)
    rng = np.random.default_rng(0)
    f = 2 * rng.normal(size=parser.parse_args().scores)
    y = (rng.uniform(size=len(f)) < expit(1.5 * f - 0.3)).astype(int)
    seconds = dict.fromkeys(FITS, np.inf)
    for _ in range(5):
        for name, make in FITS.items():
            started = time.process_time()
            make().fit(f, y)
            seconds[name] = min(seconds[name], time.process_time() - started)
    reference = seconds["scikit-learn sigmoid"]
    print(f"| {len(f)} scores | seconds | of scikit-learn's |\n|---|---:|---:|")
    for name, value in seconds.items():
        print(f"| {name} | {value:.3f} | {value / reference:.2f} |")


if __name__ == "__main__":
    main()

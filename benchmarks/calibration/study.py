"""Which probabilities of an SVM are best?  Real data, two kernels, three penalties, every method.

    python benchmarks/calibration/study.py                # some ten minutes on one thread
    python benchmarks/calibration/study.py --sets saheart diabetes

reads the shared data (CLEARNING_DATA) and writes benchmarks/results-calibration.md. A method whose
package is missing (pip install betacal venn-abers) is named and left out.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import warnings
from importlib.util import find_spec
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).parent))

import numpy as np
from methods import METHODS, OWN_FITS, Case
from report import Row, write
from scipy import sparse
from sets import SETS, folder, read
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from clearning._progress import progress
from clearning.metrics import (
    brier_score,
    cross_entropy,
    expected_calibration_error,
    smooth_calibration_error,
)

KERNELS = ("linear", "rbf")
PENALTIES = (0.1, 1.0, 10.0)
N_SPLITS = 2
RESULTS = Path(__file__).parents[1] / "results-calibration.md"
PACKAGES = {"betacal": "betacal", "venn-abers": "venn_abers"}


def cases(names: list[str]):
    """Every (set, kernel, C, split) with its training and test sample."""
    for name in names:
        X, y = read(name)
        splits = StratifiedShuffleSplit(N_SPLITS, test_size=0.5, random_state=0).split(X, y)
        for number, (train, test) in enumerate(splits):
            for kernel in KERNELS:
                for C in PENALTIES:
                    scaler = StandardScaler(with_mean=not sparse.issparse(X))
                    svm = make_pipeline(scaler, SVC(kernel=kernel, C=C))
                    yield (name, kernel, C, number), svm, X[train], y[train], X[test], y[test]


def measure(key: tuple, case: Case, y_test: np.ndarray, methods: dict) -> list[Row]:
    predicted = case.fitted.predict(case.X_test)
    rows = []
    for method, run in methods.items():
        started = time.process_time()
        p = np.clip(run(case), 0.0, 1.0)
        seconds = time.process_time() - started
        rows.append(
            Row(
                *key,
                method=method,
                # Isotonic regression gives probabilities of 0; scikit-learn's log_loss clips too.
                log_loss=cross_entropy(y_test, p, eps=np.finfo(float).eps),
                brier=brier_score(y_test, p),
                ece=expected_calibration_error(y_test, p, strategy="quantile"),
                smooth=smooth_calibration_error(y_test, p),
                disagreements=int(np.sum((p > 0.5) != predicted)),
                n_test=len(y_test),
                seconds=seconds + (0.0 if method in OWN_FITS else case.seconds),
                calibration_seconds=seconds,
            )
        )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", choices=list(SETS), default=list(SETS))
    parser.add_argument("--output", type=Path, default=RESULTS)
    options = parser.parse_args()
    if not folder().is_dir():
        raise SystemExit(f"no data at {folder()}: set CLEARNING_DATA")
    missing = [name for name, module in PACKAGES.items() if find_spec(module) is None]
    for name in missing:
        print(f"missing: {name} is not installed, and left out")
    methods = {name: run for name, run in METHODS.items() if name not in missing}

    rows: list[Row] = []
    total = len(options.sets) * N_SPLITS * len(KERNELS) * len(PENALTIES)
    started = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for key, svm, X, y, X_test, y_test in progress(cases(options.sets), total, "study"):
            rows += measure(key, Case(svm, X, y, X_test), y_test, methods)
    write(options.output, rows, missing, time.process_time() - started)
    print(f"wrote {options.output}")


if __name__ == "__main__":
    main()

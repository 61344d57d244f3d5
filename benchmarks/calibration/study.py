"""Which probabilities of an SVM are best?  Real data, two kernels, three penalties, every method.

    python benchmarks/calibration/study.py                # some ten minutes on one thread
    python benchmarks/calibration/study.py --sets saheart diabetes

reads the shared data (CLEARNING_DATA) and writes benchmarks/results-calibration.md. A method whose
package is missing (pip install betacal venn-abers) is named and left out. A run over all sets is
kept, for `section()`, the study's part of RESULTS.md.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import warnings
from importlib.util import find_spec
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
import runner
from report import Section
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.isotonic import IsotonicRegression
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from calibration import tables
from calibration.methods import METHODS, OWN_FITS, Case
from calibration.sets import SETS, folder, read
from calibration.tables import Price, Row
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
# Links and tails were looked at on the splits of seeds 0 and 1; the tables are made of others.
SEED = 2
NAME = "calibration"
LIMIT = 7200.0
RESULTS = Path(__file__).parents[1] / "results-calibration.md"
PACKAGES = {"betacal": "betacal", "venn-abers": "venn_abers"}


def cases(names: list[str]):
    """Every (set, kernel, C, split) with its training and test sample."""
    for name in names:
        X, y = read(name)
        splits = StratifiedShuffleSplit(N_SPLITS, test_size=0.5, random_state=SEED).split(X, y)
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


def price(key: tuple, scores: np.ndarray, y: np.ndarray) -> Price:
    """Log-loss of the best increasing link with hindsight, and of the best that keeps signs.

    Cutting an isotonic fit at a bound is the isotonic fit within that bound.
    """
    p = IsotonicRegression().fit_transform(scores, y)
    bounded = np.where(scores > 0, np.maximum(p, 0.5), np.minimum(p, 0.5))
    return Price(*key, cross_entropy(y, p), cross_entropy(y, bounded))


def run(names: list[str]) -> dict[str, Any]:
    """Every method on every case, and the processor's seconds; kept if it is the whole study."""
    if not folder().is_dir():
        raise SystemExit(f"no data at {folder()}: set CLEARNING_DATA")
    missing = [name for name, module in PACKAGES.items() if find_spec(module) is None]
    for name in missing:
        print(f"missing: {name} is not installed, and left out")
    methods = {name: run for name, run in METHODS.items() if name not in missing}
    rows: list[Row] = []
    prices: list[Price] = []
    total = len(names) * N_SPLITS * len(KERNELS) * len(PENALTIES)
    started = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for key, svm, X, y, X_test, y_test in progress(cases(names), total, "study"):
            case = Case(svm, X, y, X_test)
            rows += measure(key, case, y_test, methods)
            prices.append(price(key, case.test, y_test))
    result = {
        "rows": [row._asdict() for row in rows],
        "prices": [price._asdict() for price in prices],
        "missing": missing,
        "seconds": time.process_time() - started,
    }
    if names == list(SETS):
        runner.remember(result, "study", name=NAME)
    return result


def study_of(result: dict[str, Any]) -> tables.Study:
    return tables.Study(
        [Row(**row) for row in result["rows"]],
        [Price(**price) for price in result["prices"]],
        result["missing"],
        result["seconds"],
    )


def section() -> Section:
    """The last whole study's tables; without one, the study is run."""
    result = runner.recall("study", name=NAME)
    if result is None:
        worker = runner.Worker(run, threads=1)
        result = worker(list(SETS), limit=LIMIT)
        worker.close()
    return tables.section(study_of(result))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", choices=list(SETS), default=list(SETS))
    parser.add_argument("--output", type=Path, default=RESULTS)
    parser.add_argument("--stored", action="store_true", help="the tables alone, of the last run")
    options = parser.parse_args()
    stored = runner.recall("study", name=NAME) if options.stored else None
    result = stored or run(options.sets)
    tables.write(options.output, study_of(result))
    print(f"wrote {options.output}")


if __name__ == "__main__":
    main()

"""Are the kernel classifier's probabilities better than a calibrated SVM's?  Thirteen real sets.

    python benchmarks/kernel_quality/study.py                  # about ten minutes, one thread
    python benchmarks/kernel_quality/study.py --sets saheart pima

reads the shared data (CLEARNING_DATA) and writes benchmarks/results-kernel-quality.md.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).parent))

import numpy as np
from methods import METHODS
from report import Row, write
from sets import SETS, Split, folder

from clearning._progress import progress
from clearning.metrics import cross_entropy

N_SPLITS = 2
RESULTS = Path(__file__).parents[1] / "results-kernel-quality.md"


def measure(name: str, number: int, split: Split) -> list[Row]:
    rows = []
    for method, fit in METHODS.items():
        started = time.process_time()
        fitted = fit(split.X, split.y)
        seconds = time.process_time() - started
        p = fitted.model.predict_proba(split.X_test)[:, 1]
        rows.append(
            Row(
                data=name,
                split=number,
                method=method,
                # As in scikit-learn's log_loss, a probability of 0 costs 36, not infinity.
                log_loss=cross_entropy(split.y_test, p, eps=np.finfo(float).eps),
                error=float(np.mean((p > 0.5) != split.y_test)),
                n_support=fitted.n_support,
                seconds=seconds,
                n_train=len(split.y),
                n_test=len(split.y_test),
            )
        )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", choices=list(SETS), default=list(SETS))
    parser.add_argument("--splits", type=int, default=N_SPLITS)
    parser.add_argument("--output", type=Path, default=RESULTS)
    options = parser.parse_args()
    if not folder().is_dir():
        raise SystemExit(f"no data at {folder()}: set CLEARNING_DATA")

    started = time.process_time()
    rows: list[Row] = []
    tasks = (
        (name, number, split)
        for name in options.sets
        for number, split in enumerate(SETS[name].splits(options.splits))
    )
    for task in progress(tasks, len(options.sets) * options.splits, "study"):
        rows += measure(*task)
    write(options.output, rows, time.process_time() - started)
    print(f"wrote {options.output}")


if __name__ == "__main__":
    main()

"""Are the kernel classifier's probabilities better than a calibrated SVM's?  Thirteen real sets.

    python benchmarks/kernel_quality/study.py                  # about ten minutes, one thread
    python benchmarks/kernel_quality/study.py --sets saheart pima --output some.md

reads the shared data (CLEARNING_DATA) and writes benchmarks/results-kernel-quality.md. A run over
all sets is kept, for `section()`, the study's part of RESULTS.md.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
import runner
from report import Section

from clearning._progress import progress
from clearning.metrics import cross_entropy
from kernel_quality import tables
from kernel_quality.methods import METHODS
from kernel_quality.sets import SETS, Split, folder
from kernel_quality.tables import Row

N_SPLITS = 3
RESULTS = Path(__file__).parents[1] / "results-kernel-quality.md"
NAME = "kernel-quality"
LIMIT = 7200.0


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


def run(names: list[str], n_splits: int) -> dict[str, Any]:
    """Every method on every split, and the processor's seconds; a run over all sets is kept."""
    if not folder().is_dir():
        raise SystemExit(f"no data at {folder()}: set CLEARNING_DATA")
    started = time.process_time()
    result: dict[str, Any] = {"rows": [], "seconds": 0.0}
    tasks = ((number, name) for number in range(n_splits) for name in names)
    for number, name in progress(tasks, len(names) * n_splits, "study"):
        *_, split = SETS[name].splits(number + 1)
        result["rows"] += [row._asdict() for row in measure(name, number, split)]
        result["seconds"] = time.process_time() - started
        # After each split, so that a run cut short leaves whole ones.
        if name == names[-1] and names == list(SETS):
            runner.remember(result, "study", name=NAME)
    return result


def rows_of(result: dict[str, Any]) -> list[Row]:
    return [Row(**row) for row in result["rows"]]


def section() -> Section:
    """The last whole study's tables; without one, the study is run."""
    result = runner.recall("study", name=NAME)
    if result is None:
        worker = runner.Worker(run, threads=1)
        result = worker(list(SETS), N_SPLITS, limit=LIMIT)
        worker.close()
    return tables.section(rows_of(result))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", choices=list(SETS), default=list(SETS))
    parser.add_argument("--splits", type=int, default=N_SPLITS)
    parser.add_argument("--output", type=Path, default=RESULTS)
    parser.add_argument("--stored", action="store_true", help="the tables alone, of the last run")
    options = parser.parse_args()
    stored = runner.recall("study", name=NAME) if options.stored else None
    result = stored or run(options.sets, options.splits)
    tables.write(options.output, rows_of(result), result["seconds"])
    print(f"wrote {options.output}")


if __name__ == "__main__":
    main()

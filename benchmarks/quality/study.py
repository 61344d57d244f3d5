"""Are the defaults the best model?  Real sets of 300 training samples, five splits, seven methods.

    make study                                                    # an hour or more, one thread
    python benchmarks/quality/study.py --sets spambase --splits 1 --output some.md
    python benchmarks/quality/study.py --again "linear default"   # after a change of it

reads the shared data (CLEARNING_DATA) and what comes with scikit-learn, and writes
benchmarks/results-quality.md. What each method does on each split is kept as soon as it is known,
so that a study that was cut short goes on where it was.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ.setdefault("BENCH_CLOCK", "cpu")
    sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
import runner

from clearning._progress import progress
from clearning.metrics import brier_score, cross_entropy, expected_calibration_error
from quality import tables
from quality.methods import METHODS, Skipped, fit
from quality.sets import SETS, Split
from quality.tables import Row

N_SPLITS = 5
RESULTS = Path(__file__).parents[1] / "results-quality.md"
KIND = "quality"


def measure(name: str, number: int, method: str, split: Split) -> Row:
    """What one method does on one split; the reason where it does nothing."""
    told = {"data": name, "split": number, "method": method}
    told |= {"n_train": len(split.y), "n_features": split.X.shape[1]}
    try:
        fitted = fit(method, split.X, split.y)
    except Skipped as reason:
        return Row(**told, skipped=str(reason))
    p = np.clip(fitted.predict(split.X_test), 0.0, 1.0)
    return Row(
        **told,
        # As in scikit-learn's log_loss, a probability of 0 costs 36, not infinity.
        log_loss=cross_entropy(split.y_test, p, eps=np.finfo(float).eps),
        error=float(np.mean((p > 0.5) != split.y_test)),
        brier=brier_score(split.y_test, p),
        calibration=expected_calibration_error(split.y_test, p),
        size=int(fitted.size),
        seconds=fitted.seconds,
    )


def run(names: list[str], n_splits: int, again: list[str]) -> list[Row]:
    """Return every row that is asked for, from what is kept where it is."""
    rows = []
    tasks = [(number, name) for number in range(n_splits) for name in names]
    for number, name in progress(iter(tasks), len(tasks), "study"):
        split = None
        for method in METHODS:
            key = {"data": name, "split": number, "method": method}
            kept = None if method in again else runner.recall(KIND, **key)
            if kept is None:
                split = split or SETS[name].split(number)
                kept = measure(name, number, method, split)._asdict()
                runner.remember(kept, KIND, **key)
            rows.append(Row(**kept))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", choices=list(SETS), default=list(SETS))
    parser.add_argument("--splits", type=int, default=N_SPLITS)
    parser.add_argument("--again", nargs="+", choices=list(METHODS), default=[])
    parser.add_argument("--output", type=Path, default=RESULTS)
    options = parser.parse_args()
    missing = [name for name in options.sets if not SETS[name].here]
    if missing:
        print(f"without CLEARNING_DATA there is no {', '.join(missing)}")
    rows = run([n for n in options.sets if n not in missing], options.splits, options.again)
    tables.write(options.output, rows)
    print(f"wrote {options.output}")


if __name__ == "__main__":
    main()

"""The default kernel search against a grid of SVMs: seconds of one thread, and how good each is.

    make bench-search                                               # 1000 to 5000 samples, minutes
    python benchmarks/search_time.py --sizes 10000,20000,100000     # the rest: an hour
    python benchmarks/search_time.py --sizes 1000 --again ours      # after a change

The peer is `GridSearchCV(SVC())` over 6 values of C and 4 widths in five folds, calibrated by
`CalibratedClassifierCV(ensemble=False)`: what a careful user of scikit-learn would run. Both get
the same rows of `workloads.kernel_data` and are timed in CPU seconds, one after the other. Up to
5000 samples the peer runs whole; at 10,000 one of the five folds is run and counted five times;
beyond, its seconds grow as from 5000 to 10,000, and what is fitted is its calibrated SVM alone,
with the hyperparameters chosen at 10,000. What was measured is kept; benchmarks/results-search.md
is written from it.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import runner
from report import Table
from sklearn.calibration import CalibratedClassifierCV
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC
from workloads import kernel_data

from clearning import CLearningClassifierCV, KernelCLearningClassifierCV

RESULTS = Path(__file__).with_name("results-search.md")
KIND = "search-time"
N_TEST = 10_000
N_FOLDS = 5
COSTS = np.logspace(-2, 3, 6)
WIDTHS = np.array([0.25, 0.5, 1.0, 2.0]) / 20.0
# The peer runs whole up to the first size, in one fold of five at the second, and above it only
# the chosen SVM is calibrated, up to the third.
WHOLE, PART, FITTED = 5000, 10_000, 20_000
N_CALIBRATED = 1000
OURS, THEIRS = "ours", "grid of SVMs"

Measured = dict[str, Any]


def ours(n: int) -> Measured:
    """The default search."""
    X, y = kernel_data(n)
    model = KernelCLearningClassifierCV()
    seconds = _seconds(model, X, y)
    return {"seconds": seconds, "vectors": len(model.support_), **_quality(model)}


def grid_of_svms(n: int) -> Measured:
    """The peer, as far as it is run at this size; None for what is not."""
    X, y = kernel_data(n)
    if n > PART:
        chosen = _measured(THEIRS, PART)["chosen"]
        quality = _quality(_calibrated(chosen, X, y)[0]) if n <= FITTED else {}
        return {"seconds": None, "chosen": chosen, **quality}
    folds = list(StratifiedKFold(N_FOLDS).split(X, y))
    run = folds if n <= WHOLE else folds[:1]
    grid = GridSearchCV(
        SVC(cache_size=1000), {"C": COSTS, "gamma": WIDTHS}, cv=run, refit=n <= WHOLE
    )
    seconds = _seconds(grid, X, y) * len(folds) / len(run)
    chosen = {name: float(value) for name, value in grid.best_params_.items()}
    model, more = _calibrated(chosen, X, y)
    return {"seconds": seconds + more, "chosen": chosen, **_quality(model)}


def _calibrated(chosen: dict[str, float], X: Any, y: Any) -> tuple[Any, float]:
    model = CalibratedClassifierCV(SVC(cache_size=1000, **chosen), ensemble=False)
    return model, _seconds(model, X, y)


def _seconds(model: Any, X: Any, y: Any) -> float:
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y)
    return time.process_time() - began


def _quality(model: Any) -> Measured:
    X, y = kernel_data(N_TEST, seed=1)
    p = model.predict_proba(X)[:, 1]
    return {"log_loss": float(log_loss(y, p)), "error": float(np.mean((p > 0.5) != y))}


def calibration(_: int) -> Measured:
    """Seconds of both searches with and without calibration, in turns, the least of several."""
    X, y = kernel_data(N_CALIBRATED)
    found = {}
    # The linear search is over in a tenth of a second, and needs more turns to be told from noise.
    searches = {"linear": (CLearningClassifierCV, 25), "kernel": (KernelCLearningClassifierCV, 3)}
    for name, (kind, count) in searches.items():
        turns = [
            [_seconds(kind(calibrate=told), X, y) for told in ("auto", False)] for _ in range(count)
        ]
        found[name] = np.min(turns, axis=0).tolist()
    return found


MEASURES = {OURS: ours, THEIRS: grid_of_svms, "calibration": calibration}


def _measured(who: str, n: int, *, again: bool = False) -> Measured:
    kept = None if again else runner.recall(KIND, who=who, n=n)
    if kept is None:
        kept = MEASURES[who](n)
        runner.remember(kept, KIND, who=who, n=n)
        print(f"{who}, n = {n}: {kept}", flush=True)
    return kept


def _grown(n: int) -> float | None:
    """The peer's seconds beyond what is run, by its growth from 5000 to 10,000."""
    ends = [runner.recall(KIND, who=THEIRS, n=size) for size in (WHOLE, PART)]
    if None in ends:
        return None
    slope = np.log(ends[1]["seconds"] / ends[0]["seconds"]) / np.log(PART / WHOLE)
    return ends[1]["seconds"] * (n / PART) ** slope


def _text(value: float | None, digits: str = ".4f") -> str:
    return "–" if value is None else f"{value:{digits}}"


def _row(n: int, mine: Measured, grid: Measured) -> list[str]:
    peers = grid["seconds"] or _grown(n)
    return [
        f"{n:,}",
        f"{mine['seconds']:.1f}",
        _text(peers, ".0f") + ("" if n <= WHOLE else " (in part)" if n <= PART else " (grown)"),
        _text(peers and mine["seconds"] / peers, ".3f"),
        *(_text(each.get(name)) for name in ("log_loss", "error") for each in (mine, grid)),
        str(mine["vectors"]),
    ]


def written() -> str:
    """The page, of all that is kept."""
    sizes = [1000, 2000, WHOLE, PART, FITTED, 100_000]
    pairs = {n: [runner.recall(KIND, who=who, n=n) for who in (OURS, THEIRS)] for n in sizes}
    known = {n: pair for n, pair in pairs.items() if None not in pair}
    table = Table(
        ["n", "seconds", "of a grid of SVMs", "ratio", "log-loss", "of the SVM"]
        + ["error", "of the SVM", "vectors"]
    )
    for n, pair in known.items():
        table.add(*_row(n, *pair))
    small = [n for n in known if n <= WHOLE]
    seconds = [known[n][0]["seconds"] for n in small]
    growth = np.polyfit(np.log(small), np.log(seconds), 1)[0] if len(small) > 1 else np.nan
    text = [
        "# The default kernel search against a grid of SVMs",
        "`python benchmarks/search_time.py --sizes 1000,2000,5000,10000,20000,100000`: CPU seconds "
        "of one thread, of `KernelCLearningClassifierCV()` and of `GridSearchCV(SVC())` over 6 "
        "values of C and 4 widths in five folds, calibrated. (in part): one fold was run and "
        "counted five times; (grown): not run, but grown as from 5000 to 10,000. The SVM's "
        "log-loss beyond 10,000 is that of the hyperparameters chosen there.",
        str(table),
        f"From {min(small, default=0):,} to {max(small, default=0):,} samples our seconds grow as "
        f"n^{growth:.2f}.",
    ]
    told = runner.recall(KIND, who="calibration", n=N_CALIBRATED)
    if told:
        costs = Table(["search", "seconds", "without calibration", "ratio"])
        for name, (with_it, without) in told.items():
            costs.add(name, f"{with_it:.2f}", f"{without:.2f}", f"{with_it / without:.2f}")
        text += [f"## What calibration costs, n = {N_CALIBRATED}", str(costs)]
    return "\n\n".join(text) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", default="1000,2000,5000")
    parser.add_argument("--again", choices=[OURS, THEIRS], nargs="*", default=[])
    given = parser.parse_args()
    for n in map(int, filter(None, given.sizes.split(","))):
        for who in (OURS, THEIRS):
            _measured(who, n, again=who in given.again)
    _measured("calibration", N_CALIBRATED, again=OURS in given.again)
    RESULTS.write_text(written())
    print(f"wrote {RESULTS}")


if __name__ == "__main__":
    main()

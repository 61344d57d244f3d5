"""More than two classes on real data: which way of fitting them is best?

    python benchmarks/class_study.py --out benchmarks/results-classes.md

Every method chooses its penalty by cross-validation on the training half alone. USPS is taken
where `CLEARNING_DATA` has it; the others come with scikit-learn.
"""

from __future__ import annotations

import argparse
import resource
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from report import Section, Table, note, number
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_digits, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, StratifiedShuffleSplit
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from clearning import CLearningClassifierCV, KernelCLearningClassifierCV
from clearning.datasets import DatasetError, load_usps

FOLDS = 3
PENALTIES = 20
USPS_SAMPLES = 2000


def usps() -> tuple[Any, Any]:
    """The first samples of the training file."""
    X, y = load_usps()[:2]
    return np.asarray(X[:USPS_SAMPLES], dtype=float), y[:USPS_SAMPLES]


SETS: dict[str, Callable[[], tuple[Any, Any]]] = {
    "wine": lambda: load_wine(return_X_y=True),
    "digits": lambda: load_digits(return_X_y=True),
    "USPS": usps,
}


def ours(**options: Any) -> CLearningClassifierCV:
    return CLearningClassifierCV(alphas=PENALTIES, cv=FOLDS, l1_ratios=(0.9,), **options)


def ours_by_kernel(l1_ratio: float, **options: Any) -> KernelCLearningClassifierCV:
    """Of `SVC`'s own width, and a loss that is given: what is searched is the penalty, as there.

    The search as it comes tries widths and losses too, some 130 candidates for the ten of these.
    """
    return KernelCLearningClassifierCV(
        gammas=("scale",),
        rhos=(1.0,),
        us=(0.0,),
        l1_ratios=(l1_ratio,),
        cv=FOLDS,
        verbose=False,
        **options,
    )


METHODS: dict[str, Callable[[], Any]] = {
    "joint, u = 0": lambda: ours(us=(0.0,)),
    "joint, u = 1": lambda: ours(us=(1.0,)),
    "joint, u = 1, calibrated": lambda: ours(us=(1.0,), calibrate=True),
    "joint, u = 0, grouped": lambda: ours(us=(0.0,), groups="classes"),
    "one-versus-rest": lambda: OneVsRestClassifier(ours()),
    "kernel, joint": lambda: ours_by_kernel(0.0),
    "kernel, joint, sparse": lambda: ours_by_kernel(0.1),
    "kernel, joint, sparse, grouped": lambda: ours_by_kernel(0.1, groups="classes"),
    "kernel, one-versus-rest": lambda: OneVsRestClassifier(ours_by_kernel(0.0)),
    "LogisticRegression": lambda: GridSearchCV(
        LogisticRegression(max_iter=2000),
        {"C": np.geomspace(1e-4, 1e4, PENALTIES)},
        scoring="neg_log_loss",
        cv=FOLDS,
    ),
    "calibrated SVC": lambda: CalibratedClassifierCV(
        GridSearchCV(SVC(), {"C": 10.0 ** np.arange(-1, 4)}, cv=FOLDS), cv=FOLDS, ensemble=False
    ),
}


def features(model: Any) -> str:
    """How many features have a coefficient; a dash for a kernel."""
    model = getattr(model, "best_estimator_", model)
    if hasattr(model, "estimators_") and hasattr(model.estimators_[0], "coef_"):
        used = np.any([m.coef_[0] != 0 for m in model.estimators_], axis=0)
    elif hasattr(model, "coef_"):
        used = (model.coef_ != 0).any(axis=0)
    else:
        return "–"
    return f"{np.count_nonzero(used)}"


def measure(make: Callable[[], Any], X: Any, y: Any, splits: list[Any]) -> list[str]:
    """Log-loss, error, features, seconds and memory, averaged over the splits."""
    losses, errors, used, seconds, memory = [], [], [], [], []
    for train, test in splits:
        model = make_pipeline(StandardScaler(), make())
        start, peak = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.filterwarnings("ignore", "The best")
            model.fit(X[train], y[train])
        seconds.append(time.process_time() - start)
        memory.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak)
        proba = model.predict_proba(X[test])
        losses.append(log_loss(y[test], proba, labels=model.classes_))
        errors.append(np.mean(model.predict(X[test]) != y[test]))
        used.append(features(model[-1]))
    kept = "–" if "–" in used else f"{np.mean([int(count) for count in used]):.0f}"
    means = np.mean(losses), np.mean(errors), np.mean(seconds)
    grown = f"{max(memory) / 1024:.0f}"
    return [f"{means[0]:.4f}", f"{100 * means[1]:.2f}", kept, number(float(means[2])), grown]


def study(repeats: int, names: list[str], methods: str = "") -> Section:
    """A table a data set."""
    result = Section("More than two classes on real data")
    result.text(
        "Made by `python benchmarks/class_study.py --out benchmarks/results-classes.md`. Half of "
        f"the samples to train, the other half to test, {repeats} random splits, columns "
        f"standardised. Every method chooses its penalty by log-loss over {FOLDS} folds (SVC by "
        f"accuracy), the linear ones of {PENALTIES} and at l1_ratio 0.9; kernels have SVC's width, "
        "ours u = 0 and, where sparse, l1_ratio 0.1. Log-loss and error (%) on the test half, "
        "features with a coefficient, seconds of the processor for one fit with its search, and by "
        "how many MB the process grew beyond what the methods above it had needed."
    )
    for name in names:
        try:
            X, y = SETS[name]()
        except DatasetError as error:
            result.text(f"{name}: {error}")
            continue
        folds = StratifiedShuffleSplit(repeats, test_size=0.5, random_state=0)
        splits = list(folds.split(X, y))
        shape = f"{X.shape[0]} x {X.shape[1]}, {len(np.unique(y))} classes"
        table = Table([f"{name} ({shape})", "log-loss", "error", "features", "seconds", "MB"])
        for method, make in METHODS.items():
            if methods not in method:
                continue
            note(f"{name}: {method}")
            table.add(method, *measure(make, X, y, splits))
            print(table.rows[-1], flush=True)
        result.table(table)
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, help="a Markdown file")
    parser.add_argument("--only", default=",".join(SETS), help="data sets, comma-separated")
    parser.add_argument("--methods", default="", help="those whose name contains this, only")
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    result = study(arguments.repeats, arguments.only.split(","), arguments.methods)
    if arguments.out is not None:
        arguments.out.write_text(str(result).removeprefix("#"))


if __name__ == "__main__":
    main()

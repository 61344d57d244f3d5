"""The defaults of the searches, chosen on some problems and left to be judged on others.

    python benchmarks/defaults/choose.py                       # an hour, one thread
    python benchmarks/defaults/choose.py --kind linear --splits 5
    python benchmarks/defaults/choose.py --kind kernel --variants "no offset"

reads the shared data (CLEARNING_DATA) and prints, for each variant of a search, the mean log-loss
on held-out samples less that of the old default (`search="paper"`), its standard error over the
problems, the error likewise, the same for problems with 5% positives, the features or support
vectors kept and the seconds. The linear search is chosen on the real sets of `problems.py` alone,
the kernel's on all of them. What is judged by, USPS, spambase, pima, g241d, arcene, leukemia and
the texts among them, had no part in any choice: see the quality study. What was measured is kept;
--again measures anew.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import warnings
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
import runner
from kernel_quality.sets import Split
from report import Table
from sklearn.metrics import log_loss

from clearning import CLearningClassifierCV, KernelCLearningClassifierCV
from clearning._search_space import KERNEL as KERNEL_AUTO
from clearning._search_space import KERNEL_OF_MANY
from defaults.problems import CHOSEN_SETS, PROBLEMS

PAPER, DEFAULT = "paper (the old default)", "new default"
BEFORE = "no offset, wins by two errors"
MEASURES = ("log_loss", "error", "size", "seconds")


class Variant(NamedTuple):
    """Parameters of a search, and what it takes "auto" to stand for where that is changed."""

    options: dict[str, Any]
    auto: dict[str, Any] | None = None


LINEAR = {
    PAPER: Variant({"search": "paper"}),
    DEFAULT: Variant({}),
    "not calibrated": Variant({"calibrate": False}),
    "one l1_ratio": Variant({"l1_ratios": (0.5,)}),
    "l1_ratio from 0.1": Variant({"l1_ratios": (0.1,)}),
    "(ρ, u) = (1, 1)": Variant({"rhos": (1.0,), "us": (1.0,)}),
    "logistic loss": Variant({"loss": "logistic"}),
    "any win counts": Variant({}, {"clearly": 0.0}),
    "wins by one error": Variant({}, {"clearly": 1.0}),
}
KERNEL = {
    PAPER: Variant({"search": "paper"}),
    DEFAULT: Variant({}),
    BEFORE: Variant({}, {"clearly": 2.0, "offset": None}),
    "no offset": Variant({}, {"offset": None}),
    "free offset": Variant({}, {"offset": 0.0}),
    "wins by two errors": Variant({}, {"clearly": 2.0}),
    "any win counts": Variant({}, {"clearly": 0.0}),
    "l1_ratio = 0.5": Variant({"l1_ratios": (0.5,)}),
    "l1_ratio = 0.02": Variant({"l1_ratios": (0.02,)}),
    "l1_ratio = 0": Variant({"l1_ratios": (0.0,)}),
    "near the hinge": Variant({}, {"losses": (*KERNEL_AUTO.losses, (0.1, 1.0))}),
    "(1, 0) too": Variant({}, {"losses": KERNEL_OF_MANY.losses}),
    "l1_ratio 0, then 0.5": Variant({}, {"l1_ratios": (0.0, 0.5)}),
    "not calibrated": Variant({"calibrate": False}),
    "one width": Variant({"gammas": ("median",)}),
    "(ρ, u) = (1, 1)": Variant({"rhos": (1.0,), "us": (1.0,)}),
    "logistic loss": Variant({"loss": "logistic"}),
}
KINDS: dict[str, tuple[Any, dict[str, Variant], list[str]]] = {
    "linear": (CLearningClassifierCV, LINEAR, CHOSEN_SETS),
    "kernel": (KernelCLearningClassifierCV, KERNEL, list(PROBLEMS)),
}


def measure(kind: str, variant: str, split: Split) -> dict[str, float]:
    """Return log-loss, error, number of features or support vectors, and seconds."""
    search, variants, _ = KINDS[kind]
    options, auto = variants[variant]
    changed = type(search.__name__, (search,), {"_auto": replace(search._auto, **(auto or {}))})
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = changed(**options).fit(split.X, split.y)
    seconds = time.process_time() - began
    p = model.predict_proba(split.X_test)[:, 1]
    size = np.count_nonzero(model.coef_) if kind == "linear" else len(model.support_)
    loss, error = log_loss(split.y_test, p), np.mean((p > 0.5) != split.y_test)
    return dict(zip(MEASURES, map(float, (loss, error, size, seconds))))


def found(kind: str, variants: list[str], n_splits: int, *, again: bool) -> dict[str, np.ndarray]:
    """Return each variant's means over the splits, (problems, measures); kept ones are recalled."""
    problems = KINDS[kind][2]
    tables = {each: np.empty((len(problems), n_splits, len(MEASURES))) for each in variants}
    for number, (row, problem) in product(range(n_splits), enumerate(problems)):
        split = None
        for variant, table in tables.items():
            key = {"kind": kind, "variant": variant, "problem": problem, "split": number}
            kept = None if again else runner.recall("defaults", **key)
            if kept is None:
                split = split or PROBLEMS[problem].split(number)
                kept = measure(kind, variant, split)
                runner.remember(kept, "defaults", **key)
            table[row, number] = [kept[name] for name in MEASURES]
    return {variant: table.mean(axis=1) for variant, table in tables.items()}


def _mean(values: np.ndarray) -> str:
    if len(values) < 2:
        return "–"
    return f"{values.mean():+.4f} ± {values.std(ddof=1) / np.sqrt(len(values)):.4f}"


def study(kind: str, variants: list[str], n_splits: int, *, again: bool) -> None:
    """Print the table of one kind of search."""
    problems = KINDS[kind][2]
    tables = found(kind, variants, n_splits, again=again)
    few = np.array([problem.endswith("rare") for problem in problems])
    old = tables[PAPER]
    print(f"\n{kind}: {len(problems)} problems, {few.sum()} of them with 5% positives; ", end="")
    print(f"{n_splits} splits each\n")
    result = Table(
        ["search", "log-loss", "less that of the old", "error", "5% positives: log-loss", "error"]
        + ["better / worse", "kept", "seconds"]
    )
    for variant, table in tables.items():
        gain = table - old
        better, worse = (gain[:, 0] < -1e-4).sum(), (gain[:, 0] > 1e-4).sum()
        result.add(
            variant,
            f"{table[:, 0].mean():.4f}",
            *(_mean(gain[rows, k]) for rows in (~few, few) for k in (0, 1)),
            f"{better} / {worse}",
            f"{table[:, 2].mean():.0f}",
            f"{table[:, 3].mean():.2f}",
        )
    print(result)
    print("of the new default, problem by problem:", end=" ")
    gains = tables[DEFAULT][:, 0] - old[:, 0]
    print("; ".join(f"{name} {gain:+.4f}" for name, gain in zip(problems, gains)), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kind", choices=sorted(KINDS), action="append")
    parser.add_argument("--splits", type=int, default=2)
    parser.add_argument("--variants", nargs="+", help="beside the old default; by default all")
    parser.add_argument("--again", action="store_true")
    given = parser.parse_args()
    for kind in given.kind or ["linear", "kernel"]:
        known = KINDS[kind][1]
        asked = [PAPER, DEFAULT, *(given.variants or known)]
        study(kind, [each for each in known if each in asked], given.splits, again=given.again)


if __name__ == "__main__":
    main()

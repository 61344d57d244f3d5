"""The study's tables: in full for its own file, in short as a section of RESULTS.md."""

from __future__ import annotations

import platform
from pathlib import Path
from typing import NamedTuple

import numpy as np
import sklearn
from report import Section, Table, Target

from kernel_quality.methods import (
    ALPHAS,
    FEWER_ALPHAS,
    FOLDS,
    METHODS,
    N_CANDIDATES,
    TEMPERATURES,
    WIDTHS,
)

OURS, RIVAL = "C-learning", "calibrated SVC"


class Row(NamedTuple):
    """What one method did on one split of one set."""

    data: str
    split: int
    method: str
    log_loss: float
    error: float
    n_support: int
    seconds: float
    n_train: int
    n_test: int


def means(rows: list[Row], field: str) -> tuple[list[str], np.ndarray]:
    """Field by data set and method, averaged over splits."""
    names = list(dict.fromkeys(row.data for row in rows))
    table = [
        [
            np.mean([getattr(r, field) for r in rows if (r.data, r.method) == (name, method)])
            for method in METHODS
        ]
        for name in names
    ]
    return names, np.array(table)


def by_set(rows: list[Row]) -> Table:
    """Log-loss, error and support vectors by data set and method."""
    fields = {"log_loss": "{:.4f}", "error": "{:.2%}", "n_support": "{:.0f}"}
    columns = {field: means(rows, field)[1] for field in fields}
    names, losses = means(rows, "log_loss")
    heads = [word for method in METHODS for word in (f"{method}: log-loss", "error", "SVs")]
    table = Table(["", "n", *heads])
    for i, name in enumerate(names):
        cells = []
        for k in range(len(METHODS)):
            loss, *others = (text.format(columns[field][i, k]) for field, text in fields.items())
            cells += [f"**{loss}**" if losses[i, k] == losses[i].min() else loss, *others]
        n_train = next(row.n_train for row in rows if row.data == name)
        table.add(name, str(n_train), *cells)
    last = [
        text.format(columns[field][:, k].mean())
        for k in range(len(METHODS))
        for field, text in fields.items()
    ]
    table.add("mean", "", *last)
    return table


def duels(rows: list[Row]) -> Table:
    """C-learning against each of the others, set by set."""
    names, losses = means(rows, "log_loss")
    errors, seconds = means(rows, "error")[1], means(rows, "seconds")[1]
    own = list(METHODS).index(OURS)
    table = Table(
        [
            f"{OURS} against",
            "better log-loss on",
            "mean difference in log-loss",
            "better or equal error on",
            "mean difference in error",
            "its tuning takes",
        ]
    )
    for k, method in enumerate(METHODS):
        if k == own:
            continue
        loss, error = losses[:, own] - losses[:, k], errors[:, own] - errors[:, k]
        table.add(
            method,
            f"{np.sum(loss < 0)} of {len(names)} sets",
            f"{loss.mean():+.4f}",
            f"{np.sum(error <= 0)} of {len(names)}",
            f"{100 * error.mean():+.2f} points",
            f"{seconds[:, k].sum() / seconds[:, own].sum():.1f} times as long",
        )
    return table


def targets(rows: list[Row]) -> list[Target]:
    own, rival = (list(METHODS).index(name) for name in (OURS, RIVAL))
    losses, errors = means(rows, "log_loss")[1], means(rows, "error")[1]
    worse = float(np.mean(losses[:, own] >= losses[:, rival]))
    behind = 100 * float((errors[:, own] - errors[:, rival]).mean())
    return [
        Target("kernel study: sets where the calibrated SVC is better, share", 1 / 3, worse),
        Target("kernel study: mean error beyond the calibrated SVC's, points", 0.0, behind),
    ]


def verdict(rows: list[Row]) -> str:
    losses, errors = means(rows, "log_loss")[1], means(rows, "error")[1]
    own, rival = (list(METHODS).index(name) for name in (OURS, RIVAL))
    better = int(np.sum(losses[:, own] < losses[:, rival]))
    points = 100 * (errors[:, own] - errors[:, rival]).mean()
    aim = 3 * better >= 2 * len(losses) and points <= 0
    return (
        "The aim, a better log-loss than the calibrated SVC's on two thirds of the sets and no "
        f"larger mean error, is {'reached' if aim else 'not reached'}: {better} of {len(losses)} "
        f"sets, {points:+.2f} points of error."
    )


def how(rows: list[Row]) -> str:
    n_splits = 1 + max(row.split for row in rows)
    return (
        f"Means over {n_splits} random stratified splits into n training samples and at most 2000 "
        f"test samples. Every method is tuned by log-loss over the same {FOLDS.get_n_splits()} "
        f"folds of the training sample and has {N_CANDIDATES} candidates. In bold the best "
        "log-loss; error is at probability one half; SVs are support vectors."
    )


def candidates() -> str:
    widths, temperatures = ", ".join(map(str, WIDTHS)), " and ".join(map(str, TEMPERATURES))
    return (
        f'All have Gaussian kernels of {widths} times the width rule `gamma="median"`. Calibrated '
        "SVC, scikit-learn's `CalibratedClassifierCV(SVC(), ensemble=False)`, and kernel logistic, "
        f'`loss="logistic", l1_ratios=(0,)`, try {len(ALPHAS)} penalties α from {ALPHAS[0]:g} to '
        f"{ALPHAS[-1]:.1g} in steps of half a decade, which for the SVM are C = 1/(nα). "
        "C-learning, `KernelCLearningClassifierCV(calibrate=True)` at u = 1 and l1_ratio = 0, "
        f"tries the temperatures ρ = {temperatures} and {len(FEWER_ALPHAS)} penalties from "
        f"{FEWER_ALPHAS[0]:g} to {FEWER_ALPHAS[-1]:.1g} in steps of one and a half decades."
    )


HISTORY = (
    "How C-learning's candidates were chosen: on splits of other seeds, and not at the first "
    "attempt. The first, the loss's own probabilities at margins u = 0.1 and 1 with penalties "
    "from 0.001 to 1e-06, came to 7 of 13 sets and +0.07 points of error on the splits of seed "
    "20, of which the tables are made; it was the best of nine grids without l1 on seed 0, after "
    "l1_ratio = 0.5 (7 of 13 on two splits of seed 0) and a choice of 0 or 0.5 (7 of 13 on one of "
    "seed 10). Calibration was then tried, without another look at those, on four splits of seed "
    "0, where the calibrated SVC has a mean log-loss of 0.1907, and on three of seed 10, where it "
    "has 0.1899. The grid in use here had 0.1876 on seed 0, the better log-loss on 9 of 13 sets "
    "and -0.11 points of error, and on seed 10 0.1860, 12 of 13 and +0.01 points. Others on seed "
    "0 and on seed 10: the first attempt 8 and 9 sets (0.1876 and 0.1864), calibrated 8 and 9; "
    "both temperatures without calibration 6 and 8; eight penalties at one temperature, "
    "calibrated, 8 or 9 on either at ρ = 1, 8 and 10 at ρ = 0.3, 8 and 11 at ρ = 0.1, and without "
    "calibration 8 or 9 and 9 at ρ = 1, 5 and 5 at ρ = 0.3; and, on seed 0, four other ranges of "
    "penalties 8 or 9, and ρ = 0.3 in place of either temperature 8 or 9. The calibrator was "
    "chosen there as well: targets smoothed as Platt's, not by one half, 6 and 7 sets; by a "
    "quarter 9 and 12; with an offset, which may contradict the prediction, 9 and 10, or 10 and "
    "11 with penalties from 3e-04; with a logarithmic tail 9 and 12 at a larger log-loss; one or "
    "two fitted margins, at ρ = 1 on two splits of seed 0, 10 and 9 against 10. Wider grids of "
    "widths and l1_ratio > 0 were not tried with calibration. The grid being fixed, the tables "
    "were made once; a tenth of a point of error is within what splits vary by."
)


def section(rows: list[Row]) -> Section:
    result = Section("Quality of kernel classifiers on real data", targets=targets(rows))
    result.text(
        f"{how(rows)} {verdict(rows)} The candidates, and how they were chosen, are in "
        "[results-kernel-quality.md](results-kernel-quality.md)."
    )
    result.table(duels(rows))
    result.table(by_set(rows))
    return result


def write(path: Path, rows: list[Row], seconds: float) -> None:
    paragraphs = [
        "# Kernel classifiers with probabilities on real data\n",
        f"Made by `python benchmarks/kernel_quality/study.py` in {seconds / 60:.1f} minutes of "
        f"processor time on one thread, with scikit-learn {sklearn.__version__}, NumPy "
        f"{np.__version__} and Python {platform.python_version()}.\n",
        f"{how(rows)}\n",
        f"{candidates()}\n",
        f"{HISTORY}\n",
        f"{verdict(rows)}\n",
        "## C-learning against each\n",
        duels(rows),
        "## By data set\n",
        by_set(rows),
    ]
    path.write_text("\n".join(map(str, paragraphs)))

"""Tables of the study: means, mean ranks, and the default against each of the others."""

from __future__ import annotations

import platform
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

import numpy as np
import sklearn
from methods import DEFAULT, N_WEIGHTS, SIGN_KEEPING
from scipy.stats import rankdata

N_BOOTSTRAP = 10_000
TIE = 1e-3


class Row(NamedTuple):
    """What one method did on one case."""

    data: str
    kernel: str
    C: float
    split: int
    method: str
    log_loss: float
    brier: float
    ece: float
    smooth: float
    disagreements: int
    n_test: int
    seconds: float
    calibration_seconds: float


def table(rows: list[Row], field: str, methods: list[str]) -> np.ndarray:
    """Field by case and method."""
    cases = defaultdict(dict)
    for row in rows:
        cases[row[:4]][row.method] = getattr(row, field)
    return np.array([[values[m] for m in methods] for values in cases.values()], dtype=float)


def by_set(rows: list[Row], field: str, methods: list[str]) -> tuple[list[str], np.ndarray]:
    """Field by data set and method: the mean over kernels, penalties and splits."""
    names = list(dict.fromkeys(row.data for row in rows))
    means = [table([r for r in rows if r.data == n], field, methods).mean(axis=0) for n in names]
    return names, np.array(means)


def mean_ranks(values: np.ndarray) -> np.ndarray:
    """Mean over cases of the rank among the methods; log-losses that differ by 1e-6 are equal."""
    return np.mean([rankdata(np.round(v, 6)) for v in values], axis=0)


def interval(differences: np.ndarray) -> tuple[float, float]:
    """95% interval of the mean over data sets, by resampling the sets."""
    rng = np.random.default_rng(0)
    draws = rng.choice(differences, (N_BOOTSTRAP, len(differences))).mean(axis=1)
    low, high = np.quantile(draws, [0.025, 0.975])
    return float(low), float(high)


def overall(rows: list[Row], methods: list[str]) -> list[str]:
    fields = ("log_loss", "brier", "ece", "smooth", "seconds", "calibration_seconds")
    means = {field: by_set(rows, field, methods)[1].mean(axis=0) for field in fields}
    ranks = {field: mean_ranks(table(rows, field, methods)) for field in fields[:3]}
    contradicted = table(rows, "disagreements", methods).sum(axis=0)
    n_test = table(rows, "n_test", methods).sum(axis=0)
    lines = [
        "| method | log-loss | rank | Brier | rank | ECE | rank | smooth CE | contradicts "
        "`predict` | seconds | of which calibration |",
        "|---|" + "---:|" * 10,
    ]
    for i in np.argsort(ranks["log_loss"]):
        name = f"**{methods[i]}**" if methods[i] == DEFAULT else methods[i]
        lines.append(
            f"| {name} | {means['log_loss'][i]:.4f} | {ranks['log_loss'][i]:.2f} "
            f"| {means['brier'][i]:.4f} | {ranks['brier'][i]:.2f} "
            f"| {means['ece'][i]:.4f} | {ranks['ece'][i]:.2f} | {means['smooth'][i]:.4f} "
            f"| {contradicted[i]:.0f} ({100 * contradicted[i] / n_test[i]:.2f}%) "
            f"| {means['seconds'][i]:.2f} | {means['calibration_seconds'][i]:.4f} |"
        )
    return lines


def among_sign_keeping(rows: list[Row], methods: list[str]) -> list[str]:
    kept = [m for m in methods if m in SIGN_KEEPING]
    ranks = mean_ranks(table(rows, "log_loss", kept))
    lines = ["| method | mean rank in log-loss |", "|---|---:|"]
    return lines + [f"| {kept[i]} | {ranks[i]:.2f} |" for i in np.argsort(ranks)]


def duels(rows: list[Row], methods: list[str], hero: str) -> list[str]:
    """The hero against each other method, by data set."""
    names, losses = by_set(rows, "log_loss", methods)
    own = losses[:, methods.index(hero)]
    lines = [
        f"| {hero} against | sets won | tied | lost | mean difference in log-loss | 95% interval |",
        "|---|" + "---:|" * 5,
    ]
    for i, other in enumerate(methods):
        if other == hero:
            continue
        gain = own - losses[:, i]
        low, high = interval(gain)
        won, lost = np.sum(gain < -TIE), np.sum(gain > TIE)
        lines.append(
            f"| {other} | {won} | {len(names) - won - lost} | {lost} "
            f"| {gain.mean():+.4f} | {low:+.4f} to {high:+.4f} |"
        )
    return lines


def per_set(rows: list[Row], methods: list[str]) -> list[str]:
    names, losses = by_set(rows, "log_loss", methods)
    lines = ["| log-loss | " + " | ".join(names) + " |", "|---|" + "---:|" * len(names)]
    for i, method in enumerate(methods):
        lines.append(f"| {method} | " + " | ".join(f"{x:.4f}" for x in losses[:, i]) + " |")
    return lines


def write(path: Path, rows: list[Row], missing: list[str], seconds: float) -> None:
    methods = list(dict.fromkeys(row.method for row in rows))
    sets = list(dict.fromkeys(row.data for row in rows))
    n_cases = len({row[:4] for row in rows})
    lines = [
        "# Probabilities for SVMs: every method on real data",
        "",
        f"Made by `python benchmarks/calibration/study.py` in {seconds / 60:.1f} minutes of "
        f"one thread, with scikit-learn {sklearn.__version__}, NumPy {np.__version__} and Python "
        f"{platform.python_version()}.",
        "",
        f"{len(sets)} data sets of at most 2000 rows (sparse ones 1000), half of them for "
        "training, times a linear "
        "and an RBF SVM on standardised features, times C = 0.1, 1 and 10, times "
        f"{n_cases // (6 * len(sets))} splits: {n_cases} cases. All calibrators see the same "
        "scores, cross-fitted over five folds, except where training scores are named; `weighted "
        f"fits` (m = {N_WEIGHTS}) and `SVC(probability=True)` make fits of their own. Means are "
        "over data sets, ranks over cases (1 is best). Log-losses clip probabilities to "
        "[2.2e-16, 1 − 2.2e-16]. ECE has 15 bins of equal mass. Contradictions are test samples "
        "whose likelier class is not the SVM's prediction.",
        "",
        f"Not installed, and so left out: {', '.join(missing) if missing else 'none'}.",
        "",
        "## All methods",
        "",
        *overall(rows, methods),
        "",
        "## Among those that never contradict `predict`",
        "",
        *among_sign_keeping(rows, methods),
        "",
        f"## The default against the others (negative is better; within {TIE:g} is a tie)",
        "",
        *duels(rows, methods, DEFAULT),
        "",
        "## The paper's link (u = 1) against the others",
        "",
        *duels(rows, methods, "coherence-svm"),
        "",
        "The same, fitted to labels and training scores as the paper prints it:",
        "",
        *duels(rows, methods, "coherence-svm, the paper's way"),
        "",
        "## By data set",
        "",
        *per_set(rows, methods),
        "",
    ]
    path.write_text("\n".join(lines))

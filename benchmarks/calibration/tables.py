"""The study's tables: in full for its own file, in short as a section of RESULTS.md."""

from __future__ import annotations

import platform
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

import numpy as np
import sklearn
from report import Section, Table, Target
from scipy.stats import rankdata

from calibration.methods import DEFAULT, N_WEIGHTS, SIGN_KEEPING

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


class Price(NamedTuple):
    """What the best increasing link reaches on one case with hindsight, free and keeping signs."""

    data: str
    kernel: str
    C: float
    split: int
    free: float
    sign_keeping: float


class Study(NamedTuple):
    """All that a run has found."""

    rows: list[Row]
    prices: list[Price]
    missing: list[str]
    seconds: float


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


def overall(rows: list[Row], methods: list[str]) -> Table:
    fields = ("log_loss", "brier", "ece", "smooth", "seconds", "calibration_seconds")
    means = {field: by_set(rows, field, methods)[1].mean(axis=0) for field in fields}
    ranks = {field: mean_ranks(table(rows, field, methods)) for field in fields[:3]}
    contradicted = table(rows, "disagreements", methods).sum(axis=0)
    n_test = table(rows, "n_test", methods).sum(axis=0)
    result = Table(
        ["method", "log-loss", "rank", "Brier", "rank", "ECE", "rank", "smooth CE"]
        + ["contradicts `predict`", "seconds", "of which calibration"]
    )
    for i in np.argsort(ranks["log_loss"]):
        result.add(
            f"**{methods[i]}**" if methods[i] == DEFAULT else methods[i],
            f"{means['log_loss'][i]:.4f}",
            f"{ranks['log_loss'][i]:.2f}",
            f"{means['brier'][i]:.4f}",
            f"{ranks['brier'][i]:.2f}",
            f"{means['ece'][i]:.4f}",
            f"{ranks['ece'][i]:.2f}",
            f"{means['smooth'][i]:.4f}",
            f"{contradicted[i]:.0f} ({contradicted[i] / n_test[i]:.2%})",
            f"{means['seconds'][i]:.2f}",
            f"{means['calibration_seconds'][i]:.4f}",
        )
    return result


def sign_keeping_ranks(rows: list[Row], methods: list[str]) -> dict[str, float]:
    """Mean rank in log-loss among the methods that keep signs, best first."""
    kept = [m for m in methods if m in SIGN_KEEPING]
    ranks = mean_ranks(table(rows, "log_loss", kept))
    return {kept[i]: float(ranks[i]) for i in np.argsort(ranks)}


def among_sign_keeping(rows: list[Row], methods: list[str]) -> Table:
    result = Table(["method", "mean rank in log-loss"])
    for method, rank in sign_keeping_ranks(rows, methods).items():
        result.add(method, f"{rank:.2f}")
    return result


def gains(rows: list[Row], methods: list[str], hero: str) -> dict[str, np.ndarray]:
    """The hero's log-loss minus each other's, by data set."""
    _, losses = by_set(rows, "log_loss", methods)
    own = losses[:, methods.index(hero)]
    return {name: own - losses[:, i] for i, name in enumerate(methods) if name != hero}


def duels(rows: list[Row], methods: list[str], hero: str) -> Table:
    header = ["sets won", "tied", "lost", "mean difference in log-loss", "95% interval"]
    result = Table([f"{hero} against", *header])
    for other, gain in gains(rows, methods, hero).items():
        low, high = interval(gain)
        won, lost = np.sum(gain < -TIE), np.sum(gain > TIE)
        result.add(
            other,
            str(won),
            str(len(gain) - won - lost),
            str(lost),
            f"{gain.mean():+.4f}",
            f"{low:+.4f} to {high:+.4f}",
        )
    return result


def per_set(rows: list[Row], methods: list[str]) -> Table:
    names, losses = by_set(rows, "log_loss", methods)
    result = Table(["log-loss", *names])
    for i, method in enumerate(methods):
        result.add(method, *(f"{x:.4f}" for x in losses[:, i]))
    return result


def price_of_keeping_signs(prices: list[Price]) -> str:
    """A sentence: what the best links lose by never contradicting, had they known the labels."""
    names = list(dict.fromkeys(price.data for price in prices))
    lost = np.array(
        [np.mean([p.sign_keeping - p.free for p in prices if p.data == name]) for name in names]
    )
    low, high = interval(lost)
    return (
        "What never contradicting costs at best: of all increasing links, fitted to the test "
        "labels themselves by isotonic regression, the best one that keeps the sign of every score "
        f"has a log-loss {lost.mean():.4f} above that of the best without this condition (95% "
        f"interval {low:.4f} to {high:.4f})."
    )


def targets(rows: list[Row], methods: list[str]) -> list[Target]:
    ranks = sign_keeping_ranks(rows, methods)
    behind = {name: interval(gain)[0] for name, gain in gains(rows, methods, DEFAULT).items()}
    column = methods.index(DEFAULT)
    contradictions = table(rows, "disagreements", methods)[:, column].sum()
    return [
        Target(
            "calibration: contradictions of `predict` by the default", 0.0, float(contradictions)
        ),
        Target(
            "calibration: place of the default in log-loss among those that keep signs",
            1.0,
            1.0 + sum(rank < ranks[DEFAULT] - 0.05 for rank in ranks.values()),
        ),
        Target(
            "calibration: default's log-loss minus any other's, lower end of the 95% interval",
            0.0,
            max(behind.values()),
        ),
    ]


def how(rows: list[Row]) -> str:
    sets = list(dict.fromkeys(row.data for row in rows))
    n_cases = len({row[:4] for row in rows})
    return (
        f"{len(sets)} data sets of at most 2000 rows (sparse ones 1000), half of them for "
        "training, times a linear and an RBF SVM on standardised features, times C = 0.1, 1 and "
        f"10, times {n_cases // (6 * len(sets))} splits: {n_cases} cases. All calibrators see the "
        "same scores, cross-fitted over five folds, except where training scores are named; "
        f"`weighted fits` (m = {N_WEIGHTS}) and `SVC(probability=True)` make fits of their own. "
        "Means are over data sets, ranks over cases (1 is best). Log-losses clip probabilities to "
        "[2.2e-16, 1 − 2.2e-16]. ECE has 15 bins of equal mass. Contradictions are test samples "
        "whose likelier class is not the SVM's prediction. Seconds are the processor's."
    )


def section(study: Study) -> Section:
    methods = list(dict.fromkeys(row.method for row in study.rows))
    result = Section("Probabilities for SVMs on real data", targets=targets(study.rows, methods))
    result.text(f"{how(study.rows)} By data set: [results-calibration.md](results-calibration.md).")
    result.table(overall(study.rows, methods))
    result.text(f"Negative is better; within {TIE:g} is a tie.")
    result.table(duels(study.rows, methods, DEFAULT))
    result.text(price_of_keeping_signs(study.prices))
    return result


def write(path: Path, study: Study) -> None:
    rows = study.rows
    methods = list(dict.fromkeys(row.method for row in rows))
    paragraphs = [
        "# Probabilities for SVMs: every method on real data\n",
        f"Made by `python benchmarks/calibration/study.py` in {study.seconds / 60:.1f} minutes of "
        f"one thread, with scikit-learn {sklearn.__version__}, NumPy {np.__version__} and Python "
        f"{platform.python_version()}.\n",
        f"{how(rows)}\n",
        "Links, margins and tails were chosen on other splits of these sets (seeds 0 and 1).\n",
        f"Not installed, and so left out: {', '.join(study.missing) or 'none'}.\n",
        "## All methods\n",
        overall(rows, methods),
        "## Among those that never contradict `predict`\n",
        among_sign_keeping(rows, methods),
        f"## The default against the others (negative is better; within {TIE:g} is a tie)\n",
        duels(rows, methods, DEFAULT),
        f"{price_of_keeping_signs(study.prices)}\n",
        "## The paper's link (u = 1) against the others\n",
        duels(rows, methods, "coherence-svm"),
        "The same, fitted to labels and training scores as the paper prints it:\n",
        duels(rows, methods, "coherence-svm, the paper's way"),
        "## By data set\n",
        per_set(rows, methods),
    ]
    path.write_text("\n".join(map(str, paragraphs)))

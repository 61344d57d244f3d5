"""The study's tables: each default against its rivals, set by set, and where it loses."""

from __future__ import annotations

import platform
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import sklearn
from report import Table

from quality.methods import COSTS, DUELS, FOLDS, METHODS, WIDTHS
from quality.sets import CHOSEN, JUDGED, RARE_JUDGED, SETS

MEASURES = {
    "log_loss": ("log-loss", "{:.4f}"),
    "error": ("error", "{:.4f}"),
    "brier": ("Brier score", "{:.4f}"),
    "calibration": ("calibration error", "{:.4f}"),
    "size": ("features or vectors", "{:.0f}"),
    "seconds": ("seconds", "{:.2f}"),
}


class Row(NamedTuple):
    """What one method did on one split of one set."""

    data: str
    split: int
    method: str
    n_train: int
    n_features: int
    log_loss: float = np.nan
    error: float = np.nan
    brier: float = np.nan
    calibration: float = np.nan
    size: float = np.nan
    seconds: float = np.nan
    skipped: str = ""


def splits_of(rows: list[Row], name: str, method: str, field: str) -> np.ndarray:
    """A measure of one method on the splits of one set."""
    found = sorted((r for r in rows if (r.data, r.method) == (name, method)), key=lambda r: r.split)
    return np.array([getattr(row, field) for row in found])


def names_of(rows: list[Row], use: str) -> list[str]:
    """The sets of one use that there are rows of."""
    there = {row.data for row in rows}
    return [name for name, each in SETS.items() if each.use == use and name in there]


def differences(
    rows: list[Row], names: Iterable[str], ours: str, rival: str, field: str
) -> dict[str, np.ndarray]:
    """Ours less the rival's, split by split; sets on which either was skipped are left out."""
    found = {
        name: splits_of(rows, name, ours, field) - splits_of(rows, name, rival, field)
        for name in names
    }
    return {name: values for name, values in found.items() if np.isfinite(values).all()}


def duels(rows: list[Row], use: str) -> Table:
    """Means over the sets of one use, with their standard errors over sets."""
    heads = ["default", "against", "sets", "log-loss", "better on", "error", "Brier", "calibration"]
    table = Table([*heads, "seconds"])
    names = names_of(rows, use)
    for ours, rivals in DUELS.items():
        for rival in rivals:
            fields = ("log_loss", "error", "brier", "calibration")
            found = [differences(rows, names, ours, rival, field) for field in fields]
            means = [np.array([values.mean() for values in each.values()]) for each in found]
            if len(means[0]) == 0:
                continue
            log_loss, error, brier, calibration = (_with_error(each) for each in means)
            better = f"{np.sum(means[0] < 0)} of {len(means[0])}"
            ratio = _ratio(rows, found[0], ours, rival)
            table.add(
                ours, rival, str(len(means[0])), log_loss, better, error, brier, calibration, ratio
            )
    return table


def _with_error(values: np.ndarray) -> str:
    if len(values) < 2:
        return f"{values.mean():+.4f}"
    return f"{values.mean():+.4f} ± {values.std(ddof=1) / np.sqrt(len(values)):.4f}"


def _ratio(rows: list[Row], names: Iterable[str], ours: str, rival: str) -> str:
    """The geometric mean, over sets, of our seconds over the rival's."""
    logs = [
        np.log(splits_of(rows, name, ours, "seconds") / splits_of(rows, name, rival, "seconds"))
        for name in names
    ]
    return f"{np.exp(np.mean(logs)):.2f} ×"


def lost(rows: list[Row]) -> Table:
    """The judged sets on which a default's log-loss is larger by more than a standard error."""
    table = Table(["default", "against", "set", "log-loss", "error"])
    names = [*names_of(rows, JUDGED), *names_of(rows, RARE_JUDGED)]
    for ours, rivals in DUELS.items():
        for rival in rivals:
            errors = differences(rows, names, ours, rival, "error")
            for name, values in differences(rows, names, ours, rival, "log_loss").items():
                spread = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else 0.0
                if values.mean() > spread:
                    cells = _with_error(values), _with_error(errors[name])
                    table.add(ours, rival, name, *cells)
    return table


def by_set(rows: list[Row], field: str) -> Table:
    """One measure of every method on every set, averaged over splits."""
    text = MEASURES[field][1]
    table = Table(["set", "use", "n × p", *METHODS])
    for use in (JUDGED, RARE_JUDGED, CHOSEN):
        for name in names_of(rows, use):
            means = [splits_of(rows, name, method, field).mean() for method in METHODS]
            best = np.nanmin(means) if field not in ("size", "seconds") else None
            cells = [_cell(text, mean, best) for mean in means]
            first = next(row for row in rows if row.data == name)
            table.add(name, use, f"{first.n_train} × {first.n_features}", *cells)
    return table


def _cell(text: str, mean: float, best: float | None) -> str:
    if np.isnan(mean):
        return "–"
    return f"**{text.format(mean)}**" if mean == best else text.format(mean)


def how(rows: list[Row]) -> str:
    n_splits = 1 + max(row.split for row in rows)
    widths, costs = ", ".join(f"{w:g}" for w in WIDTHS), ", ".join(f"{c:g}" for c in COSTS)
    return (
        f"Means over {n_splits} random stratified splits into at most 300 training samples (two "
        "thirds of smaller sets) and at most 2000 test samples. Dense columns are standardised by "
        "the training samples; counts are logarithms in unit rows. Everyone is tuned inside the "
        f"training samples over the same {FOLDS.get_n_splits()} folds: `CLearningClassifierCV()` "
        "and `KernelCLearningClassifierCV()` as they come; the former once more with "
        '`loss="logistic"`; '
        '`LogisticRegressionCV(scoring="neg_log_loss")`; `cv.glmnet` at `lambda.min`; '
        f"`CalibratedClassifierCV(SVC(), ensemble=False)` by log-loss over C = {costs} and gamma "
        f'= {widths} times "scale", six times the work of a grid of its scores alone, with kernel '
        "matrices computed once a width; a Gaussian "
        "process whose width and size maximise the marginal likelihood. Error is at probability "
        "one half; calibration error is the expected one in "
        "bins; seconds are the processor's on one thread, tuning included."
    )


def write(path: Path, rows: list[Row]) -> None:
    chosen = ", ".join(name for name, each in SETS.items() if each.use == CHOSEN)
    reasons = sorted({f"{row.method} on {row.data}: {row.skipped}" for row in rows if row.skipped})
    parts = [
        "# Quality of the defaults\n",
        f"Made by `make study` with scikit-learn {sklearn.__version__}, NumPy {np.__version__} and "
        f"Python {platform.python_version()}.\n",
        f"{how(rows)}\n",
        f"The defaults were chosen on {chosen}, on smaller samples of these and on simulated "
        "problems (`make bench-defaults`); no other set was looked at for that, and only the "
        "others judge.\n",
        "## Judged: ours less theirs\n",
        "Mean over sets ± its standard error over sets; below zero we are better. Seconds are "
        "ours over theirs.\n",
        duels(rows, JUDGED),
        "\n## Judged with 5% positives\n",
        duels(rows, RARE_JUDGED),
        "\n## Where we lose\n",
        "Judged sets on which our log-loss is larger by more than a standard error over splits.\n",
        lost(rows),
        "\n## On the sets the defaults were chosen on\n",
        duels(rows, CHOSEN),
    ]
    for field, (title, _) in MEASURES.items():
        parts += [f"\n## {title.capitalize()}\n", by_set(rows, field)]
    if reasons:
        parts += ["\n## Skipped\n", *(f"- {reason}" for reason in reasons)]
    path.write_text("\n".join(map(str, parts)) + "\n")

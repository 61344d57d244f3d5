"""The charts of the report."""

from __future__ import annotations

import numpy as np

from clearning.report.charts import Axis, Chart
from clearning.report.findings import Curve, Feature, path_lines, search_curve
from clearning.report.measures import ClassMeasures
from clearning.tables.model import TableModel

# As many lines as there are colours are named; no colour is used twice.
N_COLOURS = 8


def calibration_chart(one: ClassMeasures) -> str:
    """What was said against what came."""
    chart = Chart(
        _share_axis("probability given"),
        _share_axis(f"how often it was {_cut(one.label, 18)}"),
        f"Calibration of {one.label}",
    )
    bins = one.calibration
    chart.line([0, 1], [0, 1], "reference")
    chart.band(bins["said"], bins["low"], bins["high"], "fill0")
    chart.line(bins["said"], bins["came"], "line0")
    chart.dots(bins["said"], bins["came"], "dot0")
    return chart.svg()


def roc_chart(one: ClassMeasures) -> str:
    """False alarms against hits."""
    chart = Chart(
        _share_axis("false alarms among the others"),
        _share_axis(f"found among {_cut(one.label, 18)}"),
        f"ROC curve of {one.label}",
    )
    chart.line([0, 1], [0, 1], "reference")
    chart.line(*one.roc, "line0")
    chart.write(*chart.at(0.97, 0.06), f"area {one.area:.3f}", "figure", "end")
    return chart.svg()


def precision_recall_chart(one: ClassMeasures) -> str:
    """How many are found against how many alarms are right."""
    chart = Chart(
        _share_axis(f"found among {_cut(one.label, 18)}"),
        _share_axis("alarms that are right"),
        f"Precision and recall of {one.label}",
    )
    share = float(np.average(one.event, weights=one.weight))
    chart.line([0, 1], [share, share], "reference")
    chart.line(*one.precision_recall, "line0")
    words = f"average precision {one.average_precision:.3f}"
    chart.write(*chart.at(0.03, 0.06), words, "figure")
    return chart.svg()


def search_chart(model: TableModel) -> str:
    """The cross-validation curve with its two penalties named."""
    curve = search_curve(model.classifier)
    held = np.isfinite(curve.loss) & (curve.loss < 4 * np.nanmin(curve.loss) + 1e-9)
    low, high = (curve.loss - curve.error)[held], (curve.loss + curve.error)[held]
    room = 0.05 * (high.max() - low.min() + 1e-12)
    chart = Chart(
        _penalty_axis(curve.alphas),
        Axis("cross-validated log-loss", max(low.min() - room, 0.0), high.max() + room),
        "Cross-validated log-loss along the path",
        top=34.0,
    )
    chart.bars(curve.alphas[held], low, high, "whisker")
    chart.line(curve.alphas[held], curve.loss[held], "line0")
    chart.dots(curve.alphas[held], curve.loss[held], "dot0", 1.8)
    _mark_penalties(chart, curve)
    return chart.svg()


def path_chart(model: TableModel, features: list[Feature]) -> str:
    """Coefficients along the path; those kept at the chosen penalty and weightiest are named."""
    alphas, lines = path_lines(model.classifier)
    curve = search_curve(model.classifier)
    labels = [feature.label for feature in model.derived]
    named = {feature.label: rank for rank, feature in enumerate(features[:N_COLOURS])}
    inside = lines[alphas >= curve.chosen * (1 - 1e-9)]
    shown = alphas >= min(curve.chosen, curve.best) / 30
    alphas, lines = alphas[shown], lines[shown]
    low, high = min(float(lines.min()), 0.0), max(float(lines.max()), 0.0)
    room = 0.04 * (high - low + 1e-12)
    chart = Chart(
        _penalty_axis(alphas),
        Axis("coefficient", low - room, high + room),
        "Coefficients along the path",
        right=118.0,
        top=34.0,
    )
    chart.line([alphas[0], alphas[-1]], [0, 0], "reference")
    drawn = [j for j in np.argsort(-np.abs(lines).max(axis=0))[:200] if lines[:, j].any()]
    for j in sorted(drawn, key=lambda j: labels[j] in named):
        kind = f"line{named[labels[j]]}" if labels[j] in named else "faint"
        chart.line(alphas, lines[:, j], kind, labels[j])
    _mark_penalties(chart, curve)
    ends = [
        (float(lines[-1, j]), labels[j], f"line{named[labels[j]]}")
        for j in drawn
        if labels[j] in named and inside[-1, j] != 0
    ]
    chart.name_ends(ends, 17)
    return chart.svg()


def support_chart(model: TableModel) -> str:
    """How many support vectors a kernel classifier has along its path."""
    curve = search_curve(model.classifier)
    chart = Chart(
        _penalty_axis(curve.alphas),
        Axis("support vectors", 0.0, float(max(curve.kept.max(), 1))),
        "Support vectors along the path",
        top=34.0,
    )
    chart.line(curve.alphas, curve.kept, "line0")
    _mark_penalties(chart, curve)
    return chart.svg()


def _share_axis(name: str) -> Axis:
    return Axis(name, 0.0, 1.0, percent=True)


def _penalty_axis(alphas: np.ndarray) -> Axis:
    low, high = float(alphas.min()), float(alphas.max())
    # A path of one penalty still needs an axis with two ends.
    if low == high:
        low, high = low / 2, high * 2
    return Axis("penalty (falling)", low, high, log=True, falls=True)


def _mark_penalties(chart: Chart, curve: Curve) -> None:
    chosen = {curve.best: "best", curve.one_se: "one standard error"}
    if curve.best == curve.one_se:
        chosen = {curve.best: "best, and one standard error"}
    for level, (alpha, name) in enumerate(chosen.items()):
        inside = chart.x.low * (1 - 1e-9) <= alpha <= chart.x.high * (1 + 1e-9)
        if inside:
            words = f"{name}, chosen" if np.isclose(alpha, curve.chosen, rtol=1e-9) else name
            chart.upright(alpha, words, "mark", level, "left" if level else "right")


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"

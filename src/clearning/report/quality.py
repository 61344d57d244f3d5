"""How good the model is on rows that were held out."""

from __future__ import annotations

import numpy as np

from clearning.report.measures import ClassMeasures, Measures
from clearning.report.pictures import calibration_chart, precision_recall_chart, roc_chart
from clearning.report.words import figure, named, section

_MOST_CLASSES_DRAWN = 10


def quality_section(found: Measures) -> str:
    """Confusion, calibration, ROC, precision and recall."""
    drawn = found.judged[:_MOST_CLASSES_DRAWN]
    figures = "".join(map(_class_figures, drawn))
    lead = (
        "All of it is measured on rows held out. Bands hold what chance alone would give in 95 of "
        "100 tests."
    )
    if not drawn:
        lead = "The test rows hold one class only, so there is little to measure."
    return section(
        "quality",
        "How good it is",
        lead,
        _confusion(found) + f'<div class="figures">{figures}</div>',
    )


def _class_figures(one: ClassMeasures) -> str:
    return (
        figure(
            calibration_chart(one),
            f"<strong>Calibration of {named(one.label)}.</strong> On the diagonal, what it says is "
            "what comes.",
        )
        + figure(
            roc_chart(one),
            f"<strong>ROC of {named(one.label)}.</strong> The area is the chance that such a row "
            "ranks above another; 0.5 is guessing.",
        )
        + figure(
            precision_recall_chart(one),
            f"<strong>Precision and recall of {named(one.label)}.</strong> The dotted line is its "
            "share of the rows.",
        )
    )


def _confusion(found: Measures) -> str:
    table = found.confusion
    totals = np.maximum(table.sum(axis=1, keepdims=True), 1)
    head = "".join(f'<th scope="col">{named(label)}</th>' for label in found.labels)
    rows = ""
    for i, label in enumerate(found.labels):
        cells = "".join(
            f'<td class="{"right" if i == j else "wrong"}" '
            f'style="--share:{table[i, j] / totals[i, 0]:.3f}">{table[i, j]:,}'
            f"<small>{table[i, j] / totals[i, 0]:.0%}</small></td>"
            for j in range(len(found.labels))
        )
        rows += f'<tr><th scope="row">{named(label)}</th>{cells}</tr>'
    return (
        '<figure class="confusion"><div class="scroll"><table><thead><tr><th>was ↓ said →</th>'
        f"{head}</tr></thead><tbody>{rows}</tbody></table></div>"
        "<figcaption><strong>Confusion.</strong> Rows are what was, columns what the model said, "
        "at its own threshold.</figcaption></figure>"
    )

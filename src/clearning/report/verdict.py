"""The answer first, and the threshold: what a reader acts on."""

from __future__ import annotations

import numpy as np

from clearning._words import count
from clearning.report.measures import ClassMeasures, Measures
from clearning.report.words import named, plain, quote, section
from clearning.tables.model import TableModel


def verdict_section(model: TableModel, found: Measures) -> str:
    """The answer first: how often it is wrong, against what, and what to know before trust."""
    low, high = found.error_band
    base = 1.0 - float(found.shares.max())
    where = model.record.get("tested_on")
    tested = f"of {named(where)}" if where else "it had not seen"
    lead = (
        f"On {count(found.n_rows, 'row')} {tested} the model got "
        f"<strong>{found.n_wrong:,} wrong</strong>. Always answering {quote(found.commonest)} gets "
        f"{round(base * found.n_rows):,} wrong."
    )
    gain = 1.0 - found.log_loss / found.base_log_loss if found.base_log_loss > 0 else 0.0
    cards = [
        ("Test error", f"{found.error:.1%}", f"95% sure: between {low:.1%} and {high:.1%}"),
        ("Against guessing", f"{base:.1%}", f"error of always {quote(found.commonest)}"),
        ("Log-loss", f"{found.log_loss:.3f}", f"{gain:.0%} less than the classes’ shares get"),
        _trust(found),
    ]
    grid = "".join(
        f'<div class="card"><h3>{name}</h3><p class="big">{value}</p><p>{note}</p></div>'
        for name, value, note in cards
    )
    problems = model.record["problems"]
    warning = ""
    if problems:
        told = "".join(f"<li>{plain(sentence)}</li>" for sentence in problems[:3])
        more = len(problems) - 3
        link = (
            f'<p><a href="#data">{count(more, "more note")} on the data</a></p>' if more > 0 else ""
        )
        warning = (
            f'<div class="notice"><h3>Know before you trust it</h3><ul>{told}</ul>{link}</div>'
        )
    return (
        f'<section id="verdict"><p class="lead">{lead}</p><div class="cards">{grid}</div>'
        f"{warning}</section>"
    )


def _trust(found: Measures) -> tuple[str, str, str]:
    """Whether its probabilities can be taken at their word."""
    gaps = [one.calibration_gap for one in found.judged]
    if not gaps:
        return "Probabilities", "–", "the test rows hold one class only"
    worst = max(gaps)
    if worst == 0.0:
        return "Probabilities", "in line", "what it says is what came, within chance"
    return "Probabilities", f"{worst:.1%} off", "somewhere, beyond what chance explains"


def decision_section(found: Measures) -> str:
    """Costs, a threshold, and what follows; the script moves it, and one half stands without."""
    rarest = int(np.where(found.shares > 0, found.shares, np.inf).argmin())
    lead = (
        "Say what mistakes cost. Where probabilities are right, an alarm pays from the probability "
        "<em>cost of a false alarm ÷ (cost of a false alarm + cost of a miss)</em> on; the counts "
        f"are those of the {count(found.n_rows, 'test row')}."
    )
    body = (
        f'<div class="decide"><div class="controls">{_controls(found.labels, rarest)}</div>'
        f'<div class="outcome">{_outcome(found.of_class(found.labels[rarest]))}</div></div>'
    )
    return section("decide", "Decide", lead, body)


def _controls(labels: list[str], chosen: int) -> str:
    options = "".join(
        f'<option value="{k}"{" selected" if k == chosen else ""}>{plain(label)}</option>'
        for k, label in enumerate(labels)
    )
    return (
        f'<label>Raise an alarm for <select id="class">{options}</select></label>'
        '<label>A false alarm costs <input id="cost-false" type="number" min="0" step="any" '
        'value="1" inputmode="decimal"></label>'
        '<label>A miss costs <input id="cost-miss" type="number" min="0" step="any" value="1" '
        'inputmode="decimal"></label>'
        '<label class="wide">Alarm from a probability of <output id="threshold">50.0%</output>'
        '<input id="slider" type="range" min="0" max="200" step="1" value="100"></label>'
        '<button id="by-cost" type="button">Set the threshold by the costs</button>'
    )


def _outcome(one: ClassMeasures) -> str:
    """The counts and the cost at one half, where both mistakes cost the same."""
    alarm = one.probability >= 0.5
    told = {
        "hits": ("right alarms", alarm & one.event),
        "false": ("false alarms", alarm & ~one.event),
        "missed": ("missed", ~alarm & one.event),
        "quiet": ("rightly left alone", ~alarm & ~one.event),
    }
    cells = "".join(
        f'<div class="count {key}"><output id="{key}">{int(rows.sum()):,}</output>{words}</div>'
        for key, (words, rows) in told.items()
    )
    cost = 1000.0 * np.mean(alarm != one.event)
    return (
        f'<div class="counts">{cells}</div><p class="verdict">Expected cost of 1,000 such rows: '
        f'<strong><output id="cost">{cost:,.0f}</output></strong>. '
        '<span id="compare"></span></p><svg id="cost-curve" class="chart" viewBox="0 0 380 150" '
        'role="img" aria-label="Expected cost at every threshold"></svg>'
    )

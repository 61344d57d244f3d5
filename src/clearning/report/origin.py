"""Where the model comes from: its data, what was decided, how to make it again."""

from __future__ import annotations

from typing import Any

from clearning._words import count
from clearning.report.words import named, plain, quote, section
from clearning.tables.kinds import FEATURE_KINDS
from clearning.tables.model import TableModel

_MOST_COLUMNS = 60


def data_section(model: TableModel) -> str:
    """What was asked, what was decided about each column, and what was odd."""
    record = model.record
    rows, options = record["rows"], record["options"]
    how = "at random, each class in its share"
    if options["time"]:
        how = f"the latest by {quote(options['time'])}"
    if options["group"]:
        how = f"whole groups of {quote(options['group'])}"
    classes = ", ".join(f"{named(k)} {v:,}" for k, v in record["counts"].items())
    lead = (
        f"{count(rows['read'], 'row')} read; {rows['train']:,} to learn from, {rows['test']:,} "
        f"held out ({how}). Target {quote(model.target)}: {classes}.{_folds(record)}"
    )
    problems = "".join(f"<li>{plain(sentence)}</li>" for sentence in record["problems"])
    notes = f'<ul class="notes">{problems}</ul>' if problems else "<p>Nothing odd was met.</p>"
    order = {kind: k for k, kind in enumerate((*FEATURE_KINDS, "ignore"))}
    columns = sorted(model.columns, key=lambda column: order[column.kind])
    lines = "".join(
        f'<tr><th scope="row">{named(c.name)}</th>'
        f'<td><span class="kind {c.kind}">{"left out" if not c.used else c.kind}</span></td>'
        f"<td>{plain(c.why)}</td></tr>"
        for c in columns[:_MOST_COLUMNS]
    )
    more = len(columns) - _MOST_COLUMNS
    rest = f'<p class="soft">{count(more, "more column")}.</p>' if more > 0 else ""
    table = (
        f"<details><summary>What was decided about {count(len(columns), 'column')}</summary>"
        '<div class="scroll"><table class="columns"><thead><tr><th scope="col">column</th>'
        f'<th scope="col">taken as</th><th scope="col">because</th></tr></thead><tbody>{lines}'
        f'</tbody></table></div>{rest}<p class="soft">Overrule any of it with <code>--as '
        "COLUMN=KIND</code>.</p></details>"
    )
    return section("data", "The data", lead, f"<h3>What was odd</h3>{notes}{table}")


def _folds(record: dict[str, Any]) -> str:
    # Models of earlier versions do not say.
    folds = record.get("folds")
    return f" Cross-validated in {folds['count']} folds {plain(folds['how'])}." if folds else ""


def reproduce_section(model: TableModel) -> str:
    """The command, the versions, and the ways on."""
    record = model.record
    command = record.get("command", "clearning.tables.fit_table(frame, options)")
    ways = (
        "clearning predict model.skops new.csv -o out.csv",
        "clearning explain model.skops new.csv",
        "clearning export model.skops -o model.onnx",
    )
    lines = "".join(f"<pre>{plain(way)}</pre>" for way in ways)
    return section(
        "reproduce",
        "Reproduce, and use",
        f"clearning {plain(record['version'])}, seed {record['options']['seed']}, "
        f"{record['seconds']:.1f} seconds. The model is the one that was tested, fitted to the "
        "training rows.",
        f"<pre>{plain(command)}</pre><h3>And then</h3>{lines}",
    )

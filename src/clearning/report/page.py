"""The page: sections in the order in which a reader needs them, in one file that loads nothing."""

from __future__ import annotations

import json
from base64 import b64encode
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from clearning import __version__
from clearning._whole import whole_file
from clearning.report.insight import certificate_section, features_section, search_section
from clearning.report.measures import THRESHOLDS, Measures
from clearning.report.origin import data_section, reproduce_section
from clearning.report.quality import quality_section
from clearning.report.verdict import decision_section, verdict_section
from clearning.report.words import named, plain
from clearning.tables.model import TableModel


def write_report(model: TableModel, path: Path) -> None:
    """Write the page about a model, whole or not at all.

    Examples
    --------
    >>> from pathlib import Path
    >>> from clearning.report import write_report
    >>> from clearning.tables import load_model
    >>> write_report(load_model("model.skops"), Path("report.html"))  # doctest: +SKIP
    """
    page = render_report(model).encode("utf-8")
    with whole_file(path) as file:
        file.write(page)


def render_report(model: TableModel) -> str:
    """Return the page about a model as HTML.

    Scripts that are not the page's own do not run, whatever a table's names hold: the policy at its
    head knows the one script by its hash.

    Examples
    --------
    >>> from clearning.report import render_report
    >>> from clearning.tables import load_model
    >>> page = render_report(load_model("model.skops"))  # doctest: +SKIP
    """
    found = Measures.of(model)
    style, script = _asset("page.css"), _asset("page.js")
    digest = b64encode(sha256(script.encode("utf-8")).digest()).decode("ascii")
    title = f"{plain(model.target)} from {plain(model.record['file'])}"
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
        f"style-src 'unsafe-inline'; script-src 'sha256-{digest}'\">\n"
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{title}</title>\n<style>{style}</style>\n</head>\n<body>\n"
        f"{_header(model)}\n<main>\n{_body(model, found)}</main>\n{_footer()}"
        f'<script type="application/json" id="facts">{_facts(found)}</script>\n'
        f"<script>{script}</script>\n</body>\n</html>\n"
    )


def _asset(name: str) -> str:
    return files("clearning.report").joinpath(name).read_text(encoding="utf-8")


def _header(model: TableModel) -> str:
    links = (
        ("decide", "Decide"),
        ("quality", "How good"),
        ("features", "What it looks at"),
        ("search", "How it was chosen"),
        ("data", "Data"),
        ("reproduce", "Reproduce"),
    )
    places = "".join(f'<a href="#{place}">{words}</a>' for place, words in links)
    return (
        f'<header><p class="kicker">Classification report</p><h1>{named(model.target)} '
        f'<span class="from">from {named(model.record["file"])}</span></h1>'
        f"<nav>{places}</nav></header>"
    )


def _body(model: TableModel, found: Measures) -> str:
    return "\n".join(
        [
            verdict_section(model, found),
            decision_section(found),
            quality_section(found),
            features_section(model),
            search_section(model),
            certificate_section(model),
            data_section(model),
            reproduce_section(model),
        ]
    )


def _footer() -> str:
    return f"<footer>clearning {__version__}. This page loads nothing and sends nothing.</footer>\n"


def _facts(found: Measures) -> str:
    """What the script reads; no name in it can end the element that holds it."""
    facts: dict[str, Any] = {"thresholds": THRESHOLDS.tolist(), "rows": found.n_rows}
    measured = [found.of_class(label) for label in found.labels]
    facts["classes"] = [
        {"label": one.label, "events": int(np.count_nonzero(one.event)), **one.counts()}
        for one in measured
    ]
    text = json.dumps(facts, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")

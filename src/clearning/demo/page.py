"""The demo's page: one HTML file that holds its tables and pictures and needs nothing else."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from html import escape
from operator import attrgetter
from pathlib import Path

from clearning import __version__
from clearning.demo import contest as contest_module
from clearning.demo import proof as proof_module
from clearning.demo.contest import Contest, Row
from clearning.demo.pictures import Picture
from clearning.demo.problems import OURS
from clearning.demo.proof import Proof

_STYLE = """
:root { --ink: #1c2330; --soft: #5a6372; --paper: #ffffff; --rule: #dfe3ea; --mark: #0072b2; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e9ef; --soft: #a2abba; --paper: #14181f; --rule: #2f3744; --mark: #56b4e9; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 2.5rem 1.25rem 4rem; max-width: 62rem; color: var(--ink);
  background: var(--paper); font: 16px/1.55 system-ui, -apple-system, "Segoe UI", sans-serif; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 .5rem; }
h2 { font-size: 1.3rem; margin: 3rem 0 .25rem; padding-top: 1.5rem;
  border-top: 1px solid var(--rule); }
p { max-width: 46rem; margin: .5rem 0; }
.soft, figcaption { color: var(--soft); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; margin: 1.25rem 0;
  font-variant-numeric: tabular-nums; }
th, td { padding: .45rem .75rem; text-align: right; white-space: nowrap;
  border-bottom: 1px solid var(--rule); }
th { font-weight: 600; color: var(--soft); }
th:first-child, td:first-child { text-align: left; padding-left: 0; }
tr.ours td:first-child { color: var(--mark); font-weight: 600; }
.best { font-weight: 700; }
.figures { display: grid; grid-template-columns: 1fr 1fr; gap: 1.75rem 1.5rem; }
figure { margin: 0; }
figure.wide { grid-column: 1 / -1; }
@media (max-width: 44rem) { .figures { grid-template-columns: 1fr; } }
figure img { width: 100%; height: auto; display: block; background: #fff; border-radius: 8px;
  border: 1px solid var(--rule); padding: .5rem; }
figcaption { font-size: .92rem; margin-top: .5rem; max-width: 46rem; }
"""

_LEAD = """
<p>C-learning trains a large-margin classifier, linear or with a kernel, on a smooth convex loss
between the logistic loss and the SVM's hinge. The loss has its own class probability, and every fit
comes with a duality gap: a proof of how far it is from the optimum.</p>
<p class="soft">Every method is tuned by five-fold cross-validation on the training samples; seconds
include that. Our estimators run with their defaults. The best figure of each column is bold, and
it is not always ours.</p>
"""
_COMPARED = ("error", "log_loss")  # columns 1 and 2 of a contest's table


def write_page(
    sections: Sequence[tuple[Contest, Sequence[Picture]]], proof: Proof, folder: Path
) -> Path:
    """Write `index.html` into the folder and return its path."""
    body = "".join(_section(contest, pictures) for contest, pictures in sections)
    path = folder / "index.html"
    path.write_text(
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>clearning: the demo</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        f"<h1>Margins that know how sure they are</h1>{_LEAD}{body}{_proof_section(proof)}"
        f'<p class="soft">clearning {__version__}</p>\n</body>\n</html>\n',
        encoding="utf-8",
    )
    return path


def _section(contest: Contest, pictures: Sequence[Picture]) -> str:
    best = [min(_competing(contest), key=attrgetter(name)).cells() for name in _COMPARED]
    rows = "".join(
        # What is printed alike counts alike.
        _row(
            row.cells(),
            {i for i, winner in enumerate(best, start=1) if row.cells()[i] == winner[i]},
            ours=row.method.startswith(OURS),
        )
        for row in contest.rows
    )
    figures = "".join(map(_figure, pictures))
    return (
        f"<h2>{escape(contest.title)}</h2>\n<p>{escape(contest.note)}</p>\n"
        f'{_table(contest_module.HEADINGS, rows)}\n<div class="figures">{figures}</div>\n'
    )


def _competing(contest: Contest) -> list[Row]:
    """The rows of methods: the truth is beyond competition."""
    return [row for row in contest.rows if row.method in contest.methods]


def _proof_section(proof: Proof) -> str:
    rows = "".join(_row(row, set(), ours=row[0] == proof_module.OURS) for row in proof.rows)
    return (
        f"<h2>{escape(proof_module.TITLE)}</h2>\n<p>{escape(proof_module.NOTE)}</p>\n"
        f"{_table(proof_module.HEADINGS, rows)}\n"
    )


def _table(headings: Sequence[str], rows: str) -> str:
    head = "".join(f"<th>{escape(heading)}</th>" for heading in headings)
    return (
        f'<div class="scroll"><table><thead><tr>{head}</tr></thead>\n'
        f"<tbody>{rows}</tbody></table></div>"
    )


def _row(cells: Sequence[str], bold: set[int], *, ours: bool) -> str:
    columns = "".join(
        f'<td class="{"best" if i in bold else "plain"}">{escape(cell)}</td>'
        for i, cell in enumerate(cells)
    )
    return f'<tr class="{"ours" if ours else "theirs"}">{columns}</tr>\n'


def _figure(picture: Picture) -> str:
    data = b64encode(picture.path.read_bytes()).decode("ascii")
    caption = escape(picture.caption)
    width = "wide" if picture.wide else "half"
    return (
        f'<figure class="{width}"><img src="data:image/png;base64,{data}" alt="{caption}">\n'
        f"<figcaption>{caption}</figcaption></figure>\n"
    )

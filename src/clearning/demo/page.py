"""The demo's page: one HTML file that holds its tables and pictures and needs nothing else."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from html import escape
from operator import attrgetter
from pathlib import Path

from clearning import __version__
from clearning.demo.contest import HEADINGS, OURS, Contest, Row
from clearning.demo.pictures import Picture

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
between the logistic loss and the SVM's hinge. The loss has its own class probability, so nothing
has to be calibrated afterwards, and every fit comes with a duality gap: a proof of how far it is
from the optimum.</p>
<p class="soft">Every method standardises the features and tunes itself by five-fold
cross-validation on the training samples; seconds include that. <em>Calibration</em> is the expected
calibration error over ten bins of equal size. The best figure of each column is bold.</p>
"""


def write_page(sections: Sequence[tuple[Contest, Sequence[Picture]]], folder: Path) -> Path:
    """Write `index.html` into the folder and return its path."""
    body = "".join(_section(contest, pictures) for contest, pictures in sections)
    path = folder / "index.html"
    path.write_text(
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>clearning: the demo</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        f"<h1>Margins that know how sure they are</h1>{_LEAD}{body}"
        f'<p class="soft">clearning {__version__}</p>\n</body>\n</html>\n',
        encoding="utf-8",
    )
    return path


def _section(contest: Contest, pictures: Sequence[Picture]) -> str:
    figures = "".join(map(_figure, pictures))
    return (
        f"<h2>{escape(contest.title)}</h2>\n<p>{escape(contest.note)}</p>\n"
        f'{_table(contest)}\n<div class="figures">{figures}</div>\n'
    )


_COMPARED = ("error", "log_loss", "calibration")  # columns 1, 2 and 3 of the table


def _table(contest: Contest) -> str:
    head = "".join(f"<th>{escape(heading)}</th>" for heading in HEADINGS)
    best = [min(contest.rows, key=attrgetter(name)).cells() for name in _COMPARED]
    rows = "".join(_row(row, best) for row in contest.rows)
    return (
        f'<div class="scroll"><table><thead><tr>{head}</tr></thead>\n'
        f"<tbody>{rows}</tbody></table></div>"
    )


def _row(row: Row, best: list[tuple[str, ...]]) -> str:
    cells = row.cells()
    # What is printed alike counts alike.
    bold = {i for i, winner in enumerate(best, start=1) if cells[i] == winner[i]}
    columns = "".join(
        f'<td class="{"best" if i in bold else "plain"}">{escape(cell)}</td>'
        for i, cell in enumerate(cells)
    )
    owner = "ours" if row.method in OURS else "theirs"
    return f'<tr class="{owner}">{columns}</tr>\n'


def _figure(picture: Picture) -> str:
    data = b64encode(picture.path.read_bytes()).decode("ascii")
    caption = escape(picture.caption)
    width = "wide" if picture.wide else "half"
    return (
        f'<figure class="{width}"><img src="data:image/png;base64,{data}" alt="{caption}">\n'
        f"<figcaption>{caption}</figcaption></figure>\n"
    )

"""Write reproduction.md, its images and the README's tables from what `clearning reproduce` wrote.

First `clearning reproduce`, then `python docs/make_reproduction.py clearning-reproduce`.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

from clearning.experiments.document import Grid, to_markdown_table
from clearning.experiments.paper import METHODS, PAPER_SETS, PROBABILITY_METHODS

DOCS = Path(__file__).parent
IMAGES = DOCS / "images" / "reproduction"
README = DOCS.parent / "README.md"
BEGIN, END = "<!-- from docs/make_reproduction.py -->\n", "<!-- end -->\n"


def main(folder: Path) -> None:
    results = json.loads((folder / "results.json").read_text())
    write_page(folder, results["version"])
    tables = results["tables"]
    write_into_readme([errors(tables), entropies(tables["simulations"])])


def write_page(folder: Path, version: str) -> None:
    """Copy the report and its figures, with a line on where they come from."""
    shutil.rmtree(IMAGES, ignore_errors=True)
    shutil.copytree(folder / "figures", IMAGES)
    finished = datetime.fromtimestamp((folder / "results.json").stat().st_mtime)
    title, rest = (folder / "report.md").read_text().split("\n\n", 1)
    source = (
        f"Written by `clearning reproduce`, version {version}, on {finished:%-d %B %Y}, and put "
        "here by `python docs/make_reproduction.py clearning-reproduce`. The command also writes "
        "this page as HTML, and every number of every task into `results.json`."
    )
    page = f"{title}\n\n{source}\n\n{rest}".replace("(figures/", "(images/reproduction/")
    (DOCS / "reproduction.md").write_text(page)


def errors(tables: dict[str, Any]) -> str:
    """Mean errors of all methods in both settings, C-learning's beside the paper's."""
    first, second, ours = METHODS
    header = ["test error, %"]
    for setting in ("features", "RBF kernel"):
        header += [f"{setting}: {ours}", "paper", first, second]
    rows = []
    for name in PAPER_SETS:
        cells = [name]
        for setting in ("features", "kernels"):
            row = tables[setting]["rows"][name]
            means = {method: f"{row['ours'][method]['mean']:.2f}" for method in METHODS}
            lowest = min(means.values(), key=float)
            bold = {m: f"**{text}**" if text == lowest else text for m, text in means.items()}
            cells += [bold[ours], f"{row['paper'][ours][0]:.2f}", bold[first], bold[second]]
        rows.append(cells)
    return to_markdown_table(Grid(header, rows))


def entropies(simulations: dict[str, Any]) -> str:
    """Cross-entropies of the seven methods on the two simulations, the paper's below ours."""
    rows = []
    for number, table in simulations.items():
        gkl = table["gkl"]
        means = [f"{gkl['ours'][method]['mean']:.3f}" for method in PROBABILITY_METHODS]
        lowest = min(means, key=float)
        ours = [f"**{text}**" if text == lowest else text for text in means]
        printed = [f"{gkl['paper'][method][0]:.3f}" for method in PROBABILITY_METHODS]
        rows += [[f"simulation {number}", *ours], ["paper", *printed]]
    return to_markdown_table(Grid(["cross-entropy", *PROBABILITY_METHODS], rows))


def write_into_readme(blocks: list[str]) -> None:
    text = README.read_text()
    inside = BEGIN + "\n\n".join(blocks) + "\n" + END
    pattern = re.escape(BEGIN) + ".*?" + re.escape(END)
    README.write_text(re.sub(pattern, lambda _: inside, text, flags=re.DOTALL))


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "clearning-reproduce"))

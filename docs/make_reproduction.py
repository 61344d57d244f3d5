"""Write reproduction.md and its images from what `clearning reproduce` wrote.

First `clearning reproduce`, then `python docs/make_reproduction.py clearning-reproduce`, then
`python docs/make_readme.py`.
"""

from __future__ import annotations

import json
import shutil
import sys
from datetime import datetime
from pathlib import Path

DOCS = Path(__file__).parent
IMAGES = DOCS / "images" / "reproduction"


def main(folder: Path) -> None:
    results = json.loads((folder / "results.json").read_text())
    write_page(folder, results["version"])


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


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "clearning-reproduce"))

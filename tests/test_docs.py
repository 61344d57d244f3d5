"""The code in the README and in docs/ runs as it is printed, and links lead somewhere."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
CELL = re.compile(r"```\{code-cell\} python\n((?::[^\n]*\n)*)(.*?)```", re.DOTALL)


def _programs():
    """What is run: a page's cells one after the other, and each other block of Python by itself.

    Fragments around a reader's own X and y are marked `py`, and not run here.
    """
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        if cells := CELL.findall(text):
            yield pytest.param("\n".join(code for _, code in cells), id=page.stem)
        for number, code in enumerate(re.findall(r"```python\n(.*?)```", text, re.DOTALL)):
            yield pytest.param(code, id=f"{page.stem}-{number}")


@pytest.mark.parametrize("code", list(_programs()))
def test_example_runs(code, tmp_path, monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "Agg")
    for word, module in {
        "as_frame": "pandas",
        "display": "matplotlib",
        "matplotlib": "matplotlib",
        "plot()": "matplotlib",
        "polars": "polars",
        "onnxruntime": "onnxruntime",
    }.items():
        if word in code:
            pytest.importorskip(module, reason="the page needs it")
    command = [sys.executable, "-W", "error", "-c", code]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    # Pages print whether what they claim is so.
    assert "False" not in done.stdout


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8")):
        if not target.startswith("https://"):
            assert (page.parent / target).exists(), target


def test_every_page_is_in_the_site():
    listed = {"index"}
    for page in PAGES[1:]:
        for toctree in re.findall(r"```\{toctree\}\n(.*?)```", page.read_text(), re.DOTALL):
            entries = [line for line in toctree.splitlines() if line and not line.startswith(":")]
            listed |= {re.sub(r".*<(.*)>", r"\1", entry) for entry in entries}
    assert {page.stem for page in PAGES[1:]} <= listed

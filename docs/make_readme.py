"""Write into the README what its first program prints and what the benchmarks and the paper say.

`python docs/make_readme.py`, after the defaults, benchmarks/RESULTS.md or docs/reproduction.md have
changed. A test holds the last two to their sources.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

DOCS = Path(__file__).parent
ROOT = DOCS.parent
README = ROOT / "README.md"
WORKLOADS = {
    "72x7129": "72 × 7129",
    "1000x1000": "1000 × 1000",
    "100000x100": "100,000 × 100",
    "dorothea": "dorothea, 800 × 100,000, sparse",
    "rt_polarity": "rt_polarity, text, 10,662 × 10,344",
}
DASH = "–"
SOLVERS = ("glmnet (R)", "python-glmnet", "adelie", "pybiglasso", "skglm", "clearning")


def main() -> None:
    text = README.read_text(encoding="utf-8")
    for name, content in {"output": output(text), "speed": speed(), "paper": paper()}.items():
        text = replaced(text, name, content)
    README.write_text(text, encoding="utf-8")


def replaced(text: str, name: str, content: str) -> str:
    """The text with what stands between the marks of that name exchanged."""
    marks = f"<!-- {name}: python docs/make_readme.py -->\n", f"<!-- end of {name} -->"
    pattern = re.escape(marks[0]) + ".*?" + re.escape(marks[1])
    assert re.search(pattern, text, re.DOTALL), name
    return re.sub(pattern, lambda _: f"{marks[0]}{content}\n{marks[1]}", text, flags=re.DOTALL)


def output(text: str) -> str:
    """What the first block of Python prints."""
    code = re.findall(r"```python\n(.*?)```", text, re.DOTALL)[0]
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return f"```text\n{done.stdout.strip()}\n```"


def speed() -> str:
    """Some rows of the paths in RESULTS.md: seconds of a few solvers, l1_ratio 1, one thread."""
    results = (ROOT / "benchmarks" / "RESULTS.md").read_text(encoding="utf-8")
    section = results.split("## Linear paths of 100 penalties, logistic loss, one thread")[1]
    table = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in section.split("\n## ")[0].splitlines()
        if line.startswith("|")
    ]
    rows = {row[0]: dict(zip(table[0], row)) for row in reversed(table) if row[1] == "1"}
    lines = [
        "| samples × features | " + " | ".join(SOLVERS) + " | of the fastest peer |",
        "|---|" + "---:|" * (len(SOLVERS) + 1),
    ]
    for workload, shown in WORKLOADS.items():
        seconds = [_seconds(rows[workload][solver]) for solver in SOLVERS]
        if seconds[-1] != DASH:
            seconds[-1] = f"**{seconds[-1]}**"
        lines.append(f"| {shown} | {' | '.join(seconds)} | {rows[workload]['ours / it']} |")
    own = {workload: rows[workload][SOLVERS[-1]] for workload in WORKLOADS}
    return "\n".join([*lines, "", _about_dashes(own)])


def _about_dashes(own: dict[str, str]) -> str:
    """What a dash means, with the accuracy of each of our own."""
    text = "A dash: 1e-6 was not reached in the time given"
    for workload, cell in own.items():
        if found := re.fullmatch(r"\[.* \((\S+), proved (\S+)\)\]", cell):
            error, gap = (number.replace("e-0", "e-") for number in found.groups())
            text += (
                f"; on {workload} that is ours, too, whose path is there within {error} of the "
                f"best objective known and proved to {gap}"
            )
    return f"{text}."


def _seconds(cell: str) -> str:
    """The seconds of a cell; a dash where they did not lead to 1e-6."""
    return DASH if cell.startswith("[") else cell.split(" (")[0]


def paper() -> str:
    """What the reproduction found, in a sentence."""
    page = (DOCS / "reproduction.md").read_text(encoding="utf-8")
    tied = re.findall(
        r"\*\*(?:Features|Kernels)\*\*: C-learning .*?, and is best or tied .*? on (\d+);", page
    )
    cells = re.search(r"at or below the paper's C-learning in (\d+) of (\d+) cells", page)
    assert len(tied) == 2, tied
    assert cells is not None
    linear, kernel = tied
    return (
        f"C-learning (this package's method) is the best or tied on {linear} of 11 real sets with "
        f"linear models and on {kernel} with a kernel, and at or below the error that the paper "
        f"prints in {cells[1]} of {cells[2]} cells. What does not reproduce is reported as well."
    )


if __name__ == "__main__":
    main()

"""Markdown: numbers, tables, targets, and RESULTS.md as a list of sections."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field


def number(seconds: float) -> str:
    """Three significant digits, without exponents."""
    if seconds >= 100:
        return f"{seconds:.0f}"
    if seconds >= 10:
        return f"{seconds:.1f}"
    if seconds >= 1:
        return f"{seconds:.2f}"
    return f"{seconds:.3f}" if seconds >= 0.0995 else f"{seconds:.4f}"


def note(text: str) -> None:
    """Progress, on a terminal only."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


class Table:
    """Rows of text with a header, printed as Markdown."""

    def __init__(self, header: list[str]):
        self.header = header
        self.rows: list[list[str]] = []

    def add(self, *cells: str) -> None:
        self.rows.append(list(cells))

    def __str__(self) -> str:
        lines = [self.header, ["---"] * len(self.header), *self.rows]
        return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


@dataclass
class Target:
    """A number that should be at most `most`; None when it could not be measured."""

    what: str
    most: float
    reached: float | None

    @property
    def verdict(self) -> str:
        if self.reached is None:
            return "not measured"
        return "reached" if self.reached <= self.most else "**short**"


@dataclass
class Section:
    """A title, paragraphs and tables in order, and the targets they decide."""

    title: str
    body: list[str] = field(default_factory=list)
    targets: list[Target] = field(default_factory=list)

    def text(self, paragraph: str) -> None:
        self.body.append(paragraph + "\n")

    def table(self, table: Table) -> None:
        self.body.append(str(table))

    def __str__(self) -> str:
        return f"## {self.title}\n\n" + "\n".join(self.body)


def targets_table(targets: list[Target]) -> Table:
    result = Table(["target", "at most", "measured", ""])
    for target in targets:
        reached = "–" if target.reached is None else f"{target.reached:.3g}"
        result.add(target.what, f"{target.most:g}", reached, target.verdict)
    return result

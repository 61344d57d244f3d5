"""Markdown: tables and numbers."""

from __future__ import annotations


def number(seconds: float) -> str:
    """Three significant digits, without exponents."""
    if seconds >= 100:
        return f"{seconds:.0f}"
    if seconds >= 10:
        return f"{seconds:.1f}"
    if seconds >= 1:
        return f"{seconds:.2f}"
    return f"{seconds:.3f}" if seconds >= 0.0995 else f"{seconds:.4f}"


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

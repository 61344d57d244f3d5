"""A report as a list of blocks, written as a self-contained HTML page or as Markdown."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

STYLE = """
:root { color-scheme: light; }
body { font: 16px/1.55 system-ui, -apple-system, "Segoe UI", sans-serif; color: #1c2430;
       max-width: 76rem; margin: 0 auto; padding: 2rem 1.25rem 4rem; background: #fff; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 .5rem; }
h2 { font-size: 1.3rem; margin: 2.6rem 0 .6rem; padding-top: .6rem; border-top: 1px solid #dfe4ea; }
h3 { font-size: 1.05rem; margin: 1.6rem 0 .4rem; }
p, li { max-width: 52rem; }
.scroll { overflow-x: auto; margin: .8rem 0 1.2rem; }
table { border-collapse: collapse; font-size: .82rem; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .5rem; text-align: right; border-bottom: 1px solid #e8ebef;
         white-space: nowrap; }
th { border-bottom: 2px solid #c7cdd4; font-weight: 600; }
th:first-child, td:first-child { text-align: left; }
tbody tr:hover { background: #f5f8fb; }
figure { margin: 1rem 0 2rem; } figure img { width: 100%; max-width: 60rem; height: auto; }
figcaption { color: #55606e; font-size: .9rem; }
code { background: #f1f4f7; padding: .1em .3em; border-radius: 3px; font-size: .9em; }
"""


@dataclass(frozen=True)
class Heading:
    text: str
    level: int = 2


@dataclass(frozen=True)
class Paragraph:
    text: str


@dataclass(frozen=True)
class Items:
    texts: Sequence[str]


@dataclass(frozen=True)
class Grid:
    """A table of strings; `**x**` is bold."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Picture:
    """A figure: its title, its image as a data address for HTML, and its file for Markdown."""

    title: str
    image: str
    file: str


Block = Heading | Paragraph | Items | Grid | Picture


@dataclass
class Document:
    """A title and what follows."""

    title: str
    blocks: list[Block] = field(default_factory=list)

    def add(self, *blocks: Block) -> None:
        self.blocks.extend(blocks)


def to_html(document: Document) -> str:
    """Return the page, with style and figures inside."""
    body = "\n".join(_HTML[type(block)](block) for block in document.blocks)
    title = html.escape(document.title)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        f"<h1>{title}</h1>\n{body}\n</body>\n</html>\n"
    )


def to_markdown(document: Document) -> str:
    """Return the report with links to its figures."""
    blocks = [_MARKDOWN[type(block)](block) for block in document.blocks]
    return "\n\n".join([f"# {document.title}", *blocks]) + "\n"


def _inline(text: str) -> str:
    escaped = html.escape(text, quote=False)
    escaped = re.sub(r"\*\*(.+?)\*\*", r"<strong>\1</strong>", escaped)
    return re.sub(r"`(.+?)`", r"<code>\1</code>", escaped)


def _html_grid(block: Grid) -> str:
    def row(cells: Sequence[str], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{_inline(cell)}</{tag}>" for cell in cells) + "</tr>"

    rows = "\n".join(row(cells, "td") for cells in block.rows)
    return (
        f'<div class="scroll"><table>\n<thead>{row(block.header, "th")}</thead>\n'
        f"<tbody>\n{rows}\n</tbody>\n</table></div>"
    )


def _html_picture(block: Picture) -> str:
    title = html.escape(block.title)
    return (
        f'<figure><img alt="{title}" src="{block.image}"><figcaption>{title}</figcaption></figure>'
    )


def to_markdown_table(block: Grid) -> str:
    """Return a table alone."""
    lines = [block.header, ["---", *["---:"] * (len(block.header) - 1)], *block.rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


_HTML: dict[type, Callable[[Any], str]] = {
    Heading: lambda b: f"<h{b.level}>{_inline(b.text)}</h{b.level}>",
    Paragraph: lambda b: f"<p>{_inline(b.text)}</p>",
    Items: lambda b: "<ul>" + "".join(f"<li>{_inline(t)}</li>" for t in b.texts) + "</ul>",
    Grid: _html_grid,
    Picture: _html_picture,
}
_MARKDOWN: dict[type, Callable[[Any], str]] = {
    Heading: lambda b: f"{'#' * b.level} {b.text}",
    Paragraph: lambda b: b.text,
    Items: lambda b: "\n".join(f"- {text}" for text in b.texts),
    Grid: to_markdown_table,
    Picture: lambda b: f"![{b.title}]({b.file})\n\n{b.title}",
}

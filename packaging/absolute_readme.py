"""The README for a package index: its links and pictures lead to the public address.

In the repository they are relative, so that they work in every copy of it. scikit-build-core calls
`dynamic_metadata` when it makes the package's metadata.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?://|#)([^)]+)\)")


def absolute(text: str, address: str) -> str:
    """The text with links as pages, and pictures as files, of the main branch."""

    def lead(match: re.Match[str]) -> str:
        picture, words, target = match.groups()
        folder = "raw" if picture else "blob"
        return f"{picture}[{words}]({address}/{folder}/main/{target})"

    return LINK.sub(lead, text)


def dynamic_metadata(field: str, settings: Any = None, project: Any = None) -> dict[str, str]:
    """Return the metadata's `readme`."""
    if field != "readme" or settings:
        raise ValueError(f"only `readme` is made here, without settings; got {field!r}.")
    with open(ROOT / "pyproject.toml", "rb") as file:
        address = tomllib.load(file)["project"]["urls"]["Source"]
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    return {"content-type": "text/markdown", "text": absolute(text, address)}

"""Words about data: counted nouns, and names from a table made fit for a line of a terminal."""

from __future__ import annotations

import json
import re
import unicodedata

# Controls, formats such as overrides of direction, lone surrogates, breaks of lines and paragraphs:
# a terminal obeys them, and what is printed after a name must not be the name's affair.
_UNSEEN = ("Cc", "Cf", "Cs", "Zl", "Zp")
_NOT_PLAIN = re.compile(r"[^ -~]")


def count(number: int, one: str, many: str | None = None) -> str:
    """A number with its noun."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def is_unseen(letter: str) -> bool:
    """Whether a character does something instead of being shown."""
    return unicodedata.category(letter) in _UNSEEN


def visible(text: object) -> str:
    """Text on one line that a terminal only shows; what is escaped is still the same JSON."""
    return _NOT_PLAIN.sub(_escaped, str(text))


def _escaped(found: re.Match[str]) -> str:
    letter = found.group()
    return json.dumps(letter)[1:-1] if is_unseen(letter) else letter

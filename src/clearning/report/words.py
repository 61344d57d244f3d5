"""Words of the page: names from a table escaped, their direction kept to themselves; frames."""

from __future__ import annotations

from html import escape

from clearning._words import is_unseen

_LONGEST = 72


def plain(text: object) -> str:
    """Text for HTML, with characters that no page may hold made visible."""
    shown = ("\ufffd" if is_unseen(letter) else letter for letter in str(text))
    return escape("".join(shown), quote=True)


def named(text: object) -> str:
    """A name in running text, cut where it is long; pointed at, it is shown whole."""
    whole = str(text)
    if len(whole) <= _LONGEST:
        return f"<bdi>{plain(whole)}</bdi>"
    return f'<bdi title="{plain(whole)}">{plain(whole[:_LONGEST])}…</bdi>'


def quote(text: object) -> str:
    """A name in quotation marks."""
    return f"“{named(text)}”"


def section(place: str, title: str, lead: str, body: str) -> str:
    """A section of the page."""
    return f'<section id="{place}"><h2>{title}</h2>\n<p class="lead">{lead}</p>\n{body}</section>'


def figure(chart: str, caption: str) -> str:
    """A chart and what it shows."""
    return f"<figure>{chart}<figcaption>{caption}</figcaption></figure>"

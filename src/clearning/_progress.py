"""A progress bar for long work: on a terminal or in a notebook, once the work has proved long."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator, Sized
from typing import TextIO, TypeVar

Item = TypeVar("Item")

_WIDTH = 30
_SECONDS_BETWEEN_DRAWINGS = 0.1
_CLEAR_LINE = "\r\x1b[K"


def progress(
    iterable: Iterable[Item],
    total: int | None = None,
    label: str = "",
    min_seconds: float = 2.0,
) -> Iterator[Item]:
    """Yield the items of an iterable and show on stderr how far the work is.

    Parameters
    ----------
    iterable : iterable
        The work; one step per item.
    total : int, default=None
        Number of items; by default the length of the iterable where it has one.
    label : str, default=""
        Words in front of the bar.
    min_seconds : float, default=2.0
        Nothing is drawn before so many seconds have passed.

    Yields
    ------
    item
        The items, unchanged. Nothing is written where stderr is neither a terminal nor a notebook;
        the line is wiped when the work ends, whether it is done, fails or is interrupted.
    """
    stream = sys.stderr
    if stream is None or not is_shown(stream):
        yield from iterable
        return
    if total is None and isinstance(iterable, Sized):
        total = len(iterable)
    started = drawn_at = time.monotonic()
    drawn = False
    try:
        for done, item in enumerate(iterable):
            now = time.monotonic()
            if now - started >= min_seconds and (
                not drawn or now - drawn_at >= _SECONDS_BETWEEN_DRAWINGS
            ):
                _draw(stream, done, total, label, now - started)
                drawn, drawn_at = True, now
            yield item
    finally:
        if drawn:
            clear(stream)


def is_shown(stream: TextIO) -> bool:
    """Whether someone sees the stream as it is written: on a terminal or in a notebook.

    A notebook is no terminal, but it draws a line anew as one does.
    """
    return stream.isatty() or type(stream).__module__.startswith("ipykernel.")


def clear(stream: TextIO) -> None:
    """Wipe the line."""
    stream.write(_CLEAR_LINE)
    stream.flush()


def bar(share: float) -> str:
    """Draw a share as a bar."""
    filled = round(_WIDTH * share)
    return f"[{'#' * filled}{'.' * (_WIDTH - filled)}]"


def _draw(stream: TextIO, done: int, total: int | None, label: str, seconds: float) -> None:
    text = f"{label} " if label else ""
    if total:
        text += f"{bar(done / total)} {done}/{total}"
        if done:
            text += f", {clock(seconds * (total - done) / done)} left"
    else:
        text += f"{done} done, {clock(seconds)}"
    stream.write(_CLEAR_LINE + text)
    stream.flush()


def clock(seconds: float) -> str:
    """Write seconds as a clock does."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"

"""Someone who watches a search: how far it is, what is left, and a word where that is much."""

from __future__ import annotations

import sys
import time
import warnings
from typing import TextIO

from clearning._progress import bar, clear, clock, is_shown

_SECONDS_BEFORE_DRAWING = 2.0
_SECONDS_BETWEEN_DRAWINGS = 0.1
# A log file gets a line now and then, not a line that is drawn anew.
_SECONDS_BETWEEN_LINES = 10.0
# From so many seconds on, a user would want to know before going for coffee.
LONG = 180.0
_SECONDS_BEFORE_TELLING = 3.0


class Watch:
    """The cost of a search, in units of its own: what is expected, and what has passed.

    Costs are those of whole paths, small penalties included: what is told to be left is what the
    slow end will take, not more of what the quick beginning took.

    Parameters
    ----------
    verbose : bool or "auto"
        Whether to show progress; "auto" does on a terminal and in a notebook.
    cheaper : str
        What to do instead of waiting for long.
    """

    def __init__(self, verbose: bool | str = "auto", cheaper: str = "") -> None:
        self.label = ""
        self.expected = 0.0
        self._verbose = verbose
        self._cheaper = cheaper
        self._passed = 0.0
        self._told = self._drawn = False
        self._stream: TextIO | None = None
        self._started = self._shown_at = time.monotonic()

    def __enter__(self) -> Watch:
        stream = sys.stderr
        if stream is not None and (self._verbose is True or is_shown(stream)):
            self._stream = stream if self._verbose else None
        self._started = self._shown_at = time.monotonic()
        return self

    def __exit__(self, *error: object) -> None:
        if self._drawn and self._stream is not None:
            clear(self._stream)

    def passed(self, cost: float) -> None:
        """Take note of work that is done."""
        self._passed += cost
        seconds = time.monotonic() - self._started
        self._tell(seconds)
        self._show(seconds)

    @property
    def share(self) -> float:
        """How much of the work is done; where more comes than was expected, nearly all."""
        return min(self._passed / self.expected, 0.99) if self.expected > 0 else 0.0

    def seconds_left(self, seconds: float) -> float:
        """What the rest will take, if all costs what it is thought to cost."""
        return seconds * (1.0 - self.share) / self.share if self.share > 0 else float("inf")

    def _tell(self, seconds: float) -> None:
        if self._told or self._verbose is False or seconds < _SECONDS_BEFORE_TELLING:
            return
        left = self.seconds_left(seconds)
        if LONG < left < float("inf"):
            self._told = True
            warnings.warn(
                f"This search will take about {max(round(left / 60), 1)} minutes more. "
                f"{self._cheaper}",
                UserWarning,
                stacklevel=2,
            )

    def _show(self, seconds: float) -> None:
        if self._stream is None or seconds < _SECONDS_BEFORE_DRAWING:
            return
        live = is_shown(self._stream)
        pause = _SECONDS_BETWEEN_DRAWINGS if live else _SECONDS_BETWEEN_LINES
        now = time.monotonic()
        if now - self._shown_at < pause:
            return
        left = clock(self.seconds_left(seconds))
        text = f"{self.label} {bar(self.share)} {self.share:.0%}, about {left} left"
        if live:
            clear(self._stream)
        self._stream.write(text if live else f"{text}\n")
        self._stream.flush()
        self._drawn, self._shown_at = live, now

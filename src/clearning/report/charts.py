"""Charts as SVG: drawn in the page's own colours, sharp at every size, nothing to load.

A chart is a list of marks over two axes. Its unit is about a pixel of a phone, so that words stay
readable there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.isotonic import isotonic_regression

from clearning.report.words import plain

WIDTH, HEIGHT = 380.0, 270.0
_LINE = 13.0
# Points closer than this many units are drawn as one.
_CLOSE = 0.4


@dataclass(frozen=True)
class Axis:
    """What runs along one side: its name, its ends, and whether it is logarithmic or falls."""

    name: str
    low: float
    high: float
    log: bool = False
    falls: bool = False
    percent: bool = False

    def share(self, values: ArrayLike) -> NDArray[np.float64]:
        """Where values lie between the ends, from 0 to 1 along the page."""
        low, high = self._scale(self.low), self._scale(self.high)
        share = (self._scale(values) - low) / (high - low)
        return 1.0 - share if self.falls else share

    def _scale(self, values: ArrayLike) -> Any:
        return np.log10(values) if self.log else np.asarray(values, dtype=float)

    def ticks(self) -> list[tuple[float, str]]:
        """Some round values and how they are written."""
        if self.log:
            ends = np.ceil(np.log10(self.low) - 1e-9), np.floor(np.log10(self.high) + 1e-9)
            powers = np.arange(ends[0], ends[1] + 1)
            powers = powers[:: max(1, int(np.ceil(len(powers) / 5)))]
            return [(float(10.0**p), _power(int(p))) for p in powers]
        step = _round_step((self.high - self.low) / 4)
        first = np.ceil(self.low / step - 1e-9)
        last = np.floor(self.high / step + 1e-9)
        values = step * np.arange(first, last + 1) + 0.0  # no minus zero
        return [(float(v), f"{v:.0%}" if self.percent else f"{v:.4g}") for v in values]


def _power(p: int) -> str:
    raised = str(p).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return {0: "1", 1: "10", -1: "0.1"}.get(p, f"10{raised}")


def _round_step(rough: float) -> float:
    power = 10.0 ** np.floor(np.log10(max(rough, 1e-300)))
    return float(power * min((1.0, 2.0, 2.5, 5.0, 10.0), key=lambda m: abs(m * power - rough)))


@dataclass
class Chart:
    """Axes and the marks on them."""

    x: Axis
    y: Axis
    title: str
    right: float = 20.0
    top: float = 14.0
    height: float = HEIGHT
    marks: list[str] = field(default_factory=list)
    words: list[str] = field(default_factory=list)

    left = 46.0
    bottom = 40.0

    def at_x(self, values: ArrayLike) -> NDArray[np.float64]:
        """Values along the page."""
        return self.left + self.x.share(values) * (WIDTH - self.left - self.right)

    def at_y(self, values: ArrayLike) -> NDArray[np.float64]:
        """Values up the page."""
        foot = self.height - self.bottom
        return foot - self.y.share(values) * (foot - self.top)

    def at(self, x: float, y: float) -> tuple[float, float]:
        """A point of the page."""
        return float(self.at_x(x)), float(self.at_y(y))

    def line(self, x: ArrayLike, y: ArrayLike, kind: str, name: str | None = None) -> None:
        """A line through points; its name is shown when it is pointed at."""
        self._add(f'<path class="{kind}" d="{self._way(x, y)}"', name, "path")

    def band(self, x: ArrayLike, low: ArrayLike, high: ArrayLike, kind: str) -> None:
        """What lies between two lines."""
        x = np.asarray(x, dtype=float)
        way = self._way(np.r_[x, x[::-1]], np.r_[low, np.asarray(high)[::-1]])
        self._add(f'<path class="{kind}" d="{way}Z"')

    def bars(self, x: ArrayLike, low: ArrayLike, high: ArrayLike, kind: str) -> None:
        """An upright bar at each point."""
        ways = zip(self.at_x(x), self.at_y(low), self.at_y(high))
        way = "".join(f"M{a:.1f} {b:.1f}V{c:.1f}" for a, b, c in ways)
        self._add(f'<path class="{kind}" d="{way}"')

    def dots(self, x: ArrayLike, y: ArrayLike, kind: str, size: float = 3.0) -> None:
        """A dot at each point."""
        for a, b in zip(self.at_x(x), self.at_y(y)):
            self._add(f'<circle class="{kind}" cx="{a:.1f}" cy="{b:.1f}" r="{size}"')

    def upright(self, x: float, text: str, kind: str, level: int, side: str) -> None:
        """A line from bottom to top, labelled on a side of it while there is room on that side."""
        a = float(self.at_x(x))
        start = self.top - 4 - _LINE * level
        self._add(f'<path class="{kind}" d="M{a:.1f} {self.height - self.bottom:.1f}V{start:.1f}"')
        share = (a - self.left) / (WIDTH - self.right - self.left)
        left = share > 0.7 if side == "right" else share > 0.4
        anchor, shift = ("end", -4) if left else ("start", 4)
        self.write(a + shift, start + 8, text, f"label {kind}-label", anchor)

    def write(
        self, x: float, y: float, text: str, kind: str = "label", anchor: str = "start"
    ) -> None:
        """Words at a place of the page."""
        self.words.append(
            f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">'
            f"{_words(text)}</text>"
        )

    def name_ends(self, ends: Sequence[tuple[float, str, str]], width: int) -> None:
        """Write names at the right of the axes, pushed apart where they would meet."""
        ends = sorted(ends, key=lambda end: -end[0])
        if not ends:
            return
        places = self.at_y([end[0] for end in ends])
        spread = _spread(places, _LINE, self.top, self.height - self.bottom)
        a = WIDTH - self.right
        for (_, name, kind), place, moved in zip(ends, places, spread):
            self._add(
                f'<path class="{kind} leader" d="M{a:.1f} {place:.1f}L{a + 8:.1f} {moved:.1f}"'
            )
            cut = name if len(name) <= width else name[: width - 1] + "…"
            self.marks.append(
                f'<text class="label {kind}-label" x="{a + 11:.1f}" y="{moved + 4:.1f}">'
                f"<title>{_words(name)}</title>{_words(cut)}</text>"
            )

    def svg(self) -> str:
        """The chart."""
        # Words come last, so that no line runs through them.
        drawn = "".join([self._frame(), *self.marks, *self.words])
        return (
            f'<svg class="chart" viewBox="0 0 {WIDTH:g} {self.height:g}" role="img" '
            f'aria-label="{plain(self.title)}">{drawn}</svg>'
        )

    def _frame(self) -> str:
        foot, far = self.height - self.bottom, WIDTH - self.right
        parts = []
        for value, text in self.x.ticks():
            a = float(self.at_x(value))
            parts.append(f'<path class="grid" d="M{a:.1f} {foot:.1f}V{self.top:.1f}"/>')
            parts.append(
                f'<text class="tick" x="{a:.1f}" y="{foot + 14:.1f}" text-anchor="middle">'
                f"{text}</text>"
            )
        for value, text in self.y.ticks():
            b = float(self.at_y(value))
            parts.append(f'<path class="grid" d="M{self.left:.1f} {b:.1f}H{far:.1f}"/>')
            parts.append(
                f'<text class="tick" x="{self.left - 5:.1f}" y="{b + 4:.1f}" text-anchor="end">'
                f"{text}</text>"
            )
        parts.append(
            f'<text class="axis" x="{(self.left + far) / 2:.1f}" y="{self.height - 8:.1f}" '
            f'text-anchor="middle">{_words(self.x.name)}</text>'
        )
        parts.append(
            f'<text class="axis" transform="translate(11 {(self.top + foot) / 2:.1f}) '
            f'rotate(-90)" text-anchor="middle">{_words(self.y.name)}</text>'
        )
        return "".join(parts)

    def _way(self, x: ArrayLike, y: ArrayLike) -> str:
        a, b = self.at_x(x), self.at_y(y)
        kept = [0]
        for i in range(1, len(a)):
            if max(abs(a[i] - a[kept[-1]]), abs(b[i] - b[kept[-1]])) >= _CLOSE or i == len(a) - 1:
                kept.append(i)
        return "M" + "L".join(f"{a[i]:.1f} {b[i]:.1f}" for i in kept)

    def _add(self, start: str, name: str | None = None, tag: str = "path") -> None:
        end = "/>" if name is None else f"><title>{_words(name)}</title></{tag}>"
        self.marks.append(start + end)


def _words(text: str) -> str:
    """Text for SVG, its direction kept to itself."""
    return f"\u2068{plain(text)}\u2069"


def _spread(
    places: NDArray[np.float64], gap: float, top: float, bottom: float
) -> NDArray[np.float64]:
    """Move rising places the least that leaves a gap between neighbours, within the limits."""
    gap = min(gap, (bottom - top) / len(places))
    steps = gap * np.arange(len(places))
    return np.clip(isotonic_regression(places - steps), top, bottom - steps[-1]) + steps

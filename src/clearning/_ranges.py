"""Ranges of numbers, and the one sentence about what lies outside them."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from sys import float_info
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

# An integer may be larger than every floating-point number.
LARGEST = float_info.max


@dataclass(frozen=True)
class Range:
    """The finite numbers, or integers, between `low` and `high`.

    `closed` is "both", "left", "right" or "neither": the ends that belong to the range.
    """

    low: float
    high: float = np.inf
    closed: str = "neither"
    integer: bool = False

    def __contains__(self, value: Any) -> bool:
        kind = Integral if self.integer else Real
        if not isinstance(value, kind) or isinstance(value, (bool, np.bool_)):
            return False
        if self.integer or abs(value) > LARGEST:  # type: ignore[operator]
            return bool(self._inside(value)) and self.integer
        return bool(self._inside(np.float64(float(value))))

    def __str__(self) -> str:
        left = "[" if self.closed in ("left", "both") else "("
        right = "]" if self.closed in ("right", "both") else ")"
        form = ".0f" if self.integer else "g"
        return f"{left}{self.low:{form}}, {self.high:{form}}{right}"

    def check(self, name: str, value: Any, *words: str | bool) -> Any:
        """Return a value of this range as a number, or one of the words; else raise."""
        if isinstance(value, (str, bool, np.bool_)) and value in words:
            return value
        if value not in self:
            kind = "an integer" if self.integer else "a number"
            allowed = ", ".join([*map(repr, words[:-1]), *[f"{word!r} or " for word in words[-1:]]])
            raise ValueError(f"{name}={value!r} must be {allowed}{kind} in {self}.")
        return int(value) if self.integer else float(value)

    def check_each(self, name: str, values: ArrayLike) -> NDArray[np.float64]:
        """Return values that all lie in this range as an array of one dimension; else raise."""
        # Not at the top: the losses, which need numbers only, come without scikit-learn.
        from clearning._door import check_vector

        checked = check_vector(name, values)
        inside = self._inside(checked)
        if not inside.all():
            raise ValueError(f"{name} must hold numbers in {self}; got {checked[~inside][0]:g}.")
        return checked

    def _inside(self, x: Any) -> Any:
        above = x >= self.low if self.closed in ("left", "both") else x > self.low
        below = x <= self.high if self.closed in ("right", "both") else x < self.high
        # Of nan every comparison is false.
        return above & below & (abs(x) < np.inf)


POSITIVE = Range(0.0)
NON_NEGATIVE = Range(0.0, closed="left")
SHARE = Range(0.0, 1.0, closed="both")
# As many as an integer of the compiled core can count.
COUNT = Range(1, 2**31 - 1, closed="both", integer=True)

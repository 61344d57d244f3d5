"""The fixed order in which the blocks' results are put together.

Results are merged as a binary counter carries: two neighbours of equal height become one. Which
results are merged with which depends on their numbers alone, never on who finished first, so that
sums are the same to the last bit on any number of workers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

Result = TypeVar("Result")


class Tree(Generic[Result]):
    """Results that come in order, merged as they come."""

    def __init__(self, merge: Callable[[Result, Result], Result]) -> None:
        self._merge = merge
        self._stack: list[tuple[int, Result]] = []

    def push(self, result: Result) -> None:
        """Take the next result."""
        height = 0
        while self._stack and self._stack[-1][0] == height:
            result = self._merge(self._stack.pop()[1], result)
            height += 1
        self._stack.append((height, result))

    def finish(self) -> Result | None:
        """Return all results merged into one, or None if there were none."""
        if not self._stack:
            return None
        result = self._stack.pop()[1]
        while self._stack:
            result = self._merge(self._stack.pop()[1], result)
        return result

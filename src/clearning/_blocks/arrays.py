"""Sources of blocks that are arrays of this process: in memory, or mapped from a file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from scipy import sparse

from clearning._blocks.rows import Rows

# A block is about so large: it passes through memory while the next one is read.
BLOCK_BYTES = 1 << 25


@dataclass(frozen=True)
class ArrayPart:
    """Some rows of an array."""

    source: ArraySource
    rows: slice

    @property
    def name(self) -> str:
        return f"rows {self.rows.start} to {self.rows.stop - 1}"

    def read(self) -> Rows:
        def take(values: Any) -> Any:
            return None if values is None else values[self.rows]

        source = self.source
        beside = (source.y, source.weight, source.offset, source.fold)
        return Rows(take(source.X), *map(take, beside))


@dataclass(frozen=True)
class ArraySource:
    """Rows of an array, a memory map or a sparse matrix by rows, with labels beside them."""

    X: Any
    y: Any = None
    weight: Any = None
    offset: Any = None
    feature_names: list[str] | None = None
    fold: Any = None

    @property
    def rows_a_block(self) -> int:
        n, p = self.X.shape
        if sparse.issparse(self.X):
            bytes_a_row = 12.0 * self.X.nnz / max(n, 1)
        else:
            bytes_a_row = float(p * self.X.dtype.itemsize)
        return max(1, int(BLOCK_BYTES / max(bytes_a_row, 8.0)))

    @property
    def n_parts(self) -> int:
        return -(-self.X.shape[0] // self.rows_a_block)

    def parts(self) -> Iterator[ArrayPart]:
        n, size = self.X.shape[0], self.rows_a_block
        for start in range(0, n, size):
            yield ArrayPart(self, slice(start, min(start + size, n)))


@dataclass(frozen=True)
class GivenPart:
    """A block that the user's own iterable gave."""

    name: str
    rows: Rows

    def read(self) -> Rows:
        return self.rows


@dataclass(frozen=True)
class FactorySource:
    """Blocks (X, y[, weight[, offset]]) of an iterable that is made anew for each pass."""

    factory: Callable[[], Iterable[Any]]
    n_parts: int | None = None
    feature_names: list[str] | None = None

    def parts(self) -> Iterator[GivenPart]:
        for number, block in enumerate(self.factory()):
            if not isinstance(block, tuple) or not 2 <= len(block) <= 4:
                raise ValueError(
                    f"Block {number} must be a tuple (X, y), (X, y, sample_weight) or (X, y, "
                    f"sample_weight, offset); got {type(block).__name__}."
                )
            yield GivenPart("from the factory", Rows(*block))

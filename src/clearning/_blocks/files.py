"""Sources of blocks that are files: sparse matrices saved by SciPy, and Parquet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from clearning._blocks.rows import BlockError, Rows


@dataclass(frozen=True)
class NpzPart:
    """One sparse matrix in a file, with its rows' labels, weights and offsets."""

    path: Path
    y: Any
    weight: Any
    offset: Any

    @property
    def name(self) -> str:
        return str(self.path)

    def read(self) -> Rows:
        return Rows(sparse.load_npz(self.path).tocsr(), self.y, self.weight, self.offset)


@dataclass(frozen=True)
class NpzSource:
    """Sparse matrices in files, one below the other; labels, weights and offsets are arrays."""

    paths: Sequence[Path]
    y: Any = None
    weight: Any = None
    offset: Any = None
    feature_names: list[str] | None = None

    @property
    def n_parts(self) -> int:
        return len(self.paths)

    def parts(self) -> Iterator[NpzPart]:
        start = 0
        for number, path in enumerate(self.paths):
            stop = start + _rows_in(path, number)
            own = slice(start, stop)
            taken = (None if v is None else v[own] for v in (self.y, self.weight, self.offset))
            yield NpzPart(path, *taken)
            start = stop
        for name, values in (
            ("y", self.y),
            ("sample_weight", self.weight),
            ("offset", self.offset),
        ):
            if values is not None and len(values) > start:
                raise ValueError(
                    f"{name} has {len(values)} entries, but the files have {start} rows."
                )


def _rows_in(path: Path, number: int) -> int:
    """Return the number of rows of a saved matrix, without reading the matrix."""
    try:
        with np.load(path) as saved:
            return int(saved["shape"][0])
    except Exception as error:
        raise BlockError(f"Block {number} ({path}) cannot be read: {error}") from error


@dataclass(frozen=True)
class Names:
    """The names of the columns: features, label, weight and offset, of which there may be many."""

    features: list[str]
    y: str | None = None
    weight: str | None = None
    offset: str | list[str] | None = None

    @property
    def all(self) -> list[str]:
        offsets = [self.offset] if isinstance(self.offset, str) else list(self.offset or [])
        return self.features + [name for name in (self.y, self.weight, *offsets) if name]


@dataclass(frozen=True)
class ArrowPart:
    """One row group of a Parquet file, or one fragment of another dataset."""

    name: str
    fragment: Any
    names: Names
    schema: Any

    def read(self) -> Rows:
        known = {*self.fragment.physical_schema.names, *self._in_the_path()}
        missing = set(self.names.all) - known
        if missing:
            raise BlockError(f"it has no column {sorted(missing)[0]!r}.")
        table = self.fragment.to_table(schema=self.schema, columns=self.names.all)

        def take(name: str | list[str] | None) -> Any:
            if isinstance(name, (list, tuple)):
                return np.column_stack([take(each) for each in name])
            return None if name is None else table.column(name).to_numpy()

        X = np.empty((table.num_rows, len(self.names.features)), order="F")
        for j, name in enumerate(self.names.features):
            X[:, j] = table.column(name).to_numpy()
        return Rows(X, take(self.names.y), take(self.names.weight), take(self.names.offset))

    def _in_the_path(self) -> Iterable[str]:
        """Return the names of columns that the folders' names hold the values of."""
        from pyarrow.dataset import get_partition_keys

        return get_partition_keys(self.fragment.partition_expression)


@dataclass(frozen=True)
class ArrowSource:
    """The row groups of a pyarrow dataset, in the order of its files."""

    dataset: Any
    names: Names

    @property
    def feature_names(self) -> list[str]:
        return self.names.features

    @property
    def n_parts(self) -> int:
        return sum(1 for _ in self.parts())

    def parts(self) -> Iterator[ArrowPart]:
        number = 0
        for fragment in self.dataset.get_fragments():
            path = getattr(fragment, "path", "in memory")
            try:
                groups = getattr(fragment, "split_by_row_group", lambda f=fragment: [f])()
            except Exception as error:
                raise BlockError(f"Block {number} ({path}) cannot be read: {error}") from error
            for group, piece in enumerate(groups):
                yield ArrowPart(
                    f"{path}, row group {group}", piece, self.names, self.dataset.schema
                )
            number += len(groups)


def open_dataset(path: Any) -> Any:
    """Return the pyarrow dataset of a folder, a file or a list of files."""
    try:
        from pyarrow import dataset
    except ImportError as error:
        raise ImportError(
            "Parquet files are read by pyarrow, which is not installed: "
            "pip install clearning[arrow]."
        ) from error
    paths = [str(each) for each in path] if isinstance(path, (list, tuple)) else str(path)
    try:
        return dataset.dataset(paths, format="parquet")
    except Exception as error:
        raise ValueError(f"X={path!r} cannot be read as Parquet: {error}") from error

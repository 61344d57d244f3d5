"""Dask collections: a block a partition, and passes that run on the active client.

Each pass is one graph. Its leaves are pure functions of a partition and the plan, and the tree
above them is always the same, so that a worker that dies only makes the scheduler run some of them
again: the bits stay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import numpy as np

from clearning._blocks.engine import ONE_BLAS_THREAD, run_rows, skipping
from clearning._blocks.rows import BlockError, Rows, check_names
from clearning._blocks.tree import Tree


@dataclass(frozen=True)
class DaskPart:
    """One partition: X and what goes with it, each to be computed."""

    name: str
    values: tuple[Any, ...]

    def read(self) -> Rows:
        import dask

        return Rows(*dask.compute(*self.values, scheduler="synchronous"))


@dataclass(frozen=True)
class DaskSource:
    """The partitions of a collection and of those beside it."""

    values: Sequence[tuple[Any, ...]]
    feature_names: list[str] | None = None

    @property
    def n_parts(self) -> int:
        return len(self.values)

    def parts(self) -> Iterator[DaskPart]:
        for number, values in enumerate(self.values):
            yield DaskPart(f"partition {number}", values)


def dask_source(X: Any, beside: dict[str, Any]) -> DaskSource:
    """Return the partitions of a Dask array or data frame; `beside` are y, weights and offsets.

    What is beside a data frame may be the name of one of its columns.
    """
    if hasattr(X, "to_delayed") and hasattr(X, "columns"):
        return _frame_source(X, beside)
    X = X.rechunk({1: -1})
    blocks = X.to_delayed().ravel().tolist()
    columns = [_array_parts(name, values, X, len(blocks)) for name, values in beside.items()]
    return DaskSource(list(zip(blocks, *columns)))


def with_columns(X: Any, features: list[str] | None) -> Any:
    """Return the columns of a data frame that a model knows; an array has no names."""
    if features is None or not hasattr(X, "columns"):
        return X
    missing = [name for name in features if name not in X.columns]
    if missing:
        raise ValueError(f"X has no column {missing[0]!r}, which was there in fit.")
    return X[features]


def _frame_source(X: Any, beside: dict[str, Any]) -> DaskSource:
    named = {name: [v] if isinstance(v, str) else v for name, v in beside.items()}
    named = {name: v for name, v in named.items() if isinstance(v, (list, tuple))}
    for name, wanted in named.items():
        check_names(name, wanted, X.columns)
    series = {name: X[list(named[name])] if name in named else v for name, v in beside.items()}
    dropped = [column for columns in named.values() for column in columns]
    X = X.drop(columns=dropped) if dropped else X
    blocks = X.to_delayed()
    columns = []
    for name, values in series.items():
        parts = [None] * len(blocks) if values is None else _series_parts(name, values)
        if len(parts) != len(blocks):
            raise ValueError(
                f"{name} has {len(parts)} partitions, but X has {len(blocks)}; take {name} from "
                "the same data frame, or pass the name of its column."
            )
        columns.append(parts)
    return DaskSource(list(zip(blocks, *columns)), [str(name) for name in X.columns])


def _series_parts(name: str, values: Any) -> list[Any]:
    if not hasattr(values, "to_delayed"):
        raise TypeError(f"{name} must be a Dask series or the name of a column of X.")
    # Arrays of offsets have a second dimension.
    return np.ravel(values.to_delayed()).tolist()


def _array_parts(name: str, values: Any, X: Any, count: int) -> list[Any]:
    if values is None:
        return [None] * count
    if not hasattr(values, "rechunk"):
        raise TypeError(f"{name} must be a Dask array, as X is.")
    if values.ndim == 2 and values.shape[1] == 1:
        values = values.ravel()
    if sum(values.chunks[0]) == sum(X.chunks[0]):
        values = values.rechunk((X.chunks[0], *values.shape[1:]))
    parts = values.to_delayed().ravel().tolist()
    if len(parts) != count:
        raise ValueError(f"{name} has {len(parts)} chunks, but X has {count} chunks of rows.")
    return parts


def active_client() -> Any:
    """Return the Dask client that is in use, or None."""
    try:
        from distributed import default_client
    except ImportError:
        return None
    try:
        return default_client()
    except ValueError:
        return None


class DaskCluster:
    """A Dask client that passes over the partitions of a source."""

    def __init__(self, client: Any, source: DaskSource) -> None:
        self.client = client
        self.source = source

    def run(self, function: Callable, merge: Callable, plan: Any, label: str) -> Any:
        leaves, root = self._graph(function, merge, plan, label.split(",")[0].replace(" ", "-"))
        try:
            return self._result(leaves, root)
        except BlockError:
            raise
        except (Exception, CancelledError) as error:
            if not isinstance(error, CancelledError) and self.client.status == "running":
                raise
            raise ConnectionError(
                f"The Dask scheduler was lost in {label}: {error!r}. Start another client and "
                "fit again; with checkpoint=path a fit goes on from its last pass."
            ) from error

    def _result(self, leaves: list[Any], root: Any) -> Any:
        """Return the root's value. What is cancelled is lost with its scheduler."""
        future = self.client.compute(root)
        try:
            return future.result()
        except BlockError:
            raise
        except Exception as error:
            if future.status != "error":
                raise CancelledError(str(error)) from error
            self._name_block(leaves, error)
            raise
        finally:
            # After an interrupt or an error nothing of the pass is left to run.
            if self.client.status == "running":
                future.cancel()

    def _graph(
        self, function: Callable, merge: Callable, plan: Any, name: str
    ) -> tuple[list[Any], Any]:
        from dask import delayed

        token = uuid4().hex[:8]
        shared = delayed(plan, name=f"clearning-{name}-plan-{token}", traverse=False)
        block, merged = delayed(run_on_worker, pure=False), delayed(skipping_merge, pure=False)
        leaves = [
            block(
                function,
                part.values,
                number,
                shared,
                dask_key_name=f"clearning-{name}-block-{token}-{number}",
            )
            for number, part in enumerate(self.source.parts())
        ]
        tree: Tree[Any] = Tree(
            lambda first, second: merged(
                merge,
                first,
                second,
                dask_key_name=f"clearning-{name}-sum-{token}-{uuid4().hex[:8]}",
            )
        )
        for leaf in leaves:
            tree.push(leaf)
        return leaves, tree.finish()

    def _name_block(self, leaves: list[Any], error: BaseException) -> None:
        """Find the block behind an error that does not say: its partition could not be made."""
        for number, leaf in enumerate(leaves):
            future = self.client.compute(leaf)
            found = future.exception()
            was_run = future.status == "error"
            future.cancel()
            if was_run:
                raise BlockError(
                    f"Block {number} (partition {number}) cannot be read: {found}"
                ) from error


def run_on_worker(function: Callable, values: tuple[Any, ...], number: int, plan: Any) -> Any:
    """Return one partition's result, whoever runs it."""
    with ONE_BLAS_THREAD:
        return run_rows(function, Rows(*values), number, f"partition {number}", plan)


def skipping_merge(merge: Callable, first: Any, second: Any) -> Any:
    """Return two results merged; empty partitions add nothing."""
    return skipping(merge)(first, second)

"""Predictions in blocks: lazy where the rows are, or written to Parquet as they are made."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from clearning._blocks.dask_source import with_columns
from clearning._blocks.engine import Source
from clearning._blocks.rows import BlockError
from clearning._blocks.sources import is_dask, make_source

Predict = Callable[[Any], np.ndarray]


def predict_blocks(
    X: Any,
    predict: Predict,
    *,
    features: list[str] | None,
    names: list[str],
    dtype: Any,
    to_parquet: Any,
) -> Any:
    """Return the predictions for X in its own kind, or write them to a folder of Parquet files.

    `predict` takes the rows of a block, of whose columns `features` are wanted; `names` are those
    of the columns that it gives, of which a single one stands for predictions without a second
    dimension.
    """
    if to_parquet is not None:
        return _write(make_source(X, features=features), predict, names, Path(to_parquet))
    if is_dask(X):
        return _lazy_dask(X, predict, features, names, dtype)
    return Predictions(make_source(X, features=features), predict)


class Predictions:
    """The predictions for some blocks, made as they are walked over, as often as that is done."""

    def __init__(self, source: Source, predict: Predict) -> None:
        self._source = source
        self._predict = predict

    def __iter__(self) -> Iterator[np.ndarray]:
        for number, part in enumerate(self._source.parts()):
            rows = _read(part, number)
            if rows.shape[0]:
                yield _named(self._predict, rows, f"Block {number} ({part.name})")


def _named(predict: Predict, rows: Any, name: str) -> np.ndarray:
    """Return the predictions for a block, or an error that names it."""
    try:
        return predict(rows)
    except BlockError as error:
        raise BlockError(f"{name}: {error}") from error


def _read(part: Any, number: int) -> Any:
    try:
        return part.read().X
    except Exception as error:
        raise BlockError(f"Block {number} ({part.name}) cannot be read: {error}") from error


def _lazy_dask(
    X: Any, predict: Predict, features: list[str] | None, names: list[str], dtype: Any
) -> Any:
    if hasattr(X, "columns"):
        X = with_columns(X, features)
        meta: Any = dict.fromkeys(names, dtype) if len(names) > 1 else (names[0], dtype)
        return X.map_partitions(_frame, predict, names, meta=meta)
    X = X.rechunk({1: -1})
    if len(names) == 1:
        return X.map_blocks(_chunk, predict, dtype=dtype, drop_axis=1, meta=np.empty(0, dtype))
    chunks = (X.chunks[0], (len(names),))
    return X.map_blocks(_chunk, predict, dtype=dtype, chunks=chunks, meta=np.empty((0, 0), dtype))


def _chunk(block: Any, predict: Predict, block_info: Any = None) -> np.ndarray:
    number = block_info[0]["chunk-location"][0] if block_info else 0
    return _named(predict, block, f"Block {number}")


def _frame(block: Any, predict: Predict, names: list[str], partition_info: Any = None) -> Any:
    import pandas as pd

    number = partition_info["number"] if partition_info else 0
    if len(block):
        values = _named(predict, block.to_numpy(), f"Block {number} (partition {number})")
    else:
        values = np.empty((0, len(names)) if len(names) > 1 else 0)
    if len(names) == 1:
        return pd.Series(values, index=block.index, name=names[0])
    return pd.DataFrame(values, index=block.index, columns=names)


def _write(source: Source, predict: Predict, names: list[str], folder: Path) -> Path:
    """Write a file a block into a folder that appears once all of them are there."""
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError as error:
        raise ImportError(
            "to_parquet needs pyarrow, which is not installed: pip install clearning[arrow]."
        ) from error
    if folder.exists():
        raise FileExistsError(f"to_parquet={str(folder)!r} exists already; pass another folder.")
    new = folder.with_name(f".{folder.name}.{os.getpid()}")
    new.mkdir(parents=True)
    try:
        for number, values in enumerate(Predictions(source, predict)):
            columns = values.reshape(len(values), -1).T
            table = pa.table(dict(zip(names, map(pa.array, columns))))
            parquet.write_table(table, new / f"part-{number:06d}.parquet")
        os.replace(new, folder)
    finally:
        shutil.rmtree(new, ignore_errors=True)
    return folder

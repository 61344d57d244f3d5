"""From what a user passes to blocks, and to the engine that follows from them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from joblib import cpu_count, effective_n_jobs
from scipy import sparse
from sklearn.utils import column_or_1d

from clearning._blocks.arrays import ArraySource, FactorySource
from clearning._blocks.dask_source import (
    DaskCluster,
    DaskSource,
    active_client,
    dask_source,
    with_columns,
)
from clearning._blocks.engine import Engine, LocalThreads, Source
from clearning._blocks.files import ArrowSource, Names, NpzSource, open_dataset
from clearning._blocks.rows import check_names
from clearning._door import check_labels, check_matrix
from clearning._sklearn import get_feature_names

KINDS = (
    "an array, a memory map, a sparse matrix, a Dask array or data frame, a pyarrow dataset, a "
    "folder of Parquet or .npz files, a list of such files, or a function that returns an iterable "
    "of (X, y) blocks"
)


def make_source(
    X: Any,
    y: Any = None,
    sample_weight: Any = None,
    offset: Any = None,
    features: list[str] | None = None,
) -> Source:
    """Return the blocks of whatever was given; labels and so on are beside it or columns of it.

    `features` are the columns of a table that are wanted; by default all that are nothing else.
    """
    beside = {"y": y, "sample_weight": sample_weight, "offset": offset}
    if is_dask(X):
        return dask_source(with_columns(X, features), beside)
    if is_dataset(X):
        return _arrow(X, beside, features)
    if callable(X):
        given = [name for name, value in beside.items() if value is not None]
        if given:
            raise ValueError(f"{given[0]} must be None where X is a function: its blocks bring it.")
        return FactorySource(X)
    if isinstance(X, (list, tuple)) and X and _is_block(X[0]):
        raise TypeError(f"X must be {KINDS}; got a {type(X).__name__} of blocks: pass lambda: X.")
    if _is_path(X) or (isinstance(X, (list, tuple)) and X and all(map(_is_path, X))):
        return _files(X, beside, features)
    return _array(X, beside)


def make_engine(source: Source, n_jobs: int | None) -> tuple[Engine, int]:
    """Return what passes over the blocks, and the number of threads here."""
    n_threads = cpu_count() if n_jobs is None else effective_n_jobs(n_jobs)
    if isinstance(source, DaskSource) and (client := active_client()) is not None:
        return DaskCluster(client, source), n_threads
    return LocalThreads(source, n_threads), n_threads


def is_dask(X: Any) -> bool:
    """Whether X is a Dask collection."""
    return type(X).__module__.partition(".")[0] in ("dask", "dask_expr") and hasattr(
        X, "to_delayed"
    )


def is_dataset(X: Any) -> bool:
    """Whether X is a pyarrow dataset."""
    return hasattr(X, "get_fragments")


def is_lazy(X: Any) -> bool:
    """Whether X is anything but a matrix in memory or mapped into it."""
    paths = isinstance(X, (list, tuple)) and len(X) > 0 and all(map(_is_path, X))
    return is_dask(X) or is_dataset(X) or callable(X) or _is_path(X) or paths


def _is_path(X: Any) -> bool:
    return isinstance(X, (str, os.PathLike))


def _is_block(X: Any) -> bool:
    return isinstance(X, tuple) and len(X) > 1 and len(getattr(X[0], "shape", ())) == 2


def _files(X: Any, beside: dict[str, Any], features: list[str] | None) -> Source:
    paths = [Path(each) for each in X] if isinstance(X, (list, tuple)) else [Path(X)]
    for path in paths:
        if not path.exists():
            raise FileNotFoundError(f"X={str(path)!r} does not exist.")
    if len(paths) == 1 and paths[0].is_dir():
        matrices = sorted(paths[0].glob("*.npz"))
        if not matrices:
            return _arrow(open_dataset(paths[0]), beside, features)
        paths = matrices
    if all(path.suffix == ".npz" for path in paths):
        return NpzSource(paths, *(_column(name, value) for name, value in beside.items()))
    return _arrow(open_dataset(paths), beside, features)


def _column(name: str, values: Any) -> Any:
    if values is None or (hasattr(values, "__getitem__") and not isinstance(values, str)):
        return values if isinstance(values, np.ndarray) or values is None else np.asarray(values)
    raise TypeError(f"{name} must be an array with an entry for each row of the files.")


def _arrow(dataset: Any, beside: dict[str, Any], features: list[str] | None) -> ArrowSource:
    known = dataset.schema.names
    used: list[Any] = []
    for name, value in beside.items():
        named = list(value) if name == "offset" and isinstance(value, (list, tuple)) else [value]
        if value is not None:
            check_names(name, named, known)
        used += named
    if features is None:
        features = [name for name in known if name not in used]
    if not features:
        raise ValueError("X has no columns beside y, sample_weight and offset.")
    return ArrowSource(dataset, Names(features, *beside.values()))


def _array(X: Any, beside: dict[str, Any]) -> ArraySource:
    names = get_feature_names(X)
    X = check_matrix(X)
    if sparse.issparse(X):
        X = X.tocsr()
    elif not isinstance(X, np.ndarray):
        X = np.asarray(X)
    if X.ndim != 2:
        raise ValueError(
            f"X must be {KINDS}. Expected 2D array, got an array of {X.ndim} dimensions instead. "
            "Reshape your data."
        )
    columns = [_beside_array(name, values, X.shape[0]) for name, values in beside.items()]
    return ArraySource(
        X, columns[0], columns[1], columns[2], None if names is None else list(names)
    )


def _beside_array(name: str, values: Any, n: int) -> Any:
    if values is None:
        return None
    values = np.asarray(check_labels(values))
    if name == "y" and values.ndim == 2 and values.shape[1] == 1:
        values = column_or_1d(values, warn=True)
    if values.ndim == 0 or len(values) != n:
        raise ValueError(
            f"{name} must have one entry for each of the {n} rows of X; got shape {values.shape}."
        )
    return values

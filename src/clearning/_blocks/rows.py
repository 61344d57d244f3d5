"""A block of rows: what is read of it, what is checked of it, and the error that names it."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from clearning._door import check_matrix, floats

Array = NDArray[np.float64]


class BlockError(ValueError):
    """A block that cannot be used; the message names it."""


@dataclass(frozen=True)
class Rows:
    """Some rows: X, dense or sparse by rows, labels, weights, offsets, and folds if not drawn."""

    X: Any
    y: Any = None
    weight: Any = None
    offset: Any = None
    fold: Any = None

    def __len__(self) -> int:
        return int(self.X.shape[0])


def check_names(what: str, names: Iterable[Any], known: Iterable[Any]) -> None:
    """Refuse names of columns that a table does not have."""
    known = list(known)
    for name in names:
        if not isinstance(name, Hashable) or name not in known:
            told = repr(name) if isinstance(name, str) else f"a {type(name).__name__}"
            raise ValueError(
                f"{what} must be the name of a column of X; got {told}. The columns are "
                f"{', '.join(map(str, known[:10]))}{', …' if len(known) > 10 else ''}."
            )


def checked(rows: Rows) -> Rows:
    """Return a block's rows as finite numbers of the core's types, or say what is wrong."""
    X = _check_design(rows.X)
    n = X.shape[0]
    return Rows(X, _check_labels(rows.y, n), *_check_samples(rows, n), rows.fold)


def taken(rows: Rows) -> Rows:
    """Return a block's rows in the core's types, whose values were checked in an earlier pass."""
    y = None if rows.y is None else _one_dimensional("y", rows.y, len(rows))
    return Rows(_as_design(rows.X), y, *_samples(rows), rows.fold)


def _as_design(X: Any) -> Any:
    """Return a matrix as the core reads it: dense in either precision, or CSR in double."""
    if sparse.issparse(X):
        X = check_matrix(X).tocsr()
        if not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        return X if X.dtype == np.float64 else X.astype(np.float64)
    X = np.asarray(X)
    if X.ndim != 2:
        raise BlockError(f"X must have two dimensions; got shape {X.shape}.")
    if np.iscomplexobj(X):
        raise BlockError("Complex data not supported: X must hold real numbers.")
    return X if X.dtype in (np.float64, np.float32) else X.astype(np.float64)


def _check_design(X: Any) -> Any:
    try:
        with floats("X"):
            X = _as_design(X)
    except BlockError:
        raise
    except TypeError as error:
        raise TypeError(f"X must hold real numbers: {error}") from error
    except ValueError as error:
        raise BlockError(f"X must hold real numbers: {error}") from error
    if X.shape[1] == 0:
        raise BlockError(f"X has 0 feature(s) (shape={X.shape}) while a minimum of 1 is required.")
    if not np.isfinite(X.data if sparse.issparse(X) else X).all():
        raise BlockError("X contains NaN or infinity.")
    return X


def _check_labels(y: Any, n: int) -> NDArray[Any]:
    if y is None:
        raise BlockError("a fit requires y to be passed, but the target y is None.")
    y = _one_dimensional("y", y, n)
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        raise BlockError("y contains NaN or infinity.")
    if y.dtype.kind == "f" and (y != np.rint(y)).any():
        raise BlockError("Unknown label type: continuous. y must hold the labels of classes.")
    if y.dtype == object and any(value is None or value != value for value in y):
        raise BlockError("y contains missing values.")
    return y


def _one_dimensional(name: str, values: Any, n: int) -> NDArray[Any]:
    values = np.asarray(values)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.shape != (n,):
        raise BlockError(f"{name} must be of shape ({n},), as X has {n} rows; got {values.shape}.")
    return values


def _samples(rows: Rows) -> tuple[Array, Array | None]:
    n = len(rows)
    weight = np.ones(n) if rows.weight is None else _numbers("sample_weight", rows.weight, n)
    if rows.offset is None or np.ndim(rows.offset) != 2 or np.shape(rows.offset)[1] < 3:
        offset = None if rows.offset is None else _numbers("offset", rows.offset, n)
        return weight, offset
    if np.shape(rows.offset)[0] != n:
        raise BlockError(f"offset must have {n} rows, as X has; got {np.shape(rows.offset)[0]}.")
    flat = _numbers("offset", np.ravel(rows.offset), np.size(rows.offset))
    return weight, flat.reshape(n, -1)


def _check_samples(rows: Rows, n: int) -> tuple[Array, Array | None]:
    weight, offset = _samples(rows)
    if not np.isfinite(weight).all() or (weight < 0).any():
        raise BlockError("sample_weight must hold finite numbers >= 0.")
    if offset is not None and not np.isfinite(offset).all():
        raise BlockError("offset must hold finite numbers.")
    return weight, offset


def _numbers(name: str, values: Any, n: int) -> Array:
    try:
        with floats(name):
            return np.ascontiguousarray(_one_dimensional(name, values, n), dtype=np.float64)
    except (TypeError, ValueError) as error:
        if isinstance(error, BlockError):
            raise
        raise BlockError(f"{name} must hold real numbers: {error}") from error

"""The compiled core's input: a loss, a target and a design in the form that it reads."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from clearning import _core
from clearning._base import Target
from clearning.losses import Coherence, HuberizedHinge, Loss


def core_loss(loss: Loss) -> dict[str, Any]:
    """Describe a loss to the compiled core."""
    described = {"kind": loss.name, "rho": 1.0, "u": 0.0, "delta": 2.0, "kappa": 1.0}
    if isinstance(loss, Coherence):
        described.update(kind="coherence", rho=loss.rho, u=loss.u, kappa=loss.scale)
    elif isinstance(loss, HuberizedHinge):
        described["delta"] = loss.delta
    elif loss.name not in ("squared_hinge", "hinge"):
        raise ValueError(f"loss={loss!r} has no solver.")
    return described


def core_target(target: Target) -> dict[str, np.ndarray]:
    """Describe a target to the compiled core; weights sum to one there."""
    n = len(target.signs)
    weight = np.full(n, 1.0 / n) if target.weight is None else target.weight / target.weight.sum()
    offset = np.zeros(n) if target.offset is None else target.offset
    return {"y": target.signs, "weight": weight, "offset": np.ascontiguousarray(offset)}


def by_columns(X: Any) -> Any:
    """The design in the order that the core walks it: by columns, each entry once."""
    if not sparse.issparse(X):
        return np.asfortranarray(X)
    X = X.tocsc()
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def column_scales(X: Any, weight: np.ndarray) -> np.ndarray:
    """Weighted standard deviations of the columns; 1 where a column is constant."""
    mean = np.asarray(X.T @ weight, dtype=float).ravel()
    variance = (_sparse_variances if sparse.issparse(X) else _dense_variances)(X, weight, mean)
    flat = variance <= 1e-14 * np.maximum(variance + mean**2, np.finfo(float).tiny)
    return np.sqrt(np.where(flat, 1.0, variance))


def _dense_variances(X: np.ndarray, weight: np.ndarray, mean: np.ndarray) -> np.ndarray:
    n, p = X.shape
    variance = np.empty(p)
    width = max(1, 2**16 // n)  # blocks of columns that stay in the cache
    for start in range(0, p, width):
        block = slice(start, start + width)
        variance[block] = weight @ (X[:, block] - mean[block]) ** 2
    return variance


def _sparse_variances(X: Any, weight: np.ndarray, mean: np.ndarray) -> np.ndarray:
    p = X.shape[1]
    columns = np.repeat(np.arange(p), np.diff(X.indptr))
    stored = weight[X.indices]
    centred = np.bincount(columns, stored * (X.data - mean[columns]) ** 2, minlength=p)
    # In a full column no weight is left for zeros; the rounding of 1 − Σw would grow with mean².
    full = np.bincount(columns, stored > 0, minlength=p) == np.count_nonzero(weight)
    zeros = np.where(full, 0.0, 1.0 - np.bincount(columns, stored, minlength=p))
    return centred + zeros * mean**2


def solve_linear(X: Any, request: dict[str, Any]) -> dict[str, Any]:
    """Solve a linear problem whose design is in the core's order."""
    if not sparse.issparse(X):
        return _core.solve_dense(X, request)
    indices, indptr = X.indices, X.indptr
    if indices.dtype != indptr.dtype or indices.dtype not in (np.int32, np.int64):
        indices, indptr = indices.astype(np.int64), indptr.astype(np.int64)
    return _core.solve_sparse(X.data, indices, indptr, X.shape[0], request)

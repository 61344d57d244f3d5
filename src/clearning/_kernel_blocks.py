"""Kernel values a block of rows at a time, for kernels that are not functions of distances alone.

A block function takes rows of X and rows of Y and returns the kernel values between them. Sparse
samples stay sparse; where a kernel needs arrays, no more than a block of them is made at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.metrics.pairwise import additive_chi2_kernel, pairwise_kernels
from sklearn.preprocessing import normalize
from sklearn.utils.extmath import safe_sparse_dot

Array = NDArray[Any]
BlockFunction = Callable[[slice, slice], Array]

# Entries of one block of rows: a megabyte, so that a block stays in cache while it is worked on.
BLOCK_ENTRIES = 1 << 17


def row_blocks(n_rows: int, n_columns: int, entries: int | None = None) -> Iterator[slice]:
    """Cut the rows of a matrix into blocks that stay in cache, or of so many entries."""
    step = max(16, (entries or BLOCK_ENTRIES) // max(n_columns, 1))
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))


def pairwise_blocks(X: Any, Y: Any, name: str, params: dict[str, Any]) -> BlockFunction:
    """Return the block function of one of scikit-learn's pairwise kernels."""
    part = _parts_alike(X, Y)

    def block(rows: slice, columns: slice) -> Array:
        return pairwise_kernels(
            part(X, rows), part(Y, columns), metric=name, filter_params=True, **params
        )

    return block


def cosine_blocks(X: Any, Y: Any) -> BlockFunction:
    """Return the block function of x'y/(‖x‖‖y‖), whose samples are normalised once."""
    left = normalize(X)
    right = left if Y is X else normalize(Y)
    return lambda rows, columns: safe_sparse_dot(left[rows], right[columns].T, dense_output=True)


def minus_chi2_distances(X: Any, Y: Any, gamma: float = 1.0) -> BlockFunction:
    """Return the function from blocks of rows to −gamma Σ (x−y)²/(x+y)."""

    def block(rows: slice, columns: slice) -> Array:
        left, right = X[rows], Y[columns]
        values = np.empty((left.shape[0], right.shape[0]))
        for above, beside in product(row_blocks(*left.shape), row_blocks(*right.shape)):
            values[above, beside] = additive_chi2_kernel(
                as_array(left[above]), as_array(right[beside])
            )
        values *= gamma
        return values

    return block


def called_blocks(
    X: Any, Y: Any, function: Callable[..., Any], params: dict[str, Any]
) -> BlockFunction:
    """Return the block function of a user's kernel, which takes two matrices."""
    part = _parts_alike(X, Y)
    return lambda rows, columns: _called(function, part(X, rows), part(Y, columns), params)


def _called(function: Callable[..., Any], A: Any, B: Any, params: dict[str, Any]) -> Array:
    """Call a user's kernel, and explain the contract where it is not kept."""
    contract = (
        "A kernel takes two matrices of samples, here of shapes "
        f"{A.shape} and {B.shape}, and returns the array of shape {(A.shape[0], B.shape[0])} of "
        "its values, as lambda A, B: A @ B.T does; one of two rows is written as "
        "lambda A, B: sklearn.metrics.pairwise.pairwise_kernels(A, B, metric=function)."
    )
    try:
        values = function(A, B, **params)
    except Exception as error:
        kind = "sparse" if sparse.issparse(A) else "dense"
        raise ValueError(
            f"kernel={function!r} failed on {kind} matrices ({type(error).__name__}: {error}). "
            + contract
        ) from error
    values = np.asarray(as_array(values), dtype=np.float64)
    if values.shape != (A.shape[0], B.shape[0]):
        given = "a number" if values.ndim == 0 else f"an array of shape {values.shape}"
        raise ValueError(f"kernel={function!r} returned {given}. " + contract)
    return values


def _parts_alike(X: Any, Y: Any) -> Callable[[Any, slice], Any]:
    """Return what takes rows of either, as arrays unless both are sparse."""
    if sparse.issparse(X) and sparse.issparse(Y):
        return lambda samples, rows: samples[rows]
    return lambda samples, rows: as_array(samples[rows])


def as_array(values: Any) -> Any:
    """Return a sparse matrix as an array, and an array as it is."""
    return values.toarray() if sparse.issparse(values) else values

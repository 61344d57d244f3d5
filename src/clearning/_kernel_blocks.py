"""Kernel values and distances, a block of rows at a time.

A block function takes rows of X and rows of Y and returns the values between them; the squared
distances of a Gaussian kernel take one matrix product a block. Sparse samples stay sparse; where a
kernel needs arrays, no more than a block of them is made at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import additive_chi2_kernel, pairwise_kernels
from sklearn.preprocessing import normalize
from sklearn.utils.extmath import row_norms, safe_sparse_dot

Array = NDArray[Any]
BlockFunction = Callable[[slice, slice], Array]

# Entries of one block of rows: a megabyte, so that a block stays in cache while it is worked on.
BLOCK_ENTRIES = 1 << 17
# From here on γ‖x‖² loses digits of an exponent that a Gaussian kernel needs.
_CANCELLING = 64.0
# And from here on so many that sparse samples are better subtracted from each other, as arrays.
_LOST = 1e3
# And beyond this a width that is made of distances has less than six digits.
_DROWNED = 1e10


def row_blocks(n_rows: int, n_columns: int, entries: int | None = None) -> Iterator[slice]:
    """Cut the rows of a matrix into blocks that stay in cache, or of so many entries."""
    step = max(16, (entries or BLOCK_ENTRIES) // max(n_columns, 1))
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))


def minus_squared_distances(
    X: Any, Y: Any, gamma: float = 1.0, *, careful: bool = False
) -> BlockFunction:
    """Return the function from blocks of rows to −gamma‖x−y‖².

    Dense inputs are centred first, which keeps the cancellation harmless, and augmented as
    [x, ‖x‖², 1]·[2γy, −γ, −γ‖y‖²], so that one matrix product gives the whole expression. Clusters
    that are far apart in units of 1/√γ cancel all the same; a careful function, made for an
    exponential to be taken of it, then subtracts sample from sample. Sparse inputs are not centred,
    and stay sparse as long as some digits are left.
    """
    if sparse.issparse(X) or sparse.issparse(Y):
        stays_sparse = is_sparse(X) or is_sparse(Y)
        bearable = _LOST if stays_sparse else _CANCELLING
        if not careful or _largest_exponent(X, Y, gamma) <= bearable:
            return _sparse_minus_squared_distances(X, Y, gamma)
        if stays_sparse:
            return _between_arrays(X, Y, lambda A, B: -gamma * cdist(A, B, "sqeuclidean"))
        X, Y = as_array(X), as_array(Y)
    centre = Y.mean(axis=0)
    left, right = _augmented(X - centre), _augmented(Y - centre)
    if careful and _largest_exponent(left[:, :-2], right[:, :-2], gamma) > _CANCELLING:
        return lambda rows, columns: -gamma * cdist(X[rows], Y[columns], "sqeuclidean")
    right = np.concatenate(
        [right[:, :-2] * (2 * gamma), right[:, -1:] * -gamma, right[:, -2:-1] * -gamma], axis=1
    )

    def block(rows: slice, columns: slice) -> Array:
        product = left[rows] @ right[columns].T
        return np.minimum(product, 0.0, out=product)

    return block


def is_drowned(X: Any, gamma: float) -> bool:
    """Whether a distance of 1/√γ is lost beside those of the samples from their centre."""
    centred = X if sparse.issparse(X) else X - X.mean(axis=0)
    return _largest_exponent(centred, centred, gamma) > _DROWNED


def rounding_of_exponents(X: Any, gamma: float) -> float:
    """Return what cancels in the exponents of sparse samples: no centring helps there."""
    largest = _largest_exponent(X, X, gamma)
    lost = is_sparse(X) and _CANCELLING < largest <= _LOST
    return 4 * float(np.finfo(np.float64).eps) * largest if lost else 0.0


def _largest_exponent(X: Any, Y: Any, gamma: float) -> float:
    """Return the largest γ‖x‖²: exponents are differences of such numbers."""
    return gamma * float(max(row_norms(Z, squared=True).max() for Z in (X, Y)))


def is_sparse(X: Any) -> bool:
    """Whether X as an array would take more room than it does, by far."""
    return sparse.issparse(X) and 4 * X.nnz < X.shape[0] * X.shape[1]


def _augmented(X: Array) -> Array:
    return np.concatenate([X, row_norms(X, squared=True)[:, None], np.ones((len(X), 1))], axis=1)


def _sparse_minus_squared_distances(X: Any, Y: Any, gamma: float) -> BlockFunction:
    norms_x, norms_y = row_norms(X, squared=True), row_norms(Y, squared=True)

    def block(rows: slice, columns: slice) -> Array:
        product = np.ascontiguousarray(safe_sparse_dot(X[rows], Y[columns].T, dense_output=True))
        product *= 2.0
        product -= norms_x[rows, None]
        product -= norms_y[columns]
        np.minimum(product, 0.0, out=product)
        product *= gamma
        return product

    return block


def _between_arrays(X: Any, Y: Any, function: Callable[[Array, Array], Array]) -> BlockFunction:
    """Return the block function of one that needs arrays: no more than a block is made at once."""

    def block(rows: slice, columns: slice) -> Array:
        left, right = X[rows], Y[columns]
        values = np.empty((left.shape[0], right.shape[0]))
        for above, beside in product(row_blocks(*left.shape), row_blocks(*right.shape)):
            values[above, beside] = function(as_array(left[above]), as_array(right[beside]))
        return values

    return block


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
    left = _of_length_one(X)
    right = left if Y is X else _of_length_one(Y)
    return lambda rows, columns: safe_sparse_dot(left[rows], right[columns].T, dense_output=True)


def _of_length_one(X: Any) -> Any:
    """Return the samples over their lengths, however small; a sample of zeros is left as it is."""
    largest = abs(X).max(axis=1)
    largest = as_array(largest).ravel() if sparse.issparse(X) else largest
    return normalize(_over(X, np.where(largest > 0, largest, 1.0)))


def _over(X: Any, units: Array) -> Any:
    """Return the samples, each over a number."""
    if not sparse.issparse(X):
        return X / units[:, None]
    X = X.tocsr().astype(float)
    X.data /= np.repeat(units, np.diff(X.indptr))
    return X


def minus_chi2_distances(X: Any, Y: Any, gamma: float = 1.0) -> BlockFunction:
    """Return the function from blocks of rows to −gamma Σ (x−y)²/(x+y)."""
    return _between_arrays(X, Y, lambda A, B: gamma * additive_chi2_kernel(A, B))


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
    values = np.asarray(as_array(values))
    if np.iscomplexobj(values):
        raise ValueError(f"kernel={function!r} returned complex numbers. " + contract)
    values = values.astype(np.float64, copy=False)
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

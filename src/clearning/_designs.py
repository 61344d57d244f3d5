"""Designs: the columns that carry coefficients, and how the compiled core is asked about them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from clearning import _core
from clearning._sklearn import safe_indexing
from clearning._threads import threads_for
from clearning._wide_ridge import is_wide_ridge, solve_wide_ridge
from clearning.losses import Loss

Array = NDArray[np.float64]
Indices = NDArray[np.intp]
# The squares of smaller numbers lose digits.
_LEAST = 1e-145
# Columns whose deviation is below this share of their size are constant, for what rounding can say.
_FLAT = 1e-12
# Below this share a deviation about the mean loses digits to the mean's rounding.
_FAR_FROM_ZERO = 1e-4


class Design(Protocol):
    """What a problem asks of its design."""

    @property
    def n_columns(self) -> int:
        """The number of coefficients."""

    @property
    def auto_min_ratio(self) -> float:
        """How far an automatic grid of penalties falls."""

    def rows(self, index: Indices) -> Design:
        """The design of some of the samples, in the order in which the core reads it."""

    def held_out(self, train: Indices, test: Indices) -> Any:
        """The rows of other samples, in the columns that ``rows(train)`` has."""

    def scores(self, coef: Array) -> Array:
        """The product of the design and a coefficient for each column."""

    def scales(self, shares: Array) -> Array:
        """What the penalty takes as each column's unit, given weights that sum to one."""

    def solve(self, request: dict[str, Any], loss: Loss) -> dict[str, Any]:
        """Ask the compiled core, whose request describes the loss already."""

    def solve_classes(self, request: dict[str, Any]) -> dict[str, Any]:
        """Ask the compiled core about many classes together."""


@dataclass(frozen=True)
class Features:
    """A matrix of features, dense or sparse; `standardize` penalises in units of its columns."""

    X: Any
    standardize: bool = False

    @property
    def n_columns(self) -> int:
        return self.X.shape[1]

    @property
    def auto_min_ratio(self) -> float:
        return 1e-2 if self.X.shape[0] < self.X.shape[1] else 1e-4

    @cached_property
    def columns(self) -> Any:
        """X in the order in which the core walks it: by columns, each entry once."""
        return by_columns(self.X)

    def rows(self, index: Indices) -> Features:
        return Features(by_columns(safe_indexing(self.X, index)), self.standardize)

    def held_out(self, train: Indices, test: Indices) -> Any:
        return safe_indexing(self.X, test)

    def scores(self, coef: Array) -> Array:
        return np.asarray(self.columns @ coef)

    def scales(self, shares: Array) -> Array:
        return column_scales(self.columns, shares) if self.standardize else np.ones(self.n_columns)

    def solve(self, request: dict[str, Any], loss: Loss) -> dict[str, Any]:
        with threads_for(self.columns.size):
            if is_wide_ridge(self.columns, request):
                return solve_wide_ridge(self.columns, request, loss)
            return _solve_by_columns(
                self.columns, request, dense=_core.solve_dense, by_columns=_core.solve_sparse
            )

    def solve_classes(self, request: dict[str, Any]) -> dict[str, Any]:
        with threads_for(self.columns.size):
            return _solve_by_columns(
                self.columns,
                request,
                dense=_core.solve_dense_classes,
                by_columns=_core.solve_sparse_classes,
            )


def by_columns(X: Any) -> Any:
    """Return a matrix by columns, each entry once."""
    if not sparse.issparse(X):
        return np.asfortranarray(X)
    X = X.tocsc()
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def column_scales(X: Any, shares: Array) -> Array:
    """Weighted standard deviations of the columns; 1 where a column is constant."""
    with np.errstate(over="ignore", invalid="ignore"):
        mean = np.asarray(X.T @ shares, dtype=float).ravel()
        variance = (_sparse_variances if sparse.issparse(X) else _dense_variances)(X, shares, mean)
        squares = mean**2
        far = (variance > _FLAT**2 * squares) & (variance < _FAR_FROM_ZERO**2 * squares)
    for j in np.flatnonzero(far):
        variance[j] = _variance_far_from_zero(X[:, [j]], shares)
    return scales_of(variance, mean, lambda j: abs(X[:, [j]]).max())


def scales_of(variance: Array, mean: Array, largest: Callable[[int], float]) -> Array:
    """Standard deviations of columns, the last axis; 1 where one is constant.

    `largest` tells the size of a column's largest entry. Columns whose squares are beyond the range
    of a double are refused: they would be taken for constant ones.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        squares = variance + mean**2
    beyond = ~np.isfinite(squares)
    for place in map(tuple, np.argwhere(squares < _LEAST**2)):
        beyond[place] = 0.0 < largest(int(place[-1])) < _LEAST
    if beyond.any():
        raise ValueError(
            f"standardize=True needs the variances of the columns, but that of column "
            f"{int(np.argwhere(beyond)[0, -1])} of X is beyond the range of a double. Scale X."
        )
    flat = variance <= _FLAT**2 * squares
    return np.sqrt(np.where(flat, 1.0, variance))


def as_dense(X: Any) -> Array:
    """Return all entries of a few columns as doubles."""
    return np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=float)


def _variance_far_from_zero(column: Any, shares: Array) -> float:
    """Of entries that are near each other, whose differences are exact."""
    x = as_dense(column).ravel()
    x = x - x[np.argmax(shares)]
    x = x - shares @ x
    return float(shares @ x**2 - (shares @ x) ** 2)


def _dense_variances(X: NDArray[Any], shares: Array, mean: Array) -> Array:
    n, p = X.shape
    variance = np.empty(p)
    width = max(1, 2**16 // n)  # blocks of columns that stay in the cache
    for start in range(0, p, width):
        block = slice(start, start + width)
        centred = X[:, block] - mean[block]
        # Less the square of what rounding has left of the mean.
        variance[block] = shares @ centred**2 - (shares @ centred) ** 2
    return variance


def _sparse_variances(X: Any, shares: Array, mean: Array) -> Array:
    p = X.shape[1]
    columns = np.repeat(np.arange(p), np.diff(X.indptr))
    stored = shares[X.indices]
    away, zeros = X.data - mean[columns], _weight_of_zeros(X, columns, shares)
    squares = np.bincount(columns, stored * away**2, minlength=p) + zeros * mean**2
    left = np.bincount(columns, stored * away, minlength=p) - zeros * mean
    return squares - left**2


def _weight_of_zeros(X: Any, columns: Indices, shares: Array) -> Array:
    """Return what each sparse column leaves to zeros, without the rounding of 1 − Σw.

    Weights of one order of magnitude are summed apart from others, and where a column has all of
    them nothing is left of them.
    """
    p, zeros = X.shape[1], np.zeros(X.shape[1])
    orders = np.frexp(shares)[1] // 16
    for order in np.unique(orders[shares > 0]):
        these = np.where((orders == order) & (shares > 0), shares, 0.0)
        stored = these[X.indices]
        full = np.bincount(columns, stored > 0, minlength=p) == np.count_nonzero(these)
        zeros += np.where(full, 0.0, these.sum() - np.bincount(columns, stored, minlength=p))
    return zeros


def _solve_by_columns(
    X: Any,
    request: dict[str, Any],
    *,
    dense: Callable[..., dict[str, Any]],
    by_columns: Callable[..., dict[str, Any]],
) -> dict[str, Any]:
    if not sparse.issparse(X):
        return dense(X, request)
    indices, indptr = X.indices, X.indptr
    if indices.dtype != indptr.dtype or indices.dtype not in (np.int32, np.int64):
        indices, indptr = indices.astype(np.int64), indptr.astype(np.int64)
    return by_columns(X.data, indices, indptr, X.shape[0], request)

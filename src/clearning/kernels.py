"""Kernels, their width rules, and the matrices made of them.

Matrices are filled by blocks of rows (`_kernel_blocks`), so that nothing beside the result grows
with n².
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.extmath import row_norms
from threadpoolctl import threadpool_info, threadpool_limits

from clearning._door import relative
from clearning._kernel_blocks import (
    BlockFunction,
    as_array,
    called_blocks,
    cosine_blocks,
    is_drowned,
    minus_chi2_distances,
    minus_squared_distances,
    pairwise_blocks,
    rounding_of_exponents,
    row_blocks,
)

Array = NDArray[Any]

KERNELS = (
    "rbf",
    "laplacian",
    "chi2",
    "polynomial",
    "poly",
    "linear",
    "cosine",
    "sigmoid",
    "precomputed",
)
GAMMA_RULES = ("median", "mean", "scale")

# A user's function is called for larger blocks (32 megabytes), as each call may begin with work.
_CALLED_ENTRIES = 1 << 22
# So many samples at a time have all their kernel values computed for the sake of the diagonal.
_DIAGONAL_ROWS = 32
# Rows and columns of a tile of a product with K: two megabytes of kernel values.
_TILE_ROWS = 512
# Below so many kernel evaluations a pool of threads costs more than it gains.
_THREADED_ENTRIES = 1 << 23
# Width rules look at no more than so many samples of a class (or of the whole, for "mean").
_WIDTH_SAMPLES = 4096


@dataclass(frozen=True)
class Kernel:
    """A kernel whose parameters are settled.

    ``rbf`` is exp(−gamma‖x−x'‖²), ``laplacian`` exp(−gamma‖x−x'‖₁), ``chi2``
    exp(−gamma Σ(x−x')²/(x+x')) of samples ≥ 0, ``polynomial`` (gamma x'x + coef0)^degree,
    ``linear`` x'x, ``cosine`` x'x/(‖x‖‖x'‖), ``sigmoid`` tanh(gamma x'x + coef0). A callable takes
    two matrices and returns the matrix of its values. With ``precomputed``, X is already the
    kernel matrix between its rows and the training samples.
    """

    name: str | Callable[..., Any] = "rbf"
    gamma: float = 1.0
    degree: float = 3
    coef0: float = 0.0
    params: dict[str, Any] = field(default_factory=dict)
    dtype: str = "float64"

    @property
    def precomputed(self) -> bool:
        return self.name == "precomputed"

    @property
    def _is_power(self) -> bool:
        return self.name in ("polynomial", "poly")

    @property
    def surely_psd(self) -> bool:
        """Whether the kernel is positive semidefinite by construction."""
        if self._is_power:
            return self.coef0 >= 0 and float(self.degree).is_integer()
        return self.has_unit_diagonal or self.name in ("linear", "cosine")

    @property
    def has_unit_diagonal(self) -> bool:
        """Whether k(x, x) = 1 for every sample."""
        return self.name in ("rbf", "laplacian", "chi2")

    @property
    def _entries(self) -> int | None:
        return _CALLED_ENTRIES if callable(self.name) else None

    def entry_rounding(self, X: Any) -> float:
        """How far an entry of the matrix may be off, relative to itself, where that matters."""
        eps = np.finfo(np.float64).eps
        rounding = float(np.finfo(np.float32).eps) / 2 if self.dtype == "float32" else 0.0
        if self.name == "rbf":
            rounding += rounding_of_exponents(X, self.gamma)
        if self._is_power or self.name in ("linear", "cosine"):
            # More samples than dimensions make zero eigenvalues, and rounding makes them negative.
            rounding += 4 * float(eps) * (self.degree if self._is_power else 1)
        return rounding

    def gram(self, X: Any) -> Array:
        """Return the kernel matrix among the rows of X.

        It is exactly symmetric where the kernel is known to be; a callable has yet to show it.
        """
        if self.precomputed:
            return X if X.flags.forc else np.ascontiguousarray(X)
        if callable(self.name):
            return self.cross(X, X)
        K = np.empty((X.shape[0], X.shape[0]), dtype=self.dtype)
        _fill_symmetric(K, self._block_function(X, X))
        if self.has_unit_diagonal:
            np.fill_diagonal(K, 1.0)
        return K

    def check_finite(self, values: Array) -> None:
        """Refuse samples whose kernel is beyond the floating-point range."""
        blocks = row_blocks(len(values), values[0].size)
        if not all(np.isfinite(values[rows]).all() for rows in blocks):
            smaller = f", or give gamma a number below {self.gamma:.3g}" if self._is_power else ""
            raise ValueError(
                f"X holds numbers whose kernel={self.name!r} is not finite in {self.dtype}. "
                f"Scale X{smaller}."
            )

    def cross(self, X: Any, Y: Any) -> Array:
        """Return the kernel matrix between the rows of X and the rows of Y.

        Its columns are contiguous, as the solver wants its designs.
        """
        K = np.empty((X.shape[0], Y.shape[0]), dtype=self.dtype, order="F")
        block = self._block_function(X, Y)
        for rows in row_blocks(K.shape[0], K.shape[1], self._entries):
            K[rows] = block(rows, slice(None))
        return K

    def columns(self, X: Any, samples: Array) -> Array:
        """Return the kernel matrix between the rows of X and some of the training samples in X."""
        return self.between(X, np.arange(X.shape[0]), samples)

    def between(self, X: Any, rows: Array, samples: Array) -> Array:
        """Return the kernel matrix between two selections of the training samples."""
        if self.precomputed:
            return X[np.ix_(rows, samples)]
        return self.cross(X[rows], X[samples])

    def diagonal(self, X: Any, rows: Array) -> Array:
        """Return k(x, x) for the chosen training samples."""
        if self.precomputed:
            return np.array(X[rows, rows], dtype=float)
        if self.has_unit_diagonal:
            return np.ones(len(rows))
        if self.name == "linear":
            return row_norms(X[rows], squared=True)
        parts = np.split(rows, np.arange(_DIAGONAL_ROWS, len(rows), _DIAGONAL_ROWS))
        return np.concatenate([np.diag(self.between(X, part, part)) for part in parts])

    def score(self, X: Any, support_vectors: Any, dual_coef: Array) -> Array:
        """Return Σ_j dual_coef_j k(x, s_j) for each row of X, in bounded memory.

        A matrix of coefficients, a column a score, makes as many columns of scores.
        """
        score = np.empty((X.shape[0], *dual_coef.shape[1:]))
        block = self._block_function(X, support_vectors)

        def fill(rows: slice) -> None:
            score[rows] = block(rows, slice(None)) @ dual_coef

        blocks = row_blocks(X.shape[0], support_vectors.shape[0], self._entries)
        if X.shape[0] * support_vectors.shape[0] < _THREADED_ENTRIES:
            n_threads = 1
        else:
            n_threads = _blas_threads()
        if n_threads == 1:
            for rows in blocks:
                fill(rows)
        else:
            with threadpool_limits(1, user_api="blas"), ThreadPoolExecutor(n_threads) as pool:
                list(pool.map(fill, blocks))
        return score

    def product(self, X: Any, r: Array) -> Array:
        """Return Kr for K among the rows of X, tile by tile of its upper half: K is never kept."""
        if self.precomputed:
            return X @ r
        n, block = X.shape[0], self._block_function(X, X)
        tiles = [slice(start, min(start + _TILE_ROWS, n)) for start in range(0, n, _TILE_ROWS)]
        n_threads = min(len(tiles), _blas_threads()) if n * n >= _THREADED_ENTRIES else 1

        def share(thread: int) -> Array:
            out = np.zeros(r.shape)
            for i in range(thread, len(tiles), n_threads):
                for columns in tiles[i:]:
                    values = block(tiles[i], columns)
                    out[tiles[i]] += values @ r[columns]
                    if columns is not tiles[i]:
                        out[columns] += values.T @ r[tiles[i]]
            return out

        if n_threads == 1:
            return share(0)
        with threadpool_limits(1, user_api="blas"), ThreadPoolExecutor(n_threads) as pool:
            return sum(pool.map(share, range(n_threads)), np.zeros(r.shape))

    def _block_function(self, X: Any, Y: Any) -> BlockFunction:
        """Return the function from rows of X and rows of Y to their block of kernel values."""
        Y = Y if sparse.issparse(X) else as_array(Y)
        if self.name == "rbf":
            return _exponential(minus_squared_distances(X, Y, self.gamma, careful=True))
        if self.name == "chi2":
            return _exponential(minus_chi2_distances(X, Y, self.gamma))
        if self.name == "cosine":
            return cosine_blocks(X, Y)
        if callable(self.name):
            return called_blocks(X, Y, self.name, self.params)
        params = {"gamma": self.gamma, "degree": self.degree, "coef0": self.coef0}
        return pairwise_blocks(X, Y, self.name, params)


def _exponential(exponent: BlockFunction) -> BlockFunction:
    def block(rows: slice, columns: slice) -> Array:
        values = exponent(rows, columns)
        return np.exp(values, out=values)

    return block


def negative_distance_matrix(X: Any, dtype: str = "float64", gamma: float = 1.0) -> Array:
    """Return the matrix of −‖x−x'‖², from which Gaussian kernels up to the width gamma follow."""
    D = np.empty((X.shape[0], X.shape[0]), dtype=dtype)
    exponent = minus_squared_distances(X, X, gamma, careful=True)
    _fill_symmetric(D, lambda rows, columns: exponent(rows, columns) / gamma)
    np.fill_diagonal(D, 0.0)
    return D


def _fill_symmetric(K: Array, block: BlockFunction) -> None:
    """Fill K from its upper blocks; mirroring halves the work and makes the symmetry exact."""
    n = len(K)
    for rows in row_blocks(n, n):
        right = slice(rows.start, n)
        values = block(rows, right)
        width = rows.stop - rows.start
        corner = np.triu(values[:, :width])
        values[:, :width] = corner + np.triu(corner, 1).T
        K[rows, right] = values
        K[rows.stop :, rows] = values[:, width:].T


def _blas_threads() -> int:
    """Return how many threads BLAS may use, which is what the user allows; 1 if it does not say."""
    pools = threadpool_info()
    return max((pool["num_threads"] for pool in pools if pool["user_api"] == "blas"), default=1)


def kernel_width(
    gamma: float | str,
    X: Any,
    y: Array,
    sample_weight: Array | None = None,
    *,
    kernel: Any = "rbf",
) -> float:
    """Return the number that ``gamma`` stands for.

    Parameters
    ----------
    gamma : float, "median", "mean" or "scale"
        ``"median"`` is 1/σ² with σ the median Euclidean distance between samples of different
        classes, ``"mean"`` the same with the mean distance among all samples, ``"scale"``
        1/(n_features·Var X), as in scikit-learn's SVC. Above 4096 samples of a class (of
        all, for ``"mean"``; of m classes, 8192/m of each) the two rules of distances look at so
        many evenly spaced ones.
    X : array-like or sparse matrix of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
        Labels.
    sample_weight : ndarray of shape (n_samples,), default=None
        A pair counts with the product of its samples' weights.
    kernel : str or callable, default="rbf"
        For ``"chi2"`` the squared distance is Σ(x−x')²/(x+x').

    Returns
    -------
    gamma : float
        1.0 where the rule gives a width of zero (all inputs alike).
    """
    if not isinstance(gamma, str):
        return float(gamma)
    if gamma == "scale":
        return _scale_width(X)
    rule = {"median": _median_distance, "mean": _mean_distance}[gamma]
    minus_squares = minus_chi2_distances if kernel == "chi2" else minus_squared_distances
    weight = None if sample_weight is None else relative(sample_weight)
    sigma = rule(X, y, weight, minus_squares)
    if sigma**2 > 0 and kernel != "chi2" and is_drowned(X, 1.0 / sigma**2):
        # Samples that are alike are not at a rounding error's distance from each other.
        in_sigmas = partial(minus_squared_distances, gamma=1.0 / sigma**2, careful=True)
        sigma *= rule(X, y, weight, in_sigmas)
    return 1.0 / sigma**2 if sigma**2 > 0 else 1.0


def _scale_width(X: Any) -> float:
    if sparse.issparse(X):
        variance = X.multiply(X).mean() - X.mean() ** 2
    else:
        variance = X.var()
    return 1.0 / (X.shape[1] * variance) if variance > 0 else 1.0


def _evenly_spaced(samples: Array, most: int = _WIDTH_SAMPLES) -> Array:
    if len(samples) <= most:
        return samples
    return samples[np.linspace(0, len(samples) - 1, most).astype(int)]


def _median_distance(
    X: Any, y: Array, sample_weight: Array | None, minus_squares: Callable[..., BlockFunction]
) -> float:
    pairs = list(_class_pairs(y))
    distances = _one_array([_squared_distances(X, *pair, minus_squares) for pair in pairs])
    if sample_weight is not None and np.ptp(sample_weight) > 0:
        weights = [np.outer(sample_weight[a], sample_weight[b]).ravel() for a, b in pairs]
        return _weighted_median(np.sqrt(distances), _one_array(weights))
    # The two middle order statistics of the squares are those of the distances.
    middle = [(len(distances) - 1) // 2, len(distances) // 2]
    distances.partition(middle)
    return float(np.sqrt(distances[middle]).mean())


def _class_pairs(y: Array) -> Iterator[tuple[Array, Array]]:
    """Yield the samples of each class but the last, with those of all classes after it."""
    labels = np.unique(y)
    # As many samples in all as of two classes.
    most = max(1, 2 * _WIDTH_SAMPLES // len(labels))
    own = [_evenly_spaced(np.flatnonzero(y == label), most) for label in labels]
    for k, first in enumerate(own[:-1]):
        yield first, np.concatenate(own[k + 1 :])


def _squared_distances(
    X: Any, first: Array, second: Array, minus_squares: Callable[..., BlockFunction]
) -> Array:
    block = minus_squares(X[first], X[second])
    table = np.empty((len(first), len(second)))
    for rows in row_blocks(*table.shape):
        np.negative(block(rows, slice(None)), out=table[rows])
    return table.ravel()


def _one_array(parts: list[Array]) -> Array:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _weighted_median(values: Array, weights: Array) -> float:
    """Return the median of values repeated by their weights."""
    order = np.argsort(values)
    below = np.cumsum(weights[order])
    # A sum that is half of all but for rounding is half of all.
    half = below[-1] / 2 * np.array([1 - 1e-12, 1 + 1e-12])
    low, high = np.searchsorted(below, half)
    return float(values[order[[low, high]]].mean())


def _mean_distance(
    X: Any, y: Array, sample_weight: Array | None, minus_squares: Callable[..., BlockFunction]
) -> float:
    chosen = _evenly_spaced(np.arange(X.shape[0]))
    weight = np.ones(len(chosen)) if sample_weight is None else sample_weight[chosen]
    X = X[chosen]
    block = minus_squares(X, X)
    total = 0.0
    for rows in row_blocks(len(chosen), len(chosen)):
        distances = np.sqrt(-block(rows, slice(None)))
        # A sample is not at a rounding error's distance from itself.
        distances[np.arange(len(distances)), np.arange(rows.start, rows.stop)] = 0.0
        total += float(weight[rows] @ (distances @ weight))
    pairs = weight.sum() ** 2 - weight @ weight
    return float(total / pairs) if pairs > 0 else 0.0

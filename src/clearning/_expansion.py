"""The functions k(x_j, ·) that a kernel score is a sum of, evaluated on the training samples."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from clearning import _core
from clearning._designs import Array, Indices
from clearning._kernel_matrix import check_kernel_matrix, check_landmark_kernel, lift_rounded
from clearning._threads import threads_for
from clearning.kernels import Kernel
from clearning.landmarks import select_landmarks
from clearning.losses import Loss


@dataclass(frozen=True)
class Expansion:
    """A design of kernel functions: all training samples, or landmarks among them.

    Attributes
    ----------
    K : ndarray of shape (n_samples, n_functions)
        The kernel matrix between the samples and the functions' centres.
    penalty_kernel : ndarray of shape (n_functions, n_functions) or None
        The kernel matrix among landmarks; None where the centres are all the samples.
    centres : ndarray of shape (n_functions,)
        The samples that the functions are centred at.
    """

    K: NDArray[Any]
    penalty_kernel: NDArray[Any] | None
    centres: Indices

    @property
    def n_columns(self) -> int:
        """The number of functions."""
        return self.K.shape[1]

    @property
    def auto_min_ratio(self) -> float:
        """How far an automatic grid of penalties falls."""
        return 1e-3

    def rows(self, index: Indices) -> Expansion:
        """Return the expansion of some of the samples; landmarks stay the same."""
        if self.penalty_kernel is None:
            return Expansion(self.K[np.ix_(index, index)], None, self.centres[index])
        # Taken from the transpose, the slice has contiguous columns, as the solver wants it.
        return Expansion(self.K.T.take(index, axis=1).T, self.penalty_kernel, self.centres)

    def held_out(self, train: Indices, test: Indices) -> NDArray[Any]:
        """Return the kernel matrix between other samples and the centres of ``rows(train)``."""
        return self.K[np.ix_(test, train)] if self.penalty_kernel is None else self.K[test]

    def scores(self, coef: Array) -> Array:
        """Return the sums of the functions with these coefficients, at the samples."""
        return self.K @ coef

    def scales(self, shares: Array) -> Array:
        """Return ones: kernel functions are never standardised."""
        return np.ones(self.n_columns)

    def solve(self, request: dict[str, Any], loss: Loss) -> dict[str, Any]:
        """Ask the compiled core, which reads both matrices by columns."""
        with threads_for(self.K.size):
            return _core.solve_kernel(*self._by_columns(), request)

    def solve_classes(self, request: dict[str, Any]) -> dict[str, Any]:
        """Ask the compiled core about many classes together."""
        with threads_for(self.K.size):
            return _core.solve_kernel_classes(*self._by_columns(), request)

    def _by_columns(self) -> tuple[NDArray[Any], NDArray[Any]]:
        if self.penalty_kernel is not None:
            penalty = np.asfortranarray(self.penalty_kernel, dtype=self.K.dtype)
            return np.asfortranarray(self.K), penalty
        # A symmetric matrix is its own transpose, so no copy is needed in either memory order.
        K = self.K.T if self.K.flags.c_contiguous else np.asfortranarray(self.K)
        return K, K


def expand(kernel: Kernel, X: Any, n_landmarks: int | None, random_state: Any) -> Expansion:
    """Return the expansion in all samples, or in landmarks where their number is given."""
    # What overflows is told at the end, in one sentence.
    with np.errstate(over="ignore", invalid="ignore"):
        if n_landmarks is None:
            K = kernel.gram(X)
            K = _checked(kernel, X, K, check_kernel_matrix, own=K is not X)
            return Expansion(K, None, np.arange(X.shape[0]))
        centres = select_landmarks(kernel, X, n_landmarks, check_random_state(random_state))
        return expand_at(kernel, X, centres)


def expand_at(kernel: Kernel, X: Any, centres: Indices) -> Expansion:
    """Return the expansion in given landmarks."""
    K = kernel.columns(X, centres)
    kernel.check_finite(K)
    between = _checked(kernel, X[centres], K[centres], check_landmark_kernel, own=True)
    return Expansion(K, between, centres)


def _checked(
    kernel: Kernel, X: Any, K: NDArray[Any], check: Callable[..., Any], *, own: bool
) -> NDArray[Any]:
    """Refuse a matrix that no positive semidefinite kernel can have made."""
    kernel.check_finite(K)
    if kernel.surely_psd:
        return lift_rounded(K, kernel.entry_rounding(X))
    name = "X" if kernel.precomputed else f"The matrix of kernel={kernel.name!r}"
    return check(K, name, own=own)

"""The functions k(x_j, ·) that a kernel score is a sum of, evaluated on the training samples."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from clearning.kernels import Kernel, check_kernel_matrix
from clearning.landmarks import select_landmarks


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

    K: NDArray
    penalty_kernel: NDArray | None
    centres: NDArray[np.intp]

    def fold(self, train: NDArray[np.intp]) -> Expansion:
        """Return the expansion of some of the samples; landmarks stay the same."""
        if self.penalty_kernel is None:
            return Expansion(self.K[np.ix_(train, train)], None, self.centres[train])
        # Taken from the transpose, the slice has contiguous columns, as the solver wants it.
        return Expansion(self.K.T.take(train, axis=1).T, self.penalty_kernel, self.centres)

    def held_out(self, train: NDArray[np.intp], test: NDArray[np.intp]) -> NDArray:
        """Return the kernel matrix between other samples and the centres of a fold."""
        return self.K[np.ix_(test, train)] if self.penalty_kernel is None else self.K[test]


def expand(kernel: Kernel, X, n_landmarks: int | None, random_state) -> Expansion:
    """Return the expansion in all samples, or in landmarks where their number is given."""
    if n_landmarks is None:
        K = _checked(kernel, kernel.gram(X))
        return Expansion(K, None, np.arange(X.shape[0]))
    centres = select_landmarks(kernel, X, n_landmarks, check_random_state(random_state))
    K = kernel.columns(X, centres)
    return Expansion(K, _checked(kernel, K[centres]), centres)


def _checked(kernel: Kernel, K: NDArray) -> NDArray:
    """Refuse a matrix that no positive semidefinite kernel can have made."""
    if kernel.surely_psd:
        return K
    name = "X" if kernel.precomputed else f"The matrix of kernel={kernel.name!r}"
    return check_kernel_matrix(K, name)

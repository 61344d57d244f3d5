"""Landmarks: the few samples that stand for all in a kernel expansion.

They are drawn by randomly pivoted Cholesky (Chen, Epperly, Tropp and Webber, 2023): each sample is
chosen with a probability in proportion to what the landmarks so far leave unexplained of it, the
diagonal of K − K_S K_SS⁻¹ K_S'. Clusters are covered in proportion to what they add, outliers are
not chased, and no more than the columns of the chosen samples is ever computed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky
from scipy.linalg.blas import dgemm, dtrsm

from clearning.kernels import Kernel

# A sample of which less than this share is unexplained is a combination of the landmarks.
_NEGLIGIBLE = 1e-10
_MIN_CANDIDATES = 4096
_CANDIDATES_PER_LANDMARK = 4


def select_landmarks(
    kernel: Kernel, X: Any, n_landmarks: int, random_state: np.random.RandomState
) -> NDArray[np.intp]:
    """Choose landmarks among the rows of X.

    Parameters
    ----------
    kernel : Kernel
    X : array-like of shape (n_samples, n_features)
        Or the kernel matrix itself, for a precomputed kernel.
    n_landmarks : int
        Between 1 and n_samples.
    random_state : numpy.random.RandomState

    Returns
    -------
    landmarks : ndarray of shape (at most n_landmarks,)
        Sorted indices. They are fewer than asked for where the kernel matrix has a lower rank.

    Notes
    -----
    Time is O(c m²) and memory O(c m) for m landmarks out of c candidates, a uniform sample of
    max(4096, 4m) rows.
    """
    # In single precision what is left unexplained would be rounding long before it is negligible.
    kernel = replace(kernel, dtype="float64")
    n_samples = X.shape[0]
    if n_landmarks == n_samples:
        return np.arange(n_samples)
    n_candidates = min(n_samples, max(_MIN_CANDIDATES, _CANDIDATES_PER_LANDMARK * n_landmarks))
    candidates = np.arange(n_samples)
    if n_candidates < n_samples:
        candidates = np.sort(random_state.choice(n_samples, n_candidates, replace=False))
    return np.sort(candidates[_pivots(kernel, X, candidates, n_landmarks, random_state)])


def draw_more(
    kernel: Kernel,
    X: Any,
    landmarks: NDArray[np.intp],
    slopes: NDArray[np.float64],
    n_more: int,
    random_state: np.random.RandomState,
) -> NDArray[np.intp]:
    """Add landmarks where the fit on those at hand falls short.

    Candidates are the samples with the steepest slopes, twice as many as asked for; among them
    landmarks are chosen as ever, as the steepest alone are often neighbours.

    Parameters
    ----------
    kernel : Kernel
    X : array-like of shape (n_samples, n_features)
        Or the kernel matrix itself, for a precomputed kernel.
    landmarks : ndarray of shape (n_landmarks,)
    slopes : ndarray of shape (n_samples,)
        How much each sample's function would gain; nothing where it is zero.
    n_more : int
    random_state : numpy.random.RandomState

    Returns
    -------
    landmarks : ndarray of shape (at most n_landmarks + n_more,)
        Sorted indices, the old ones among them.
    """
    gains = slopes.copy()
    gains[landmarks] = 0.0
    steepest = np.argsort(-gains, kind="stable")[: 2 * n_more]
    candidates = np.sort(steepest[gains[steepest] > 0])
    if len(candidates) > n_more:
        own = X[np.ix_(candidates, candidates)] if kernel.precomputed else X[candidates]
        candidates = candidates[select_landmarks(kernel, own, n_more, random_state)]
    return np.union1d(landmarks, candidates)


def _pivots(
    kernel: Kernel,
    X: Any,
    candidates: NDArray[np.intp],
    n_pivots: int,
    random_state: np.random.RandomState,
) -> NDArray[np.intp]:
    """Draw pivots in batches, with the distribution of drawing them one by one."""
    diagonal = kernel.diagonal(X, candidates)
    kernel.check_finite(diagonal)
    unexplained = diagonal.copy()
    factor = np.zeros((len(candidates), n_pivots), order="F")
    pivots = np.empty(0, dtype=np.intp)
    while len(pivots) < n_pivots:
        unexplained[unexplained < _NEGLIGIBLE * diagonal] = 0.0
        total = unexplained.sum()
        if total <= 0:
            # A kernel that is zero everywhere still needs a function to be zero of.
            return pivots if len(pivots) else np.zeros(1, dtype=np.intp)
        size = min(max(8, n_pivots // 8), n_pivots - len(pivots))
        drawn = random_state.choice(len(candidates), size, p=unexplained / total)
        rest = kernel.between(X, candidates[drawn], candidates[drawn]).astype(float)
        kernel.check_finite(rest)
        rest -= factor[drawn, : len(pivots)] @ factor[drawn, : len(pivots)].T
        batch = drawn[_accepted(rest, unexplained[drawn], random_state)]
        if len(batch) == 0:
            continue
        # In column order throughout: BLAS then works in place.
        new = kernel.between(X, candidates[batch], candidates).astype(float, order="C").T
        if len(pivots) > 0:
            known = factor[:, : len(pivots)]
            new = dgemm(-1.0, known, known[batch], beta=1.0, c=new, trans_b=True, overwrite_c=True)
        lower = cholesky(new[batch], lower=True)
        new = dtrsm(1.0, lower, new, side=1, lower=True, trans_a=True, overwrite_b=True)
        factor[:, len(pivots) : len(pivots) + len(batch)] = new
        unexplained -= np.einsum("ij,ij->i", new, new)
        unexplained[batch] = 0.0
        pivots = np.concatenate([pivots, batch])
    return pivots


def _accepted(
    rest: NDArray[np.float64], proposal: NDArray[np.float64], random_state: np.random.RandomState
) -> list[int]:
    """Accept each draw with the share of it that earlier draws of its batch leave unexplained."""
    accepted = []
    for i, threshold in enumerate(random_state.uniform(size=len(proposal)) * proposal):
        # The floor keeps the batch's Cholesky factor well conditioned, duplicates included.
        if rest[i, i] > max(threshold, 1e-8 * proposal[i]):
            accepted.append(i)
            rest -= np.outer(rest[:, i], rest[i] / rest[i, i])
    return accepted

"""The one door for kernel matrices: symmetric, and positive semidefinite as they are solved.

A matrix that has a negative eigenvalue makes a problem without a minimum, and a proof about it
worthless. One that is negative by rounding alone is therefore lifted: its size is added to the
diagonal, and the problem that is solved and certified is that of the lifted matrix.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cholesky, eigh_tridiagonal, eigvalsh

from clearning._threads import threads_for
from clearning.kernels import row_blocks

Array = NDArray[Any]

EPS = float(np.finfo(np.float64).eps)
EPS_SINGLE = float(np.finfo(np.float32).eps)
# Up to so many samples a matrix is factorised, above it is multiplied by a few vectors.
_FACTORISED = 5000
_LANCZOS_STEPS = 40


def check_kernel_matrix(K: Array, name: str = "K", *, own: bool = False) -> Array:
    """Return K exactly symmetric and lifted as far as it is indefinite by rounding, or raise.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Finite numbers.
    name : str
        What a message calls it.
    own : bool
        Whether the diagonal may be changed in place.

    Returns
    -------
    ndarray of shape (n, n)
        K itself where nothing had to be changed.

    Notes
    -----
    Refused is a matrix with an eigenvalue below −1e-6 (in single precision −1e-4) times its
    largest. Up to 5000 samples Cholesky factors show that all lie above rounding, or that none lies
    below it, which rounding then lifts; or all eigenvalues tell. Above, Lanczos steps bound the
    smallest from above, so that a matrix that is refused certainly has such an eigenvalue, and the
    lift is twice what they find.
    """
    if K.ndim != 2 or K.shape[0] != K.shape[1]:
        raise ValueError(f"{name} must be a square kernel matrix, got shape {K.shape}.")
    tolerance = 1e-4 if K.dtype == np.float32 else 1e-6
    symmetric = _symmetric(K, name, tolerance)
    with threads_for(K.size):
        lift = _lift(symmetric, name, tolerance)
    return _add_to_diagonal(symmetric, lift, own or symmetric is not K)


def check_landmark_kernel(K: Array, name: str, *, own: bool = False) -> Array:
    """Return the same of a matrix between landmarks, whose inverse the core's proof asks for.

    In units of its diagonal it has no eigenvalue below 2 p eps, which the proof relies on, or is
    lifted by as much.
    """
    lifted = check_kernel_matrix(K, name, own=own)
    diagonal = np.einsum("ii->i", lifted).astype(np.float64)
    if not np.all(diagonal > 0):
        return lifted
    unit = 1.0 / np.sqrt(diagonal)
    normal = lifted * unit[:, None] * unit
    least = 2 * EPS * len(K)
    if _is_positive(normal, -least):
        return lifted
    lift = least
    while not _is_positive(normal, lift - least):
        lift *= 4.0
        if lift > 1e-4:
            raise ValueError(
                f"{name} must be a positive semidefinite kernel matrix, but it is none with "
                f"{lift:.2g} of its diagonal added."
            )
    return _add_to_diagonal(lifted, lift * diagonal, own or lifted is not K)


def lift_rounded(K: Array, rounding: float) -> Array:
    """Return K, once positive semidefinite, lifted in place by what rounding its entries can do.

    Where each entry is off by up to `rounding` times itself, the errors in units of the diagonal D,
    D^(−1/2) E D^(−1/2), have no eigenvalue beyond that times the Frobenius norm of K in the same
    units. So much of itself is added to each entry of the diagonal: a sample of small size keeps
    what it has to say. The core's proof covers the rounding of doubles.
    """
    if rounding == 0.0:
        return K
    diagonal = np.maximum(np.einsum("ii->i", K).astype(np.float64), np.finfo(K.dtype).tiny)
    unit, squares = 1.0 / np.sqrt(diagonal), 0.0
    for rows in row_blocks(*K.shape):
        block = K[rows] * unit[rows, None] * unit
        squares += float(np.vdot(block, block))
    return _add_to_diagonal(K, rounding * np.sqrt(squares) * diagonal, own=True)


def gaussian_of(distances: Array, gamma: float, out: Array) -> Array:
    """Return exp(−gamma‖x−x'‖²) of a matrix of −‖x−x'‖², written to `out` and lifted.

    In single precision a distance off by eps/2 of itself moves exp(−t) by eps/2 of t exp(−t), which
    comes to the rounding of the result.
    """
    squares = 0.0
    for rows in row_blocks(*distances.shape):
        exponent = distances[rows].astype(np.float64) * gamma
        values = np.exp(exponent)
        out[rows] = values
        squares += float(np.sum(((1.0 - exponent) * values) ** 2))
    lift = EPS_SINGLE / 2 * float(np.sqrt(squares)) if out.dtype == np.float32 else 0.0
    return _add_to_diagonal(out, lift, own=True)


def _symmetric(K: Array, name: str, tolerance: float) -> Array:
    worst, where, size = 0.0, (0, 0), 0.0
    for rows in row_blocks(*K.shape):
        difference = np.abs(K[rows] - K[:, rows].T)
        size = max(size, float(np.abs(K[rows]).max()))
        if difference.max() > worst:
            worst = float(difference.max())
            i, j = np.unravel_index(difference.argmax(), difference.shape)
            where = (rows.start + int(i), int(j))
    if worst > tolerance * size:
        i, j = where
        raise ValueError(
            f"{name} must be a symmetric kernel matrix, but {name}[{i}, {j}] = {K[i, j]:.6g} and "
            f"{name}[{j}, {i}] = {K[j, i]:.6g}."
        )
    return K if worst == 0.0 else K / 2 + K.T / 2


def _lift(K: Array, name: str, tolerance: float) -> float:
    """Return what makes up for the smallest eigenvalue, or raise where that is no rounding."""
    margin = 2 * EPS * _frobenius(K)
    if len(K) <= _FACTORISED:
        wide = K.astype(np.float64)
        if _is_positive(wide, -margin):
            return 0.0
        # Between the two, products with the matrix may come out negative by their rounding.
        if _is_positive(wide, margin):
            return 2 * margin
        values = eigvalsh(wide, overwrite_a=True)
        smallest, largest, doubt = float(values[0]), float(values[-1]), 1.0
    else:
        smallest, largest = _lanczos(K)
        doubt = 2.0
    if smallest < -tolerance * max(abs(largest), abs(smallest)):
        raise ValueError(
            f"{name} must be a positive semidefinite kernel matrix, but it has an eigenvalue of "
            f"{smallest:.6g} or below (its largest is about {largest:.6g})."
        )
    if len(K) > _FACTORISED and K.dtype == np.float32:
        return max(-doubt * smallest, EPS_SINGLE / 2 * _frobenius(K))
    return margin - doubt * smallest if smallest < 0 else 0.0


def _is_positive(K: Array, shift: float) -> bool:
    """Whether K with the shift on its diagonal has a Cholesky factor; K is left as it was."""
    diagonal = np.einsum("ii->i", K)
    kept = diagonal.copy()
    diagonal += shift
    try:
        cholesky(K, check_finite=False)
    except LinAlgError:
        return False
    finally:
        diagonal[:] = kept
    return True


def _add_to_diagonal(K: Array, lift: Any, own: bool) -> Array:
    """Return K with at least so much more on its diagonal, which rounding must not take back."""
    if not np.any(lift):
        return K
    K = K if own else K.copy(order="K")
    diagonal = np.einsum("ii->i", K)
    wanted = diagonal.astype(np.float64) + lift
    diagonal[:] = wanted
    short = diagonal < wanted
    diagonal[short] = np.nextafter(diagonal[short], np.asarray(np.inf, K.dtype))
    return K


def _frobenius(K: Array) -> float:
    """Return ‖K‖_F in double precision, a block of rows at a time, at any scale."""
    top = max(float(np.abs(K[rows]).max()) for rows in row_blocks(*K.shape))
    if top == 0.0:
        return 0.0
    blocks = (K[rows].astype(np.float64) / top for rows in row_blocks(*K.shape))
    return top * float(np.sqrt(sum(np.vdot(block, block) for block in blocks)))


def _lanczos(K: Array) -> tuple[float, float]:
    """Return the smallest and the largest Ritz value after a few fully orthogonalised steps."""
    Q = np.zeros((_LANCZOS_STEPS + 1, len(K)))
    Q[0] = np.random.default_rng(0).standard_normal(len(K))
    Q[0] /= np.linalg.norm(Q[0])
    diagonal, off_diagonal = [], []
    for k in range(_LANCZOS_STEPS):
        v = K @ Q[k].astype(K.dtype, copy=False)
        diagonal.append(float(Q[k] @ v))
        v = v - Q[: k + 1].T @ (Q[: k + 1] @ v)
        v -= Q[: k + 1].T @ (Q[: k + 1] @ v)
        norm = float(np.linalg.norm(v))
        # The noise of a product in K's own precision must not enter the Krylov space.
        if norm <= 1e3 * np.finfo(K.dtype).eps * max(map(abs, diagonal)):
            break
        off_diagonal.append(norm)
        Q[k + 1] = v / norm
    values = eigh_tridiagonal(diagonal, off_diagonal[: len(diagonal) - 1], eigvals_only=True)
    return float(values[0]), float(values[-1])

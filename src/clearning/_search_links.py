"""Links fitted to many candidates' scores at once: logit = t f + b, or softmax(t g).

Each column of scores has a scale t, one over its temperature. What is minimised is the
cross-entropy against smoothed targets, which is convex. Of one column it is the fit of
``CoherenceCalibrator(u=0, smooth=0.5)``, with a free b that of ``offset=True``, and of many classes
that of ``JointCoherenceCalibrator(u=0)``. Two classes are the compiled core's; of many, arrays are
of shape (samples, columns, classes).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from clearning import _core
from clearning._designs import Array

SMOOTH = 0.5
# In units of the largest score: scores of which less is made than this say nothing.
_LEAST_SCALE = 1e-3
_MOST_STEPS = 100
# Newton's steps square the error: after a step of this share the next is below rounding.
_LAST_STEP = 1e-6
# Entries of an array that is worked on at once.
_ENTRIES = 2**20


def fit_links(
    scores: Array, codes: NDArray[np.intp], weight: Array, n_classes: int, *, offset: float | None
) -> tuple[Array, Array]:
    """Return the scales t and the offsets b, one a column.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_columns) or (n_samples, n_columns, n_classes)
        Held-out scores.
    codes : ndarray of shape (n_samples,)
        The place of each sample's class.
    weight : ndarray of shape (n_samples,)
        The samples' weights, as counts.
    n_classes : int
        Number of classes.
    offset : float or None
        How firmly offsets are held to zero: the term offset·b²/2 beside the sum of cross-entropies.
        None is without; of two classes only.
    """
    unit = np.abs(scores).max(axis=(0, *range(2, scores.ndim)))
    unit = np.where(unit > 0, unit, 1.0)
    if n_classes > 2:
        scales = _temperatures(scores / unit[:, None], codes, weight, n_classes)
        return scales / unit, np.zeros_like(scales)
    scales, offsets = _core.fit_logit_lines(
        np.asfortranarray(scores / unit, dtype=np.float64),
        np.where(codes == 1, 1.0, -1.0),
        np.ascontiguousarray(weight, dtype=np.float64),
        SMOOTH,
        np.inf if offset is None else offset,
    )
    return scales / unit, offsets


def _temperatures(g: Array, codes: NDArray[np.intp], weight: Array, n_classes: int) -> Array:
    """Return the scales of many classes' scores, some columns at a time."""
    scales, target = np.empty(g.shape[1]), _smoothed(codes, weight, n_classes)
    step = max(1, _ENTRIES // (len(weight) * n_classes))
    for start in range(0, len(scales), step):
        columns = slice(start, start + step)
        scales[columns] = _scales(g[:, columns], target, weight)
    return scales


def _smoothed(codes: NDArray[np.intp], weight: Array, n_classes: int) -> Array:
    """Return each class's target, (samples, 1, classes): (N + c)/(N + 2c) for a sample's own.

    N is the weight of the sample's class, c the doubt; the other classes share what is left.
    """
    own = (codes[:, None] == np.arange(n_classes)).astype(float)
    mass = (weight @ own)[codes][:, None]
    doubt = np.where(own > 0, SMOOTH, SMOOTH / (n_classes - 1))
    return ((mass * own + doubt) / (mass + 2 * SMOOTH))[:, None]


def _derivatives(g: Array, target: Array, weight: Array, t: Array) -> tuple[Array, Array]:
    p = softmax(t[:, None] * g, axis=-1)
    mean = (p * g).sum(axis=-1)
    spread = (p * (g - mean[..., None]) ** 2).sum(axis=-1)
    return weight @ (mean - (target * g).sum(axis=-1)), weight @ spread


def _scales(g: Array, target: Array, weight: Array) -> Array:
    """Return where each slope is zero, by Newton's method in a bracket that only shrinks."""
    t = np.ones(g.shape[1])
    low, high = np.zeros_like(t), np.full_like(t, np.inf)
    for _ in range(_MOST_STEPS):
        slope, curvature = _derivatives(g, target, weight, t)
        low, high = np.where(slope < 0, t, low), np.where(slope < 0, high, t)
        with np.errstate(divide="ignore", invalid="ignore"):
            step = t - slope / curvature
        inside = (step >= low) & (step <= high)
        middle = np.where(np.isinf(high), 4.0 * t, (low + high) / 2)
        new = np.where(inside, step, middle)
        new = np.where(high <= _LEAST_SCALE, _LEAST_SCALE, new)
        moved = np.abs(new - t) > _LAST_STEP * t
        t = new
        if not moved.any():
            break
    return t

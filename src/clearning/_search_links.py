"""Links fitted to many candidates' scores at once: logit = t f + b, or softmax(t g).

Each column of scores has a scale t, one over its temperature, for each part of the samples. What is
minimised is the cross-entropy against smoothed targets, which is convex. Of one column and all
samples it is the fit of ``CoherenceCalibrator(u=0, smooth=0.5)``, with a free b that of
``offset=True``, and of many classes that of ``JointCoherenceCalibrator(u=0)``. Two classes are the
compiled core's; of many, arrays are of shape (samples, parts, columns, classes).
"""

from __future__ import annotations

from collections.abc import Iterator

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
    """Return the scales t and the offsets b, (parts, columns).

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_columns) or (n_samples, n_columns, n_classes)
        Held-out scores.
    codes : ndarray of shape (n_samples,)
        The place of each sample's class.
    weight : ndarray of shape (n_samples, n_parts)
        The samples' weights in each part; zero outside of it.
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
        np.asfortranarray(weight, dtype=np.float64),
        SMOOTH,
        np.inf if offset is None else offset,
    )
    shape = weight.shape[1], scores.shape[1]
    return scales.reshape(shape) / unit, offsets.reshape(shape)


def _temperatures(g: Array, codes: NDArray[np.intp], weight: Array, n_classes: int) -> Array:
    """Return the scales of all parts, each from that of all samples: a step or two is left."""
    scales = np.empty((weight.shape[1], g.shape[1]))
    for columns in _blocks(g.shape[1], weight.size * n_classes):
        t = np.ones((1, scales[0, columns].size))
        for parts in (weight.mean(axis=1, keepdims=True), weight):
            target = _smoothed(codes, parts, n_classes)
            t = _scales(g[:, None, columns], target[:, :, None, :], parts, t)
        scales[:, columns] = t
    return scales


def _blocks(n_columns: int, entries: int) -> Iterator[slice]:
    step = max(1, _ENTRIES // max(entries, 1))
    for start in range(0, n_columns, step):
        yield slice(start, min(start + step, n_columns))


def _smoothed(codes: NDArray[np.intp], weight: Array, n_classes: int) -> Array:
    """Return each class's target, (samples, parts, classes): (N + c)/(N + mc) for a sample's own.

    N is the weight that the part has of the sample's class, c the doubt and m the classes.
    """
    own = (codes[:, None] == np.arange(n_classes)).astype(float)
    mass = (weight.T @ own)[:, codes].T[:, :, None]
    return (mass * own[:, None, :] + SMOOTH) / (mass + n_classes * SMOOTH)


def _derivatives(g: Array, target: Array, weight: Array, t: Array) -> tuple[Array, Array]:
    p = softmax(t[..., None] * g, axis=-1)
    mean = (p * g).sum(axis=-1)
    slope = np.einsum("sg,sgk->gk", weight, mean - (target * g).sum(axis=-1))
    spread = (p * (g - mean[..., None]) ** 2).sum(axis=-1)
    return slope, np.einsum("sg,sgk->gk", weight, spread)


def _scales(g: Array, target: Array, weight: Array, start: Array) -> Array:
    """Return where each slope is zero, by Newton's method in a bracket that only shrinks."""
    t = np.repeat(start, weight.shape[1], axis=0)
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

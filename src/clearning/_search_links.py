"""Links fitted to many candidates' scores at once: logit = t f + b, or softmax(t g).

Each column of scores has a scale t, one over its temperature, for each part of the samples; all are
found together. What is minimised is the cross-entropy against smoothed targets, which is convex. Of
one column and all samples it is the fit of ``CoherenceCalibrator(u=0, smooth=0.5)``, with a free b
that of ``offset=True``, and of many classes that of ``JointCoherenceCalibrator(u=0)``.

Arrays are of shape (samples, parts, columns), and have the classes last where there are many.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax

from clearning._designs import Array

SMOOTH = 0.5
# In units of the largest score: scores of which less is made than this say nothing.
_LEAST_SCALE = 1e-3
_MOST_STEPS = 100
_MOST_HALVINGS = 40
_ROUNDING = 1e-12
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
    shape = weight.shape[1], scores.shape[1]
    scales, offsets = np.empty(shape), np.zeros(shape)
    for columns in _blocks(scores.shape[1], weight.size * (1 if scores.ndim == 2 else n_classes)):
        f = scores[:, None, columns]
        unit = np.abs(f).max(axis=(0, *range(3, f.ndim)))
        unit = np.where(unit > 0, unit, 1.0)
        f = f / (unit if f.ndim == 3 else unit[..., None])
        if offset is not None:
            t, offsets[:, columns] = _lines(f, codes, weight, offset)
        else:
            t = _temperatures(f, codes, weight, n_classes)
        scales[:, columns] = t / unit
    return scales, offsets


def _temperatures(f: Array, codes: NDArray[np.intp], weight: Array, n_classes: int) -> Array:
    """Return the scales of all parts, each from that of all samples: a step or two is left."""
    t = _gaussian_scale(f, codes) if n_classes == 2 else np.ones((1, f.shape[2]))
    for parts in (weight.mean(axis=1, keepdims=True), weight):
        targets = _smoothed(codes, parts, n_classes)
        if n_classes == 2:
            t = _scale(_single(f, targets[:, :, 1:], parts), t, parts.shape[1])
        else:
            t = _scale(_joint(f, targets[:, :, None, :], parts), t, parts.shape[1])
    return t


def _gaussian_scale(f: Array, codes: NDArray[np.intp]) -> Array:
    """Return the scale that would be best were the scores of either class normal, of one width."""
    f, positive = f[:, 0], codes == 1
    first, second = f[~positive], f[positive]
    within = (first.var(axis=0) * len(first) + second.var(axis=0) * len(second)) / len(f)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = (second.mean(axis=0) - first.mean(axis=0)) / within
    return np.clip(np.nan_to_num(t, nan=1.0), 1.0, 1e3)[None]


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


Derivatives = Callable[[Array], tuple[Array, Array]]


def _single(f: Array, target: Array, weight: Array) -> Derivatives:
    def derivatives(t: Array) -> tuple[Array, Array]:
        p = expit(t * f)
        slope = np.einsum("sg,sgk->gk", weight, (p - target) * f)
        return slope, np.einsum("sg,sgk->gk", weight, p * (1.0 - p) * f**2)

    return derivatives


def _joint(g: Array, target: Array, weight: Array) -> Derivatives:
    def derivatives(t: Array) -> tuple[Array, Array]:
        p = softmax(t[..., None] * g, axis=-1)
        mean = (p * g).sum(axis=-1)
        slope = np.einsum("sg,sgk->gk", weight, mean - (target * g).sum(axis=-1))
        spread = (p * (g - mean[..., None]) ** 2).sum(axis=-1)
        return slope, np.einsum("sg,sgk->gk", weight, spread)

    return derivatives


def _scale(derivatives: Derivatives, start: Array, n_parts: int) -> Array:
    """Return where each slope is zero, by Newton's method in a bracket that only shrinks."""
    t = np.repeat(start, n_parts, axis=0)
    low, high = np.zeros_like(t), np.full_like(t, np.inf)
    for _ in range(_MOST_STEPS):
        slope, curvature = derivatives(t)
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


def _lines(f: Array, codes: NDArray[np.intp], weight: Array, hold: float) -> tuple[Array, Array]:
    """Return t and b of all parts, each from those of all samples."""
    t, b = np.zeros((1, f.shape[2])), np.full((1, f.shape[2]), _log_odds(np.mean(codes == 1)))
    for parts in (weight.mean(axis=1, keepdims=True), weight):
        shape = parts.shape[1], f.shape[2]
        target = _smoothed(codes, parts, 2)[:, :, 1:]
        start = np.broadcast_to(t, shape), np.broadcast_to(b, shape)
        t, b = _line(f, target, parts[:, :, None], hold, *start)
    return t, b


def _line(
    f: Array, target: Array, weight: Array, hold: float, t: Array, b: Array
) -> tuple[Array, Array]:
    """Return t and b of each column, by Newton's method; long steps are halved to descend."""

    def value(t: Array, b: Array) -> Array:
        z = t * f + b
        return (weight * (np.logaddexp(0.0, z) - target * z)).sum(axis=0) + hold * b**2 / 2

    for _ in range(_MOST_STEPS):
        dt, db = _newton_step(t, b, f, target, weight, hold)
        # Scores are at most one in size: no logit moves by more than this. Up to one a step always
        # descends, as the loss's third derivative is at most its second.
        if (np.abs(dt) + np.abs(db)).max() > 1.0:
            dt, db = _descending(value, t, b, dt, db)
        t, b = t + dt, b + db
        if (np.abs(dt) <= _LAST_STEP * (1.0 + np.abs(t))).all():
            break
    # Scores that point the wrong way say nothing, and the rate is all there is.
    mean = (weight * target).sum(axis=0) / weight.sum(axis=0)
    flat = t < _LEAST_SCALE
    return np.where(flat, _LEAST_SCALE, t), np.where(flat, _log_odds(mean), b)


def _descending(
    value: Callable[[Array, Array], Array], t: Array, b: Array, dt: Array, db: Array
) -> tuple[Array, Array]:
    """Return the steps, halved until the value is no larger."""
    most = value(t, b) * (1.0 + _ROUNDING)
    for _ in range(_MOST_HALVINGS):
        worse = value(t + dt, b + db) > most
        if not worse.any():
            break
        dt, db = np.where(worse, dt / 2, dt), np.where(worse, db / 2, db)
    return np.where(worse, 0.0, dt), np.where(worse, 0.0, db)


def _newton_step(
    t: Array, b: Array, f: Array, target: Array, weight: Array, hold: float
) -> tuple[Array, Array]:
    p = expit(t * f + b)
    rest, curve = weight * (p - target), weight * (p * (1.0 - p))
    g_t, g_b = (rest * f).sum(axis=0), rest.sum(axis=0) + hold * b
    h_tt, h_tb, h_bb = (curve * f**2).sum(axis=0), (curve * f).sum(axis=0), curve.sum(axis=0)
    h_bb = h_bb + hold
    # A trace of the identity: scores that are all alike leave the step without a direction.
    h_tt, h_bb = h_tt + _ROUNDING * h_bb, h_bb * (1.0 + _ROUNDING)
    determinant = h_tt * h_bb - h_tb**2
    return (h_tb * g_b - h_bb * g_t) / determinant, (h_tb * g_t - h_tt * g_b) / determinant


def _log_odds(p: Any) -> Any:
    return np.log(p) - np.log1p(-p)

"""How good are the probabilities?  Proper scores and calibration errors, with sample weights.

Everything here speaks of two classes: ``y`` holds the labels, ``p`` the probabilities of the
positive one.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import rel_entr, xlog1py, xlogy
from sklearn.utils import check_consistent_length, column_or_1d

from clearning._door import check_labels, check_vector, check_weight, relative
from clearning._ranges import COUNT, Range

__all__ = [
    "ReliabilityCurve",
    "brier_score",
    "cross_entropy",
    "expected_calibration_error",
    "generalized_kl",
    "reliability_curve",
    "smooth_calibration_error",
]

Array = NDArray[np.float64]

_FINEST = 2**14


def cross_entropy(
    y: ArrayLike,
    p: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    pos_label: Any = None,
    eps: float = 0.0,
) -> float:
    """Mean of −[y = 1] log p − [y = 0] log(1 − p): the paper's EKL, elsewhere called log-loss.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Labels; {0, 1}, {−1, 1} or booleans, or any two labels with `pos_label`.
    p : array-like of shape (n_samples,)
        Probability of the positive class.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the samples.
    pos_label : label, default=None
        The positive class; None means 1.
    eps : float, default=0.0
        Probabilities are clipped to [eps, 1 − eps]. With 0, an event that was given no
        probability and came true costs infinity, as it should.

    Returns
    -------
    float
        In nats.

    Examples
    --------
    >>> from clearning.metrics import cross_entropy
    >>> y, p = [0, 0, 1, 1], [0.1, 0.4, 0.6, 0.9]
    >>> round(cross_entropy(y, p), 4)
    0.3081
    """
    Range(0.0, 0.5, closed="left").check("eps", eps)
    event, p, weight = _check(y, p, sample_weight, pos_label)
    p = np.clip(p, eps, 1.0 - eps)
    return _mean(-xlogy(event, p) - xlog1py(1.0 - event, -p), weight)


def generalized_kl(eta: ArrayLike, p: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
    """Mean of η log(η/p) + (1 − η) log((1 − η)/(1 − p)): the paper's GKL, for known η.

    Parameters
    ----------
    eta : array-like of shape (n_samples,)
        The true probability of the positive class.
    p : array-like of shape (n_samples,)
        Its estimate.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the samples.

    Returns
    -------
    float
        Zero if and only if p equals η; infinite where p excludes what η allows.

    Examples
    --------
    >>> from clearning.metrics import generalized_kl
    >>> round(generalized_kl([0.5, 0.9], [0.5, 0.8]), 4)
    0.0183
    """
    p, weight = _check_probabilities(p, sample_weight)
    eta = _check_probability(eta, "eta")
    check_consistent_length(eta, p)
    return _mean(rel_entr(eta, p) + rel_entr(1.0 - eta, 1.0 - p), weight)


def brier_score(
    y: ArrayLike,
    p: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    pos_label: Any = None,
) -> float:
    """Mean of ([y = 1] − p)²; parameters as in :func:`cross_entropy`.

    Examples
    --------
    >>> from clearning.metrics import brier_score
    >>> y, p = [0, 0, 1, 1], [0.1, 0.4, 0.6, 0.9]
    >>> round(brier_score(y, p), 4)
    0.085
    """
    event, p, weight = _check(y, p, sample_weight, pos_label)
    return _mean((event - p) ** 2, weight)


class ReliabilityCurve(NamedTuple):
    """The bins of a reliability diagram; only bins that hold a sample are listed.

    Attributes
    ----------
    prob_pred, prob_true : ndarray of shape (n_bins,)
        Weighted mean of the probabilities, and the share of the positive class, in each bin.
    weight : ndarray of shape (n_bins,)
        Sum of the sample weights in each bin.
    effective_size : ndarray of shape (n_bins,)
        Kish's effective number of samples, (Σw)²/Σw²: the count, where weights are equal.

    Examples
    --------
    >>> from clearning.metrics import reliability_curve
    >>> curve = reliability_curve([0, 0, 1, 1], [0.1, 0.4, 0.6, 0.9], n_bins=2)
    >>> curve.prob_true
    array([0., 1.])
    """

    prob_pred: Array
    prob_true: Array
    weight: Array
    effective_size: Array


def reliability_curve(
    y: ArrayLike,
    p: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    n_bins: int = 15,
    strategy: str = "uniform",
    pos_label: Any = None,
) -> ReliabilityCurve:
    """Predicted against observed probability, bin by bin.

    Parameters
    ----------
    y, p, sample_weight, pos_label
        As in :func:`cross_entropy`.
    n_bins : int, default=15
        Number of bins.
    strategy : {"uniform", "quantile"}, default="uniform"
        Bins of equal width, or of equal weight. Equal probabilities always share a bin.

    Returns
    -------
    ReliabilityCurve

    Examples
    --------
    >>> from clearning.metrics import reliability_curve
    >>> y, p = [0, 0, 1, 1], [0.1, 0.4, 0.6, 0.9]
    >>> reliability_curve(y, p, n_bins=2).prob_pred
    array([0.25, 0.75])
    """
    event, p, weight = _check(y, p, sample_weight, pos_label)
    which = np.searchsorted(_inner_edges(p, weight, n_bins, strategy), p)
    mass = np.asarray(np.bincount(which, weight), dtype=float)
    held = mass > 0
    mass, share = mass[held], relative(weight)
    sizes = np.bincount(which, share)[held]
    return ReliabilityCurve(
        prob_pred=np.bincount(which, share * p)[held] / sizes,
        prob_true=np.bincount(which, share * event)[held] / sizes,
        weight=mass,
        effective_size=sizes**2 / np.bincount(which, share**2)[held],
    )


def expected_calibration_error(
    y: ArrayLike,
    p: ArrayLike,
    *,
    n_bins: int = 15,
    strategy: str = "uniform",
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    """Mean over bins of the distance between the share of the positive class and the mean of p.

    Parameters are those of :func:`reliability_curve`. The value depends on the bins; for one that
    does not, see :func:`smooth_calibration_error`.

    Examples
    --------
    >>> from clearning.metrics import expected_calibration_error
    >>> y, p = [0, 0, 1, 1], [0.1, 0.4, 0.6, 0.9]
    >>> round(expected_calibration_error(y, p), 4)
    0.25
    """
    weight = check_weight(sample_weight, p)
    share = None if weight is None else relative(weight)
    curve = reliability_curve(y, p, share, n_bins=n_bins, strategy=strategy, pos_label=pos_label)
    return _mean(np.abs(curve.prob_true - curve.prob_pred), curve.weight)


def smooth_calibration_error(
    y: ArrayLike,
    p: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    """The largest mean of g(p)([y = 1] − p) over all 1-Lipschitz g: [0, 1] → [−1, 1].

    Free of bins and bandwidths, continuous in p, zero for calibrated probabilities, never above
    the calibration error without bins, and within a constant and a square of the distance to the
    nearest calibrated predictor (Błasiok, Gopalan, Hu and Nakkiran, 2023).

    Parameters
    ----------
    y, p, sample_weight, pos_label
        As in :func:`cross_entropy`.

    Returns
    -------
    float
        Between 0 and 1.

    Notes
    -----
    A linear programme on a chain, solved exactly by dynamic programming: the best value as a
    function of g at the current p is concave and piecewise linear, so its kinks are all that is
    kept. A gap d to the next p moves the kinks left of the maximum by −d and those right by +d; a
    residual r moves the maximum past kinks that change the slope by r in all. Above 2¹⁴ distinct
    probabilities the argument of g is rounded to a multiple of 2⁻¹⁴, which changes the value by at
    most 2⁻¹⁵ and keeps a million samples within seconds.

    Examples
    --------
    >>> from clearning.metrics import smooth_calibration_error
    >>> y, p = [0, 0, 1, 1], [0.1, 0.4, 0.6, 0.9]
    >>> round(smooth_calibration_error(y, p), 4)
    0.04
    """
    event, p, weight = _check(y, p, sample_weight, pos_label)
    values, inverse = np.unique(p, return_inverse=True)
    if len(values) > _FINEST:
        values, inverse = np.unique(np.round(p * _FINEST) / _FINEST, return_inverse=True)
    weight = relative(weight)
    residuals = np.bincount(inverse, weight * (event - p)) / weight.sum()
    gaps = np.diff(values, prepend=values[0])

    # (signed position before the shift, change of slope); heaps give the kinks next to the maximum.
    left: list[tuple[float, float]] = []
    right: list[tuple[float, float]] = []
    best = shift = 0.0
    for gap, residual in zip(gaps.tolist(), residuals.tolist()):
        shift += gap
        # By the symmetry g → −g, a negative residual is a positive one with the sides exchanged.
        ahead, behind = (right, left) if residual > 0 else (left, right)
        best += _climb(ahead, behind, abs(residual), shift)
    return float(best)


def _climb(
    ahead: list[tuple[float, float]],
    behind: list[tuple[float, float]],
    slope: float,
    shift: float,
) -> float:
    """Add a slope to the concave function and return by how much its maximum grows.

    Positions are measured along the climb and end at 1, where the bound on g is met.
    """
    gain = here = 0.0
    while slope > 0:
        position, change = heappop(ahead) if ahead else (np.inf, np.inf)
        position += shift
        if position >= 1.0:
            position, change = 1.0, np.inf
            ahead.clear()
        gain += slope * (position - here)
        here = position
        passed = min(slope, change)
        heappush(behind, (-here - shift, passed))
        if passed < change < np.inf:
            heappush(ahead, (here - shift, change - passed))
        slope -= passed
    return gain


def _inner_edges(p: Array, weight: Array, n_bins: int, strategy: str) -> Array:
    COUNT.check("n_bins", n_bins)
    levels = np.arange(1, n_bins) / n_bins
    if strategy == "uniform":
        return levels
    if strategy == "quantile":
        order = np.argsort(p, kind="stable")
        mass = np.cumsum(weight[order])
        return p[order[np.searchsorted(mass, levels * mass[-1])]]
    raise ValueError(f"strategy must be 'uniform' or 'quantile', got {strategy!r}.")


def _check(
    y: ArrayLike, p: ArrayLike, sample_weight: ArrayLike | None, pos_label: Any
) -> tuple[Array, Array, Array]:
    p, weight = _check_probabilities(p, sample_weight)
    y = column_or_1d(check_labels(y))
    check_consistent_length(y, p)
    labels = np.unique(y)
    if len(labels) > 2:
        raise ValueError(f"y must hold at most two classes, got {len(labels)}: {labels}.")
    if pos_label is None:
        if not any(set(labels.tolist()) <= allowed for allowed in ({0, 1}, {-1, 1})):
            raise ValueError(
                f"y takes value in {labels} and pos_label is not specified: either make y take "
                "value in {0, 1} or {-1, 1} or pass pos_label explicitly."
            )
        pos_label = 1
    elif pos_label not in labels and len(labels) == 2:
        raise ValueError(f"pos_label={pos_label!r} is not a valid label: it should be in {labels}.")
    return (y == pos_label).astype(float), p, weight


def _check_probabilities(p: ArrayLike, sample_weight: ArrayLike | None) -> tuple[Array, Array]:
    p = _check_probability(p, "p")
    weight = check_weight(sample_weight, p)
    return p, np.ones_like(p) if weight is None else weight


def _check_probability(values: ArrayLike, name: str) -> Array:
    checked = check_vector(name, values)
    if checked.min() < 0 or checked.max() > 1:
        raise ValueError(f"{name} has values outside [0, 1].")
    return checked


def _mean(values: Array, weight: Array) -> float:
    # An infinite value of weight zero does not count.
    held = weight > 0
    return float(np.average(values[held], weights=relative(weight)[held]))

"""Score calibrators: from a margin classifier's score f to the probability of a class."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import log_expit
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array, check_consistent_length, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from clearning.calibration._numerics import (
    BLOCK,
    Folded,
    Sample,
    coherence_derivatives,
    coherence_grid,
    coherence_logit,
    keep_sign,
    minimize,
    platt_derivatives,
    probabilities,
    summary,
)

Array = NDArray[np.float64]

# Above this many scores the minima are looked for on a summary and polished on the scores.
_MANY = 4096


class _ScoreCalibrator(BaseEstimator):
    """What the calibrators share: input checks, and probabilities from a logit."""

    classes_: NDArray[Any]

    def _logit(self, scores: Array) -> Array:
        raise NotImplementedError

    def predict_proba(self, scores: ArrayLike) -> Array:
        """Probabilities of scores.

        Parameters
        ----------
        scores : array-like of shape (n_samples,)
            Scores, positive on the side of ``classes_[1]``.

        Returns
        -------
        ndarray of shape (n_samples, 2)
            Columns in the order of ``classes_``; neither column loses digits near 0.
        """
        return self._map(probabilities, scores)

    def predict_log_proba(self, scores: ArrayLike) -> Array:
        """Logarithms of the probabilities, finite where a probability itself rounds to 0.

        Parameters
        ----------
        scores : array-like of shape (n_samples,)
            Scores, positive on the side of ``classes_[1]``.

        Returns
        -------
        ndarray of shape (n_samples, 2)
        """
        return self._map(lambda logit: (log_expit(-logit), log_expit(logit)), scores)

    def _map(self, columns: Callable[[Array], tuple[Array, Array]], scores: ArrayLike) -> Array:
        check_is_fitted(self)
        f = _check_scores(scores)
        result = np.empty((len(f), 2))
        for start in range(0, len(f), BLOCK):
            cut = slice(start, start + BLOCK)
            result[cut, 0], result[cut, 1] = columns(self._logit(f[cut]))
        return result

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.one_d_array = True
        tags.input_tags.two_d_array = False
        tags.target_tags.required = True
        return tags


class CoherenceCalibrator(_ScoreCalibrator):
    r"""Probabilities by the coherence function's own inverse link, fitted to scores.

    logit η̃(f) = log[1 + exp((f − u)/ρ)] − log[1 + exp(−(f + u)/ρ)], plus b with an offset.

    Parameters
    ----------
    rho : "fit" or float, default="fit"
        Temperature ρ > 0.
    u : "fit" or float, default="fit"
        Margin u ≥ 0. ``u=1.0`` is the method of Zhang, Dai and Jordan (Section 3.5) for an SVM;
        ``u=0.0`` is temperature scaling; fitted, the family contains both.
    offset : bool, default=False
        Whether to add a fitted offset b to the logit. The family then contains Platt's sigmoid,
        and the probabilities may contradict the sign of the score.
    smooth : bool, default=True
        Fit to Platt's smoothed targets (N₊ + 1)/(N₊ + 2) and 1/(N₋ + 2). False fits to the labels,
        as the paper does: on separable scores ρ then runs to the end of its range.

    Attributes
    ----------
    rho_, u_, offset_ : float
        ρ, u and b in use.
    cross_entropy_ : float
        Mean cross-entropy of the fit, against the targets it was fitted to.
    classes_ : ndarray of shape (2,)
        The labels; ``classes_[1]`` is the positive class.

    Notes
    -----
    Without an offset, η̃(f) > 1/2 exactly when f > 0, in floating point too: probabilities never
    contradict a prediction by the sign of the score. The cross-entropy can have several minima, so
    a coarse grid over log ρ (and u, at quantiles of \|f\|) brackets them, a safeguarded Newton
    method finds each, and the lowest is kept. The fit turns with the scores: multiplied by a
    constant, they lead to ρ and u multiplied by it, and to the same probabilities.

    Examples
    --------
    >>> import numpy as np
    >>> from clearning import CoherenceCalibrator
    >>> scores, y = np.array([-2.0, -1.0, -0.5, 0.3, 1.0, 2.0]), np.array([0, 0, 1, 0, 1, 1])
    >>> calibrator = CoherenceCalibrator().fit(scores, y)
    >>> (calibrator.predict_proba(scores).argmax(axis=1) == (scores > 0)).all()
    np.True_
    """

    rho_: float
    u_: float
    offset_: float
    cross_entropy_: float

    def __init__(
        self,
        *,
        rho: str | float = "fit",
        u: str | float = "fit",
        offset: bool = False,
        smooth: bool = True,
    ):
        self.rho = rho
        self.u = u
        self.offset = offset
        self.smooth = smooth

    def fit(
        self, scores: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> CoherenceCalibrator:
        """Fit ρ, u and b, as far as they are not given.

        Parameters
        ----------
        scores : array-like of shape (n_samples,)
            Scores, positive on the side of the larger label.
        y : array-like of shape (n_samples,)
            Labels of two classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights; a weight of 2 is the sample twice.

        Returns
        -------
        CoherenceCalibrator
            Itself.
        """
        _check_parameter("rho", self.rho, or_zero=False)
        _check_parameter("u", self.u, or_zero=True)
        sample, self.classes_ = _check_fit(scores, y, sample_weight, self.smooth)
        scale = sample.scale
        best = _minima(sample, _Family.of(self, scale))[0]
        self.rho_ = scale * float(np.exp(best.theta[0])) if self.rho == "fit" else float(self.rho)
        self.u_ = scale * float(best.theta[1]) if self.u == "fit" else float(self.u)
        self.offset_ = float(best.theta[2])
        self.cross_entropy_ = float(best.value)
        if best.at_end:
            warnings.warn(
                "The cross-entropy is least at the end of the range searched: "
                f"rho_={self.rho_:.3g} with u_={self.u_:.3g}, for scores of up to {scale:.3g} in "
                "size. At the small end the scores separate the classes, at the large end they "
                "say nothing of them.",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def _logit(self, scores: Array) -> Array:
        logit = coherence_logit(scores, self.rho_, self.u_)
        return logit + self.offset_ if self.offset else keep_sign(logit, scores)


class PlattCalibrator(_ScoreCalibrator):
    """Platt's sigmoid η(f) = 1/(1 + exp(A f + B)), by the algorithm of Lin, Lin and Weng.

    Parameters
    ----------
    smooth : bool, default=True
        Fit to Platt's smoothed targets (N₊ + 1)/(N₊ + 2) and 1/(N₋ + 2); False is plain maximum
        likelihood, which has no finite optimum on separable scores and then warns.

    Attributes
    ----------
    a_, b_ : float
        A and B.
    classes_ : ndarray of shape (2,)
        The labels; ``classes_[1]`` is the positive class.

    Notes
    -----
    Newton's method with a line search, from A = 0 and B = log((N₋ + 1)/(N₊ + 1)). B moves the
    point where the probability is one half, and nothing keeps A negative: these probabilities can
    contradict the sign of the score.

    References
    ----------
    J. Platt (1999), Probabilistic outputs for support vector machines. H.-T. Lin, C.-J. Lin and
    R. C. Weng (2007), A note on Platt's probabilistic outputs for support vector machines.
    """

    a_: float
    b_: float

    def __init__(self, *, smooth: bool = True):
        self.smooth = smooth

    def fit(
        self, scores: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> PlattCalibrator:
        """Fit A and B; parameters as in :meth:`CoherenceCalibrator.fit`."""
        sample, self.classes_ = _check_fit(scores, y, sample_weight, self.smooth)
        negative, positive = sample.masses
        start = np.array([0.0, np.log((positive + 1.0) / (negative + 1.0))])
        reach = np.full(2, 1e15)
        for data in _stages(sample):
            start, _, converged = minimize(partial(platt_derivatives, data), start, -reach, reach)
        self.a_, self.b_ = -float(start[0]) / sample.scale, -float(start[1])
        if not converged or (not self.smooth and sample.separable):
            warnings.warn(
                f"No finite A and B maximise the likelihood: stopped at A={self.a_:.3g}, "
                f"B={self.b_:.3g}. The scores separate the classes; smooth=True has an optimum.",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def _logit(self, scores: Array) -> Array:
        with np.errstate(over="ignore"):
            return -(self.a_ * scores + self.b_)


class SollichCalibrator(_ScoreCalibrator):
    """Sollich's probability of an SVM's score; there is nothing to fit.

    logit η(f) = 2f inside the margin, \\|f\\| ≤ 1, and f + sign(f) outside it.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels; ``classes_[1]`` is the positive class.

    References
    ----------
    P. Sollich (2002), Bayesian methods for support vector machines: evidence and predictive class
    probabilities.
    """

    def fit(
        self, scores: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> SollichCalibrator:
        """Learn the labels; parameters as in :meth:`CoherenceCalibrator.fit`."""
        _, self.classes_ = _check_fit(scores, y, sample_weight, smooth=False)
        return self

    def _logit(self, scores: Array) -> Array:
        return keep_sign(scores + np.clip(scores, -1.0, 1.0), scores)


class _Minimum(NamedTuple):
    theta: Array
    value: float
    at_end: bool


class _Family(NamedTuple):
    """What of (log ρ, u, b) is free, in units of the largest score; None means free."""

    rho: float | None
    u: float | None
    offset: bool

    @classmethod
    def of(cls, calibrator: CoherenceCalibrator, scale: float) -> _Family:
        rho, u = (
            None if value == "fit" else float(value) / scale
            for value in (calibrator.rho, calibrator.u)
        )
        return cls(rho, u, bool(calibrator.offset))


def _stages(sample: Sample) -> tuple[Sample | Folded, ...]:
    """What to fit to, one after the other: a close summary of many scores, then all of them."""
    if len(sample.f) > _MANY:
        return summary(sample, bits=9), sample
    return (sample.folded(),)


def _minima(sample: Sample, family: _Family) -> list[_Minimum]:
    """Minima of the cross-entropy, lowest first: bracketed on a grid, polished by Newton."""
    stages = _stages(sample)
    few = summary(stages[0], bits=4) if len(stages) > 1 else sample.folded()
    rhos, us = _axes(few, family)
    grid_rho, grid_u = (axis.ravel() for axis in np.meshgrid(rhos, us, indexing="ij"))
    values, offsets = coherence_grid(few, grid_rho, grid_u, offset=family.offset)
    found = [
        _Minimum(np.array([np.log(grid_rho[i]), grid_u[i], offsets[i]]), values[i], False)
        for i in _lowest_cells(values.reshape(len(rhos), len(us)))
    ]
    reach = 50.0 if family.offset else 0.0
    lower = np.array([np.log(rhos[0]), us[0], -reach])
    upper = np.array([np.log(rhos[-1]), us[-1], reach])

    def polish(data: Sample | Folded, start: Array) -> _Minimum:
        theta, value, _ = minimize(
            partial(coherence_derivatives, data), start, lower, upper, max_step=1.0
        )
        at_end = family.rho is None and theta[0] in (lower[0], upper[0])
        return _Minimum(theta, value, bool(at_end))

    for data in stages:
        found = _distinct([polish(data, minimum.theta) for minimum in found])
        # A summary's values are close to the sample's: what is far above its best is out.
        if data is not stages[-1]:
            found = [m for m in found if m.value <= found[0].value * (1.0 + 1e-4)]
    return found


def _axes(data: Folded, family: _Family) -> tuple[Array, Array]:
    """The grid: ρ evenly in log ρ over all scales the scores have, u at their quantiles."""
    z = np.sort(data.z[(data.z > 0) & (data.toward + data.away > 0)])
    z = z if len(z) else np.ones(1)
    if family.u is None:
        # Where ρ → 0 is best, u lies just above the largest score that points the wrong way.
        wrong = data.z[data.away > data.toward].max(initial=0.0)
        above = z[np.searchsorted(z, wrong, side="right") :][:1]
        quantiles = np.quantile(z, np.linspace(0.0, 1.0, 11))
        us = np.unique(np.concatenate([[0.0], quantiles, (wrong + above) / 2, [2.0 * z[-1]]]))
        spacing = 0.35
    else:
        us = np.array([family.u])
        spacing = 0.1
    if family.rho is not None:
        return np.array([family.rho]), us
    scales = [np.quantile(z, 0.01), z[-1]] + ([family.u] if family.u else [])
    low, high = np.log(1e-3 * min(scales)), np.log(1e3 * max(scales))
    return np.exp(np.linspace(low, high, int((high - low) / spacing) + 1)), us


def _lowest_cells(values: Array) -> NDArray[np.intp]:
    """Flat indices of the grid's local minima, lowest first; of equal neighbours, the first."""
    padded = np.pad(values, 1, constant_values=np.inf)
    rows, columns = values.shape
    shifted = [padded[i : i + rows, j : j + columns] for i in range(3) for j in range(3)]
    before, after = np.min(shifted[:4], axis=0), np.min(shifted[5:], axis=0)
    minima = np.flatnonzero(((values < before) & (values <= after)).ravel())
    return minima[np.argsort(values.ravel()[minima], kind="stable")]


def _distinct(minima: list[_Minimum]) -> list[_Minimum]:
    """Minima, lowest first, each once."""
    kept: list[_Minimum] = []
    for minimum in sorted(minima, key=lambda minimum: minimum.value):
        if not any(np.allclose(minimum.theta, other.theta, rtol=1e-6, atol=1e-6) for other in kept):
            kept.append(minimum)
    return kept


def _check_scores(scores: ArrayLike) -> Array:
    return check_array(column_or_1d(scores), ensure_2d=False, dtype=np.float64, input_name="scores")


def _check_fit(
    scores: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None, smooth: bool
) -> tuple[Sample, NDArray[Any]]:
    """The sample, and the two labels."""
    f, labels = _check_scores(scores), column_or_1d(y)
    check_consistent_length(f, labels)
    classes = _two_classes(labels)
    positive = labels == classes[1]
    if sample_weight is None:
        weight, n_positive = None, float(np.count_nonzero(positive))
        n_negative = len(f) - n_positive
    else:
        weight = check_array(
            column_or_1d(sample_weight),
            ensure_2d=False,
            dtype=np.float64,
            input_name="sample_weight",
        )
        check_consistent_length(f, weight)
        if weight.min() < 0:
            raise ValueError("Negative values in data passed to `sample_weight`.")
        n_positive, n_negative = float(weight[positive].sum()), float(weight[~positive].sum())
        if n_positive == 0 or n_negative == 0:
            raise ValueError("sample_weight must leave some weight to each of the two classes.")
    targets = (1.0 / (n_negative + 2.0), (n_positive + 1.0) / (n_positive + 2.0))
    sample = Sample(
        f=f,
        scale=float(max(f.max(), -f.min())) or 1.0,
        positive=positive,
        weight=weight,
        masses=(n_negative, n_positive),
        targets=targets if smooth else (0.0, 1.0),
    )
    return sample, classes


def _two_classes(y: NDArray[Any]) -> NDArray[Any]:
    """The two labels in order; `np.unique` would sort a million numbers."""
    if y.dtype.kind in "biuf" and len(y):
        low, high = y.min(), y.max()
        if low < high and np.all((y == low) | (y == high)):
            return np.array([low, high])
    check_classification_targets(y)
    classes = np.unique(y)
    if len(classes) != 2:
        raise ValueError(f"y must hold two classes, got {len(classes)}: {classes}.")
    return classes


def _check_parameter(name: str, value: Any, *, or_zero: bool) -> None:
    if isinstance(value, str) and value == "fit":
        return
    real = isinstance(value, Real) and not isinstance(value, bool)
    if not real or not np.isfinite(value) or value < 0 or (value == 0 and not or_zero):
        sign = ">=" if or_zero else ">"
        raise ValueError(f"{name} must be 'fit' or a finite number {sign} 0, got {value!r}.")

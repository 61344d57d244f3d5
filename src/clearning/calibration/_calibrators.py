"""Score calibrators: from a margin classifier's score f to the probability of a class."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import log_expit
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from clearning._door import (
    check_flag,
    check_labels,
    check_numbers,
    check_vector,
    check_weight,
    relative,
)
from clearning._ranges import NON_NEGATIVE, POSITIVE
from clearning.calibration._numerics import (
    BLOCK,
    Sample,
    bend,
    coherence_logit,
    keep_sign,
    minimize,
    platt_derivatives,
    probabilities,
)
from clearning.calibration._search import Family, best_minimum, stages

Array = NDArray[np.float64]

# Larger than any sum of weights that are at most one.
_UTTER_DOUBT = 1e300


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

        Takes and returns what :meth:`predict_proba` does.
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
    u : "fit", "fit-one" or float, default="fit"
        Margin u ≥ 0. ``u=1.0`` is the method of Zhang, Liu, Dai and Jordan (Section 3.5) for an
        SVM; ``u=0.0`` is temperature scaling. "fit-one" fits one margin, a family that contains
        both; "fit" one for negative and one for positive scores, so that either class may be the
        one of whom little can be said near zero. With an offset there is one margin only.
    offset : bool, default=False
        Whether to add a fitted offset b to the logit. The family then contains Platt's sigmoid,
        and the probabilities may contradict the sign of the score.
    tail : {"auto", "linear", "log"}, default="auto"
        What large scores are worth: "linear" takes them as they are, "log" makes them grow as
        k (1 + log(\|f\|/k)) beyond k, a typical size of the scores, (mean of √\|f\|)². "auto" is
        linear for a u that is given, and whichever fits better for one that is fitted.
    smooth : bool or float, default=True
        Fit to the smoothed targets (N₊ + c)/(N₊ + 2c) and c/(N₋ + 2c), with c = ``smooth``. True
        is c = 1, Platt's targets; c = 1/2 doubts the labels less, which pays where few scores are
        on the wrong side. False fits to the labels, as the paper does: on separable scores ρ then
        runs to the end of its range.

    Attributes
    ----------
    knee_ : float
        k, from which on scores grow as their logarithm; infinite for a linear tail.
    rho_, offset_ : float
        ρ and b in use.
    margins_ : tuple of two floats
        The margins u of negative and of positive scores.
    u_ : float
        The margin; where there are two, their mean.
    cross_entropy_ : float
        Mean cross-entropy of the fit, against the targets it was fitted to.
    classes_ : ndarray of shape (2,)
        The labels; ``classes_[1]`` is the positive class.

    Notes
    -----
    Without an offset, η̃(f) > 1/2 exactly when f > 0, in floating point too: probabilities never
    contradict a prediction by the sign of the score. They rise with the score always.

    The cross-entropy can have several minima, so a coarse grid over log ρ (and u, at quantiles of
    \|f\|) brackets them, a safeguarded Newton method finds each, and the lowest is kept. Scores
    multiplied by a constant lead to ρ, u and k multiplied by it, and to the same probabilities.

    Examples
    --------
    >>> import numpy as np
    >>> from clearning import CoherenceCalibrator
    >>> scores, y = np.array([-2.0, -1.0, -0.5, 0.3, 1.0, 2.0]), np.array([0, 0, 1, 0, 1, 1])
    >>> calibrator = CoherenceCalibrator().fit(scores, y)
    >>> (calibrator.predict_proba(scores).argmax(axis=1) == (scores > 0)).all()
    np.True_
    """

    knee_: float
    rho_: float
    margins_: tuple[float, float]
    u_: float
    offset_: float
    cross_entropy_: float

    def __init__(
        self,
        *,
        rho: str | float = "fit",
        u: str | float = "fit",
        offset: bool = False,
        tail: str = "auto",
        smooth: bool | float = True,
    ):
        self.rho = rho
        self.u = u
        self.offset = offset
        self.tail = tail
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
        POSITIVE.check("rho", self.rho, "fit")
        NON_NEGATIVE.check("u", self.u, "fit", "fit-one")
        if self.tail not in ("auto", "linear", "log"):
            raise ValueError(f"tail must be 'auto', 'linear' or 'log', got {self.tail!r}.")
        check_flag("offset", self.offset)
        NON_NEGATIVE.check("smooth", self.smooth, True, False)
        sample, self.classes_ = _check_fit(scores, y, sample_weight, self.smooth)
        best, knee = best_minimum(sample, self._family(sample.scale), self._knees(sample))
        self.knee_ = sample.scale * knee
        log_rho, below, above, offset = best.theta.tolist()
        self.rho_ = sample.scale * float(np.exp(log_rho)) if self.rho == "fit" else float(self.rho)
        if isinstance(self.u, str):
            self.margins_ = sample.scale * below, sample.scale * above
        else:
            self.margins_ = float(self.u), float(self.u)
        self.u_ = sum(self.margins_) / 2
        self.offset_ = offset
        self.cross_entropy_ = float(best.value)
        if best.at_end:
            warnings.warn(
                "The cross-entropy is least at the end of the range searched, at "
                f"rho_={self.rho_:.3g} for scores of up to {sample.scale:.3g} in size. At the "
                "small end the scores separate the classes, at the large end they say nothing of "
                "them.",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def _family(self, scale: float) -> Family:
        return Family(
            rho=None if isinstance(self.rho, str) else float(self.rho) / scale,
            u=None if isinstance(self.u, str) else float(self.u) / scale,
            offset=bool(self.offset),
            margins=2 if self.u == "fit" and not self.offset else 1,
        )

    def _knees(self, sample: Sample) -> list[float]:
        """The knees to try, the linear tail's first, which wins where they are equally good."""
        linear = self.tail == "linear" or (self.tail == "auto" and not isinstance(self.u, str))
        typical = 0.0 if linear else sample.typical
        if typical == 0.0:
            return [np.inf]
        return [typical] if self.tail == "log" else [np.inf, typical]

    def _logit(self, scores: Array) -> Array:
        u = np.where(scores > 0, self.margins_[1], self.margins_[0])
        bent = np.copysign(bend(np.abs(scores), self.knee_), scores)
        logit = coherence_logit(bent, self.rho_, u)
        return logit + self.offset_ if self.offset else keep_sign(logit, scores)


class PlattCalibrator(_ScoreCalibrator):
    """Platt's sigmoid η(f) = 1/(1 + exp(A f + B)), by the algorithm of Lin, Lin and Weng.

    Parameters
    ----------
    smooth : bool or float, default=True
        Fit to the smoothed targets (N₊ + c)/(N₊ + 2c) and c/(N₋ + 2c), with c = ``smooth``; True
        is Platt's c = 1. False is plain maximum likelihood, which has no finite optimum on
        separable scores and then warns.

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

    Examples
    --------
    >>> from clearning import PlattCalibrator
    >>> calibrator = PlattCalibrator().fit([-2.0, -1.0, -0.5, 0.3, 1.0, 2.0], [0, 0, 1, 0, 1, 1])
    >>> calibrator.predict_proba([0.0, 2.0]).round(2)
    array([[0.49, 0.51],
           [0.2 , 0.8 ]])
    """

    a_: float
    b_: float

    def __init__(self, *, smooth: bool | float = True):
        self.smooth = smooth

    def fit(
        self, scores: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> PlattCalibrator:
        """Fit A and B; parameters as in :meth:`CoherenceCalibrator.fit`."""
        NON_NEGATIVE.check("smooth", self.smooth, True, False)
        sample, self.classes_ = _check_fit(scores, y, sample_weight, self.smooth)
        negative, positive = sample.masses
        start = np.array([0.0, np.log((positive + 1.0) / (negative + 1.0))])
        reach = np.full(2, 1e15)
        for data in stages(sample):
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

    Examples
    --------
    >>> from clearning import SollichCalibrator
    >>> calibrator = SollichCalibrator().fit([-2.0, 2.0], [0, 1])
    >>> calibrator.predict_proba([0.0, 2.0]).round(2)
    array([[0.5 , 0.5 ],
           [0.05, 0.95]])
    """

    def fit(
        self, scores: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> SollichCalibrator:
        """Learn the labels; parameters as in :meth:`CoherenceCalibrator.fit`."""
        _, self.classes_ = _check_fit(scores, y, sample_weight, smooth=False)
        return self

    def _logit(self, scores: Array) -> Array:
        return keep_sign(scores + np.clip(scores, -1.0, 1.0), scores)


def _check_scores(scores: ArrayLike) -> Array:
    checked = check_numbers("scores", scores)
    # A column is as good as a row of numbers.
    return check_vector("scores", checked[:, 0] if checked.shape[1:] == (1,) else checked)


def _check_fit(
    scores: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None, smooth: float
) -> tuple[Sample, NDArray[Any]]:
    """The sample, and the two labels."""
    f, labels = _check_scores(scores), column_or_1d(check_labels(y))
    check_consistent_length(f, labels)
    classes = _two_classes(labels)
    positive = labels == classes[1]
    weight, doubt = check_weight(sample_weight, f), float(smooth)
    if weight is None:
        n_positive = float(np.count_nonzero(positive))
        n_negative = len(f) - n_positive
    else:
        # In units of the largest weight nothing overflows; against weights that are next to
        # nothing, any doubt is next to certain.
        with np.errstate(over="ignore"):
            doubt = min(doubt / weight.max(), _UTTER_DOUBT)
        weight = relative(weight)
        n_positive, n_negative = float(weight[positive].sum()), float(weight[~positive].sum())
        if n_positive == 0 or n_negative == 0:
            raise ValueError("sample_weight must leave some weight to each of the two classes.")
        if not weight.all():
            held = weight > 0
            f, positive, weight = f[held], positive[held], weight[held]
    targets = (
        doubt / (n_negative + 2.0 * doubt),
        (n_positive + doubt) / (n_positive + 2.0 * doubt),
    )
    sample = Sample(
        f=f,
        scale=float(max(f.max(), -f.min())) or 1.0,
        positive=positive,
        weight=weight,
        masses=(n_negative, n_positive),
        targets=targets,
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

"""The joint calibrator: from m scores to m probabilities, by the coherence function's link."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq, minimize, minimize_scalar
from scipy.special import softmax
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from clearning._door import check_labels, check_numbers, check_weight
from clearning._problem import encode_labels
from clearning._ranges import NON_NEGATIVE
from clearning.losses import MultiCoherence

Array = NDArray[np.float64]

# Temperatures, in units of the scores' spread, between which the best one is sought.
_COLDEST, _HOTTEST = 1e-6, 1e6
# Margins in units of the temperature beyond which probabilities change no more.
_LARGEST_MARGIN = 50.0


class JointCoherenceCalibrator(BaseEstimator):
    """Probabilities of m classes from m scores, by the joint link of the coherence function.

    η_k ∝ a_k (a_k + e^{u/ρ} Σ_{j≠k} a_j), a = exp(g/ρ); at u = 0 softmax(g/ρ), temperature scaling.
    The temperature, and the margin where it is to be fitted, minimise the cross-entropy. The
    classes keep their scores' order, so `predict` stays the largest score's.

    Parameters
    ----------
    u : float or "fit", default="fit"
        Margin, >= 0, or "fit" to fit it too.
    smooth : float, default=0.5
        Doubt of the labels: a sample's target is (N_c + smooth)/(N_c + 2 smooth) for its own class,
        and the others share the rest. Keeps scores that separate the classes from probabilities of
        0 and 1.

    Attributes
    ----------
    rho_, u_ : float
        The temperature and the margin.
    classes_ : ndarray of shape (n_classes,)
        The labels, in the order of the scores' columns.

    Examples
    --------
    >>> import numpy as np
    >>> from clearning import JointCoherenceCalibrator
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 3, 300)
    >>> scores = np.eye(3)[y] + rng.normal(size=(300, 3))
    >>> calibrator = JointCoherenceCalibrator().fit(scores, y)
    >>> bool((calibrator.predict_proba(scores).argmax(axis=1) == scores.argmax(axis=1)).all())
    True
    """

    def __init__(self, u: float | str = "fit", smooth: float = 0.5) -> None:
        self.u = u
        self.smooth = smooth

    def fit(
        self, scores: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> JointCoherenceCalibrator:
        """Fit temperature and margin.

        Parameters
        ----------
        scores : array-like of shape (n_samples, n_classes)
            Scores, preferably of samples that the scoring model has not seen.
        y : array-like of shape (n_samples,)
            Labels, of which there are as many as columns.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights.

        Returns
        -------
        self : JointCoherenceCalibrator
        """
        margin = NON_NEGATIVE.check("u", self.u, "fit")
        smooth = NON_NEGATIVE.check("smooth", self.smooth)
        g = _check_scores(scores)
        classes, codes = encode_labels(np.asarray(check_labels(y)), many=True)
        if len(classes) != g.shape[1] or len(codes) != len(g):
            raise ValueError(
                f"scores of shape {g.shape} need {g.shape[1]} classes and {len(g)} labels; got "
                f"{len(classes)} classes and {len(codes)} labels."
            )
        weight = check_weight(sample_weight, g)
        weight = np.ones(len(g)) if weight is None else weight
        self.classes_ = classes
        self.rho_, self.u_ = _fit(g, _targets(codes, weight, smooth), weight, margin)
        return self

    def predict_proba(self, scores: ArrayLike) -> NDArray[Any]:
        """Return the probabilities of scores of shape (n_samples, n_classes)."""
        check_is_fitted(self)
        return MultiCoherence(self.rho_, self.u_).inverse_link(_check_scores(scores))

    def predict_log_proba(self, scores: ArrayLike) -> NDArray[Any]:
        """Return the logarithms of the probabilities."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(scores))


def is_joint(calibrator: Any) -> bool:
    """Whether a calibrator takes the scores of all classes at once."""
    return isinstance(calibrator, JointCoherenceCalibrator)


def _check_scores(scores: ArrayLike) -> Array:
    g = check_numbers("scores", scores)
    if g.ndim != 2 or g.shape[1] < 2:
        raise ValueError(f"scores must have a row a sample and a column a class; got {g.shape}.")
    return g


def _targets(codes: NDArray[np.intp], weight: Array, smooth: float) -> Array:
    m = int(codes.max()) + 1
    counts = np.bincount(codes, weights=weight, minlength=m)
    total = counts + 2 * smooth
    # As much for each of them would doubt a label the more the more classes there are.
    targets = np.repeat((smooth / (m - 1) / total)[codes][:, None], m, axis=1)
    targets[np.arange(len(codes)), codes] = ((counts + smooth) / total)[codes]
    return targets


def _temperature(g: Array, targets: Array, weight: Array, spread: float) -> float:
    """Return the best ρ of softmax(g/ρ): where the slope of a function convex in 1/ρ vanishes."""

    def slope(log_rho: float) -> float:
        rho = np.exp(log_rho)
        return float(weight @ ((softmax(g / rho, axis=1) - targets) * g).sum(axis=1))

    hot, cold = np.log(_HOTTEST * spread), np.log(_COLDEST * spread)
    if slope(hot) >= 0.0:
        return float(np.exp(hot))
    if slope(cold) <= 0.0:
        return float(np.exp(cold))
    return float(np.exp(brentq(slope, cold, hot, xtol=1e-14, rtol=1e-14)))


def _fit(g: Array, targets: Array, weight: Array, u: float | str) -> tuple[float, float]:
    centred = g - g.mean(axis=1, keepdims=True)
    spread = float(np.sqrt((centred**2).mean())) or 1.0

    def entropy(rho: float, margin: float) -> float:
        eta = MultiCoherence(rho, margin).inverse_link(g)
        logs = np.log(np.maximum(eta, np.finfo(float).tiny))
        return float(-(weight @ (targets * logs).sum(axis=1)) / weight.sum())

    if u == 0.0:
        return _temperature(g, targets, weight, spread), 0.0
    low, high = np.log(_COLDEST * spread), np.log(_HOTTEST * spread)
    # A coarse look first: in log ρ the cross-entropy can have more than one valley.
    grid = np.linspace(low, high, 61)
    fixed = 0.0 if u == "fit" else float(u)
    values = [entropy(np.exp(t), fixed) for t in grid]
    best = int(np.argmin(values))
    valley = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
    options = {"xatol": 1e-10}
    found = minimize_scalar(
        lambda t: entropy(np.exp(t), fixed), bounds=valley, method="bounded", options=options
    )
    if u != "fit":
        return float(np.exp(found.x)), fixed
    # The margin in units of the temperature, from none upwards.
    joint = minimize(
        lambda x: entropy(np.exp(x[0]), x[1] * np.exp(x[0])),
        [found.x, 0.1],
        bounds=[(low, high), (0.0, _LARGEST_MARGIN)],
        method="L-BFGS-B",
    )
    if joint.fun >= found.fun:
        return float(np.exp(found.x)), 0.0
    return float(np.exp(joint.x[0])), float(joint.x[1] * np.exp(joint.x[0]))

"""Losses of the margin z = y f: value, derivatives, conjugate, link and inverse link.

One sentence unites most of them: V_{ρ,u}(z) = max over s in [0, 1] of s (u − z) + ρ H(s), with H
the binary entropy. The temperature ρ leads from the logistic loss (u = 0, ρ = 1) to the hinge
(u = 1, ρ → 0). Everything here is plain NumPy, elementwise, and exact at the limits: this is the
readable truth that the compiled core is tested against.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, wraps
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import entr, xlog1py, xlogy

__all__ = [
    "CLoss",
    "Coherence",
    "Exponential",
    "Hinge",
    "HuberizedHinge",
    "Logistic",
    "Loss",
    "MajorizationLoss",
    "SquaredHinge",
    "make_loss",
]

Array = NDArray[np.float64]


def _set_positive(loss: Loss, name: str, *, or_zero: bool = False) -> None:
    """Make the parameter of that name a float, or raise unless it is finite and > 0 (or >= 0)."""
    value = getattr(loss, name)
    allowed = f"a finite number {'>=' if or_zero else '>'} 0"
    real = isinstance(value, Real) and not isinstance(value, bool)
    if not real or not np.isfinite(value) or value < 0 or (value == 0 and not or_zero):
        raise ValueError(f"{name} must be {allowed}, got {value!r}.")
    object.__setattr__(loss, name, float(value))


def _elementwise(
    name: str, low: float = -np.inf, high: float = np.inf
) -> Callable[[Callable[[Any, Array], Array]], Callable[[Any, ArrayLike], Any]]:
    """Let a method on float64 arrays take anything real: scalars in, scalars out, float32 kept.

    `name` is the argument's name in messages, [`low`, `high`] what is allowed. The work is done in
    double precision, so a float32 result is exact to float32.
    """

    def decorate(method: Callable[[Any, Array], Array]) -> Callable[[Any, ArrayLike], Any]:
        @wraps(method)
        def wrapper(self: Any, x: ArrayLike) -> Any:
            given = np.asarray(x)
            if given.dtype.kind not in "fiub":
                raise ValueError(f"{name} must be real numbers, got dtype {given.dtype}.")
            values = given.astype(np.float64, copy=False)
            if np.isnan(values).any():
                raise ValueError(f"{name} must be real numbers, got nan.")
            outside = (values < low) | (values > high)
            if outside.any():
                raise ValueError(f"{name} must lie in [{low}, {high}], got {values[outside][0]}.")
            # exp(-inf) = 0 and log(0) = -inf are the limits wanted here, not accidents.
            with np.errstate(over="ignore", under="ignore", divide="ignore"):
                result = np.asarray(method(self, values))
                return result.astype(np.float32 if given.dtype == np.float32 else np.float64)[()]

        return wrapper

    return decorate


def _sigmoid(t: Array) -> Array:
    """1 / (1 + exp(-t)) to full relative accuracy in both tails."""
    small = np.exp(-np.abs(t))
    return np.where(t >= 0, 1.0, small) / (1.0 + small)


def _logit(eta: Array) -> Array:
    """log(eta / (1 - eta)) to full relative accuracy, near one half too."""
    near_half = np.abs(eta - 0.5) <= 0.25
    return np.where(near_half, 2.0 * np.arctanh(2.0 * eta - 1.0), np.log(eta) - np.log1p(-eta))


class Loss:
    """A convex loss of the margin.

    Attributes
    ----------
    name : str
        The name by which estimators know the loss.
    has_link : bool
        Whether `inverse_link` maps every score into the open interval (0, 1), so that the loss has
        class probabilities of its own, with a finite log-loss.

    Notes
    -----
    `conjugate(s)` is the convex conjugate φ*(−s) = sup over z of −s z − φ(z); s ≥ 0 is the weight
    of a sample, and outside its domain the value is +inf. `link(eta)` is the minimiser over f of
    η φ(f) + (1−η) φ(−f), and `inverse_link` its inverse.
    """

    name: ClassVar[str]
    has_link: ClassVar[bool] = False

    def value(self, z: ArrayLike) -> Any:
        """φ(z)."""
        raise NotImplementedError

    def gradient(self, z: ArrayLike) -> Any:
        """φ'(z)."""
        raise NotImplementedError

    def hessian(self, z: ArrayLike) -> Any:
        """φ''(z)."""
        raise NotImplementedError

    def conjugate(self, s: ArrayLike) -> Any:
        """φ*(−s) = sup over z of −s z − φ(z)."""
        raise NotImplementedError

    def __getattr__(self, attribute: str) -> Any:
        message = f"{type(self).__name__!r} object has no attribute {attribute!r}"
        if attribute in ("link", "inverse_link"):
            message += (
                ": this loss has no link, and so no class probabilities of its own; "
                "wrap the classifier in CalibratedMarginClassifier for those"
            )
        raise AttributeError(message)


@dataclass(frozen=True)
class Coherence(Loss):
    r"""The coherence function V_{ρ,u}(z) = ρ log[1 + exp((u − z)/ρ)].

    Parameters
    ----------
    rho : float, default=1.0
        Temperature, > 0. As it falls to 0 the loss becomes the hinge [u − z]₊.
    u : float, default=1.0
        Margin (cost of a misclassification), >= 0.

    Notes
    -----
    With t = (u − z)/ρ and s = σ(t): gradient −s, second derivative s(1−s)/ρ, conjugate
    φ*(−s) = −u s − ρ H(s) on [0, 1]. Equations (7), (9) and (10) of Zhang, Dai and Jordan (2012).

    Examples
    --------
    >>> from clearning.losses import Coherence
    >>> loss = Coherence(rho=0.5, u=1.0)
    >>> round(float(loss.inverse_link(loss.link(0.9))), 12)
    0.9
    """

    rho: float = 1.0
    u: float = 1.0

    name: ClassVar[str] = "coherence_function"
    has_link: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _set_positive(self, "rho")
        _set_positive(self, "u", or_zero=True)

    @property
    def scale(self) -> float:
        """The factor that multiplies V_{ρ,u}."""
        return 1.0

    def _coherence(self, z: Array) -> Array:
        """V_{ρ,u}(z), as the hinge plus a remainder in [0, ρ log 2]."""
        gap = self.u - z
        return np.maximum(gap, 0.0) + self.rho * np.log1p(np.exp(-np.abs(gap) / self.rho))

    @_elementwise("z")
    def value(self, z: Array) -> Array:
        """V_{ρ,u}(z), times `scale`."""
        return self.scale * self._coherence(z)

    @_elementwise("z")
    def gradient(self, z: Array) -> Array:
        """−s, times `scale`."""
        return -self.scale * _sigmoid((self.u - z) / self.rho)

    @_elementwise("z")
    def hessian(self, z: Array) -> Array:
        """s (1 − s) / ρ, times `scale`."""
        small = np.exp(-np.abs(self.u - z) / self.rho)
        return self.scale / self.rho * (small / (1.0 + small) ** 2)

    @_elementwise("s")
    def conjugate(self, s: Array) -> Array:
        """φ*(−s) = −u s − scale·ρ H(s/scale) for s in [0, scale], +inf elsewhere."""
        weight = s / self.scale
        inside = (weight >= 0.0) & (weight <= 1.0)
        weight = np.where(inside, weight, 0.0)
        entropy = entr(weight) - xlog1py(1.0 - weight, -weight)
        return np.where(inside, -(self.u * s + self.scale * self.rho * entropy), np.inf)

    @_elementwise("eta", 0.0, 1.0)
    def link(self, eta: Array) -> Array:
        """Score of a probability: f*(η) = ρ [asinh(exp(u/ρ) sinh(ℓ/2)) + ℓ/2], ℓ = logit η."""
        half = np.abs(_logit(eta)) / 2.0
        log_argument = self.u / self.rho + half + np.log(-np.expm1(-2.0 * half))
        # asinh(x) = log(2x) to the last digit once log(2x) > 20; below that nothing overflows.
        large = log_argument > 20.0
        argument = np.exp(min(self.u / self.rho, 700.0)) * np.sinh(np.where(large, 0.0, half))
        score = self.rho * (np.where(large, log_argument, np.arcsinh(argument)) + half)
        return np.copysign(score, eta - 0.5)

    @_elementwise("f")
    def inverse_link(self, f: Array) -> Array:
        """Probability of a score: η̃(f) = w₂(f) / (w₁(f) + w₂(f))."""
        w1, w2 = self.weights(f)
        return w2 / (w1 + w2)

    @_elementwise("f")
    def w1(self, f: Array) -> Array:
        """Weight of a positive sample with score f: w₁(f) = σ((u − f)/ρ)."""
        return _sigmoid((self.u - f) / self.rho)

    @_elementwise("f")
    def w2(self, f: Array) -> Array:
        """Weight of a negative sample with score f: w₂(f) = σ((u + f)/ρ)."""
        return _sigmoid((self.u + f) / self.rho)

    def weights(self, f: ArrayLike) -> tuple[Any, Any]:
        """The pair (w₁(f), w₂(f))."""
        return self.w1(f), self.w2(f)


@dataclass(frozen=True)
class CLoss(Coherence):
    """The C-loss C_{ρ,u}(z) = κ V_{ρ,u}(z), κ = u / (ρ log[1 + exp(u/ρ)]), so that C_{ρ,u}(0) = u.

    Parameters
    ----------
    rho : float, default=1.0
        Temperature, > 0.
    u : float, default=1.0
        Margin (cost of a misclassification), > 0.

    Notes
    -----
    Equation (8) of Zhang, Dai and Jordan (2012). Link and inverse link are those of `Coherence`.
    """

    name: ClassVar[str] = "coherence"

    def __post_init__(self) -> None:
        _set_positive(self, "rho")
        _set_positive(self, "u")

    @cached_property
    def scale(self) -> float:
        """κ, in (0, 1)."""
        return float(self.u / self._coherence(np.zeros(())))


@dataclass(frozen=True)
class MajorizationLoss(Coherence):
    """The majorisation of the 0-1 loss, L_{ρ,u}(z) = V_{ρ,u}(z) / V_{ρ,u}(0).

    Parameters
    ----------
    rho : float, default=1.0
        Temperature, > 0.
    u : float, default=1.0
        Margin, >= 0. At u = 1 this is the C-loss; at ρ = 1, u = 0 the logistic loss over log 2.
    """

    name: ClassVar[str] = "majorization"

    @cached_property
    def scale(self) -> float:
        """1 / V_{ρ,u}(0)."""
        return float(1.0 / self._coherence(np.zeros(())))


@dataclass(frozen=True)
class Logistic(Coherence):
    """The logistic loss log(1 + exp(−z)), which is V_{1,0}."""

    rho: float = field(default=1.0, init=False, repr=False)
    u: float = field(default=0.0, init=False, repr=False)

    name: ClassVar[str] = "logistic"


@dataclass(frozen=True)
class Hinge(Loss):
    """The hinge loss [1 − z]₊, the limit of V_{ρ,1} and C_{ρ,1} as ρ → 0.

    At the kink the gradient is −1/2, the limit of the coherence function's. It has no link: the
    minimiser of the expected loss is sign(η − 1/2), which cannot be inverted.
    """

    name: ClassVar[str] = "hinge"

    @_elementwise("z")
    def value(self, z: Array) -> Array:
        """[1 − z]₊."""
        return np.maximum(1.0 - z, 0.0)

    @_elementwise("z")
    def gradient(self, z: Array) -> Array:
        """−1 below the kink, 0 above, −1/2 at it."""
        return -np.heaviside(1.0 - z, 0.5)

    @_elementwise("z")
    def hessian(self, z: Array) -> Array:
        """Zero wherever it exists."""
        return np.zeros_like(z)

    @_elementwise("s")
    def conjugate(self, s: Array) -> Array:
        """−s for s in [0, 1], +inf elsewhere."""
        return np.where((s >= 0.0) & (s <= 1.0), -s, np.inf)


@dataclass(frozen=True)
class SquaredHinge(Loss):
    """The squared hinge loss ([1 − z]₊)².

    Its link is 2η − 1. Scores beyond ±1 have no probability under it, and `inverse_link` clips
    them to 0 and 1: fit for a picture, not for a log-loss, so `has_link` is False.
    """

    name: ClassVar[str] = "squared_hinge"

    @_elementwise("z")
    def value(self, z: Array) -> Array:
        """([1 − z]₊)²."""
        return np.maximum(1.0 - z, 0.0) ** 2

    @_elementwise("z")
    def gradient(self, z: Array) -> Array:
        """−2 [1 − z]₊."""
        return -2.0 * np.maximum(1.0 - z, 0.0)

    @_elementwise("z")
    def hessian(self, z: Array) -> Array:
        """2 for z ≤ 1, 0 above."""
        return np.where(z <= 1.0, 2.0, 0.0)

    @_elementwise("s")
    def conjugate(self, s: Array) -> Array:
        """−s + s²/4 for s ≥ 0, +inf elsewhere."""
        return np.where(s >= 0.0, s * (s / 4.0 - 1.0), np.inf)

    @_elementwise("eta", 0.0, 1.0)
    def link(self, eta: Array) -> Array:
        """f*(η) = 2η − 1."""
        return 2.0 * eta - 1.0

    @_elementwise("f")
    def inverse_link(self, f: Array) -> Array:
        """(1 + f)/2, clipped to [0, 1]."""
        return np.clip((1.0 + f) / 2.0, 0.0, 1.0)


@dataclass(frozen=True)
class HuberizedHinge(Loss):
    """The huberised hinge: 0 for z > 1, (1−z)²/(2δ) for 1−δ < z ≤ 1, 1 − z − δ/2 below.

    Parameters
    ----------
    delta : float, default=2.0
        Width of the quadratic part, > 0.

    Notes
    -----
    It is the maximum over s in [0, 1] of s (1 − z) − δ s²/2: the coherence function with its
    entropy replaced by a parabola. As for `SquaredHinge`, scores beyond ±1 get probability 0 or 1,
    and `has_link` is False; for δ < 1 all scores within 1 − δ of zero get 1/2.
    """

    delta: float = 2.0

    name: ClassVar[str] = "huberized_hinge"

    def __post_init__(self) -> None:
        _set_positive(self, "delta")

    def _weight(self, z: Array) -> Array:
        return np.clip((1.0 - z) / self.delta, 0.0, 1.0)

    @_elementwise("z")
    def value(self, z: Array) -> Array:
        """Zero, a parabola, a line."""
        gap = np.maximum(1.0 - z, 0.0)
        quadratic = np.minimum(gap, self.delta) ** 2 / (2.0 * self.delta)
        return np.where(gap <= self.delta, quadratic, gap - self.delta / 2.0)

    @_elementwise("z")
    def gradient(self, z: Array) -> Array:
        """−s with s = (1 − z)/δ clipped to [0, 1]."""
        return -self._weight(z)

    @_elementwise("z")
    def hessian(self, z: Array) -> Array:
        """1/δ for 1−δ < z ≤ 1, 0 elsewhere."""
        gap = 1.0 - z
        return np.where((gap >= 0.0) & (gap < self.delta), 1.0 / self.delta, 0.0)

    @_elementwise("s")
    def conjugate(self, s: Array) -> Array:
        """−s + δ s²/2 for s in [0, 1], +inf elsewhere."""
        inside = (s >= 0.0) & (s <= 1.0)
        return np.where(inside, s * (self.delta * s / 2.0 - 1.0), np.inf)

    @_elementwise("eta", 0.0, 1.0)
    def link(self, eta: Array) -> Array:
        """For q = max(η, 1−η): ±(2q − 1), or ±(1 − δ(1−q)/q) where the line is reached (δ ≤ 2q)."""
        q = np.maximum(eta, 1.0 - eta)
        score = np.where(self.delta <= 2.0 * q, (q - self.delta * (1.0 - q)) / q, 2.0 * q - 1.0)
        return np.sign(eta - 0.5) * score

    @_elementwise("f")
    def inverse_link(self, f: Array) -> Array:
        """φ'(−f) / (φ'(f) + φ'(−f))."""
        w1, w2 = self._weight(f), self._weight(-f)
        return w2 / (w1 + w2)


@dataclass(frozen=True)
class Exponential(Loss):
    """The exponential loss exp(−z/2); beyond z ≈ −1419 it exceeds every double and is +inf."""

    name: ClassVar[str] = "exponential"
    has_link: ClassVar[bool] = True

    @_elementwise("z")
    def value(self, z: Array) -> Array:
        """exp(−z/2)."""
        return np.exp(-z / 2.0)

    @_elementwise("z")
    def gradient(self, z: Array) -> Array:
        """−exp(−z/2)/2."""
        return -0.5 * np.exp(-z / 2.0)

    @_elementwise("z")
    def hessian(self, z: Array) -> Array:
        """exp(−z/2)/4."""
        return 0.25 * np.exp(-z / 2.0)

    @_elementwise("s")
    def conjugate(self, s: Array) -> Array:
        """2s log(2s) − 2s for s ≥ 0, +inf elsewhere."""
        inside = s >= 0.0
        twice = np.where(inside, 2.0 * s, 0.0)
        return np.where(inside, xlogy(twice, twice) - twice, np.inf)

    @_elementwise("eta", 0.0, 1.0)
    def link(self, eta: Array) -> Array:
        """f*(η) = logit η."""
        return _logit(eta)

    @_elementwise("f")
    def inverse_link(self, f: Array) -> Array:
        """1 / (1 + exp(−f))."""
        return _sigmoid(f)


_BY_NAME: dict[str, Callable[[float, float, float], Loss]] = {
    "coherence": lambda rho, u, delta: CLoss(rho, u),
    "logistic": lambda rho, u, delta: Logistic(),
    "huberized_hinge": lambda rho, u, delta: HuberizedHinge(delta),
    "squared_hinge": lambda rho, u, delta: SquaredHinge(),
    "hinge": lambda rho, u, delta: Hinge(),
}


def make_loss(loss: str | Loss, *, rho: float = 1.0, u: float = 1.0, delta: float = 2.0) -> Loss:
    """The loss of that name; a `Loss` is returned as it is.

    Parameters
    ----------
    loss : {"coherence", "logistic", "huberized_hinge", "squared_hinge", "hinge"} or Loss
        "coherence" is the C-loss.
    rho, u : float, default=1.0
        Temperature and margin of the C-loss.
    delta : float, default=2.0
        Width of the huberised hinge's quadratic part.

    Returns
    -------
    Loss
    """
    if isinstance(loss, Loss):
        return loss
    if not isinstance(loss, str) or loss not in _BY_NAME:
        names = ", ".join(map(repr, _BY_NAME))
        raise ValueError(f"loss must be one of {names} or a Loss, got {loss!r}.")
    return _BY_NAME[loss](rho, u, delta)

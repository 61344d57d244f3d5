"""Losses of the margin z = y f: value, derivatives, conjugate, link and inverse link.

One sentence unites most of them: V_{ρ,u}(z) = max over s in [0, 1] of s (u − z) + ρ H(s), with H
the binary entropy. The temperature ρ leads from the logistic loss (u = 0, ρ = 1) to the hinge
(u = 1, ρ → 0). Everything here is plain NumPy, elementwise, and exact at the limits: this is the
readable truth that the compiled core is tested against.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import entr, xlog1py

from clearning._loss import Array, Loss, elementwise, logit, sigmoid
from clearning._margin_losses import Exponential, Hinge, HuberizedHinge, SquaredHinge
from clearning._multi_coherence import MultiCoherence
from clearning._ranges import NON_NEGATIVE, POSITIVE

__all__ = [
    "CLoss",
    "Coherence",
    "Exponential",
    "Hinge",
    "HuberizedHinge",
    "Logistic",
    "Loss",
    "MajorizationLoss",
    "MultiCoherence",
    "SquaredHinge",
    "make_loss",
]


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
    φ*(−s) = −u s − ρ H(s) on [0, 1]. Equations (7), (9) and (10) of Zhang, Liu, Dai and Jordan
    (2012).

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
    solver: ClassVar[str | None] = "coherence"
    has_link: ClassVar[bool] = True

    def __post_init__(self) -> None:
        self._set("rho", POSITIVE)
        self._set("u", NON_NEGATIVE)

    @property
    def solver_parameters(self) -> dict[str, float]:
        """Temperature, margin and scale."""
        return {"rho": self.rho, "u": self.u, "kappa": self.scale}

    @property
    def scale(self) -> float:
        """The factor that multiplies V_{ρ,u}."""
        return 1.0

    def _coherence(self, z: Array) -> Array:
        """V_{ρ,u}(z), as the hinge plus a remainder in [0, ρ log 2]."""
        gap = self.u - z
        return np.maximum(gap, 0.0) + self.rho * np.log1p(np.exp(-np.abs(gap) / self.rho))

    @elementwise("z")
    def value(self, z: Array) -> Array:
        """V_{ρ,u}(z), times `scale`."""
        return self.scale * self._coherence(z)

    @elementwise("z")
    def gradient(self, z: Array) -> Array:
        """−s, times `scale`."""
        return -self.scale * sigmoid((self.u - z) / self.rho)

    @elementwise("z")
    def hessian(self, z: Array) -> Array:
        """s (1 − s) / ρ, times `scale`."""
        small = np.exp(-np.abs(self.u - z) / self.rho)
        return self.scale / self.rho * (small / (1.0 + small) ** 2)

    @elementwise("s")
    def conjugate(self, s: Array) -> Array:
        """φ*(−s) = −u s − scale·ρ H(s/scale) for s in [0, scale], +inf elsewhere."""
        weight = s / self.scale
        inside = (weight >= 0.0) & (weight <= 1.0)
        weight = np.where(inside, weight, 0.0)
        entropy = entr(weight) - xlog1py(1.0 - weight, -weight)
        return np.where(inside, -(self.u * s + self.scale * self.rho * entropy), np.inf)

    @elementwise("eta", 0.0, 1.0)
    def link(self, eta: Array) -> Array:
        """Score of a probability: f*(η) = ρ [asinh(exp(u/ρ) sinh(ℓ/2)) + ℓ/2], ℓ = logit η."""
        half = np.abs(logit(eta)) / 2.0
        log_argument = self.u / self.rho + half + np.log(-np.expm1(-2.0 * half))
        # asinh(x) = log(2x) to the last digit once log(2x) > 20; below that nothing overflows.
        large = log_argument > 20.0
        argument = np.exp(min(self.u / self.rho, 700.0)) * np.sinh(np.where(large, 0.0, half))
        score = self.rho * (np.where(large, log_argument, np.arcsinh(argument)) + half)
        return np.copysign(score, eta - 0.5)

    def _weights(self, f: Array) -> tuple[Array, Array]:
        return sigmoid((self.u - f) / self.rho), sigmoid((self.u + f) / self.rho)

    @elementwise("f")
    def inverse_link(self, f: Array) -> Array:
        """Probability of a score: η̃(f) = w₂(f) / (w₁(f) + w₂(f))."""
        w1, w2 = self._weights(f)
        return w2 / (w1 + w2)

    @elementwise("f")
    def _both(self, f: Array) -> Array:
        """Both classes' probabilities, w₁ and w₂ over their sum; the last axis runs over them."""
        w1, w2 = self._weights(f)
        # As u ≥ 0, one of the weights is at least 1/2: their sum never vanishes.
        total = w1 + w2
        return np.stack([w1 / total, w2 / total], axis=-1)

    @elementwise("f")
    def w1(self, f: Array) -> Array:
        """Weight of a positive sample with score f: w₁(f) = σ((u − f)/ρ)."""
        return self._weights(f)[0]

    @elementwise("f")
    def w2(self, f: Array) -> Array:
        """Weight of a negative sample with score f: w₂(f) = σ((u + f)/ρ)."""
        return self._weights(f)[1]

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
    Equation (8) of Zhang, Liu, Dai and Jordan (2012). Link and inverse link are those of
    `Coherence`.

    Examples
    --------
    >>> from clearning.losses import CLoss
    >>> CLoss(rho=0.5, u=1.0).value([0.0, 20.0]).round(6)
    array([1., 0.])
    """

    name: ClassVar[str] = "coherence"

    def __post_init__(self) -> None:
        self._set("rho", POSITIVE)
        self._set("u", POSITIVE)

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

    Examples
    --------
    >>> from clearning.losses import MajorizationLoss
    >>> float(MajorizationLoss(rho=0.5, u=0.3).value(0.0))
    1.0
    """

    name: ClassVar[str] = "majorization"

    @cached_property
    def scale(self) -> float:
        """1 / V_{ρ,u}(0)."""
        return float(1.0 / self._coherence(np.zeros(())))


@dataclass(frozen=True)
class Logistic(Coherence):
    """The logistic loss log(1 + exp(−z)), which is V_{1,0}.

    Examples
    --------
    >>> from clearning.losses import Logistic
    >>> Logistic().inverse_link([0.0, 1.0]).round(4)
    array([0.5   , 0.7311])
    """

    rho: float = field(default=1.0, init=False, repr=False)
    u: float = field(default=0.0, init=False, repr=False)

    name: ClassVar[str] = "logistic"

    @elementwise("f")
    def inverse_link(self, f: Array) -> Array:
        """1 / (1 + exp(−f))."""
        return sigmoid(f)


_BY_NAME: dict[str, type[Loss]] = {
    loss.name: loss for loss in (CLoss, Logistic, HuberizedHinge, SquaredHinge, Hinge)
}
LOSS_NAMES = tuple(_BY_NAME)


def has_link(loss: Any) -> bool:
    """Whether a loss, or the one of that name, has class probabilities; False for what is none."""
    known = _BY_NAME.get(loss, Loss) if isinstance(loss, str) else loss
    return bool(getattr(known, "has_link", False))


def make_loss(loss: str | Loss, *, rho: float = 1.0, u: float = 1.0, delta: float = 2.0) -> Loss:
    """The loss of that name; a `Loss` is returned as it is.

    Parameters
    ----------
    loss : {"coherence", "logistic", "huberized_hinge", "squared_hinge", "hinge"} or Loss
        "coherence" is the C-loss, and at u = 0, where that is not defined, the coherence function.
    rho, u : float, default=1.0
        Temperature and margin.
    delta : float, default=2.0
        Width of the huberised hinge's quadratic part.

    Returns
    -------
    Loss

    Examples
    --------
    >>> from clearning.losses import make_loss
    >>> make_loss("coherence", rho=0.5)
    CLoss(rho=0.5, u=1.0)
    """
    if isinstance(loss, Loss):
        return loss
    if not isinstance(loss, str) or loss not in _BY_NAME:
        names = ", ".join(map(repr, _BY_NAME))
        raise ValueError(f"loss must be one of {names} or a Loss, got {loss!r}.")
    kind, given = _BY_NAME[loss], {"rho": rho, "u": u, "delta": delta}
    if kind is CLoss and NON_NEGATIVE.check("u", u) == 0.0:
        kind = Coherence
    # Every loss of a name is a dataclass.
    return kind(**{each.name: given[each.name] for each in fields(cast(Any, kind)) if each.init})

"""Losses of the margin without a temperature: the SVM's and those that are held against it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import xlogy

from clearning._loss import Array, Loss, elementwise, logit, sigmoid
from clearning._ranges import POSITIVE


@dataclass(frozen=True)
class Hinge(Loss):
    """The hinge loss [1 − z]₊, the limit of V_{ρ,1} and C_{ρ,1} as ρ → 0.

    At the kink the gradient is −1/2, the limit of the coherence function's. It has no link: the
    minimiser of the expected loss is sign(η − 1/2), which cannot be inverted.

    Examples
    --------
    >>> from clearning.losses import Hinge
    >>> Hinge().value([-1.0, 0.0, 1.0, 2.0])
    array([2., 1., 0., 0.])
    """

    name: ClassVar[str] = "hinge"
    solver: ClassVar[str | None] = "hinge"

    @elementwise("z")
    def value(self, z: Array) -> Array:
        """[1 − z]₊."""
        return np.maximum(1.0 - z, 0.0)

    @elementwise("z")
    def gradient(self, z: Array) -> Array:
        """−1 below the kink, 0 above, −1/2 at it."""
        return -np.heaviside(1.0 - z, 0.5)

    @elementwise("z")
    def hessian(self, z: Array) -> Array:
        """Zero wherever it exists."""
        return np.zeros_like(z)

    @elementwise("s")
    def conjugate(self, s: Array) -> Array:
        """−s for s in [0, 1], +inf elsewhere."""
        return np.where((s >= 0.0) & (s <= 1.0), -s, np.inf)


@dataclass(frozen=True)
class SquaredHinge(Loss):
    """The squared hinge loss ([1 − z]₊)².

    Its link is 2η − 1. Scores beyond ±1 have no probability under it, and `inverse_link` clips
    them to 0 and 1: fit for a picture, not for a log-loss, so `has_link` is False.

    Examples
    --------
    >>> from clearning.losses import SquaredHinge
    >>> SquaredHinge().value([-1.0, 0.0, 1.0])
    array([4., 1., 0.])
    """

    name: ClassVar[str] = "squared_hinge"
    solver: ClassVar[str | None] = "squared_hinge"

    @elementwise("z")
    def value(self, z: Array) -> Array:
        """([1 − z]₊)²."""
        return np.maximum(1.0 - z, 0.0) ** 2

    @elementwise("z")
    def gradient(self, z: Array) -> Array:
        """−2 [1 − z]₊."""
        return -2.0 * np.maximum(1.0 - z, 0.0)

    @elementwise("z")
    def hessian(self, z: Array) -> Array:
        """2 for z ≤ 1, 0 above."""
        return np.where(z <= 1.0, 2.0, 0.0)

    @elementwise("s")
    def conjugate(self, s: Array) -> Array:
        """−s + s²/4 for s ≥ 0, +inf elsewhere."""
        return np.where(s >= 0.0, s * (s / 4.0 - 1.0), np.inf)

    @elementwise("eta", 0.0, 1.0)
    def link(self, eta: Array) -> Array:
        """f*(η) = 2η − 1."""
        return 2.0 * eta - 1.0

    @elementwise("f")
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

    Examples
    --------
    >>> from clearning.losses import HuberizedHinge
    >>> HuberizedHinge(delta=2.0).value([-2.0, 0.0, 2.0])
    array([2.  , 0.25, 0.  ])
    """

    delta: float = 2.0

    name: ClassVar[str] = "huberized_hinge"
    solver: ClassVar[str | None] = "huberized_hinge"

    def __post_init__(self) -> None:
        self._set("delta", POSITIVE)

    @property
    def solver_parameters(self) -> dict[str, float]:
        """The width."""
        return {"delta": self.delta}

    def _weight(self, z: Array) -> Array:
        return np.clip((1.0 - z) / self.delta, 0.0, 1.0)

    @elementwise("z")
    def value(self, z: Array) -> Array:
        """Zero, a parabola, a line."""
        gap = np.maximum(1.0 - z, 0.0)
        quadratic = np.minimum(gap, self.delta) ** 2 / (2.0 * self.delta)
        return np.where(gap <= self.delta, quadratic, gap - self.delta / 2.0)

    @elementwise("z")
    def gradient(self, z: Array) -> Array:
        """−s with s = (1 − z)/δ clipped to [0, 1]."""
        return -self._weight(z)

    @elementwise("z")
    def hessian(self, z: Array) -> Array:
        """1/δ for 1−δ < z ≤ 1, 0 elsewhere."""
        gap = 1.0 - z
        return np.where((gap >= 0.0) & (gap < self.delta), 1.0 / self.delta, 0.0)

    @elementwise("s")
    def conjugate(self, s: Array) -> Array:
        """−s + δ s²/2 for s in [0, 1], +inf elsewhere."""
        inside = (s >= 0.0) & (s <= 1.0)
        return np.where(inside, s * (self.delta * s / 2.0 - 1.0), np.inf)

    @elementwise("eta", 0.0, 1.0)
    def link(self, eta: Array) -> Array:
        """For q = max(η, 1−η): ±(2q − 1), or ±(1 − δ(1−q)/q) where the line is reached (δ ≤ 2q)."""
        q = np.maximum(eta, 1.0 - eta)
        score = np.where(self.delta <= 2.0 * q, (q - self.delta * (1.0 - q)) / q, 2.0 * q - 1.0)
        return np.sign(eta - 0.5) * score

    @elementwise("f")
    def inverse_link(self, f: Array) -> Array:
        """φ'(−f) / (φ'(f) + φ'(−f))."""
        w1, w2 = self._weight(f), self._weight(-f)
        return w2 / (w1 + w2)


@dataclass(frozen=True)
class Exponential(Loss):
    """The exponential loss exp(−z/2); beyond z ≈ −1419 it exceeds every double and is +inf.

    Examples
    --------
    >>> from clearning.losses import Exponential
    >>> Exponential().value([0.0, 2.0]).round(4)
    array([1.    , 0.3679])
    """

    name: ClassVar[str] = "exponential"
    has_link: ClassVar[bool] = True

    @elementwise("z")
    def value(self, z: Array) -> Array:
        """exp(−z/2)."""
        return np.exp(-z / 2.0)

    @elementwise("z")
    def gradient(self, z: Array) -> Array:
        """−exp(−z/2)/2."""
        return -0.5 * np.exp(-z / 2.0)

    @elementwise("z")
    def hessian(self, z: Array) -> Array:
        """exp(−z/2)/4."""
        return 0.25 * np.exp(-z / 2.0)

    @elementwise("s")
    def conjugate(self, s: Array) -> Array:
        """2s log(2s) − 2s for s ≥ 0, +inf elsewhere."""
        inside = s >= 0.0
        twice = np.where(inside, 2.0 * s, 0.0)
        return np.where(inside, xlogy(twice, twice) - twice, np.inf)

    @elementwise("eta", 0.0, 1.0)
    def link(self, eta: Array) -> Array:
        """f*(η) = logit η."""
        return logit(eta)

    @elementwise("f")
    def inverse_link(self, f: Array) -> Array:
        """1 / (1 + exp(−f))."""
        return sigmoid(f)

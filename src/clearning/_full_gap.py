r"""What landmarks cost: a certificate against the kernel problem in all samples.

The full problem is min P(a, β) = Σ pᵢ φ(yᵢ(oᵢ + a + (Kβ)ᵢ)) + γ[(1−ω)/2 β'Kβ + ω‖β‖₁] with K
among all n samples; a fit on landmarks is a point of it whose other coefficients are zero. Write
λ = γ(1−ω). For weights s in the conjugate's domain, rᵢ = −pᵢ yᵢ sᵢ and any h,

    loss ≥ Σ rᵢ(oᵢ + a) + r'Kβ − Σ pᵢ φ*(−sᵢ),      λ/2 β'Kβ ≥ λ h'Kβ − λ/2 h'Kh,

the second because K is positive semidefinite. With Σ rᵢ = 0 (where there is an intercept) and
‖K(r + λh)‖_∞ ≤ γω what multiplies β is at least zero, so

    min P ≥ D = Σ rᵢoᵢ − Σ pᵢ φ*(−sᵢ) − λ/2 h'Kh.

The weights are those of the fit, sᵢ = −φ'(zᵢ), class-balanced. Let q = r + λβ and take the family
of c·s with r + λh = t·q, that is λh = (t−c)r + tλβ: it is feasible for 0 ≤ c ≤ 1 and
0 ≤ t ≤ γω/‖Kq‖_∞, and all it needs of K is one product, Kr. (c = t is the point scaled until its
constraint holds, t = 0 the one that leaves the ℓ₁ penalty out.) D is concave in (c, t). At ω = 1
there is no h, and t = c.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import lsq_linear, minimize_scalar

from clearning._kernel_matrix import EPS, check_kernel_matrix
from clearning._problem import Target
from clearning.kernels import Kernel
from clearning.losses import Hinge

Array = NDArray[np.float64]

# Margins so near to the hinge's kink are at it.
_KINK = 1e-3
# Digits that an entry loses at most: exponents up to 64 are formed by products.
_ENTRY_UNITS = 256.0
_SUM_UNITS = 64.0


@dataclass(frozen=True)
class Solution:
    """A fit on landmarks: its coefficients at their samples, and what it minimised.

    Of more than two classes there is a column of coefficients a class; `grouped` says whether their
    rows are penalised together.
    """

    centres: NDArray[np.intp]
    coef: Array
    intercept: Any
    objective: float
    loss: Any
    alpha: float
    l1_ratio: float
    grouped: bool = False


@dataclass(frozen=True)
class FullCertificate:
    """What is proved of the full problem by a fit on landmarks.

    Attributes
    ----------
    bound : float
        The full problem's minimum is no smaller; -inf where nothing is proved.
    objective : float
        The fit's objective in double precision.
    slopes : ndarray of shape (n_samples,)
        |Kq|.
    threshold : float
        αω: a sample with a steeper slope would lower the objective as a landmark.
    """

    bound: float
    objective: float
    slopes: Array
    threshold: float

    @property
    def gap(self) -> float:
        """How far the fit may be above the full problem's minimum."""
        return max(self.objective - self.bound, 0.0) + EPS * abs(self.objective)

    @property
    def missing(self) -> Array:
        """How far each sample's slope is above the threshold."""
        return np.maximum(self.slopes - self.threshold, 0.0)


def full_certificate(
    kernel: Kernel, X: Any, target: Target, fit_intercept: bool, fit: Solution
) -> FullCertificate:
    """Bound how far a fit is above the minimum of the full problem, in one pass over K.

    A kernel matrix that is given is checked; a callable is taken at its word, that it is positive
    semidefinite, unless the pass shows otherwise; "sigmoid", which is not, proves nothing.
    """
    kernel = replace(kernel, dtype="float64")
    if kernel.precomputed:
        X = check_kernel_matrix(X, "X").astype(np.float64, copy=False)
    used = np.flatnonzero(fit.coef if fit.coef.ndim == 1 else fit.coef.any(axis=1))
    fit = replace(fit, centres=fit.centres[used], coef=fit.coef[used])
    columns = np.zeros((len(target.codes), 0))
    if len(used) > 0:
        columns = kernel.columns(X, fit.centres)
    # Not at the top: it builds on this module.
    from clearning._full_gap_classes import ClassPair

    kind = Pair if fit.coef.ndim == 1 else ClassPair
    pair = kind(kernel, X, target, fit_intercept, fit, columns)
    s = pair.balanced(pair.weights())
    r = pair.residual(s)
    found = pair.certificate(s, r, kernel.product(X, r))
    return replace(found, bound=-np.inf) if kernel.name == "sigmoid" else found


@dataclass(frozen=True)
class Pair:
    """A primal point of the full problem, and what the dual points made of it need."""

    kernel: Kernel
    X: Any
    target: Target
    fit_intercept: bool
    fit: Solution
    columns: Array

    @cached_property
    def kb(self) -> Array:
        """Kβ."""
        return self.columns @ self.fit.coef

    @property
    def square(self) -> float:
        """β'Kβ."""
        return float(np.vdot(self.fit.coef, self.kb[self.fit.centres]))

    @property
    def offsets(self) -> Array:
        """What is added to the scores."""
        return self.target.offsets

    @cached_property
    def scores(self) -> Array:
        """The score of each sample."""
        return self.offsets + self.fit.intercept + self.kb

    @cached_property
    def noise(self) -> float:
        """How far an entry of K times a unit of coefficients may be off, sums of n included."""
        n, p = self.X.shape
        diagonal = float(np.abs(self.kernel.diagonal(self.X, np.arange(n))).max(initial=0.0))
        units = EPS * (_ENTRY_UNITS + 4 * p + 4 * n * max(1.0, float(self.kernel.degree)))
        return (units + n * self.kernel.entry_rounding(self.X)) * diagonal

    def weights(self) -> Array:
        """Return s = −φ'(z), which lies in the conjugate's domain."""
        z = self.target.signs * self.scores
        s = -self.fit.loss.gradient(z)
        if isinstance(self.fit.loss, Hinge):
            s = self._at_kinks(s, np.flatnonzero(np.abs(1.0 - z) <= _KINK))
        return s

    def _at_kinks(self, s: Array, near: NDArray[np.intp]) -> Array:
        """Return the hinge's weights, which at its kink are not told by the margins.

        They are those that make the gradient vanish in the coefficients that are not zero, and in
        the intercept, as nearly as weights in [0, 1] can.
        """
        if len(near) == 0:
            return s
        unit, fit = -self.target.shares * self.target.signs, self.fit
        columns = np.column_stack([self.columns, np.full(len(s), float(self.fit_intercept))])
        s = s.copy()
        s[near] = 0.0
        slope = fit.alpha * (1 - fit.l1_ratio) * self.kb[fit.centres]
        slope += fit.alpha * fit.l1_ratio * np.sign(fit.coef)
        wanted = -columns.T @ (unit * s) - np.append(slope, 0.0)
        scale = np.abs(unit).max()
        system = columns[near].T * (unit[near] / scale)
        s[near] = lsq_linear(system, wanted / scale, (0.0, 1.0), tol=1e-12).x
        return np.clip(s, 0.0, 1.0)

    def balanced(self, s: Array) -> Array:
        """Return the weights with the heavier class made as light as the other.

        Without an intercept nothing asks for that.
        """
        if not self.fit_intercept:
            return s
        mass, positive = self.target.shares * s, self.target.signs > 0
        heavy, light = mass[positive].sum(), mass[~positive].sum()
        if heavy < light:
            positive, heavy, light = ~positive, light, heavy
        return np.where(positive, s * (light / heavy), s) if heavy > 0 else s

    def residual(self, s: Array) -> Array:
        """Return r, the loss's slope in the scores at weights s."""
        return -self.target.shares * self.target.signs * s

    def losses(self) -> Array:
        """Return the loss of each sample."""
        return self.fit.loss.value(self.target.signs * self.scores)

    def conjugates(self, s: Array, c: float) -> Array:
        """Return φ* of each sample where r is scaled by c."""
        return self.fit.loss.conjugate(c * s)

    def steepness(self, pulls: Array) -> Array:
        """Return what the ℓ₁ penalty compares with its threshold, for each sample's function."""
        return np.abs(pulls)

    def norm(self) -> float:
        """Return ‖β‖₁."""
        return float(np.abs(self.fit.coef).sum())

    def objective(self) -> float:
        """Return the objective in double precision, or the solver's where that is larger."""
        fit = self.fit
        loss = float(self.target.shares @ self.losses())
        ridge = fit.alpha * (1 - fit.l1_ratio) / 2 * self.square
        return max(loss + ridge + fit.alpha * fit.l1_ratio * self.norm(), fit.objective)

    def certificate(self, s: Array, r: Array, v: Array) -> FullCertificate:
        """Return the best bound of the family of (c, t), for Kr = v."""
        dual = Family(self, s, r, v)
        slopes = self.steepness(v + dual.ridge * self.kb)
        bound = dual.best() if np.isfinite(slopes).all() else -np.inf
        threshold = self.fit.alpha * self.fit.l1_ratio
        return FullCertificate(bound, self.objective(), slopes, threshold)


class Family:
    """The dual points (c s, t q) of one vector of weights, and their values less their rounding."""

    def __init__(self, pair: Pair, s: Array, r: Array, v: Array) -> None:
        fit = pair.fit
        self.pair, self.s = pair, s
        self.ridge = fit.alpha * (1 - fit.l1_ratio)
        self.offsets = float(np.vdot(r, pair.offsets))
        self.sizes = np.abs(r).sum(), np.abs(fit.coef).sum()
        self.noise = pair.noise
        self.rr, self.rb, self.bb = float(np.vdot(r, v)), float(np.vdot(r, pair.kb)), pair.square
        steepest = pair.steepness(v + self.ridge * pair.kb).max()
        steepest += self.noise * (self.sizes[0] + self.ridge * self.sizes[1])
        threshold = fit.alpha * fit.l1_ratio
        self.reach = threshold / steepest if steepest > threshold else 1.0
        self.lost = _SUM_UNITS * EPS * float(np.vdot(np.abs(r), np.abs(pair.offsets)))
        if pair.fit_intercept:
            # What rounding left unbalanced, one sample can make up for at the price of its score.
            largest = np.abs(pair.scores).max() + np.abs(pair.offsets).max() + 1.0
            self.lost += float(np.abs(r.sum(axis=0)).sum()) * largest

    @property
    def indefinite(self) -> bool:
        """Whether a quadratic form of K is negative by more than rounding."""
        r, b = self.sizes
        return self.rr < -self.noise * r * r or self.bb < -self.noise * b * b

    def best(self) -> float:
        """Return the largest value that was found; every one is a bound, and so is zero."""
        if self.indefinite:
            return -np.inf
        top = self.reach if self.ridge == 0 else 1.0
        line = minimize_scalar(lambda c: -self.value(c), bounds=(0.0, top), method="bounded")
        return max(0.0, self.value(float(line.x)), self.value(top))

    def value(self, c: float) -> float:
        """Return D at c and the best t, less what rounding may have added."""
        terms = self.pair.target.shares * self.pair.conjugates(self.s, c)
        value = c * self.offsets - terms.sum() - self.lost
        value -= _SUM_UNITS * EPS * np.abs(terms).sum()
        if self.ridge == 0:
            return float(value)
        t = self._best(c)
        r, b = self.sizes
        return float(
            value
            - self._form(c, t, self.rr, self.rb, self.bb)
            - self.noise * self._form(c, t, r * r, r * b, b * b, absolute=True)
        )

    def _best(self, c: float) -> float:
        """Return the t with the smallest h'Kh among those that are feasible."""
        whole = self.rr + self.ridge * (2 * self.rb + self.ridge * self.bb)
        if whole <= 0:
            return 0.0
        return float(np.clip(c * (self.rr + self.ridge * self.rb) / whole, 0.0, self.reach))

    def _form(
        self, c: float, t: float, rr: float, rb: float, bb: float, *, absolute: bool = False
    ) -> float:
        """Return λ/2 h'Kh for λh = (t−c)r + tλβ, in a form that does not cancel at t = c."""
        apart = abs(t - c) if absolute else t - c
        return apart * apart * rr / (2 * self.ridge) + apart * t * rb + t * t * self.ridge * bb / 2

"""The objectives in plain NumPy, written from their formulas and from no code of the package.

P(a, b) = Σ wᵢ φ(yᵢ(oᵢ + a + xᵢ'b)) + α [ω Σ pⱼ|bⱼ| + (1−ω)/2 b'Qb], where Σ wᵢ = 1 and Q is the
diagonal of the penalty factors or, for a kernel, the kernel matrix of the coefficients' centres.
Values are taken in extended precision where the machine has it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
LONG = np.longdouble
EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class Point:
    """Where an objective is evaluated; itself alone is equal to it, so that it can be looked up."""

    coef: Array
    intercept: float | Array


# Where the interval of an intercept is cut, until nothing lies between its ends.
CUTS = np.linspace(0.0, 1.0, 65)


def _sum(parts: tuple[NDArray, NDArray], alpha: float) -> float:
    return float(parts[0] + LONG(alpha) * parts[1])


@dataclass(frozen=True)
class MarginLoss:
    """φ of the margin; `scaled` is the C-loss's factor κ, which the coherence function has not."""

    name: str
    rho: float = 1.0
    u: float = 1.0
    delta: float = 2.0
    scaled: bool = True

    @property
    def kappa(self) -> float:
        if self.name != "coherence" or not self.scaled or self.u == 0:
            return 1.0
        return self.u / (self.rho * float(np.logaddexp(0.0, self.u / self.rho)))

    @property
    def reach(self) -> float:
        """The margin's own size, which is subtracted from the score."""
        return self.u if self.name in ("coherence", "hinge") else 1.0

    def value(self, z: NDArray) -> NDArray:
        """φ(z)."""
        if self.name == "coherence":
            t = (self.u - z) / self.rho
            return self.kappa * self.rho * np.logaddexp(t * 0, t)
        if self.name == "logistic":
            return np.logaddexp(z * 0, -z)
        if self.name == "huberized_hinge":
            d = self.delta
            inside = (1 - z) ** 2 / (2 * d)
            return np.where(z > 1, 0 * z, np.where(z > 1 - d, inside, 1 - z - d / 2))
        hinge = np.maximum((self.u if self.name == "hinge" else 1.0) - z, 0)
        return hinge**2 if self.name == "squared_hinge" else hinge

    def slope(self, z: NDArray) -> NDArray:
        """−φ'(z); at the hinge's kink the smaller of the two."""
        if self.name == "coherence":
            return self.kappa * _sigmoid((self.u - z) / self.rho)
        if self.name == "logistic":
            return _sigmoid(-z)
        if self.name == "huberized_hinge":
            return np.clip((1 - z) / self.delta, 0, 1)
        if self.name == "squared_hinge":
            return 2 * np.maximum(1 - z, 0)
        return (z < self.u).astype(z.dtype)


def _sigmoid(t: NDArray) -> NDArray:
    small = np.exp(-np.abs(t))
    return np.where(t >= 0, 1, small) / (1 + small)


@dataclass(frozen=True, eq=False)
class Plain:
    """A penalised problem.

    `eps` is the precision in which the package may evaluate it. `Q` is known to be positive
    semidefinite up to an eigenvalue of `noise` times its largest entry. A `private` design is
    computed by the package and seen by no one.
    """

    X: Array
    y: Array
    weight: Array
    offset: Array
    loss: MarginLoss
    l1_ratio: float
    factor: Array
    Q: Array
    lower: Array
    upper: Array
    fit_intercept: bool
    eps: float = EPS
    noise: float = 0.0
    private: bool = False

    @cached_property
    def long(self) -> tuple[NDArray, NDArray]:
        return self.X.astype(LONG), self.Q.astype(LONG)

    @property
    def free(self) -> NDArray[np.bool_]:
        """The coefficients that no penalty holds."""
        quadratic = self.Q if self.Q.ndim == 1 else np.diag(self.Q)
        return (self.factor == 0) & (quadratic == 0)

    @cached_property
    def zero(self) -> Point:
        """No model at all."""
        return Point(np.zeros(self.X.shape[1]), 0.0)

    @cached_property
    def known(self) -> dict[tuple[str, Point], tuple[NDArray, NDArray]]:
        """Loss and penalty of the points that were asked for, and what rounding does to them."""
        return {}

    def margins(self, point: Point, dtype: type = LONG) -> NDArray:
        X = self.long[0] if dtype is LONG else self.X
        coef = np.asarray(point.coef, dtype)
        return self.y * (self.offset.astype(dtype) + dtype(point.intercept) + X @ coef)

    def value(self, point: Point, alpha: float) -> float:
        """P at a point; nan where a coefficient is not finite."""
        if ("value", point) not in self.known:
            self.known["value", point] = self._parts(point)
        return _sum(self.known["value", point], alpha)

    def _parts(self, point: Point) -> tuple[NDArray, NDArray]:
        coef = np.asarray(point.coef, LONG)
        with np.errstate(all="ignore"):
            loss = self.weight.astype(LONG) @ self.loss.value(self.margins(point))
            return loss, self._penalty(coef, self.long[1])

    def rounding(self, point: Point, alpha: float) -> float:
        """How much P may differ in rounding, by the magnitudes that are added up in it."""
        if ("rounding", point) not in self.known:
            self.known["rounding", point] = self._errors(point)
        return 4 * _sum(self.known["rounding", point], alpha)

    def _errors(self, point: Point) -> tuple[NDArray, NDArray]:
        n, p = self.X.shape
        size = np.abs(np.asarray(point.coef, LONG))
        with np.errstate(all="ignore"):
            scores = np.abs(self.offset) + abs(LONG(point.intercept)) + np.abs(self.long[0]) @ size
            error = (p + 8) * self.eps * (scores + self.loss.reach)
            z = self.margins(point)
            steepest = self.loss.slope(z - error)
            loss = self.weight @ (steepest * error + (n + 32) * self.eps * self.loss.value(z))
            return loss, (p + 8) * self.eps * self._penalty(size, np.abs(self.long[1]))

    @property
    def grain(self) -> float:
        """What the last digit of an intercept makes of the best constant's objective at a kink."""
        size = np.abs(self.offset) + abs(self.best_constant.intercept) + self.loss.reach
        return 4 * EPS * float(self.weight @ size) * float(self.loss.slope(np.zeros(1))[0])

    def doubt(self, point: Point, alpha: float) -> float:
        """What is unknown of P because Q is positive semidefinite up to noise only."""
        if self.noise == 0.0:
            return 0.0
        size = self.noise * np.abs(self.Q).max() * float(np.sum(np.square(point.coef, dtype=LONG)))
        return float(alpha * (1 - self.l1_ratio) / 2 * size)

    def _penalty(self, coef: NDArray, Q: NDArray) -> NDArray:
        quadratic = Q @ coef**2 if Q.ndim == 1 else coef @ Q @ coef
        ridge = (1 - LONG(self.l1_ratio)) / 2 * quadratic
        return ridge + LONG(self.l1_ratio) * (self.factor @ np.abs(coef))

    @cached_property
    def best_constant(self) -> Point:
        """The best model without coefficients: where the slope in the intercept changes sign."""
        zero = np.zeros(self.X.shape[1])
        if not self.fit_intercept:
            return Point(zero, 0.0)

        def rises(a: NDArray) -> NDArray[np.bool_]:
            z = self.y * (self.offset + a[:, None])
            return (self.y * self.loss.slope(z)) @ self.weight <= 0

        with np.errstate(all="ignore"):
            reach = 1.0 + float(np.abs(self.offset).max())
            while reach < 1e30 and rises(np.array([-reach, reach])).tolist() != [False, True]:
                reach *= 2
            low, high = -reach, reach
            while low < (low + high) / 2 < high:
                cuts = low + (high - low) * CUTS
                cuts[-1] = high
                first = int(np.argmax(np.append(rises(cuts[1:-1]), True)))
                low, high = cuts[first : first + 2].tolist()
        ends = [Point(zero, low), Point(zero, high)]
        return min(ends, key=lambda point: self.value(point, 1.0))

    def with_loss(self, **changes: float | bool | str) -> Plain:
        return replace(self, loss=replace(self.loss, **changes))

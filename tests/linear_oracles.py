"""Oracles for the linear problem: plain NumPy and SciPy's optimisers.

P(a, b) = (1/n) Σ w_i φ(y_i (o_i + a + x_i'b)) + α Σ_j p_j [(1−ω)/2 b_j² + ω|b_j|]
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize, root
from scipy.special import expit

Array = NDArray[np.float64]


def make_data(n: int = 60, p: int = 8, seed: int = 0) -> tuple[Array, Array]:
    """A correlated Gaussian design with labels ±1 that no line separates."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) + 0.7 * rng.standard_normal((n, 1))
    signal = X[:, : (p + 1) // 2] @ np.linspace(1.0, -1.5, (p + 1) // 2) + 0.3
    y = np.where(signal + 1.5 * rng.standard_normal(n) > 0, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    return X, y


def make_sparse_data() -> tuple[Array, Array]:
    """The same with three of five entries zero."""
    X, y = make_data(seed=3)
    return X * (np.random.default_rng(4).uniform(size=X.shape) < 0.4), y


def make_weights(n: int) -> Array:
    return np.random.default_rng(5).uniform(0.2, 3.0, n)


def make_offsets(n: int) -> Array:
    return np.random.default_rng(6).normal(0.0, 0.7, n)


@dataclass(frozen=True)
class Problem:
    """One penalised problem in plain NumPy; loss is a name, written out again below."""

    X: Array
    y: Array
    loss: str = "coherence"
    rho: float = 1.0
    u: float = 1.0
    delta: float = 2.0
    alpha: float = 0.05
    l1_ratio: float = 0.5
    fit_intercept: bool = True
    sample_weight: Array | None = None
    offset: Array | None = None
    penalty_factor: Array | None = None
    bounds: tuple[Any, Any] | None = None
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def weight(self) -> Array:
        n = len(self.y)
        w = np.ones(n) if self.sample_weight is None else np.asarray(self.sample_weight, float)
        return w / w.sum()

    @property
    def shift(self) -> Array:
        return np.zeros(len(self.y)) if self.offset is None else self.offset

    @property
    def factor(self) -> Array:
        p = self.X.shape[1]
        return np.ones(p) if self.penalty_factor is None else np.asarray(self.penalty_factor, float)

    @property
    def box(self) -> tuple[Array, Array]:
        p = self.X.shape[1]
        lower, upper = (-np.inf, np.inf) if self.bounds is None else self.bounds
        return np.broadcast_to(lower, p).astype(float), np.broadcast_to(upper, p).astype(float)

    @property
    def kappa(self) -> float:
        if self.loss != "coherence":
            return 1.0
        return self.u / (self.rho * np.logaddexp(0.0, self.u / self.rho))

    def phi(self, z: Array) -> Array:
        if self.loss == "coherence":
            return self.kappa * self.rho * np.logaddexp(0.0, (self.u - z) / self.rho)
        if self.loss == "logistic":
            return np.logaddexp(0.0, -z)
        if self.loss == "squared_hinge":
            return np.maximum(1.0 - z, 0.0) ** 2
        d = self.delta
        return np.where(z > 1, 0.0, np.where(z > 1 - d, (1 - z) ** 2 / (2 * d), 1 - z - d / 2))

    def slope(self, z: Array) -> Array:
        """−φ'(z), which is κ times the dual variable s of the design's Section 4."""
        if self.loss == "coherence":
            return self.kappa * expit((self.u - z) / self.rho)
        if self.loss == "logistic":
            return expit(-z)
        if self.loss == "squared_hinge":
            return 2.0 * np.maximum(1.0 - z, 0.0)
        return np.clip((1.0 - z) / self.delta, 0.0, 1.0)

    def margins(self, coef: Array, intercept: float) -> Array:
        return self.y * (self.shift + intercept + self.X @ coef)

    def penalty(self, coef: Array) -> float:
        ridge = 0.5 * (1.0 - self.l1_ratio) * coef**2
        return float(self.alpha * self.factor @ (ridge + self.l1_ratio * np.abs(coef)))

    def primal(self, coef: Array, intercept: float) -> float:
        loss = self.weight @ self.phi(self.margins(coef, intercept))
        return float(loss) + self.penalty(coef)

    def null_objective(self) -> float:
        start = minimize(
            lambda a: self.weight @ self.phi(self.y * (self.shift + a[0])), [0.0], tol=1e-14
        )
        zero = self.primal(np.zeros(self.X.shape[1]), 0.0)
        return float(start.fun) if self.fit_intercept else zero

    def solve(self) -> tuple[Array, float]:
        """Minimise P by L-BFGS-B on b = b⁺ − b⁻, then by a root finder on its support."""
        p = self.X.shape[1]
        lower, upper = self.box
        ridge = self.alpha * (1.0 - self.l1_ratio) * self.factor
        lasso = self.alpha * self.l1_ratio * self.factor

        def smooth(theta: Array) -> tuple[float, Array]:
            """Loss and ridge, with the gradient in (a, b)."""
            a, b = theta[0], theta[1:]
            z = self.margins(b, a)
            g = -self.weight * self.y * self.slope(z)
            value = self.weight @ self.phi(z) + 0.5 * ridge @ b**2
            first = g.sum() if self.fit_intercept else 0.0
            return float(value), np.concatenate([[first], self.X.T @ g + ridge * b])

        def split(x: Array) -> tuple[float, Array]:
            plus, minus = x[1 : p + 1], x[p + 1 :]
            value, gradient = smooth(np.concatenate([x[:1], plus - minus]))
            gradient_b = gradient[1:]
            return value + lasso @ (plus + minus), np.concatenate(
                [gradient[:1], gradient_b + lasso, -gradient_b + lasso]
            )

        limits = [(None, None), *[(0.0, top) for top in upper], *[(0.0, -low) for low in lower]]
        options = {"maxiter": 20000, "maxfun": 40000, "ftol": 0.0, "gtol": 1e-8, "maxcor": 50}
        found = minimize(
            split, np.zeros(2 * p + 1), jac=True, method="L-BFGS-B", bounds=limits, options=options
        ).x
        theta = np.concatenate([found[:1], found[1 : p + 1] - found[p + 1 :]])
        return self._polish(theta, smooth, lasso)

    def _polish(self, theta: Array, smooth: Any, lasso: Array) -> tuple[Array, float]:
        lower, upper = self.box
        b = theta[1:]
        inside = (np.abs(b) > 1e-7) & (b > lower + 1e-7) & (b < upper - 1e-7)
        inside |= (lasso == 0) & (b > lower + 1e-7) & (b < upper - 1e-7)
        free = np.concatenate([[self.fit_intercept], inside])
        push = np.concatenate([[0.0], lasso * np.sign(b)])
        clean = theta.copy()
        clean[1:][np.abs(b) <= 1e-7] = 0.0

        def stationarity(part: Array) -> Array:
            point = clean.copy()
            point[free] = part
            return (smooth(point)[1] + push)[free]

        if not free.any():
            return clean[1:], float(clean[0])
        part = root(stationarity, clean[free], method="hybr", options={"xtol": 1e-14}).x
        polished = clean.copy()
        polished[free] = part
        # A wrong guess of the support must not pass for a reference.
        slack = 1e-13 * self.primal(theta[1:], float(theta[0]))
        worse = self.primal(polished[1:], float(polished[0])) - slack
        best = polished if worse <= self.primal(theta[1:], float(theta[0])) else theta
        return best[1:], float(best[0])

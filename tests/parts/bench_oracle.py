"""A small logistic-like problem, once on the core's bench and once in NumPy."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from clearning import _parts


class Twin:
    """Coherence loss (ρ, u), elastic net with factors and bounds, and the bench that holds it."""

    def __init__(self, n=50, p=30, seed=0, rho=1.0, u=1.0, alpha=0.05, l1_ratio=0.6, **given):
        rng = np.random.default_rng(seed)
        self.X = given.get("X", rng.standard_normal((n, p)))
        n, p = self.X.shape
        noisy = np.where(self.X[:, 0] + rng.standard_normal(n) > 0.2, 1.0, -1.0)
        self.y = given.get("y", noisy)
        weight = rng.random(n) + 0.1
        self.weight = weight / weight.sum()
        self.rho, self.u, self.alpha, self.l1_ratio = rho, u, alpha, l1_ratio
        self.l1_factor = given.get("l1_factor", np.ones(p))
        self.l2_factor = given.get("l2_factor", np.ones(p))
        self.intercept = given.get("intercept", True)
        self.offset = given.get("offset", np.zeros(n))
        self.lower, self.upper = given.get("lower", -np.inf), given.get("upper", np.inf)
        request = {
            "loss": _parts.loss("coherence", rho, u),
            "offset": self.offset,
            "l1_ratio": l1_ratio,
            "l1_factor": self.l1_factor,
            "lower": np.full(p, self.lower),
            "upper": np.full(p, self.upper),
            "intercept": self.intercept,
            "alpha": alpha,
        }
        X = np.asfortranarray(self.X)
        if given.get("kernel"):
            self.bench = _parts.KernelBench(X, self.y, self.weight, request)
            self.Q = self.X
        else:
            self.bench = _parts.Bench(X, self.l2_factor, self.y, self.weight, request)
            self.Q = np.diag(self.l2_factor)

    def loss(self, b, a):
        t = (self.u - self.y * (self.offset + self.X @ b + a)) / self.rho
        return self.weight @ (self.rho * np.logaddexp(0.0, t))

    def penalty(self, b):
        l1 = self.l1_ratio * self.l1_factor @ np.abs(b)
        return self.alpha * (l1 + 0.5 * (1 - self.l1_ratio) * b @ self.Q @ b)

    def objective(self, b, a):
        return self.loss(b, a) + self.penalty(b)

    def e(self, b, a):
        t = (self.u - self.y * (self.offset + self.X @ b + a)) / self.rho
        return -self.y * self.weight * expit(t)

    def gradient(self, b, a):
        """Of the smooth part."""
        quadratic = self.alpha * (1 - self.l1_ratio) * self.Q @ b
        return self.X.T @ self.e(b, a) + quadratic

    def l1(self):
        return self.alpha * self.l1_ratio * self.l1_factor

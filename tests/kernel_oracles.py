"""Oracles for the kernel problem: plain NumPy, and SciPy's general solver for convex programs.

P(a, β) = (1/n) Σ w_i φ(y_i (o_i + a + k_i'β)) + α [(1−ω)/2 β'Mβ + ω‖β‖₁], where K is the kernel
matrix of the samples and M = K, or K is between samples and landmarks and M among landmarks.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.optimize import minimize, minimize_scalar
from sklearn.datasets import make_moons
from sklearn.metrics.pairwise import rbf_kernel

from clearning.losses import Loss, make_loss


def make_kernel(n=50, gamma=1.0, seed=0):
    """A Gaussian kernel matrix, its inputs, and labels ±1 that overlap."""
    X, y = make_moons(n, noise=0.35, random_state=seed)
    K = rbf_kernel(X, gamma=gamma)
    return X, (K + K.T) / 2, 2.0 * y - 1.0


@dataclass(frozen=True)
class KernelProblem:
    """One penalised problem in plain NumPy."""

    K: np.ndarray
    y: np.ndarray
    loss: Loss
    alpha: float
    l1_ratio: float
    penalty_kernel: np.ndarray | None = None
    sample_weight: np.ndarray | None = None
    offset: np.ndarray | None = None

    @cached_property
    def M(self):
        return self.K if self.penalty_kernel is None else self.penalty_kernel

    @cached_property
    def weight(self):
        w = np.ones(len(self.y)) if self.sample_weight is None else self.sample_weight
        return w / w.sum()

    @cached_property
    def shift(self):
        return np.zeros(len(self.y)) if self.offset is None else self.offset

    @cached_property
    def ridge(self):
        return self.alpha * (1 - self.l1_ratio)

    @cached_property
    def lasso(self):
        return self.alpha * self.l1_ratio

    def margins(self, beta, intercept):
        return self.y * (self.shift + intercept + self.K @ beta)

    def primal(self, beta, intercept):
        loss = self.weight @ self.loss.value(self.margins(beta, intercept))
        return loss + self.ridge / 2 * beta @ self.M @ beta + self.lasso * np.abs(beta).sum()

    def null_objective(self):
        zero = np.zeros(self.K.shape[1])
        best = minimize_scalar(lambda a: self.primal(zero, a), bracket=(-1, 1), tol=1e-12)
        return best.fun

    def slopes(self, beta, intercept):
        """The dual variable of each sample: −φ'(z)."""
        return -self.loss.gradient(self.margins(beta, intercept))

    def residual(self, s, beta):
        """K'(−w∘y∘s) + α(1−ω)Mβ, the gradient of the smooth part for exact slopes s."""
        return self.K.T @ (-self.weight * self.y * s) + self.ridge * self.M @ beta

    def dual(self, beta, intercept):
        """Return a feasible value of the dual problem, made from any primal point."""
        s = self.slopes(beta, intercept)
        mass = [self.weight[self.y == c] @ s[self.y == c] for c in (-1, 1)]
        s = s * np.where(self.y < 0, min(mass) / mass[0], min(mass) / mass[1])
        v = self.weight * self.y * s
        if self.l1_ratio == 0:
            # At ω = 0 the constraint is an equation, which this β solves.
            b = np.linalg.lstsq(self.M, self.K.T @ v, rcond=1e-13)[0] / self.ridge
            scale = 1.0
        else:
            b = beta
            scale = min(1.0, self.lasso / np.abs(self.residual(s, beta)).max())
        s, b = scale * s, scale * b
        entropy = self.weight @ (self.loss.conjugate(s) + s * self.y * self.shift)
        return -entropy - self.ridge / 2 * b @ self.M @ b

    def solve(self):
        """Minimise P by SLSQP over β = β⁺ − β⁻; the hinge by its slack variables."""
        return self._solve_hinge() if self.loss.name == "hinge" else self._solve_smooth()

    def _penalty(self, split):
        """Value and gradient of the penalty in (β⁺, β⁻), and β."""
        m = self.M.shape[0]
        beta = split[:m] - split[m : 2 * m]
        Mb = self.M @ beta
        gradient = np.concatenate([self.ridge * Mb, -self.ridge * Mb]) + self.lasso
        return self.ridge / 2 * beta @ Mb + self.lasso * split.sum(), gradient, beta

    def _solve_smooth(self):
        m = self.M.shape[0]

        def objective(x):
            penalty, gradient, beta = self._penalty(x[1:])
            z = self.margins(beta, x[0])
            g = self.weight * self.y * self.loss.gradient(z)
            Kg = self.K.T @ g
            value = self.weight @ self.loss.value(z) + penalty
            return value, np.concatenate([[g.sum()], gradient + np.concatenate([Kg, -Kg])])

        bounds = [(None, None)] + [(0, None)] * (2 * m)
        return _slsqp(objective, np.zeros(2 * m + 1), bounds)

    def _solve_hinge(self):
        n, m = self.K.shape
        rows = self.y[:, None] * np.hstack([np.ones((n, 1)), self.K, -self.K])
        # slack_i ≥ 1 − z_i and slack_i ≥ 0
        matrix = np.hstack([rows, np.eye(n)])
        constraint = {
            "type": "ineq",
            "fun": lambda x: matrix @ x - 1 + self.y * self.shift,
            "jac": lambda x: matrix,
        }

        def objective(x):
            penalty, gradient, _ = self._penalty(x[1 : 2 * m + 1])
            value = self.weight @ x[2 * m + 1 :] + penalty
            return value, np.concatenate([[0.0], gradient, self.weight])

        start = np.concatenate([np.zeros(2 * m + 1), 1 + np.abs(self.shift)])
        bounds = [(None, None)] + [(0, None)] * (2 * m + n)
        return _slsqp(objective, start, bounds, constraints=[constraint])


def _slsqp(objective, start, bounds, **options):
    found = minimize(
        objective,
        start,
        jac=True,
        method="SLSQP",
        bounds=bounds,
        options={"maxiter": 3000, "ftol": 1e-15},
        **options,
    )
    return found.fun


def problem(loss="coherence", rho=1.0, n=50, alpha=3e-3, l1_ratio=0.3, **options):
    _, K, y = make_kernel(n)
    return KernelProblem(K, y, make_loss(loss, rho=rho), alpha, l1_ratio, **options)

"""Algorithm 1 of the paper as printed, in plain NumPy: the readable reference.

Outer loop: expand the C-loss to second order at the current scores. Inner loop: coordinate descent
with soft-thresholding on the expansion. No line search, no screening, no certificate: for speed and
safety use `clearning.clearning_path` and `clearning.kernel_clearning_path`, which minimise the same
two objectives. The paper's slips are put right: the factor κ of the C-loss is kept in the
expansion, q(x) has both its parentheses, and S(μ, ν) = sign(μ)(|μ| − ν)₊.

The letters are the paper's: score f, margin y f, q = σ((u − y f)/ρ), working response z.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit

from clearning.losses import CLoss

Array = NDArray[np.float64]


@dataclass
class Algorithm1Result:
    """The minimiser and how it was reached.

    Attributes
    ----------
    intercept, coef
        α and β (or a and b).
    outer_objectives
        The objective at the start and after every outer iteration.
    inner_objectives
        For every outer iteration, G(α, β) at its start and after every sweep. The constant of the
        expansion is kept, so that G meets the objective where it was expanded.
    converged
        Whether the outer loop met its tolerance.
    """

    intercept: float
    coef: Array
    outer_objectives: list[float] = field(default_factory=list)
    inner_objectives: list[list[float]] = field(default_factory=list)
    converged: bool = False


def algorithm1(
    design: ArrayLike,
    y: ArrayLike,
    *,
    kernel: bool = False,
    alpha: float,
    l1_ratio: float = 0.5,
    rho: float = 1.0,
    u: float = 1.0,
    tol_outer: float = 1e-5,
    tol_inner: float = 1e-5,
    max_outer: int = 100,
    max_inner: int = 10_000,
) -> Algorithm1Result:
    """Minimise the C-learning objective by Algorithm 1.

    Features:  (1/n) Σ C_{ρ,u}(y_i (a + x_i'b)) + γ [(1−ω)/2 ‖b‖² + ω‖b‖₁].
    Kernel:    (1/n) Σ C_{ρ,u}(y_i (α + k_i'β)) + γ [(1−ω)/2 β'Kβ + ω‖β‖₁].

    Parameters
    ----------
    design : array-like of shape (n_samples, n_features) or (n_samples, n_samples)
        X, or the kernel matrix K with `kernel=True`.
    y : array-like of shape (n_samples,)
        Labels -1 and +1.
    kernel : bool, default=False
        Which of the two objectives.
    alpha, l1_ratio : float
        The paper's γ and ω.
    rho, u : float, default=1.0
        Temperature and margin of the C-loss.
    tol_outer, tol_inner : float, default=1e-5
        The paper's ε_m and ε_i: a loop ends when |Δα| + ‖Δβ‖ over one of its rounds is below.
    max_outer, max_inner : int
        Rounds after which a loop ends in any case.

    Returns
    -------
    Algorithm1Result
    """
    A, y = np.asarray(design, dtype=float), np.asarray(y, dtype=float)
    problem = _Problem(A, y, kernel, alpha, l1_ratio, CLoss(rho, u))
    intercept, coef = 0.0, np.zeros(A.shape[1])
    result = Algorithm1Result(intercept, coef, [problem.objective(intercept, coef)])
    for _ in range(max_outer):
        start = intercept, coef
        expansion = _Expansion(problem, intercept, coef)
        intercept, coef, values = expansion.minimise(intercept, coef, tol_inner, max_inner)
        result.outer_objectives.append(problem.objective(intercept, coef))
        result.inner_objectives.append(values)
        if _change((intercept, coef), start) < tol_outer:
            result.converged = True
            break
    result.intercept, result.coef = intercept, coef
    return result


@dataclass(frozen=True)
class _Problem:
    """The objective: a design A, the C-loss and the penalty with M = K or M = I."""

    A: Array
    y: Array
    kernel: bool
    alpha: float
    l1_ratio: float
    loss: CLoss

    def objective(self, intercept: float, coef: Array) -> float:
        scores = intercept + self.A @ coef
        return float(np.mean(self.loss.value(self.y * scores))) + self.penalty(coef)

    def penalty(self, coef: Array) -> float:
        squared = coef @ self.A @ coef if self.kernel else coef @ coef
        ridge = (1 - self.l1_ratio) / 2 * squared
        return float(self.alpha * (ridge + self.l1_ratio * np.sum(np.abs(coef))))


class _Expansion:
    """G(α, β): the loss to second order around a point, and the penalty."""

    def __init__(self, problem: _Problem, intercept: float, coef: Array):
        A, y, loss = problem.A, problem.y, problem.loss
        n = len(y)
        scores = intercept + A @ coef
        q = expit((loss.u - y * scores) / loss.rho)
        self.problem = problem
        self.weights = loss.scale / (n * loss.rho) * q * (1 - q)
        self.z = scores + loss.rho / (y * (1 - q))
        self.curvatures = self.weights @ A**2
        self.constant = (
            np.mean(loss.value(y * scores)) - 0.5 * self.weights @ (scores - self.z) ** 2
        )

    def value(self, intercept: float, coef: Array) -> float:
        residual = intercept + self.problem.A @ coef - self.z
        return float(0.5 * self.weights @ residual**2 + self.constant + self.problem.penalty(coef))

    def minimise(
        self, intercept: float, coef: Array, tol: float, max_sweeps: int
    ) -> tuple[float, Array, list[float]]:
        """Sweep over α and all β_j until a sweep changes nothing to speak of."""
        coef = coef.copy()
        values = [self.value(intercept, coef)]
        for _ in range(max_sweeps):
            start = intercept, coef.copy()
            intercept = self.sweep(coef)
            values.append(self.value(intercept, coef))
            if _change((intercept, coef), start) < tol:
                break
        return intercept, coef, values

    def sweep(self, coef: Array) -> float:
        """Minimise over α, then over every β_j in turn, in place; return α."""
        A, w, problem = self.problem.A, self.weights, self.problem
        ridge, lasso = problem.alpha * (1 - problem.l1_ratio), problem.alpha * problem.l1_ratio
        fitted = A @ coef
        intercept = float(w @ (self.z - fitted) / w.sum())
        for j in range(len(coef)):
            # With β̌ = β except β̌_j = 0: t and the share of the others in the ridge term, m_j'β̌.
            m_jj = A[j, j] if problem.kernel else 1.0
            others = fitted[j] - m_jj * coef[j] if problem.kernel else 0.0
            residual = self.z - intercept - fitted
            t = A[:, j] @ (w * residual) + self.curvatures[j] * coef[j]
            new = soft_threshold(t - ridge * others, lasso) / (self.curvatures[j] + ridge * m_jj)
            if new != coef[j]:
                fitted += A[:, j] * (new - coef[j])
                coef[j] = new
        return intercept


def soft_threshold(mu: float, nu: float) -> float:
    """S(μ, ν) = sign(μ)(|μ| − ν)₊."""
    return float(np.sign(mu) * max(abs(mu) - nu, 0.0))


def _change(new: tuple[float, Array], old: tuple[float, Array]) -> float:
    return abs(new[0] - old[0]) + float(np.linalg.norm(new[1] - old[1]))

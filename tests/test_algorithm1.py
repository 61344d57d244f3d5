"""The plain Algorithm 1 against SciPy's optimisers, and the fast solver against Algorithm 1."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from clearning.datasets import make_simulation
from clearning.experiments.algorithm1 import algorithm1, soft_threshold
from clearning.path import clearning_path, kernel_clearning_path


def features(n=40, d=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = np.where(X[:, 0] - 0.5 * X[:, 1] + 0.7 * rng.normal(size=n) > 0, 1, -1)
    return X, y


def kernel_matrix(n=20, seed=0):
    X, y, _ = make_simulation(1, n_samples=n, random_state=seed)
    squared = np.sum((X[:, None] - X[None]) ** 2, axis=2)
    return np.exp(-squared), y


def scipy_minimum(A, M, y, alpha, l1_ratio, rho, u):
    """The minimum by L-BFGS-B over β = p − m with p, m ≥ 0, the loss written out anew."""
    n, d = A.shape
    kappa = u / (rho * np.logaddexp(0, u / rho))

    def objective(v):
        coef = v[1 : d + 1] - v[d + 1 :]
        t = (u - y * (v[0] + A @ coef)) / rho
        value = kappa * rho * np.mean(np.logaddexp(0, t))
        value += alpha * ((1 - l1_ratio) / 2 * coef @ M @ coef + l1_ratio * v[1:].sum())
        score_gradient = -kappa * y / (1 + np.exp(-t)) / n
        gradient = A.T @ score_gradient + alpha * (1 - l1_ratio) * (M @ coef)
        return value, np.concatenate(
            [[score_gradient.sum()], gradient + alpha * l1_ratio, -gradient + alpha * l1_ratio]
        )

    bounds = [(None, None)] + [(0, None)] * (2 * d)
    options = {"maxiter": 50_000, "maxfun": 100_000, "ftol": 1e-15, "gtol": 1e-10}
    return minimize(
        objective, np.zeros(2 * d + 1), jac=True, bounds=bounds, method="L-BFGS-B", options=options
    ).fun


@pytest.mark.parametrize("l1_ratio", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("rho", [0.5, 1.0, 2.0])
def test_features_against_scipy(l1_ratio, rho):
    X, y = features()
    result = algorithm1(X, y, alpha=0.02, l1_ratio=l1_ratio, rho=rho)
    best = scipy_minimum(X, np.eye(X.shape[1]), y, 0.02, l1_ratio, rho, 1.0)
    assert result.converged
    assert result.outer_objectives[-1] == pytest.approx(best, abs=1e-8)


@pytest.mark.parametrize("l1_ratio", [0.2, 0.8])
@pytest.mark.parametrize("u", [0.5, 1.0])
def test_kernel_against_scipy(l1_ratio, u):
    K, y = kernel_matrix()
    result = algorithm1(
        K, y, kernel=True, alpha=0.02, l1_ratio=l1_ratio, u=u, tol_outer=1e-7, tol_inner=1e-7
    )
    best = scipy_minimum(K, K, y, 0.02, l1_ratio, 1.0, u)
    assert result.converged
    assert result.outer_objectives[-1] == pytest.approx(best, abs=1e-7)


def test_expansion_meets_the_objective_and_falls():
    X, y = features(seed=1)
    result = algorithm1(X, y, alpha=0.01, l1_ratio=0.5)
    for outer, inner in zip(result.outer_objectives, result.inner_objectives, strict=False):
        assert inner[0] == pytest.approx(outer, abs=1e-14)
        assert np.all(np.diff(inner) <= 1e-14)
    assert np.all(np.diff(result.outer_objectives) <= 1e-12)


def test_zero_above_the_largest_penalty():
    X, y = features()
    result = algorithm1(X, y, alpha=5.0, l1_ratio=1.0)
    np.testing.assert_array_equal(result.coef, 0)


def test_rounds_are_limited():
    X, y = features()
    result = algorithm1(X, y, alpha=1e-3, max_outer=1, max_inner=2)
    assert not result.converged
    assert len(result.outer_objectives) == 2
    assert len(result.inner_objectives[0]) == 3


@pytest.mark.parametrize(
    ("mu", "nu", "expected"), [(3, 1, 2), (-3, 1, -2), (0.5, 1, 0), (-1, 1, 0)]
)
def test_soft_threshold(mu, nu, expected):
    assert soft_threshold(mu, nu) == expected


@pytest.mark.parametrize("l1_ratio", [0.1, 0.5, 1.0])
@pytest.mark.parametrize("rho", [0.5, 1.0])
def test_fast_linear_solver_reaches_the_same_objectives(l1_ratio, rho):
    X, y = features(n=30, d=10, seed=2)
    path = clearning_path(X, y, rho=rho, l1_ratio=l1_ratio, alphas=6, alpha_min_ratio=0.02)
    for alpha, objective, gap in zip(path.alphas, path.objectives, path.dual_gaps, strict=True):
        plain = algorithm1(X, y, alpha=alpha, l1_ratio=l1_ratio, rho=rho)
        assert objective == pytest.approx(plain.outer_objectives[-1], abs=2e-6)
        assert plain.outer_objectives[-1] >= objective - gap - 1e-12


@pytest.mark.parametrize("l1_ratio", [0.2, 0.8])
def test_fast_kernel_solver_reaches_the_same_objectives(l1_ratio):
    K, y = kernel_matrix(n=12)
    path = kernel_clearning_path(K, y, l1_ratio=l1_ratio, alphas=4, alpha_min_ratio=0.1)
    for alpha, objective, gap in zip(path.alphas, path.objectives, path.dual_gaps, strict=True):
        plain = algorithm1(K, y, kernel=True, alpha=alpha, l1_ratio=l1_ratio)
        assert objective == pytest.approx(plain.outer_objectives[-1], abs=2e-6)
        assert plain.outer_objectives[-1] >= objective - gap - 1e-12

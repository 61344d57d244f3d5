"""Newton steps of kernels: columns enter the matrix as they are needed, the others are watched."""

from __future__ import annotations

import numpy as np
import pytest
from bench_oracle import Twin

TOL = 1e-6  # of the bench; a step may leave violations of less than this share of a threshold


def smooth_kernel(size, seed=0):
    """Few distances in few dimensions: columns that resemble each other."""
    P = np.random.default_rng(seed).standard_normal((size, 3))
    return np.exp(-0.3 * ((P[:, None] - P[None]) ** 2).sum(-1))


def on_bench(size=120, start=0.0, seed=0, **given):
    """A kernel problem with all columns in its set; a share of the coefficients is not zero."""
    twin = Twin(X=smooth_kernel(size), kernel=True, seed=seed, **given)
    rng = np.random.default_rng(seed)
    b = 0.3 * rng.standard_normal(size) * (rng.random(size) < start)
    twin.bench.add(list(range(size)))
    twin.bench.place(b, 0.0)
    return twin, b


def assert_minimises_the_model(twin, b, move):
    """Optimality of the quadratic model plus the elastic net, computed with the whole matrix."""
    state, K, h = twin.bench.state(), twin.X, move["curvature"]
    mean = K.T @ h / h.sum() if twin.intercept else np.zeros(len(b))
    level = twin.alpha * (1.0 - twin.l1_ratio)
    delta = np.zeros(len(b))
    delta[move["columns"]] = move["delta"]
    Z = K - mean
    gradient = state["v"] + level * (K @ (b + delta)) + Z.T @ (h * (Z @ delta))
    l1, after = twin.l1(), b + delta
    violation = np.where(
        after != 0.0, np.abs(gradient + l1 * np.sign(after)), np.maximum(np.abs(gradient) - l1, 0.0)
    )
    assert np.all(violation <= TOL * l1)
    assert move["shift"] == pytest.approx(-mean @ delta, abs=1e-12)
    return after


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("start", [0.0, 0.2, 0.9], ids=["null", "some", "most"])
@pytest.mark.parametrize("alpha", [0.02, 1e-3, 1e-5])
def test_a_step_minimises_the_model_on_all_columns(alpha, start, intercept):
    twin, b = on_bench(start=start, alpha=alpha, intercept=intercept)
    after = assert_minimises_the_model(twin, b, twin.bench.propose())
    assert 0 < np.count_nonzero(after) < len(b)


@pytest.mark.parametrize("seed", range(3))
def test_steps_from_other_places_with_the_matrix_that_is_there(seed):
    """Large enough that matrices are kept: columns come and go between the steps."""
    twin, _ = on_bench(size=300, alpha=1e-4, seed=seed)
    rng = np.random.default_rng(seed)
    b = np.zeros(300)
    for share in (0.05, 0.3, 0.1, 0.02):
        assert_minimises_the_model(twin, b, twin.bench.propose())
        b = 0.1 * rng.standard_normal(300) * (rng.random(300) < share)
        twin.bench.place(b, 0.0)


def test_a_set_that_is_all_held_needs_no_watching():
    """Without an l1 factor every column is in the matrix from the start."""
    twin, _ = on_bench(size=40, alpha=0.01, l1_factor=np.zeros(40))
    move = twin.bench.propose()
    state, K, h = twin.bench.state(), twin.X, move["curvature"]
    delta = np.zeros(40)
    delta[move["columns"]] = move["delta"]
    Z = K - K.T @ h / h.sum()
    gradient = state["v"] + twin.alpha * (1 - twin.l1_ratio) * K @ delta + Z.T @ (h * (Z @ delta))
    np.testing.assert_allclose(gradient, 0.0, atol=1e-6)
    assert len(move["columns"]) == 40

"""Which columns come in, and the dual point that they are looked at with: against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from bench_oracle import Twin
from scipy.optimize import minimize_scalar

MOST_AT_ONCE = 100


def somewhere(twin, columns=3):
    """Coefficients on a few columns, and the intercept that the core gives them."""
    b = np.zeros(twin.X.shape[1])
    b[:columns] = np.linspace(0.3, -0.2, columns)
    twin.bench.add(list(range(columns)))
    twin.bench.place(b, 0.0)
    return b, twin.bench.state()["a"]


def violators(twin, b, a, outside):
    """Columns above their threshold, the worst first."""
    excess = (np.abs(twin.gradient(b, a)) - twin.l1()) / twin.l1()
    return [int(j) for j in np.argsort(-excess) if excess[j] > 0 and j in outside]


# --- The iterate -------------------------------------------------------------------------------


@pytest.mark.parametrize("rho", [1.0, 0.05])
@pytest.mark.parametrize("kernel", [False, True])
def test_an_iterate_is_what_its_coefficients_make_it(kernel, rho):
    rng = np.random.default_rng(0)
    A = rng.standard_normal((40, 40))
    given = {"X": A @ A.T / 40, "kernel": True} if kernel else {"offset": rng.random(50)}
    twin = Twin(rho=rho, **given)
    b, a = somewhere(twin)
    best = minimize_scalar(lambda t: twin.loss(b, t), bracket=(-1.0, 1.0), tol=1e-12)
    assert a == pytest.approx(best.x, abs=1e-6)
    state = twin.bench.state()
    assert abs(state["e"].sum()) < 1e-15
    np.testing.assert_allclose(state["e"], twin.e(b, a), atol=1e-11)
    np.testing.assert_allclose(state["v"], twin.X.T @ twin.e(b, a), atol=1e-10)
    assert state["loss"] == pytest.approx(twin.loss(b, a), rel=1e-13)
    if kernel:
        np.testing.assert_allclose(state["form"], twin.Q @ b, atol=1e-13)


# --- Screening ---------------------------------------------------------------------------------


@pytest.mark.parametrize("references", [0, 1, 3])
@pytest.mark.parametrize("scale", [0.02, 0.1, 0.2])
def test_admit_lets_all_violators_in(references, scale):
    """Whether correlations are computed or predicted, the same columns come in, the worst first."""
    twin = Twin(n=60, p=400, alpha=scale)
    path = np.random.default_rng(1).standard_normal((references, 3))
    for step in path:
        b = np.zeros(400)
        b[:3] = step
        twin.bench.place(b, 0.0)
        twin.bench.remember()
    b, a = somewhere(twin)
    twin.bench.forget_correlations()
    expected = violators(twin, b, a, range(3, 400))
    came = twin.bench.admit()
    assert came == min(len(expected), MOST_AT_ONCE)
    entered = twin.bench.columns()[3:]
    assert entered == expected[:MOST_AT_ONCE]
    np.testing.assert_allclose(
        twin.bench.state()["v"][entered], (twin.X.T @ twin.e(b, a))[entered], atol=1e-12
    )


def test_predicted_correlations_save_columns():
    """Close to a reference only columns that may violate are computed; others keep a prediction."""
    twin = Twin(n=60, p=400, alpha=0.3)
    b, a = somewhere(twin)
    twin.bench.place(b * 1.01, a)
    twin.bench.remember()
    twin.bench.place(b, a)
    twin.bench.forget_correlations()
    twin.bench.admit()
    a = twin.bench.state()["a"]
    error = np.abs(twin.bench.state()["v"] - twin.X.T @ twin.e(b, a))
    outside = np.setdiff1d(np.arange(400), twin.bench.columns())
    assert np.count_nonzero(error[outside] > 1e-9) > 200
    assert error[outside].max() < 1e-2


def test_no_column_comes_in_that_a_bound_holds_at_zero():
    twin = Twin(p=80, lower=0.0)
    b, a = np.zeros(80), 0.0
    twin.bench.place(b, a)
    a = twin.bench.state()["a"]
    g = twin.gradient(b, a)
    twin.bench.admit()
    came = twin.bench.columns()
    assert sorted(came) == np.flatnonzero(g < -twin.l1()).tolist()
    assert np.any(g > twin.l1())


def test_start_follows_the_strong_rule():
    factor = np.random.default_rng(2).choice([0.5, 1.0, 3.0], 200)
    twin = Twin(p=200, l1_factor=factor, alpha=0.05)
    b, a = somewhere(twin)
    g = np.abs(twin.gradient(b, a))
    for previous in (0.05, 0.06, 0.08):
        threshold = (2 * twin.alpha - previous) * twin.l1_ratio * factor
        expected = set(np.flatnonzero(g >= threshold)) | set(np.flatnonzero(b))
        assert len(expected) < 200
        assert set(twin.bench.start(previous)) == expected


def test_cold_start_takes_the_worst_offenders():
    factor = np.ones(600)
    factor[7] = 0.0
    twin = Twin(n=40, p=600, alpha=0.01, l1_factor=factor)
    b, a = somewhere(twin)
    wanted = twin.bench.cold_start()
    certain = [0, 1, 2, 7]
    assert wanted[:4] == certain
    rest = [j for j in np.argsort(-np.abs(twin.gradient(b, a))) if j not in certain]
    assert wanted[4:] == rest[: MOST_AT_ONCE + 2 * 4]


# --- Dual projection ---------------------------------------------------------------------------


def assert_is_dual_point(twin, dual, columns):
    X = twin.X[:, columns]
    size = np.linalg.norm(dual) * np.linalg.norm(X, axis=0)
    assert np.all(np.abs(X.T @ dual) <= 1e-9 * size)
    if twin.intercept:
        assert abs(dual.sum()) <= 1e-12 * np.linalg.norm(dual) * np.sqrt(len(dual))
    s = -twin.y * dual
    assert np.all(s >= 0.0)
    assert np.all(s <= twin.weight * (1 + 1e-15))


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("rho", [1.0, 0.1])
def test_projected_dual_points_are_orthogonal_and_inside(rho, intercept):
    twin = Twin(n=80, rho=rho, intercept=intercept)
    somewhere(twin)
    columns = [1, 4, 9]
    assert np.abs(twin.X[:, columns].T @ twin.bench.state()["e"]).max() > 1e-3
    assert_is_dual_point(twin, twin.bench.project(columns), columns)


def test_weights_that_would_leave_the_box_stay_at_its_edge():
    """At a hard margin most weights are near 0 or at their limit, and the move is large."""
    edges = 0
    for seed in range(20):
        twin = Twin(n=80, seed=seed, rho=0.3)
        somewhere(twin)
        dual = twin.bench.project([1, 4, 9, 11])
        assert_is_dual_point(twin, dual, [1, 4, 9, 11])
        s = -twin.y * dual
        edges += np.count_nonzero((s == 0.0) | (s == twin.weight))
    assert edges > 0


def test_repeated_and_constant_columns_are_projected_on_once():
    X = np.random.default_rng(0).standard_normal((50, 6))
    X[:, 3] = X[:, 2]
    X[:, 4] = 1.0
    twin = Twin(X=X)
    somewhere(twin)
    assert_is_dual_point(twin, twin.bench.project([2, 3, 4]), [2, 3, 4])


def test_a_point_without_columns_is_its_own_projection():
    twin = Twin()
    somewhere(twin)
    np.testing.assert_array_equal(twin.bench.project([]), twin.bench.state()["e"])


def test_separating_columns_have_no_dual_point():
    """No weights but zero are orthogonal to a column that has the labels' signs."""
    labels = Twin(n=30, p=2).y
    twin = Twin(X=np.column_stack([labels, np.ones(30)]), y=labels, intercept=False)
    twin.bench.place(np.zeros(2), 0.0)
    assert twin.bench.project([0]) is None

"""Temperature paths: the whole dial, the bound ρ log 2, and the limit that is the SVM.

P_ρ(a, b) = Σ w_i V_{ρ,u}(y_i (o_i + a + x_i'b)) + α Σ_j p_j [(1−ω)/2 b_j² + ω|b_j|] with weights
that sum to one, and the same with a kernel; P_0 has the hinge [u − z]₊ instead. All of it is
written out again here in plain NumPy.
"""

from __future__ import annotations

import os
import warnings
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_oracles import make_kernel
from linear_oracles import make_data
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel

from clearning import (
    clearning_path,
    kernel_clearning_path,
    kernel_temperature_path,
    temperature_path,
)
from clearning.losses import Coherence

DIAL = np.geomspace(1e3, 1e-6, 10)
LOG2 = np.log(2.0)
ROUNDING = 1e-12


def softplus_loss(z, rho, u):
    """V_{ρ,u}(z) as ρ log[1 + exp((u − z)/ρ)]; the hinge [u − z]₊ at ρ = 0."""
    return np.maximum(u - z, 0.0) if rho == 0 else rho * np.logaddexp(0.0, (u - z) / rho)


def make_problem(kind, n=60):
    """A small problem that no line separates: a function of (rhos, alpha, ...) and its objective.

    The objective is a function of (coef, intercept, rho, u, alpha, l1_ratio).
    """
    if kind == "kernel":
        _, K, y = make_kernel(n)
        solve, design, M = kernel_temperature_path, K, K
    else:
        X, y = make_data(n, seed=3)
        X = np.where(np.abs(X) > 0.5, X, 0.0)
        design, M, solve = X, np.eye(X.shape[1]), temperature_path
    given_design = sp.csr_matrix(design) if kind == "sparse" else design

    def objective(coef, intercept, rho, *, u=1.0, alpha, l1_ratio):
        loss = softplus_loss(y * (design @ coef + intercept), rho, u).mean()
        ridge = (1 - l1_ratio) / 2 * coef @ M @ coef
        return loss + alpha * (ridge + l1_ratio * np.abs(coef).sum())

    def run(rhos=DIAL, **options):
        return solve(given_design, y, rhos=rhos, **options)

    return run, objective


@pytest.mark.parametrize("l1_ratio", [0.0, 0.1, 0.5, 1.0])
@pytest.mark.parametrize("kind", ["dense", "sparse", "kernel"])
class TestWholeDial:
    """ρ from 1e3 down to 1e-6."""

    alpha = 3e-3

    def fit(self, kind, l1_ratio):
        run, objective = make_problem(kind)
        with warnings.catch_warnings():
            warnings.simplefilter("error", ConvergenceWarning)
            return run(alpha=self.alpha, l1_ratio=l1_ratio), objective

    def test_every_temperature_is_certified(self, kind, l1_ratio):
        path, _ = self.fit(kind, l1_ratio)
        assert path.converged.all()
        assert path.hinge_limit.converged
        assert np.isfinite(path.coefs).all()
        assert np.isfinite(path.intercepts).all()
        assert (path.dual_gaps >= 0).all()

    def test_objectives_are_what_they_are_said_to_be(self, kind, l1_ratio):
        path, objective = self.fit(kind, l1_ratio)
        settings = {"alpha": self.alpha, "l1_ratio": l1_ratio}
        for k, rho in enumerate(path.rhos):
            point = path.coefs[k], path.intercepts[k]
            np.testing.assert_allclose(
                path.objectives[k], objective(*point, rho, **settings), rtol=1e-10
            )
            np.testing.assert_allclose(
                path.hinge_objectives[k], objective(*point, 0.0, **settings), rtol=1e-10
            )
        limit = path.hinge_limit
        found = objective(limit.coef, limit.intercept, 0.0, **settings)
        np.testing.assert_allclose(limit.objective, found, rtol=1e-10)

    def test_optima_keep_their_order(self, kind, l1_ratio):
        """dV/dρ is an entropy, so 0 ≤ min P_ρ − min P_ρ' ≤ (ρ − ρ') log 2 for ρ > ρ' ≥ 0."""
        path, _ = self.fit(kind, l1_ratio)
        reached = np.append(path.objectives, path.hinge_limit.objective)
        proven = reached - np.append(path.dual_gaps, path.hinge_limit.dual_gap)
        rhos = np.append(path.rhos, 0.0)
        for hot in range(len(rhos)):
            for cold in range(hot + 1, len(rhos)):
                slack = ROUNDING * rhos[hot]
                assert proven[cold] <= reached[hot] + slack
                assert proven[hot] <= reached[cold] + (rhos[hot] - rhos[cold]) * LOG2 + slack

    def test_bound_on_the_distance(self, kind, l1_ratio):
        path, _ = self.fit(kind, l1_ratio)
        assert (path.distances <= path.distance_bounds + ROUNDING * path.rhos).all()
        assert (path.distances >= -path.hinge_limit.dual_gap - ROUNDING).all()

    def test_cold_starts_agree(self, kind, l1_ratio):
        path, _ = self.fit(kind, l1_ratio)
        for k in (0, 4, 7, 9):
            run, _ = make_problem(kind)
            cold = run([path.rhos[k]], alpha=self.alpha, l1_ratio=l1_ratio)
            slack = max(cold.dual_gaps[0], path.dual_gaps[k]) + ROUNDING * path.rhos[k]
            assert abs(cold.objectives[0] - path.objectives[k]) <= slack


def test_sparse_and_dense_designs_agree():
    dense, sparse = (
        make_problem(kind)[0](alpha=0.01, l1_ratio=0.5, tol=1e-10) for kind in ("dense", "sparse")
    )
    np.testing.assert_allclose(sparse.objectives, dense.objectives, rtol=1e-8)
    np.testing.assert_allclose(sparse.coefs, dense.coefs, atol=1e-3)


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    log_rho=st.floats(-6.0, 3.0),
    log_alpha=st.floats(-4.0, 0.0),
    l1_ratio=st.sampled_from([0.0, 0.3, 1.0]),
    kind=st.sampled_from(["linear", "kernel"]),
)
def test_no_point_is_below_the_certificate(seed, log_rho, log_alpha, l1_ratio, kind):
    """objective − gap is a lower bound: of P at the same solution shrunk, grown and shaken."""
    rng = np.random.default_rng(seed)
    rho, alpha = 10.0**log_rho, 10.0**log_alpha
    if kind == "linear":
        X, y = make_data(30, 5, seed=seed)
        M, solve = np.eye(5), temperature_path
    else:
        _, X, y = make_kernel(30, seed=seed % 1000)
        M, solve = X, kernel_temperature_path
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        path = solve(X, y, rhos=[rho], alpha=alpha, l1_ratio=l1_ratio, tol=1e-4)
    coef, intercept = path.coefs[0], path.intercepts[0]
    assert np.isfinite(coef).all()
    for size in (0.0, 0.5, 0.99, 1.0, 1.01, 1.5):
        for noise in (0.0, 1e-3, 1e-1):
            b = size * coef + noise * rng.standard_normal(len(coef))
            z = y * (X @ b + intercept)
            penalty = alpha * ((1 - l1_ratio) / 2 * b @ M @ b + l1_ratio * np.abs(b).sum())
            for r, lower in (
                (rho, path.objectives[0] - path.dual_gaps[0]),
                (0.0, path.hinge_limit.objective - path.hinge_limit.dual_gap),
            ):
                value = softplus_loss(z, r, 1.0).mean() + penalty
                assert lower <= value + ROUNDING * max(1.0, value)


# --- Proposition pro:c_svm: the minimiser tends to the SVM's ------------------------------------

REAL = ["saheart", "diabetes_pima", "german_numer", "ssl_g241c"]


def load_real(name):
    """Standardised samples; breast cancer comes with scikit-learn, the rest from CLEARNING_DATA."""
    if name == "breast_cancer":
        X, y = load_breast_cancer(return_X_y=True)
    else:
        folder = os.environ.get("CLEARNING_DATA")
        if not folder or not (Path(folder) / f"{name}.npz").is_file():
            pytest.skip(f"CLEARNING_DATA names no folder with {name}.npz")
        with np.load(Path(folder) / f"{name}.npz") as arrays:
            X, y = arrays["X"].astype(float), arrays["y"]
    scale = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(scale > 0, scale, 1.0), y


def norm_bound(path):
    """‖b_ρ − b_0‖ from strong convexity: P_0(b) − min P_0 ≥ α(1−ω)/2 ‖b − b*‖²."""
    curvature = path.alpha * (1.0 - path.l1_ratio) / 2.0
    own = np.sqrt(path.distance_bounds / curvature)
    return own + np.sqrt(path.hinge_limit.dual_gap / curvature)


@pytest.mark.parametrize("name", ["breast_cancer", *REAL])
class TestTendsToTheSVM:
    rhos = np.geomspace(1.0, 1e-5, 11)

    def check(self, path, distance):
        assert path.converged.all()
        assert (path.distances <= path.distance_bounds + ROUNDING).all()
        assert (path.distances >= -path.hinge_limit.dual_gap - ROUNDING).all()
        assert path.distances[-1] <= 1e-3 * path.distances[0]
        assert (distance <= norm_bound(path)).all()
        assert distance[-1] <= 0.02 * distance[0]

    @pytest.mark.parametrize("l1_ratio", [0.0, 0.5])
    def test_linear(self, name, l1_ratio):
        X, y = load_real(name)
        path = temperature_path(X, y, rhos=self.rhos, alpha=0.05, l1_ratio=l1_ratio)
        self.check(path, np.linalg.norm(path.coefs - path.hinge_limit.coef, axis=1))

    @pytest.mark.parametrize("l1_ratio", [0.0, 0.5])
    def test_kernel(self, name, l1_ratio):
        X, y = load_real(name)
        step = -(-len(y) // 250)
        X, y = X[::step], y[::step]
        K = rbf_kernel(X, gamma=1.0 / X.shape[1])
        path = kernel_temperature_path(K, y, rhos=self.rhos, alpha=0.01, l1_ratio=l1_ratio)
        move = path.coefs - path.hinge_limit.coef
        self.check(path, np.sqrt(np.einsum("ri,ij,rj->r", move, K, move).clip(0.0)))


def test_lasso_objective_tends_to_the_svm_too():
    """At ω = 1 minimisers need not be unique, but objectives are."""
    X, y = load_real("breast_cancer")
    path = temperature_path(X, y, rhos=np.geomspace(1.0, 1e-5, 11), alpha=0.01, l1_ratio=1.0)
    assert (path.distances <= path.distance_bounds).all()
    assert path.distances[-1] <= 1e-3 * path.distances[0]
    assert abs(path.objectives[-1] - path.hinge_limit.objective) <= 1e-5 * LOG2 + 2e-6


# --- Options, predictions, messages -------------------------------------------------------------


def test_every_option_reaches_both_ends_of_the_path():
    """Objectives in NumPy with weights, offsets, factors, bounds, scaling and a margin u ≠ 1."""
    rng = np.random.default_rng(5)
    X, y = make_data(80, 6, seed=5)
    X *= np.array([1.0, 5.0, 0.2, 1.0, 1.0, 3.0])
    weight, offset = rng.uniform(0.0, 2.0, 80), rng.normal(0.0, 0.3, 80)
    factor, u, alpha, l1_ratio = np.array([1.0, 0.5, 2.0, 1.0, 0.0, 1.0]), 0.4, 0.03, 0.3
    lower, upper = -0.05, np.array([0.3, 0.05, np.inf, 1.0, 0.2, 0.1])
    path = temperature_path(
        X,
        y,
        rhos=[1.0, 1e-3, 1e-6],
        alpha=alpha,
        u=u,
        l1_ratio=l1_ratio,
        standardize=True,
        penalty_factor=factor,
        bounds=(lower, upper),
        sample_weight=weight,
        class_weight={-1.0: 1.0, 1.0: 2.0},
        offset=offset,
    )
    w = weight * np.where(y > 0, 2.0, 1.0)
    w /= w.sum()
    scale = np.sqrt(w @ (X - w @ X) ** 2)

    def objective(b, a, rho):
        penalty = (
            alpha * factor @ ((1 - l1_ratio) / 2 * (scale * b) ** 2 + l1_ratio * scale * abs(b))
        )
        return w @ softplus_loss(y * (offset + a + X @ b), rho, u) + penalty

    for k, rho in enumerate(path.rhos):
        b, a = path.coefs[k], path.intercepts[k]
        np.testing.assert_allclose(path.objectives[k], objective(b, a, rho), rtol=1e-10)
        np.testing.assert_allclose(path.hinge_objectives[k], objective(b, a, 0.0), rtol=1e-10)
        wrong = (offset + a + X @ b > 0) != (y > 0)
        np.testing.assert_allclose(path.errors[k], w @ wrong)
    limit = path.hinge_limit
    found = objective(limit.coef, limit.intercept, 0.0)
    np.testing.assert_allclose(limit.objective, found, rtol=1e-10)
    np.testing.assert_allclose(
        limit.error, w @ ((offset + limit.intercept + X @ limit.coef > 0) != (y > 0))
    )
    for b in (*path.coefs, limit.coef):
        assert (b >= lower - ROUNDING).all()
        assert (b <= upper + ROUNDING).all()
    # The coldest solution knows nothing of how the limit was found.
    assert abs(path.objectives[-1] - limit.objective) <= path.distance_bounds[-1] + limit.dual_gap


@pytest.mark.parametrize("u", [0.2, 1.0, 7.0])
@pytest.mark.parametrize("l1_ratio", [0.0, 0.4, 1.0])
def test_limit_at_any_margin(u, l1_ratio):
    for kind in ("dense", "kernel"):
        run, objective = make_problem(kind)
        settings = {"alpha": 0.01, "l1_ratio": l1_ratio, "u": u}
        path = run([1.0, 1e-2, 1e-4, 1e-6], **settings)
        limit = path.hinge_limit
        found = objective(limit.coef, limit.intercept, 0.0, **settings)
        np.testing.assert_allclose(limit.objective, found, rtol=1e-10)
        apart = abs(path.objectives[-1] - limit.objective)
        assert apart <= path.distance_bounds[-1] + limit.dual_gap


def test_landmarks():
    _, K, y = make_kernel(80)
    marks = K[:, :15]
    path = kernel_temperature_path(
        marks, y, penalty_kernel=K[:15, :15], rhos=[1.0, 0.01], alpha=0.01, l1_ratio=0.5
    )
    single = kernel_clearning_path(
        marks,
        y,
        penalty_kernel=K[:15, :15],
        loss=Coherence(0.01, 1.0),
        alphas=[0.01],
        l1_ratio=0.5,
    )
    assert path.coefs.shape == (2, 15)
    np.testing.assert_allclose(path.objectives[1], single.objectives[0], atol=2e-6)


@pytest.fixture(scope="module")
def path():
    X, y = make_data(80, 4, seed=1)
    return temperature_path(X, np.where(y > 0, "yes", "no"), alpha=0.05, rhos=[0.1, 1.0, 0.01])


def test_temperatures_fall(path):
    np.testing.assert_array_equal(path.rhos, [1.0, 0.1, 0.01])
    X, y = make_data()
    grid = temperature_path(X, y, alpha=0.1, rhos=5, u=2.0).rhos
    np.testing.assert_allclose(grid, np.geomspace(20.0, 2e-3, 5))


def test_counts_and_errors(path):
    np.testing.assert_array_equal(path.n_nonzero, (path.coefs != 0).sum(axis=1))
    assert path.hinge_limit.n_nonzero == np.count_nonzero(path.hinge_limit.coef)
    X, y = make_data(80, 4, seed=1)
    predicted = path.predict(X) == "yes"
    np.testing.assert_allclose(path.errors, (predicted != (y > 0)[:, None]).mean(axis=0))


def test_predictions_on_and_between_temperatures(path):
    X, _ = make_data(20, 4, seed=2)
    scores = path.decision_function(X)
    assert scores.shape == (20, 3)
    np.testing.assert_allclose(scores[:, 1], path.decision_function(X, 0.1))
    np.testing.assert_allclose(scores, path.decision_function(sp.csr_matrix(X)))
    between = path.decision_function(X, np.sqrt(0.1 * 0.01))
    np.testing.assert_allclose(between, scores[:, 1:].mean(axis=1))
    probabilities = path.predict_proba(X)
    assert probabilities.shape == (20, 3, 2)
    np.testing.assert_allclose(probabilities.sum(axis=-1), 1.0)
    for k, rho in enumerate(path.rhos):
        np.testing.assert_allclose(probabilities[:, k], path.predict_proba(X, rho))
        eta = Coherence(rho, 1.0).inverse_link(scores[:, k])
        np.testing.assert_allclose(probabilities[:, k, 1], eta)
    assert set(path.predict(X, 0.1)) <= {"yes", "no"}
    np.testing.assert_array_equal(path.predict(X, 0.1) == "yes", scores[:, 1] > 0)


def test_kernel_predictions():
    X, K, y = make_kernel(60)
    path = kernel_temperature_path(K, y, alpha=0.01, rhos=[1.0, 0.1])
    new = rbf_kernel(X[:7] + 0.1, X)
    assert path.decision_function(new).shape == (7, 2)
    np.testing.assert_allclose(path.decision_function(K[:7]), path.decision_function(K)[:7])


def test_frames_and_float32():
    pandas = pytest.importorskip("pandas")
    X, y = make_data(60, 3)
    frame = pandas.DataFrame(X, columns=["a", "b", "c"])
    path = temperature_path(frame, y, alpha=0.05, rhos=[1.0, 0.1])
    assert path.feature_names == ("a", "b", "c")
    single = temperature_path(X.astype(np.float32), y, alpha=0.05, rhos=[1.0, 0.1])
    np.testing.assert_allclose(single.objectives, path.objectives, rtol=1e-5)


@pytest.mark.parametrize("kind", ["dense", "kernel"])
def test_what_does_not_converge_says_so(kind):
    run, _ = make_problem(kind)
    with pytest.warns(ConvergenceWarning, match="duality gap") as caught:
        path = run([1e-3, 1e-4], alpha=1e-3, l1_ratio=0.5, max_iter=1)
    assert len(caught) == 1
    assert Path(caught[0].filename).name == Path(__file__).name
    assert not path.converged.all()
    assert not path.hinge_limit.converged
    assert "2 of 2 temperatures" in str(caught[0].message)
    assert "The hinge's limit" in str(caught[0].message)
    # The gap of what has not converged is a bound all the same.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        solved = run([1e-3, 1e-4], alpha=1e-3, l1_ratio=0.5)
    lower = solved.objectives - solved.dual_gaps
    assert (path.objectives - path.dual_gaps <= solved.objectives + ROUNDING).all()
    assert (path.objectives >= lower - ROUNDING).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"alpha": 0.0}, r"alpha=0.0 must be a number in \(0, inf\)"),
        ({"alpha": np.nan}, "alpha=nan must be a number"),
        ({"alpha": "0.1"}, "alpha='0.1' must be a number"),
        ({"u": 0.0}, r"u=0.0 must be a number in \(0, inf\)"),
        ({"rhos": 0}, "rhos=0 must be a positive number of temperatures"),
        ({"rhos": [1.0, -1.0]}, r"rhos must hold numbers in \(0, inf\); got -1"),
        ({"rhos": [1.0, np.nan]}, "Input rhos contains NaN"),
        ({"rhos": []}, r"not empty; got shape \(0,\)"),
        ({"l1_ratio": 2.0}, r"l1_ratio=2.0 must be a number in \[0, 1\]"),
        ({"tol": 0.0}, "tol=0.0 must be a number"),
        ({"bounds": 3.0, "u": 0.5}, "bounds=3.0 must be a pair"),
        ({"offset": np.zeros(3)}, "offset must be of shape"),
        ({"sample_weight": -np.ones(60)}, "Negative values"),
    ],
)
def test_bad_options(options, message):
    X, y = make_data()
    with pytest.raises(ValueError, match=message):
        temperature_path(X, y, **{"alpha": 0.1, **options})


def test_bad_data(path):
    X, y = make_data()
    with pytest.raises(ValueError, match="Input X contains NaN"):
        temperature_path(np.full_like(X, np.nan), y, alpha=0.1)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        temperature_path(X, y[:-1], alpha=0.1)
    with pytest.raises(ValueError, match="must be square"):
        kernel_temperature_path(X, y, alpha=0.1)
    with pytest.raises(ValueError, match="X has 3 features, but the path was fitted with 4"):
        path.decision_function(np.zeros((2, 3)))
    with pytest.raises(ValueError, match=r"rho=2\.0 must lie on the path, between 0.01 and 1"):
        path.predict_proba(np.zeros((2, 4)), rho=2.0)


def test_a_path_can_start_where_another_left_off():
    """What the warm starts rest on: a start at the solution needs (almost) no iterations."""
    X, y = make_data()
    first = clearning_path(X, y, loss=Coherence(1e-3, 1.0), alphas=[0.01])
    again = clearning_path(
        X,
        y,
        loss=Coherence(1e-3, 1.0),
        alphas=[0.01],
        coef_init=first.coefs[0],
        intercept_init=first.intercepts[0],
    )
    assert again.n_iters[0] <= 1 < first.n_iters[0]

"""The SVM without an l1 part where it is solved on the dual: kernels, and wide sparse designs."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC, LinearSVC

from clearning import clearning_path, kernel_clearning_path

RIDGE = {"loss": "hinge", "l1_ratio": 0.0}


def wide_sparse(seed=0, n=200, p=1500):
    """Few entries and many columns, so that no Gram matrix of columns pays."""
    rng = np.random.default_rng(seed)
    X = sp.random_array((n, p), density=0.02, format="csc", rng=rng)
    X.data -= 0.5
    y = np.where(X @ rng.standard_normal(p) + 0.5 * rng.standard_normal(n) > 0.3, 1.0, -1.0)
    return X, y


def overlapping(n, seed=0):
    """More samples than a block holds."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 5))
    y = np.where(X[:, 0] * X[:, 1] + 0.7 * rng.standard_normal(n) > 0.2, 1.0, -1.0)
    return X, y, rbf_kernel(X, gamma=0.2)


def solver_and_problem(kind):
    if kind == "kernel":
        _, y, K = overlapping(700)
        return kernel_clearning_path, K, y
    return clearning_path, *wide_sparse()


def objective(scores, y, quadratic, alpha):
    return np.maximum(1 - y * scores, 0).mean() + alpha / 2 * quadratic


@pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
def test_wide_sparse_designs_against_liblinear(C):
    X, y = wide_sparse()
    alpha = 1 / (len(y) * C)
    theirs = LinearSVC(loss="hinge", C=C, tol=1e-9, fit_intercept=False, max_iter=10**6).fit(X, y)
    w = theirs.coef_[0]
    ours = clearning_path(X, y, alphas=[alpha], fit_intercept=False, tol=1e-9, **RIDGE)
    assert ours.converged.all()
    reached = objective(X @ ours.coefs[0], y, ours.coefs[0] @ ours.coefs[0], alpha)
    np.testing.assert_allclose(reached, objective(X @ w, y, w @ w, alpha), rtol=1e-6)
    np.testing.assert_allclose(ours.objectives[0], reached, rtol=1e-10)
    np.testing.assert_allclose(ours.coefs[0], w, atol=1e-3 * np.abs(w).max())


@pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
def test_wide_sparse_designs_with_intercept_against_libsvm(C):
    X, y = wide_sparse()
    alpha = 1 / (len(y) * C)
    theirs = SVC(kernel="linear", C=C, tol=1e-8).fit(X, y)
    w = np.asarray(theirs.coef_.todense())[0] if sp.issparse(theirs.coef_) else theirs.coef_[0]
    ours = clearning_path(X, y, alphas=[alpha], tol=1e-9, **RIDGE)
    assert ours.converged.all()
    reference = objective(X @ w + theirs.intercept_, y, w @ w, alpha)
    assert reference * (1 + 1e-6) >= ours.objectives[0] >= reference * (1 - 1e-3)
    assert ours.objectives[0] - ours.dual_gaps[0] <= reference + 1e-12
    np.testing.assert_allclose(ours.coefs[0], w, atol=1e-2 * np.abs(w).max())


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("variant", ["plain", "weights", "offset", "factors"])
def test_ascent_and_cooling_agree(variant, fit_intercept):
    """Sparse designs ascend and dense ones cool; both are certified."""
    X, y = wide_sparse(seed=1)
    rng = np.random.default_rng(2)
    options = {
        "plain": {},
        "weights": {"sample_weight": rng.integers(0, 3, len(y))},
        "offset": {"offset": rng.standard_normal(len(y))},
        "factors": {"penalty_factor": rng.uniform(0.2, 5.0, X.shape[1])},
    }[variant]
    options = {**RIDGE, "alphas": [1e-2, 1e-3], "fit_intercept": fit_intercept, **options}
    ascended = clearning_path(X, y, tol=1e-8, **options)
    cooled = clearning_path(X.toarray(), y, tol=1e-8, **options)
    assert ascended.converged.all()
    assert cooled.converged.all()
    within = np.maximum(ascended.dual_gaps, cooled.dual_gaps) + 1e-13
    assert np.all(np.abs(ascended.objectives - cooled.objectives) <= within)
    assert np.abs(ascended.coefs - cooled.coefs).max() < 1e-3 * np.abs(cooled.coefs).max()


@pytest.mark.parametrize("C", [0.1, 10.0, 1000.0])
@pytest.mark.parametrize("n", [40, 700])
def test_kernels_of_several_blocks_against_libsvm(n, C):
    _, y, K = overlapping(n)
    alpha = 1 / (n * C)
    theirs = SVC(kernel="precomputed", C=C, tol=1e-6).fit(K, y)
    beta = np.zeros(n)
    beta[theirs.support_] = theirs.dual_coef_[0]
    ours = kernel_clearning_path(K, y, alphas=[alpha], tol=1e-8, **RIDGE)
    reference = objective(K @ beta + theirs.intercept_, y, beta @ K @ beta, alpha)
    mine = ours.coefs[0]
    reached = objective(K @ mine + ours.intercepts[0], y, mine @ K @ mine, alpha)
    assert ours.converged.all()
    assert reached <= reference * (1 + 1e-6)
    assert reference >= reached - ours.dual_gaps[0] - 1e-12
    np.testing.assert_allclose(ours.objectives[0], reached, rtol=1e-9)
    assert np.count_nonzero(mine) <= 1.02 * len(theirs.support_) + 2  # others are zero, not small


def test_kernels_without_intercept_against_liblinear():
    X, y, _ = overlapping(700)
    alpha = 1 / len(y)
    w = LinearSVC(loss="hinge", C=1.0, tol=1e-9, fit_intercept=False, max_iter=10**7)
    w = w.fit(X, y).coef_[0]
    ours = kernel_clearning_path(X @ X.T, y, alphas=[alpha], fit_intercept=False, tol=1e-8, **RIDGE)
    assert ours.converged.all()
    np.testing.assert_allclose(ours.objectives[0], objective(X @ w, y, w @ w, alpha), rtol=1e-6)


def test_repeated_samples_are_weights():
    _, y, K = overlapping(60)
    counts = np.random.default_rng(0).integers(0, 4, len(y))
    rows = np.repeat(np.arange(len(y)), counts)
    options = {**RIDGE, "alphas": [1e-2], "tol": 1e-9}
    weighted = kernel_clearning_path(K, y, sample_weight=counts, **options)
    repeated = kernel_clearning_path(K[np.ix_(rows, rows)], y[rows], **options)
    assert weighted.converged.all()
    assert repeated.converged.all()
    np.testing.assert_allclose(weighted.objectives, repeated.objectives, rtol=1e-7)
    assert not weighted.coefs[0][counts == 0].any()


@pytest.mark.parametrize("kind", ["kernel", "sparse"])
def test_a_path_gives_what_single_fits_give(kind):
    solve, design, y = solver_and_problem(kind)
    alphas = np.logspace(-1, -5, 6)
    path = solve(design, y, alphas=alphas, tol=1e-7, **RIDGE)
    assert path.converged.all()
    for k, alpha in enumerate(alphas):
        single = solve(design, y, alphas=[alpha], tol=1e-7, **RIDGE)
        assert abs(single.objectives[0] - path.objectives[k]) <= 1e-7 * path.null_objective


@pytest.mark.parametrize("kind", ["kernel", "sparse"])
def test_too_few_rounds_are_told_with_a_true_gap(kind):
    solve, design, y = solver_and_problem(kind)
    options = {**RIDGE, "alphas": [1e-4]}
    with pytest.warns(ConvergenceWarning, match="duality gap"):
        short = solve(design, y, tol=1e-9, max_iter=4, **options)
    best = solve(design, y, tol=1e-9, **options)
    assert short.objectives[0] - best.objectives[0] <= short.dual_gaps[0] < np.inf

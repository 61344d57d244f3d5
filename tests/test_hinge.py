"""The hinge against solvers others wrote: LIBLINEAR, LIBSVM, HiGHS and SciPy's SLSQP.

P(a, b) = mean [1 − y_i (a + x_i'b)]₊ + α [(1−ω)/2 b'Mb + ω‖b‖₁], where M is the identity or a
kernel matrix; LIBLINEAR's and LIBSVM's C is 1/(n α).
"""

from __future__ import annotations

import os
import warnings
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from kernel_oracles import KernelProblem, make_kernel
from linear_oracles import make_data
from scipy.optimize import linprog
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from clearning import (
    CLearningClassifier,
    CLearningClassifierCV,
    KernelCLearningClassifier,
    KernelCLearningClassifierCV,
    clearning_path,
    kernel_clearning_path,
)
from clearning.losses import Hinge

NEVER_HIGHER = 1e-6


def hinge_objective(design, signs, coef, intercept, alpha, M=None):
    """P at ω = 0."""
    quadratic = coef @ coef if M is None else coef @ M @ coef
    return np.maximum(1 - signs * (design @ coef + intercept), 0).mean() + alpha / 2 * quadratic


def load_dense(name, rows=slice(None)):
    """Standardised samples and signs; without CLEARNING_DATA only what scikit-learn carries."""
    if name == "breast_cancer":
        X, y = load_breast_cancer(return_X_y=True)
    else:
        arrays = load_arrays(name)
        X, y = arrays["X"].astype(float), arrays["y"]
    X, y = X[rows], y[rows]
    scale = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(scale > 0, scale, 1.0), np.where(y == y.max(), 1.0, -1.0)


def load_sparse(name, step):
    arrays = load_arrays(name)
    shape = tuple(arrays["shape"])
    X = sp.csr_matrix((arrays["data"].astype(float), arrays["indices"], arrays["indptr"]), shape)
    return X[::step], np.where(arrays["y"] == arrays["y"].max(), 1.0, -1.0)[::step]


def load_arrays(name):
    folder = os.environ.get("CLEARNING_DATA")
    if not folder or not (Path(folder) / f"{name}.npz").is_file():
        pytest.skip(f"CLEARNING_DATA names no folder with {name}.npz")
    with np.load(Path(folder) / f"{name}.npz") as arrays:
        return dict(arrays)


# --- ω = 0 ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("C", [0.01, 1.0])
@pytest.mark.parametrize("name", ["breast_cancer", "saheart", "german_numer", "spambase"])
def test_no_higher_than_liblinear(name, C):
    """Without an intercept, as LIBLINEAR would penalise it."""
    X, y = load_dense(name, slice(None, None, 4 if name == "spambase" else 1))
    check_against_liblinear(X, y, C)


@pytest.mark.parametrize("C", [0.01, 1.0])
def test_no_higher_than_liblinear_on_sparse_data(C):
    check_against_liblinear(*load_sparse("a9a", 40), C)


def check_against_liblinear(X, y, C):
    alpha = 1 / (len(y) * C)
    theirs = LinearSVC(loss="hinge", fit_intercept=False, C=C, tol=1e-7, max_iter=10**6)
    theirs.fit(X, y)
    ours = clearning_path(
        X, y, loss="hinge", alphas=[alpha], l1_ratio=0.0, fit_intercept=False, tol=1e-8
    )
    reached = hinge_objective(X, y, ours.coefs[0], 0.0, alpha)
    reference = hinge_objective(X, y, theirs.coef_[0], 0.0, alpha)
    assert ours.converged.all()
    assert reached <= reference * (1 + NEVER_HIGHER)
    assert reference >= reached - ours.dual_gaps[0] - 1e-12
    np.testing.assert_allclose(ours.objectives[0], reached, rtol=1e-10)


@pytest.mark.parametrize("C", [0.1, 1.0])
@pytest.mark.parametrize("name", ["breast_cancer", "saheart", "diabetes_pima"])
def test_no_higher_than_libsvm(name, C):
    X, y = load_dense(name, slice(None, 300))
    K = rbf_kernel(X, gamma=1 / X.shape[1])
    alpha = 1 / (len(y) * C)
    theirs = SVC(kernel="precomputed", C=C, tol=1e-8).fit(K, y)
    beta = np.zeros(len(y))
    beta[theirs.support_] = theirs.dual_coef_[0]
    ours = kernel_clearning_path(K, y, loss="hinge", alphas=[alpha], l1_ratio=0.0, tol=1e-7)
    reached = hinge_objective(K, y, ours.coefs[0], ours.intercepts[0], alpha, K)
    reference = hinge_objective(K, y, beta, theirs.intercept_[0], alpha, K)
    assert ours.converged.all()
    assert reached <= reference * (1 + NEVER_HIGHER)
    assert reference >= reached - ours.dual_gaps[0] - 1e-12


def test_estimator_scores_as_svc_does():
    X, y = load_dense("breast_cancer")
    gamma, C = 1 / X.shape[1], 1.0
    theirs = SVC(gamma=gamma, C=C, tol=1e-8).fit(X, y)
    ours = KernelCLearningClassifier(
        loss="hinge", gamma=gamma, alpha=1 / (len(y) * C), l1_ratio=0.0, tol=1e-7
    ).fit(X, y)
    np.testing.assert_allclose(
        ours.decision_function(X), theirs.decision_function(X), atol=5e-3, rtol=0
    )
    assert (ours.predict(X) == theirs.predict(X)).mean() > 0.995


# --- ω > 0 ---------------------------------------------------------------------------------------


def solve_as_linear_program(design, y, alpha):
    """The optimum at ω = 1 by HiGHS: slacks ξ ≥ 1 − z, ξ ≥ 0 and b = b⁺ − b⁻."""
    n, p = design.shape
    cost = np.concatenate([np.full(n, 1 / n), np.full(2 * p, alpha), [0.0]])
    margins = y[:, None] * np.hstack([design, -design, np.ones((n, 1))])
    found = linprog(
        cost,
        A_ub=-np.hstack([np.eye(n), margins]),
        b_ub=-np.ones(n),
        bounds=[(0, None)] * (n + 2 * p) + [(None, None)],
        method="highs",
    )
    assert found.status == 0
    return found.fun


@pytest.mark.parametrize("alpha", [0.1, 0.01, 1e-3])
@pytest.mark.parametrize("kind", ["dense", "sparse", "wide", "kernel"])
def test_lasso_is_a_linear_program(kind, alpha):
    if kind == "kernel":
        _, design, y = make_kernel(60)
        path = kernel_clearning_path(design, y, loss="hinge", alphas=[alpha], l1_ratio=1.0)
    else:
        design, y = make_data(40, 90, seed=8) if kind == "wide" else make_data(90, 10, seed=8)
        X = sp.csr_matrix(design) if kind == "sparse" else design
        path = clearning_path(X, y, loss="hinge", alphas=[alpha], l1_ratio=1.0)
    optimum = solve_as_linear_program(design, y, alpha)
    assert path.converged.all()
    assert -1e-9 <= path.objectives[0] - optimum <= path.dual_gaps[0] + 1e-9


@pytest.mark.parametrize("name", ["breast_cancer", "saheart", "german_numer"])
def test_lasso_on_real_data(name):
    X, y = load_dense(name)
    path = clearning_path(X, y, loss="hinge", alphas=[0.01], l1_ratio=1.0, tol=1e-8)
    optimum = solve_as_linear_program(X, y, 0.01)
    assert -1e-9 <= path.objectives[0] - optimum <= path.dual_gaps[0] + 1e-9
    assert path.objectives[0] <= optimum * (1 + NEVER_HIGHER)


@pytest.mark.parametrize("l1_ratio", [0.0, 0.2, 0.7])
@pytest.mark.parametrize("kind", ["linear", "kernel", "landmarks"])
def test_elastic_net_against_a_general_solver(kind, l1_ratio):
    """Also at loose tolerances, where there is something for the gap to bound."""
    alpha = 0.01
    _, K, y = make_kernel(40)
    if kind == "linear":
        X, y = make_data(40, 6, seed=9)
        problem = KernelProblem(X, y, Hinge(), alpha, l1_ratio, penalty_kernel=np.eye(6))
    elif kind == "landmarks":
        problem = KernelProblem(K[:, :8], y, Hinge(), alpha, l1_ratio, penalty_kernel=K[:8, :8])
    else:
        problem = KernelProblem(K, y, Hinge(), alpha, l1_ratio)
    optimum = problem.solve()
    for tol in (0.3, 1e-2, 1e-3, 1e-6):
        settings = {"loss": "hinge", "alphas": [alpha], "l1_ratio": l1_ratio, "tol": tol}
        if kind == "linear":
            path = clearning_path(problem.K, y, **settings)
        else:
            path = kernel_clearning_path(
                problem.K, y, penalty_kernel=problem.penalty_kernel, **settings
            )
        reached = problem.primal(path.coefs[0], path.intercepts[0])
        np.testing.assert_allclose(path.objectives[0], reached, rtol=1e-10)
        assert -1e-7 <= reached - optimum <= path.dual_gaps[0] + 1e-9
        assert reached - optimum <= tol


# --- The estimators ------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["linear", "kernel"])
def test_temperature_and_margin_are_chosen_by_cross_validation(kind):
    X, y = make_data(90, 4, seed=2)
    classifier = CLearningClassifierCV if kind == "linear" else KernelCLearningClassifierCV
    rhos, us = (1e-4, 0.1, 1.0), (0.5, 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        model = classifier(
            search="paper", alphas=8, alpha_min_ratio=0.01, cv=3, rhos=rhos, us=us
        ).fit(X, y)
    table = model.cv_results_
    assert len(table["mean_test_score"]) == 8 * len(rhos) * len(us)
    assert set(table["param_rho"]) == set(rhos)
    assert set(table["param_u"]) == set(us)
    assert np.isfinite(table["mean_test_score"]).all()
    best = np.argmax(table["mean_test_score"])
    assert (model.rho_, model.u_) == (table["param_rho"][best], table["param_u"][best])
    assert (model.loss_.rho, model.loss_.u) == (model.rho_, model.u_)
    assert np.isfinite(model.predict_proba(X)).all()


@pytest.mark.parametrize(
    "classifier",
    [
        CLearningClassifier(loss="hinge"),
        CLearningClassifierCV(loss="hinge", alphas=5, alpha_min_ratio=0.05, cv=3),
        KernelCLearningClassifier(loss="hinge", l1_ratio=1.0),
        KernelCLearningClassifierCV(
            loss="hinge", alphas=5, alpha_min_ratio=0.05, cv=3, l1_ratios=(1.0,)
        ),
    ],
    ids=lambda model: type(model).__name__,
)
def test_an_svm_has_no_probabilities_of_its_own(classifier):
    X, y = make_data(90, 4, seed=2)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        model = classifier.fit(X, y)
    assert model.score(X, y) > 0.7
    for method in ("predict_proba", "predict_log_proba"):
        assert not hasattr(model, method)
        with pytest.raises(AttributeError, match="CalibratedMarginClassifier"):
            getattr(model, method)


@pytest.mark.parametrize("l1_ratio", [0.0, 1.0])
def test_gap_of_an_estimator_is_the_hinge_s(l1_ratio):
    X, y = make_data(90, 4, seed=2)
    model = CLearningClassifier(loss="hinge", alpha=0.01, l1_ratio=l1_ratio).fit(X, y)
    b, a = model.coef_[0], model.intercept_[0]
    penalty = 0.01 * ((1 - l1_ratio) / 2 * b @ b + l1_ratio * np.abs(b).sum())
    objective = np.maximum(1 - y * (X @ b + a), 0).mean() + penalty
    np.testing.assert_allclose(model.objective_, objective, rtol=1e-10)
    assert 0 <= model.dual_gap_ <= 1e-6


@pytest.mark.parametrize("scale", [1e-6, 1e-13, 1e-15])
def test_the_null_model_is_fitted_to_tiny_columns_without_a_penalty(scale):
    """What may be left of a violation goes by the column's size."""
    draw = np.random.default_rng(0)
    X = draw.standard_normal((60, 3))
    y = X[:, 0] + 0.5 * draw.standard_normal(60) > 0.0
    options = {"loss": "hinge", "penalty_factor": [0.0, 1.0, 1.0], "alphas": [0.1]}
    usual = clearning_path(X, y, **options)
    tiny = clearning_path(X * [scale, 1.0, 1.0], y, **options)
    assert tiny.null_objective == pytest.approx(usual.null_objective, rel=1e-6)
    assert tiny.objectives == pytest.approx(usual.objectives, rel=1e-3)
    assert tiny.converged.all()


@pytest.mark.parametrize("l1_ratio", [0.5, 1.0])
def test_starts_from_afar_are_proved(l1_ratio):
    """Each from the solution at a penalty three times as large: too far for a low temperature."""
    X, y = load_breast_cancer(return_X_y=True)
    Z = StandardScaler().fit_transform(X)
    for train, _ in StratifiedKFold(5).split(Z, y):
        start = {}
        for alpha in 0.386765 * 10 ** (-0.5 * np.arange(8)):
            path = clearning_path(
                Z[train], y[train], loss="hinge", alphas=[alpha], l1_ratio=l1_ratio, **start
            )
            assert path.converged[0]
            start = {"coef_init": path.coefs[0], "intercept_init": path.intercepts[0]}


def test_a_search_is_proved_throughout():
    X, y = load_breast_cancer(return_X_y=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        CLearningClassifierCV(loss="hinge").fit(StandardScaler().fit_transform(X), y)

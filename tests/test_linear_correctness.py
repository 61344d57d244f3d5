"""Linear fits against solvers that others wrote, and at the edges of what a design can be."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from glmnet_cases import (
    ALPHAS,
    CROSS_VALIDATIONS,
    CV_ALPHAS,
    FACTORS,
    FILE,
    LOWER,
    PATHS,
    UPPER,
    data_of,
)
from linear_oracles import Problem, make_data, make_offsets, make_sparse_data, make_weights
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import PredefinedSplit
from sklearn.utils.fixes import parse_version

from clearning import CLearningClassifier, CLearningClassifierCV, clearning_path
from clearning._designs import column_scales
from clearning.losses import Coherence

LOSSES = ["coherence", "logistic", "huberized_hinge", "squared_hinge"]
TIGHT = 3e-14


def tight_path(X, y, **options):
    return clearning_path(X, y, alphas=ALPHAS, tol=TIGHT, **options)


# --- R's glmnet -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def glmnet():
    with np.load(FILE) as kept:
        return dict(kept)


@pytest.mark.parametrize("name", PATHS)
def test_logistic_path_agrees_with_glmnet(glmnet, name):
    X, y, options = data_of(PATHS[name], glmnet)
    design = sp.csc_array(X) if "sparse" in PATHS[name] else X
    path = tight_path(design, y, loss="logistic", **options)
    assert path.converged.all()
    expected = glmnet[f"path_{name}"]
    np.testing.assert_allclose(path.intercepts, expected[:, 0], atol=1e-6)
    np.testing.assert_allclose(path.coefs, expected[:, 1:], atol=3e-6)


@pytest.mark.parametrize("name", CROSS_VALIDATIONS)
def test_cross_validation_agrees_with_glmnet(glmnet, name):
    X, y, options = data_of(CROSS_VALIDATIONS[name], glmnet)
    design = sp.csc_array(X) if "sparse" in CROSS_VALIDATIONS[name] else X
    given = {key: options.pop(key) for key in ("sample_weight", "offset") if key in options}
    model = CLearningClassifierCV(
        loss="logistic",
        alphas=CV_ALPHAS,
        l1_ratios=[options.pop("l1_ratio")],
        cv=PredefinedSplit(glmnet["folds"]),
        tol=1e-10,
        calibrate=False,
        **options,
    )
    chosen = {
        selection: clone(model).set_params(selection=selection).fit(design, y, **given)
        for selection in ("best", "one_se")
    }
    # glmnet scales the factors to sum to the number of features, and its deviance is twice
    # the log-loss.
    choice = glmnet[f"choice_{name}"][0] / np.mean(options.get("penalty_factor", 1.0))
    np.testing.assert_allclose([fitted.alpha_ for fitted in chosen.values()], choice, rtol=1e-12)
    results = chosen["best"].cv_results_
    curve = np.column_stack([-results["mean_test_score"], results["sem_test_score"]])
    # glmnet keeps probabilities away from 0 and 1 by 1e-5.
    np.testing.assert_allclose(2 * curve, glmnet[f"curve_{name}"], rtol=0, atol=2e-5)


# --- scikit-learn ---------------------------------------------------------------------------


def _elastic_net_logistic(l1_ratio: float, C: float, **options) -> LogisticRegression:
    if parse_version(sklearn.__version__) < parse_version("1.8"):
        options["penalty"] = "elasticnet"
    return LogisticRegression(solver="saga", l1_ratio=l1_ratio, C=C, **options)


@pytest.mark.parametrize("l1_ratio", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_logistic_agrees_with_scikit_learn(l1_ratio, fit_intercept):
    X, y = make_data(seed=2)
    alpha = 0.03
    ours = CLearningClassifier(
        loss="logistic", alpha=alpha, l1_ratio=l1_ratio, fit_intercept=fit_intercept, tol=TIGHT
    ).fit(X, y)
    theirs = _elastic_net_logistic(
        l1_ratio, 1.0 / (len(y) * alpha), fit_intercept=fit_intercept, tol=1e-12, max_iter=100_000
    ).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-6)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-6)


def test_weighted_ridge_agrees_with_scikit_learn():
    X, y = make_data(seed=2)
    weight = make_weights(len(y))
    alpha = 0.03
    ours = CLearningClassifier(
        loss="logistic", alpha=alpha, l1_ratio=0.0, tol=TIGHT, class_weight={-1: 1.0, 1: 2.5}
    ).fit(X, y, sample_weight=weight)
    # Weights count relative to one another here and absolutely there.
    total = weight @ np.where(y > 0, 2.5, 1.0)
    theirs = LogisticRegression(
        C=1.0 / (total * alpha), class_weight={-1: 1.0, 1: 2.5}, solver="newton-cholesky", tol=1e-13
    ).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-6)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-6)


@pytest.mark.parametrize("rho", [0.3, 4.0])
def test_coherence_without_margin_is_logistic_at_a_temperature(rho):
    """V_{ρ,0}(z) = ρ V_{1,0}(z/ρ): b = ρ b', with b' the logistic solution at other penalties."""
    X, y = make_data(seed=7)
    cold = clearning_path(
        X, y, loss=Coherence(rho=rho, u=0.0), alphas=[0.04], l1_ratio=1.0, tol=TIGHT
    )
    plain = clearning_path(X, y, loss="logistic", alphas=[0.04], l1_ratio=1.0, tol=TIGHT)
    np.testing.assert_allclose(cold.coefs, rho * plain.coefs, atol=1e-7)
    np.testing.assert_allclose(cold.intercepts, rho * plain.intercepts, atol=1e-7)


# --- SciPy's optimisers ---------------------------------------------------------------------

VARIATIONS = {
    "plain": {},
    "weights_offsets": {"sample_weight": make_weights(60), "offset": make_offsets(60)},
    "factors": {"penalty_factor": FACTORS},
    "bounds": {"bounds": (LOWER, UPPER), "fit_intercept": False},
}


@pytest.mark.parametrize("variation", VARIATIONS)
@pytest.mark.parametrize("l1_ratio", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("loss", LOSSES)
def test_agrees_with_a_general_solver(loss, l1_ratio, variation):
    X, y = make_data()
    options = {"loss": loss, "l1_ratio": l1_ratio, **VARIATIONS[variation]}
    coef, intercept = Problem(X, y, alpha=0.05, **options).solve()
    path = clearning_path(X, y, alphas=[0.05], tol=TIGHT, **options)
    np.testing.assert_allclose(path.coefs[0], coef, atol=1e-6)
    np.testing.assert_allclose(path.intercepts[0], intercept, atol=1e-6)
    assert np.all(path.coefs[0][coef == 0] == 0)


@pytest.mark.parametrize(("rho", "u"), [(0.05, 1.0), (0.2, 0.5), (5.0, 2.0), (100.0, 1.0)])
def test_temperatures_and_margins_agree_with_a_general_solver(rho, u):
    X, y = make_data(seed=8)
    options = {"rho": rho, "u": u, "l1_ratio": 0.6}
    problem = Problem(X, y, alpha=0.03, **options)
    coef, intercept = problem.solve()
    path = clearning_path(X, y, alphas=[0.03], tol=TIGHT, **options)
    np.testing.assert_allclose(path.coefs[0], coef, atol=2e-6 * max(1.0, np.abs(coef).max()))
    assert problem.primal(path.coefs[0], path.intercepts[0]) == pytest.approx(
        problem.primal(coef, intercept), rel=1e-11
    )


def test_wide_design_agrees_with_a_general_solver():
    X, y = make_data(n=20, p=60, seed=9)
    problem = Problem(X, y, alpha=0.05, l1_ratio=0.9)
    coef, _ = problem.solve()
    path = clearning_path(X, y, alphas=100, l1_ratio=0.9, tol=TIGHT)
    single = clearning_path(X, y, alphas=[0.05], l1_ratio=0.9, tol=TIGHT)
    np.testing.assert_allclose(single.coefs[0], coef, atol=1e-6)
    assert path.coefs[0].any() == False  # noqa: E712
    assert path.converged.all()


# --- The edges ------------------------------------------------------------------------------


def reference_fit(X, y, **options):
    return CLearningClassifier(alpha=0.05, tol=TIGHT, **options).fit(X, y)


def _strided(X):
    room = np.zeros((2 * X.shape[0], 3 * X.shape[1]))
    view = room[::2, ::3]
    view[:] = X
    return view


def _memmap(X, folder):
    np.save(folder / "X.npy", X)
    return np.load(folder / "X.npy", mmap_mode="r")


def _long_indices(X):
    matrix = sp.csc_array(X)
    matrix.indices = matrix.indices.astype(np.int64)
    matrix.indptr = matrix.indptr.astype(np.int64)
    return matrix


LAYOUTS = {
    "fortran": lambda X, folder: np.asfortranarray(X),
    "strided": lambda X, folder: _strided(X),
    "reversed": lambda X, folder: np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1],
    "memmap": _memmap,
    "memmap_fortran": lambda X, folder: _memmap(np.asfortranarray(X), folder),
    "csc": lambda X, folder: sp.csc_array(X),
    "csr": lambda X, folder: sp.csr_array(X),
    "csc_matrix": lambda X, folder: sp.csc_matrix(X),
    "coo": lambda X, folder: sp.coo_array(X),
    "long_indices": lambda X, folder: _long_indices(X),
    "list": lambda X, folder: X.tolist(),
}


@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_gives_the_same_fit(layout, standardize, tmp_path):
    X, y = make_sparse_data()
    expected = reference_fit(X, y, standardize=standardize)
    design = LAYOUTS[layout](X, tmp_path)
    fit = reference_fit(design, y, standardize=standardize)
    np.testing.assert_allclose(fit.coef_, expected.coef_, atol=1e-9)
    np.testing.assert_allclose(fit.decision_function(design), X @ fit.coef_[0] + fit.intercept_)


@pytest.mark.parametrize("kind", [np.asfortranarray, np.ascontiguousarray, sp.csc_array])
def test_single_precision(kind):
    X, y = make_sparse_data()
    expected = reference_fit(X.astype(np.float32).astype(np.float64), y)
    fit = CLearningClassifier(alpha=0.05).fit(kind(X.astype(np.float32)), y)
    np.testing.assert_allclose(fit.coef_, expected.coef_, atol=2e-3)
    assert fit.dual_gap_ <= 1e-6 * Problem(X, y).null_objective() * (1 + 1e-6)


def test_unsorted_and_duplicate_sparse_entries():
    X, y = make_sparse_data()
    rows, columns = np.nonzero(X)
    order = np.random.default_rng(0).permutation(len(rows))
    half = X[rows, columns][order] / 2
    doubled = sp.coo_array(
        (np.tile(half, 2), (np.tile(rows[order], 2), np.tile(columns[order], 2))), shape=X.shape
    )
    unsorted = sp.csc_array(X)
    for j in range(X.shape[1]):
        piece = slice(unsorted.indptr[j], unsorted.indptr[j + 1])
        unsorted.indices[piece] = unsorted.indices[piece][::-1].copy()
        unsorted.data[piece] = unsorted.data[piece][::-1].copy()
    unsorted.has_sorted_indices = False
    expected = reference_fit(X, y).coef_
    np.testing.assert_allclose(reference_fit(doubled, y).coef_, expected, atol=1e-9)
    np.testing.assert_allclose(reference_fit(unsorted, y).coef_, expected, atol=1e-9)


@pytest.mark.parametrize("loss", LOSSES)
def test_two_samples(loss):
    X, y = np.array([[1.0, 2.0], [-1.0, 0.5]]), np.array([1.0, -1.0])
    problem = Problem(X, y, loss=loss, alpha=0.05)
    coef, _ = problem.solve()
    np.testing.assert_allclose(reference_fit(X, y, loss=loss).coef_[0], coef, atol=1e-6)


@pytest.mark.parametrize("loss", LOSSES)
def test_one_feature(loss):
    X, y = make_data(p=1)
    coef, _ = Problem(X, y, loss=loss, alpha=0.05).solve()
    np.testing.assert_allclose(reference_fit(X, y, loss=loss).coef_[0], coef, atol=1e-6)


@pytest.mark.parametrize("layout", [np.asfortranarray, sp.csc_array])
@pytest.mark.parametrize("far", [1e7, 1.7e9])
def test_a_column_far_from_zero_has_its_own_deviation(layout, far):
    """Seconds since 1970 within five minutes: a ten millionth of them, and no constant."""
    rng = np.random.default_rng(0)
    seconds = np.round(rng.uniform(0, 300, 400), 3)
    y = (seconds + 60 * rng.standard_normal(400) > 150).astype(int)
    options = {"loss": "logistic", "alphas": [0.01], "standardize": True}
    there = clearning_path(layout((far + seconds)[:, None]), y, **options)
    here = clearning_path(seconds[:, None], y, **options)
    assert there.objectives[0] == pytest.approx(here.objectives[0], rel=1e-5)


@pytest.mark.parametrize("layout", [np.asfortranarray, sp.csc_array])
@pytest.mark.parametrize("share", [1e-3, 1e-6, 1e-9, 1e-11])
def test_deviations_far_from_zero_have_all_their_digits(layout, share):
    rng = np.random.default_rng(0)
    X = 7.0 * (1.0 + share * rng.standard_normal((50, 3)))
    shares = rng.uniform(0.5, 1.0, 50)
    shares /= shares.sum()
    exact = X.astype(np.longdouble) - 7.0
    exact = np.sqrt(shares @ (exact - shares @ exact) ** 2)
    np.testing.assert_allclose(column_scales(layout(X), shares), exact.astype(float), rtol=1e-11)


@pytest.mark.parametrize("value", [0.1, 1.0 / 3.0, 1e9 / 7.0])
def test_constant_columns_of_many_samples_are_constant(value):
    shares = np.full(100_003, 1.0 / 100_003)
    X = np.full((100_003, 1), value)
    assert column_scales(X, shares) == 1.0
    assert column_scales(sp.csc_array(X), shares) == 1.0


@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("l1_ratio", [0.0, 0.5, 1.0])
def test_constant_column_gets_no_coefficient(l1_ratio, standardize):
    X, y = make_data()
    with_constant = np.column_stack([X, np.full(len(y), 3.0)])
    fit = reference_fit(with_constant, y, l1_ratio=l1_ratio, standardize=standardize)
    without = reference_fit(X, y, l1_ratio=l1_ratio, standardize=standardize)
    np.testing.assert_allclose(fit.coef_[0, :-1], without.coef_[0], atol=1e-6)
    assert abs(fit.coef_[0, -1]) < 1e-6


@pytest.mark.parametrize("l1_ratio", [0.0, 0.5])
def test_duplicate_columns_share_a_coefficient(l1_ratio):
    X, y = make_data()
    fit = reference_fit(np.column_stack([X, X[:, 0]]), y, l1_ratio=l1_ratio)
    assert fit.coef_[0, 0] == pytest.approx(fit.coef_[0, -1], abs=1e-5)


def test_duplicate_columns_under_the_lasso_reach_the_same_objective():
    X, y = make_data()
    fit = reference_fit(np.column_stack([X, X[:, 0]]), y, l1_ratio=1.0)
    assert fit.objective_ == pytest.approx(reference_fit(X, y, l1_ratio=1.0).objective_, rel=1e-10)


def test_zero_weights_are_absent_samples():
    X, y = make_data()
    weight = np.ones(len(y))
    weight[::3] = 0.0
    weighted = CLearningClassifier(tol=TIGHT, standardize=True).fit(X, y, sample_weight=weight)
    kept = weight > 0
    removed = CLearningClassifier(tol=TIGHT, standardize=True).fit(X[kept], y[kept])
    np.testing.assert_allclose(weighted.coef_, removed.coef_, atol=1e-8)
    np.testing.assert_allclose(weighted.intercept_, removed.intercept_, atol=1e-8)


def test_scale_of_the_weights_does_not_matter():
    X, y = make_data()
    weight = make_weights(len(y))
    once = CLearningClassifier(tol=TIGHT).fit(X, y, sample_weight=weight)
    large = CLearningClassifier(tol=TIGHT).fit(X, y, sample_weight=1e6 * weight)
    np.testing.assert_allclose(once.coef_, large.coef_, atol=1e-8)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("l1_ratio", [0.0, 0.5, 1.0])
def test_separable_data(loss, l1_ratio):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 5))
    X[:, 0] += np.where(X[:, 0] > 0, 1.0, -1.0)
    y = np.sign(X[:, 0])
    path = clearning_path(X, y, loss=loss, l1_ratio=l1_ratio)
    assert path.converged.all()
    problem = Problem(X, y, loss=loss, l1_ratio=l1_ratio, alpha=float(path.alphas[-1]))
    assert np.mean(problem.margins(path.coefs[-1], path.intercepts[-1]) > 0) == 1.0
    assert path.objectives[-1] == pytest.approx(
        problem.primal(path.coefs[-1], path.intercepts[-1]), rel=1e-10
    )


def test_one_sample_in_a_class():
    X, y = make_data()
    y = np.where(np.arange(len(y)) == 3, 1.0, -1.0)
    problem = Problem(X, y, alpha=0.01)
    coef, _ = problem.solve()
    fit = CLearningClassifier(alpha=0.01, tol=TIGHT).fit(X, y)
    np.testing.assert_allclose(fit.coef_[0], coef, atol=1e-6)


def test_inputs_are_left_alone():
    X, y = make_data()
    X = np.asfortranarray(X)
    weight, offset = make_weights(len(y)), make_offsets(len(y))
    before = [array.copy() for array in (X, y, weight, offset)]
    CLearningClassifier(standardize=True).fit(X, y, sample_weight=weight, offset=offset)
    for array, original in zip((X, y, weight, offset), before):
        np.testing.assert_array_equal(array, original)


def test_a_small_penalty_is_reached_by_way_of_larger_ones():
    """Straight to it, the squared hinge takes over a thousand steps on this problem."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(196, 159))
    y = rng.random(196) < 0.5
    options = {"loss": "squared_hinge", "l1_ratio": 1.0, "tol": 1e-7}
    alone = clearning_path(X, y, alphas=[4e-5], **options)
    on_a_path = clearning_path(X, y, alphas=np.geomspace(0.3, 4e-5, 50), **options)
    assert alone.converged.all()
    assert alone.n_iters[0] < 500
    assert alone.objectives[0] == pytest.approx(on_a_path.objectives[-1], rel=1e-3)

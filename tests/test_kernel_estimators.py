"""The kernel classifiers as scikit-learn estimators: checks, attributes, bad input."""

import doctest
import pickle
import re
import tracemalloc
from itertools import product

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import make_moons
from sklearn.exceptions import NotFittedError
from sklearn.metrics import log_loss
from sklearn.metrics.pairwise import chi2_kernel, pairwise_kernels, rbf_kernel
from sklearn.model_selection import GridSearchCV, GroupKFold, StratifiedKFold, cross_val_score
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from clearning import (
    KernelCLearningClassifier,
    KernelCLearningClassifierCV,
    _kernel_cv,
    kernel,
    kernel_clearning_path,
    kernels,
)
from clearning._expansion import Expansion
from clearning.kernels import kernel_width


@pytest.fixture(scope="module")
def moons():
    X, y = make_moons(120, noise=0.25, random_state=0)
    return X, np.where(y == 1, "yes", "no")


# Each of these feeds a precomputed classifier with something that is no kernel matrix, which the
# classifiers refuse on purpose.
NO_KERNEL_MATRIX = {
    "check_positive_only_tag_during_fit": "shifts a kernel matrix until it is indefinite",
    "check_estimators_dtypes": "rounds a kernel matrix to integers until it is indefinite",
    "check_decision_proba_consistency": "fits a matrix that is not square",
}
# Labels of these are a kernel matrix's first column as integers: there are classes of one sample.
TOO_FEW_TO_SPLIT = dict.fromkeys(
    (
        "check_fit2d_1feature",
        "check_dict_unchanged",
        "check_dont_overwrite_parameters",
        "check_f_contiguous_array_estimator",
        "check_fit2d_predict1d",
        "check_methods_sample_order_invariance",
        "check_methods_subset_invariance",
    ),
    "has one sample of a class, for two folds",
)
# Landmarks are drawn among the rows, and repeated rows are drawn more often.
ROWS_ARE_DRAWN = {
    "check_sample_weight_equivalence_on_dense_data": "repeated rows change the draw of landmarks",
    "check_sample_weight_equivalence_on_sparse_data": "repeated rows change the draw of landmarks",
}


def expected_failures(estimator):
    if estimator.kernel == "precomputed":
        return NO_KERNEL_MATRIX | (TOO_FEW_TO_SPLIT if hasattr(estimator, "cv") else {})
    return ROWS_ARE_DRAWN if isinstance(estimator.n_landmarks, int) else {}


@parametrize_with_checks(
    [
        KernelCLearningClassifier(tol=1e-13),
        KernelCLearningClassifier(kernel="precomputed"),
        KernelCLearningClassifier(n_landmarks=5, l1_ratio=1.0),
        KernelCLearningClassifierCV(alphas=5, alpha_min_ratio=0.7, cv=2, tol=1e-14),
        KernelCLearningClassifierCV(kernel="precomputed", alphas=5, alpha_min_ratio=0.05, cv=2),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


# Fitted attributes


def test_attributes_are_those_of_an_svc(moons):
    X, y = moons
    model = KernelCLearningClassifier(gamma=2.0, alpha=3e-3).fit(X, y)
    svc = SVC(gamma=2.0).fit(X, y)
    n_support = len(model.support_)
    for name in ("support_", "support_vectors_", "n_support_", "dual_coef_", "intercept_"):
        ours, theirs = getattr(model, name), getattr(svc, name)
        assert ours.ndim == theirs.ndim, name
        assert ours.dtype == theirs.dtype, name
    assert 0 < n_support < len(y)
    assert model.dual_coef_.shape == (1, n_support)
    assert (model.dual_coef_ != 0).all()
    assert model.intercept_.shape == (1,)
    assert model.shape_fit_ == svc.shape_fit_
    np.testing.assert_array_equal(model.classes_, ["no", "yes"])
    np.testing.assert_array_equal(model.support_vectors_, X[model.support_])
    # Grouped by class, as in SVC.
    np.testing.assert_array_equal(
        y[model.support_], np.repeat(model.classes_, model.n_support_.tolist())
    )
    assert model.gamma_ == 2.0
    assert model.dual_gap_ <= 1e-6
    assert model.n_iter_ >= 1


def test_score_is_the_expansion_in_support_vectors(moons):
    X, y = moons
    for options in ({"kernel": "rbf"}, {"kernel": "polynomial", "degree": 2, "coef0": 1.0}):
        model = KernelCLearningClassifier(gamma=0.5, alpha=3e-3, **options).fit(X, y)
        params = {"gamma": 0.5, "degree": 2, "coef0": 1.0}
        K = pairwise_kernels(
            X, model.support_vectors_, metric=options["kernel"], filter_params=True, **params
        )
        expected = K @ model.dual_coef_[0] + model.intercept_[0]
        np.testing.assert_allclose(model.decision_function(X), expected, rtol=1e-9, atol=1e-12)
        probability = model.loss_.inverse_link(expected)
        np.testing.assert_allclose(model.predict_proba(X)[:, 1], probability, rtol=1e-9)
        np.testing.assert_array_equal(model.predict(X), model.classes_[(expected > 0).astype(int)])


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "polynomial", "poly", "linear"])
def test_named_kernels_equal_their_precomputed_matrix(kernel, moons):
    X, y = moons
    params = {"gamma": 0.7, "degree": 2, "coef0": 1.0}
    # A kernel is a number in [0, 1] or grows with X; keep the polynomial's in the same range.
    X = X / 3
    K = pairwise_kernels(X, metric=kernel, filter_params=True, **params)
    named = KernelCLearningClassifier(kernel=kernel, alpha=3e-3, tol=1e-10, **params).fit(X, y)
    matrix = KernelCLearningClassifier(kernel="precomputed", alpha=3e-3, tol=1e-10).fit(K, y)
    assert named.objective_ == pytest.approx(matrix.objective_, abs=1e-9)
    np.testing.assert_allclose(named.decision_function(X), matrix.decision_function(K), atol=1e-3)
    assert matrix.support_vectors_.size == 0


def test_callable_kernel_with_parameters(moons):
    X, y = moons

    def gaussian(A, B, width):
        return np.exp(-width * cdist(A, B, "sqeuclidean"))

    by_name = KernelCLearningClassifier(gamma=1.5, tol=1e-10).fit(X, y)
    called = KernelCLearningClassifier(
        kernel=gaussian, kernel_params={"width": 1.5}, tol=1e-10
    ).fit(X, y)
    np.testing.assert_allclose(
        called.decision_function(X[:9]), by_name.decision_function(X[:9]), atol=1e-6
    )
    assert np.isnan(called.gamma_)


@pytest.mark.parametrize("rule", ["median", "mean", "scale"])
def test_width_rules(rule, moons):
    X, y = moons
    model = KernelCLearningClassifier(gamma=rule).fit(X, y)
    assert model.gamma_ == kernel_width(rule, X, y)


def test_sparse_input(moons):
    X, y = moons
    X = np.where(X > 0.5, X, 0.0)
    dense = KernelCLearningClassifier(tol=1e-10).fit(X, y)
    model = KernelCLearningClassifier(tol=1e-10).fit(sparse.csr_matrix(X), y)
    assert sparse.issparse(model.support_vectors_)
    expected = dense.decision_function(X)
    for given in (X, sparse.csc_matrix(X)):
        np.testing.assert_allclose(model.decision_function(given), expected, atol=1e-5)
        np.testing.assert_allclose(dense.decision_function(given), expected, atol=1e-12)


def test_no_support_vectors_is_the_constant(moons):
    X, y = moons
    model = KernelCLearningClassifier(alpha=1e3).fit(X[:100], y[:100])
    assert model.dual_coef_.shape == (1, 0)
    np.testing.assert_array_equal(model.n_support_, [0, 0])
    np.testing.assert_allclose(model.decision_function(X), model.intercept_[0])


def test_zero_weight_leaves_a_sample_out_altogether(moons):
    X, y = moons
    weight = np.ones(len(y))
    weight[::3] = 0.0
    kept = weight > 0
    for name, given, sub in (
        ("rbf", X, X[kept]),
        ("precomputed", rbf_kernel(X), rbf_kernel(X[kept])),
    ):
        model = KernelCLearningClassifier(kernel=name).fit(given, y, sample_weight=weight)
        part = KernelCLearningClassifier(kernel=name).fit(sub, y[kept])
        np.testing.assert_array_equal(model.support_, np.flatnonzero(kept)[part.support_])
        np.testing.assert_array_equal(model.dual_coef_, part.dual_coef_)


def test_class_weight_multiplies_sample_weight(moons):
    X, y = moons
    by_class = KernelCLearningClassifier(class_weight={"no": 3.0, "yes": 1.0}, gamma=1.0).fit(X, y)
    by_sample = KernelCLearningClassifier(gamma=1.0).fit(
        X, y, sample_weight=np.where(y == "no", 3.0, 1.0)
    )
    np.testing.assert_allclose(by_class.dual_coef_, by_sample.dual_coef_)


def test_offset_is_added_in_training_and_on_request(moons):
    X, y = moons
    offset = np.where(y == "yes", 0.5, -0.5)
    shifted = KernelCLearningClassifier(alpha=1e-2).fit(X, y, offset=offset)
    plain = KernelCLearningClassifier(alpha=1e-2).fit(X, y)
    assert shifted.objective_ < plain.objective_
    difference = shifted.decision_function(X, offset=offset) - shifted.decision_function(X)
    np.testing.assert_allclose(difference, offset)


def test_warm_start_begins_where_the_last_fit_ended(moons):
    X, y = moons
    model = KernelCLearningClassifier(alpha=1e-3, gamma=2.0, warm_start=True).fit(X, y)
    cold = model.n_iter_
    objective = model.objective_
    model.fit(X, y)
    assert model.n_iter_ < cold
    assert model.objective_ <= objective + 1e-12
    model.fit(X[:60], y[:60])
    assert model.shape_fit_ == (60, 2)


def test_float32_on_request(moons):
    X, y = moons
    double = KernelCLearningClassifier(tol=1e-5).fit(X, y)
    single = KernelCLearningClassifier(tol=1e-5, dtype="float32").fit(X, y)
    np.testing.assert_allclose(single.decision_function(X), double.decision_function(X), atol=2e-2)
    K = rbf_kernel(X).astype(np.float32)
    KernelCLearningClassifier(kernel="precomputed", dtype="float32").fit(K, y)


def test_landmarks_are_reproducible_and_support_lies_among_them(moons):
    X, y = moons
    model = KernelCLearningClassifier(n_landmarks=15).fit(X, y)
    again = clone(model).fit(X, y)
    np.testing.assert_array_equal(model.landmarks_, again.landmarks_)
    assert set(model.support_) <= set(model.landmarks_)
    K = rbf_kernel(X, gamma=model.gamma_)
    matrix = KernelCLearningClassifier(kernel="precomputed", n_landmarks=15).fit(K, y)
    np.testing.assert_allclose(matrix.decision_function(K), model.decision_function(X), atol=1e-3)


def test_landmarks_need_memory_for_their_columns_only():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20_000, 3))
    y = X[:, 0] + rng.standard_normal(20_000) > 0
    tracemalloc.start()
    KernelCLearningClassifier(n_landmarks=50, gamma=0.3).fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # The design takes 8 MB, the candidates' factor 2 MB; the full matrix would take 3.2 GB.
    assert peak < 40e6


def test_peak_memory_of_a_fit_is_the_kernel_matrix_and_half_of_it():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1500, 10))
    y = X[:, 0] * X[:, 1] + 0.5 * rng.standard_normal(1500) > 0
    tracemalloc.start()
    KernelCLearningClassifier(alpha=1e-2).fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.5 * 8 * 1500**2


def test_survives_pickling_and_cloning(moons):
    X, y = moons
    model = KernelCLearningClassifier(gamma=1.0).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    with pytest.raises(NotFittedError):
        clone(model).predict(X)


def test_pairwise_slicing_in_a_grid_search(moons):
    X, y = moons
    K = rbf_kernel(X, gamma=1.0)
    grid = {"alpha": [1e-1, 1e-2, 1e-3]}
    folds = StratifiedKFold(4)
    by_matrix = GridSearchCV(KernelCLearningClassifier(kernel="precomputed"), grid, cv=folds)
    by_input = GridSearchCV(KernelCLearningClassifier(gamma=1.0), grid, cv=folds)
    np.testing.assert_allclose(
        by_matrix.fit(K, y).cv_results_["mean_test_score"],
        by_input.fit(X, y).cv_results_["mean_test_score"],
    )


# Cross-validation


@pytest.mark.parametrize("n_landmarks", [None, 20])
def test_cv_scores_are_those_of_separate_fits(moons, n_landmarks):
    X, y = moons
    folds = StratifiedKFold(3)
    search = KernelCLearningClassifierCV(
        search="paper",
        gammas=(1.0, 3.0),
        alphas=[1e-1, 1e-2, 1e-3],
        cv=folds,
        n_landmarks=n_landmarks,
        tol=1e-10,
    ).fit(X, y)
    table = search.cv_results_
    assert len(table["mean_test_score"]) == 6
    if n_landmarks is None:
        for k in range(6):
            model = KernelCLearningClassifier(
                gamma=table["param_gamma"][k], alpha=table["param_alpha"][k], tol=1e-10
            )
            expected = cross_val_score(model, X, y, cv=folds, scoring="neg_log_loss")
            found = [table[f"split{j}_test_score"][k] for j in range(3)]
            np.testing.assert_allclose(found, expected, rtol=1e-4)
    best = table["mean_test_score"].argmax()
    assert search.best_index_ == best
    assert search.alpha_ == table["param_alpha"][best]
    assert search.gamma_ == table["param_gamma"][best]
    alone = KernelCLearningClassifier(
        gamma=search.gamma_, alpha=search.alpha_, n_landmarks=n_landmarks, tol=1e-10
    ).fit(X, y)
    np.testing.assert_allclose(search.decision_function(X), alone.decision_function(X), atol=2e-3)


def test_cv_computes_one_matrix_whatever_the_folds(moons, monkeypatch):
    X, y = moons
    calls = []
    made = kernels.minus_squared_distances
    monkeypatch.setattr(
        kernels,
        "minus_squared_distances",
        lambda *given, **how: calls.append(given[0].shape) or made(*given, **how),
    )
    KernelCLearningClassifierCV(gammas=(1.0,), alphas=[0.1, 0.03], cv=4).fit(X, y)
    assert calls == [(120, 2)]
    calls.clear()
    model = KernelCLearningClassifierCV(gammas=(2.0, 1.0, 1e-3), alphas=[0.1, 0.03], cv=4)
    model.fit(X, y)
    # One for the distances of all widths; none for a fold, none for the refit.
    assert model.gamma_ > 1e-3
    assert calls == [(120, 2)]
    assert model.path_.coefs.shape == (2, 120)


def test_cv_searches_temperatures_margins_and_ratios(moons):
    X, y = moons
    model = KernelCLearningClassifierCV(
        alphas=4,
        alpha_min_ratio=0.03,
        l1_ratios=(0.3, 1.0),
        rhos=(0.5, 1.0),
        us=(0.5, 1.0),
        gammas=(1.0, "median"),
        cv=3,
    ).fit(X, y)
    table = model.cv_results_
    assert len(table["mean_test_score"]) == 4 * 16
    for name in ("alpha", "l1_ratio", "rho", "u", "gamma"):
        assert getattr(model, f"{name}_") == table[f"param_{name}"][model.best_index_]
    assert model.loss_.rho == model.rho_


def test_cv_of_a_precomputed_kernel_is_that_of_the_kernel(moons):
    X, y = moons
    options = {"alphas": 6, "alpha_min_ratio": 0.01, "cv": 3, "tol": 1e-11}
    by_input = KernelCLearningClassifierCV(gammas=(1.0,), **options).fit(X, y)
    by_matrix = KernelCLearningClassifierCV(kernel="precomputed", **options).fit(
        rbf_kernel(X, gamma=1.0), y
    )
    np.testing.assert_allclose(
        by_matrix.cv_results_["mean_test_score"],
        by_input.cv_results_["mean_test_score"],
        rtol=1e-5,
    )
    assert np.isnan(by_matrix.gamma_)


def test_cv_threads_do_not_change_the_result(moons):
    X, y = moons
    alone, threaded = (
        KernelCLearningClassifierCV(alphas=[0.1, 0.03, 0.01], cv=3, n_jobs=n).fit(X, y)
        for n in (1, 2)
    )
    np.testing.assert_array_equal(
        alone.cv_results_["mean_test_score"], threaded.cv_results_["mean_test_score"]
    )


def test_one_standard_error_rule_takes_a_larger_penalty(moons):
    X, y = moons
    best, sparse_one = (
        KernelCLearningClassifierCV(
            search="paper", alphas=15, alpha_min_ratio=0.01, cv=4, selection=rule
        ).fit(X, y)
        for rule in ("best", "one_se")
    )
    assert sparse_one.alpha_ > best.alpha_
    assert len(sparse_one.support_) < len(best.support_)


def test_an_automatic_grid_is_that_of_the_path(moons):
    X, y = moons
    model = KernelCLearningClassifierCV(search="paper", gammas=(2.0,), alphas=12, cv=2).fit(X, y)
    path = kernel_clearning_path(kernels.Kernel("rbf", 2.0).gram(X), y, alphas=12)
    np.testing.assert_allclose(model.path_.alphas, path.alphas, rtol=1e-12)


def test_a_kernel_that_overflows_is_told(moons):
    X, y = moons
    model = KernelCLearningClassifier(kernel="poly", gamma=1.0, degree=400)
    with pytest.raises(ValueError, match="X holds numbers whose kernel='poly' is not finite"):
        model.fit(1e3 * X, y)


def test_a_width_made_of_uneven_weights_is_named():
    """Fuzzed, seed 69: γ was 1e160, and no scale of X would have changed the kernel."""
    weight = [1e32, 2e86, 4e-63, 8e98]
    model = KernelCLearningClassifier(kernel="poly", gamma="mean", coef0=1.0)
    with pytest.raises(ValueError, match=r"Scale X, or give gamma a number below .*e\+\d{3}"):
        model.fit([[0.0], [0.0], [0.5], [0.0]], [1, 0, 0, 0], sample_weight=weight)


def test_a_fold_keeps_contiguous_columns_and_its_landmarks():
    K = np.asfortranarray(np.arange(20.0).reshape(5, 4))
    fold = Expansion(K, np.eye(4), np.arange(4)).rows(np.array([0, 2, 3]))
    assert fold.K.flags.f_contiguous
    np.testing.assert_array_equal(fold.K, K[[0, 2, 3]])


# Bad input


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"kernel": "gauss"}, "'kernel' parameter .*rbf.*Got 'gauss'"),
        ({"gamma": -1.0}, r"'gamma' parameter .*range \(0.0, 1.79\S+\].*Got -1.0"),
        ({"gamma": "auto"}, "'gamma' parameter .*median.*Got 'auto'"),
        ({"n_landmarks": 0}, r"'n_landmarks' parameter .*range \[1, inf\).*Got 0"),
        ({"n_landmarks": 121}, r"n_landmarks must lie between 1 .*\(120\), got 121"),
        ({"dtype": "float16"}, "'dtype' parameter .*float32.*Got 'float16'"),
        ({"degree": 0}, "'degree' parameter .*Got 0"),
        ({"alpha": 0.0}, "'alpha' parameter .*Got 0.0"),
        ({"l1_ratio": 1.5}, "'l1_ratio' parameter .*Got 1.5"),
        ({"rho": 0.0}, "'rho' parameter .*Got 0.0"),
        ({"kernel": "sigmoid", "gamma": 1.0, "coef0": -1.0}, "kernel='sigmoid' .*eigenvalue of -"),
        ({"kernel": "precomputed"}, r"square kernel matrix .*got shape \(120, 2\)"),
        ({"kernel": chi2_kernel}, "failed on dense matrices .*negative values.*A @ B.T"),
        ({"kernel": "additive"}, "'kernel' parameter .*'cosine'.*Got 'additive'"),
    ],
)
def test_bad_parameters_are_named(options, words, moons):
    with pytest.raises(ValueError, match=re.compile(words, re.DOTALL)):
        KernelCLearningClassifier(**options).fit(*moons)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"gammas": (1.0, -2.0)}, r"gammas must hold numbers in \(0, inf\) or rules .*got -2.0"),
        ({"gammas": ("auto",)}, "gammas must hold .*median.*got 'auto'"),
        ({"gammas": ()}, "gammas must hold at least one width"),
        ({"alphas": [0.1, -0.1]}, "alphas must hold numbers in .*got -0.1"),
        ({"alphas": 0}, "'alphas' parameter .*Got 0"),
        ({"l1_ratios": (2.0,)}, "l1_ratios must hold numbers in .*got 2"),
        ({"cv": 100}, "cv=100 needs at least 100 samples of each class"),
        ({"scoring": "nonsense"}, "'scoring' parameter"),
    ],
)
def test_bad_grids_are_named(options, words, moons):
    with pytest.raises(ValueError, match=re.compile(words, re.DOTALL)):
        KernelCLearningClassifierCV(**options).fit(*moons)


def test_matrices_that_are_no_kernel_are_told(moons):
    X, y = moons
    K = rbf_kernel(X)
    model = KernelCLearningClassifier(kernel="precomputed")
    with pytest.raises(ValueError, match="symmetric kernel matrix"):
        model.fit(np.triu(K), y)
    with pytest.raises(ValueError, match=r"positive semidefinite .*eigenvalue of -"):
        model.fit(K - 0.5, y)
    with pytest.raises(ValueError, match="X contains NaN"):
        model.fit(K + np.diag(np.full(120, np.nan)), y)
    with pytest.raises(ValueError, match="symmetric kernel matrix"):
        KernelCLearningClassifier(kernel=lambda A, B: A @ B.T + A[:, :1]).fit(X, y)
    with pytest.raises(ValueError, match=r"'additive_chi2' is not positive semidefinite.*'chi2'"):
        KernelCLearningClassifier(kernel="additive_chi2").fit(np.abs(X), y)
    with pytest.raises(ValueError, match=r"kernel='chi2' needs samples >= 0, but X holds -"):
        KernelCLearningClassifier(kernel="chi2").fit(X, y)


@pytest.mark.parametrize("kernel", ["chi2", "cosine", lambda A, B: A @ B.T])
@pytest.mark.parametrize("n_landmarks", [None, 20])
def test_sparse_samples_fit_as_dense_ones(kernel, n_landmarks):
    X = sparse.random(80, 40, density=0.3, format="csr", random_state=0)
    y = (X @ np.linspace(-1, 1, 40) > 0).astype(int)
    model = KernelCLearningClassifier(kernel=kernel, n_landmarks=n_landmarks, tol=1e-9)
    kept, dense = clone(model).fit(X, y), clone(model).fit(X.toarray(), y)
    assert sparse.issparse(kept.support_vectors_)
    expected = dense.decision_function(X.toarray())
    for fitted, given in product((kept, dense), (X, X.tocoo(), X.toarray())):
        np.testing.assert_allclose(fitted.decision_function(given), expected, atol=1e-5)


def test_hinge_has_no_probabilities_and_says_what_does(moons):
    model = KernelCLearningClassifier(loss="huberized_hinge").fit(*moons)
    assert not hasattr(model, "predict_proba")
    with pytest.raises(AttributeError, match="CalibratedMarginClassifier"):
        model.predict_proba(moons[0])


def test_groups_reach_the_splitter(moons):
    X, y = moons
    groups = np.arange(len(y)) % 4
    with config_context(enable_metadata_routing=True):
        model = KernelCLearningClassifierCV(
            search="paper", alphas=[0.1, 0.01], cv=GroupKFold(4), gammas=(1.0,)
        )
        model.fit(X, y, groups=groups)
    assert "split3_test_score" in model.cv_results_
    fold = KernelCLearningClassifier(gamma=1.0, alpha=0.1).fit(X[groups != 0], y[groups != 0])
    held_out = groups == 0
    expected = -log_loss(y[held_out], fold.predict_proba(X[held_out]))
    found = [model.cv_results_[f"split{k}_test_score"][0] for k in range(4)]
    assert np.isclose(found, expected, rtol=1e-3).any()


@pytest.mark.parametrize("module", [kernel, _kernel_cv], ids=lambda module: module.__name__)
def test_docstring_examples(module):
    result = doctest.testmod(module)
    assert result.attempted > 0
    assert result.failed == 0

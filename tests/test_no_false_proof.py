"""Attacks that once broke the package's word, each held here against plain NumPy."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from clearning import (
    CalibratedMarginClassifier,
    CLearningClassifier,
    CLearningClassifierCV,
    CoherenceCalibrator,
    KernelCLearningClassifier,
    KernelCLearningClassifierCV,
    PlattCalibrator,
    SollichCalibrator,
    WeightedMarginClassifier,
    clearning_path,
    kernel_clearning_path,
    kernel_temperature_path,
    temperature_path,
)
from clearning._designs import column_scales
from clearning._expansion import expand
from clearning._kernel_matrix import check_kernel_matrix, gaussian_of
from clearning.kernels import Kernel, negative_distance_matrix
from clearning.losses import CLoss, Coherence, Exponential, Logistic, make_loss
from clearning.metrics import (
    cross_entropy,
    expected_calibration_error,
    reliability_curve,
    smooth_calibration_error,
)

EPS = np.finfo(float).eps


def objective(X, y, coef, intercept, alpha, loss="coherence", l1_ratio=0.5, Q=None):
    """The penalised objective, from its formula."""
    signs = np.where(y == y.max(), 1.0, -1.0)
    Q = np.eye(len(coef)) if Q is None else Q
    mean = make_loss(loss).value(signs * (X @ coef + intercept)).mean()
    return mean + alpha * ((1 - l1_ratio) / 2 * coef @ Q @ coef + l1_ratio * np.abs(coef).sum())


def some_data(n=40, p=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    y = (X[:, 0] + 0.5 * rng.standard_normal(n) > 0).astype(int)
    y[:2] = 0, 1
    return X, y


# 1. Not a number is never a proved optimum.


@pytest.mark.parametrize("seed", range(20))
def test_sparse_hinge_ridge_is_a_number(seed):
    rng = np.random.default_rng(seed)
    X = sp.csc_array(rng.integers(-2, 3, (9, 56)).astype(np.float32))
    y = np.arange(9) == 4
    path = clearning_path(X, y, loss="hinge", l1_ratio=0.0, alphas=5)
    assert np.isfinite(path.objectives).all()
    assert path.converged.all()
    for k, alpha in enumerate(path.alphas):
        exact = objective(X.toarray(), y, path.coefs[k], path.intercepts[k], alpha, "hinge", 0.0)
        assert path.objectives[k] == pytest.approx(exact, rel=1e-12)


# 2. Kernel matrices in single precision are lifted to where they are positive semidefinite.


@pytest.mark.parametrize("kernel", ["poly", "laplacian", "rbf"])
@pytest.mark.parametrize("seed", range(12))
def test_single_precision_kernels_have_no_negative_objectives(kernel, seed):
    X, y = some_data(seed=seed)
    options = {"kernel": kernel, "l1_ratio": 0.0, "alpha": 1e-4, "gamma": 0.1, "coef0": 1.0}
    if kernel == "poly":
        options["gamma"] = 1.0
    single = KernelCLearningClassifier(dtype="float32", **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        single.fit(X + 5.0, y)
    assert single.objective_ >= 0.0
    assert single.dual_gap_ >= 0.0


@pytest.mark.parametrize("name", ["rbf", "laplacian", "poly", "linear"])
@pytest.mark.parametrize("n_landmarks", [None, 15])
def test_single_precision_matrices_are_positive_semidefinite(name, n_landmarks):
    X = some_data(60)[0] + 5.0
    kernel = Kernel(name, 1e-3, coef0=1.0, dtype="float32")
    expansion = expand(kernel, X, n_landmarks, 0)
    K = expansion.K if n_landmarks is None else expansion.penalty_kernel
    exact = np.linalg.eigvalsh(K.astype(float))
    assert K.dtype == np.float32
    assert exact[0] >= -60 * EPS * exact[-1]
    if n_landmarks is None and name != "laplacian":
        # Were nothing lifted, rounding would have made it indefinite.
        rounded = kernel.cross(X, X).astype(float)
        assert np.linalg.eigvalsh((rounded + rounded.T) / 2)[0] < -1e-10 * exact[-1]


def test_gaussian_of_shared_distances_is_positive_semidefinite():
    distances = negative_distance_matrix(some_data(80, 2)[0], "float32")
    for gamma in (0.01, 1.0, 100.0):
        K = gaussian_of(distances, gamma, np.empty_like(distances))
        assert np.linalg.eigvalsh(K.astype(float))[0] >= -80 * 80 * EPS


@pytest.mark.parametrize("far", [1e3, 1e5, 1e7])
@pytest.mark.parametrize("kind", ["dense", "full", "sparse"])
def test_gaussian_of_clusters_far_apart_is_positive_semidefinite(far, kind):
    X = some_data(60, 2)[0]
    X = np.concatenate([X - far, X + far])
    given = X if kind == "dense" else sp.csr_array(X)
    if kind == "sparse":
        given.resize(120, 20)
    K = expand(Kernel("rbf", 0.05), given, None, 0).K
    assert np.linalg.eigvalsh(K)[0] >= -1e-13
    if kind != "sparse":
        np.testing.assert_allclose(K[:60, :60], rbf_kernel(X[:60] + far, gamma=0.05), rtol=1e-7)
        shared = negative_distance_matrix(X, gamma=0.05)
        np.testing.assert_allclose(np.exp(0.05 * shared), K, rtol=1e-14)


# 3. A kernel matrix is looked at, wherever it comes from.


@pytest.mark.parametrize("solve", [kernel_clearning_path, kernel_temperature_path])
@pytest.mark.parametrize("order", ["C", "F"])
def test_kernel_paths_look_at_their_matrices(solve, order):
    X, y = some_data()
    K = np.asarray(Kernel("rbf", 0.5).gram(X), order=order)
    options = {"alpha": 0.1, "rhos": 2} if solve is kernel_temperature_path else {"alphas": 2}
    with pytest.raises(ValueError, match="K must be a positive semidefinite"):
        solve(-K, y, **options)
    lopsided = K.copy(order=order)
    lopsided[0, 1] += 0.5
    with pytest.raises(ValueError, match="K must be a symmetric"):
        solve(lopsided, y, **options)
    for penalty_kernel in (-np.eye(5), np.triu(np.ones((5, 5)))):
        with pytest.raises(ValueError, match="penalty_kernel must be a"):
            solve(K[:, :5], y, penalty_kernel=penalty_kernel, **options)


@pytest.mark.parametrize("n", [60, 2100])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_matrix_indefinite_by_rounding_is_lifted(n, dtype):
    rng = np.random.default_rng(0)
    # Known eigenvalues: a rank of five, and one that is just below zero.
    basis = np.linalg.qr(rng.standard_normal((n, 6)))[0]
    values = np.array([5.0, 4.0, 3.0, 2.0, 1.0, -1e-7 if dtype is np.float64 else -1e-5])
    K = ((basis * values) @ basis.T).astype(dtype)
    K = (K + K.T) / 2
    before = K.copy()
    lifted = check_kernel_matrix(K)
    np.testing.assert_array_equal(K, before)
    v = basis[:, 5]
    assert v @ lifted.astype(float) @ v >= -1e-12
    assert np.abs(lifted - K).max() <= 1e-4
    if n == 60:
        assert np.linalg.eigvalsh(lifted.astype(float))[0] >= -1e-14
    np.testing.assert_array_equal(lifted - np.diag(np.diag(lifted)), K - np.diag(np.diag(K)))


def test_what_is_certified_is_the_lifted_problem():
    X, y = some_data(30, 2)
    K = Kernel("linear").gram(X)
    K -= 1e-9 * np.eye(30)
    path = kernel_clearning_path(K, y, alphas=3, l1_ratio=0.0)
    assert path.converged.all()
    lifted = check_kernel_matrix(K)
    for k, alpha in enumerate(path.alphas):
        exact = objective(lifted, y, path.coefs[k], path.intercepts[k], alpha, Q=lifted, l1_ratio=0)
        assert path.objectives[k] == pytest.approx(exact, rel=1e-12)


# 4. Wide ridges: the objective is the one at the coefficients, and shifts of columns cost nothing.


@pytest.mark.parametrize("loss", ["coherence", "hinge", "squared_hinge"])
@pytest.mark.parametrize("shift", [0.0, 1e4])
def test_wide_ridge_converges_on_shifted_columns(loss, shift):
    X, y = some_data(10, 20)
    X = X + shift
    path = clearning_path(X, y, loss=loss, l1_ratio=0.0, alphas=6)
    other = clearning_path(X, y, loss=loss, l1_ratio=1e-12, alphas=path.alphas)
    assert path.converged.all()
    for k, alpha in enumerate(path.alphas):
        exact = objective(X, y, path.coefs[k], path.intercepts[k], alpha, loss, 0.0)
        assert path.objectives[k] == pytest.approx(exact, rel=1e-9)
        assert abs(path.objectives[k] - other.objectives[k]) <= 3e-6 * path.null_objective


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_wide_ridge_of_unequal_scales_is_proved_or_warned_about(seed, fit_intercept):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((8, 20)) * 10.0 ** rng.uniform(-12, 12, 20)
    y = np.arange(8) % 2
    options = {"l1_ratio": 0.0, "fit_intercept": fit_intercept, "loss": "squared_hinge"}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        path = clearning_path(X, y, alphas=[1e3, 1.0, 1e-8, 1e-16], **options)
    assert path.converged.all() or any(w.category is ConvergenceWarning for w in caught)
    values = np.array(
        [
            [objective(X, y, b, a, alpha, "squared_hinge", 0.0) for alpha in path.alphas]
            for b, a in zip(path.coefs, path.intercepts)
        ]
    )
    rounding = 1e-9 * np.abs(values).min(axis=0) + 1e-12
    np.testing.assert_allclose(path.objectives, np.diag(values), rtol=1e-6, atol=1e-12)
    assert (values.min(axis=0) >= path.objectives - path.dual_gaps - rounding).all()


def test_wide_ridge_starts_anywhere():
    X, y = some_data(10, 20)
    X = X + 100.0
    cold = clearning_path(X, y, l1_ratio=0.0, alphas=[0.01], tol=1e-10)
    warm = clearning_path(
        X, y, l1_ratio=0.0, alphas=[0.01], tol=1e-10,
        coef_init=cold.coefs[0], intercept_init=cold.intercepts[0],
    )  # fmt: skip
    assert warm.n_iters[0] < cold.n_iters[0]
    np.testing.assert_allclose(warm.coefs, cold.coefs, atol=1e-6)


def test_weighted_wide_ridge_does_not_mind_shifted_columns():
    X, y = some_data(12, 30)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        plain, shifted = (
            WeightedMarginClassifier(n_weights=4).fit(Z, y).predict_proba(Z) for Z in (X, X + 1e4)
        )
    np.testing.assert_array_equal(plain, shifted)


# 5. Probabilities are on their score's side, at every temperature.


def assert_on_score_side(scores, probabilities):
    np.testing.assert_array_equal(
        np.sign(probabilities[..., 1] - probabilities[..., 0]), np.sign(scores)
    )
    np.testing.assert_allclose(probabilities.sum(axis=-1), 1.0, rtol=4 * EPS)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    "loss", [CLoss(1e-6), CLoss(0.01), CLoss(1e3), Coherence(0.02, 1.0), Logistic(), Exponential()]
)
def test_losses_keep_the_side(loss, dtype):
    sizes = np.array([1e-38, 1e-30, 1e-17, 1e-9, 1e-3, 0.5, 1.0, 30.0], dtype)
    scores = np.concatenate([-sizes, [dtype(0)], sizes])
    probabilities = loss.probabilities(scores)
    assert probabilities.dtype == dtype
    np.testing.assert_array_equal(
        np.sign(probabilities[..., 1] - probabilities[..., 0]), np.sign(scores)
    )
    assert loss.probabilities(scores[-1]).shape == (2,)


def test_cold_moons():
    X, y = make_moons(300, noise=0.2, random_state=0)
    model = CLearningClassifier(rho=0.01).fit(X, y)
    assert_on_score_side(model.decision_function(X), model.predict_proba(X))
    assert (model.classes_[model.predict_proba(X).argmax(axis=1)] == model.predict(X)).all()
    kernel = KernelCLearningClassifier(rho=1e-3).fit(X, y)
    assert_on_score_side(kernel.decision_function(X), kernel.predict_proba(X))
    assert (kernel.predict_log_proba(X).argmax(axis=1) == (kernel.predict(X) == 1)).all()
    path = clearning_path(X, y, rho=0.01, alphas=4)
    assert_on_score_side(path.decision_function(X), path.predict_proba(X))
    cooling = temperature_path(X, y, alpha=0.01, rhos=[1.0, 0.01, 1e-4])
    assert_on_score_side(cooling.decision_function(X), cooling.predict_proba(X))
    calibrated = CLearningClassifierCV(rhos=(0.01,), calibrate=True, alphas=3, cv=3).fit(X, y)
    assert_on_score_side(calibrated.decision_function(X), calibrated.predict_proba(X))


@pytest.mark.parametrize(
    "calibrator", [CoherenceCalibrator(rho=1e-3, u=1.0), CoherenceCalibrator(), SollichCalibrator()]
)
def test_calibrators_keep_the_side(calibrator):
    scores = np.array([-2.0, -1e-3, -1e-200, 0.0, 1e-200, 1e-9, 1e-3, 2.0])
    calibrator.fit(scores, np.arange(8) > 3)
    assert_on_score_side(scores, calibrator.predict_proba(scores))


# 6. An intercept that is not unique is the middle of its interval.


def test_strongly_penalised_hinge_predicts_as_an_svm():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.standard_normal((30, 2)) - 3, rng.standard_normal((30, 2)) + 3])
    y = np.repeat([0, 1], 30)
    ours = clearning_path(X, y, loss="hinge", alphas=[100.0], l1_ratio=0.0)
    svm = SVC(kernel="linear", C=1 / (100.0 * 60)).fit(X, y)
    signs = 2 * y - 1
    for end in (-1.0, 1.0):
        worst = np.sort(signs * 0 + end - X @ ours.coefs[0])
        assert worst[0] - 1e-9 <= ours.intercepts[0] or end > 0
    assert np.mean(ours.predict(X)[:, 0] == y) >= svm.score(X, y) - 1e-12


# 7. Starts and weights that are not finite, and weights of any size.


@pytest.mark.parametrize("path", [clearning_path, kernel_clearning_path])
@pytest.mark.parametrize("start", [np.nan, np.inf, "x", [1.0, 2.0]])
def test_starts_are_finite(path, start):
    X, y = some_data()
    X = X if path is clearning_path else np.eye(len(X))
    for coef in (None, np.zeros(X.shape[1])):
        with pytest.raises(ValueError, match="intercept_init"):
            path(X, y, alphas=2, coef_init=coef, intercept_init=start)


@pytest.mark.parametrize("weight", [1e308, 5e-324, 2.0])
@pytest.mark.parametrize("scalar", [True, False])
@pytest.mark.parametrize(
    "model",
    [
        CLearningClassifier(),
        CLearningClassifier(class_weight="balanced"),
        # A calibrator doubts labels the less the more of them there are: weights are counts there.
        CLearningClassifierCV(alphas=4, cv=3, calibrate=False),
        CLearningClassifierCV(alphas=4, cv=3, scoring="accuracy", calibrate=False),
        KernelCLearningClassifier(),
        KernelCLearningClassifier(gamma="mean"),
        KernelCLearningClassifierCV(alphas=4, cv=3, calibrate=False),
        WeightedMarginClassifier(n_weights=4),
    ],
    ids=repr,
)
def test_equal_weights_of_any_size_are_no_weights(model, weight, scalar):
    X, y = some_data()
    plain = model.fit(X, y).predict_proba(X)
    given = weight if scalar else np.full(len(y), weight)
    np.testing.assert_allclose(model.fit(X, y, sample_weight=given).predict_proba(X), plain)


@pytest.mark.parametrize("weight", [1e308, 5e-324])
@pytest.mark.parametrize("calibrator", [CoherenceCalibrator(), PlattCalibrator()], ids=repr)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_calibrators_take_weights_of_any_size(calibrator, weight):
    scores = np.linspace(-2, 2, 40)
    y = scores + np.cos(9 * scores) > 0
    fitted = calibrator.fit(scores, y, np.full(40, weight)).predict_proba(scores)
    assert np.isfinite(fitted).all()
    if weight > 1:
        many = calibrator.fit(scores, y, np.full(40, 1e12)).predict_proba(scores)
        np.testing.assert_allclose(fitted, many, atol=1e-6)
    else:
        np.testing.assert_allclose(fitted, 0.5, atol=1e-3)


@pytest.mark.parametrize("weight", [1e308, 5e-324, 3.0])
def test_metrics_take_weights_of_any_size(weight):
    rng = np.random.default_rng(0)
    p = rng.uniform(size=50)
    y = (rng.uniform(size=50) < p).astype(int)
    weights = np.full(50, weight)
    for metric in (cross_entropy, expected_calibration_error, smooth_calibration_error):
        assert metric(y, p, sample_weight=weights) == pytest.approx(metric(y, p))
    np.testing.assert_allclose(
        reliability_curve(y, p, weights).prob_true, reliability_curve(y, p).prob_true
    )


@pytest.mark.parametrize("weight", [np.nan, np.inf, -1.0, "x", np.ones((40, 2)), np.ones(3)])
@pytest.mark.parametrize(
    "fit",
    [
        lambda X, y, w: clearning_path(X, y, alphas=2, sample_weight=w),
        lambda X, y, w: KernelCLearningClassifier().fit(X, y, sample_weight=w),
        lambda X, y, w: CLearningClassifierCV(alphas=2, cv=2).fit(X, y, sample_weight=w),
        lambda X, y, w: CalibratedMarginClassifier(CLearningClassifier()).fit(X, y, w),
        lambda X, y, w: WeightedMarginClassifier(n_weights=2).fit(X, y, w),
        lambda X, y, w: CoherenceCalibrator().fit(X[:, 0], y, w),
        lambda X, y, w: cross_entropy(y, np.full(40, 0.5), w),
    ],
)
def test_bad_weights_are_named(fit, weight):
    with pytest.raises(ValueError, match="sample_weight"):
        fit(*some_data(), weight)


# 8. The null objective is that of the best constant, whatever the tolerance.


@pytest.mark.parametrize("weights", [None, "uneven"])
def test_null_objective_of_the_hinge_is_the_best_constant_s(weights):
    X, y = some_data(31, 4)
    weight = None if weights is None else np.random.default_rng(1).uniform(0.1, 3.0, 31)
    share = np.full(31, 1 / 31) if weight is None else weight / weight.sum()
    best = 2 * min(share[y == 1].sum(), share[y == 0].sum())
    for tol in (1e-1, 1e-3, 1e-8):
        path = clearning_path(X, y, loss="hinge", alphas=2, sample_weight=weight, tol=tol)
        assert path.null_objective == pytest.approx(best, rel=1e-12)


def test_null_objective_with_free_columns_does_not_move_with_the_tolerance():
    X, y = some_data(40, 4)
    factor = np.array([1.0, 0.0, 1.0, 1.0])
    nulls = [
        clearning_path(X, y, alphas=2, penalty_factor=factor, tol=tol).null_objective
        for tol in (1e-1, 1e-4, 1e-8)
    ]
    np.testing.assert_allclose(nulls, nulls[-1], rtol=1e-6)


# 9. Errors say what is wrong with what.


@pytest.mark.parametrize("path", [clearning_path, kernel_clearning_path])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_iter": 2**31}, r"max_iter=2147483648 must be an integer in \[1, 2147483647\]"),
        ({"max_iter": 10**400}, "max_iter="),
        ({"fit_intercept": "no"}, "fit_intercept='no' must be True or False"),
        ({"fit_intercept": 1}, "fit_intercept=1 must be True or False"),
        ({"alphas": [[0.1, 0.2], [0.3, 0.4]]}, "alphas must be one-dimensional"),
        ({"alphas": "x"}, "alphas"),
        ({"offset": "x"}, "offset must hold real numbers"),
        ({"coef_init": "x"}, "coef_init must hold real numbers"),
    ],
)
def test_options_of_paths_are_named(path, options, message):
    X, y = some_data()
    with pytest.raises(ValueError, match=message):
        path(X if path is clearning_path else np.eye(len(X)), y, **{"alphas": 2, **options})


def test_flags_may_be_numpy_s():
    X, y = some_data()
    given = {"fit_intercept": np.False_, "standardize": np.True_}
    assert not clearning_path(X, y, alphas=2, **given).intercepts.any()
    with pytest.raises(ValueError, match=r"standardize=2\.5 must be True or False"):
        clearning_path(X, y, standardize=2.5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda X, y: CLearningClassifier(max_iter=2**31).fit(X, y), "max_iter"),
        (lambda X, y: CoherenceCalibrator(offset="x").fit(X[:, 0], y), "offset='x' must be True"),
        (lambda X, y: CoherenceCalibrator().fit(X, y), "scores must be one-dimensional"),
        (lambda X, y: CoherenceCalibrator().fit("x", y), "scores"),
        (lambda X, y: cross_entropy(y, np.full(40, 0.5), eps=np.nan), "eps=nan"),
        (lambda X, y: cross_entropy(y, X), "p must be one-dimensional"),
        (lambda X, y: KernelCLearningClassifier().fit(X * 1e200, y), "X holds numbers whose"),
        (lambda X, y: KernelCLearningClassifier(n_landmarks=5).fit(X * 1e200, y), "X holds"),
        (lambda X, y: KernelCLearningClassifierCV(gammas=[1, 2]).fit(X * 1e200, y), "X holds"),
        (lambda X, y: KernelCLearningClassifier(kernel="poly").fit(X * 1e200, y), "X holds"),
        (lambda X, y: temperature_path(X, np.arange(40) % 3, alpha=0.1), "OneVsRestClassifier"),
    ],
)
def test_what_is_wrong_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call(*some_data())


def test_lazy_frames_are_told_the_way_out():
    polars = pytest.importorskip("polars")
    X, y = some_data()
    frame = polars.DataFrame(X)
    for model in (CLearningClassifier(), KernelCLearningClassifier()):
        with pytest.raises(TypeError, match=r"X is a LazyFrame.*pass X.collect\(\)"):
            model.fit(frame.lazy(), y)
        with pytest.raises(TypeError, match=r"pass X.collect\(\)"):
            model.fit(frame, y).predict(frame.lazy())
    with pytest.raises(TypeError, match=r"pass X.collect\(\)"):
        clearning_path(frame.lazy(), y)
    with pytest.raises(TypeError, match=r"pass y.collect\(\)"):
        clearning_path(frame, polars.DataFrame({"y": y}).lazy())


class ArrayLike:
    """Labels as another library has them: no sequence, but an array on request."""

    def __init__(self, values):
        self.values = values
        self.shape, self.dtype, self.ndim = values.shape, values.dtype, values.ndim

    def __array__(self, dtype=None, copy=None):
        return np.array(self.values, dtype=dtype)

    def __len__(self):
        return len(self.values)

    def __array_function__(self, function, types, args, kwargs):
        """As a Dask array, leave NumPy's functions with something that is no array."""
        return

    def __getitem__(self, index):
        return ArrayLike(self.values[index])


@pytest.mark.parametrize(
    "model",
    [
        CLearningClassifier(),
        CLearningClassifierCV(alphas=3, cv=2),
        KernelCLearningClassifier(),
        CalibratedMarginClassifier(CLearningClassifier(), cv=2),
        WeightedMarginClassifier(n_weights=3),
    ],
    ids=repr,
)
def test_labels_of_other_libraries(model):
    X, y = some_data()
    expected = model.fit(X, y).predict(X)
    np.testing.assert_array_equal(model.fit(X, ArrayLike(y)).predict(X), expected)
    dask_array = pytest.importorskip("dask.array")
    lazy = dask_array.from_array(y, chunks=10)
    np.testing.assert_array_equal(model.fit(X, lazy).predict(X), expected)


@pytest.mark.parametrize("form", ["coo", "dia", "bsr", "csr", "csc", "lil", "dok"])
@pytest.mark.parametrize("kind", [sp.csr_array, sp.csr_matrix])
def test_tied_scores_of_any_sparse_format(form, kind):
    X, y = some_data()
    model = CalibratedMarginClassifier(CLearningClassifier(fit_intercept=False)).fit(kind(X), y)
    zeros = kind(np.concatenate([X, np.zeros((3, 3))])).asformat(form)
    probabilities = model.predict_proba(zeros)
    assert (probabilities.argmax(axis=1) == (model.predict(zeros) == 1)).all()


@pytest.mark.parametrize(
    ("weight", "order"), [(None, np.arange(40)), (np.arange(40) >= 10, np.arange(40)[::-1])]
)
def test_a_fold_of_one_class_is_named(weight, order):
    X, y = some_data()
    y = np.sort(y)[order] if weight is None else (np.arange(40) % 2)
    test = np.arange(8) if weight is None else np.array([0, 2, 11, 13])
    folds = [(np.setdiff1d(np.arange(40), test), test)]
    model = CalibratedMarginClassifier(CLearningClassifier(), cv=folds, ensemble=True)
    with pytest.raises(
        ValueError, match="Fold 0 of the 1 of cv leaves only one class to calibrate"
    ):
        model.fit(X, y, None if weight is None else weight.astype(float))


def test_starts_are_hints():
    X, y = some_data()
    options = {"fit_intercept": False, "bounds": (0.0, 0.5), "alphas": [0.01]}
    path = clearning_path(X, y, coef_init=[-3.0, 7.0, 0.1], intercept_init=5.0, **options)
    np.testing.assert_array_equal(path.intercepts, 0.0)
    np.testing.assert_allclose(path.coefs, clearning_path(X, y, **options).coefs, atol=1e-4)
    tight = clearning_path(X, y, coef_init=[-3.0, 7.0, 0.1], max_iter=1, tol=1e-1, **options)
    assert tight.coefs.min() >= 0.0
    assert tight.coefs.max() <= 0.5


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "linear", "poly"])
def test_sparse_rows_are_read_as_they_are(kernel):
    """Entries in parts, and 64-bit indices."""
    X, y = some_data()
    C = sp.csr_array(X)
    parts = np.repeat(C.data / 2, 2), np.repeat(C.indices, 2).astype(np.int64)
    halves = sp.csr_array((*parts, 2 * C.indptr.astype(np.int64)), shape=C.shape)
    dense, halved = (
        KernelCLearningClassifier(kernel=kernel, gamma=0.5).fit(Z, y) for Z in (X, halves)
    )
    assert halved.objective_ == pytest.approx(dense.objective_, rel=1e-6)
    np.testing.assert_allclose(
        halved.decision_function(halves), dense.decision_function(X), atol=1e-3
    )
    assert halves.nnz == 2 * C.nnz


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_landmarks_of_samples_all_alike(kernel):
    X, y = np.zeros((20, 3)), np.arange(20) % 2
    model = KernelCLearningClassifier(kernel=kernel, n_landmarks=5).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), 0.5)


def test_landmarks_beyond_the_rank_of_a_single_precision_kernel():
    X, y = some_data(35, 3)
    options = {"kernel": "linear", "dtype": "float32", "n_landmarks": 15}
    assert len(KernelCLearningClassifier(**options).fit(X, y).landmarks_) == 3


# 10. Arrays inside a sparse matrix that point outside it.


def broken(form, how):
    X = sp.csr_array(some_data()[0] + 10.0).asformat(form)
    if form == "coo":
        X = sp.coo_array((X.data, (X.coords[0].copy(), X.coords[1].copy())), shape=X.shape)
        X.coords[how % 2][5] = 10**6 if how < 2 else -1
    elif how == 0:
        X.indices[3] = 10**6
    elif how == 1:
        X.indices[3] = -1
    elif how == 2:
        X.indptr[-1] = 10**6
    else:
        X.indptr[1] = X.indptr[-1] + 5
    return X


@pytest.mark.parametrize("form", ["csr", "csc", "bsr", "coo"])
@pytest.mark.parametrize("how", range(4))
def test_sparse_arrays_that_point_outside_are_refused(form, how):
    X, y = some_data()
    message = "X is a broken sparse matrix"
    path = clearning_path(X, y, alphas=2)
    cooling = temperature_path(X, y, alpha=0.1, rhos=2)
    fits = [
        lambda bad: CLearningClassifier().fit(bad, y),
        lambda bad: CLearningClassifierCV(alphas=2, cv=2).fit(bad, y),
        lambda bad: KernelCLearningClassifier().fit(bad, y),
        lambda bad: CalibratedMarginClassifier(CLearningClassifier()).fit(bad, y),
        lambda bad: WeightedMarginClassifier(n_weights=2).fit(bad, y),
        lambda bad: clearning_path(bad, y),
        lambda bad: temperature_path(bad, y, alpha=0.1),
        CLearningClassifier().fit(X, y).predict,
        KernelCLearningClassifier().fit(X, y).decision_function,
        CalibratedMarginClassifier(CLearningClassifier(), cv=2).fit(X, y).predict_proba,
        path.decision_function,
        cooling.predict_proba,
    ]
    for fit in fits:
        with pytest.raises(ValueError, match=message):
            fit(broken(form, how))


def test_sound_sparse_matrices_pass():
    X, y = some_data()
    roomy = sp.csr_array(X)
    roomy.data, roomy.indices = np.append(roomy.data, 7.0), np.append(roomy.indices, 99)
    expected = clearning_path(X, y, alphas=2).coefs
    np.testing.assert_allclose(clearning_path(roomy, y, alphas=2).coefs, expected, atol=1e-12)
    for form in ("csc", "bsr", "coo", "dia", "lil", "dok"):
        stored = sp.csr_array(X).asformat(form)
        np.testing.assert_allclose(clearning_path(stored, y, alphas=2).coefs, expected, atol=1e-12)


# What the fuzzer found beside.


def test_sparse_standard_deviations_under_weights_of_many_orders():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (30, 8)).astype(float)
    shares = 10.0 ** rng.uniform(-15, 0, 30)
    shares /= shares.sum()
    dense, stored = (column_scales(Z, shares) for Z in (X, sp.csc_array(X)))
    np.testing.assert_allclose(stored, dense, rtol=1e-9)


def test_lifting_leaves_small_samples_their_say():
    """In units of the diagonal: a large sample's rounding must not drown a small one's entries."""
    X = np.concatenate([some_data(20)[0], 1e4 * some_data(20, seed=1)[0]])
    K = Kernel("poly", 1.0, degree=3, coef0=1.0, dtype="float32").gram(X)
    before = np.diag(K).copy()
    lifted = expand(Kernel("poly", 1.0, degree=3, coef0=1.0, dtype="float32"), X, None, 0).K
    assert (np.diag(lifted) > before).all()
    np.testing.assert_allclose(np.diag(lifted), before, rtol=1e-5)
    unit = 1.0 / np.sqrt(np.diag(lifted).astype(float))
    assert np.linalg.eigvalsh(lifted * unit[:, None] * unit)[0] >= -1e-14


def test_the_limit_of_a_temperature_path_is_within_its_bounds():
    X, y = some_data()
    for u in (0.3, 0.7, 1.1, 3.3, 49.0):
        for bound in (0.1, 0.3, 0.7):
            path = temperature_path(X, y, alpha=1e-4, u=u, rhos=[u], bounds=(-bound, bound))
            assert np.abs(path.hinge_limit.coef).max() <= bound


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("form", [sp.csc_array, sp.csr_matrix])
def test_full_sparse_columns_far_from_zero(form, fit_intercept):
    """A sparse matrix without zeros is solved as the dense one is, wherever its columns lie."""
    rng = np.random.default_rng(4)
    X = rng.standard_normal((23, 46))
    X[:, ::3] += 1e6
    y = X[:, 0] + X[:, 1] > 1e6
    options = {"alphas": [0.01, 0.0002], "l1_ratio": 1.0, "fit_intercept": fit_intercept}
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        dense, sparse = clearning_path(X, y, **options), clearning_path(form(X), y, **options)
    assert sparse.converged.all()
    assert sparse.n_iters.sum() <= 3 * dense.n_iters.sum()
    both = dense.dual_gaps + sparse.dual_gaps
    assert (np.abs(dense.objectives - sparse.objectives) <= both).all()


@pytest.mark.parametrize("form", [np.asarray, sp.csc_array])
def test_proofs_below_the_last_digits_of_coefficients(form):
    """Columns of 1e6 without an intercept: a coefficient's last digit moves a pull by 1e-4."""
    unproved = 0
    for seed in range(20):
        X = np.random.default_rng(seed).standard_normal((23, 46))
        X[:, ::3] += 1e6
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            path = clearning_path(
                form(X),
                X[:, 0] + X[:, 1] > 1e6,
                alphas=[0.01, 0.0002],
                l1_ratio=1.0,
                fit_intercept=False,
            )
        unproved += np.sum(~path.converged)
    assert unproved <= 2


@pytest.mark.parametrize("kernel", ["linear", "poly"])
def test_double_kernels_of_low_rank_are_lifted(kernel):
    """More samples than dimensions: rounding must not make an objective without a minimum."""
    rng = np.random.default_rng(0)
    X = 1e6 * rng.standard_normal((30, 3))
    K = Kernel(kernel, 1.0, 2, 0.0).gram(X)
    lifted = expand(Kernel(kernel, 1.0, 2, 0.0), X, None, 0).K
    assert np.linalg.eigvalsh(lifted)[0] >= -EPS * np.linalg.norm(lifted)
    assert 0 < np.abs(lifted - K).max() <= 1e-12 * np.abs(K).max()
    model = KernelCLearningClassifier(
        kernel=kernel, degree=2, coef0=0.0, loss="hinge", l1_ratio=0.0, alpha=1.0
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, X[:, 0] > 0)
    assert model.objective_ >= 0


def test_offsets_that_are_no_scores_are_refused():
    X = np.random.default_rng(0).standard_normal((10, 3))
    with pytest.raises(ValueError, match=r"offset holds 1e\+200"):
        clearning_path(X, X[:, 0] > 0, loss="squared_hinge", offset=np.full(10, 1e200))


@pytest.mark.parametrize("l1_ratio", [0.0, 0.5, 1.0])
def test_samples_without_weight_have_no_say_in_the_gap(l1_ratio):
    """Where a Newton step foresees the dual point, too: nothing times infinity is not a number."""
    rng = np.random.default_rng(1)
    Z = rng.standard_normal((38, 3))
    K = rbf_kernel(Z, gamma=0.3)
    y, weight = Z[:, 0] + 0.3 * rng.standard_normal(38) > 0, rng.integers(0, 3, 38) * 1.0
    options = {"l1_ratio": l1_ratio, "alphas": [1e-3, 1e-5], "sample_weight": weight}
    for rho in (3e-6, 1e-2):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            loose = kernel_clearning_path(K, y, rho=rho, tol=1e-4, **options)
            tight = kernel_clearning_path(K, y, rho=rho, tol=1e-9, **options)
        best = np.minimum(tight.objectives, loose.objectives)
        for path in (loose, tight):
            assert (path.objectives - path.dual_gaps <= best + 1e-12).all()


def test_what_rounding_hides_is_not_looked_for():
    """Scores of a matrix near 2e8 are known to 1e-8: ten thousand steps prove no more than 60."""
    K = np.full((7, 7), 200_000_001.0) + 1.8e-6 * np.eye(7)
    options = {"loss": "huberized_hinge", "delta": 0.0013, "l1_ratio": 1e-12}
    with pytest.warns(ConvergenceWarning, match="gap"):
        path = kernel_clearning_path(
            K, [0, 1, 0, 1, 1, 0, 1], alphas=[1.0, 0.1, 0.01, 0.001], **options
        )
    assert path.n_iters.max() < 500
    assert (path.dual_gaps < 1e-3).all()

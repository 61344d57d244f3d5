"""Kernels of more than two classes: certified, in agreement with others, and in every form."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import logsumexp
from sklearn.datasets import load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import StandardScaler

from clearning import (
    CLearningClassifier,
    KernelCLearningClassifier,
    KernelCLearningClassifierCV,
    kernel_clearning_path,
)
from clearning.kernels import kernel_width
from clearning.losses import MultiCoherence

pytestmark = pytest.mark.filterwarnings("error::sklearn.exceptions.ConvergenceWarning")


def make_classes(n=50, m=3, seed=0, gamma=0.5):
    """Samples of m classes that overlap, and their Gaussian kernel matrix."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    waves = X @ rng.standard_normal((3, m)) + np.sin(2.0 * X[:, :1] * np.arange(m))
    y = (waves + 0.8 * rng.standard_normal((n, m))).argmax(axis=1)
    y[:m] = np.arange(m)
    K = rbf_kernel(X, gamma=gamma)
    return X, (K + K.T) / 2, y


def smooth_part(K, M, y, B, a, *, alpha, l1_ratio, rho=1.0, u=1.0, weight=None, offset=0.0):
    """Loss and quadratic part in plain NumPy, with slopes; B is (n_functions, m)."""
    n, m = len(y), len(a)
    weight = np.ones(n) / n if weight is None else weight / weight.sum()
    kappa = u / (rho * np.logaddexp(0.0, np.log(m - 1.0) + u / rho)) if u > 0 else 1.0
    lifted = (K @ B + a + offset + u * (np.arange(m) != y[:, None])) / rho
    total = logsumexp(lifted, axis=1)
    value = kappa * rho * (weight @ (total - lifted[np.arange(n), y]))
    s = np.exp(lifted - total[:, None])
    s[np.arange(n), y] -= 1.0
    R, MB, ridge = kappa * weight[:, None] * s, M @ B, alpha * (1 - l1_ratio)
    return value + ridge / 2 * np.sum(B * MB), K.T @ R + ridge * MB, R.sum(axis=0)


def objective(K, M, y, coef, a, *, grouped=False, **options):
    """P(a, B) from its definition; `coef` as fitted, a row a class."""
    norm = np.linalg.norm(coef, axis=0).sum() if grouped else np.abs(coef).sum()
    value, _, _ = smooth_part(K, M, y, coef.T, a, **options)
    return value + options["alpha"] * options["l1_ratio"] * norm


def reference(K, M, y, m, **options):
    """The optimum by SciPy's L-BFGS-B, B = B⁺ − B⁻ with both parts at least zero."""
    q = K.shape[1]
    l1 = options["alpha"] * options["l1_ratio"]

    def split(x):
        up, down = x[: q * m].reshape(q, m), x[q * m : 2 * q * m].reshape(q, m)
        value, slope, even = smooth_part(K, M, y, up - down, x[2 * q * m :], **options)
        slopes = np.concatenate([(slope + l1).ravel(), (l1 - slope).ravel(), even])
        return value + l1 * (up + down).sum(), slopes

    limits = [(0, None)] * (2 * q * m) + [(None, None)] * m
    found = minimize(
        split,
        np.zeros(len(limits)),
        jac=True,
        method="L-BFGS-B",
        bounds=limits,
        options={"maxiter": 20_000, "maxfun": 40_000, "ftol": 1e-15, "gtol": 1e-10, "maxcor": 50},
    )
    return found.fun


@pytest.mark.parametrize("l1_ratio", [0.0, 0.3, 0.8])
@pytest.mark.parametrize(("rho", "u"), [(1.0, 0.0), (0.5, 1.0)])
def test_fit_is_optimal_by_a_general_solver(l1_ratio, rho, u):
    _, K, y = make_classes(n=30)
    options = {"alpha": 0.05, "l1_ratio": l1_ratio, "rho": rho, "u": u}
    path = kernel_clearning_path(K, y, alphas=[0.05], l1_ratio=l1_ratio, rho=rho, u=u, tol=1e-9)
    ours = objective(K, K, y, path.coefs[0], path.intercepts[0], **options)
    best = reference(K, K, y, 3, **options)
    assert path.objectives[0] == pytest.approx(ours, rel=1e-13)
    assert ours <= best + path.dual_gaps[0]
    assert best - ours <= 1e-6


@pytest.mark.parametrize("l1_ratio", [0.4, 1.0])
def test_grouped_fit_meets_its_optimality_conditions(l1_ratio):
    _, K, y = make_classes(n=40, m=4)
    path = kernel_clearning_path(
        K, y, alphas=[0.02], l1_ratio=l1_ratio, groups="classes", tol=1e-11
    )
    B, a = path.coefs[0].T, path.intercepts[0]
    _, slope, even = smooth_part(K, K, y, B, a, alpha=0.02, l1_ratio=l1_ratio)
    inside, l1 = B.any(axis=1), 0.02 * l1_ratio
    assert 0 < inside.sum() < len(B)
    assert B[inside].all()  # for all classes or for none
    direction = B[inside] / np.linalg.norm(B[inside], axis=1, keepdims=True)
    assert np.abs(slope[inside] + l1 * direction).max() < 1e-5 * l1
    assert np.linalg.norm(slope[~inside], axis=1).max() <= l1 * (1 + 1e-5)
    assert np.abs(even).max() < 1e-8


def random_problem(seed):
    """A problem of any kind: its matrices, labels, and what is asked of it."""
    rng = np.random.default_rng(seed)
    m, n = int(rng.integers(3, 6)), int(rng.integers(12, 60))
    X, K, y = make_classes(n, m, seed, gamma=float(rng.choice([0.05, 0.5, 5.0])))
    M = K
    if seed % 3 == 0:
        chosen = np.sort(rng.choice(n, n // 3 + 1, replace=False))
        K, M = K[:, chosen], K[np.ix_(chosen, chosen)]
    elif seed % 7 == 1:
        K = M = (X @ X.T + 1.0) ** 2
    asked = {
        "l1_ratio": float(rng.choice([0.0, 0.1, 0.5, 0.9, 1.0])),
        "rho": float(rng.choice([0.2, 1.0, 3.0])),
        "u": float(rng.choice([0.0, 1.0])),
    }
    if seed % 2:
        asked["sample_weight"] = rng.exponential(size=n) + 0.01
    if seed % 5 == 0:
        asked["offset"] = rng.standard_normal((n, m))
    asked["groups"] = [None, "classes"][seed // 2 % 2]
    asked["fit_intercept"] = bool(rng.integers(4))
    return K, M, y, asked


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("seed", range(30))
def test_gap_bounds_the_true_error_of_an_early_stop(seed):
    K, M, y, asked = random_problem(seed)
    given = {"penalty_kernel": None if M is K else M, **asked}
    path = kernel_clearning_path(K, y, alphas=6, alpha_min_ratio=1e-3, tol=1e-3, **given)
    tight = kernel_clearning_path(K, y, alphas=path.alphas, tol=1e-9, **given)
    plain = {name: asked[name] for name in ("l1_ratio", "rho", "u")}
    plain |= {"weight": asked.get("sample_weight"), "offset": asked.get("offset", 0.0)}
    plain["grouped"] = asked["groups"] is not None
    for k, alpha in enumerate(path.alphas):
        found = [
            objective(K, M, y, each.coefs[k], each.intercepts[k], alpha=alpha, **plain)
            for each in (path, tight)
        ]
        assert path.objectives[k] == pytest.approx(found[0], rel=1e-11)
        assert found[0] - min(found) <= path.dual_gaps[k] * (1 + 1e-9) + 1e-15
    assert path.converged.all()


@pytest.mark.parametrize("groups", [None, "classes"])
@pytest.mark.parametrize("l1_ratio", [0.0, 0.5])
def test_two_of_three_classes_are_the_binary_fit(groups, l1_ratio):
    # A third class that no score can reach leaves the joint problem of the other two.
    _, K, y = make_classes(n=40, m=3)
    two = y < 2
    K, y = K[np.ix_(two, two)], y[two]
    n = len(y)
    K3, y3 = np.zeros((n + 1, n + 1)), np.append(y, 2)
    K3[:n, :n], K3[n, n] = K, 1.0
    far = np.zeros((n + 1, 3))
    far[:n, 2], far[n, :2] = -1e4, -1e4
    alpha = 0.02
    joint = kernel_clearning_path(
        K3,
        y3,
        alphas=[alpha * n / (n + 1)],
        l1_ratio=l1_ratio,
        groups=groups,
        offset=far,
        loss="logistic",
        tol=1e-10,
        fit_intercept=False,
    )
    # B = ±b/2: the ridge of the joint problem is half of the binary one's, the grouped l1 1/√2.
    ridge = alpha * (1 - l1_ratio) / 2
    lasso = alpha * l1_ratio * (1.0 if groups is None else np.sqrt(0.5))
    binary = kernel_clearning_path(
        K,
        y,
        alphas=[ridge + lasso],
        l1_ratio=lasso / (ridge + lasso),
        loss="logistic",
        tol=1e-10,
        fit_intercept=False,
    )
    scores = joint.coefs[0][:, :n] @ K
    assert scores[1] - scores[0] == pytest.approx(binary.coefs[0] @ K, abs=1e-4)
    assert joint.objectives[0] == pytest.approx(binary.objectives[0] * n / (n + 1), abs=1e-9)


def test_linear_kernel_without_l1_is_the_linear_ridge():
    X, y = load_iris(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    asked = {"alpha": 0.01, "l1_ratio": 0.0, "tol": 1e-10}
    kernel = KernelCLearningClassifier(kernel="linear", n_landmarks=None, **asked).fit(X, y)
    linear = CLearningClassifier(**asked).fit(X, y)
    assert kernel.objective_ == pytest.approx(linear.objective_, abs=1e-9)
    folded = kernel.dual_coef_ @ kernel.support_vectors_
    assert folded == pytest.approx(linear.coef_, abs=1e-4)
    assert kernel.predict_proba(X) == pytest.approx(linear.predict_proba(X), abs=1e-4)
    assert len(kernel.support_) == len(X)


@pytest.mark.parametrize("groups", [None, "classes"])
def test_weights_are_repetitions(groups):
    _, K, y = make_classes(n=25)
    counts = np.random.default_rng(1).integers(1, 4, len(y))
    rows = np.repeat(np.arange(len(y)), counts)
    asked = {"alphas": [0.02], "l1_ratio": 0.0, "groups": groups, "tol": 1e-10}
    weighted = kernel_clearning_path(K, y, sample_weight=counts, **asked)
    repeated = kernel_clearning_path(K[np.ix_(rows, rows)], y[rows], **asked)
    assert weighted.objectives[0] == pytest.approx(repeated.objectives[0], abs=1e-9)
    scores = [path.coefs[0] @ M for path, M in ((weighted, K), (repeated, K[rows]))]
    assert scores[0] == pytest.approx(scores[1], abs=1e-4)


def test_offsets_move_the_scores_they_are_added_to():
    _, K, y = make_classes()
    shift = np.array([0.5, -0.25, -0.25])
    plain = kernel_clearning_path(K, y, alphas=[0.02], tol=1e-10)
    moved = kernel_clearning_path(
        K, y, alphas=[0.02], offset=np.tile(shift, (len(y), 1)), tol=1e-10
    )
    assert moved.objectives[0] == pytest.approx(plain.objectives[0], abs=1e-9)
    assert moved.intercepts[0] + shift == pytest.approx(plain.intercepts[0], abs=1e-4)
    with pytest.raises(ValueError, match=r"offset must be of shape \(50, 3\)"):
        kernel_clearning_path(K, y, offset=np.zeros(50))


def test_all_samples_as_landmarks_are_the_full_problem():
    _, K, y = make_classes()
    asked = {"alphas": [0.03, 0.01], "l1_ratio": 0.4, "tol": 1e-10}
    full = kernel_clearning_path(K, y, **asked)
    landmarks = kernel_clearning_path(K, y, penalty_kernel=K.copy(), **asked)
    assert landmarks.objectives == pytest.approx(full.objectives, abs=1e-8)


def test_single_precision_is_certified_on_its_own_matrix():
    _, K, y = make_classes()
    single = K.astype(np.float32)
    path = kernel_clearning_path(single, y, alphas=[0.01], l1_ratio=0.5)
    exact = single.astype(float)
    ours = objective(exact, exact, y, path.coefs[0], path.intercepts[0], alpha=0.01, l1_ratio=0.5)
    # The matrix is lifted by its rounding before it is solved.
    assert path.objectives[0] == pytest.approx(ours, abs=1e-5)
    assert path.converged.all()


def test_a_start_is_a_hint():
    _, K, y = make_classes()
    asked = {"alphas": [0.01], "l1_ratio": 0.5, "tol": 1e-8}
    cold = kernel_clearning_path(K, y, **asked)
    warm = kernel_clearning_path(
        K, y, coef_init=cold.coefs[0], intercept_init=cold.intercepts[0], **asked
    )
    assert warm.n_iters[0] <= cold.n_iters[0]
    assert warm.objectives[0] == pytest.approx(cold.objectives[0], abs=1e-8)
    with pytest.raises(ValueError, match="coef_init must hold 3 x 50 finite numbers"):
        kernel_clearning_path(K, y, coef_init=np.zeros(50))


@pytest.mark.parametrize("groups", ["rows", np.arange(50)])
def test_other_groups_are_refused(groups):
    _, K, y = make_classes()
    with pytest.raises(ValueError, match="must be None or 'classes'"):
        kernel_clearning_path(K, y, groups=groups)


def test_two_classes_do_not_mind_groups():
    _, K, y = make_classes()
    two = y < 2
    K, y = K[np.ix_(two, two)], y[two]
    asked = {"alphas": 5}
    plain, grouped = (kernel_clearning_path(K, y, groups=g, **asked) for g in (None, "classes"))
    assert np.array_equal(plain.coefs, grouped.coefs)


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    return StandardScaler().fit_transform(X), np.array(["barolo", "grignolino", "barbera"])[y]


@pytest.mark.parametrize("groups", [None, "classes"])
def test_estimator_has_a_row_a_class(wine, groups):
    X, y = wine
    model = KernelCLearningClassifier(groups=groups).fit(X, y)
    assert model.classes_.tolist() == ["barbera", "barolo", "grignolino"]
    assert model.dual_coef_.shape == (3, len(model.support_))
    assert model.intercept_.shape == model.n_support_.shape == (3,)
    codes = np.searchsorted(model.classes_, y)
    assert np.array_equal(np.bincount(codes[model.support_], minlength=3), model.n_support_)
    assert (np.diff(codes[model.support_]) >= 0).all()
    assert np.array_equal(model.support_vectors_, X[model.support_])
    assert model.loss_ == MultiCoherence(1.0, 1.0, scaled=True)
    scores = model.decision_function(X)
    assert np.array_equal(model.predict(X), model.classes_[scores.argmax(axis=1)])
    assert model.predict_proba(X) == pytest.approx(model.loss_.probabilities(scores), abs=1e-15)
    assert model.score(X, y) > 0.97
    assert 0 <= model.dual_gap_ == model.full_gap_ <= 1e-5
    assert "coefficient barolo" in model.summary().columns
    if groups == "classes":
        assert model.dual_coef_.all()
    else:
        assert not model.dual_coef_.all()


def test_precomputed_is_the_same_fit(wine):
    X, y = wine
    gamma = kernel_width("median", X, y)
    K = rbf_kernel(X, gamma=gamma)
    K = (K + K.T) / 2
    model = KernelCLearningClassifier(tol=1e-9).fit(X, y)
    given = KernelCLearningClassifier(kernel="precomputed", tol=1e-9).fit(K, y)
    assert given.decision_function(K) == pytest.approx(model.decision_function(X), abs=1e-4)


def test_median_width_looks_at_pairs_of_different_classes():
    X, _, y = make_classes(n=20)
    different = y[:, None] != y
    distances = np.sqrt(((X[:, None] - X) ** 2).sum(axis=-1))[different]
    assert kernel_width("median", X, y) == pytest.approx(np.median(distances) ** -2.0)
    weight = np.random.default_rng(0).integers(1, 4, len(y))
    repeated = kernel_width("median", np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert kernel_width("median", X, y, weight.astype(float)) == pytest.approx(repeated)


def test_warm_start_needs_as_many_scores(wine):
    X, y = wine
    model = KernelCLearningClassifier(warm_start=True, n_landmarks=None).fit(X, y)
    steps, objective_ = model.n_iter_, model.objective_
    model.fit(X, y)
    assert model.n_iter_ <= steps
    assert model.objective_ == pytest.approx(objective_, abs=1e-6)
    model.fit(X, y == "barolo")
    assert model.dual_coef_.shape[0] == 1


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "huberized_hinge"])
def test_hinge_like_losses_take_one_class_against_the_rest(wine, loss):
    X, y = wine
    model = KernelCLearningClassifier(loss=loss, n_landmarks=40).fit(X, y)
    alone = [
        KernelCLearningClassifier(loss=loss, n_landmarks=40, gamma=model.gamma_).fit(X, y == label)
        for label in model.classes_
    ]
    assert model.dual_gap_ == pytest.approx(sum(one.dual_gap_ for one in alone))
    assert model.objective_ == pytest.approx(sum(one.objective_ for one in alone))
    assert model.full_gap_ == pytest.approx(sum(one.full_gap_ for one in alone))
    assert not hasattr(model, "predict_proba")
    with pytest.raises(ValueError, match="groups need a loss that joins the classes"):
        KernelCLearningClassifier(loss=loss, groups="classes").fit(X, y)


@pytest.mark.parametrize("groups", [None, "classes"])
@pytest.mark.parametrize("l1_ratio", [0.0, 0.5, 1.0])
def test_full_gap_bounds_what_landmarks_cost(wine, groups, l1_ratio):
    X, y = wine
    asked = {"groups": groups, "l1_ratio": l1_ratio, "alpha": 0.02}
    full = KernelCLearningClassifier(n_landmarks=None, tol=1e-9, **asked).fit(X, y)
    for n_landmarks in (20, 80):
        few = KernelCLearningClassifier(n_landmarks=n_landmarks, **asked).fit(X, y)
        cost = few.objective_ - full.objective_
        assert -1e-8 <= cost <= few.full_gap_
        assert few.full_gap_ < few.objective_
        assert few.landmarks_.shape[0] <= n_landmarks


def test_landmarks_come_by_themselves_until_little_is_lost(wine, monkeypatch):
    X, y = wine
    monkeypatch.setattr(KernelCLearningClassifier, "_all_samples_up_to", 50)
    monkeypatch.setattr(KernelCLearningClassifier, "_landmarks_at_first", 10)
    model = KernelCLearningClassifier(groups="classes").fit(X, y)
    assert 10 < len(model.landmarks_) < len(X)
    assert model.full_gap_ <= 3e-3 * np.log(3) * 1.5


@pytest.mark.filterwarnings("ignore:The best")
def test_search_chooses_and_tells(wine):
    X, y = wine
    model = KernelCLearningClassifierCV(
        gammas=[0.02, 0.1], alphas=6, rhos=[1.0], us=[0.0, 1.0], cv=3, groups="classes"
    ).fit(X, y)
    assert model.path_.coefs.shape == (6, 3, len(X))
    assert model.score(X, y) > 0.97
    assert model.dual_gap_ <= 1e-5
    assert len(model.cv_results_["param_gamma"]) == 24
    assert model.summary().columns["entered at"][0] > 0


def test_search_by_itself_with_a_temperature(wine):
    X, y = wine
    X, y = X[::2], y[::2]
    model = KernelCLearningClassifierCV(cv=3, calibrate=True, us=[0.0], rhos=[1.0]).fit(X, y)
    assert model.calibrator_ is not None
    assert model.predict_proba(X).sum(axis=1) == pytest.approx(1.0)
    assert np.array_equal(model.predict(X), model.classes_[model.predict_proba(X).argmax(axis=1)])


@pytest.mark.filterwarnings("ignore:The best")
def test_search_goes_on_with_more_landmarks(wine, monkeypatch):
    X, y = wine
    monkeypatch.setattr(KernelCLearningClassifierCV, "_all_samples_up_to", 50)
    monkeypatch.setattr(KernelCLearningClassifierCV, "_landmarks_at_first", 10)
    model = KernelCLearningClassifierCV(
        gammas=[0.05], alphas=[0.05, 0.01], rhos=[1.0], us=[1.0], cv=3
    ).fit(X, y)
    index = int(np.flatnonzero(model.path_.alphas == model.alpha_)[0])
    coef, intercept = model.path_.solution(index)
    assert coef.shape == (3, len(model.landmarks_))
    assert len(model.landmarks_) > 10
    K = rbf_kernel(X, X[model.landmarks_], gamma=model.gamma_)
    assert K @ coef.T + intercept == pytest.approx(model.decision_function(X), abs=1e-9)
    other, intercept = model.path_.solution(1 - index)
    assert np.count_nonzero(other.any(axis=0)) <= 10


def test_a_fold_without_a_class_is_refused(wine):
    X, y = wine
    folds = [(np.flatnonzero(y != "barbera"), np.flatnonzero(y == "barbera"))]
    with pytest.raises(ValueError, match="leaves no sample of class 'barbera' to train on"):
        KernelCLearningClassifierCV(cv=folds).fit(X, y)


def test_samples_without_weight_are_as_if_they_were_not_there(wine):
    X, y = wine
    keep = np.random.default_rng(0).random(len(y)) < 0.7
    weighted = KernelCLearningClassifier().fit(X, y, sample_weight=keep)
    alone = KernelCLearningClassifier().fit(X[keep], y[keep])
    assert np.array_equal(weighted.support_, np.flatnonzero(keep)[alone.support_])
    assert np.array_equal(weighted.dual_coef_, alone.dual_coef_)


def test_what_does_not_converge_says_so():
    _, K, y = make_classes()
    with pytest.warns(ConvergenceWarning, match="did not converge"):
        path = kernel_clearning_path(K, y, alphas=[1e-4], max_iter=1, tol=1e-12)
    assert not path.converged[0]
    assert path.dual_gaps[0] > 0

"""Fits of more than two classes: certified, in agreement with others, and in every form."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import logsumexp
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.svm import LinearSVC

from clearning import (
    CalibratedMarginClassifier,
    CLearningClassifier,
    CLearningClassifierCV,
    JointCoherenceCalibrator,
    clearning_path,
)
from clearning.losses import MultiCoherence

pytestmark = pytest.mark.filterwarnings("error::sklearn.exceptions.ConvergenceWarning")


def make_classes(n=90, p=12, m=4, seed=0, noise=0.8):
    """Samples of m classes, of which the first features tell most."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    y = (X[:, :m] + noise * rng.standard_normal((n, m))).argmax(axis=1)
    y[:m] = np.arange(m)
    return X, y


def joint_objective(X, y, coef, intercept, *, alpha, l1_ratio, rho=1.0, u=1.0, **options):
    """P(a, B) in plain NumPy, from its definition; classes are 0 ... m - 1."""
    n, m = len(y), len(intercept)
    weight = options.get("weight", np.ones(n))
    factor, groups = options.get("factor", np.ones(X.shape[1])), options.get("groups")
    g = X @ coef.T + intercept + options.get("offset", 0.0)
    lifted = (g + u * (np.arange(m) != y[:, None])) / rho
    losses = rho * (logsumexp(lifted, axis=1) - lifted[np.arange(n), y])
    kappa = u / (rho * np.logaddexp(0.0, np.log(m - 1.0) + u / rho)) if u > 0 else 1.0
    if groups is None:
        norms, squares = np.abs(coef).sum(axis=0), (coef**2).sum(axis=0)
    else:
        squares = np.array([(coef[:, groups == k] ** 2).sum() for k in np.unique(groups)])
        norms = np.sqrt(squares)
    penalty = factor @ (l1_ratio * norms + (1 - l1_ratio) / 2 * squares)
    return kappa * (weight @ losses) / weight.sum() + alpha * penalty


def reference(X, y, m, *, alpha, l1_ratio, groups, **options):
    """The optimum by accelerated proximal gradients: slow, plain, and written for this test."""
    n, p = X.shape
    rho, u = options.get("rho", 1.0), options.get("u", 1.0)
    weight = options.get("weight", np.ones(n))
    weight = weight / weight.sum()
    kappa = u / (rho * np.logaddexp(0.0, np.log(m - 1.0) + u / rho)) if u > 0 else 1.0
    Z = np.column_stack([X, np.ones(n)])
    bound = kappa / (2 * rho) * np.linalg.norm(Z * np.sqrt(weight)[:, None], 2) ** 2
    B = np.zeros((p + 1, m))
    previous, momentum = B, 1.0
    point = B
    for _ in range(30_000):
        g = Z @ point + options.get("offset", 0.0)
        s = np.exp(
            (lift := (g + u * (np.arange(m) != y[:, None])) / rho) - logsumexp(lift, 1)[:, None]
        )
        s[np.arange(n), y] -= 1.0
        step = point - (Z.T @ (kappa * weight[:, None] * s)) / bound
        rows = step[:p]
        if groups is None:
            rows = np.sign(rows) * np.maximum(np.abs(rows) - alpha * l1_ratio / bound, 0)
        else:
            norms = np.sqrt([(rows[groups == k] ** 2).sum() for k in groups])[:, None]
            factor = np.sqrt(np.bincount(groups))[groups][:, None] * alpha * l1_ratio / bound
            rows = rows * np.maximum(1 - factor / np.maximum(norms, 1e-300), 0)
        ridge = alpha * (1 - l1_ratio) / bound
        if groups is not None:
            ridge = ridge * np.sqrt(np.bincount(groups))[groups][:, None]
        B = np.vstack([rows / (1 + ridge), step[p:]])
        following = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        point = B + (momentum - 1) / following * (B - previous)
        if ((point - B) * (B - previous)).sum() > 0 and np.abs(B - previous).max() < 1e-13:
            break
        previous, momentum = B, following
    return B[:p].T, B[p]


@pytest.mark.parametrize("groups", [None, "classes"])
@pytest.mark.parametrize("l1_ratio", [1.0, 0.5, 0.0])
@pytest.mark.parametrize(("rho", "u"), [(1.0, 0.0), (1.0, 1.0), (0.4, 1.5)])
def test_fit_is_optimal_by_a_plain_solver(groups, l1_ratio, rho, u):
    X, y = make_classes(seed=3)
    alpha = 0.03
    model = CLearningClassifier(
        alpha=alpha, l1_ratio=l1_ratio, rho=rho, u=u, groups=groups, tol=1e-9
    ).fit(X, y)
    labels = None if groups is None else np.arange(X.shape[1])
    options = {"alpha": alpha, "l1_ratio": l1_ratio, "rho": rho, "u": u, "groups": labels}
    coef, intercept = reference(X, y, 4, **options)
    best = joint_objective(X, y, coef, intercept, **options)
    ours = joint_objective(X, y, model.coef_, model.intercept_, **options)
    assert model.objective_ == pytest.approx(ours, rel=1e-13)
    assert ours <= best + 1e-10
    assert best - ours <= 1e-7


@pytest.mark.parametrize("seed", range(40))
def test_gap_bounds_the_true_error_of_an_early_stop(seed):
    rng = np.random.default_rng(seed)
    m, n, p = int(rng.integers(3, 7)), int(rng.integers(20, 90)), int(rng.integers(1, 40))
    X, y = make_classes(n, max(p, m), m, seed, noise=float(rng.choice([0.1, 1.0, 4.0])))
    X = X * rng.choice([1.0, 1.0, 8.0], X.shape[1]) + rng.choice([0.0, 0.0, 5.0], X.shape[1])
    groups = [None, "classes", np.arange(X.shape[1]) // 3][seed % 3]
    options = {
        "rho": float(rng.choice([1.0, 0.3, 0.05])),
        "u": float(rng.choice([0.0, 1.0])),
        "l1_ratio": float(rng.choice([1.0, 0.9, 0.3, 0.0])),
        "groups": groups,
        "fit_intercept": bool(rng.random() < 0.8),
        "sample_weight": rng.uniform(0.1, 3.0, n) if seed % 2 else None,
        "offset": rng.standard_normal((n, m)) if seed % 5 == 0 else None,
    }
    loose = clearning_path(X, y, alphas=6, tol=1e-2, **options)
    tight = clearning_path(X, y, alphas=loose.alphas, tol=1e-10, max_iter=1000, **options)
    assert loose.converged.all()
    assert (loose.dual_gaps <= 1e-2 * loose.null_objective).all()
    labels, factor = None, np.ones(X.shape[1])
    if groups is not None:
        labels = np.arange(X.shape[1]) if isinstance(groups, str) else groups
        factor = np.sqrt(np.bincount(labels))
    plain = {
        "rho": options["rho"],
        "u": options["u"],
        "l1_ratio": options["l1_ratio"],
        "groups": labels,
        "factor": factor,
        "weight": np.ones(n) if options["sample_weight"] is None else options["sample_weight"],
        "offset": 0.0 if options["offset"] is None else options["offset"],
    }
    for k, alpha in enumerate(loose.alphas):
        early, late = (
            joint_objective(X, y, path.coefs[k], path.intercepts[k], alpha=alpha, **plain)
            for path in (loose, tight)
        )
        assert loose.objectives[k] == pytest.approx(early, rel=1e-12)
        assert early - late <= loose.dual_gaps[k] + 1e-14
        assert late - early <= tight.dual_gaps[k] + 1e-14


@pytest.mark.parametrize("penalty", ["none", "classes"])
def test_a_dual_point_by_hand_lies_below_the_claim(penalty):
    """D at softmax weights with the ridge alone, from its formula, meets P up to their sums."""
    X, y = make_classes(seed=8)
    alpha, n, m = 0.05, len(y), 4
    groups = None if penalty == "none" else "classes"
    model = CLearningClassifier(
        loss="logistic", alpha=alpha, l1_ratio=0.0, groups=groups, tol=1e-12
    ).fit(X, y)
    s = model.predict_proba(X)
    r = (s - np.eye(m)[y]) / n
    dual = -(s * np.log(s)).sum() / n - ((X.T @ r) ** 2).sum() / (2 * alpha)
    assert np.abs(r.sum(axis=0)).max() < 1e-6
    assert model.objective_ == pytest.approx(dual, abs=1e-6)


def test_two_class_groups_agree_with_a_general_optimiser():
    X, y = make_classes(m=2, seed=5)
    labels = np.repeat(np.arange(4), 3)
    model = CLearningClassifier(loss="logistic", alpha=0.02, l1_ratio=0.7, groups=labels, tol=1e-10)
    model.fit(X, y)
    signs = np.where(y == 1, 1.0, -1.0)

    def objective(theta):
        b, z = theta[:-1], signs * (X @ theta[:-1] + theta[-1])
        squares = np.array([(b[labels == k] ** 2).sum() for k in range(4)])
        penalty = np.sqrt(3) * (0.7 * np.sqrt(squares + 1e-18) + 0.15 * squares)
        return np.logaddexp(0, -z).mean() + 0.02 * penalty.sum()

    found = minimize(objective, np.full(13, 0.01), tol=1e-13, options={"maxiter": 5000})
    assert model.coef_.shape == (1, 12)
    assert model.objective_ == pytest.approx(objective(np.r_[model.coef_[0], model.intercept_]))
    assert model.objective_ <= found.fun + 1e-8
    assert np.abs(model.coef_[0] - found.x[:-1]).max() < 1e-3


def test_groups_of_one_are_classes_and_features_enter_together():
    X, y = make_classes(seed=6)
    one = clearning_path(X, y, groups="classes", l1_ratio=1.0, alphas=15)
    other = clearning_path(X, y, groups=np.arange(X.shape[1])[::-1], l1_ratio=1.0, alphas=15)
    np.testing.assert_allclose(one.objectives, other.objectives, rtol=2e-6)
    inside = (one.coefs != 0).sum(axis=1)
    assert set(np.unique(inside)) <= {0, 4}
    labels = np.repeat(np.arange(4), 3)
    joint = clearning_path(X, y, groups=labels, l1_ratio=1.0, alphas=15)
    per_group = (joint.coefs != 0).any(axis=1).reshape(15, 4, 3).sum(axis=2)
    assert set(np.unique(per_group)) <= {0, 3}


def test_standardized_groups_are_groups_of_standardized_columns():
    X, y = make_classes(seed=7)
    X = X * np.linspace(0.2, 5.0, X.shape[1])
    labels = np.repeat(np.arange(6), 2)
    options = {"alpha": 0.05, "l1_ratio": 0.8, "groups": labels, "tol": 1e-10}
    own = CLearningClassifier(standardize=True, **options).fit(X, y)
    by_hand = CLearningClassifier(**options).fit(X / X.std(axis=0), y)
    np.testing.assert_allclose(own.coef_ * X.std(axis=0), by_hand.coef_, atol=1e-5)


@pytest.mark.parametrize("groups", [None, "classes"])
def test_two_classes_jointly_are_the_binary_fit(groups):
    """m = 2 by the joint solver, reached through a third class that weighs almost nothing."""
    X, y = make_classes(m=2, p=6, seed=9)
    binary = CLearningClassifier(loss="logistic", alpha=0.05, l1_ratio=0.6, tol=1e-10).fit(X, y)
    again = CLearningClassifier(
        loss="logistic", alpha=0.05, l1_ratio=0.6, groups=np.arange(6), tol=1e-10
    ).fit(X, y)
    np.testing.assert_allclose(again.coef_, binary.coef_, atol=1e-5)
    assert again.objective_ == pytest.approx(binary.objective_, rel=1e-8)


@pytest.mark.parametrize("form", ["sparse", "float32", "list", "C order"])
def test_every_form_of_design_gives_the_same_path(form):
    X, y = make_classes(p=30, seed=10)
    X[np.abs(X) < 0.7] = 0.0
    X = X.astype(np.float32).astype(np.float64)
    forms = {
        "sparse": sparse.csr_matrix(X),
        "float32": X.astype(np.float32),
        "list": X.tolist(),
        "C order": np.ascontiguousarray(X),
    }
    plain = clearning_path(np.asfortranarray(X), y, alphas=10, tol=1e-9)
    other = clearning_path(forms[form], y, alphas=10, tol=1e-9)
    np.testing.assert_allclose(other.objectives, plain.objectives, rtol=1e-8)
    np.testing.assert_allclose(other.coefs, plain.coefs, atol=1e-3)


def test_shapes_of_path_and_classifier():
    X, y = make_classes(seed=11)
    labels = np.array(["a", "b", "c", "d"])[y]
    path = clearning_path(X, labels, alphas=7)
    assert path.coefs.shape == (7, 4, 12)
    assert path.intercepts.shape == (7, 4)
    assert path.decision_function(X).shape == (90, 7, 4)
    assert path.decision_function(X, path.alphas[3]).shape == (90, 4)
    assert path.predict_proba(X, path.alphas[3]).shape == (90, 4)
    assert set(path.predict(X, path.alphas[-1])) <= set(labels)
    coef, intercept = path.coef_at(0.5 * (path.alphas[2] + path.alphas[3]))
    assert coef.shape == (4, 12)
    assert intercept.shape == (4,)
    np.testing.assert_allclose(path.intercepts.sum(axis=1), 0.0, atol=1e-12)
    model = CLearningClassifier(alpha=path.alphas[4], tol=1e-8).fit(X, labels)
    assert model.coef_.shape == (4, 12)
    assert model.intercept_.shape == (4,)
    assert isinstance(model.loss_, MultiCoherence)
    np.testing.assert_array_equal(model.classes_, np.unique(labels))
    scores = model.decision_function(X)
    np.testing.assert_array_equal(model.predict(X), model.classes_[scores.argmax(axis=1)])
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


@pytest.mark.parametrize("l1_ratio", [0.0, 1.0])
def test_scikit_learn_multinomial_agrees(l1_ratio):
    X, y = load_iris(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    alpha = 0.02
    model = CLearningClassifier(loss="logistic", alpha=alpha, l1_ratio=l1_ratio, tol=1e-10)
    model.fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peer = LogisticRegression(
            C=1 / (alpha * len(y)), l1_ratio=l1_ratio, solver="saga", tol=1e-9, max_iter=50_000
        ).fit(X, y)
    options = {"alpha": alpha, "l1_ratio": l1_ratio, "u": 0.0}
    theirs = joint_objective(X, y, peer.coef_, peer.intercept_, **options)
    assert model.objective_ <= theirs + 1e-10
    np.testing.assert_allclose(model.predict_proba(X), peer.predict_proba(X), atol=1e-4)


def test_the_small_problem_on_which_scikit_learns_newton_solver_fails():
    """20 samples, 20 features, 3 classes: wider than it has information for."""
    rng = np.random.default_rng(42)
    X, y = rng.standard_normal((20, 20)), rng.integers(0, 3, size=20)
    for l1_ratio in (1.0, 0.5, 0.0):
        path = clearning_path(X, y, loss="logistic", l1_ratio=l1_ratio, alphas=50, tol=1e-8)
        assert path.converged.all()


def test_hinge_like_losses_are_fitted_one_against_the_rest():
    X, y = make_classes(seed=12)
    for loss in ("hinge", "squared_hinge", "huberized_hinge"):
        model = CLearningClassifier(loss=loss, alpha=0.05).fit(X, y)
        parts = [CLearningClassifier(loss=loss, alpha=0.05).fit(X, y == k) for k in range(4)]
        np.testing.assert_allclose(model.coef_, np.vstack([part.coef_ for part in parts]))
        assert model.dual_gap_ == pytest.approx(sum(part.dual_gap_ for part in parts))
        assert model.objective_ == pytest.approx(sum(part.objective_ for part in parts))
        assert not hasattr(model, "predict_proba")
        assert model.predict(X).shape == y.shape


def test_weights_are_repetitions_and_class_weights_multiply_them():
    X, y = make_classes(seed=13)
    weight = np.random.default_rng(0).integers(1, 4, size=len(y))
    weighted = CLearningClassifier(tol=1e-11).fit(X, y, sample_weight=weight)
    repeated = CLearningClassifier(tol=1e-11).fit(
        np.repeat(X, weight, axis=0), np.repeat(y, weight)
    )
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-6)
    factors = {0: 1.0, 1: 2.0, 2: 0.5, 3: 1.0}
    by_class = CLearningClassifier(tol=1e-11, class_weight=factors).fit(X, y)
    by_sample = CLearningClassifier(tol=1e-11).fit(X, y, np.array([factors[k] for k in y]))
    np.testing.assert_allclose(by_class.coef_, by_sample.coef_, atol=1e-6)


def test_an_offset_that_is_the_solution_leaves_nothing_to_fit():
    X, y = make_classes(seed=14)
    options = {"alphas": [0.05], "l1_ratio": 1.0, "tol": 1e-11}
    plain = clearning_path(X, y, **options)
    shifted = clearning_path(X, y, offset=np.tile([0.3, -0.1, 0.0, 0.5], (90, 1)), **options)
    np.testing.assert_allclose(shifted.coefs, plain.coefs, atol=1e-6)
    assert shifted.objectives[0] == pytest.approx(plain.objectives[0], rel=1e-10)


def test_bounds_and_factors_hold():
    X, y = make_classes(seed=15)
    lower = np.zeros((4, 12))
    lower[1] = -0.1
    path = clearning_path(X, y, bounds=(lower, 0.4), alphas=20, l1_ratio=0.7)
    assert path.converged.all()
    assert (path.coefs >= lower).all()
    assert (path.coefs <= 0.4).all()
    assert (path.coefs == 0.4).any()
    factor = np.ones(12)
    factor[3], factor[5] = 0.0, 10.0
    path = clearning_path(X, y, penalty_factor=factor, alphas=20, l1_ratio=1.0)
    assert path.converged.all()
    assert (path.coefs[0][:, 3] != 0).all()
    assert (path.coefs[1][:, [0, 5]] == 0).all()


def test_a_warm_start_begins_where_the_last_fit_ended():
    X, y = make_classes(seed=16)
    model = CLearningClassifier(warm_start=True, tol=1e-8).fit(X, y)
    first = model.n_iter_
    model.fit(X, y)
    assert model.n_iter_ <= 1 < first
    path = clearning_path(
        X, y, alphas=[0.01], coef_init=model.coef_, intercept_init=model.intercept_, tol=1e-8
    )
    assert path.n_iters[0] <= 1


def test_many_classes_and_few_samples():
    rng = np.random.default_rng(17)
    X = rng.standard_normal((12, 5))
    every = clearning_path(X, np.arange(12), alphas=10)
    assert every.converged.all()
    y = np.r_[np.zeros(6, int), np.ones(5, int), 2]
    assert clearning_path(X, y, alphas=10).converged.all()


def test_order_of_probabilities_is_the_order_of_scores():
    X, y = load_digits(return_X_y=True)
    model = CLearningClassifier(alpha=1e-3, rho=0.02, standardize=True).fit(X, y)
    scores, eta = model.decision_function(X), model.predict_proba(X)
    order = np.argsort(scores, axis=1, kind="stable")
    assert (np.diff(np.take_along_axis(eta, order, axis=1), axis=1) >= 0).all()
    np.testing.assert_array_equal(eta.argmax(axis=1), scores.argmax(axis=1))


@pytest.mark.parametrize("loss", ["coherence", "logistic", "hinge"])
def test_cross_validation_of_many_classes(loss):
    X, y = load_wine(return_X_y=True)
    model = CLearningClassifierCV(loss=loss, alphas=8, cv=3, standardize=True).fit(X, y)
    assert model.coef_.shape == (3, 13)
    assert model.score(X, y) > 0.95
    assert model.path_.coefs.shape == (8, 3, 13)
    assert np.isfinite(model.cv_results_["mean_test_score"]).all()


def test_calibrated_cross_validation_of_many_classes():
    X, y = load_wine(return_X_y=True)
    model = CLearningClassifierCV(
        loss="hinge", alphas=6, cv=3, standardize=True, calibrate=True, selection="one_se"
    ).fit(X, y)
    assert isinstance(model.calibrator_, JointCoherenceCalibrator)
    eta = model.predict_proba(X)
    np.testing.assert_array_equal(model.classes_[eta.argmax(axis=1)], model.predict(X))


def test_joint_calibrator_fits_a_temperature_and_keeps_the_order():
    rng = np.random.default_rng(18)
    g = rng.standard_normal((4000, 3))
    eta = MultiCoherence(0.25, 0.0).inverse_link(g)
    y = (eta.cumsum(axis=1) < rng.random((4000, 1))).sum(axis=1)
    hot = JointCoherenceCalibrator(u=0.0).fit(g, y)
    assert hot.rho_ == pytest.approx(0.25, rel=0.1)
    both = JointCoherenceCalibrator().fit(g, y)
    fitted = both.predict_proba(g)
    np.testing.assert_allclose(fitted, eta, atol=0.05)
    np.testing.assert_array_equal(fitted.argmax(axis=1), g.argmax(axis=1))
    with pytest.raises(ValueError, match="need 3 classes"):
        hot.fit(g, y % 2)


@pytest.mark.parametrize("m", [2, 3, 30])
def test_labels_are_doubted_no_more_where_there_are_more_classes(m):
    y = np.repeat(np.arange(m), 20)
    calibrator = JointCoherenceCalibrator(u=0.0).fit(np.eye(m)[y], y)
    own = calibrator.predict_proba(np.eye(m)).diagonal()
    np.testing.assert_allclose(own, 20.5 / 21, rtol=1e-6)


def test_frames_and_summaries_name_the_classes():
    X, y = make_classes(seed=19)
    labels = np.array(["a", "b", "c", "d"])[y]
    path = clearning_path(X, labels, alphas=5)
    frame = path.to_frame()
    assert len(frame) == 5
    assert {"intercept a", "intercept d"} <= set(frame.columns)
    np.testing.assert_allclose(frame["intercept b"], path.intercepts[:, 1])
    model = CLearningClassifier(alpha=0.05).fit(X, labels)
    assert len(model.summary()) == np.count_nonzero(np.abs(model.coef_).sum(axis=0))


def test_calibrated_margin_classifier_joins_the_scores():
    X, y = load_iris(return_X_y=True)
    model = CalibratedMarginClassifier(LinearSVC(C=0.1), method="joint").fit(X, y)
    assert isinstance(model.calibrated_classifiers_[0].calibrator, JointCoherenceCalibrator)
    eta = model.predict_proba(X)
    np.testing.assert_allclose(eta.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.classes_[eta.argmax(axis=1)], model.predict(X))
    assert log_loss(y, eta) < 0.6


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"groups": "classes", "bounds": (0, 1)}, "bounds cannot be had with groups"),
        ({"groups": [0, 1]}, r"groups has shape \(2,\)"),
        ({"groups": "all"}, "groups='all' must be None, 'classes' or an array"),
        ({"groups": "classes", "loss": "hinge"}, "groups need a loss that joins the classes"),
        ({"offset": np.zeros(90)}, r"offset must be of shape \(90, 4\)"),
        ({"bounds": (np.zeros(3), 1)}, "4 x 12"),
        ({"coef_init": np.zeros(12)}, "coef_init must hold 4 x 12"),
        (
            {"groups": np.repeat([0, 1], 6), "penalty_factor": np.arange(12)},
            "the same for all features of a group",
        ),
    ],
)
def test_bad_input_gets_one_sentence(options, message):
    X, y = make_classes()
    with pytest.raises(ValueError, match=message):
        clearning_path(X, y, **options)


def test_too_few_steps_are_said():
    X, y = make_classes(n=200, p=60)
    with pytest.warns(ConvergenceWarning, match="did not converge"):
        path = clearning_path(X, y, alphas=[1e-4], max_iter=1, tol=1e-10)
    assert path.dual_gaps[0] > 0

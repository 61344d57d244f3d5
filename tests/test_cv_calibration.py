"""`calibrate=True` of the cross-validated classifiers: probabilities of held-out scores."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.datasets import make_moons
from sklearn.metrics import log_loss
from sklearn.model_selection import PredefinedSplit, StratifiedKFold, cross_val_predict
from sklearn.utils.estimator_checks import parametrize_with_checks

from clearning import (
    CLearningClassifier,
    CLearningClassifierCV,
    CoherenceCalibrator,
    KernelCLearningClassifier,
    KernelCLearningClassifierCV,
)
from clearning._search_links import fit_links
from clearning.calibration import JointCoherenceCalibrator

FOLDS = StratifiedKFold(3)
ALPHAS = [3e-2, 1e-3]
PAIRS = [
    (
        CLearningClassifierCV(search="paper", alphas=ALPHAS, cv=FOLDS, tol=1e-12),
        CLearningClassifier(tol=1e-12),
    ),
    (
        KernelCLearningClassifierCV(
            search="paper", gammas=(1.0, 20.0), alphas=ALPHAS, cv=FOLDS, tol=1e-10
        ),
        KernelCLearningClassifier(tol=1e-10),
    ),
]
BOTH = pytest.mark.parametrize(("search", "single"), PAIRS, ids=["linear", "kernel"])


@pytest.fixture(scope="module")
def moons():
    X, y = make_moons(150, noise=0.4, random_state=0)
    return X, np.where(y == 1, "yes", "no")


def fitted(search, data, **options):
    return clone(search).set_params(calibrate=True, **options).fit(*data)


def expected_failures(estimator):
    failures = {
        "check_class_weight_classifiers": "an offset gives weighted classes their rates back"
    }
    if isinstance(estimator, CLearningClassifierCV) and estimator.loss != "squared_hinge":
        # Its three classes leave scores near zero, which are compared to 1e-7 of themselves.
        reason = "an objective known to 1e-16 tells coefficients to 1e-8"
        for kind in ("dense", "sparse"):
            failures[f"check_sample_weight_equivalence_on_{kind}_data"] = reason
    return failures


@parametrize_with_checks(
    [
        CLearningClassifierCV(alphas=5, cv=3, calibrate=True, tol=1e-13),
        CLearningClassifierCV(loss="squared_hinge", alphas=5, cv=3, calibrate=True, tol=1e-13),
        KernelCLearningClassifierCV(
            alphas=5, alpha_min_ratio=0.05, cv=2, calibrate=True, tol=1e-13
        ),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


def by_hand(scores, y, weight=None):
    """The log-loss of each fold, by the calibrator of all held-out scores."""
    calibrator, losses = CoherenceCalibrator(u=0.0, smooth=0.5).fit(scores, y, weight), []
    for _, test in FOLDS.split(scores, y):
        p = calibrator.predict_proba(scores[test])
        losses.append(log_loss(y[test], p, sample_weight=None if weight is None else weight[test]))
    return losses


@BOTH
def test_candidates_are_judged_by_the_calibrators_of_their_held_out_scores(search, single, moons):
    X, y = moons
    model = fitted(search, moons)
    table = model.cv_results_
    for k, alpha in enumerate(table["param_alpha"]):
        single = clone(single).set_params(alpha=alpha)
        if "param_gamma" in table:
            single.set_params(gamma=table["param_gamma"][k])
        scores = cross_val_predict(single, X, y, cv=FOLDS, method="decision_function")
        found = [-table[f"split{fold}_test_score"][k] for fold in range(3)]
        np.testing.assert_allclose(found, by_hand(scores, y), rtol=1e-4)
        if k == model.best_index_:
            calibrator = CoherenceCalibrator(u=0.0, smooth=0.5).fit(scores, y)
            assert model.calibrator_.rho_ == pytest.approx(calibrator.rho_, rel=1e-4)


@BOTH
def test_probabilities_are_the_calibrators_and_predictions_the_models_own(search, single, moons):
    X = moons[0]
    model = fitted(search, moons)
    proba = model.predict_proba(X)
    scores = model.decision_function(X)
    np.testing.assert_array_equal(proba, model.calibrator_.predict_proba(scores))
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), proba)
    np.testing.assert_array_equal(model.classes_[proba.argmax(axis=1)], model.predict(X))
    assert np.abs(proba[:, 1] - model.loss_.inverse_link(scores)).max() > 0.01
    # The fit itself is that of the chosen hyperparameters, calibrated or not.
    chosen = {"alphas": [model.alpha_], "calibrate": False}
    if hasattr(model, "gamma_"):
        chosen["gammas"] = [model.gamma_]
    plain = clone(search).set_params(**chosen).fit(*moons)
    np.testing.assert_allclose(scores, plain.decision_function(X), atol=1e-3)


@BOTH
def test_without_it_the_losss_own_link_is_used_again(search, single, moons):
    X = moons[0]
    model = fitted(search, moons).set_params(calibrate=False).fit(*moons)
    assert model.calibrator_ is None
    expected = model.loss_.inverse_link(model.decision_function(X))
    np.testing.assert_array_equal(model.predict_proba(X)[:, 1], expected)


@BOTH
def test_every_loss_gets_probabilities(search, single, moons):
    X, y = moons
    plain = clone(search).set_params(loss="squared_hinge")
    assert not hasattr(plain, "predict_proba")
    model = fitted(plain, moons)
    assert log_loss(y, model.predict_proba(X)) < 0.6
    named = fitted(plain, moons, scoring="neg_log_loss")
    np.testing.assert_array_equal(
        model.cv_results_["mean_test_score"], named.cv_results_["mean_test_score"]
    )


@BOTH
def test_other_scorers_see_calibrated_probabilities(search, single, moons):
    def mean_score(scoring, calibrate):
        X, y = moons[0], (moons[1] == "yes").astype(int)
        model = clone(search).set_params(scoring=scoring, calibrate=calibrate).fit(X, y)
        return model.cv_results_["mean_test_score"]

    brier, plain = (mean_score("neg_brier_score", calibrate) for calibrate in (True, False))
    assert np.abs(brier - plain).max() > 1e-3
    accuracy, plain = (mean_score("accuracy", calibrate) for calibrate in (True, False))
    np.testing.assert_allclose(accuracy, plain)


@BOTH
def test_it_mends_scores_that_the_penalty_has_made_too_large_or_too_small(search, single, moons):
    X, y = make_moons(1000, noise=0.4, random_state=1)
    y = np.where(y == 1, "yes", "no")
    for alpha in (1e-7, 0.2):
        options = {"alphas": [alpha], "l1_ratios": [0.0]}
        if "gammas" in search.get_params():
            options["gammas"] = [5.0]
        plain = clone(search).set_params(**options, max_iter=100_000).fit(*moons)
        calibrated = fitted(search, moons, **options, max_iter=100_000)
        gain = log_loss(y, plain.predict_proba(X)) - log_loss(y, calibrated.predict_proba(X))
        # Two coefficients of 150 samples do not overfit.
        overfits = alpha < 0.1 and "gammas" in options
        assert gain > (0.3 if overfits else 0.02 if alpha > 0.1 else -0.02)


def test_weights_reach_the_calibrators(moons):
    X, y = moons
    weight = np.linspace(0.0, 2.0, len(y))
    search = CLearningClassifierCV(
        search="paper", alphas=[1e-2], cv=FOLDS, calibrate=True, tol=1e-12
    )
    model = search.fit(X, y, sample_weight=weight)
    scores = np.empty(len(y))
    for train, test in FOLDS.split(X, y):
        fold = CLearningClassifier(alpha=1e-2, tol=1e-12).fit(X[train], y[train], weight[train])
        scores[test] = fold.decision_function(X[test])
    found = [-model.cv_results_[f"split{fold}_test_score"][0] for fold in range(3)]
    np.testing.assert_allclose(found, by_hand(scores, y, weight), rtol=1e-5)
    expected = CoherenceCalibrator(u=0.0, smooth=0.5).fit(scores, y, weight)
    assert model.calibrator_.rho_ == pytest.approx(expected.rho_, rel=1e-5)


@pytest.mark.parametrize("size", [5e-324, 1e-3, 1.0])
def test_shares_are_weights_as_good_as_counts(moons, size):
    """Samples that weigh little must not look as if there were few of them."""
    X, y = moons
    told = {"alphas": [1e-2], "cv": FOLDS, "rhos": (1.0,), "us": (1.0,), "calibrate": True}
    plain = CLearningClassifierCV(**told).fit(X, y)
    weighted = CLearningClassifierCV(**told).fit(X, y, sample_weight=np.full(len(y), size))
    np.testing.assert_allclose(weighted.predict_proba(X), plain.predict_proba(X), rtol=1e-6)
    huge = CLearningClassifierCV(**told).fit(X, y, sample_weight=np.full(len(y), 1e308))
    np.testing.assert_allclose(huge.predict_proba(X), plain.predict_proba(X), atol=0.05)


def test_penalties_at_which_scores_say_nothing_are_quiet(moons):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "The best alpha")
        model = CLearningClassifierCV(alphas=[10.0, 1e-2], calibrate=True, fit_intercept=False)
        model.fit(*moons)
    assert model.alpha_ == 1e-2


@BOTH
def test_bad_values_and_folds_are_named(search, single, moons):
    X, y = moons
    with pytest.raises(ValueError, match="'calibrate' parameter"):
        clone(search).set_params(calibrate="platt").fit(X, y)
    one_class = PredefinedSplit(np.where((np.arange(len(y)) < 50) & (y == "yes"), 0, -1))
    with pytest.raises(ValueError, match="all folds, which must be of both classes"):
        fitted(search, moons, cv=one_class)
    one_fold = PredefinedSplit(np.where(np.arange(len(y)) < 50, 0, -1))
    assert fitted(search, moons, cv=one_fold).calibrator_ is not None


# --- Links of many candidates at once ---------------------------------------------------------


def held_out_scores(seed, n=240, rate=0.4):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < rate).astype(np.intp)
    sizes = np.array([1e-3, 1.0, 50.0])
    return (rng.normal(size=(n, 3)) + 1.2 * (2 * y[:, None] - 1)) * sizes, y, rng


@pytest.mark.parametrize("offset", [None, 0.0])
def test_links_at_once_are_those_of_one_calibrator_each(offset):
    scores, y, rng = held_out_scores(0)
    weight = rng.uniform(0.2, 2.0, len(y)) * (rng.random(len(y)) < 0.8)
    scales, offsets = fit_links(scores, y, weight, 2, offset=offset)
    for k in range(3):
        one = CoherenceCalibrator(u=0.0, smooth=0.5, offset=offset is not None)
        one.fit(scores[:, k], y, weight)
        assert scales[k] == pytest.approx(1.0 / one.rho_, rel=1e-5)
        assert offsets[k] == pytest.approx(one.offset_, abs=1e-6)


def test_an_offset_is_held_to_zero():
    scores, y, _ = held_out_scores(3, rate=0.1)
    weight = np.ones(len(y))
    found = [fit_links(scores, y, weight, 2, offset=hold)[1][1] for hold in (0.0, 2.0, 1e6)]
    assert abs(found[0]) > abs(found[1]) > 10 * abs(found[2])
    target = np.where(y == 1, (y.sum() + 0.5) / (y.sum() + 1), 0.5 / ((y == 0).sum() + 1))

    def objective(line):
        z = line[0] * scores[:, 1] + line[1]
        return np.sum(np.logaddexp(0.0, z) - target * z) + line[1] ** 2

    assert found[1] == pytest.approx(minimize(objective, [1.0, 0.0]).x[1], abs=1e-4)


def test_links_of_many_classes_at_once():
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 3, 200)
    scores = rng.normal(size=(200, 2, 3)) + 1.5 * np.eye(3)[codes][:, None, :]
    weight = rng.uniform(0.5, 2.0, 200)
    scales, _ = fit_links(scores, codes, weight, 3, offset=None)
    for k in range(2):
        one = JointCoherenceCalibrator(u=0.0).fit(scores[:, k], codes, weight)
        assert scales[k] == pytest.approx(1.0 / one.rho_, rel=1e-5)


@pytest.mark.parametrize("offset", [None, 0.0])
def test_links_of_scores_that_separate_mislead_or_say_nothing(offset):
    scores, y, _ = held_out_scores(2)
    sides = 2.0 * y - 1.0
    odd = np.column_stack([sides, -scores[:, 1], np.zeros(len(y)), np.ones(len(y))])
    scales, offsets = fit_links(odd, y, np.ones(len(y)), 2, offset=offset)
    assert np.isfinite(scales).all()
    assert np.isfinite(offsets).all()
    assert (scales > 0).all()
    assert scales[0] > 3.0
    assert scales[1] * np.abs(odd[:, 1]).max() <= 1e-3 * (1 + 1e-12)


# --- Weighted classes -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def rare():
    """One in twelve is positive."""
    rng = np.random.default_rng(5)
    y = (rng.random(1200) < 1 / 12).astype(int)
    return rng.normal(size=(1200, 3)) + 0.9 * y[:, None], y


@pytest.mark.parametrize(
    "search",
    [
        CLearningClassifierCV(alphas=[1e-2], class_weight="balanced", calibrate=True),
        KernelCLearningClassifierCV(
            alphas=[1e-2], gammas=[0.1], n_landmarks=30, class_weight="balanced", calibrate=True
        ),
    ],
    ids=["linear", "kernel"],
)
def test_an_offset_gives_weighted_classes_their_rates_back(search, rare):
    X, y = rare
    calibrated = clone(search).set_params(calibrate=True).fit(X, y)
    plain = clone(search).set_params(calibrate=False).fit(X, y)
    rate = calibrated.predict_proba(X)[:, 1].mean()
    assert plain.predict_proba(X)[:, 1].mean() > 0.3
    assert rate == pytest.approx(y.mean(), rel=0.05)
    # Predictions and scores follow the probabilities.
    likeliest = calibrated.predict_proba(X).argmax(axis=1)
    np.testing.assert_array_equal(calibrated.predict(X), likeliest)
    np.testing.assert_array_equal(calibrated.decision_function(X) > 0, likeliest)
    assert likeliest.sum() < 0.5 * plain.predict(X).sum()
    accuracy = calibrated.set_params(scoring="accuracy").fit(X, y).cv_results_["mean_test_score"]
    assert accuracy[0] > 0.9


def test_a_kernel_search_moves_its_intercept_by_the_offset(rare):
    X, y = rare
    told = {"alphas": [1e-3], "gammas": [0.1], "n_landmarks": 30, "rhos": [1.0], "us": [1.0]}
    model = KernelCLearningClassifierCV(**told).fit(X, y)
    plain = KernelCLearningClassifierCV(**told, calibrate=False).fit(X, y)
    np.testing.assert_array_equal(model.path_.intercepts, plain.path_.intercepts)
    shift = model.intercept_[0] - model.path_.intercepts[0]
    assert abs(shift) > 1e-3
    f = model.decision_function(X)
    np.testing.assert_allclose(f, plain.decision_function(X) + shift, rtol=1e-10)
    p = model.predict_proba(X)[:, 1]
    np.testing.assert_array_equal(p > 0.5, f > 0)
    np.testing.assert_array_equal(model.predict(X), f > 0)
    assert p.mean() == pytest.approx(y.mean(), rel=0.05)
    no_intercept = KernelCLearningClassifierCV(**told, fit_intercept=False).fit(X, y)
    assert no_intercept.intercept_[0] == 0.0


def test_auto_calibrates_where_it_can(moons):
    X, y = moons
    told = {"alphas": [1e-2], "cv": FOLDS}
    assert CLearningClassifierCV(**told).fit(X, y).calibrator_ is not None
    weighted = {"class_weight": "balanced"}
    for off in ({"search": "paper"}, {"loss": "squared_hinge"}, {"calibrate": False}, weighted):
        assert CLearningClassifierCV(**{**told, **off}).fit(X, y).calibrator_ is None
    one_class = PredefinedSplit(np.where((np.arange(len(y)) < 50) & (y == "yes"), 0, -1))
    assert CLearningClassifierCV(alphas=[1e-2], cv=one_class).fit(X, y).calibrator_ is None

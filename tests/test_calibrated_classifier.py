"""CalibratedMarginClassifier: agreement with predict, and what reaches which stage."""

import os
import re
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import (
    load_breast_cancer,
    load_digits,
    load_iris,
    load_wine,
    make_circles,
    make_classification,
    make_moons,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.frozen import FrozenEstimator
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.metrics import get_scorer, log_loss
from sklearn.model_selection import GridSearchCV, ShuffleSplit, StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from clearning import CalibratedMarginClassifier, CoherenceCalibrator, PlattCalibrator

SIGN_KEEPING = ["coherence", "coherence-svm", "temperature", "sollich"]
MARGIN_CLASSIFIERS = [
    LinearSVC(),
    SVC(),
    SVC(kernel="poly", C=100.0),
    RidgeClassifier(),
    SGDClassifier(random_state=0),
    LogisticRegression(),
]


class Recorder(BaseEstimator):
    """A calibrator that keeps what it was fitted to and calls every score a coin toss."""

    def fit(self, scores, y, sample_weight=None):
        self.scores_, self.y_, self.sample_weight_ = scores, y, sample_weight
        return self

    def predict_proba(self, scores):
        return np.full(len(scores), 0.5)


class Isotonic:
    """Not an estimator at all: the two methods are enough."""

    def fit(self, scores, y, sample_weight=None):
        self.curve = IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip")
        self.curve.fit(scores, y, sample_weight)
        return self

    def predict_proba(self, scores):
        return self.curve.predict(scores)


class Undecided(ClassifierMixin, BaseEstimator):
    """Scores every sample zero and prefers one class all the same."""

    def __init__(self, prefers=1):
        self.prefers = prefers

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X):
        return np.zeros(len(X)) if len(self.classes_) == 2 else np.zeros((len(X), 3))

    def predict(self, X):
        return np.full(len(X), self.classes_[self.prefers])


@parametrize_with_checks(
    [
        CalibratedMarginClassifier(LogisticRegression(tol=1e-8), cv=3),
        CalibratedMarginClassifier(LogisticRegression(tol=1e-8), cv=3, ensemble=True),
        CalibratedMarginClassifier(LogisticRegression(), cv="train", method=PlattCalibrator()),
    ]
)
def test_scikit_learn_s_checks(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        check(estimator)


# Agreement with predict ----------------------------------------------------------------------


def data_sets():
    yield load_breast_cancer(return_X_y=True)
    yield make_moons(200, noise=0.3, random_state=0)
    yield make_circles(200, noise=0.1, factor=0.5, random_state=0)
    for seed in range(6):
        yield make_classification(
            150,
            n_features=8,
            flip_y=0.05 * (seed % 4),
            weights=[0.5 + 0.04 * seed],
            random_state=seed,
        )


def disagreements(model, X):
    chosen = model.predict(X)
    return sum(
        np.count_nonzero(model.classes_[values.argmax(axis=1)] != chosen)
        for values in (model.predict_proba(X), model.predict_log_proba(X))
    )


@pytest.mark.parametrize("estimator", MARGIN_CLASSIFIERS, ids=repr)
def test_probabilities_never_contradict_predictions(estimator):
    estimator = make_pipeline(StandardScaler(), estimator)
    for X, y in data_sets():
        for method in SIGN_KEEPING:
            for cv in (3, "train"):
                model = CalibratedMarginClassifier(estimator, method=method, cv=cv)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", ConvergenceWarning)
                    model.fit(X[::2], y[::2])
                assert disagreements(model, X) == 0


@pytest.mark.skipif("CLEARNING_DATA" not in os.environ, reason="CLEARNING_DATA is not set")
@pytest.mark.parametrize("name", ["saheart", "german_numer", "diabetes_pima", "spambase"])
def test_probabilities_never_contradict_predictions_on_real_data(name):
    data = np.load(Path(os.environ["CLEARNING_DATA"]) / f"{name}.npz")
    X, y = data["X"][: 4 * 1000 : 4], data["y"][: 4 * 1000 : 4]
    for estimator in (LinearSVC(), SVC()):
        model = CalibratedMarginClassifier(make_pipeline(StandardScaler(), estimator))
        assert disagreements(model.fit(X[::2], y[::2]), X) == 0


@pytest.mark.parametrize("load", [load_iris, load_wine, load_digits])
@pytest.mark.parametrize("method", ["coherence", "temperature", "platt"])
def test_several_classes_keep_their_order(load, method):
    X, y = load(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    for estimator in (RidgeClassifier(), SVC(break_ties=True)):
        model = CalibratedMarginClassifier(estimator, method=method, cv=3).fit(X[::3], y[::3])
        proba = model.predict_proba(X)
        np.testing.assert_allclose(proba.sum(axis=1), 1.0)
        assert disagreements(model, X) == 0
        assert log_loss(y, proba) < 0.5 * np.log(len(model.classes_))


@pytest.mark.parametrize("prefers", [0, 1, 2])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_score_of_zero_goes_the_estimator_s_way(prefers, n_classes):
    X, y = np.zeros((30, 1)), np.arange(30) % n_classes
    model = CalibratedMarginClassifier(Undecided(prefers % n_classes), cv=3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, y)
    assert disagreements(model, X) == 0
    np.testing.assert_allclose(model.predict_proba(X), 1 / n_classes, rtol=1e-12)


# The two stages ------------------------------------------------------------------------------


@pytest.fixture
def two_classes():
    return make_classification(120, flip_y=0.1, random_state=0)


def test_scores_are_cross_fitted_and_the_estimator_refitted(two_classes):
    X, y = two_classes
    model = CalibratedMarginClassifier(LogisticRegression(), method=Recorder(), cv=4).fit(X, y)
    estimator, calibrator = model.calibrated_classifiers_[0]
    held_out = cross_val_predict(LogisticRegression(), X, y, cv=4, method="decision_function")
    order, other = np.argsort(calibrator.scores_), np.argsort(held_out)
    np.testing.assert_allclose(calibrator.scores_[order], held_out[other])
    np.testing.assert_array_equal(calibrator.y_[order], y[other])
    np.testing.assert_allclose(estimator.coef_, LogisticRegression().fit(X, y).coef_)
    np.testing.assert_array_equal(model.decision_function(X), estimator.decision_function(X))


def test_the_paper_s_way_fits_to_the_training_scores(two_classes):
    X, y = two_classes
    model = CalibratedMarginClassifier(LinearSVC(), method="coherence-svm", cv="train").fit(X, y)
    scores = LinearSVC().fit(X, y).decision_function(X)
    direct = CoherenceCalibrator(u=1.0).fit(scores, y)
    np.testing.assert_allclose(model.predict_proba(X), direct.predict_proba(scores), rtol=1e-6)


def test_a_frozen_estimator_is_calibrated_as_it_is(two_classes):
    X, y = two_classes
    svm = SVC().fit(X[:60], y[:60])
    for ensemble in (False, True):
        model = CalibratedMarginClassifier(FrozenEstimator(svm), ensemble=ensemble)
        model.fit(X[60:], y[60:])
        scores = svm.decision_function(X[60:])
        direct = CoherenceCalibrator().fit(scores, y[60:]).predict_proba(scores)
        np.testing.assert_allclose(model.predict_proba(X[60:]), direct)
        np.testing.assert_array_equal(model.predict(X), svm.predict(X))


@pytest.mark.parametrize("ensemble", [False, True])
def test_platt_s_method_agrees_with_scikit_learn(two_classes, ensemble):
    X, y = two_classes
    ours = CalibratedMarginClassifier(SVC(), method="platt", cv=3, ensemble=ensemble).fit(X, y)
    theirs = CalibratedClassifierCV(SVC(), method="sigmoid", cv=3, ensemble=ensemble).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-3)


def test_ensemble_predicts_its_likeliest_class(two_classes):
    X, y = two_classes
    model = CalibratedMarginClassifier(SVC(), cv=3, ensemble=True).fit(X, y)
    assert len(model.calibrated_classifiers_) == 3
    assert not hasattr(model, "decision_function")
    assert disagreements(model, X) == 0


def test_any_object_with_two_methods_is_a_calibrator(two_classes):
    X, y = two_classes
    for method in (Isotonic(), PlattCalibrator(smooth=False), CoherenceCalibrator(offset=True)):
        model = CalibratedMarginClassifier(SVC(), method=method).fit(X, y)
        proba = model.predict_proba(X)
        assert proba.shape == (len(y), 2)
        np.testing.assert_allclose(proba.sum(axis=1), 1.0)
        assert log_loss(y, proba) < np.log(2)


@pytest.mark.parametrize(
    "cv", [None, StratifiedKFold(3), ShuffleSplit(3, random_state=0), [(range(60), range(60, 120))]]
)
def test_folds_of_any_kind(two_classes, cv):
    X, y = two_classes
    model = CalibratedMarginClassifier(LinearSVC(), cv=cv).fit(X, y)
    assert log_loss(y, model.predict_proba(X)) < np.log(2)


# Weights and metadata ------------------------------------------------------------------------


@pytest.mark.parametrize("nested", [False, True])
def test_weights_reach_both_stages_through_pipelines(two_classes, nested):
    X, y = two_classes
    weight = np.random.default_rng(0).uniform(0.1, 5.0, len(y))
    pipeline = make_pipeline(StandardScaler(), LogisticRegression())
    if nested:
        pipeline = make_pipeline(StandardScaler(), pipeline)
    model = CalibratedMarginClassifier(pipeline, method=Recorder(), cv=3)
    model.fit(X, y, sample_weight=weight)
    estimator, calibrator = model.calibrated_classifiers_[0]
    np.testing.assert_array_equal(np.sort(calibrator.sample_weight_), np.sort(weight))
    inner = LogisticRegression().fit(StandardScaler().fit_transform(X), y, weight)
    last = estimator[-1][-1] if nested else estimator[-1]
    np.testing.assert_allclose(last.coef_, inner.coef_, rtol=1e-6)


def test_weights_and_folds_are_routed(two_classes):
    X, y = two_classes
    weight = np.random.default_rng(0).uniform(0.1, 5.0, len(y))
    with config_context(enable_metadata_routing=True):
        inner = LogisticRegression().set_fit_request(sample_weight=True)
        scaler = StandardScaler().set_fit_request(sample_weight=True)
        model = CalibratedMarginClassifier(make_pipeline(scaler, inner), method=Recorder(), cv=3)
        model.set_fit_request(sample_weight=True)
        scorer = get_scorer("accuracy").set_score_request(sample_weight=False)
        search = GridSearchCV(model, {"cv": [3]}, cv=2, scoring=scorer)
        search.fit(X, y, sample_weight=weight)
    estimator, calibrator = search.best_estimator_.calibrated_classifiers_[0]
    np.testing.assert_array_equal(np.sort(calibrator.sample_weight_), np.sort(weight))
    np.testing.assert_allclose(estimator[0].mean_, np.average(X, axis=0, weights=weight))


def test_weights_of_integers_are_repetitions_on_training_scores(two_classes):
    X, y = two_classes
    counts = np.random.default_rng(1).integers(0, 4, len(y))
    model = CalibratedMarginClassifier(LogisticRegression(tol=1e-10), cv="train")
    weighted = clone(model).fit(X, y, sample_weight=counts).predict_proba(X)
    repeated = clone(model).fit(np.repeat(X, counts, axis=0), np.repeat(y, counts)).predict_proba(X)
    np.testing.assert_allclose(weighted, repeated, rtol=1e-5, atol=1e-9)


def test_an_estimator_without_weights_is_named(two_classes):
    X, y = two_classes
    with pytest.warns(UserWarning, match="Undecided does not appear to accept sample_weight"):
        CalibratedMarginClassifier(Undecided(), method=Recorder()).fit(
            X, y, sample_weight=np.ones(len(y))
        )


# Inputs --------------------------------------------------------------------------------------


def test_inputs_of_any_kind(two_classes):
    X, y = two_classes
    labels = np.array(["no", "yes"])[y]
    reference = CalibratedMarginClassifier(LinearSVC(), cv=3).fit(X, y).predict_proba(X)
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])])
    model = CalibratedMarginClassifier(LinearSVC(), cv=3).fit(frame, pd.Series(labels))
    np.testing.assert_allclose(model.predict_proba(frame), reference, rtol=1e-9)
    np.testing.assert_array_equal(model.feature_names_in_, frame.columns)
    assert set(model.predict(frame)) == {"no", "yes"}
    model.fit(sparse.csr_array(X), y)
    assert disagreements(model, sparse.csr_array(X)) == 0


def test_precomputed_kernels_are_cut_on_both_sides(two_classes):
    X, y = two_classes
    linear = CalibratedMarginClassifier(SVC(kernel="linear"), cv=3).fit(X, y)
    kernel = CalibratedMarginClassifier(SVC(kernel="precomputed"), cv=3).fit(X @ X.T, y)
    np.testing.assert_allclose(
        kernel.predict_proba(X @ X.T), linear.predict_proba(X), rtol=1e-3, atol=1e-6
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "sigmoid"}, "The 'method' parameter of CalibratedMarginClassifier must be"),
        ({"cv": "test"}, "The 'cv' parameter"),
        ({"ensemble": "yes"}, "The 'ensemble' parameter"),
        ({"cv": 100}, "Requesting 100-fold"),
        ({"estimator": IsotonicRegression()}, "The 'estimator' parameter"),
        (
            {"cv": [(range(5), range(5, 120))]},
            "Fold 0 of the 1 of cv leaves only one class to train on",
        ),
    ],
)
def test_bad_parameters_are_named(options, message):
    X, y = make_classification(120, random_state=0)
    y = np.sort(y)
    model = CalibratedMarginClassifier(**{"estimator": Undecided(), **options})
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)


def test_scores_of_pairs_of_classes_are_refused():
    X, y = load_digits(return_X_y=True)
    model = CalibratedMarginClassifier(SVC(decision_function_shape="ovo"), cv=2)
    with pytest.raises(ValueError, match="decision_function_shape='ovr'"):
        model.fit(X[:200], y[:200])


def test_the_page_for_users_of_svc_runs_as_printed(two_classes):
    page = Path(__file__).parents[1] / "docs" / "svc-probability.md"
    before, after = re.findall(r"```py\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    X, y = two_classes
    names = {"X": X, "y": y, "X_new": X}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        exec(before, names)
        old = names["model"].predict(X)
    exec(after, names)
    assert isinstance(names["model"], CalibratedMarginClassifier)
    np.testing.assert_array_equal(names["model"].predict(X), old)

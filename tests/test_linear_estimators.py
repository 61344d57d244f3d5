"""The linear classifiers as scikit-learn estimators: its checks, frames, pipelines, bad input."""

from __future__ import annotations

import pickle
import subprocess
import sys
import warnings

import joblib
import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from linear_oracles import make_data
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.fixes import parse_version

from clearning import CLearningClassifier, CLearningClassifierCV
from clearning.losses import CLoss, HuberizedHinge

NAMES = ["width", "height", "depth", "mass"]
KINDS = ["dense", "sparse"]


# The check of weights against repetitions compares two solutions to 1e-7, closer than a tolerance
# of 1e-6 promises. CLearningClassifier() meets it all the same; other losses and penalties need
# not, and are checked at a tighter tolerance.


def expected_failures(estimator):
    if getattr(estimator, "l1_ratio", None) == 1.0:
        # The check's three classes leave scores of .03, which it compares to 4e-9.
        reason = "an objective known to 1e-16 tells coefficients to 1e-8"
        return {f"check_sample_weight_equivalence_on_{kind}_data": reason for kind in KINDS}
    if not isinstance(estimator, CLearningClassifierCV) or estimator.cv != 5:
        return {}
    return {
        "check_fit2d_1feature": "its 10 samples do not hold the 5 of each class that cv=5 needs",
    }


@parametrize_with_checks(
    [
        CLearningClassifier(),
        CLearningClassifier(loss="logistic", l1_ratio=1.0, standardize=True, tol=1e-15),
        CLearningClassifier(loss="huberized_hinge", l1_ratio=0.0, tol=1e-13),
        CLearningClassifier(loss="squared_hinge", class_weight="balanced", tol=1e-13),
        CLearningClassifier(groups="classes", tol=1e-13),
        CLearningClassifier(loss="logistic", groups="classes", l1_ratio=1.0, tol=1e-13),
        CLearningClassifierCV(),
        CLearningClassifierCV(search="paper", alphas=10, cv=3, tol=1e-13),
        CLearningClassifierCV(loss="squared_hinge", alphas=10, cv=3, selection="one_se", tol=1e-13),
        CLearningClassifierCV(groups="classes", alphas=10, cv=3, tol=1e-13),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture
def data():
    return make_data(n=80, p=4, seed=0)


BOTH = [CLearningClassifier(), CLearningClassifierCV(alphas=5, cv=3)]


# --- Frames, labels and the tools around an estimator ----------------------------------------


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("model", BOTH, ids=lambda model: type(model).__name__)
def test_frames_give_their_names(data, model, library):
    frames = pytest.importorskip(library)
    old = parse_version(sklearn.__version__) < parse_version("1.8")
    if old and not hasattr(frames.DataFrame, "__dataframe__"):
        pytest.skip(f"scikit-learn {sklearn.__version__} does not know frames of this {library}")
    X, y = data
    frame = frames.DataFrame({name: X[:, j] for j, name in enumerate(NAMES)})
    labels = frames.Series(np.where(y > 0, "spam", "ham"))
    fit = clone(model).fit(frame, labels)
    assert fit.feature_names_in_.tolist() == NAMES
    assert fit.classes_.tolist() == ["ham", "spam"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        predicted = fit.predict(frame)
    assert set(predicted) == {"ham", "spam"}
    np.testing.assert_array_equal(
        predicted, fit.classes_[clone(model).fit(X, y > 0).predict(X) * 1]
    )
    with pytest.raises(ValueError, match="feature names should match"):
        fit.predict(frame[NAMES[::-1]])
    if hasattr(fit, "path_"):
        assert fit.path_.feature_names == tuple(NAMES)
        assert set(fit.path_.predict(X, alpha=fit.alpha_)) == {"ham", "spam"}


@pytest.mark.parametrize("dtype", [bool, int, float, str, object])
def test_labels_of_any_kind(data, dtype):
    X, y = data
    labels = np.where(y > 0, "1", "0") if dtype in (str, object) else (y > 0).astype(dtype)
    labels = labels.astype(object) if dtype is object else labels
    fit = CLearningClassifier().fit(X, labels)
    np.testing.assert_array_equal(fit.coef_, CLearningClassifier().fit(X, y).coef_)
    assert fit.predict(X).dtype == fit.classes_.dtype
    assert fit.score(X, labels) > 0.6


@pytest.mark.parametrize("model", BOTH, ids=lambda model: type(model).__name__)
def test_clone_pickle_and_joblib(data, model, tmp_path):
    X, y = data
    fit = clone(model).fit(X, y)
    assert not hasattr(clone(fit), "coef_")
    joblib.dump(fit, tmp_path / "model.joblib")
    for again in (pickle.loads(pickle.dumps(fit)), joblib.load(tmp_path / "model.joblib")):
        np.testing.assert_array_equal(again.predict_proba(X), fit.predict_proba(X))
        assert again.dual_gap_ == fit.dual_gap_


def test_a_loss_object_is_a_parameter_like_any_other(data):
    X, y = data
    by_name = CLearningClassifier(rho=0.5, u=2.0).fit(X, y)
    by_object = clone(CLearningClassifier(loss=CLoss(rho=0.5, u=2.0))).fit(X, y)
    np.testing.assert_array_equal(by_name.coef_, by_object.coef_)
    assert by_object.loss_ == CLoss(rho=0.5, u=2.0)
    narrow = CLearningClassifier(loss="huberized_hinge", delta=0.5).fit(X, y)
    assert narrow.loss_ == HuberizedHinge(delta=0.5)


def test_grid_search_and_pipeline(data):
    X, y = data
    search = GridSearchCV(
        make_pipeline(StandardScaler(), CLearningClassifier()),
        {"clearningclassifier__alpha": [0.3, 0.01], "clearningclassifier__rho": [0.5, 1.0]},
        scoring="neg_log_loss",
        n_jobs=2,
        cv=3,
    ).fit(X, y)
    assert search.best_params_["clearningclassifier__alpha"] == 0.01
    assert search.predict_proba(X).shape == (len(y), 2)


def test_sample_weight_is_routed(data):
    X, y = data
    weight = np.random.default_rng(0).uniform(0.1, 5.0, len(y))
    with sklearn.config_context(enable_metadata_routing=True):
        model = CLearningClassifier().set_fit_request(sample_weight=True)
        model.set_score_request(sample_weight=True)
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        pipeline = make_pipeline(scaler, model)
        pipeline.fit(X, y, sample_weight=weight)
        results = cross_validate(
            model, X, y, params={"sample_weight": weight}, cv=3, return_estimator=True
        )
    direct = CLearningClassifier().fit(StandardScaler().fit_transform(X), y, sample_weight=weight)
    np.testing.assert_array_equal(pipeline[-1].coef_, direct.coef_)
    assert len(results["estimator"]) == 3


# --- Scores, probabilities, attributes --------------------------------------------------------


def test_fitted_attributes(data):
    X, y = data
    fit = CLearningClassifier(alpha=0.1, l1_ratio=1.0).fit(X, y)
    assert fit.coef_.shape == (1, 4)
    assert fit.intercept_.shape == (1,)
    assert fit.n_features_in_ == 4
    assert fit.n_iter_ >= 1
    assert 0 <= fit.dual_gap_ <= 1e-6
    assert fit.objective_ > 0
    assert np.any(fit.coef_ == 0)


@pytest.mark.parametrize("loss", ["coherence", "logistic"])
def test_probabilities_agree_with_classes(data, loss):
    X, y = data
    fit = CLearningClassifier(loss=loss, rho=0.2).fit(X, y)
    probability = fit.predict_proba(X)
    np.testing.assert_allclose(probability.sum(axis=1), 1.0, rtol=1e-14)
    np.testing.assert_array_equal(fit.classes_[probability.argmax(axis=1)], fit.predict(X))
    np.testing.assert_allclose(fit.predict_log_proba(X), np.log(probability))
    np.testing.assert_allclose(probability[:, 1], fit.loss_.inverse_link(fit.decision_function(X)))


@pytest.mark.parametrize("loss", ["huberized_hinge", "squared_hinge", "hinge"])
@pytest.mark.parametrize("model", BOTH, ids=lambda model: type(model).__name__)
def test_no_probabilities_without_a_link(model, loss):
    model = clone(model).set_params(loss=loss)
    for method in ("predict_proba", "predict_log_proba"):
        assert not hasattr(model, method)
        with pytest.raises(AttributeError, match="CalibratedMarginClassifier"):
            getattr(model, method)


@pytest.mark.parametrize("model", BOTH, ids=lambda model: type(model).__name__)
def test_an_unknown_loss_is_told_by_fit_alone(model, data):
    model = clone(model).set_params(loss="x")
    assert not hasattr(model, "predict_proba")
    with pytest.raises(ValueError, match=r"'loss' parameter .*Got 'x'"):
        model.fit(*data)


def test_offset_shifts_the_score(data):
    X, y = data
    offset = np.linspace(-1.0, 1.0, len(y))
    fit = CLearningClassifier().fit(X, y, offset=offset)
    shifted = fit.decision_function(X) + offset
    np.testing.assert_array_equal(fit.decision_function(X, offset=offset), shifted)
    np.testing.assert_array_equal(fit.predict(X, offset=offset), np.where(shifted > 0, 1.0, -1.0))
    np.testing.assert_allclose(
        fit.predict_proba(X, offset=offset)[:, 1], fit.loss_.inverse_link(shifted)
    )
    with pytest.raises(ValueError, match="offset must be of shape"):
        fit.predict(X, offset=offset[:-1])


def test_constant_offset_is_taken_up_by_the_intercept(data):
    X, y = data
    plain = CLearningClassifier(tol=1e-13).fit(X, y)
    shifted = CLearningClassifier(tol=1e-13).fit(X, y, offset=np.full(len(y), 0.7))
    np.testing.assert_allclose(shifted.coef_, plain.coef_, atol=1e-6)
    np.testing.assert_allclose(shifted.intercept_ + 0.7, plain.intercept_, atol=1e-6)


def test_balanced_class_weight(data):
    X, y = data
    y = np.where(np.arange(len(y)) % 5 == 0, y, -1.0)
    share = np.mean(y > 0)
    balanced = CLearningClassifier(class_weight="balanced", tol=1e-12).fit(X, y)
    by_hand = CLearningClassifier(
        class_weight={1.0: 0.5 / share, -1.0: 0.5 / (1 - share)}, tol=1e-12
    ).fit(X, y)
    np.testing.assert_allclose(balanced.coef_, by_hand.coef_, atol=1e-9)
    assert balanced.intercept_ > CLearningClassifier().fit(X, y).intercept_


def test_warm_start_begins_at_the_solution_before(data):
    X, y = data
    model = CLearningClassifier(warm_start=True, tol=1e-9).fit(X, y)
    cold, coef = model.n_iter_, model.coef_.copy()
    model.fit(X, y)
    assert model.n_iter_ < cold
    np.testing.assert_allclose(model.coef_, coef, atol=1e-5)
    model.fit(X[:, :2], y)
    assert model.coef_.shape == (1, 2)


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("standardize", [False, True])
def test_warm_start_of_a_ridge_with_more_features_than_samples(convert, standardize):
    rng = np.random.default_rng(5)
    X, y = convert(rng.normal(size=(40, 120)) + 1.0), rng.integers(0, 2, 40)
    options = {"l1_ratio": 0.0, "rho": 0.05, "tol": 1e-12, "standardize": standardize}
    cold = CLearningClassifier(alpha=0.011, **options).fit(X, y)
    warm = CLearningClassifier(alpha=0.01, warm_start=True, **options).fit(X, y)
    warm.set_params(alpha=0.011).fit(X, y)
    assert warm.n_iter_ < cold.n_iter_
    np.testing.assert_allclose(warm.coef_, cold.coef_, atol=1e-4)
    first = warm.set_params(alpha=0.01).fit(X, y).n_iter_
    again = warm.fit(X, y).n_iter_
    assert again <= 1 < first


def test_not_fitted(data):
    with pytest.raises(NotFittedError):
        CLearningClassifier().predict(data[0])


def test_an_unfinished_fit_warns_with_its_gap(data):
    X, y = data
    with pytest.warns(ConvergenceWarning, match=r"alpha=0\.001.*gap"):
        fit = CLearningClassifier(alpha=0.001, rho=0.05, max_iter=1, tol=1e-12).fit(X, y)
    assert fit.dual_gap_ > 0
    assert np.isfinite(fit.coef_).all()


# --- Bad input --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("loss", "exponential"),
        ("rho", 0.0),
        ("rho", -1.0),
        ("u", -0.1),
        ("delta", 0.0),
        ("alpha", 0.0),
        ("alpha", -0.1),
        ("alpha", np.inf),
        ("alpha", "small"),
        ("l1_ratio", -0.1),
        ("l1_ratio", 1.1),
        ("l1_ratio", np.nan),
        ("fit_intercept", "yes"),
        ("standardize", 2),
        ("penalty_factor", 1.0),
        ("bounds", 1.0),
        ("class_weight", "even"),
        ("tol", 0.0),
        ("max_iter", 0),
        ("max_iter", 10.5),
        ("warm_start", "yes"),
    ],
)
def test_bad_parameters_are_named(data, parameter, value):
    message = f"The '{parameter}' parameter of CLearningClassifier must be"
    with pytest.raises(ValueError, match=message):
        CLearningClassifier(**{parameter: value}).fit(*data)


@pytest.mark.parametrize(
    ("parameter", "value", "message"),
    [
        ("penalty_factor", [1.0, 1.0], r"penalty_factor has shape \(2,\)"),
        ("penalty_factor", [1.0, 1.0, -1.0, 1.0], "penalty_factor must hold finite numbers >= 0"),
        ("penalty_factor", [1.0, 1.0, np.nan, 1.0], "penalty_factor contains NaN"),
        ("bounds", (0.1, 1.0), "bounds must satisfy lower <= 0 <= upper"),
        ("bounds", (-1.0, -0.5), "bounds must satisfy lower <= 0 <= upper"),
        ("bounds", (-1.0, np.nan), "bounds must satisfy lower <= 0 <= upper"),
        ("bounds", (-1.0, 0.0, 1.0), "bounds=.* must be a pair"),
        ("bounds", (np.zeros(3), 1.0), "bounds=.* must be a pair"),
        ("class_weight", {1.0: -1.0}, "class_weight must hold positive, finite numbers"),
        ("class_weight", {1.0: 10**400}, "class_weight must hold positive, finite .* class 1.0"),
        ("class_weight", {1.0: "many"}, "class_weight must hold positive, finite .* 'many' for"),
        ("class_weight", {7: 1.0}, "class_weight"),
    ],
)
@pytest.mark.parametrize("model", BOTH, ids=lambda model: type(model).__name__)
def test_bad_arrays_in_parameters(data, model, parameter, value, message):
    with pytest.raises(ValueError, match=message):
        clone(model).set_params(**{parameter: value}).fit(*data)


def _spoil(array, value):
    spoiled = np.array(array, dtype=float)
    spoiled.flat[3] = value
    return spoiled


BAD_DATA = {
    "nan": (lambda X, y: (_spoil(X, np.nan), y, {}), "Input X contains NaN"),
    "inf": (lambda X, y: (_spoil(X, np.inf), y, {}), "Input X contains infinity"),
    "sparse_nan": (lambda X, y: (sp.csc_array(_spoil(X, np.nan)), y, {}), "Input X contains NaN"),
    "one_dimension": (lambda X, y: (X[:, 0], y, {}), "Expected 2D array, got 1D array"),
    "no_samples": (lambda X, y: (X[:0], y[:0], {}), r"0 sample\(s\)"),
    "no_features": (lambda X, y: (X[:, :0], y, {}), r"0 feature\(s\)"),
    "short_y": (lambda X, y: (X, y[:-1], {}), "inconsistent numbers of samples"),
    "nan_in_y": (lambda X, y: (X, _spoil(y, np.nan), {}), "Input y contains NaN"),
    "one_class": (lambda X, y: (X, np.ones_like(y), {}), "only one class"),
    "continuous": (lambda X, y: (X, X[:, 0], {}), "Unknown label type"),
    "negative_weight": (
        lambda X, y: (X, y, {"sample_weight": _spoil(np.ones(len(y)), -1.0)}),
        "Negative values in data passed to `sample_weight`",
    ),
    "nan_weight": (
        lambda X, y: (X, y, {"sample_weight": _spoil(np.ones(len(y)), np.nan)}),
        "Input sample_weight contains NaN",
    ),
    "zero_weights": (
        lambda X, y: (X, y, {"sample_weight": np.zeros(len(y))}),
        "at least one non-zero number",
    ),
    "class_without_weight": (
        lambda X, y: (X, y, {"sample_weight": (y > 0).astype(float)}),
        "every sample of class -1.0 has sample_weight 0",
    ),
    "short_weight": (
        lambda X, y: (X, y, {"sample_weight": np.ones(len(y) - 1)}),
        "sample_weight must be one number or an array of shape",
    ),
    "short_offset": (
        lambda X, y: (X, y, {"offset": np.ones(len(y) - 1)}),
        "offset must be of shape",
    ),
    "inf_offset": (
        lambda X, y: (X, y, {"offset": _spoil(np.ones(len(y)), np.inf)}),
        "Input offset contains infinity",
    ),
    "offset_matrix": (lambda X, y: (X, y, {"offset": X}), "offset must be of shape"),
}


@pytest.mark.parametrize("case", BAD_DATA)
@pytest.mark.parametrize("model", BOTH, ids=lambda model: type(model).__name__)
def test_bad_data_is_told(data, model, case):
    spoil, message = BAD_DATA[case]
    X, y, extra = spoil(*data)
    with pytest.raises(ValueError, match=message):
        clone(model).fit(X, y, **extra)


def test_predicting_with_other_features(data):
    X, y = data
    with pytest.raises(
        ValueError, match="X has 3 features, but CLearningClassifier is expecting 4"
    ):
        CLearningClassifier().fit(X, y).predict(X[:, :3])


def test_fitting_does_not_import_matplotlib():
    program = (
        "import sys, numpy as np; from clearning import CLearningClassifier; "
        "CLearningClassifier().fit(np.eye(4), [0, 1, 0, 1]); "
        "sys.exit('matplotlib' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0

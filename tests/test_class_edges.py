"""More than two classes where samples, folds or temperatures leave little to go by."""

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.model_selection import LeaveOneOut

from clearning import (
    CLearningClassifier,
    CLearningClassifierCV,
    WeightedMarginClassifier,
    clearning_path,
    kernel_temperature_path,
    temperature_path,
)
from clearning.losses import MultiCoherence

pytestmark = pytest.mark.filterwarnings("error::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def score_rows(rng, kind, rows, rho):
    """Scores that are spread, tied, nearly tied or saturated."""
    m = int(rng.integers(3, 12))
    if kind == "spread":
        return rng.normal(size=(rows, m)) * rho * 10.0 ** rng.uniform(-3, 3, size=(rows, 1))
    if kind == "tied":
        return rng.integers(-1, 2, size=(rows, m)) * rho
    if kind == "nearly tied":
        return 1.0 + 2.0**-52 * rng.integers(-4, 5, size=(rows, m))
    return 40.0 * rho * rng.integers(0, 3, size=(rows, m)) + rho * rng.normal(size=(rows, m))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_million_rows_are_ordered_by_probability_as_by_score(dtype):
    rng = np.random.default_rng(0)
    chunk, seen = 12_500, 0
    for rho in (1e-8, 1e-3, 0.1, 1.0, 1e3):
        for u in (0.0, 1.0):
            loss = MultiCoherence(rho, u)
            for kind in ("spread", "tied", "nearly tied", "saturated"):
                g = score_rows(rng, kind, chunk, rho).astype(dtype)
                eta = loss.inverse_link(g)
                ranked = np.take_along_axis(eta, np.argsort(g, axis=1, kind="stable"), axis=1)
                assert (np.diff(ranked, axis=1) >= 0).all(), (rho, u, kind)
                top = g == g.max(axis=1, keepdims=True)
                least_of_the_top = np.where(top, eta, 2.0).min(axis=1)
                assert (least_of_the_top > np.where(top, -1.0, eta).max(axis=1)).all()
                seen += len(g)
    assert seen == 500_000


def test_a_fold_may_test_some_classes_only_but_trains_on_all(wine):
    X, y = wine
    alone = CLearningClassifierCV(alphas=4, cv=LeaveOneOut()).fit(X[::6], y[::6])
    assert np.isfinite(alone.cv_results_["mean_test_score"]).all()
    without = [(np.flatnonzero(y != 2), np.flatnonzero(y == 2))]
    with pytest.raises(ValueError, match="no sample of class 2 to train on"):
        CLearningClassifierCV(alphas=4, cv=without).fit(X, y)


def test_a_class_of_one_sample_is_fitted_and_not_split(wine):
    X, y = wine
    labels = np.where(y == 2, "often", np.where(y == 1, "seldom", "often"))
    labels[3] = "once"
    model = CLearningClassifier(alpha=1e-3).fit(X, labels)
    assert model.classes_.tolist() == ["often", "once", "seldom"]
    assert model.predict(X[3:4]) == ["once"]
    with pytest.raises(ValueError, match="class 'once' has n_samples = 1"):
        CLearningClassifierCV(cv=3).fit(X, labels)


@pytest.mark.parametrize("groups", [None, "classes"])
def test_as_many_classes_as_samples(groups):
    X = np.random.default_rng(0).standard_normal((15, 6))
    path = clearning_path(X, np.arange(15), alphas=20, groups=groups, loss="logistic")
    assert path.converged.all()
    np.testing.assert_allclose(path.null_objective, np.log(15), rtol=1e-12)


@pytest.mark.parametrize("rho", [0.015, 0.005])
def test_cold_temperatures_are_certified(wine, rho):
    X, y = wine
    path = clearning_path(X, y, rho=rho, l1_ratio=0.5, alphas=15)
    assert path.converged.all()
    scores = path.decision_function(X)
    eta = path.predict_proba(X)
    np.testing.assert_array_equal(eta.argmax(axis=-1), scores.argmax(axis=-1))


@pytest.mark.parametrize(
    "fit",
    [
        lambda X, y: temperature_path(X, y, alpha=0.1),
        lambda X, y: kernel_temperature_path(X @ X.T, y, alpha=0.1),
        lambda X, y: WeightedMarginClassifier(CLearningClassifier()).fit(X, y),
    ],
)
def test_what_is_for_two_classes_says_so(wine, fit):
    with pytest.raises(ValueError, match=r"y has 3 classes.*OneVsRestClassifier"):
        fit(*wine)


@pytest.mark.parametrize("seed", [2, 18])
def test_nearly_dependent_groups_of_all_scales_are_certified(seed):
    """A step that leads groups through zero must not be undone by their neighbours."""
    rng = np.random.default_rng(seed)
    scaled = rng.standard_normal((10, 10)) * 10.0 ** rng.uniform(0, 4, 10)
    X = scaled[:, :4] @ rng.standard_normal((4, 10))
    options = {"l1_ratio": 1.0, "groups": "classes", "fit_intercept": False, "rho": 6.0, "u": 0.0}
    offset = rng.standard_normal((10, 5))
    path = clearning_path(X, np.arange(10) % 5, alphas=5, tol=1e-5, offset=offset, **options)
    assert path.converged.all()
    assert path.n_iters.max() < 1000


@pytest.mark.parametrize("seed", [16, 21])
def test_a_null_model_whose_samples_are_all_wrong_by_far_is_certified(seed):
    """Their own classes have weights below rounding: what is left of one says nothing of them."""
    rng = np.random.default_rng(seed)
    X, offset = rng.standard_normal((5, 4)), rng.standard_normal((5, 3))
    weight = 10.0 ** rng.uniform(-2, 2, 5)
    path = clearning_path(
        X, [0, 1, 2, 0, 2], rho=0.01, u=1.0, alphas=2, offset=offset, sample_weight=weight
    )
    assert path.converged.all()


@pytest.mark.parametrize("rho", [0.01, 0.001])
def test_cold_classes_are_certified(rho):
    """Wrong samples keep a weight of their own classes that is too small to be written."""
    for seed in range(12):
        rng = np.random.default_rng(seed)
        m = int(rng.integers(3, 6))
        X = rng.standard_normal((int(rng.integers(50, 300)), int(rng.integers(2, 40))))
        tastes = 2 * X[:, :2] @ rng.standard_normal((2, m))
        y = (tastes + rng.gumbel(size=tastes.shape)).argmax(axis=1)
        options = {"rho": rho, "l1_ratio": seed % 3 / 2, "alphas": 4}
        unit = 10.0 ** rng.uniform(-1, 2)
        path = clearning_path(unit * X, y, **options)
        finer = clearning_path(unit * X, y, tol=1e-7, **options)
        assert (path.objectives - path.dual_gaps <= finer.objectives).all()


@pytest.mark.parametrize("seed", range(20))
def test_a_start_far_from_every_bend_of_the_loss_is_left(seed):
    """No sample is between classes at the null model: curvature says nothing of how far to go."""
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((12, 3)) * [100.0, 1.0, 1.0], np.arange(12) % 3
    offset = 1e4 * rng.standard_normal((12, 3))
    path = clearning_path(X, y, loss="logistic", l1_ratio=0.0, alphas=[0.04], offset=offset)
    assert path.objectives[0] < 0.99 * path.null_objective

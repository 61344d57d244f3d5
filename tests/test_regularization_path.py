"""`clearning_path` and what it returns: grids, predictions between grid points, what is told."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from linear_oracles import Problem, make_data
from sklearn.exceptions import ConvergenceWarning

from clearning import clearning_path
from clearning.losses import CLoss


@pytest.fixture(scope="module")
def data():
    return make_data(n=80, p=6, seed=3)


@pytest.fixture(scope="module")
def path(data):
    return clearning_path(*data, alphas=12)


def test_shapes_and_order(data, path):
    assert path.coefs.shape == (12, 6)
    for name in ("alphas", "intercepts", "objectives", "dual_gaps", "n_iters", "converged"):
        assert getattr(path, name).shape == (12,)
    assert np.all(np.diff(path.alphas) < 0)
    assert path.converged.all()
    assert np.all(np.diff(path.objectives) < 0)
    np.testing.assert_array_equal(path.n_nonzero, np.count_nonzero(path.coefs, axis=1))
    assert path.loss == CLoss()


@pytest.mark.parametrize("loss", ["coherence", "logistic", "huberized_hinge", "squared_hinge"])
@pytest.mark.parametrize("l1_ratio", [0.1, 1.0])
def test_first_alpha_is_the_smallest_without_coefficients(data, loss, l1_ratio):
    X, y = data
    path = clearning_path(X, y, loss=loss, l1_ratio=l1_ratio, alphas=5)
    assert not path.coefs[0].any()
    below = clearning_path(
        X, y, loss=loss, l1_ratio=l1_ratio, alphas=[0.999 * path.alphas[0]], tol=1e-12
    )
    assert np.count_nonzero(below.coefs) == 1
    assert path.null_objective == pytest.approx(Problem(X, y, loss=loss).null_objective())


def test_grid_is_logarithmic(data):
    X, y = data
    np.testing.assert_allclose(
        np.diff(np.log(clearning_path(X, y, alphas=7).alphas), 2), 0, atol=1e-9
    )
    tall = clearning_path(X, y, alphas=7).alphas
    wide = clearning_path(*make_data(n=20, p=30), alphas=7).alphas
    assert tall[-1] / tall[0] == pytest.approx(1e-4)
    assert wide[-1] / wide[0] == pytest.approx(1e-2)
    short = clearning_path(X, y, alphas=7, alpha_min_ratio=0.5).alphas
    assert short[-1] / short[0] == pytest.approx(0.5)


def test_ridge_has_a_grid_too(data):
    path = clearning_path(*data, l1_ratio=0.0, alphas=10)
    assert path.converged.all()
    assert np.all(path.coefs[1:] != 0)


def test_given_penalties_are_sorted(data):
    path = clearning_path(*data, alphas=[0.01, 0.3, 0.1])
    np.testing.assert_array_equal(path.alphas, [0.3, 0.1, 0.01])


def test_each_point_is_the_single_fit(data):
    X, y = data
    path = clearning_path(X, y, alphas=6, tol=1e-13)
    for k, alpha in enumerate(path.alphas):
        single = clearning_path(X, y, alphas=[alpha], tol=1e-13)
        np.testing.assert_allclose(path.coefs[k], single.coefs[0], atol=1e-6)
        assert path.objectives[k] == pytest.approx(single.objectives[0], rel=1e-11)


def test_starting_point_does_not_change_the_solution(data):
    X, y = data
    cold = clearning_path(X, y, alphas=[0.02], tol=1e-13)
    for scale in (1.0, -3.0):
        warm = clearning_path(
            X, y, alphas=[0.02], tol=1e-13, coef_init=scale * cold.coefs[0], intercept_init=1.0
        )
        np.testing.assert_allclose(warm.coefs, cold.coefs, atol=1e-7)


# --- Predictions -------------------------------------------------------------------------------


def test_predictions_on_the_grid(data, path):
    X, _ = data
    scores = path.decision_function(X)
    assert scores.shape == (80, 12)
    np.testing.assert_allclose(scores[:, 4], X @ path.coefs[4] + path.intercepts[4])
    np.testing.assert_allclose(path.decision_function(X, alpha=path.alphas[4]), scores[:, 4])
    np.testing.assert_allclose(path.decision_function(sp.csr_array(X)), scores)
    assert path.predict_proba(X).shape == (80, 12, 2)
    np.testing.assert_allclose(path.predict_proba(X).sum(axis=-1), 1.0)
    np.testing.assert_array_equal(path.predict(X), np.where(scores > 0, 1.0, -1.0))


def test_predictions_between_grid_points(data, path):
    X, _ = data
    alpha = np.sqrt(path.alphas[4] * path.alphas[5])
    coef, intercept = path.coef_at(alpha)
    np.testing.assert_allclose(coef, (path.coefs[4] + path.coefs[5]) / 2)
    assert intercept == pytest.approx((path.intercepts[4] + path.intercepts[5]) / 2)
    np.testing.assert_allclose(path.decision_function(X, alpha=alpha), X @ coef + intercept)
    assert path.predict(X, alpha=alpha).shape == (80,)
    assert path.predict_proba(X, alpha=alpha).shape == (80, 2)


def test_ends_of_the_path(path):
    for k in (0, -1):
        np.testing.assert_array_equal(path.coef_at(path.alphas[k])[0], path.coefs[k])
    for alpha in (2 * path.alphas[0], path.alphas[-1] / 2):
        with pytest.raises(ValueError, match="must lie on the path"):
            path.coef_at(alpha)


def test_predicting_with_other_features(data, path):
    with pytest.raises(ValueError, match="X has 5 features, but the path was fitted with 6"):
        path.decision_function(data[0][:, :5])


def test_no_probabilities_without_a_link(data):
    X, y = data
    with pytest.raises(AttributeError, match="CalibratedMarginClassifier"):
        clearning_path(X, y, loss="squared_hinge", alphas=3).predict_proba(X)


def test_labels_and_feature_names():
    pandas = pytest.importorskip("pandas")
    X, y = make_data(p=3)
    frame = pandas.DataFrame(X, columns=["a", "b", "c"])
    path = clearning_path(frame, np.where(y > 0, "yes", "no"), alphas=4)
    assert path.feature_names == ("a", "b", "c")
    assert path.classes.tolist() == ["no", "yes"]
    assert set(path.predict(frame, alpha=path.alphas[-1])) == {"yes", "no"}


# --- What is told ------------------------------------------------------------------------------


def test_a_stalled_penalty_is_named_and_the_path_goes_on(data):
    with pytest.warns(ConvergenceWarning, match=r"alpha=\S+ with a duality gap of \S+"):
        path = clearning_path(*data, alphas=20, tol=1e-14, rho=0.05, max_iter=1)
    assert np.isfinite(path.coefs).all()
    assert np.isfinite(path.objectives).all()
    stalled = ~path.converged
    assert stalled.any()
    assert np.all(path.dual_gaps[stalled] > 1e-14 * path.null_objective)


def test_converged_path_is_silent(data):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clearning_path(*data)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"alphas": 0}, "alphas=0"),
        ({"alphas": [0.1, 0.0]}, r"alphas must hold numbers in \(0, inf\); got 0"),
        ({"alphas": [-0.1]}, "alphas must hold numbers in .*; got -0.1"),
        ({"alphas": [np.nan]}, "Input alphas contains NaN"),
        ({"alphas": []}, r"not empty; got shape \(0,\)"),
        ({"alpha_min_ratio": 0.0}, r"alpha_min_ratio=0.0 must be 'auto' or a number in \(0, 1\)"),
        ({"l1_ratio": 1.5}, r"l1_ratio=1.5 must be a number in \[0, 1\]"),
        ({"l1_ratio": -0.5}, r"l1_ratio=-0.5 must be a number in \[0, 1\]"),
        ({"loss": "hinges"}, "loss must be one of"),
        ({"rho": 0.0}, "rho"),
        ({"u": -1.0}, "u"),
        ({"tol": 0.0}, "tol=0.0"),
        ({"max_iter": 0}, "max_iter=0"),
        ({"penalty_factor": [1.0]}, "penalty_factor has shape"),
        ({"penalty_factor": [-1.0] * 6}, "penalty_factor must hold finite numbers >= 0"),
        ({"bounds": (0.5, 1.0)}, "bounds must satisfy lower <= 0 <= upper"),
        ({"bounds": 3.0}, "bounds=3.0 must be a pair"),
        ({"sample_weight": [-1.0] * 80}, "sample_weight"),
        ({"sample_weight": [0.0] * 80}, "[Ss]ample.weight"),
        ({"sample_weight": [1.0] * 79}, "sample_weight"),
        ({"offset": [0.0] * 79}, "offset"),
        ({"offset": [np.inf] * 80}, "offset"),
        ({"class_weight": "even"}, "class_weight"),
        ({"coef_init": [0.0] * 5}, "coef_init must hold 6 finite numbers"),
    ],
)
def test_bad_options_are_told(data, options, message):
    with pytest.raises(ValueError, match=message):
        clearning_path(*data, **options)


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([[1.0], [np.nan]], [0, 1], "Input X contains NaN"),
        ([[1.0], [np.inf]], [0, 1], "Input X contains infinity"),
        ([[1.0], [2.0]], [0, 0], "class"),
        ([[1.0], [2.0]], [0, 1, 1], "inconsistent numbers of samples"),
        ([1.0, 2.0], [0, 1], "Expected 2D array"),
        ([[1.0], [2.0]], [0.3, 0.7], "Unknown label type"),
    ],
)
def test_bad_data_is_told(X, y, message):
    with pytest.raises(ValueError, match=message):
        clearning_path(X, y)


def test_between_grid_points_nothing_is_made_dense(data):
    path = clearning_path(*data, alphas=5)
    path.coef_at(np.sqrt(path.alphas[2] * path.alphas[3]))
    path.decision_function(data[0], alpha=path.alphas[1])
    assert "coefs" not in vars(path)


@pytest.mark.parametrize("weighted", [False, True])
def test_sparse_columns_far_from_zero_are_standardized_as_dense_ones(weighted):
    """A mean of 10⁴ deviations: two ways to sum the squares, neither of which may cancel."""
    rng = np.random.default_rng(0)
    X, y = make_data(n=60, p=5, seed=1)
    X = X + 1e4
    weight = rng.exponential(size=60) * (np.arange(60) % 4 > 0) if weighted else None
    D = sp.csc_array(X * (weight[:, None] > 0) if weighted else X)
    options = {"standardize": True, "sample_weight": weight, "alphas": 5, "tol": 1e-10}
    dense, thin = clearning_path(X, y, **options), clearning_path(D, y, **options)
    np.testing.assert_allclose(thin.alphas, dense.alphas, rtol=1e-9)
    np.testing.assert_allclose(thin.objectives, dense.objectives, rtol=1e-9)

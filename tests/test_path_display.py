"""The pictures of paths and of their cross-validation."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from linear_oracles import make_data
from sklearn.exceptions import NotFittedError

from clearning import CLearningClassifierCV, clearning_path

mpl = pytest.importorskip("matplotlib")
mpl.use("Agg")

from matplotlib import pyplot as plt  # noqa: E402

from clearning.display import CVDisplay, PathDisplay  # noqa: E402

NAMES = [f"feature {j}" for j in range(6)]


@pytest.fixture(scope="module")
def path():
    return clearning_path(*make_data(n=100, p=6, seed=11), alphas=20)


@pytest.fixture(scope="module")
def search():
    X, y = make_data(n=100, p=6, seed=11)
    return CLearningClassifierCV(search="paper", alphas=15, rhos=(0.5, 1.0, 2.0)).fit(X, y)


@pytest.mark.parametrize("x", ["alpha", "norm"])
def test_lines_are_the_coefficients(path, x):
    display = PathDisplay.from_path(path, x=x)
    along = path.alphas if x == "alpha" else np.abs(path.coefs).sum(axis=1)
    shown = np.flatnonzero(path.coefs.any(axis=0))
    assert len(display.lines_) == len(shown)
    for line, j in zip(display.lines_, shown):
        np.testing.assert_array_equal(line.get_xdata(), along)
        np.testing.assert_array_equal(line.get_ydata(), path.coefs[:, j])
    assert display.ax_.get_xlabel() in ("alpha", "ℓ₁ norm")
    assert display.figure_ is display.ax_.figure


def test_largest_coefficients_are_named(path):
    display = PathDisplay.from_path(path, feature_names=NAMES, n_labels=2)
    largest = np.argsort(-np.abs(path.coefs[-1]))[:2]
    assert {label.get_text() for label in display.labels_} == {NAMES[j] for j in largest}
    numbered = PathDisplay.from_path(path)
    assert {label.get_text() for label in numbered.labels_} <= set("012345")


def test_names_are_apart(path):
    display = PathDisplay.from_path(path, feature_names=NAMES)
    display.figure_.canvas.draw()
    boxes = sorted((label.get_window_extent() for label in display.labels_), key=lambda b: b.y0)
    for lower, upper in pairwise(boxes):
        assert lower.y0 + lower.height * 0.8 <= upper.y0


def test_number_of_non_zero_coefficients_is_at_the_top(path):
    display = PathDisplay.from_path(path)
    (top,) = display.ax_.child_axes
    counts = [int(label.get_text()) for label in top.get_xticklabels()]
    assert counts[0] == 0
    assert counts[-1] == path.n_nonzero[-1]


def test_given_axes_and_styles(path):
    _, ax = plt.subplots()
    display = PathDisplay(path).plot(ax=ax, linewidth=3.0)
    assert display.ax_ is ax
    assert all(line.get_linewidth() == 3.0 for line in display.lines_)


def test_path_of_an_estimator_marks_the_choice(search):
    display = PathDisplay.from_estimator(search)
    marks = [line.get_xdata()[0] for line in display.ax_.lines if line.get_linestyle() == ":"]
    assert marks == [search.alpha_]


def test_bad_requests(path):
    with pytest.raises(ValueError, match="x must be 'alpha' or 'norm'; got 'lambda'"):
        PathDisplay.from_path(path, x="lambda")
    with pytest.raises(ValueError, match="feature_names has 2 names, but the path has 6"):
        PathDisplay.from_path(path, feature_names=["a", "b"])
    with pytest.raises(NotFittedError):
        CVDisplay.from_estimator(CLearningClassifierCV())


def test_a_path_of_zeros():
    X, y = make_data()
    display = PathDisplay.from_path(clearning_path(X, y, alphas=[100.0, 50.0]))
    assert display.lines_ == []
    assert display.labels_ == []


def test_cross_validation_curve(search):
    display = CVDisplay.from_estimator(search)
    points, _, (bars,) = display.errorbar_
    results = search.cv_results_
    chosen = np.flatnonzero(results["param_rho"] == search.rho_)
    np.testing.assert_array_equal(points.get_xdata(), results["param_alpha"][chosen])
    np.testing.assert_array_equal(points.get_ydata(), -results["mean_test_score"][chosen])
    lengths = [segment[1, 1] - segment[0, 1] for segment in bars.get_segments()]
    np.testing.assert_allclose(lengths, 2 * results["sem_test_score"][chosen])
    assert len(display.lines_) == 2
    assert display.ax_.get_ylabel() == "log loss"


def test_cross_validation_marks_are_the_two_rules():
    X, y = make_data(n=100, p=6, seed=11)
    best = CLearningClassifierCV(alphas=30).fit(X, y)
    frugal = CLearningClassifierCV(alphas=30, selection="one_se").fit(X, y)
    for model in (best, frugal):
        display = CVDisplay.from_estimator(model)
        dotted = [line for line in display.ax_.lines if line.get_linestyle() == ":"]
        assert [line.get_xdata()[0] for line in dotted] == [best.alpha_, frugal.alpha_]


@pytest.mark.parametrize(
    ("options", "label"),
    [
        ({"loss": "squared_hinge"}, "misclassification"),
        ({"scoring": "roc_auc"}, "roc auc"),
        ({"scoring": "neg_brier_score"}, "brier score"),
        ({"scoring": lambda model, X, y: model.score(X, y)}, "score"),
    ],
)
def test_name_of_the_score(options, label):
    model = CLearningClassifierCV(alphas=4, cv=3, **options).fit(*make_data())
    assert CVDisplay.from_estimator(model).ax_.get_ylabel() == label

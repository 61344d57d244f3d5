"""Pictures of many classes: paths in a panel a class, and confusion matrices."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.exceptions import NotFittedError
from sklearn.metrics import confusion_matrix

from clearning import CLearningClassifier, CLearningClassifierCV, clearning_path

mpl = pytest.importorskip("matplotlib")
mpl.use("Agg")

from matplotlib import pyplot as plt  # noqa: E402

from clearning.display import ConfusionDisplay, PathDisplay  # noqa: E402

X, Y = load_wine(return_X_y=True)
NAMES = np.array(["red", "rosé", "white"])


@pytest.fixture(scope="module")
def path():
    return clearning_path(X, NAMES[Y], alphas=12, standardize=True)


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def test_a_panel_a_class(path):
    display = PathDisplay.from_path(path)
    assert [ax.get_title() for ax in display.axes_] == ["class red", "class rosé", "class white"]
    drawn = iter(display.lines_)
    for k, ax in enumerate(display.axes_):
        for j in np.flatnonzero(path.coefs[:, k].any(axis=0)):
            line = next(drawn)
            assert line.axes is ax
            np.testing.assert_array_equal(line.get_ydata(), path.coefs[:, k, j])
        (top,) = ax.child_axes
        counts = dict(zip(path.alphas, np.count_nonzero(path.coefs[:, k], axis=1)))
        told = [int(label.get_text()) for label in top.get_xticklabels()]
        assert told == [counts[alpha] for alpha in top.get_xticks()]
    assert next(drawn, None) is None
    assert len({ax.get_ylim() for ax in display.axes_}) == 1


def test_a_feature_keeps_its_colour_and_is_named_where_it_ends(path):
    display = PathDisplay.from_path(path, n_labels=4)
    largest = np.argsort(-np.linalg.norm(path.coefs[-1], axis=0))[:4]
    colours = {}
    for k, ax in enumerate(display.axes_):
        labels = [label for label in display.labels_ if label.axes is ax]
        named = {int(label.get_text()) for label in labels}
        assert named == {j for j in largest if path.coefs[-1, k, j] != 0}
        for label in labels:
            assert colours.setdefault(label.get_text(), label.get_color()) == label.get_color()


def test_one_panel_for_all_classes_shows_norms(path):
    _, ax = plt.subplots()
    display = PathDisplay.from_path(path, ax=ax)
    shown = np.flatnonzero(path.coefs.any(axis=(0, 1)))
    norms = np.linalg.norm(path.coefs, axis=1)
    for line, j in zip(display.lines_, shown, strict=True):
        np.testing.assert_array_equal(line.get_ydata(), norms[:, j])


def test_given_panels(path):
    _, axes = plt.subplots(3, 1)
    display = PathDisplay.from_path(path, ax=axes, x="norm")
    assert list(display.axes_) == list(axes)
    np.testing.assert_array_equal(
        display.lines_[0].get_xdata(), np.abs(path.coefs).sum(axis=(1, 2))
    )
    with pytest.raises(ValueError, match="ax has 2 axes, but the path has 3 classes"):
        PathDisplay.from_path(path, ax=axes[:2])


def test_a_search_marks_its_choice_in_every_panel():
    model = CLearningClassifierCV(standardize=True, alphas=8, cv=3).fit(X, Y)
    for ax in PathDisplay.from_estimator(model).axes_:
        dotted = [line.get_xdata()[0] for line in ax.lines if line.get_linestyle() == ":"]
        assert dotted == [model.alpha_]


def test_cells_are_the_counts():
    model = CLearningClassifier(standardize=True, alpha=0.05).fit(X[::2], NAMES[Y[::2]])
    true = NAMES[Y[1::2]]
    display = ConfusionDisplay.from_estimator(model, X[1::2], true)
    expected = confusion_matrix(true, model.predict(X[1::2]))
    np.testing.assert_array_equal(display.matrix, expected)
    np.testing.assert_allclose(display.shares_.sum(axis=1), 1.0)
    written = {text.get_position(): text.get_text() for text in display.texts_}
    assert written == {(k, i): str(expected[i, k]) for i, k in zip(*np.nonzero(expected))}
    names = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert names == list(NAMES)
    assert display.ax_.get_title() == f"error {np.mean(model.predict(X[1::2]) != true):.1%}"


def test_right_is_blue_and_wrong_is_orange():
    display = ConfusionDisplay([[9, 1], [0, 0]], ["a", "b"]).plot()
    (image,) = display.ax_.images
    red, _, blue = np.moveaxis(image.get_array(), -1, 0)
    assert blue[0, 0] > red[0, 0]
    assert red[0, 1] > blue[0, 1]
    np.testing.assert_array_equal(image.get_array()[1], 1.0)
    np.testing.assert_array_equal(display.shares_, [[0.9, 0.1], [0.0, 0.0]])


def test_weights_shares_and_an_order_of_classes():
    display = ConfusionDisplay.from_predictions(
        ["a", "b", "a"],
        ["a", "a", "b"],
        classes=["b", "a", "c"],
        sample_weight=[3, 2, 1],
        numbers="share",
    )
    np.testing.assert_array_equal(display.matrix, [[0, 2, 0], [1, 3, 0], [0, 0, 0]])
    assert [text.get_text() for text in display.texts_] == ["100%", "25%", "75%"]


def test_a_label_that_was_never_learnt_has_a_row():
    model = CLearningClassifier().fit(X, Y)
    display = ConfusionDisplay.from_estimator(model, X[:2], [0, 7])
    np.testing.assert_array_equal(display.classes, [0, 1, 2, 7])
    assert display.matrix[3].sum() == 1


def test_bad_requests_of_a_confusion_matrix():
    with pytest.raises(ValueError, match="numbers must be 'count' or 'share'; got 'all'"):
        ConfusionDisplay.from_predictions([0, 1], [0, 1], numbers="all")
    with pytest.raises(NotFittedError):
        ConfusionDisplay.from_estimator(CLearningClassifier(), X, Y)

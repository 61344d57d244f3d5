"""The picture of a temperature path."""

from __future__ import annotations

import numpy as np
import pytest
from kernel_oracles import make_kernel
from linear_oracles import make_data

from clearning import kernel_temperature_path, temperature_path

mpl = pytest.importorskip("matplotlib")
mpl.use("Agg")

from matplotlib import pyplot as plt  # noqa: E402

from clearning.display import TemperatureDisplay  # noqa: E402

NAMES = ["one", "two", "three", "four"]


@pytest.fixture(scope="module")
def path():
    return temperature_path(*make_data(80, 4, seed=1), alpha=0.02, rhos=9)


def test_coefficients_and_their_limit(path):
    display = TemperatureDisplay.from_path(path, feature_names=NAMES)
    shown = np.flatnonzero(path.coefs.any(axis=0))
    assert len(display.coefficient_lines_) == len(shown)
    for line, j in zip(display.coefficient_lines_, shown):
        np.testing.assert_array_equal(line.get_xdata(), path.rhos)
        np.testing.assert_array_equal(line.get_ydata(), path.coefs[:, j])
    ax = display.axes_[0]
    dots = [line.get_ydata()[0] for line in ax.lines if line.get_marker() == "o"]
    np.testing.assert_array_equal(dots, path.hinge_limit.coef[shown])
    assert ax.xaxis_inverted()
    assert "ρ" in ax.get_xlabel()


def test_probability_curves_over_the_score(path):
    display = TemperatureDisplay.from_path(path)
    lines = display.probability_lines_
    labels = [line.get_label() for line in lines]
    assert labels[0] == "ρ = 10"
    assert labels[-1] == "ρ = 0.001"
    hot, cold = lines[0], lines[-1]
    np.testing.assert_allclose(hot.get_ydata(), path.loss_at(10.0).inverse_link(hot.get_xdata()))
    # A cold loss is sure beyond its margin and knows only one half within.
    score, probability = cold.get_xdata(), cold.get_ydata()
    np.testing.assert_allclose(probability[np.abs(score) < 0.95], 0.5, atol=1e-6)
    np.testing.assert_allclose(probability[score > 1.05], 1.0, atol=1e-6)


def test_probabilities_of_samples(path):
    X, _ = make_data(30, 4, seed=2)
    display = TemperatureDisplay.from_path(path, X)
    for line, rho in (
        (display.probability_lines_[0], 10.0),
        (display.probability_lines_[-1], 1e-3),
    ):
        expected = np.sort(path.predict_proba(X, rho)[:, 1])
        np.testing.assert_allclose(line.get_ydata(), expected)
        assert 0 < line.get_xdata()[0] < line.get_xdata()[-1] < 1


def test_distance_stays_under_its_bound(path):
    display = TemperatureDisplay.from_path(path)
    distance, bound = display.distance_line_, display.bound_line_
    np.testing.assert_allclose(bound.get_ydata(), path.rhos * np.log(2.0) + path.dual_gaps)
    np.testing.assert_allclose(
        distance.get_ydata(), np.maximum(path.distances, path.hinge_limit.dual_gap)
    )
    assert (distance.get_ydata() <= bound.get_ydata()).all()
    ax = display.axes_[2]
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    assert ax.get_ylim()[0] < path.hinge_limit.dual_gap


def test_given_axes_and_styles(path):
    _, axes = plt.subplots(1, 3)
    display = TemperatureDisplay(path).plot(axes=axes, linewidth=3.0)
    assert list(display.axes_) == list(axes)
    assert display.ax_ is axes[0]
    assert display.figure_ is axes[0].figure
    assert all(line.get_linewidth() == 3.0 for line in display.probability_lines_)
    with pytest.raises(ValueError, match="axes must hold three Axes, got 1"):
        TemperatureDisplay(path).plot(axes=axes[0])


def test_kernel_and_single_temperature():
    _, K, y = make_kernel(40)
    path = kernel_temperature_path(K, y, alpha=0.01, l1_ratio=1.0, rhos=[0.5])
    display = TemperatureDisplay.from_path(path, K, n_labels=3)
    assert len(display.probability_lines_) == 1
    assert len(display.coefficient_lines_) == path.n_nonzero[0]
    display.figure_.canvas.draw()


def test_bad_names(path):
    with pytest.raises(ValueError, match="feature_names has 2 names, but the path has 4"):
        TemperatureDisplay.from_path(path, feature_names=["a", "b"])

"""LossDisplay draws what the losses say."""

import numpy as np
import pytest

from clearning.display import LossDisplay
from clearning.losses import CLoss, Coherence, Hinge

mpl = pytest.importorskip("matplotlib")
mpl.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def curve(line):
    return line.get_xdata(), line.get_ydata()


def test_from_losses_draws_each_loss_under_its_label():
    display = LossDisplay.from_losses({"C": CLoss(0.5), "hinge": Hinge()}, low=-2, high=1)
    assert [line.get_label() for line in display.lines_] == ["C", "hinge"]
    for line, loss in zip(display.lines_, (CLoss(0.5), Hinge())):
        z, value = curve(line)
        assert (z[0], z[-1]) == (-2, 1)
        np.testing.assert_array_equal(value, loss.value(z))
    assert display.figure_ is display.ax_.figure


def test_from_losses_takes_axes_quantity_and_line_style():
    _, ax = plt.subplots()
    losses = [Coherence(0.5), Coherence(1.0)]
    display = LossDisplay.from_losses(losses, quantity="inverse_link", ax=ax, linewidth=3)
    assert display.ax_ is ax
    assert display.lines_[0].get_linewidth() == 3
    assert display.lines_[0].get_label() == repr(losses[0])
    np.testing.assert_array_equal(
        curve(display.lines_[1])[1], Coherence(1.0).inverse_link(curve(display.lines_[1])[0])
    )


def test_from_paper_is_figure_1():
    display = LossDisplay.from_paper()
    assert len(display.axes_) == 4
    assert [len(ax.get_lines()) for ax in display.axes_] == [4, 6, 4, 4]
    for ax in display.axes_[1:]:  # all majorisations of the 0-1 loss meet it at z = 0
        for line in ax.get_lines():
            z, value = curve(line)
            assert value[np.argmin(np.abs(z))] == pytest.approx(1.0)


def test_from_cooling_leads_from_logistic_to_hinge():
    loss, probability = LossDisplay.from_cooling([1.0, 0.5, 1e-6]).axes_
    z, hot = curve(loss.get_lines()[0])
    cold, usual = (curve(line)[1] for line in loss.get_lines()[-2:])
    np.testing.assert_allclose(hot, np.log1p(np.exp(-z)), rtol=1e-12)
    np.testing.assert_allclose(cold, np.maximum(1 - z, 0), atol=1e-5)
    np.testing.assert_allclose(usual, np.log1p(np.exp(1 - z)) / np.log1p(np.e), rtol=1e-12)
    away = np.abs(np.abs(z) - 1) > 1e-3
    steps = np.select([z < -1, z > 1], [0.0, 1.0], 0.5)
    np.testing.assert_allclose(curve(probability.get_lines()[-2])[1][away], steps[away], atol=1e-9)


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="quantity must be one of"):
        LossDisplay.from_losses([Hinge()], quantity="colour")
    with pytest.raises(ValueError, match=r"rhos must hold numbers in \(0, 1\]; got 2"):
        LossDisplay.from_cooling([2.0])
    with pytest.raises(ValueError, match="axes must hold one Axes for each of the 4 panels, got 1"):
        LossDisplay.from_paper(axes=plt.subplots()[1])

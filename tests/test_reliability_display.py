"""ReliabilityDisplay: exact bands, and pictures that hold what the metrics say."""

import subprocess
import sys

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.datasets import load_iris, make_classification
from sklearn.linear_model import LogisticRegression

from clearning.display.reliability import clopper_pearson
from clearning.metrics import reliability_curve

plt = pytest.importorskip("matplotlib.pyplot")
plt.switch_backend("Agg")

from clearning.display import ReliabilityDisplay  # noqa: E402


@pytest.fixture
def sample():
    rng = np.random.default_rng(0)
    p = rng.uniform(size=400)
    return (rng.uniform(size=400) < p).astype(int), p


@pytest.mark.parametrize("level", [0.5, 0.95])
@pytest.mark.parametrize(("successes", "trials"), [(0, 7), (3, 7), (7, 7), (40, 1000)])
def test_clopper_pearson_is_scipy_s_exact_interval(successes, trials, level):
    exact = binomtest(successes, trials).proportion_ci(level, method="exact")
    low, high = clopper_pearson([successes], [trials], level)
    assert low[0] == pytest.approx(exact.low, abs=1e-12)
    assert high[0] == pytest.approx(exact.high, abs=1e-12)


def test_bands_hold_the_truth_as_often_as_they_say():
    rng = np.random.default_rng(1)
    k = rng.binomial(25, 0.3, size=4000)
    low, high = clopper_pearson(k, np.full(len(k), 25), 0.9)
    assert np.mean((low <= 0.3) & (high >= 0.3)) >= 0.9 - 0.015


@pytest.mark.parametrize("strategy", ["quantile", "uniform"])
def test_curve_and_band_are_what_the_metrics_say(sample, strategy):
    y, p = sample
    display = ReliabilityDisplay.from_predictions(y, p, n_bins=8, strategy=strategy)
    curve = reliability_curve(y, p, n_bins=8, strategy=strategy)
    np.testing.assert_allclose(display.lines_[0].get_xdata(), curve.prob_pred)
    np.testing.assert_allclose(display.lines_[0].get_ydata(), curve.prob_true)
    low, high = display.curves[0].band
    assert np.all((low <= curve.prob_true) & (curve.prob_true <= high))
    assert len(display.bands_) == 1


def test_histogram_is_weighted(sample):
    y, p = sample
    weight = np.where(p < 0.5, 3.0, 1.0)
    display = ReliabilityDisplay.from_predictions(y, p, sample_weight=weight)
    heights = display.axes_[1, 0].patches[0].get_xy()[:, 1]
    assert heights.max() > 2 * heights[(heights > 0)].min()
    assert np.all(display.curves[0].bins.effective_size <= len(y))


def test_several_classifiers_share_a_diagram_or_stand_side_by_side(sample):
    y, p = sample
    named = {"true": p, "timid": 0.5 * p + 0.25, "bold": np.clip(2 * p - 0.5, 0.01, 0.99)}
    shared = ReliabilityDisplay.from_predictions(y, named)
    apart = ReliabilityDisplay.from_predictions(y, named, side_by_side=True)
    assert shared.axes_.shape == (2, 1)
    assert apart.axes_.shape == (2, 3)
    for display in (shared, apart):
        assert len(display.lines_) == 3
        texts = [t.get_text() for ax in display.axes_[0] for t in ax.get_legend().get_texts()]
        assert [text.split(":")[0] for text in texts] == list(named)


def test_estimators_and_given_axes():
    X, y = make_classification(300, random_state=0)
    labels = np.array(["no", "yes"])[y]
    model = LogisticRegression().fit(X[:150], labels[:150])
    _, axes = plt.subplots(2, 1)
    display = ReliabilityDisplay.from_estimators(model, X[150:], labels[150:], axes=axes)
    assert display.figure_ is axes[0].figure
    assert display.curves[0].name == "LogisticRegression"
    other = ReliabilityDisplay.from_estimators({"no": model}, X, labels, pos_label="no")
    np.testing.assert_allclose(other.curves[0].p, model.predict_proba(X)[:, 0])


def test_each_class_has_a_curve_of_its_own():
    X, y = load_iris(return_X_y=True)
    names = np.array(["a", "b", "c"])[y]
    model = LogisticRegression(max_iter=500).fit(X, names)
    display = ReliabilityDisplay.from_classes(model, X, names, n_bins=4, strategy="uniform")
    assert display.axes_[0, 0].get_ylabel() == "share of the class"
    labels = [line.get_label() for line in display.lines_]
    assert [label.split(":")[0] for label in labels] == ["class a", "class b", "class c"]
    second = reliability_curve(y == 1, model.predict_proba(X)[:, 1], n_bins=4, strategy="uniform")
    np.testing.assert_allclose(display.lines_[1].get_ydata(), second.prob_true)


def test_bad_level_is_named(sample):
    with pytest.raises(ValueError, match="level"):
        ReliabilityDisplay.from_predictions(*sample, level=95)


def test_importing_it_does_not_import_matplotlib():
    code = "import sys, clearning.display; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0

"""Scores and calibration errors, against scikit-learn and SciPy's linear programming."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.sparse import diags, vstack
from sklearn.calibration import calibration_curve
from sklearn.metrics import brier_score_loss, log_loss

from clearning.metrics import (
    brier_score,
    cross_entropy,
    expected_calibration_error,
    generalized_kl,
    reliability_curve,
    smooth_calibration_error,
)


@pytest.fixture
def sample():
    rng = np.random.default_rng(0)
    p = rng.uniform(size=300)
    return (rng.uniform(size=300) < p**2).astype(int), p, rng.exponential(size=300)


def smooth_error_by_linear_programming(y, p, weight):
    order = np.argsort(p)
    residuals = (weight * (y - p))[order] / weight.sum()
    gaps = np.diff(p[order])
    n = len(p)
    difference = diags([-np.ones(n - 1), np.ones(n - 1)], [0, 1], shape=(n - 1, n))
    constraints = vstack([difference, -difference]) if n > 1 else None
    bounds = np.r_[gaps, gaps] if n > 1 else None
    return -linprog(-residuals, A_ub=constraints, b_ub=bounds, bounds=(-1, 1)).fun


def test_proper_scores_agree_with_scikit_learn(sample):
    y, p, weight = sample
    assert cross_entropy(y, p) == pytest.approx(log_loss(y, p), rel=1e-12)
    assert cross_entropy(y, p, weight) == pytest.approx(
        log_loss(y, p, sample_weight=weight), rel=1e-12
    )
    assert brier_score(y, p, weight) == pytest.approx(
        brier_score_loss(y, p, sample_weight=weight), rel=1e-12
    )


def test_cross_entropy_is_kl_plus_entropy():
    # E over y of the cross-entropy is the divergence plus the entropy of η.
    eta, p = np.array([0.0, 0.3, 0.8, 1.0]), np.array([0.1, 0.4, 0.7, 0.9])
    expected = np.mean(
        [e * -np.log(q) + (1 - e) * -np.log(1 - q) for e, q in zip(eta, p)]
    ) - np.mean(
        [0, -0.3 * np.log(0.3) - 0.7 * np.log(0.7), -0.8 * np.log(0.8) - 0.2 * np.log(0.2), 0]
    )
    assert generalized_kl(eta, p) == pytest.approx(expected, rel=1e-12)
    assert generalized_kl(eta, eta) == 0.0


def test_certainty_that_fails_costs_infinity_and_weight_zero_forgives():
    assert cross_entropy([1, 0], [0.0, 0.5]) == np.inf
    assert generalized_kl([0.5, 0.5], [0.0, 0.5]) == np.inf
    assert cross_entropy([1, 0], [0.0, 0.5], [0, 1]) == pytest.approx(np.log(2))
    assert cross_entropy([1], [0.0], eps=1e-3) == pytest.approx(-np.log(1e-3))
    assert cross_entropy([1, 0], [1.0, 0.0]) == 0.0


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
def test_curve_agrees_with_scikit_learn(sample, strategy):
    y, p, _ = sample
    curve = reliability_curve(y, p, n_bins=10, strategy=strategy)
    if strategy == "uniform":
        prob_true, prob_pred = calibration_curve(y, p, n_bins=10, strategy=strategy)
        np.testing.assert_allclose(curve.prob_true, prob_true)
        np.testing.assert_allclose(curve.prob_pred, prob_pred)
    else:
        np.testing.assert_array_equal(curve.weight, np.full(10, 30))
    np.testing.assert_array_equal(curve.weight, curve.effective_size)


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
def test_expected_calibration_error_by_hand(sample, strategy):
    y, p, _ = sample
    curve = reliability_curve(y, p, n_bins=7, strategy=strategy)
    by_hand = np.sum(np.abs(curve.prob_true - curve.prob_pred) * curve.weight) / len(y)
    assert expected_calibration_error(y, p, n_bins=7, strategy=strategy) == pytest.approx(by_hand)
    one_bin = expected_calibration_error(y, p, n_bins=1, strategy=strategy)
    assert one_bin == pytest.approx(abs(y.mean() - p.mean()))


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
@pytest.mark.parametrize("metric", [expected_calibration_error, smooth_calibration_error])
def test_integer_weights_are_repetitions(sample, metric, strategy):
    y, p, _ = sample
    counts = np.random.default_rng(1).integers(0, 4, len(y))
    options = {"strategy": strategy} if metric is expected_calibration_error else {}
    assert metric(y, p, sample_weight=counts, **options) == pytest.approx(
        metric(np.repeat(y, counts), np.repeat(p, counts), **options), rel=1e-9
    )


@given(st.integers(0, 2**31), st.integers(1, 60), st.sampled_from([0.2, 1.0, 4.0]), st.booleans())
def test_smooth_calibration_error_solves_the_linear_programme(seed, n, power, ties):
    rng = np.random.default_rng(seed)
    p = rng.uniform(size=n) ** power
    p = np.round(p, 1) if ties else p
    y, weight = rng.integers(0, 2, n), rng.exponential(size=n)
    found = smooth_calibration_error(y, p, sample_weight=weight)
    assert found == pytest.approx(smooth_error_by_linear_programming(y, p, weight), abs=1e-8)


def test_rounding_many_probabilities_changes_the_smooth_error_by_no_more_than_said(monkeypatch):
    monkeypatch.setattr("clearning.metrics._FINEST", 128)
    rng = np.random.default_rng(2)
    p = rng.uniform(0.3, 0.7, size=1000)
    y = (rng.uniform(size=len(p)) < 0.5).astype(int)
    exact = smooth_error_by_linear_programming(y, p, np.ones(len(p)))
    assert 0 < abs(smooth_calibration_error(y, p) - exact) <= 1 / 256


def test_labels_of_any_kind():
    p = [0.2, 0.9, 0.6]
    reference = brier_score([0, 1, 1], p)
    assert brier_score([-1, 1, 1], p) == reference
    assert brier_score([False, True, True], p) == reference
    assert brier_score(["no", "yes", "yes"], p, pos_label="yes") == reference


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: cross_entropy([0, 1], [0.1, 1.1]), "p has values outside"),
        (lambda: cross_entropy([0, 1, 2], [0.1, 0.1, 0.2]), "at most two classes"),
        (lambda: cross_entropy(["a", "b"], [0.1, 0.1]), "pos_label"),
        (lambda: cross_entropy(["a", "b"], [0.1, 0.1], pos_label="c"), "pos_label='c'"),
        (lambda: cross_entropy([0, 1], [0.1]), "inconsistent numbers of samples"),
        (lambda: cross_entropy([0, 1], [0.1, np.nan]), "NaN"),
        (lambda: cross_entropy([0, 1], [0.1, 0.2], [-1, 2]), "sample_weight"),
        (lambda: generalized_kl([0, 2], [0.1, 0.2]), "eta has values outside"),
        (lambda: expected_calibration_error([0, 1], [0.1, 0.2], n_bins=0), "n_bins"),
        (lambda: expected_calibration_error([0, 1], [0.1, 0.2], strategy="x"), "strategy"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()

"""The simulations have the class probability they claim, and the loaders the published shapes."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import norm

from clearning.datasets import make_g241c, make_g241d, make_simulation, simulation_probability


@pytest.mark.parametrize("number", [1, 2])
def test_simulation_labels_follow_eta(number):
    X, y, eta = make_simulation(number, n_samples=20_000, random_state=0)
    assert X.shape == (20_000, 2)
    assert set(y) == {-1, 1}
    np.testing.assert_array_equal(eta, simulation_probability(number, X))
    # E[1{y=1} - η | η in a bin] = 0: four standard errors in every bin.
    for low, high in [(0, 0.3), (0.3, 0.7), (0.7, 1.0001)]:
        inside = (eta >= low) & (eta < high)
        if inside.sum() > 50:
            error = np.mean((y[inside] == 1) - eta[inside])
            assert abs(error) < 4 * np.sqrt(0.25 / inside.sum())


def test_first_simulation_is_a_disk_with_a_fifth_flipped():
    X, y, eta = make_simulation(1, n_samples=1000, random_state=3)
    assert np.all(np.sum(X**2, axis=1) <= 1)
    assert np.sum(y != np.where(X[:, 0] >= 0, 1, -1)) == 200
    entropy = -np.mean(eta * np.log(eta) + (1 - eta) * np.log(1 - eta))
    assert entropy == pytest.approx(0.5004, abs=1e-4)


def test_second_simulation_density_against_scipy():
    X, _, eta = make_simulation(2, n_samples=500, random_state=1)
    centre = np.sin(X[:, 0]) + 1
    plus = norm.logpdf(X[:, 1], centre, 0.1)
    minus = norm.logpdf(X[:, 1], -centre, 0.1)
    np.testing.assert_allclose(eta, expit(plus - minus), rtol=1e-9)


def test_second_simulation_bayes_error():
    _, _, eta = make_simulation(2, n_samples=200_000, random_state=2)
    assert np.mean(np.minimum(eta, 1 - eta)) == pytest.approx(0.058, abs=0.002)


@pytest.mark.parametrize("make", [make_g241c, make_g241d])
def test_gaussian_sets_are_standardised_and_calibrated(make):
    X, y, eta = make(random_state=0)
    assert X.shape == (1500, 241)
    assert np.sum(y == 1) == np.sum(y == -1) == 750
    np.testing.assert_allclose(X.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(X.std(axis=0), 1, rtol=1e-12)
    assert abs(np.mean((y == 1) - eta)) < 0.05


def test_g241c_bayes_error():
    _, y, eta = make_g241c(n_samples=100_000, n_features=5, random_state=0)
    assert np.mean(np.where(eta > 0.5, 1, -1) != y) == pytest.approx(norm.cdf(-1.25), abs=0.004)


def test_same_seed_same_data():
    for first, second in zip(make_simulation(2, 50, 7), make_simulation(2, 50, 7), strict=True):
        np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: make_simulation(3), "number must be 1 or 2"),
        (lambda: make_simulation(1, n_samples=0), "n_samples must be an integer of at least 1"),
        (lambda: make_g241d(n_samples=2.5), "n_samples must be an integer of at least 4"),
        (lambda: make_g241c(n_features=0), "n_features must be an integer of at least 1"),
    ],
)
def test_bad_arguments_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()

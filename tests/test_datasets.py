"""The simulations have the class probability they claim, and the loaders the published shapes."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import norm

from clearning import datasets
from clearning.datasets import make_g241c, make_g241d, make_simulation, simulation_probability
from clearning.datasets.loaders import select_genes


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
        (lambda: make_simulation(1, n_samples=0), r"n_samples=0 must be an integer in \[1, inf\)"),
        (lambda: make_g241d(n_samples=2.5), r"n_samples=2.5 must be an integer in \[4"),
        (lambda: make_g241c(n_features=0), r"n_features=0 must be an integer in \[1"),
    ],
)
def test_bad_arguments_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.fixture
def shared():
    """The folder of real data; its tests are skipped where there is none."""
    folder = os.environ.get("CLEARNING_DATA")
    if not folder or not (Path(folder) / "usps.npz").is_file():
        pytest.skip("CLEARNING_DATA names no folder with the real data")
    return Path(folder)


@pytest.mark.parametrize(
    ("load", "shape", "positive"),
    [
        (lambda: datasets.load_usps_pair(1, 7), (400, 256), 200),
        (lambda: datasets.load_usps_odd_even(), (800, 256), 400),
        (datasets.load_colon, (62, 2000), 40),
        (datasets.load_leukemia, (72, 3571), 25),
        (datasets.load_g241c, (1500, 241), 750),
        (datasets.load_g241d, (1500, 241), None),
    ],
)
def test_real_sets_have_the_published_shapes(shared, load, shape, positive):
    X, y = load()
    assert X.shape == shape
    assert X.dtype == float
    assert set(y) == {-1, 1}
    assert np.sum(y == 1) in ((752, 748) if positive is None else (positive,))


def test_usps_counts_and_order(shared):
    X, digit = datasets.load_usps()
    counts = [1194, 1005, 731, 658, 652, 556, 664, 645, 542, 644]
    np.testing.assert_array_equal(np.bincount(digit), counts)
    assert datasets.load_usps("test")[0].shape == (2007, 256)
    pair, y = datasets.load_usps_pair(2, 7)
    np.testing.assert_array_equal(pair[y == 1], X[digit == 2][:200])
    np.testing.assert_array_equal(pair[y == -1], X[digit == 7][:200])


def test_leukemia_recipe_against_the_derived_file(shared):
    with np.load(shared / "leukemia_3571.npz", allow_pickle=False) as derived:
        X, y = datasets.load_leukemia()
        np.testing.assert_allclose(X, derived["X"], rtol=1e-12, atol=1e-12)
        np.testing.assert_array_equal(y == 1, derived["y"] == 1)


def test_gene_selection_by_hand():
    raw = np.array(
        # constant, wide, ratio only, range only, wide
        [[300, 20_000, 100, 4_000, 100], [300, 100, 590, 4_600, 700], [300, 1_600, 250, 4_900, -5]]
    )
    X = select_genes(raw)
    kept = np.log10([[16_000, 100], [100, 700], [1_600, 100]])
    # Two values standardised are ±1/√2.
    np.testing.assert_allclose(X, np.sign(kept - kept.mean(axis=1, keepdims=True)) / np.sqrt(2))


def test_loader_arguments_are_checked(shared):
    with pytest.raises(ValueError, match="subset must be 'train' or 'test'; got 'all'"):
        datasets.load_usps("all")
    with pytest.raises(ValueError, match="n_per_digit must be between 1 and the 542 images"):
        datasets.load_usps_pair(3, 8, n_per_digit=600)

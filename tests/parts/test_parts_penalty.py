"""One coefficient under the penalty, and the predictions of the screening's references."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from clearning import _parts

number = st.floats(-3.0, 3.0, allow_subnormal=False)
level = st.sampled_from([0.0, 0.4, 1.7])
bound = st.sampled_from([0.0, 0.5, 2.0, np.inf])


def least(function, lower, upper):
    """The least value on an interval, by SciPy, and where it is."""
    ends = max(lower, -60.0), min(upper, 60.0)
    if ends[0] == ends[1]:
        return function(ends[0]), ends[0]
    inner = minimize_scalar(function, bounds=ends, method="bounded", options={"xatol": 1e-12})
    x = min([*ends, 0.0 if ends[0] <= 0.0 <= ends[1] else ends[0], inner.x], key=function)
    return function(x), x


@settings(deadline=None)
@given(number, number, st.floats(0.1, 4.0), level, bound, bound)
def test_coordinate_minimiser(b, g, m, l1, below, upper):
    def model(x):
        return g * (x - b) + 0.5 * m * (x - b) ** 2 + l1 * abs(x)

    found = _parts.coordinate_minimiser(b, g, m, l1, -below, upper)
    assert -below <= found <= upper
    value, place = least(model, -below, upper)
    assert model(found) <= value + 1e-12
    assert abs(found - place) < 1e-5


@settings(deadline=None)
@given(number, number, level, bound, bound)
def test_violation_is_the_steepest_way_down(b, g, l1, below, upper):
    """From the slopes to both sides, as far as the bounds leave room."""
    b = float(np.clip(b, -below, upper))
    assume(b == 0.0 or abs(b) > 1e-3)
    step = 1e-4
    fall = [
        -(g * side * step + l1 * (abs(b + side * step) - abs(b))) / step
        for side in (-1.0, 1.0)
        if (b < upper if side > 0 else b > -below)
    ]
    found = _parts.optimality_violation(b, g, l1, -below, upper)
    assert found == pytest.approx(max([0.0, *fall]), abs=1e-9)


@settings(deadline=None)
@given(number, level, st.sampled_from([0.0, 0.3, 2.0]), bound, bound)
def test_penalty_conjugate(v, l1, ridge, below, upper):
    found = _parts.penalty_conjugate(v, l1, ridge, -below, upper)
    limit = upper if v > 0 else below
    if ridge == 0.0 and np.isinf(limit):
        assert _parts.is_constrained(v, ridge, -below, upper)
        assert found == (np.inf if abs(v) > l1 else 0.0)
        return
    assert not _parts.is_constrained(v, ridge, -below, upper)
    away = limit if np.isfinite(limit) else 60.0
    value, _ = least(lambda b: l1 * abs(b) + 0.5 * ridge * b * b - v * b, -away, away)
    assert found == pytest.approx(-value, abs=1e-10)


def test_sign_range():
    assert _parts.sign_range(0.5, 0.1, -2.0, 3.0) == (0.0, 3.0)
    assert _parts.sign_range(-0.5, 0.1, -2.0, 3.0) == (-2.0, 0.0)
    assert _parts.sign_range(0.5, 0.0, -2.0, 3.0) == (-2.0, 3.0)


# --- References --------------------------------------------------------------------------------

CAPACITY = 4


def remembered(X, thetas):
    references = _parts.References()
    for theta in thetas:
        references.remember(theta, X.T @ theta)
    return references


def distance_to(theta, thetas):
    A = np.column_stack(thetas)
    return np.linalg.norm(theta - A @ np.linalg.lstsq(A, theta, rcond=None)[0])


@pytest.mark.parametrize("count", [1, 3, 4, 7])
@pytest.mark.parametrize("spread", [1.0, 1e-3, 1e-9])
def test_predictions_hold_within_the_radius(count, spread):
    """Also for references that nearly are one, as along a path."""
    rng = np.random.default_rng(count)
    X = rng.standard_normal((40, 200)) * np.exp(rng.normal(0.0, 2.0, 200))
    first = rng.standard_normal(40)
    thetas = [first + spread * rng.standard_normal(40) for _ in range(count)]
    references = remembered(X, thetas)
    norms = np.linalg.norm(X, axis=0)
    for theta in (first + spread * rng.standard_normal(40), rng.standard_normal(40)):
        predicted, radius = references.predict(theta, 200)
        error = np.abs(predicted - X.T @ theta)
        assert np.all(error <= radius * norms * (1 + 1e-12))
        nearest = distance_to(theta, thetas[-CAPACITY:])
        assert radius >= nearest * (1 - 1e-6)
        if spread > 1e-6:  # nearer ones are left out as repetitions
            assert radius == pytest.approx(nearest, rel=1e-6)


def test_what_was_remembered_is_known():
    rng = np.random.default_rng(0)
    X, thetas = rng.standard_normal((30, 50)), list(rng.standard_normal((6, 30)))
    references = remembered(X, thetas)
    for theta in thetas[-CAPACITY:]:
        predicted, radius = references.predict(theta, 50)
        np.testing.assert_allclose(predicted, X.T @ theta, atol=1e-11)
        assert radius < 1e-11
    assert references.predict(thetas[0], 50)[1] > 1.0  # the oldest have gone


def test_a_repeated_reference_does_no_harm():
    rng = np.random.default_rng(0)
    X, theta = rng.standard_normal((30, 50)), rng.standard_normal(30)
    predicted, radius = remembered(X, [theta, theta, 2.0 * theta]).predict(-theta, 50)
    np.testing.assert_allclose(predicted, -X.T @ theta, atol=1e-11)
    assert radius < 1e-11

"""Every member of every loss in the core, in every instruction set that the machine has."""

from __future__ import annotations

import os
import subprocess
import sys

import mpmath as mp
import numpy as np
import pytest
from loss_oracles import CASES

from clearning import _parts

each_loss = pytest.mark.parametrize("case", CASES, ids=str)
COPIES = 19  # fill the widest registers and leave a rest


@pytest.fixture(autouse=True)
def many_digits():
    with mp.workdps(100):
        yield


def loss_of(case):
    return _parts.loss(case.kind, **case.parameters)


def tolerance(case):
    """Rounding of (u − z) / ρ grows with the margin; it is seen in weights that decay."""
    return {"rtol": 2e-13 * max(1.0, 30.0 / case.width), "atol": 1e-150}


@each_loss
def test_value_weight_and_curvature(case):
    loss = loss_of(case)
    for z in case.margins():
        if abs(z - case.centre) > 500 * case.width:
            continue  # weights below the smallest that the core keeps
        np.testing.assert_allclose(loss.at(z), case.point(z), **tolerance(case), err_msg=f"z={z}")


@each_loss
def test_far_margins_stay_finite(case):
    for z in (-1e6, 1e6, -1e300, 1e300):
        value, weight, curvature = loss_of(case).at(z)
        assert weight >= 0.0
        assert curvature >= 0.0
        if abs(z) < 1e100 or case.kind != "squared_hinge":
            np.testing.assert_allclose(value, float(case.value(mp.mpf(z))), rtol=1e-12, atol=1e-150)


@each_loss
def test_loops_over_samples(case):
    """Both classes, an intercept, unequal weights: e, h and the sums, against the formula."""
    loss, rng = loss_of(case), np.random.default_rng(0)
    margins = np.array([z for z in case.margins() if abs(z - case.centre) < 500 * case.width])
    margins = np.tile(margins, 5)
    y = np.where(rng.random(len(margins)) < 0.5, 1.0, -1.0)
    weight = rng.random(len(margins))
    a = 0.25
    score = y * margins - a
    points = np.array([case.point(yi * (fi + a)) for yi, fi in zip(y, score)])
    value, s, curvature = points.T
    close = {"rtol": 1e-11, "atol": 1e-14 * np.abs(points).max()}
    sums, e, h = loss.evaluate(y, weight, score, a)
    np.testing.assert_allclose(e, -y * weight * s, **close)
    np.testing.assert_allclose(h, weight * curvature, **close)
    expected = (weight @ value, -(weight * y) @ s, weight @ curvature, weight @ s)
    np.testing.assert_allclose(sums, expected, **close)
    np.testing.assert_allclose(loss.slopes(y, weight, score, a)[1:], expected[1:], **close)


@each_loss
def test_loop_over_copies_of_one_margin(case):
    """The sum of a loop is the member's value in every lane of a register, and in the rest."""
    loss, one = loss_of(case), np.ones(COPIES)
    for z in case.margins():
        member = loss.at(z)
        sums, e, h = loss.evaluate(one, one / COPIES, z * one, 0.0)
        close = {"rtol": 1e-12, "atol": 1e-150}
        np.testing.assert_allclose((sums[0], sums[3], sums[2]), member, **close)
        np.testing.assert_allclose(COPIES * e, -member[1] * one, **close)
        np.testing.assert_allclose(COPIES * h, member[2] * one, **close)
        gap = loss.total_scaled_gap(one, one / COPIES, z * one, 0.0, 0.8, 0.1)
        np.testing.assert_allclose(gap, loss.scaled_gap(z, 0.8), rtol=1e-11, atol=1e-13)


@each_loss
def test_the_majoriser_lies_above(case):
    if case.kind == "hinge":
        pytest.skip("the hinge is never stepped on")
    loss = loss_of(case)
    for z in case.margins():
        value, weight, _ = case.point(z)
        m = loss.majoriser(z)
        x = np.concatenate(
            [case.centre + case.width * np.linspace(-20, 20, 81), [z, 2 * case.centre - z]]
        )
        bound = value - weight * (x - z) + 0.5 * m * (x - z) ** 2
        there = np.array([float(case.value(mp.mpf(xi))) for xi in x])
        assert np.all(bound - there >= -1e-12 * (1.0 + np.abs(bound))), f"z={z}"


@pytest.mark.parametrize("case", [c for c in CASES if c.kind == "coherence"], ids=str)
def test_the_majoriser_of_a_coherence_function_is_the_smallest(case):
    """It touches the loss at the margin's mirror image, so nothing smaller lies above."""
    for z in case.margins():
        value, weight, _ = case.point(z)
        mirrored = 2 * case.centre - z
        bound = (
            value - weight * (mirrored - z) + 0.5 * loss_of(case).majoriser(z) * (mirrored - z) ** 2
        )
        scale = abs(value) + case.parameters["kappa"] * case.width
        np.testing.assert_allclose(bound, float(case.value(mp.mpf(mirrored))), atol=1e-12 * scale)


@each_loss
def test_fenchel_young_is_the_distance_to_the_conjugate(case):
    loss = loss_of(case)
    for z in case.margins():
        for s in case.weights():
            expected = case.fenchel_young(z, s)
            scale = abs(s * z) + abs(float(case.value(mp.mpf(z)))) + case.width * s
            np.testing.assert_allclose(
                loss.fenchel_young(z, s),
                expected,
                rtol=1e-8,
                atol=1e-11 * scale,
                err_msg=f"{z} {s}",
            )


@each_loss
def test_fenchel_young_at_the_ends_of_the_domain(case):
    loss = loss_of(case)
    assert loss.weight_limit() == case.limit
    for z in case.margins():
        value = float(case.value(mp.mpf(z)))
        np.testing.assert_allclose(loss.fenchel_young(z, 0.0), value, rtol=1e-12, atol=1e-15)
        if case.limit == mp.inf:
            continue
        # From the left end φ falls as limit · (corner − z): the other asymptote.
        far = mp.mpf(case.centre) - 10**6 * mp.mpf(case.width)
        corner = float(case.value(far) + mp.mpf(case.limit) * far)
        expected = float(case.value(mp.mpf(z)) + mp.mpf(case.limit) * mp.mpf(z)) - corner
        scale = abs(case.limit * z) + abs(corner)
        np.testing.assert_allclose(loss.fenchel_young(z, case.limit), expected, atol=1e-13 * scale)


@each_loss
@pytest.mark.parametrize("c", [0.0, 0.5, 0.99, 1.0 - 1e-4, 1.0, 1.0 + 1e-4, 1.01])
def test_near_gap_bounds_the_fenchel_young_term(case, c):
    loss = loss_of(case)
    for z in case.margins():
        value, weight, _ = loss.at(z)
        s = min(c * weight, case.limit)
        exact = case.fenchel_young(z, s)
        rounding = 1e-11 * (1.0 + abs(value) + abs(weight * z))
        found = loss.near_gap(z, s)
        assert found >= exact - rounding
        rest = case.limit - weight
        if case.kind == "coherence" and abs(s - weight) < 0.01 * min(weight, rest):
            assert found <= 1.01 * exact + rounding  # to third order
        if case.kind == "coherence" and abs(s - weight) <= min(weight, rest):
            assert found <= 1.06 * exact + rounding


@each_loss
@pytest.mark.parametrize("c", [0.0, 0.3, 0.9, 1.0 - 1e-5, 1.0])
def test_scaled_gap_bounds_the_fenchel_young_term(case, c):
    loss = loss_of(case)
    for z in case.margins():
        value, weight, _ = loss.at(z)
        exact = case.fenchel_young(z, min(c * weight, case.limit))
        rounding = 1e-11 * (1.0 + abs(value) + abs(weight * z))
        found = loss.scaled_gap(z, c)
        assert found >= exact - rounding
        if case.kind == "coherence":
            assert found <= (1.0 - c) * value + rounding  # the chord
            if weight < case.limit * (1.0 - 1e-6):  # chi-square
                odds = weight / (case.limit - weight)
                assert found <= case.limit * case.width * (1.0 - c) ** 2 * odds * 1.00001 + rounding
        else:
            assert found <= exact + 1e-8 * abs(exact) + rounding


def test_losses_that_are_flat_in_places_are_lifted():
    """Curvature vanishes exactly where a least lift is asked for."""
    for case in CASES:
        flat = any(
            loss_of(case).at(z)[2] == 0.0
            for z in case.margins()
            if abs(z) < 10 and case.width > 0.1
        )
        assert (loss_of(case).least_lift() > 0.0) == flat, str(case)


def test_unknown_kinds_are_refused():
    with pytest.raises(ValueError, match="'hing' must be one of coherence, huberized_hinge"):
        _parts.loss("hing")


def test_the_instructions_are_those_asked_for():
    assert _parts.simd == os.environ.get("CLEARNING_SIMD", _parts.simd)


@pytest.mark.skipif("CLEARNING_PARTS_AGAIN" in os.environ, reason="this is that run")
@pytest.mark.parametrize("instructions", ["baseline", "avx2"])
def test_all_of_this_in_other_instructions(instructions):
    if _parts.simd == instructions:
        pytest.skip(f"{instructions} is what this run uses")
    again = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", __file__],
        env={**os.environ, "CLEARNING_SIMD": instructions, "CLEARNING_PARTS_AGAIN": "1"},
        capture_output=True,
        text=True,
    )
    if "instructions that this machine does not have" in again.stdout:
        pytest.skip(f"this machine has no {instructions}")
    assert again.returncode == 0, again.stdout[-3000:]

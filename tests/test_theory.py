"""The propositions of Zhang, Dai and Jordan (2012), each under the label it has in their source.

Hypothesis draws the cases; numeric minimisation and finite differences are the oracles. Where a
statement is strict or a limit, the rate that its proof gives is tested, not only the direction.
"""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from clearning.losses import (
    CLoss,
    Coherence,
    Exponential,
    Hinge,
    Logistic,
    MajorizationLoss,
    SquaredHinge,
)

pytestmark = pytest.mark.filterwarnings("error")

LOG2 = np.log(2.0)
TINY = 1e-13  # what rounding may take from an inequality, relative to the size of its terms

rhos = st.floats(-3, 3).map(lambda power: float(10.0**power))
positive_us = st.floats(1e-3, 50.0)
us = st.one_of(st.just(0.0), positive_us)
margins = st.floats(-100.0, 100.0)
etas = st.floats(1e-3, 1 - 1e-3)


def for_all(*cases, **named):
    return lambda test: settings(deadline=None, max_examples=150)(given(*cases, **named)(test))


def hinge(u, z):
    return max(u - z, 0.0)


def at_most(small, large):
    return small <= large + TINY * max(abs(small), abs(large), 1e-300)


def risk(loss, eta, f):
    """R(η, f) = η φ(f) + (1−η) φ(−f)."""
    return eta * loss.value(f) + (1 - eta) * loss.value(-f)


def numeric_minimiser(loss, eta, reach):
    options = {"xatol": 1e-11}
    return minimize_scalar(
        lambda f: risk(loss, eta, f), bounds=(-reach, reach), method="bounded", options=options
    )


# prop:1 ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("loss", "minimiser"),
    [
        (Exponential(), lambda eta: np.log(eta / (1 - eta))),
        (Logistic(), lambda eta: np.log(eta / (1 - eta))),
        (Hinge(), lambda eta: np.sign(eta - 0.5)),
        (SquaredHinge(), lambda eta: 2 * eta - 1),
    ],
    ids=["exponential", "logit", "hinge", "squared hinge"],
)
@for_all(eta=etas)
def test_prop_1_minimisers_of_the_expected_loss(loss, minimiser, eta):
    assume(abs(eta - 0.5) > 1e-3)
    found = numeric_minimiser(loss, eta, reach=10.0)
    assert found.x == pytest.approx(minimiser(eta), abs=1e-5)
    if hasattr(loss, "link"):
        assert loss.link(eta) == pytest.approx(minimiser(eta), rel=1e-12)


# prop:2 ------------------------------------------------------------------------------------------


@for_all(rhos, us, margins)
def test_prop_2_i_coherence_lies_within_rho_log_2_above_the_hinge(rho, u, z):
    value = Coherence(rho, u).value(z)
    assert u * (z <= 0) <= hinge(u, z) <= value
    assert at_most(value, rho * LOG2 + hinge(u, z))


@for_all(rhos, us, margins)
def test_prop_2_ii_coherence_lies_above_its_tangent_at_the_bend(rho, u, z):
    assert at_most((u - z) / 2 + rho * LOG2, Coherence(rho, u).value(z))


@for_all(us, margins)
def test_prop_2_iii_limits_of_coherence(u, z):
    for rho in (1e-2, 1e-4, 1e-8):
        assert abs(Coherence(rho, u).value(z) - hinge(u, z)) <= rho * LOG2 * (1 + 1e-6)
    for rho in (1e3, 1e5):
        excess = Coherence(rho, u).value(z) - rho * LOG2 - (u - z) / 2
        assert abs(excess) <= (u - z) ** 2 / (8 * rho) + 1e-14 * rho


@for_all(rhos, positive_us, margins)
def test_prop_2_iv_closs_lies_between_the_cost_and_coherence(rho, u, z):
    value = CLoss(rho, u).value(z)
    assert at_most(u * (z <= 0), value)
    assert at_most(value, Coherence(rho, u).value(z))


@for_all(positive_us, margins)
def test_prop_2_v_limits_of_closs(u, z):
    for rho in (1e-2, 1e-4, 1e-8):
        bound = rho * LOG2 * (1 + hinge(u, z) / u)
        assert abs(CLoss(rho, u).value(z) - hinge(u, z)) <= bound + TINY * hinge(u, z)
    for rho in (1e3, 1e5, 1e8):
        assert abs(CLoss(rho, u).value(z) - u) <= u * abs(z) / (rho * LOG2) + TINY * u


# prop:variant and what follows from it -----------------------------------------------------------


@for_all(rhos, us, margins)
def test_majorization_loss_bounds_the_zero_one_loss(rho, u, z):
    loss = MajorizationLoss(rho, u)
    assert loss.value(0.0) == pytest.approx(1.0, rel=1e-15)
    assert at_most(float(z <= 0), loss.value(z))
    if u > 0:
        assert CLoss(rho, u).value(z) == pytest.approx(u * loss.value(z), rel=1e-13)
        # Printed as L_{ρ,1}(z) = C_{ρ,1}(u); the argument of C is z.
        assert MajorizationLoss(rho, 1.0).value(z) == pytest.approx(CLoss(rho, 1.0).value(z))
    assert MajorizationLoss(1.0, 0.0).value(z) == pytest.approx(Logistic().value(z) / LOG2)


def assert_monotone(cooler, warmer, z):
    """L falls in its parameter for z < 0 and rises for z ≥ 0."""
    if z < 0:
        cooler, warmer = warmer, cooler
    assert at_most(cooler.value(z), warmer.value(z))


@for_all(rhos, st.floats(1.0, 100.0), us, margins)
def test_prop_variant_i_monotone_in_rho(rho, factor, u, z):
    assert_monotone(MajorizationLoss(rho, u), MajorizationLoss(rho * factor, u), z)


@for_all(rhos, us, st.floats(0.0, 10.0), margins)
def test_prop_variant_ii_monotone_in_u(rho, u, more, z):
    assert_monotone(MajorizationLoss(rho, u), MajorizationLoss(rho, u + more), z)


@for_all(st.floats(1e-3, 1e3), st.floats(1.0, 100.0))
def test_lem_1_monotone_ratios(x, factor):
    def f2(x):
        return x / (1 + x) / np.log1p(x)

    assert at_most(f2(x) * np.log(x), f2(x * factor) * np.log(x * factor))
    assert at_most(f2(x * factor), f2(x))


@for_all(rhos, margins)
def test_prop_u1_closs_against_logit_hinge_and_squared_hinge(rho, z):
    value = CLoss(rho, 1.0).value(z)
    others = [
        MajorizationLoss(rho, 0.0).value(z),
        Hinge().value(z),
        SquaredHinge().value(z),
    ]
    if z < 0:
        assert at_most(value, min(others))
    else:
        assert at_most(max(others), value)


# prop:dev1 ---------------------------------------------------------------------------------------


@for_all(rhos, positive_us, margins)
def test_derivative_of_closs_lies_between_minus_one_and_zero(rho, u, z):
    loss = CLoss(rho, u)
    assert -1.0 <= loss.gradient(z) <= 0.0
    step = 1e-4 * rho
    slope = (loss.value(z + step) - loss.value(z - step)) / (2 * step)
    noise = 1e-15 * loss.value(z) / step
    assert loss.gradient(z) == pytest.approx(slope, rel=1e-6, abs=1e-12 + 10 * noise)


@for_all(positive_us, st.floats(1e-3, 100.0))
def test_prop_dev1_limits_of_the_derivatives(u, distance):
    rho = 1e-6
    for loss in (Coherence(rho, u), CLoss(rho, u)):
        assert loss.gradient(u + distance) == pytest.approx(0.0, abs=1e-12)
        assert loss.gradient(u) == pytest.approx(-0.5, rel=1e-3)
        assert loss.gradient(u - distance) == pytest.approx(-1.0, rel=1e-3)
    assert Hinge().gradient([0.0, 1.0, 2.0]).tolist() == [-1.0, -0.5, 0.0]


# thm:cohen ---------------------------------------------------------------------------------------

# e^(u/ρ) stays below e^8, so that numeric minimisation can still see where the minimum is.
gentle = st.tuples(st.floats(0.05, 20.0), st.floats(0.0, 8.0)).map(lambda t: (t[0], t[0] * t[1]))


@for_all(gentle, etas)
def test_thm_cohen_minimiser(rho_u, eta):
    rho, u = rho_u
    loss = Coherence(rho, u)
    star = loss.link(eta)
    found = numeric_minimiser(loss, eta, reach=u + 12 * rho)
    assert risk(loss, eta, star) <= found.fun * (1 + 1e-14)
    # Brent's method sees the minimum to within sqrt(eps · R / R'').
    curvature = eta * loss.hessian(star) + (1 - eta) * loss.hessian(-star)
    blur = np.sqrt(1e-14 * found.fun / curvature)
    assert abs(found.x - star) <= blur + 1e-9 * (1 + abs(star))
    if u > 0:
        assert CLoss(rho, u).link(eta) == star


@for_all(gentle, etas)
def test_thm_cohen_stationarity(rho_u, eta):
    # Printed with both terms positive, which no f can meet; the right sign is −η w₁ + (1−η) w₂ = 0.
    loss = Coherence(*rho_u)
    w1, w2 = loss.weights(loss.link(eta))
    assert eta * w1 == pytest.approx((1 - eta) * w2, rel=1e-11)


@for_all(gentle, etas)
def test_thm_cohen_printed_formula(rho_u, eta):
    rho, u = rho_u
    big = np.exp(u / rho)
    root = np.sqrt((1 - 2 * eta) ** 2 * big**2 + 4 * eta * (1 - eta))
    printed = rho * np.log(((2 * eta - 1) * big + root) / (2 * (1 - eta)))
    assert Coherence(rho, u).link(eta) == pytest.approx(printed, rel=1e-6, abs=1e-6 * rho)


@for_all(rhos, us, st.floats(1e-12, 1 - 1e-12))
def test_thm_cohen_sign(rho, u, eta):
    star = Coherence(rho, u).link(eta)
    assert (star > 0) == (eta > 0.5)
    assert (star < 0) == (eta < 0.5)


@for_all(gentle, st.floats(-10.0, 10.0))
def test_thm_cohen_inverse(rho_u, spread):
    rho, u = rho_u
    f = rho * spread
    loss = Coherence(rho, u)
    up, down = 1 + np.exp((f - u) / rho), 1 + np.exp(-(f + u) / rho)
    assert loss.inverse_link(f) == pytest.approx(up / (up + down), rel=1e-13)
    # η̃ has a flat stretch inside the margin, where f is lost to rounding as e^(u/ρ) grows.
    assert loss.link(loss.inverse_link(f)) == pytest.approx(f, rel=1e-9, abs=1e-11 * rho)


@for_all(rhos, etas)
def test_thm_cohen_without_margin_is_logistic(rho, eta):
    loss = Coherence(rho, 0.0)
    assert loss.link(eta) == pytest.approx(rho * np.log(eta / (1 - eta)), rel=1e-12, abs=1e-15)
    assert loss.inverse_link(rho * 1.5) == pytest.approx(1 / (1 + np.exp(-1.5)), rel=1e-14)


# thm:limit ---------------------------------------------------------------------------------------


@for_all(rhos, us, st.floats(1e-300, 1 - 1e-16))
def test_thm_limit_i_sign(rho, u, eta):
    assert np.sign(Coherence(rho, u).link(eta)) == np.sign(eta - 0.5)


@for_all(us, st.floats(1e-6, 1 - 1e-6))
def test_thm_limit_ii_limit_is_the_hinge_minimiser(u, eta):
    assume(abs(eta - 0.5) > 1e-6)
    for rho in (1e-3, 1e-5, 1e-8):
        # f* − u sign(η−1/2) is of order ρ: at most ρ times logit and log|2η−1| together.
        bound = rho * (abs(np.log(eta / (1 - eta))) + abs(np.log(abs(2 * eta - 1))) + 1)
        assert abs(Coherence(rho, u).link(eta) - u * np.sign(eta - 0.5)) <= bound + TINY * u


@for_all(rhos, us, etas, etas)
def test_thm_limit_iii_slope_bound_between_any_two_probabilities(rho, u, one, other):
    # The slope bound integrated from low to high: the same statement, without a step's error.
    low, high = sorted((one, other))
    assume(high - low > 1e-6)
    rise = Coherence(rho, u).link(high) - Coherence(rho, u).link(low)
    logistic_rise = rho * (np.log(high / (1 - high)) - np.log(low / (1 - low)))
    assert rise >= logistic_rise * (1 - 1e-9) - TINY * u
    if u == 0:
        assert rise == pytest.approx(logistic_rise, rel=1e-9)


@for_all(st.floats(0.1, 10.0), st.floats(0.1, 3.0), st.floats(0.05, 0.95))
def test_thm_limit_iii_slope_bound_is_strict_with_a_margin(rho, ratio, eta):
    loss = Coherence(rho, rho * ratio)
    slope = (loss.link(eta + 1e-6) - loss.link(eta - 1e-6)) / 2e-6
    assert slope > rho / (eta * (1 - eta)) * (1 + 1e-6)


# prop:p_est --------------------------------------------------------------------------------------


@for_all(positive_us, st.floats(1e-3, 0.999))
def test_prop_p_est_limits_of_the_probability(u, fraction):
    cold = Coherence(1e-6 * u, u)
    expected = {
        u * (1 + fraction): 1.0,
        u: 2 / 3,
        u * fraction: 0.5,
        0.0: 0.5,
        -u * fraction: 0.5,
        -u: 1 / 3,
        -u * (1 + fraction): 0.0,
    }
    for f, limit in expected.items():
        assert cold.inverse_link(f) == pytest.approx(limit, abs=1e-12)
        hot = Coherence(1e8 * (1 + u), u).inverse_link(f)
        assert hot == pytest.approx(0.5, abs=1e-8)


# Weights, and the probability as a distance ------------------------------------------------------


@for_all(rhos, us, st.floats(-20.0, 20.0))
def test_probability_is_the_share_of_w2_and_never_exceeds_it(rho, u, spread):
    loss = Coherence(rho, u)
    f = rho * spread
    w1, w2 = loss.weights(f)
    assert loss.gradient(f) == -w1
    assert loss.gradient(-f) == -w2
    assert loss.inverse_link(f) == pytest.approx(w2 / (w1 + w2), rel=1e-15)
    assert at_most(1.0, w1 + w2)
    assert at_most(loss.inverse_link(f), w2)


@for_all(rhos, st.floats(0.01, 5.0), st.floats(-5.0, 5.0))
def test_probability_equals_w2_only_without_margin(rho, ratio, spread):
    f = rho * spread
    loss = Coherence(rho, rho * ratio)
    assert sum(loss.weights(f)) > 1.0
    assert loss.inverse_link(f) < loss.w2(f)
    logistic = Coherence(rho, 0.0)
    assert sum(logistic.weights(f)) == pytest.approx(1.0, rel=1e-15)
    assert logistic.inverse_link(f) == pytest.approx(logistic.w2(f), rel=1e-15)


def excess_risk(loss, eta, f):
    """ΔR(η, f) = R(η, f) − R(η, f*(η))."""
    return risk(loss, eta, f) - risk(loss, eta, loss.link(eta))


scores = st.tuples(gentle, st.floats(-10.0, 10.0)).map(lambda t: (*t[0], t[0][0] * t[1]))


@for_all(scores, etas)
def test_excess_risk_is_at_least_the_squared_error_of_the_probability(score, eta):
    rho, u, f = score
    loss = Coherence(rho, u)
    slack = TINY * risk(loss, eta, f)
    excess = excess_risk(loss, eta, f)
    assert excess >= 2 * rho * (eta - loss.inverse_link(f)) ** 2 - slack
    assert excess_risk(loss, eta, 0.0) >= 2 * rho * (eta - 0.5) ** 2 - slack


@for_all(st.floats(0.1, 10.0), st.floats(0.0, 3.0), st.floats(-5.0, 5.0), st.floats(0.05, 0.95))
def test_excess_risk_is_strictly_convex_in_the_probability(rho, ratio, spread, eta):
    loss, f, step = Coherence(rho, rho * ratio), rho * spread, 1e-3
    below, here, above = (excess_risk(loss, p, f) for p in (eta - step, eta, eta + step))
    curvature = (below - 2 * here + above) / step**2
    # Averaged over the step the bound ρ/(η(1−η)) is at least its value at the nearer end to 1/2.
    nearest = min(max(0.5, eta - step), eta + step)
    assert curvature >= rho / (nearest * (1 - nearest)) * (1 - 1e-6)


@for_all(scores, etas)
def test_thm_est_excess_error_at_a_point(score, eta):
    """Where f errs against the Bayes rule, that costs |2η−1| ≤ (2ΔR/ρ)^(1/2)."""
    rho, u, f = score
    assume((f > 0) != (eta > 0.5))
    excess = excess_risk(Coherence(rho, u), eta, f)
    assert abs(2 * eta - 1) <= np.sqrt(2 * excess / rho) * (1 + 1e-9) + 1e-7

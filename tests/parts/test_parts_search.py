"""The line search: steps down are taken, long ones are cut, and others leave all as it was."""

from __future__ import annotations

import numpy as np
import pytest
from bench_oracle import Twin
from scipy.optimize import minimize_scalar

HALVINGS = 40


def placed(twin, seed=0):
    rng = np.random.default_rng(seed)
    b = rng.standard_normal(twin.X.shape[1]) * (rng.random(twin.X.shape[1]) < 0.3)
    twin.bench.add(list(range(len(b))))
    twin.bench.place(b, 0.0)
    return b, twin.bench.state()["a"]


def kernel(size=40):
    P = np.random.default_rng(0).standard_normal((size, 3))
    return np.exp(-((P[:, None] - P[None]) ** 2).sum(-1))


def subgradient(twin, b, a):
    return twin.gradient(b, a) + twin.l1() * np.sign(b)


each_penalty = pytest.mark.parametrize(
    "given", [{}, {"X": kernel(), "kernel": True}], ids=["diagonal", "kernel"]
)


def assert_took(twin, found, before, b):
    """The iterate is the one that its coefficients make, and the gain is the objective's."""
    state = twin.bench.state()
    np.testing.assert_allclose(state["b"], b, rtol=1e-14, atol=1e-15)
    np.testing.assert_allclose(state["score"], twin.X @ b, atol=1e-12)
    np.testing.assert_allclose(state["e"], twin.e(b, state["a"]), atol=1e-11)
    if len(state["form"]):
        np.testing.assert_allclose(state["form"], twin.Q @ b, atol=1e-12)
    after = twin.objective(b, state["a"])
    assert after < before
    assert found["gain"] == pytest.approx(before - after, abs=1e-12)


@each_penalty
@pytest.mark.parametrize("rho", [1.0, 0.1])
def test_a_short_step_down_is_taken_whole(rho, given):
    twin = Twin(rho=rho, **given)
    b, a = placed(twin)
    support = np.flatnonzero(b)
    target = (b - 1e-3 * subgradient(twin, b, a))[support]
    before = twin.objective(b, a)
    found = twin.bench.descend(support.tolist(), target, 0.0, HALVINGS)
    assert found["accepted"]
    assert not found["was_cut"]
    moved = b.copy()
    moved[support] = target
    assert_took(twin, found, before, moved)
    np.testing.assert_array_equal(twin.bench.state()["b"][support], target)  # to the last bit


@each_penalty
def test_a_long_step_down_is_halved_until_it_pays(given):
    twin = Twin(**given)
    b, a = placed(twin)
    support = np.flatnonzero(b)
    delta = (-1e4 * subgradient(twin, b, a))[support]
    before = twin.objective(b, a)
    found = twin.bench.descend(support.tolist(), b[support] + delta, 0.0, HALVINGS)
    assert found["accepted"]
    assert found["was_cut"]
    shares = (twin.bench.state()["b"][support] - b[support]) / delta
    share = 2.0 ** np.round(np.log2(shares[0]))
    assert share < 1.0
    np.testing.assert_allclose(shares, share, rtol=1e-9)
    moved = b.copy()
    moved[support] += share * delta
    assert_took(twin, found, before, moved)
    # Twice as far would not have paid.
    further = b.copy()
    further[support] += 2 * share * delta
    assert best_objective(twin, further) > before - 1e-3 * before


def best_objective(twin, b):
    return minimize_scalar(lambda a: twin.objective(b, a), bracket=(-1.0, 1.0)).fun


@each_penalty
@pytest.mark.parametrize("most", [1, HALVINGS])
def test_a_step_up_leaves_the_iterate_as_it_was(most, given):
    twin = Twin(**given)
    b, a = placed(twin)
    before = twin.bench.state()
    support = np.flatnonzero(b)
    target = (b + 5.0 * subgradient(twin, b, a))[support]
    found = twin.bench.descend(support.tolist(), target, 0.3, most)
    assert found == {"accepted": False, "was_cut": False, "gain": 0.0}
    after = twin.bench.state()
    for name, value in before.items():
        np.testing.assert_array_equal(after[name], value, err_msg=name)


def test_a_long_step_with_one_try_is_not_taken():
    twin = Twin()
    b, a = placed(twin)
    before = twin.bench.state()
    target = b - 1e4 * subgradient(twin, b, a)
    support = np.flatnonzero(b)
    assert not twin.bench.descend(support.tolist(), target[support], 0.0, 1)["accepted"]
    for name, value in before.items():
        np.testing.assert_array_equal(twin.bench.state()[name], value, err_msg=name)


def test_coefficients_may_leave_zero_and_come_to_it():
    twin = Twin(alpha=0.01)
    b = np.zeros(30)
    b[5] = 0.01  # the penalty gains by taking it back
    twin.bench.add(list(range(30)))
    twin.bench.place(b, 0.0)
    a = twin.bench.state()["a"]
    before, moved = twin.objective(b, a), np.zeros(30)
    moved[0] = -0.1 * np.sign(twin.gradient(b, a)[0])
    found = twin.bench.descend([0, 5], moved[[0, 5]], 0.0, HALVINGS)
    assert found["accepted"]
    assert not found["was_cut"]
    assert_took(twin, found, before, moved)

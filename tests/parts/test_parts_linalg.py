"""Factors and conjugate gradients, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from clearning import _parts

rng = np.random.default_rng(0)


def spd(size, condition=10.0, seed=0):
    local = np.random.default_rng(seed)
    Q = np.linalg.qr(local.standard_normal((size, size)))[0]
    return np.asfortranarray((Q * np.geomspace(1.0, 1.0 / condition, size)) @ Q.T)


def solve_block(factor, M, ridge, right):
    """The factor's solution, and NumPy's, on the factor's own order."""
    order = factor.order()
    block = M[np.ix_(order, order)] + np.diag(ridge[order])
    return factor.solve(right[order]), np.linalg.solve(block, right[order])


# --- BlockFactor -------------------------------------------------------------------------------


@pytest.mark.parametrize("condition", [10.0, 1e5])
def test_a_block_that_gains_and_loses_columns(condition):
    M = spd(90, condition)
    ridge, right = rng.random(90) / condition, rng.standard_normal(90)
    factor = _parts.BlockFactor()
    wanted = list(range(0, 80, 2))
    assert factor.match(wanted, M, ridge)
    assert factor.order() == wanted
    for leaving, arriving in ([0], [1]), ([40, 78], []), ([], [3]), ([2, 4], [77]), ([], [79]):
        before = factor.order()
        wanted = sorted(set(wanted) - set(leaving) | set(arriving))
        assert factor.match(wanted, M, ridge)
        # Updated, not made anew: those that stay keep their order, and the new ones come last.
        assert factor.order() == [j for j in before if j not in leaving] + arriving
        found, expected = solve_block(factor, M, ridge, right)
        np.testing.assert_allclose(found, expected, rtol=1e-9 * condition, atol=1e-11 * condition)


def test_many_changes_or_another_ridge_make_a_new_factor():
    M, ridge, right = spd(60), rng.random(60), rng.standard_normal(60)
    factor = _parts.BlockFactor()
    for wanted, penalty in (
        (list(range(30)), ridge),
        (list(range(20, 55)), ridge),
        (list(range(20, 56)), 2.0 * ridge),
    ):
        assert factor.match(wanted, M, penalty)
        assert factor.order() == wanted
        np.testing.assert_allclose(*solve_block(factor, M, penalty, right), rtol=1e-9)


def test_a_factor_serves_on_while_the_ridge_hardly_changes():
    """By a few per cent: steps by the old factor then leave little, and lead to the solution."""
    M, ridge, right = spd(30), 0.5 + rng.random(30), rng.standard_normal(30)
    factor, wanted = _parts.BlockFactor(), list(range(30))
    assert factor.match(wanted, M, ridge)
    old = factor.solve(right)
    assert factor.match(wanted, M, 0.95 * ridge)
    np.testing.assert_array_equal(factor.solve(right), old)
    now, solution = M + np.diag(0.95 * ridge), np.zeros(30)
    for _ in range(12):
        solution += factor.solve(right - now @ solution)
    np.testing.assert_allclose(solution, np.linalg.solve(now, right), rtol=1e-9)
    assert factor.match(wanted, M, 0.85 * ridge)
    np.testing.assert_allclose(*solve_block(factor, M, 0.85 * ridge, right), rtol=1e-9)


def test_a_matrix_that_changed_is_factorised_anew():
    M, other, ridge, right = spd(20), spd(20, seed=1), np.zeros(20), rng.standard_normal(20)
    factor, wanted = _parts.BlockFactor(), list(range(20))
    assert factor.match(wanted, M, ridge)
    factor.invalidate()
    assert factor.match(wanted, other, ridge)
    np.testing.assert_allclose(*solve_block(factor, other, ridge, right), rtol=1e-9)


def test_a_factor_outgrows_its_room():
    M, ridge, right = spd(200), np.zeros(200), rng.standard_normal(200)
    factor = _parts.BlockFactor()
    for count in range(40, 200, 3):
        assert factor.match(list(range(count)), M, ridge)
        np.testing.assert_allclose(*solve_block(factor, M, ridge, right), rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_nearly_singular_blocks_are_solved(scale):
    """Repeated and rescaled columns: what can be met is met."""
    X = rng.standard_normal((50, 12))
    X = np.column_stack([X, X[:, :3], 1e4 * X[:, 3:5], X[:, 5] + 1e-9 * X[:, 6]]) * np.sqrt(scale)
    M = np.asfortranarray(X.T @ X)
    right = M @ rng.standard_normal(M.shape[0])
    factor = _parts.BlockFactor()
    assert factor.match(list(range(12)), M, np.zeros(18))
    for count in (13, 15, 17, 18):
        assert factor.match(list(range(count)), M, np.zeros(18))
        order = factor.order()
        left = M[np.ix_(order, order)] @ factor.solve(right[order]) - right[order]
        size = np.sqrt(np.diag(M)[order] * np.diag(M).max())
        assert np.all(np.abs(left) <= 1e-6 * size * np.abs(right / np.sqrt(np.diag(M))).max())


def test_an_indefinite_block_is_refused():
    M = spd(8)
    M[5, 5] = -1.0
    factor = _parts.BlockFactor()
    assert not factor.match(list(range(8)), M, np.zeros(8))
    assert factor.match([0, 1, 2], M, np.zeros(8))
    assert factor.match(list(range(8)), M, np.full(8, 2.0))


# --- PackedFactor ------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 2, 255, 256, 257, 700])
def test_packed_factor(size):
    M, right = spd(size), rng.standard_normal(size)
    found = _parts.solve_packed(M, right)
    assert found.dtype == np.float32
    expected = np.linalg.solve(M, right)
    assert np.linalg.norm(found - expected) <= 1e-5 * np.linalg.norm(expected)


def test_packed_factor_reads_the_upper_half_alone():
    M, right = spd(300), rng.standard_normal(300)
    np.testing.assert_array_equal(
        _parts.solve_packed(np.asfortranarray(np.triu(M)), right), _parts.solve_packed(M, right)
    )


@pytest.mark.parametrize("place", [3, 299])
def test_packed_factor_of_an_indefinite_matrix(place):
    M = spd(300)
    M[place, place] = -1.0
    assert _parts.solve_packed(M, np.ones(300)) is None


# --- Conjugate gradients -----------------------------------------------------------------------


def test_conjugate_gradients_end_after_as_many_steps_as_eigenvalues():
    Q = np.linalg.qr(rng.standard_normal((30, 30)))[0]
    A = (Q * np.repeat([1.0, 2.0, 5.0], 10)) @ Q.T
    right = rng.standard_normal(30)
    x, steps = _parts.solve_by_gradients(A, right, np.ones(30), 100, 1e-11)
    assert steps == 3
    np.testing.assert_allclose(x, np.linalg.solve(A, right), rtol=1e-9, atol=1e-12)


def test_a_perfect_preconditioner_needs_one_step():
    diagonal, right = np.geomspace(1e-6, 1e6, 25), rng.standard_normal(25)
    x, steps = _parts.solve_by_gradients(np.diag(diagonal), right, diagonal, 100, 1e-9)
    assert steps == 1
    np.testing.assert_allclose(x, right / diagonal, rtol=1e-10)


def test_conjugate_gradients_fall_within_their_bound():
    """The classical bound on the error in A's norm, at every number of steps."""
    A, right = spd(80, condition=100.0), rng.standard_normal(80)
    solution = np.linalg.solve(A, right)
    rate = (np.sqrt(100.0) - 1) / (np.sqrt(100.0) + 1)
    whole = np.sqrt(solution @ A @ solution)
    for most in (1, 5, 20, 60):
        x, steps = _parts.solve_by_gradients(A, right, np.ones(80), most, 0.0)
        assert steps == most
        assert np.sqrt((x - solution) @ A @ (x - solution)) <= 2 * rate**most * whole


def test_conjugate_gradients_stop_at_negative_curvature():
    A, right = np.diag([1.0, 2.0, -3.0]), np.array([0.1, 0.1, 5.0])
    x, steps = _parts.solve_by_gradients(A, right, np.ones(3), 10, 1e-12)
    assert steps == 0
    np.testing.assert_array_equal(x, 0.0)
    x, steps = _parts.solve_by_gradients(A, np.zeros(3), np.ones(3), 10, 1e-12)
    assert steps == 0

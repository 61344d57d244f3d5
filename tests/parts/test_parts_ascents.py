"""Ascents on the hinge's dual, a box with one equation, against LIBSVM and SciPy."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from sklearn.svm import SVC

from clearning import _parts

GOAL = 1e-9


class Problem:
    """Rows with a label, a weight and an offset each, and the kernel of their scaled products."""

    def __init__(self, seed=0, n=60, p=8, offset=0.0, zero_weights=False):
        rng = np.random.default_rng(seed)
        self.X = rng.standard_normal((n, p)) * (rng.random((n, p)) < 0.7)
        self.y = np.where(self.X[:, 0] + rng.standard_normal(n) > 0.3, 1.0, -1.0)
        self.weight = rng.random(n)
        if zero_weights:
            self.weight[::5] = 0.0
        self.weight /= self.weight.sum()
        self.offset = offset * rng.standard_normal(n)
        self.factor = rng.choice([0.5, 1.0, 2.0], p)
        self.K = np.asfortranarray((self.X / self.factor) @ self.X.T)

    def samples(self):
        return self.y, self.weight, self.offset

    def by_blocks(self, ridge, intercept, goal=GOAL, most=100_000):
        return _parts.block_ascent(
            self.K, *self.samples(), np.atleast_1d(ridge), goal, most, intercept
        )

    def by_rows(self, ridge, intercept, goal=GOAL, most=200_000):
        S = sp.csc_array(self.X)
        parts = S.data, S.indices.astype(np.int32), S.indptr.astype(np.int32)
        return _parts.row_ascent(
            *parts, *self.samples(), np.atleast_1d(ridge), self.factor, goal, most, intercept
        )

    def dual(self, s, ridge):
        """What is minimised: s'Ks / (2 ridge) + offset's − Σ|s|."""
        return s @ self.K @ s / (2 * ridge) + self.offset @ s - np.abs(s).sum()

    def primal(self, s, a, ridge):
        form = self.K @ s / ridge
        margins = self.y * (self.offset + form + a)
        return self.weight @ np.maximum(0.0, 1.0 - margins) + 0.5 * s @ form

    def by_scipy(self, ridge, intercept):
        boxes = [(0.0, w) if yi > 0 else (-w, 0.0) for yi, w in zip(self.y, self.weight)]

        def value(s):
            gradient = self.K @ s / ridge + self.offset - self.y
            return s @ self.K @ s / (2 * ridge) + (self.offset - self.y) @ s, gradient

        start, options = np.zeros(len(boxes)), {"maxiter": 5000, "ftol": 1e-15}
        rule = {"type": "eq", "fun": np.sum, "jac": np.ones_like}
        method = {"method": "SLSQP", "constraints": rule} if intercept else {"method": "L-BFGS-B"}
        return minimize(value, start, jac=True, bounds=boxes, options=options, **method).fun


def assert_solves(problem, answer, ridge, intercept, goal=GOAL):
    s, y, w = answer["s"], problem.y, problem.weight
    assert np.all(y * s >= 0.0)
    assert np.all(y * s <= w)
    if intercept:
        assert abs(s.sum()) < 1e-13
    else:
        assert answer["intercept"] == 0.0
    residual = problem.offset + problem.K @ s / ridge - y
    np.testing.assert_allclose(answer["residual"], residual, atol=1e-10)
    gap = problem.primal(s, answer["intercept"], ridge) + problem.dual(s, ridge)
    np.testing.assert_allclose(answer["gap"], gap, atol=1e-12)
    assert answer["gap"] <= goal


either_way = pytest.mark.parametrize("way", [Problem.by_blocks, Problem.by_rows])
either_intercept = pytest.mark.parametrize("intercept", [True, False])


@either_way
@either_intercept
@pytest.mark.parametrize("ridge", [0.003, 0.1])
@pytest.mark.parametrize("offset", [0.0, 0.5])
def test_against_scipy(way, ridge, intercept, offset):
    problem = Problem(n=40, offset=offset)
    answer = way(problem, ridge, intercept)
    assert_solves(problem, answer, ridge, intercept)
    theirs = problem.by_scipy(ridge, intercept)
    assert problem.dual(answer["s"], ridge) == pytest.approx(theirs, abs=1e-7)


@either_way
@pytest.mark.parametrize("seed", range(4))
def test_against_libsvm(way, seed):
    problem, ridge = Problem(seed, n=150, zero_weights=True), 0.02
    answer = way(problem, ridge, True)
    assert_solves(problem, answer, ridge, True)
    kept = problem.weight > 0
    K = problem.K[np.ix_(kept, kept)]
    svc = SVC(kernel="precomputed", C=1.0, tol=1e-9)
    svc.fit(K, problem.y[kept], sample_weight=problem.weight[kept] / ridge)
    s = np.zeros(len(problem.y))
    s[np.flatnonzero(kept)[svc.support_]] = ridge * svc.dual_coef_[0]
    dual = problem.dual(answer["s"], ridge)
    assert dual == pytest.approx(problem.dual(s, ridge), abs=1e-8)
    np.testing.assert_allclose(
        problem.K @ answer["s"] / ridge + answer["intercept"],
        problem.K @ s / ridge + svc.intercept_[0],
        atol=1e-3,
    )


@either_way
@either_intercept
def test_one_penalty_is_the_start_of_the_next(way, intercept):
    problem = Problem(n=80)
    answer = way(problem, np.array([0.5, 0.1, 0.02]), intercept)
    assert_solves(problem, answer, 0.02, intercept)


@either_way
@either_intercept
def test_a_solve_that_ends_early_is_feasible_and_says_how_far_it_came(way, intercept):
    problem = Problem(n=80)
    answer = way(problem, 1e-3, intercept, goal=0.0, most=1)
    assert_solves(problem, answer, 1e-3, intercept, goal=np.inf)
    assert answer["gap"] > 1e-6


@either_intercept
def test_more_samples_than_a_block_holds(intercept):
    problem = Problem(n=700)
    answer = problem.by_blocks(0.01, intercept, goal=1e-7)
    assert answer["rounds"] > 1
    assert_solves(problem, answer, 0.01, intercept, goal=1e-7)


@either_way
def test_equal_samples_with_unlike_labels(way):
    """Their pair is flat: no curvature along its exchange."""
    problem = Problem(n=40)
    problem.X[1::2] = problem.X[::2]
    problem.y[::2], problem.y[1::2] = 1.0, -1.0
    problem.K = np.asfortranarray((problem.X / problem.factor) @ problem.X.T)
    assert_solves(problem, way(problem, 0.1, True, goal=1e-8), 0.1, True, goal=1e-8)


def test_rows_carry_their_coefficients():
    problem = Problem()
    answer = problem.by_rows(0.05, True)
    expected = (problem.X.T @ answer["s"]) / (0.05 * problem.factor)
    np.testing.assert_allclose(answer["b"], expected, atol=1e-12)

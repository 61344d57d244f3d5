"""The four ways to minimise a model plus the penalty, on random models, against SciPy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize

from clearning import _parts


@dataclass
class Model:
    """e'(Xd + a) + (Xd + a)'H(Xd + a) / 2 + Σ l1|b| + ridge b²/2, from b0 on: d = b − b0."""

    X: np.ndarray
    e: np.ndarray
    h: np.ndarray
    b0: np.ndarray
    l1: np.ndarray
    ridge: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    intercept: bool = True

    def smooth(self, b, a):
        change = self.X @ (b - self.b0) + a
        slope = self.e + self.h * change
        value = self.e @ change + 0.5 * change @ (self.h * change) + 0.5 * self.ridge @ b**2
        return value, self.X.T @ slope + self.ridge * b, slope.sum()

    def value(self, b, a):
        return self.smooth(b, a)[0] + self.l1 @ np.abs(b)

    def by_scipy(self):
        """L-BFGS-B on the two signs of every coefficient, and the intercept."""
        p = len(self.b0)

        def split(x):
            value, gradient, shift = self.smooth(x[:p] - x[p : 2 * p], x[-1])
            slope = np.concatenate([gradient + self.l1, self.l1 - gradient, [shift]])
            return value + self.l1 @ (x[:p] + x[p : 2 * p]), slope

        free = [(None, None) if self.intercept else (0.0, 0.0)]
        boxes = [(0.0, u) for u in self.upper] + [(0.0, -low) for low in self.lower] + free
        start = np.concatenate([np.maximum(self.b0, 0), np.maximum(-self.b0, 0), [0.0]])
        options = {"maxiter": 20000, "maxfun": 200000, "ftol": 1e-16, "gtol": 1e-10, "maxcor": 40}
        x = minimize(split, start, jac=True, method="L-BFGS-B", bounds=boxes, options=options).x
        return x[:p] - x[p : 2 * p], x[-1]

    def centred_gram(self):
        """Second derivatives once the intercept takes its best value, and the columns' means."""
        mean = self.X.T @ self.h / self.h.sum() if self.intercept else np.zeros(self.X.shape[1])
        Z = self.X - mean
        return np.asfortranarray(Z.T @ (self.h[:, None] * Z)), mean

    def inner(self, allowed=1e-9):
        gradient = self.X.T @ self.e + self.ridge * self.b0
        return _parts.inner_problem(
            self.b0, gradient, self.l1, self.ridge, self.lower, self.upper, allowed
        )

    def moved_to(self, b, a):
        """The same model seen from another point."""
        e = self.e + self.h * (self.X @ (b - self.b0) + a)
        return Model(
            self.X, e, self.h, b, self.l1, self.ridge, self.lower, self.upper, self.intercept
        )


def random_model(seed, n=60, p=12, l1=0.3, ridge=0.2, correlation=0.0, intercept=True, zeros=0.5):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) + correlation * rng.standard_normal((n, 1))
    X *= rng.random(X.shape) < zeros if zeros < 1 else 1.0
    h = rng.random(n) * (rng.random(n) < 0.8)
    e = rng.standard_normal(n)
    if intercept:
        e -= e.mean()
    b0 = rng.standard_normal(p) * (rng.random(p) < 0.5)
    bounds = rng.choice([0.1, 1.0, np.inf], (2, p))
    l1 = l1 * n * rng.choice([0.0, 0.1, 1.0], p) * 0.2
    b0 = np.clip(b0, -bounds[0], bounds[1])
    ridges = np.full(p, ridge)
    return Model(X, e, h, b0, l1, ridges, -bounds[0], bounds[1], intercept)


def assert_minimises(model, b, a, accuracy=1e-9):
    theirs_b, theirs_a = model.by_scipy()
    assert np.all(model.lower <= b)
    assert np.all(b <= model.upper)
    assert model.value(b, a) <= model.value(theirs_b, theirs_a) + accuracy
    np.testing.assert_allclose(b, theirs_b, atol=2e-5)
    np.testing.assert_allclose(a, theirs_a, atol=2e-5)


def column_form(X):
    S = sp.csc_array(X)
    return _parts.SparseDesign(
        S.data, S.indices.astype(np.int32), S.indptr.astype(np.int32), X.shape[0]
    )


FORMS = {"dense": np.asfortranarray, "sparse": column_form}
either_form = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())
either_intercept = pytest.mark.parametrize("intercept", [True, False])


@either_intercept
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("correlation", [0.0, 5.0], ids=["loose", "tight"])
@pytest.mark.parametrize("crawls", [False, True], ids=["descent first", "blocks alone"])
def test_gram_descent(seed, correlation, intercept, crawls):
    """Descent alone, and where columns resemble each other second-order steps on their block."""
    model = random_model(seed, p=20, correlation=correlation, intercept=intercept, zeros=1.0)
    gram, mean = model.centred_gram()
    q = model.inner()
    _parts.GramDescent(crawls=crawls).solve(q, gram, 1.0)
    gradient = model.X.T @ model.e + gram @ (q.b - model.b0) + model.ridge * q.b
    np.testing.assert_allclose(q.g, gradient, atol=1e-8)
    assert q.worst() <= 1.0 + 1e-9
    assert_minimises(model, q.b, -mean @ (q.b - model.b0))


def test_gram_descent_keeps_its_factor_between_models():
    """The same matrix under other gradients, as from step to step."""
    descent = _parts.GramDescent()
    first = random_model(3, p=20, correlation=5.0, zeros=1.0)
    gram, mean = first.centred_gram()
    for seed in range(4):
        model = random_model(3, p=20, correlation=5.0, zeros=1.0)
        model.e = model.e + 0.3 * np.random.default_rng(seed).standard_normal(len(model.e))
        model.e -= model.e.mean()
        q = model.inner()
        descent.solve(q, gram, 1.0)
        assert_minimises(model, q.b, -mean @ (q.b - model.b0))


def test_gram_descent_keeps_its_factor_beside_a_ridge_that_falls():
    """The same matrix along a path: what an old factor leaves is seen and solved."""
    descent = _parts.GramDescent(crawls=True)
    for ridge in 0.5 * 0.97 ** np.arange(12):
        model = random_model(3, p=20, correlation=5.0, zeros=1.0, ridge=ridge)
        gram, _ = model.centred_gram()
        q, anew = model.inner(), model.inner()
        descent.solve(q, gram, 1.0)
        _parts.GramDescent(crawls=True).solve(anew, gram, 1.0)
        assert q.worst() <= 1.0 + 1e-9
        np.testing.assert_allclose(q.b, anew.b, atol=1e-8)
        gradient = model.X.T @ model.e + gram @ (q.b - model.b0) + model.ridge * q.b
        np.testing.assert_allclose(q.g, gradient, atol=1e-8)


@pytest.mark.parametrize("seed", range(4))
def test_gram_descent_ends_where_it_cannot_be_exact(seed):
    """After some sweeps rounds take second-order steps, of which there are 20 a column and 200."""
    model = random_model(seed, p=3, correlation=5.0, zeros=1.0)
    gram, mean = model.centred_gram()
    q = model.inner(allowed=1e-40)
    assert 1 < _parts.GramDescent().solve(q, gram, 1.0) < 280
    assert_minimises(model, q.b, -mean @ (q.b - model.b0))


@either_form
@either_intercept
@pytest.mark.parametrize("seed", range(4))
def test_residual_descent(seed, intercept, form):
    """A few sweeps a call, so several calls, each from where the last one ended."""
    start = model = random_model(seed, intercept=intercept)
    total = 0.0
    for _ in range(30):
        q = model.inner()
        shift = _parts.residual_descent(form(model.X), q, model.e, model.h, intercept, 1.0)
        assert model.value(q.b, shift) <= model.value(model.b0, 0.0) + 1e-12
        model, total = model.moved_to(q.b, shift), total + shift
    assert_minimises(start, model.b0, total)


@either_form
@either_intercept
@pytest.mark.parametrize("ridge", [1e-3, 1.0])
def test_ridge_descent(ridge, intercept, form):
    model = random_model(0, l1=0.0, ridge=ridge, intercept=intercept)
    model.lower, model.upper = np.full((2, 12), np.inf) * [[-1], [1]]
    gram, mean = model.centred_gram()
    q = model.inner(allowed=1e-10)
    shift = _parts.ridge_descent(form(model.X), q, model.h, intercept, 1.0)
    right = -(model.X.T @ model.e + ridge * model.b0)
    step = np.linalg.solve(gram + ridge * np.eye(12), right)
    np.testing.assert_allclose(q.b - model.b0, step, atol=1e-8)
    np.testing.assert_allclose(shift, -mean @ step, atol=1e-8)


def test_ridge_descent_stays_where_all_is_well():
    model = random_model(0, l1=0.0)
    q = model.inner(allowed=1e9)
    assert _parts.ridge_descent(np.asfortranarray(model.X), q, model.h, True, 1.0) == 0.0
    np.testing.assert_array_equal(q.b, model.b0)


@pytest.mark.parametrize("centred", [True, False])
@pytest.mark.parametrize("first", [0, 3, 12])
@either_form
def test_weighted_gram(form, first, centred):
    """As a whole, and when its last columns came later."""
    model = random_model(1)
    columns = np.random.default_rng(0).permutation(12)
    mean = model.X.T @ model.h / model.h.sum() if centred else np.zeros(12)
    found = _parts.weighted_gram(
        form(model.X), columns.tolist(), first, model.h, mean[columns], model.h.sum()
    )
    Z = model.X - mean
    expected = (Z.T @ (model.h[:, None] * Z))[np.ix_(columns, columns)]
    np.testing.assert_allclose(found.reshape(12, 12), expected, atol=1e-12)


# --- Kernel ridge ------------------------------------------------------------------------------


def kernel_matrix(n, gamma=0.3, seed=0):
    P = np.random.default_rng(seed).standard_normal((n, 3))
    return np.exp(-gamma * ((P[:, None] - P[None]) ** 2).sum(-1))


@either_intercept
@pytest.mark.parametrize("ridge", [1e-4, 0.1])
@pytest.mark.parametrize("curved", [1.0, 0.4, 0.0])
def test_kernel_ridge_step(curved, ridge, intercept):
    """(ridge I + H K) β + h a = h∘Kβ0 − e, and derivatives that sum to zero with an intercept."""
    rng, n = np.random.default_rng(1), 90
    K = kernel_matrix(n)
    h = rng.random(n) / n * (rng.random(n) < curved)
    e, beta0 = rng.standard_normal(n) / n, rng.standard_normal(n)
    if intercept:
        e -= e.mean()
    form = K @ beta0
    beta, shift = _parts.kernel_ridge_step(np.asfortranarray(K), form, e, h, ridge, intercept)
    left = np.block([[ridge * np.eye(n) + h[:, None] * K, h[:, None]], [(h @ K)[None], h.sum()]])
    right = np.append(h * form - e, h @ form - e.sum())
    if intercept and curved > 0.0:
        solution = np.linalg.solve(left, right)
    else:
        solution = np.append(np.linalg.solve(left[:n, :n], right[:n]), 0.0)
    scale = np.abs(K @ solution[:n]).max()
    np.testing.assert_allclose(K @ beta, K @ solution[:n], atol=1e-9 * scale)
    np.testing.assert_allclose(shift, solution[n], atol=1e-9 * scale)


def test_kernel_ridge_step_across_panels_of_the_factor():
    rng, n = np.random.default_rng(2), 530
    K = kernel_matrix(n, gamma=2.0)
    h, e = rng.random(n) / n, rng.standard_normal(n) / n
    beta, _ = _parts.kernel_ridge_step(np.asfortranarray(K), np.zeros(n), e, h, 1e-3, False)
    expected = np.linalg.solve(1e-3 * np.eye(n) + h[:, None] * K, -e)
    np.testing.assert_allclose(beta, expected, atol=1e-9 * np.abs(expected).max())


def test_kernel_ridge_step_without_a_ridge_on_a_singular_kernel_is_refused():
    K = np.zeros((5, 5))
    ones = np.ones(5)
    assert _parts.kernel_ridge_step(np.asfortranarray(K), 0 * ones, ones, ones, 0.0, False) is None


def test_extrapolation_finds_the_limit_of_a_linear_iteration():
    """Five steps of an iteration in four dimensions tell where it ends."""
    rng = np.random.default_rng(0)
    M = rng.standard_normal((4, 4))
    M *= 0.9 / np.abs(np.linalg.eigvals(M)).max()
    limit = rng.standard_normal(4)
    iterates = [rng.standard_normal(4)]
    for _ in range(5):
        iterates.append(limit + M @ (iterates[-1] - limit))
    found, b, residual, shift = _parts.extrapolate([list(b) for b in iterates])
    assert found
    np.testing.assert_allclose(b, limit, atol=1e-3)
    assert np.abs(iterates[-1] - limit).max() > 0.1
    np.testing.assert_array_equal(b, residual)
    assert shift == pytest.approx(b[0])


def test_extrapolation_of_a_sequence_that_rests():
    found, *_ = _parts.extrapolate([[1.0, 2.0]] * 6)
    assert not found

"""The class core's parts: losses and penalties by finite differences, descent, dual points."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import approx_fprime, minimize
from scipy.special import log_softmax

from clearning import _parts
from clearning.losses import MultiCoherence

M = 4
RHO, U, KAPPA = 0.7, 0.8, 1.3


def draw(seed, n=30, p=5):
    rng = np.random.default_rng(seed)
    weight = rng.uniform(0.2, 1.0, n)
    return rng, rng.integers(0, M, n), weight / weight.sum(), rng.standard_normal((n, p))


def held(labels, weight):
    return _parts.ClassSamples(RHO, U, KAPPA, labels.astype(float), weight, M)


def by_class(matrix):
    """Samples by classes, as the core stores them: class after class."""
    return np.ravel(matrix, order="F").copy()


def as_rows(flat):
    return flat.reshape(M, -1).T


# --- The loss ---------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_loss_and_gradient_are_the_python_loss(seed):
    rng, labels, weight, _ = draw(seed)
    score = 3 * rng.standard_normal((len(labels), M))
    value, shares, gradient = held(labels, weight).evaluate(by_class(score))
    loss = MultiCoherence(RHO, U)
    np.testing.assert_allclose(value, KAPPA * weight @ loss.value(score, labels), rtol=1e-13)
    expected = KAPPA * weight[:, None] * loss.gradient(score, labels)
    np.testing.assert_allclose(as_rows(gradient), expected, atol=1e-15)
    np.testing.assert_allclose(as_rows(shares).sum(axis=1), 1.0, rtol=1e-14)


def test_curvature_is_the_gradients_difference():
    rng, labels, weight, _ = draw(1)
    samples = held(labels, weight)
    score, along = by_class(rng.standard_normal((30, M))), by_class(rng.standard_normal((30, M)))
    step = 1e-6
    shares = samples.evaluate(score)[1]
    ahead, behind = (samples.evaluate(score + side * along)[2] for side in (step, -step))
    difference = (ahead - behind) / (2 * step)
    np.testing.assert_allclose(samples.curve(shares, along), difference, atol=1e-9)


def forms(X):
    """The same columns, dense and sparse, as the core takes them."""
    columns = sparse.csc_array(X)
    return {
        "dense": (np.asfortranarray(X),),
        "sparse": (columns.data, columns.indices, columns.indptr, len(X)),
    }


def bends(s, weight):
    """The loss's second derivatives in the scores of each sample."""
    return weight[:, None, None] * (s[:, :, None] * np.eye(M) - s[:, :, None] * s[:, None, :])


PAIRS = [(j, k) for j in range(5) for k in range(M) if (j + k) % 3]


@pytest.mark.parametrize("form", ["dense", "sparse"])
@pytest.mark.parametrize("first", [0, 7])
def test_joint_gram_is_the_hessian_in_coefficients_and_intercepts(form, first):
    """Of some coefficients; from `first` on it is made later, as when a set grows."""
    rng, _, weight, X = draw(2)
    X *= rng.random(X.shape) < 0.6
    s = rng.dirichlet(np.ones(M), len(X))
    place, klass = map(list, zip(*PAIRS))
    bend = bends(s, weight)
    expected = [[X[:, j] @ (bend[:, k, m] * X[:, i]) for i, m in PAIRS] for j, k in PAIRS]
    given = *forms(X)[form], place, klass, first, by_class(s), weight
    above = np.triu(_parts.joint_gram(*given).reshape(len(PAIRS), -1, order="F"))
    np.testing.assert_allclose(above, np.triu(expected), atol=1e-15)
    cross = [X[:, j] @ bend[:, k] for j, k in PAIRS[first:]]
    found = _parts.class_cross(*given, M).reshape(-1, M)
    np.testing.assert_allclose(found, cross, atol=1e-15)


@pytest.mark.parametrize(("unit", "error"), [(1.0, 1e-5), (1e-20, 1e-12)])
def test_a_large_joint_gram_is_made_in_single_precision_where_that_holds_it(unit, error):
    rng = np.random.default_rng(9)
    n, p = 4000, 15
    X, s = unit * rng.standard_normal((n, p)), rng.dirichlet(np.ones(M), n)
    weight = np.full(n, 1 / n)
    place, klass = np.repeat(np.arange(p), M).tolist(), np.tile(np.arange(M), p).tolist()
    flat = _parts.joint_gram(*forms(X)["dense"], place, klass, 0, by_class(s), weight)
    expected = np.einsum("ij,ikl,ir->jkrl", X, bends(s, weight), X).reshape(p * M, -1)
    above = np.triu(flat.reshape(p * M, -1, order="F"))
    np.testing.assert_allclose(above, np.triu(expected), atol=error * expected.max())


# --- The penalties ----------------------------------------------------------------------------

L1, RIDGE = 0.4, 0.3
GROUP_OF = [0, 0, 1, 2, 2]
FEATURES = [0, 1, 2, 3, 4]


def elementwise(lower=-np.inf, upper=np.inf):
    bounds = np.full(5 * M, float(lower)), np.full(5 * M, float(upper))
    return _parts.Elementwise(M, np.array([1.0, 0.5, 2, 1, 1]), np.ones(5), *bounds)


def grouped():
    return _parts.Grouped(M, np.array([1.0, 0.5, 2.0]), np.ones(3), [[0, 1], [2], [3, 4]], GROUP_OF)


PENALTIES = {"elementwise": elementwise, "grouped": grouped}


@pytest.fixture(params=PENALTIES)
def penalty(request):
    return PENALTIES[request.param]()


def test_slope_and_bend_of_a_penalty_are_its_differences(penalty):
    z = np.random.default_rng(3).uniform(0.2, 1.0, 5 * M) * np.tile([1, -1], 10)
    slope = approx_fprime(z, lambda b: penalty.value(L1, RIDGE, FEATURES, b), 1e-7)
    np.testing.assert_allclose(penalty.slope(L1, RIDGE, FEATURES, z), slope, atol=1e-6)
    along = np.random.default_rng(4).standard_normal(5 * M)
    ahead, behind = (penalty.slope(L1, RIDGE, FEATURES, z + h * along) for h in (1e-6, -1e-6))
    bend = penalty.bend(L1, RIDGE, FEATURES, z, along)
    np.testing.assert_allclose(bend, (ahead - behind) / 2e-6, atol=1e-8)
    matrix = [
        [penalty.entry(L1, RIDGE, FEATURES, z, t, o) for t in range(5 * M)] for o in range(5 * M)
    ]
    np.testing.assert_allclose(matrix @ along, bend, atol=1e-13)


def test_gap_of_a_penalty_is_fenchel_youngs(penalty):
    """Never negative, zero where the dual point is minus a slope, and scaled to be finite."""
    rng = np.random.default_rng(5)
    length = np.ones(5)
    for _ in range(50):
        b, v = rng.standard_normal(5 * M), rng.standard_normal(5 * M)
        assert penalty.gap(L1, RIDGE, v, length, 1.0, b) >= -1e-14
    slope = penalty.slope(L1, RIDGE, FEATURES, b)
    assert abs(penalty.gap(L1, RIDGE, -slope, length, 1.0, b)) < 1e-14
    scale = penalty.feasible_scale(L1, 0.0, v, length)
    assert 0 < scale < 1
    assert np.isfinite(penalty.gap(L1, 0.0, v, length, scale, b))
    assert penalty.gap(L1, 0.0, v, length, 1.01 * scale, b) == np.inf


def test_a_step_is_confined_to_the_side_where_it_began():
    z = np.tile([1.0, -1.0, 0.5, -0.5], 5)
    x = z - np.tile([2.0, -0.5, 1.0, 0.5], 5)
    any_left, inside = elementwise(-0.8).confine(L1, FEATURES, z, x)
    assert any_left
    np.testing.assert_array_equal(inside, np.tile([0.0, -0.5, 0.0, -0.8], 5))
    assert elementwise(-0.8).room(L1, FEATURES, z, x) == 0.5
    through = np.r_[-z[: 2 * M], z[2 * M :]]
    any_left, inside = grouped().confine(L1, FEATURES, z, through)
    assert any_left
    np.testing.assert_array_equal(inside, np.r_[np.zeros(2 * M), z[2 * M :]])


# --- Descent ----------------------------------------------------------------------------------


def test_descent_finds_the_models_minimum(penalty):
    rng = np.random.default_rng(6)
    root = rng.standard_normal((30, 5 * M))
    matrix, slope = np.asfortranarray(root.T @ root / 30), 0.6 * rng.standard_normal(5 * M)
    b = _parts.class_descent(penalty, matrix, slope, L1, RIDGE, 200)
    assert 0 < np.count_nonzero(b) < b.size
    assert penalty.violation(L1, RIDGE, FEATURES, b, slope + matrix @ b) < 1e-9

    def objective(x):
        return slope @ x + 0.5 * x @ matrix @ x + penalty.value(L1, RIDGE, FEATURES, x)

    found = minimize(objective, b + 1e-3, method="L-BFGS-B", options={"maxiter": 500})
    assert objective(b) <= found.fun + 1e-12


def test_groups_are_straight_along_themselves():
    """Factors of one class at a time with the groups' matrix solve the system of all classes."""
    rng = np.random.default_rng(7)
    root, z, rest = (rng.standard_normal(size) for size in ((9, 5), 5 * M, 5 * M))
    gram, penalty = np.asfortranarray(root.T @ root), grouped()
    found = _parts.straight_solve(penalty, L1, FEATURES, z, gram, rest)
    back = np.kron(gram, np.eye(M)) @ found + penalty.bend(L1, 0.0, FEATURES, z, found)
    np.testing.assert_allclose(back, rest, atol=1e-7)


# --- Dual points ------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_a_dual_point_is_made_feasible(seed):
    rng, labels, weight, _ = draw(seed)
    samples = held(labels, weight)
    own = np.eye(M)[labels]
    wild = KAPPA * weight[:, None] * (rng.dirichlet(np.ones(M), 30) + 0.3 * own - own)
    wild -= 0.1 * KAPPA * weight[:, None] * rng.random((30, M))
    even, flat = samples.feasible(by_class(wild))
    assert even
    s = as_rows(flat) / (KAPPA * weight[:, None]) + own
    assert s.min() > -1e-13
    np.testing.assert_allclose(s.sum(axis=1), 1.0, atol=1e-12)
    np.testing.assert_allclose(as_rows(flat).sum(axis=0), 0.0, atol=1e-14)


@pytest.mark.parametrize("apart", [1.0, 1e3, 1e6])
def test_divergence_is_kullback_and_leiblers(apart):
    """Also where weights are too small to be written."""
    rng, labels, weight, _ = draw(8)
    samples, own = held(labels, weight), np.eye(M)[labels]
    score, t = apart * rng.standard_normal((30, M)), rng.dirichlet(np.ones(M), 30)
    dual = by_class(KAPPA * weight[:, None] * (t - own))
    log_s = log_softmax((score + U * (1 - own)) / RHO, axis=1)
    expected = KAPPA * RHO * weight @ (t * (np.log(t) - log_s)).sum(axis=1)
    np.testing.assert_allclose(samples.divergence(by_class(score), dual, 1.0), expected, rtol=1e-12)
    assert samples.divergence(by_class(score), dual, 5.0) == np.inf  # out of the simplex

"""The coherence function of many classes against mpmath, and the theory behind it."""

import doctest

import numpy as np
import pytest
from scipy.optimize import approx_fprime, minimize
from scipy.special import softmax

from clearning import _multi_coherence
from clearning.losses import Coherence, Logistic, MultiCoherence

mp = pytest.importorskip("mpmath", reason="mpmath is the oracle of these tests")
mpf = mp.mpf
mp.mp.dps = 60
pytestmark = pytest.mark.filterwarnings("error")

TEMPERATURES = [1e-8, 1e-6, 1e-4, 1e-2, 0.3, 1.0, 20.0, 1e4, 1e8]
MARGINS = [0.0, 0.7, 1.0]


def exact_weights(loss, g, c):
    """The dual weights, in arbitrary precision."""
    lifted = [(mpf(x) + (0 if j == c else mpf(loss.u))) / mpf(loss.rho) for j, x in enumerate(g)]
    top = max(lifted)
    parts = [mp.exp(x - top) for x in lifted]
    return [part / mp.fsum(parts) for part in parts]


def exact_value(loss, g, c):
    others = [(mpf(loss.u) + mpf(x) - mpf(g[c])) / mpf(loss.rho) for j, x in enumerate(g) if j != c]
    top = max([*others, mpf(0)])
    total = mp.exp(-top) + mp.fsum(mp.exp(x - top) for x in others)
    # log of 1 + something small, without losing it
    log = mp.log1p(mp.fsum(mp.exp(x) for x in others)) if top == 0 else top + mp.log(total)
    return mpf(loss.rho) * log


def exact_probabilities(loss, g):
    top = max(mpf(x) for x in g)
    a = [mp.exp((mpf(x) - top) / mpf(loss.rho)) for x in g]
    big = mp.exp(mpf(loss.u) / mpf(loss.rho))
    rests = [mp.fsum(a[:k] + a[k + 1 :]) for k in range(len(a))]
    odds = [x * (x + big * rest) for x, rest in zip(a, rests)]
    return [odd / mp.fsum(odds) for odd in odds]


def assert_exact(actual, exact):
    for value, wanted in zip(np.ravel(actual), exact, strict=True):
        error = abs(mpf(float(value)) - wanted)
        assert error <= 1e-12 * abs(wanted) or (abs(wanted) < 1e-290 and error < 1e-290)


def random_scores(rng, rho, m):
    """Scores on the scale of the margin, of the temperature, and where the two cancel."""
    spread = rho * rng.normal(size=m) * 10.0
    return [rng.normal(size=m), spread, spread - rng.integers(0, 2, size=m), 5.0 * spread + 1.0]


@pytest.mark.parametrize("rho", TEMPERATURES)
@pytest.mark.parametrize("u", MARGINS)
def test_members_are_exact_at_every_temperature(rho, u):
    loss, rng = MultiCoherence(rho, u), np.random.default_rng(3)
    for m in (2, 3, 7):
        for g in random_scores(rng, rho, m):
            c = int(rng.integers(m))
            weights = exact_weights(loss, g, c)
            assert_exact(loss.weights(g, c), weights)
            own = -mp.fsum(w for j, w in enumerate(weights) if j != c)
            assert_exact(loss.gradient(g, c), [own if j == c else w for j, w in enumerate(weights)])
            assert_exact(loss.value(g, c), [exact_value(loss, g, c)])
            assert_exact(loss.inverse_link(g), exact_probabilities(loss, g))


@pytest.mark.parametrize("rho", [1e-8, 1.0, 1e8])
def test_a_thousand_classes_are_exact(rho):
    loss, rng = MultiCoherence(rho), np.random.default_rng(0)
    g = rng.normal(size=1000) * max(rho, 1.0)
    assert_exact(loss.inverse_link(g), exact_probabilities(loss, g))


@pytest.mark.parametrize("rho", [0.05, 1.0, 30.0])
def test_hessian_product_is_the_gradients_derivative(rho):
    loss, rng = MultiCoherence(rho, scaled=True), np.random.default_rng(1)
    for m in (3, 6):
        g, c, d = rng.normal(size=m), 1, rng.normal(size=m)
        step = 1e-6 * rho
        numeric = (loss.gradient(g + step * d, c) - loss.gradient(g - step * d, c)) / (2 * step)
        np.testing.assert_allclose(loss.hessian_product(g, c, d), numeric, atol=1e-7 / rho)
        slope = approx_fprime(g, lambda x, c=c: float(loss.value(x, c)), 1e-7 * rho)
        np.testing.assert_allclose(loss.gradient(g, c), slope, atol=2e-6)


def test_hessian_product_keeps_digits_where_one_class_has_all_the_weight():
    loss, g, d = MultiCoherence(1.0, 0.0), np.array([40.0, 0.0, 1.0]), np.array([1.0, 2.0, -1.0])
    s = exact_weights(loss, g, 0)
    mean = mp.fsum(a * mpf(b) for a, b in zip(s, d))
    exact = [a * mp.fsum(w * (mpf(b) - mpf(x)) for w, x in zip(s, d)) for a, b in zip(s, d)]
    assert mean > 0
    assert_exact(loss.hessian_product(g, 0, d), exact)


def test_conjugate_is_attained_at_the_weights_and_bounds_everywhere_else():
    loss, rng = MultiCoherence(0.4, 1.3, scaled=True), np.random.default_rng(2)
    kappa = loss.scale(4)
    for _ in range(50):
        g, c = rng.normal(size=4), int(rng.integers(4))
        for s, slack in ((loss.weights(g, c), 1e-12), (rng.dirichlet(np.ones(4)), np.inf)):
            young = loss.value(g, c) + loss.conjugate(s, c) - kappa * (s @ g - g[c])
            assert -1e-13 <= young <= slack
    assert loss.conjugate([0.5, 0.6, 0.1], 0) == np.inf
    assert loss.conjugate([1.5, -0.5], 0) == np.inf


@pytest.mark.parametrize("rho", [1e-3, 0.1, 1.0, 50.0])
def test_two_classes_are_the_binary_loss(rho):
    binary, joint = Coherence(rho, 0.8), MultiCoherence(rho, 0.8)
    f = np.linspace(-3, 3, 41)
    g = np.stack([-f / 2, f / 2], axis=1)
    np.testing.assert_allclose(joint.value(g, 1), binary.value(f), rtol=1e-12)
    np.testing.assert_allclose(joint.gradient(g, 1)[:, 1], binary.gradient(f), rtol=1e-10)
    np.testing.assert_allclose(joint.inverse_link(g), binary.probabilities(f), rtol=1e-10)
    eta = np.linspace(0.01, 0.99, 25)
    links = joint.link(np.stack([1 - eta, eta], axis=1))
    np.testing.assert_allclose(links[:, 1] - links[:, 0], binary.link(eta), atol=1e-6)


@pytest.mark.parametrize("rho", [0.02, 0.3, 1.0, 1e3])
@pytest.mark.parametrize("u", MARGINS)
def test_link_minimises_the_expected_loss_and_inverts(rho, u):
    loss, rng = MultiCoherence(rho, u), np.random.default_rng(4)
    for m in (3, 5):
        eta = rng.dirichlet(np.ones(m), size=20)
        g = loss.link(eta)
        np.testing.assert_allclose(g.sum(axis=1), 0.0, atol=1e-9 * max(rho, 1.0))
        np.testing.assert_allclose(loss.inverse_link(g), eta, atol=1e-8)
        for row, scores in zip(eta, g):
            slopes = sum(p * loss.gradient(scores, c) for c, p in enumerate(row))
            np.testing.assert_allclose(slopes, 0.0, atol=1e-7)


def test_link_agrees_with_a_general_optimiser():
    loss, eta = MultiCoherence(0.5, 1.0), np.array([0.5, 0.3, 0.15, 0.05])

    def expected(g):
        return sum(p * loss.value(g, c) for c, p in enumerate(eta))

    found = minimize(expected, np.zeros(4), tol=1e-14).x
    np.testing.assert_allclose(loss.link(eta), found - found.mean(), atol=1e-5)


def test_fisher_consistency_the_likeliest_class_has_the_largest_score():
    rng = np.random.default_rng(5)
    eta = rng.dirichlet(np.ones(4), size=500)
    for rho in (1e-2, 1.0, 1e2):
        g = MultiCoherence(rho).link(eta)
        np.testing.assert_array_equal(g.argmax(axis=1), eta.argmax(axis=1))


def test_limits_in_the_temperature():
    rng = np.random.default_rng(6)
    g, c = rng.normal(size=(200, 5)), rng.integers(5, size=200)
    others = g + 1.0 - g[np.arange(200), c][:, None]
    others[np.arange(200), c] = 0.0
    hinge = others.max(axis=1)
    cold = MultiCoherence(1e-9).value(g, c)
    np.testing.assert_allclose(cold, hinge, atol=1e-8)
    # The hot loss is ρ log m plus the mean of the differences; scaled, it tends to u.
    hot = MultiCoherence(1e7).value(g, c) - 1e7 * np.log(5)
    np.testing.assert_allclose(hot, others.sum(axis=1) / 5, atol=1e-5)
    np.testing.assert_allclose(MultiCoherence(1e9, scaled=True).value(g, c), 1.0, atol=1e-7)


def test_no_margin_is_multinomial_logistic_regression():
    rng = np.random.default_rng(7)
    g = rng.normal(size=(50, 6))
    np.testing.assert_allclose(MultiCoherence(1.0, 0.0).inverse_link(g), softmax(g, axis=1))
    assert MultiCoherence(1.0, 0.0, scaled=True).scale(6) == 1.0
    pair = np.array([0.0, 1.3])
    assert MultiCoherence(1.0, 0.0).value(pair, 1) == pytest.approx(Logistic().value(1.3))


def test_scaled_loss_of_equal_scores_is_the_margin():
    for m in (2, 3, 50):
        assert MultiCoherence(0.3, 1.7, True).value(np.ones(m), 0) == pytest.approx(1.7, rel=1e-14)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("rho", [1e-8, 1e-2, 1.0, 1e4])
def test_probabilities_are_ordered_as_scores_are(dtype, rho):
    rng, loss = np.random.default_rng(8), MultiCoherence(rho)
    m = 6
    blocks = [
        rng.normal(size=(40_000, m)),
        rho * rng.normal(size=(40_000, m)),
        rng.integers(0, 3, size=(20_000, m)) * 0.5,
        1.0 + 1e-15 * rng.integers(-9, 9, size=(20_000, m)),
        rho * 1e-7 * rng.normal(size=(20_000, m)),
    ]
    g = np.concatenate(blocks).astype(dtype)
    eta = loss.inverse_link(g)
    assert eta.dtype == dtype
    assert ((eta >= 0) & (eta <= 1)).all()
    np.testing.assert_allclose(eta.sum(axis=1), 1.0, atol=1e-6 if dtype == np.float32 else 1e-14)
    order = np.argsort(g, axis=1, kind="stable")
    ranked = np.take_along_axis(eta, order, axis=1)
    assert (np.diff(ranked, axis=1) >= 0).all()
    largest = g == g.max(axis=1, keepdims=True)
    rest = np.where(largest, -1.0, eta).max(axis=1)
    assert (np.where(largest, eta, 2.0).min(axis=1) > rest).all()
    # Equal scores have equal probabilities.
    ties = np.diff(np.take_along_axis(g, order, axis=1), axis=1) == 0
    assert (np.diff(ranked, axis=1)[ties] == 0).all()


def test_shapes_and_precisions_are_kept():
    loss, g = MultiCoherence(), np.zeros((4, 2, 3), dtype=np.float32)
    assert loss.value(g, 1).shape == (4, 2)
    assert loss.gradient(g, np.ones((4, 2), dtype=int)).shape == g.shape
    assert loss.inverse_link(g).dtype == np.float32
    assert loss.inverse_link([0.0, 0.0, 0.0, 0.0]).shape == (4,)
    assert isinstance(float(loss.value([0.0, 1.0], 0)), float)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda loss: loss.inverse_link([np.nan, 0.0]), "g must be finite"),
        (lambda loss: loss.inverse_link([1.0]), "at least two on the last axis"),
        (lambda loss: loss.value([0.0, 1.0], 2), "numbers of classes, from 0 to 1"),
        (lambda loss: loss.value([0.0, 1.0], 0.5), "numbers of classes"),
        (lambda loss: loss.link([0.5, 0.6]), "sum to 1"),
        (lambda loss: MultiCoherence(rho=0.0), "rho=0.0 must be a number"),
        (lambda loss: MultiCoherence(u=-1.0), "u=-1.0 must be a number"),
    ],
)
def test_bad_input_gets_one_sentence(call, message):
    with pytest.raises(ValueError, match=message):
        call(MultiCoherence())


def test_docstring_examples():
    assert doctest.testmod(_multi_coherence).failed == 0

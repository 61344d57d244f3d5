"""The losses are exact at every edge: held against mpmath's arbitrary precision."""

import doctest
import pickle
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from clearning import losses
from clearning.losses import (
    CLoss,
    Coherence,
    Exponential,
    Hinge,
    HuberizedHinge,
    Logistic,
    MajorizationLoss,
    SquaredHinge,
    make_loss,
)

mp = pytest.importorskip("mpmath", reason="mpmath is the oracle of these tests")
mpf = mp.mpf

# 60 digits: the closed forms below lose none of them, as they never subtract nearly equal terms.
mp.mp.dps = 60
pytestmark = pytest.mark.filterwarnings("error")

ALL = [
    Coherence(0.7, 1.3),
    Coherence(2.0, 0.0),
    CLoss(0.3, 1.0),
    MajorizationLoss(1.5, 0.0),
    Logistic(),
    Hinge(),
    SquaredHinge(),
    HuberizedHinge(),
    HuberizedHinge(0.5),
    Exponential(),
]
LINKED = [loss for loss in ALL if hasattr(loss, "link")]


def assert_exact(actual, exact):
    """Relative error at most 1e-12; below 1e-290 an absolute error of 1e-300."""
    assert np.isfinite(actual)
    error = abs(mpf(float(actual)) - exact)
    assert error <= 1e-12 * abs(exact) or (abs(exact) < 1e-290 and error <= 1e-300), (
        float(actual),
        mp.nstr(exact, 20),
    )


# The formulas of the paper, in arbitrary precision.
def coherence(rho, u, z):
    return mpf(rho) * mp.log1p(mp.exp((mpf(u) - mpf(z)) / mpf(rho)))


def sigmoid(t):
    return 1 / (1 + mp.exp(-t))


def entropy(s):
    return -(s * mp.log(s) if s else 0) - ((1 - s) * mp.log1p(-s) if s < 1 else 0)


def link(rho, u, eta):
    p, q = mpf(eta), mp.fsub(1, eta, exact=True)
    if p < q:  # the printed root cancels there; the link is odd
        return -_upper_link(rho, u, q, p)
    return _upper_link(rho, u, p, q)


def _upper_link(rho, u, p, q):
    big = mp.exp(mpf(u) / mpf(rho))
    return mpf(rho) * mp.log(((p - q) * big + mp.sqrt((p - q) ** 2 * big**2 + 4 * p * q)) / (2 * q))


def inverse_link(rho, u, f):
    up = 1 + mp.exp((mpf(f) - mpf(u)) / mpf(rho))
    down = 1 + mp.exp(-(mpf(f) + mpf(u)) / mpf(rho))
    return up / (up + down)


rhos = st.floats(-8, 8).map(lambda power: float(10.0**power))
us = st.one_of(st.just(0.0), st.floats(-8, 3).map(lambda power: float(10.0**power)))
etas = st.one_of(
    st.floats(1e-300, 1 - 1e-16),
    st.floats(-300, 0, exclude_max=True).map(lambda power: min(float(10.0**power), 1 - 1e-16)),
    st.floats(-16, -1).map(lambda power: 1.0 - max(10.0**power, 1e-16)),
    st.floats(-1e-6, 1e-6).map(lambda shift: 0.5 + shift),
)


@st.composite
def points(draw):
    """(ρ, u, z), with z anywhere in ±1e6 or within the reach of the bend at ±u."""
    rho, u = draw(rhos), draw(us)
    near = draw(st.sampled_from([-1, 1])) * u + rho * draw(st.floats(-800, 800))
    z = draw(st.one_of(st.floats(-1e6, 1e6), st.just(near)))
    return rho, u, float(np.clip(z, -1e6, 1e6))


EDGES = [
    (rho, u, z)
    for rho in (1e-8, 0.01, 1.0, 1e8)
    for u in (0.0, 1e-8, 1.0, 1e3)
    for z in (-1e6, -1e3, -1.0, -1e-300, 0.0, 1.0, 1.0 + 2**-52, 1e3, 1e6)
]


def check_family(rho, u, z):
    """V, C and L with their derivatives, w₁, w₂ and the inverse link at one point."""
    s = sigmoid((mpf(u) - mpf(z)) / mpf(rho))
    s_minus = sigmoid((mpf(z) - mpf(u)) / mpf(rho))
    at_zero = coherence(rho, u, 0)
    family = [(Coherence(rho, u), mpf(1)), (MajorizationLoss(rho, u), 1 / at_zero)]
    if u > 0:
        family.append((CLoss(rho, u), mpf(u) / at_zero))
    for loss, scale in family:
        assert_exact(loss.value(z), scale * coherence(rho, u, z))
        assert_exact(loss.gradient(z), -scale * s)
        assert_exact(loss.hessian(z), scale * s * s_minus / mpf(rho))
        assert_exact(loss.inverse_link(z), inverse_link(rho, u, z))
        for probability, side in zip(loss.probabilities(z), (-z, z)):
            assert_exact(probability, inverse_link(rho, u, side))
        assert_exact(loss.w1(z), s)
        assert_exact(loss.w2(z), sigmoid((mpf(u) + mpf(z)) / mpf(rho)))
        assert loss.weights(z) == (loss.w1(z), loss.w2(z))


@settings(max_examples=400, deadline=None)
@given(points())
def test_coherence_family_is_exact(point):
    check_family(*point)


@pytest.mark.parametrize("point", EDGES)
def test_coherence_family_is_exact_at_the_edges(point):
    check_family(*point)


@settings(max_examples=400, deadline=None)
@given(rhos, us, etas)
@example(1e-8, 1e3, 1e-300)
@example(1e-8, 1e3, 1 - 1e-16)
@example(1e8, 1e3, 0.5 + 2**-53)
@example(1e-8, 1e3, 0.5 - 2**-54)
@example(1e-8, 0.0, 0.5)
@example(0.05, 1.0, 0.5 + 1e-9)
@example(1.0, 700.0, 0.5 + 1e-9)
def test_link_is_exact(rho, u, eta):
    exact = link(rho, u, eta)
    for loss in (Coherence(rho, u), MajorizationLoss(rho, u)):
        assert_exact(loss.link(eta), exact)
    if u > 0:
        assert_exact(CLoss(rho, u).link(eta), exact)


@settings(max_examples=300, deadline=None)
@given(rhos, us, st.one_of(st.floats(0, 1), etas))
@example(1.0, 1.0, 0.0)
@example(1.0, 1.0, 1.0)
def test_coherence_conjugate_is_exact(rho, u, s):
    exact = -(mpf(u) * mpf(s) + mpf(rho) * entropy(mpf(s)))
    assert_exact(Coherence(rho, u).conjugate(s), exact)


@settings(max_examples=200, deadline=None)
@given(rhos, us.filter(lambda u: u > 0), st.floats(0, 0.9))
def test_closs_conjugate_is_exact(rho, u, fraction):
    loss = CLoss(rho, u)
    s = fraction * loss.scale
    kappa = mpf(u) / coherence(rho, u, 0)
    assert_exact(loss.conjugate(s), -(mpf(u) * mpf(s) + kappa * mpf(rho) * entropy(mpf(s) / kappa)))
    assert loss.conjugate(loss.scale) == -u * loss.scale
    assert loss.conjugate(1.1 * loss.scale) == np.inf


PLAIN = {
    Logistic(): lambda z: mp.log1p(mp.exp(-z)),
    Hinge(): lambda z: max(1 - z, mpf(0)),
    SquaredHinge(): lambda z: max(1 - z, mpf(0)) ** 2,
    HuberizedHinge(): lambda z: _huberised(z, mpf(2)),
    HuberizedHinge(0.1): lambda z: _huberised(z, mpf(0.1)),
    Exponential(): lambda z: mp.exp(-z / 2),
}


def _huberised(z, delta):
    if z > 1:
        return mpf(0)
    return (1 - z) ** 2 / (2 * delta) if z > 1 - delta else 1 - z - delta / 2


@pytest.mark.parametrize("loss", PLAIN, ids=repr)
@settings(max_examples=100, deadline=None)
@given(st.one_of(st.floats(-1e6, 1e6), st.floats(-5, 5)))
@example(1.0)
def test_plain_losses_are_exact(loss, z):
    if loss == Exponential():
        z = max(z, -1400.0)  # beyond this the loss itself is larger than any double
    assert_exact(loss.value(z), PLAIN[loss](mpf(z)))


@pytest.mark.parametrize("loss", ALL, ids=repr)
@settings(max_examples=50, deadline=None)
@given(st.floats(-5, 5).filter(lambda z: all(abs(z - kink) > 1e-3 for kink in (-1.0, 0.5, 1.0))))
def test_derivatives_are_those_of_the_value(loss, z):
    if type(loss) in (Coherence, CLoss, MajorizationLoss):

        def exact(x):
            return mpf(loss.scale) * coherence(loss.rho, loss.u, x)
    else:
        exact = PLAIN.get(loss, lambda x: _huberised(x, mpf(loss.delta)))
    step = mpf(10) ** -18
    slope = (exact(mpf(z) + step) - exact(mpf(z) - step)) / (2 * step)
    curvature = (exact(mpf(z) + step) - 2 * exact(mpf(z)) + exact(mpf(z) - step)) / step**2
    assert loss.gradient(z) == pytest.approx(float(slope), rel=1e-12, abs=1e-15)
    assert loss.hessian(z) == pytest.approx(float(curvature), rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("loss", ALL, ids=repr)
@settings(max_examples=100, deadline=None)
@given(st.floats(-20, 20), st.floats(0, 1))
def test_conjugate_meets_fenchel_and_young(loss, z, s):
    """φ(z) + φ*(−s) ≥ −s z for all z and s, with equality at s = −φ'(z): that is the conjugate."""
    assert loss.value(z) + loss.conjugate(s) >= -s * z - 1e-12 * (1 + abs(z))
    weight = -loss.gradient(z)
    both = loss.value(z) + loss.conjugate(weight)
    assert both == pytest.approx(-weight * z, rel=1e-9, abs=1e-9 * (1 + loss.value(z)))
    assert loss.conjugate(-0.5) == np.inf


@pytest.mark.parametrize("loss", [loss for loss in LINKED if loss != HuberizedHinge(0.5)], ids=repr)
@settings(max_examples=100, deadline=None)
@given(st.floats(1e-6, 1 - 1e-6))
def test_inverse_link_inverts_the_link(loss, eta):
    assert loss.inverse_link(loss.link(eta)) == pytest.approx(eta, rel=1e-9)


def test_limits_of_the_links():
    for loss in (Coherence(0.5, 1.0), Logistic(), Exponential()):
        assert loss.link([0.0, 0.5, 1.0]).tolist() == [-np.inf, 0.0, np.inf]
        assert loss.inverse_link([-np.inf, 0.0, np.inf]).tolist() == [0.0, 0.5, 1.0]
    assert HuberizedHinge(0.5).inverse_link([-2.0, -0.5, 0.0, 0.5, 2.0]).tolist() == [
        0.0,
        0.5,
        0.5,
        0.5,
        1.0,
    ]


def test_which_losses_have_probabilities():
    assert {type(loss).__name__ for loss in ALL if loss.has_link} == {
        "Coherence",
        "CLoss",
        "MajorizationLoss",
        "Logistic",
        "Exponential",
    }
    assert not hasattr(Hinge(), "link")
    with pytest.raises(AttributeError, match="CalibratedMarginClassifier"):
        _ = Hinge().inverse_link


METHODS = ("value", "gradient", "hessian", "conjugate", "link", "inverse_link", "w1", "w2")


@pytest.mark.parametrize(
    "function",
    [getattr(loss, method) for loss in ALL for method in METHODS if hasattr(loss, method)],
    ids=lambda function: f"{function.__self__!r}.{function.__name__}",
)
def test_shapes_and_types(function):
    assert isinstance(function(0.25), float)
    assert isinstance(function(1), float)
    assert isinstance(function(np.float32(0.25)), np.float32)
    for shape in [(), (0,), (3,), (2, 0, 3), (2, 3, 4)]:
        z = np.full(shape, 0.25)
        assert np.shape(function(z)) == shape
        assert np.asarray(function(z)).dtype == np.float64
        assert np.asarray(function(z.astype(np.float32))).dtype == np.float32
    z = np.linspace(0, 1, 7)
    assert function(z[::2].tolist()).tolist() == [function(x) for x in z[::2]]
    np.testing.assert_array_equal(function(np.array([0, 1])), function(np.array([0.0, 1.0])))
    single = z.astype(np.float32)
    np.testing.assert_array_equal(function(single), function(single.astype(float)).astype("f4"))


def test_arguments_are_not_changed():
    z = np.linspace(-3, 3, 5)
    before = z.copy()
    CLoss().value(z)
    np.testing.assert_array_equal(z, before)


@pytest.mark.parametrize("make", [Coherence, CLoss, MajorizationLoss])
@pytest.mark.parametrize("bad", [0, -1.0, np.nan, np.inf, "1", None, True])
def test_bad_rho_is_named(make, bad):
    with pytest.raises(ValueError, match=r"rho=.* must be a number in \(0, inf\)\."):
        make(rho=bad)


@pytest.mark.parametrize(
    ("make", "bad", "allowed"),
    [
        (Coherence, -1e-9, r"\[0, inf\)"),
        (MajorizationLoss, np.nan, r"\[0, inf\)"),
        (CLoss, 0.0, r"\(0, inf\)"),
        (CLoss, -1.0, r"\(0, inf\)"),
        (CLoss, np.nan, r"\(0, inf\)"),
    ],
)
def test_bad_u_is_named(make, bad, allowed):
    with pytest.raises(ValueError, match=f"u=.* must be a number in {allowed}"):
        make(u=bad)


def test_bad_arguments_are_named():
    with pytest.raises(ValueError, match=r"delta=-2 must be a number in \(0, inf\)"):
        HuberizedHinge(-2)
    with pytest.raises(ValueError, match=r"z must be real numbers, got nan"):
        CLoss().value([0.0, np.nan])
    with pytest.raises(ValueError, match=r"z must be real numbers, got dtype"):
        CLoss().value(["a"])
    for bad in (-0.1, 1.1):
        with pytest.raises(ValueError, match=rf"eta must lie in \[0.0, 1.0\], got {bad}"):
            CLoss().link([0.5, bad])
    with pytest.raises(ValueError, match="loss must be one of 'coherence', 'logistic'"):
        make_loss("perceptron")


def test_make_loss():
    assert make_loss("coherence", rho=0.5, u=2.0) == CLoss(0.5, 2.0)
    assert make_loss("logistic") == Logistic()
    assert make_loss("huberized_hinge", delta=3.0) == HuberizedHinge(3.0)
    assert make_loss("squared_hinge") == SquaredHinge()
    assert make_loss("hinge") == Hinge()
    loss = Exponential()
    assert make_loss(loss) is loss
    for name in ("coherence", "logistic", "huberized_hinge", "squared_hinge", "hinge"):
        assert make_loss(name).name == name


@pytest.mark.parametrize("loss", ALL, ids=repr)
def test_losses_pickle_compare_and_do_not_change(loss):
    copy = pickle.loads(pickle.dumps(loss))
    assert copy == loss
    assert hash(copy) == hash(loss)
    with pytest.raises(AttributeError):
        loss.rho = 2.0


def test_examples_in_the_docstrings():
    assert doctest.testmod(losses).attempted > 0
    assert doctest.testmod(losses).failed == 0


@pytest.mark.parametrize("loss", [CLoss(), CLoss(1e-3, 2.0), Coherence(0.2, 0.0), Exponential()])
def test_probabilities_are_the_inverse_link_of_either_side(loss):
    scores = np.array([[-700.0, -3.0, -1e-9, 0.0], [1e-9, 0.5, 40.0, 1e5]])
    both = loss.probabilities(scores)
    assert both.shape == (2, 4, 2)
    for f, (negative, positive) in zip(scores.ravel(), both.reshape(-1, 2)):
        # Next to one half they are a rounding apart, on the score's side.
        assert positive == pytest.approx(loss.inverse_link(f), abs=1.2e-16, rel=0)
        assert negative == pytest.approx(loss.inverse_link(-f), abs=1.2e-16, rel=0)
        assert np.sign(positive - negative) == np.sign(f)
    np.testing.assert_allclose(both.sum(axis=-1), 1.0, rtol=1e-15)
    assert loss.probabilities(scores.astype(np.float32)).dtype == np.float32


def test_losses_without_a_link_have_no_probabilities():
    with pytest.raises(AttributeError, match="CalibratedMarginClassifier"):
        Hinge().probabilities([0.0])


def test_losses_import_without_matplotlib_or_pandas():
    code = "import sys, clearning.losses; assert not {'matplotlib', 'pandas'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)

"""Score calibrators: against mpmath, SciPy's optimisers, scikit-learn and fine grids."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize, minimize_scalar
from scipy.special import expit
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression

from clearning import CoherenceCalibrator, PlattCalibrator, SollichCalibrator
from clearning.calibration import _calibrators, _numerics, _search
from clearning.losses import Coherence
from clearning.metrics import cross_entropy

SIGN_KEEPING = [
    CoherenceCalibrator(),
    CoherenceCalibrator(u="fit-one"),
    CoherenceCalibrator(u=1.0),
    CoherenceCalibrator(u=0.0),
    SollichCalibrator(),
]
CALIBRATORS = [*SIGN_KEEPING, CoherenceCalibrator(offset=True), PlattCalibrator()]


def score_set(seed, n=None):
    """Scores and labels of many kinds: heavy tails, two scales, inside the margin, misleading."""
    rng = np.random.default_rng(seed)
    n = int(rng.choice([5, 10, 20, 50, 100])) if n is None else n
    f = [
        lambda: 2 * rng.normal(size=n),
        lambda: rng.standard_t(1.5, size=n),
        lambda: rng.choice([-1, 1], n) * np.exp(2 * rng.normal(size=n)),
        lambda: rng.uniform(-0.9, 0.9, n),
        lambda: np.append(rng.normal(size=n // 2), 50 * rng.normal(size=n - n // 2)),
    ][rng.integers(5)]()
    y = rng.uniform(size=n) < expit(rng.choice([0.2, 1.0, 3.0]) * f * rng.choice([1.0, 1.0, -0.3]))
    y[:2] = False, True
    return f * rng.choice([1.0, 1.0, 0.01, 100.0]), y.astype(int)


def informative(n=400, seed=0, shift=0.3):
    rng = np.random.default_rng(seed)
    f = 2 * rng.normal(size=n)
    return f, (rng.uniform(size=n) < expit(1.5 * f - shift)).astype(int)


# The link ------------------------------------------------------------------------------------


@pytest.mark.parametrize("u", [0.0, 1.0, 7.0])
@pytest.mark.parametrize("rho", [1e-8, 1e-2, 1.0, 1e8])
def test_probabilities_are_exact_at_any_score(rho, u):
    mpmath = pytest.importorskip("mpmath")
    scores = [0.0, 1e-12, 1e-3, 0.5, 1.0, 1.0 + 3e-8, 7.0, 30.0, 1e6]
    scores = np.array(scores + [-f for f in scores])
    calibrator = CoherenceCalibrator(rho=rho, u=u).fit([-1.0, 1.0], [0, 1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        proba, log_proba = calibrator.predict_proba(scores), calibrator.predict_log_proba(scores)
    with mpmath.workdps(60):
        for f, row, log_row in zip(scores, proba, log_proba):
            a, c = mpmath.mpf(f) - mpmath.mpf(u), -(mpmath.mpf(f) + mpmath.mpf(u))
            w1, w2 = (1 / (1 + mpmath.exp(t / mpmath.mpf(rho))) for t in (a, c))
            for column, exact in enumerate([w1 / (w1 + w2), w2 / (w1 + w2)]):
                # A logit of size M carries a rounding of M ε, which the tail inherits.
                tolerance = 1e-15 * (2 + abs(float(mpmath.log(exact))))
                assert abs(row[column] - exact) <= tolerance * exact + 1e-320
                assert log_row[column] == pytest.approx(float(mpmath.log(exact)), rel=1e-14)


def test_probability_is_the_inverse_link_of_the_loss():
    f = np.linspace(-40, 40, 401)
    for rho, u in [(0.1, 1.0), (1.0, 0.0), (3.0, 2.0)]:
        ours = CoherenceCalibrator(rho=rho, u=u).fit([-1, 1], [0, 1]).predict_proba(f)[:, 1]
        np.testing.assert_allclose(ours, Coherence(rho, u).inverse_link(f), rtol=1e-12)


def test_sollich_is_his_formula():
    f = np.array([-3.0, -1.0, -0.4, 0.0, 0.4, 1.0, 3.0])
    printed = [
        1 / (1 + np.exp(-2 * x)) if abs(x) <= 1 else 1 / (1 + np.exp(-(x + np.sign(x)))) for x in f
    ]
    proba = SollichCalibrator().fit(f, f > 0).predict_proba(f)
    np.testing.assert_allclose(proba[:, 1], printed, rtol=1e-14)


@pytest.mark.parametrize("calibrator", SIGN_KEEPING, ids=repr)
@settings(max_examples=50, deadline=None)
@given(
    st.integers(0, 10**6),
    st.lists(st.floats(-1e6, 1e6, allow_subnormal=True), min_size=1, max_size=20),
)
def test_probability_never_contradicts_the_sign_of_the_score(calibrator, seed, more):
    f, y = score_set(seed)
    calibrator = clone(calibrator)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        calibrator.fit(f, y)
    scores = np.concatenate([f, more, [5e-324, -5e-324, 0.0]])
    sign = (scores > 0).astype(int)
    np.testing.assert_array_equal(calibrator.predict_proba(scores).argmax(axis=1), sign)
    np.testing.assert_array_equal(calibrator.predict_log_proba(scores).argmax(axis=1), sign)


# The fit -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "theta", [(0.3, 0.7, 0.2, 0.2), (-2.0, 1.0, 0.3, -0.3), (1.0, 0.0, 0.5, 0.0)]
)
def test_derivatives_agree_with_differences(theta):
    rng = np.random.default_rng(0)
    data = _numerics.Folded(
        np.abs(rng.normal(size=40)),
        rng.uniform(size=40),
        rng.uniform(size=40),
        rng.choice([-1.0, 1.0], 40),
    )
    _, gradient, hessian = _numerics.coherence_derivatives(data, np.array(theta))
    for i, unit in enumerate(1e-6 * np.eye(4)):
        above, below = (
            _numerics.coherence_derivatives(data, theta + sign * unit) for sign in (1, -1)
        )
        assert gradient[i] == pytest.approx((above[0] - below[0]) / 2e-6, abs=1e-8)
        np.testing.assert_allclose(hessian[i], (above[1] - below[1]) / 2e-6, atol=1e-7)


@pytest.mark.parametrize("smooth", [True, False])
def test_no_minimum_in_log_rho_is_missed(smooth):
    several = 0
    for seed in range(300):
        f, y = score_set(seed)
        sample, _ = _calibrators._check_fit(f, y, None, smooth)
        family = _search.Family(None, 1.0 / sample.scale, False)
        found = _search.minima(sample, family)
        rhos, _ = _search.axes(sample.folded(), family)
        log_rho = np.linspace(np.log(rhos[0]), np.log(rhos[-1]), 800)
        values = cross_entropy_of_link(f, y, np.exp(log_rho) * sample.scale, 1.0, sample.targets)
        assert found[0].value <= values.min() + 1e-12
        lowest = (values[1:-1] < values[:-2] - 1e-12) & (values[1:-1] < values[2:] - 1e-12)
        minima = log_rho[1:-1][lowest]
        several += len(minima) > 1
        for minimum in minima:
            assert min(abs(m.theta[0] - minimum) for m in found) < 0.05
    assert several >= 5


def cross_entropy_of_link(f, y, rho, u, targets):
    rho = np.reshape(rho, (-1, 1))
    logit = np.logaddexp(0, (f - u) / rho) - np.logaddexp(0, -(f + u) / rho)
    target = np.where(y == 1, targets[1], targets[0])
    losses = target * np.logaddexp(0, -logit) + (1 - target) * np.logaddexp(0, logit)
    return losses.mean(axis=1)


@pytest.mark.parametrize("smooth", [True, False])
def test_fit_of_rho_and_u_is_never_above_a_fine_grid(smooth):
    for seed in range(50):
        f, y = score_set(seed)
        sample, _ = _calibrators._check_fit(f, y, None, smooth)
        family = _search.Family(None, None, False)
        data = sample.folded()
        rhos, us = _search.axes(data, family)
        z = np.sort(data.z)[:: max(1, len(f) // 25)]
        us = np.concatenate([np.linspace(0, us[-1], 20), z, (z[1:] + z[:-1]) / 2])
        rhos = np.exp(np.linspace(np.log(rhos[0]), np.log(rhos[-1]), 80))
        rho, u = (axis.ravel() for axis in np.meshgrid(rhos, us))
        values, _ = _numerics.coherence_grid(data, rho, u, offset=False)
        assert _search.minima(sample, family)[0].value <= values.sum(axis=1).min() + 1e-10
        # With a margin for each side, the best of either side at each ρ.
        best = values.reshape(len(us), len(rhos), 2).min(axis=0).sum(axis=1).min()
        family = _search.Family(None, None, False, margins=2)
        assert _search.minima(sample, family)[0].value <= best + 1e-10


def test_the_paper_s_method_minimises_the_printed_cross_entropy():
    f, y = informative()
    calibrator = CoherenceCalibrator(u=1.0, smooth=False).fit(f, y)

    def printed(log_rho):
        rho = np.exp(log_rho)
        one, two = 1 + np.exp((f - 1) / rho), 1 + np.exp(-(f + 1) / rho)
        return cross_entropy(y, one / (one + two))

    oracle = minimize_scalar(printed, bounds=(-2, 2), options={"xatol": 1e-10})
    assert np.log(calibrator.rho_) == pytest.approx(oracle.x, abs=1e-6)
    assert calibrator.cross_entropy_ == pytest.approx(oracle.fun, rel=1e-10)
    assert calibrator.u_ == 1.0


def test_without_margin_it_is_temperature_scaling():
    f, y = informative()
    calibrator = CoherenceCalibrator(u=0.0, smooth=False).fit(f, y)
    oracle = minimize_scalar(
        lambda t: cross_entropy(y, expit(f / np.exp(t))), bounds=(-5, 5), options={"xatol": 1e-10}
    )
    assert np.log(calibrator.rho_) == pytest.approx(oracle.x, abs=1e-6)


def test_larger_families_fit_better():
    f, y = informative(shift=1.0)
    value = {
        name: CoherenceCalibrator(**options).fit(f, y).cross_entropy_
        for name, options in {
            "svm": {"u": 1.0},
            "temperature": {"u": 0.0},
            "one margin": {"u": "fit-one"},
            "default": {},
            "offset": {"offset": True},
        }.items()
    }
    assert value["offset"] < value["default"] - 1e-3
    assert value["default"] < value["one margin"] - 1e-3
    assert value["one margin"] <= min(value["svm"], value["temperature"]) + 1e-12


def test_offset_contains_platt_s_sigmoid():
    f, y = informative(shift=1.0)
    platt = PlattCalibrator().fit(f, y)
    ours = CoherenceCalibrator(u=0.0, offset=True).fit(f, y)
    assert -1 / ours.rho_ == pytest.approx(platt.a_, rel=1e-6)
    assert -ours.offset_ == pytest.approx(platt.b_, rel=1e-6)
    for seed in range(40):
        f, y = score_set(seed)
        sample, _ = _calibrators._check_fit(f, y, None, True)
        oracle = minimize(
            lambda theta, sample=sample: _numerics.coherence_derivatives(
                sample, theta[[0, 1, 1, 2]]
            )[0],
            [0.0, 0.1, 0.0],
            bounds=[(-12, 12), (0, 2), (-20, 20)],
        )
        found = _search.minima(sample, _search.Family(None, None, True))
        assert found[0].value <= oracle.fun + 1e-9


def test_a_log_tail_is_its_formula():
    f, y = informative()
    calibrator = CoherenceCalibrator(rho=0.7, u=0.4, tail="log").fit(f, y)
    knee = np.mean(np.sqrt(np.abs(f))) ** 2
    assert calibrator.knee_ == pytest.approx(knee, rel=1e-12)
    z = np.abs(f)
    bent = np.sign(f) * np.where(z < knee, z, knee * (1 + np.log(z / knee)))
    np.testing.assert_allclose(
        calibrator.predict_proba(f)[:, 1], Coherence(0.7, 0.4).inverse_link(bent), rtol=1e-12
    )
    far = knee * (1 + np.log(1e6 / knee))
    exact = np.logaddexp(0, (far - 0.4) / 0.7) - np.logaddexp(0, -(far + 0.4) / 0.7)
    likely, unlikely = -np.logaddexp(0, -exact), -np.logaddexp(0, exact)
    np.testing.assert_allclose(
        calibrator.predict_log_proba([-1e6, 1e6]),
        [[likely, unlikely], [unlikely, likely]],
        rtol=1e-12,
    )


# Smoothed targets ask for less than certainty; a linear tail cannot give a million less.
@pytest.mark.parametrize("options", [{}, {"offset": True}, {"u": 1.0, "smooth": False}], ids=str)
def test_scores_of_a_million_among_small_ones_are_fitted_quietly(options):
    f, y = informative()
    f, y = np.append(f, [-1e6, 1e6]), np.append(y, [0, 1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        calibrator = CoherenceCalibrator(**options).fit(f, y)
        proba, log_proba = calibrator.predict_proba(f), calibrator.predict_log_proba(f)
    assert np.all(np.isfinite(log_proba))
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, rtol=1e-15)
    assert cross_entropy(y, proba[:, 1]) < 0.45


@pytest.mark.parametrize("u", ["fit", "fit-one"])
@pytest.mark.parametrize("n", [300, 20_000])
def test_the_better_tail_is_taken(u, n):
    rng = np.random.default_rng(0)
    logit = 1.5 * rng.normal(size=n)
    y = rng.uniform(size=n) < expit(logit)
    for scores, tail in ((logit, "linear"), (np.sinh(1.5 * logit), "log")):
        values = {
            name: CoherenceCalibrator(u=u, tail=name).fit(scores, y).cross_entropy_
            for name in ("auto", "linear", "log")
        }
        assert values[tail] == min(values.values())
        assert values["auto"] == pytest.approx(values[tail], rel=1e-9)
    assert CoherenceCalibrator(u=1.0).fit(scores, y).knee_ == np.inf


def test_probabilities_rise_with_the_score():
    for seed in range(30):
        f, y = score_set(seed)
        grid = np.sort(np.concatenate([f, np.linspace(2 * f.min(), 2 * f.max(), 500)]))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            p = CoherenceCalibrator().fit(f, y).predict_proba(grid)[:, 1]
        assert np.all(np.diff(p) >= 0)


def test_scores_of_one_sign_have_one_margin():
    f, y = informative()
    f = np.abs(f)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        two, one = (CoherenceCalibrator(u=u).fit(f, y) for u in ("fit", "fit-one"))
    assert two.margins_ == one.margins_ == (one.u_, one.u_)


@pytest.mark.parametrize("rho", [0.3, 2.0])
def test_rho_may_be_given_and_u_fitted(rho):
    f, y = informative()
    calibrator = CoherenceCalibrator(rho=rho, u="fit-one", smooth=False).fit(f, y)
    oracle = minimize_scalar(
        lambda u: cross_entropy_of_link(f, y, rho, u, (0.0, 1.0))[0], bounds=(0, 10)
    )
    assert calibrator.rho_ == rho
    assert calibrator.cross_entropy_ <= oracle.fun + 1e-10


@pytest.mark.parametrize("count", [0.5, 3.0])
def test_targets_are_smoothed_by_any_count(count):
    f, y = informative()
    positive, negative = y.sum(), len(y) - y.sum()
    targets = count / (negative + 2 * count), (positive + count) / (positive + 2 * count)
    oracle = minimize_scalar(
        lambda log_rho: cross_entropy_of_link(f, y, np.exp(log_rho), 0.0, targets)[0],
        bounds=(-10, 10),
    )
    calibrator = CoherenceCalibrator(u=0.0, smooth=count).fit(f, y)
    assert calibrator.rho_ == pytest.approx(np.exp(oracle.x), rel=1e-3)
    assert calibrator.cross_entropy_ == pytest.approx(oracle.fun, rel=1e-8)
    plain, platts = (CoherenceCalibrator(u=0.0, smooth=s).fit(f, y) for s in (0, 1.0))
    assert plain.rho_ == CoherenceCalibrator(u=0.0, smooth=False).fit(f, y).rho_
    assert platts.rho_ == CoherenceCalibrator(u=0.0).fit(f, y).rho_


def test_platt_maximises_the_likelihood():
    f, y = informative()
    plain = PlattCalibrator(smooth=False).fit(f, y)
    logistic = LogisticRegression(C=np.inf, tol=1e-10).fit(f[:, None], y)
    assert -plain.a_ == pytest.approx(logistic.coef_[0, 0], rel=1e-5)
    assert -plain.b_ == pytest.approx(logistic.intercept_[0], rel=1e-5)


@pytest.mark.parametrize("factor", [1.0, 1e6])
def test_platt_agrees_with_scikit_learn(factor):
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(300, 3)), rng.integers(0, 2, 300)
    X[:, 0] += y
    model = LogisticRegression().fit(X, y)
    model.coef_ *= factor
    f = model.decision_function(X)
    theirs = CalibratedClassifierCV(FrozenEstimator(model), method="sigmoid").fit(X, y)
    ours = PlattCalibrator().fit(f, y)
    np.testing.assert_allclose(ours.predict_proba(f), theirs.predict_proba(X), rtol=1e-3)


# Invariances ---------------------------------------------------------------------------------


@pytest.mark.parametrize("calibrator", CALIBRATORS, ids=repr)
def test_weights_are_repetitions(calibrator):
    f, y = informative(150)
    counts = np.random.default_rng(4).integers(0, 4, len(f))
    weighted = clone(calibrator).fit(f, y, sample_weight=counts)
    repeated = clone(calibrator).fit(np.repeat(f, counts), np.repeat(y, counts))
    np.testing.assert_allclose(
        weighted.predict_proba(f), repeated.predict_proba(f), rtol=1e-7, atol=1e-12
    )


@pytest.mark.parametrize("calibrator", CALIBRATORS, ids=repr)
def test_samples_without_weight_do_not_matter(calibrator):
    f, y = informative(150)
    weight = np.append(np.ones(len(f)), np.zeros(2))
    extended = clone(calibrator).fit(np.append(f, [-1e6, 1e6]), np.append(y, [1, 0]), weight)
    plain = clone(calibrator).fit(f, y)
    np.testing.assert_array_equal(extended.predict_proba(f), plain.predict_proba(f))


@pytest.mark.parametrize("factor", [1e-6, 1e6])
@pytest.mark.parametrize("offset", [False, True])
def test_scores_may_have_any_unit(factor, offset):
    f, y = informative()
    one = CoherenceCalibrator(offset=offset).fit(f, y)
    other = CoherenceCalibrator(offset=offset).fit(factor * f, y)
    np.testing.assert_allclose(
        one.predict_proba(f), other.predict_proba(factor * f), rtol=1e-6, atol=1e-12
    )


def test_exchanging_the_classes_exchanges_the_columns():
    f, y = informative()
    one, other = (CoherenceCalibrator().fit(sign * f, sign * (2 * y - 1)) for sign in (1, -1))
    np.testing.assert_allclose(
        one.predict_proba(f), other.predict_proba(-f)[:, ::-1], rtol=1e-6, atol=1e-9
    )


@pytest.mark.parametrize(
    "options", [{}, {"u": "fit-one"}, {"u": 1.0}, {"offset": True}, "platt"], ids=str
)
@pytest.mark.parametrize("tail", [np.inf, 1.2])
def test_many_scores_are_fitted_as_exactly_as_few(monkeypatch, options, tail):
    rng = np.random.default_rng(5)
    f = 2 * rng.standard_t(tail, size=6000) if np.isfinite(tail) else 2 * rng.normal(size=6000)
    y, weight = rng.uniform(size=len(f)) < expit(f - 0.3), rng.exponential(size=len(f))
    make = PlattCalibrator if options == "platt" else lambda: CoherenceCalibrator(**options)
    summarised = make().fit(f, y, weight).predict_proba(f)
    monkeypatch.setattr(_search, "MANY", 10**6)
    direct = make().fit(f, y, weight).predict_proba(f)
    np.testing.assert_allclose(summarised, direct, rtol=1e-6, atol=1e-10)


@pytest.mark.parametrize("offset", [False, True])
def test_starts_left_out_for_many_scores_lose_nothing(monkeypatch, offset):
    family = _search.Family(None, None, offset, margins=1 if offset else 2)
    for seed in range(12):
        sample, _ = _calibrators._check_fit(*score_set(seed, n=5000), None, True)
        knees = [np.inf, sample.typical]
        few, _ = _search.best_minimum(sample, family, knees)
        with monkeypatch.context() as patch:
            patch.setattr(_search, "_SLACK", np.inf)
            all_, _ = _search.best_minimum(sample, family, knees)
        assert few.value <= all_.value + 1e-9


def test_labels_of_any_kind():
    f, y = informative()
    reference = CoherenceCalibrator().fit(f, y)
    for labels in (2 * y - 1, y.astype(bool), np.array(["no", "yes"])[y]):
        calibrator = CoherenceCalibrator().fit(f, labels)
        assert calibrator.rho_ == reference.rho_
        np.testing.assert_array_equal(calibrator.classes_, np.unique(labels))


# What is said when it cannot be done ---------------------------------------------------------


def test_the_end_of_the_range_is_said():
    f, y = informative()
    with pytest.warns(ConvergenceWarning, match="say nothing"):
        CoherenceCalibrator().fit(f, 1 - y)
    with pytest.warns(ConvergenceWarning, match="separate"):
        calibrator = CoherenceCalibrator(u=0.0, smooth=False).fit(f, f > 0)
    assert calibrator.cross_entropy_ < 1e-3
    with pytest.warns(ConvergenceWarning, match="No finite A and B"):
        PlattCalibrator(smooth=False).fit(f, f > 0.5)


@pytest.mark.parametrize("calibrator", CALIBRATORS, ids=repr)
def test_smoothed_fits_of_separable_scores_are_quiet(calibrator):
    f = np.linspace(-2, 2, 50)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        proba = clone(calibrator).fit(f, f > 0).predict_proba(f)
    assert np.all((proba > 0) & (proba < 1))


@pytest.mark.parametrize("calibrator", CALIBRATORS, ids=repr)
def test_scores_that_are_all_zero_give_one_half_or_the_share(calibrator):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        proba = clone(calibrator).fit(np.zeros(4), [0, 1, 0, 1]).predict_proba([0.0])
    np.testing.assert_allclose(proba, 0.5, atol=1e-12)


@pytest.mark.parametrize(
    ("options", "scores", "y", "weight", "message"),
    [
        ({"rho": 0.0}, [0, 1], [0, 1], None, r"rho=0.0 must be 'fit' or a number in \(0"),
        ({"u": -1}, [0, 1], [0, 1], None, r"u=-1 must be 'fit', 'fit-one' or a num"),
        ({"u": "auto"}, [0, 1], [0, 1], None, "u='auto' must be"),
        ({"tail": "fat"}, [0, 1], [0, 1], None, "tail must be .* got 'fat'"),
        ({"smooth": -0.5}, [0, 1], [0, 1], None, r"smooth=-0.5 must be .* in \[0, inf\)"),
        ({"smooth": "much"}, [0, 1], [0, 1], None, "smooth='much' must be True, False or"),
        ({}, [0, np.nan], [0, 1], None, "scores contains NaN"),
        ({}, [0, 1], [1, 1], None, "two classes"),
        ({}, [0, 1, 2], [0, 1, 2], None, "two classes"),
        ({}, [0, 1], [0, 1, 1], None, "inconsistent numbers of samples"),
        ({}, [0, 1], [0, 1], [1, -1], "sample_weight"),
        ({}, [0, 1], [0, 1], [1, 0], "sample_weight must leave some weight"),
        ({}, [[0, 1], [2, 3]], [0, 1], None, "scores must be one-dimensional"),
    ],
)
def test_bad_input_is_named(options, scores, y, weight, message):
    with pytest.raises(ValueError, match=message):
        CoherenceCalibrator(**options).fit(scores, y, weight)


@pytest.mark.parametrize("calibrator", CALIBRATORS, ids=repr)
def test_unfitted_calibrators_say_so(calibrator):
    with pytest.raises(NotFittedError):
        clone(calibrator).predict_proba([0.0])

"""Details far below the columns without a penalty that they are hidden in, and seen by a few rows.

All numbers are dyadic, so that a rival's coefficients for the detail itself are, exactly, others
for the columns that hide it.
"""

from __future__ import annotations

import numpy as np
import pytest

from clearning import BlockwiseCLearningClassifier, clearning_path
from clearning._kernel_matrix import check_kernel_matrix

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

LONG = np.longdouble


def dyadic(rng, *shape, digits=32):
    return np.round(rng.standard_normal(shape) * digits) / digits


def losses(loss, margins, rho=1.0):
    """Each sample's loss, in extended precision."""
    zero = 0 * margins
    if loss == "coherence":
        return np.logaddexp(zero, (1 - margins) / LONG(rho)) / np.logaddexp(LONG(0), 1 / LONG(rho))
    if loss == "logistic":
        return np.logaddexp(zero, -margins)
    if loss == "squared_hinge":
        return np.maximum(1 - margins, 0) ** 2
    if loss == "hinge":
        return np.maximum(1 - margins, 0)
    return np.where(margins > 1, 0, np.where(margins > -1, (1 - margins) ** 2 / 4, -margins))


def assert_true(path, rival):
    assert path.objectives[0] - path.dual_gaps[0] <= float(rival) + 1e-9


def assert_true_of(model, rival):
    assert model.objective_ - model.dual_gap_ <= float(rival) + 1e-9


def column_with_detail(seed, n, small, far):
    """Labels, a column, and a detail of the next one that tells the labels; some rows see it."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    x = dyadic(rng, n, digits=128)
    detail = dyadic_signal(rng, y) * small
    detail[:far] = y[:far]
    return rng, y, x, detail


def dyadic_signal(rng, y):
    return np.round((0.7 * y + rng.standard_normal(len(y))) * 32) / 32


@pytest.mark.parametrize(
    ("m", "count", "power", "fit_intercept"),
    [(3, 20, 36, True), (2, 24, 30, False), (3, 24, 33, True), (2, 16, 38, True), (3, 9, 41, True)],
)
@pytest.mark.parametrize("loss", ["logistic", "coherence"])
def test_a_detail_at_the_end_of_a_long_chain(m, count, power, fit_intercept, loss):
    """Each column is the one before and a step: bounds on rounding double with every one."""
    rng = np.random.default_rng(0)
    n = 12 * count + 40
    level, y = rng.integers(0, count + 1, n), rng.integers(0, m, n)
    chain = (level[:, None] <= np.arange(count)).astype(float)
    side = np.where(y == 0, 1.0, -1.0)
    detail = np.round((0.7 * side + rng.standard_normal(n)) * 32) / 32 * (level == 0)
    options = {"loss": loss, "alphas": [1.0], "fit_intercept": fit_intercept}
    options["penalty_factor"] = np.zeros(count + 1)
    path = clearning_path(np.c_[chain, chain[:, -1] + 2.0**-power * detail], y, **options)
    assert_true(path, clearning_path(np.c_[chain, detail], y, **options).objectives[0])


@pytest.mark.parametrize("seed", range(6))
def test_a_detail_in_the_sum_of_many_columns(seed):
    """Rounding of many steps comes to less than the sum of their bounds."""
    rng, n, count = np.random.default_rng(seed), 180, 60
    signs = rng.choice([-1.0, 1.0], (n, count))
    total = signs @ rng.choice([-1.0, 1.0], count)
    y = rng.integers(0, 2, n)
    detail = np.where(y == 0, 1.0, -1.0) * np.where(rng.random(n) < 0.25, -1, 1)
    options = {"loss": "logistic", "alphas": [1.0], "penalty_factor": np.zeros(count + 1)}
    path = clearning_path(np.c_[signs, total + 2.0**-42 * detail], y, max_iter=20, **options)
    assert_true(path, clearning_path(np.c_[signs, detail], y, **options).objectives[0])


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("level", [0.0, 1.0])
def test_a_detail_of_three_classes(seed, level):
    rng, n, small = np.random.default_rng(seed), 84, 2.0**-41
    y = rng.integers(0, 3, n)
    side = np.where(y == 0, 1.0, -1.0)
    detail = dyadic_signal(rng, side) * small
    far = np.flatnonzero(y < 2)[:7]
    detail[far] = side[far] * 2.0 ** rng.integers(-8, -1, 7)
    options = {"loss": "logistic", "penalty_factor": [0.0], "alphas": [1.0]}
    path = clearning_path(level + detail[:, None], y, **options)
    rival = clearning_path(np.clip(detail / small, -60, 60)[:, None], y, **options)
    scores = (detail / small)[:, None] * rival.coefs[0].T + rival.intercepts[0]
    above = scores - scores.max(axis=1, keepdims=True)
    total = np.log(np.exp(above).sum(axis=1))
    assert_true(path, (total - above[np.arange(n), y]).mean())


def test_a_detail_beside_a_column_near_one():
    """The deviations of that column are no more than the digits of its squares."""
    rng, n, small = np.random.default_rng(8), 500, 2.0**-36
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    x = dyadic(rng, n, digits=128)
    detail = dyadic_signal(rng, y) * small
    detail[:10] = y[:10]
    near_one = 1 + dyadic(rng, n) * 2.0**-25
    near_one[:10] = rng.choice([0.0, 2.0], 10)
    path = clearning_path(
        np.c_[near_one, x, x + detail], y, penalty_factor=np.zeros(3), alphas=[1.0]
    )
    told = np.c_[x, np.clip(detail / small, -100, 100)]
    rival = clearning_path(told, y, penalty_factor=np.zeros(2), alphas=[1.0])
    assert_true(path, rival.objectives[0])


@pytest.mark.parametrize("power", [36, 37, 40, 43])
@pytest.mark.parametrize("seed", range(3))
def test_a_bound_on_the_detail_that_two_others_hide(seed, power):
    rng, n, small = np.random.default_rng(seed), 200, 2.0**-power
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    x = dyadic(rng, n, digits=128)
    detail = dyadic_signal(rng, y)
    bounds = ([-np.inf] * 3, [np.inf, np.inf, 0.0])
    X = np.c_[x, x + small * detail, detail]
    path = clearning_path(X, y, penalty_factor=np.zeros(3), alphas=[1.0], bounds=bounds)
    rival = clearning_path(np.c_[x, detail], y, penalty_factor=np.zeros(2), alphas=[1.0])
    assert_true(path, rival.objectives[0])


@pytest.mark.parametrize("loss", ["coherence", "logistic", "hinge", "squared_hinge"])
@pytest.mark.parametrize("others", [0, 100])
def test_a_detail_among_many_columns(loss, others):
    rng, y, x, detail = column_with_detail(1, 500, 2.0**-36, 10)
    F = rng.standard_normal((500, others))
    options = {"loss": loss, "penalty_factor": np.zeros(others + 2), "alphas": [1.0]}
    path = clearning_path(np.c_[F, x, x + detail], y, **options)
    told = np.c_[F, x, np.clip(detail * 2.0**36, -100, 100)]
    assert_true(path, clearning_path(told, y, **options).objectives[0])


def test_a_detail_of_ten_classes():
    rng, n, k, small = np.random.default_rng(2), 600, 33, 2.0**-36
    y = np.r_[:10, rng.integers(0, 10, n - 10)]
    x, side = dyadic(rng, n, digits=128), np.where(y == 0, 1.0, -1.0)
    detail = dyadic_signal(rng, side) * small
    detail[10:20] = side[10:20]
    F = rng.standard_normal((n, k))
    options = {"loss": "logistic", "penalty_factor": np.zeros(k + 2), "alphas": [1.0]}
    path = clearning_path(np.c_[F, x, x + detail], y, **options)
    told = np.c_[F, x, np.clip(detail / small, -100, 100)]
    assert_true(path, clearning_path(told, y, **options).objectives[0])


def hidden_in_many_ways(seed):
    """Details behind columns of their own, behind the intercept, and alone, of any size."""
    rng = np.random.default_rng(seed)
    n, far, k = (int(rng.integers(*ends)) for ends in ((60, 300), (0, 12), (1, 4)))
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    details = dyadic(rng, n, k) + 0.5 * y[:, None] * rng.integers(0, 2, k)
    details = np.round(details * 32) / 32
    base = dyadic(rng, n, k)
    kinds = rng.integers(0, 3, k)
    fit_intercept = bool(rng.random() < 0.8) or bool((kinds == 1).any())
    size, small = 2.0 ** rng.integers(0, 20), 2.0 ** -rng.integers(4, 42, k)
    hidden, told = [], []
    for j, kind in enumerate(kinds):
        detail = details[:, j] * small[j]
        if far:
            detail[:far] = y[:far] * size * 2.0 ** rng.integers(-3, 4, far)
        behind = (base[:, j], np.ones(n), np.zeros(n))[kind]
        hidden += [behind] * int(kind == 0) + [behind + detail]
        told += [behind] * int(kind == 0) + [(behind + detail - behind) / small[j]]
    penalised = int(rng.integers(0, 4))
    Z = dyadic(rng, n, penalised)
    loss = ["coherence", "logistic", "squared_hinge", "huberized_hinge", "hinge"][
        rng.integers(0, 5)
    ]
    rho = [1, 0.1, 0.01][rng.integers(0, 3)] if loss == "coherence" else 1
    weight = np.ones(n) if rng.random() < 0.6 else 10.0 ** rng.uniform(-3, 0, n)
    options = {
        "loss": loss,
        "rho": rho,
        "penalty_factor": np.r_[np.zeros(len(hidden)), np.ones(penalised)],
        "alphas": [10.0 ** rng.uniform(-3, 0)],
        "sample_weight": weight,
        "fit_intercept": fit_intercept,
        "max_iter": 300,
    }
    tol = [1e-6, 1e-3, 1e-9][rng.integers(0, 3)]
    return np.column_stack(hidden), np.column_stack(told), Z, y, options, tol


@pytest.mark.parametrize(
    "seed", [14248, 14446, 14528, 503099, 507208, 511293, *range(700001, 700031)]
)
def test_details_hidden_in_many_ways(seed):
    """The first six were proved falsely, or a direction that hid the detail was taken for none."""
    hidden, told, Z, y, options, tol = hidden_in_many_ways(seed)
    path = clearning_path(np.c_[hidden, Z], y, tol=tol, **options)
    rival = clearning_path(np.c_[np.clip(told, -200, 200), Z], y, tol=1e-9, **options)
    c = rival.coefs[0].astype(LONG)
    margins = y * (np.c_[told, Z].astype(LONG) @ c + LONG(rival.intercepts[0]))
    loss = np.average(
        losses(options["loss"], margins, options["rho"]), weights=options["sample_weight"]
    )
    b = c[told.shape[1] :]
    penalty = LONG(options["alphas"][0]) * (0.5 * np.abs(b).sum() + 0.25 * (b**2).sum())
    assert_true(path, loss + penalty)


@pytest.mark.parametrize("loss", ["squared_hinge", "logistic", "coherence"])
@pytest.mark.parametrize("columns", [1, 2])
def test_a_detail_in_blocks(loss, columns):
    _, y, x, detail = column_with_detail(1, 1000, 2.0**-40, 40)
    behind = np.ones(1000) if columns == 1 else x
    X = (behind + detail)[:, None] if columns == 1 else np.c_[x, x + detail]
    told = np.clip(detail * 2.0**40, -100, 100)[:, None]
    told = told if columns == 1 else np.c_[x, told]
    free = np.zeros(columns)
    model = BlockwiseCLearningClassifier(alpha=1.0, penalty_factor=free, loss=loss).fit(X, y)
    rival = clearning_path(told, y, alphas=[1.0], penalty_factor=free, loss=loss)
    assert_true_of(model, rival.objectives[0])


@pytest.mark.parametrize("m", [2, 3])
@pytest.mark.parametrize("power", [36, 41, 44])
def test_a_detail_beside_columns_that_are_equal_in_blocks(m, power):
    """One combination is nothing, the other a detail: none of them is told twice."""
    rng = np.random.default_rng(0)
    n, small = 1000, 2.0**-power
    y = rng.integers(0, m, n)
    side = np.where(y == 0, 1.0, -1.0)
    z = dyadic(rng, n)
    detail = np.round((0.7 * side + rng.standard_normal(n)) * 16) / 16
    x, twice = (np.round((2 + rng.random(n)) * 128) / 128 for _ in range(2))
    X = np.c_[z, x, x + small * (z + detail), twice, twice]
    options = {"loss": "logistic", "fit_intercept": False}
    model = BlockwiseCLearningClassifier(alpha=1.0, penalty_factor=np.zeros(5), **options).fit(X, y)
    told = np.c_[z, x, detail, twice]
    rival = clearning_path(told, y, alphas=[1.0], penalty_factor=np.zeros(4), **options)
    assert_true_of(model, rival.objectives[0])


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_combinations_with_small_parts_cost_blocks_no_proof(fit_intercept):
    """In rows where the large parts are next to none, the small ones are all that is left."""
    unproved = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((900, 4))
        y = X[:, 0] + rng.logistic(size=900) > -1.0
        Z = np.c_[X, X[:, 0] - 1e-3 * X[:, 1], X[:, 0] + X[:, 1]]
        factors = np.r_[0.0, 0.0, 1.0, np.zeros(3)]
        model = BlockwiseCLearningClassifier(
            alpha=0.1, penalty_factor=factors, fit_intercept=fit_intercept
        ).fit(Z, y)
        unproved += model.dual_gap_ > 1e-6
    assert unproved <= 1


def test_a_row_far_out_in_blocks():
    """Whose entry makes the column seem to be nothing beside it, where dual weight is."""
    rng, n = np.random.default_rng(0), 4000
    x, weight = rng.standard_normal(n), np.ones(n)
    y = np.where(rng.random(n) < 1 / (1 + np.exp(-2 * x)), 1, -1)
    x[7], y[7], weight[7] = 1e13, 1, 1e-12
    model = BlockwiseCLearningClassifier(
        alpha=1.0, penalty_factor=[0.0], fit_intercept=False, max_iter=2
    ).fit(x[:, None], y, sample_weight=weight)
    near = model.coef_[0, 0] * np.linspace(0.99, 1.01, 2001)
    margins = (y * x)[:, None] * near.astype(LONG)
    least = np.average(losses("coherence", margins), axis=0, weights=weight).min()
    assert model.objective_ - model.dual_gap_ <= float(least)


@pytest.mark.parametrize(
    "repeat",
    [
        lambda X: X,
        lambda X: np.c_[X, X[:, 0], X[:, 1] + X[:, 0]],
        lambda X: np.c_[X, np.zeros(len(X))],
        lambda X: np.c_[X, np.ones(len(X))],
    ],
    ids=["plain", "repeated", "zero", "constant"],
)
@pytest.mark.parametrize("m", [2, 3])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_what_depends_in_all_rows_costs_blocks_no_proof(repeat, m, fit_intercept):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((900, 4))
    y = np.digitize(X[:, 0] + rng.logistic(size=900), [-1.0, 1.0][: m - 1])
    Z = repeat(X)
    factors = np.zeros(Z.shape[1])
    factors[2] = 1.0
    model = BlockwiseCLearningClassifier(
        alpha=0.1, penalty_factor=factors, fit_intercept=fit_intercept
    ).fit(Z, y)
    assert model.dual_gap_ <= 1e-6


@pytest.mark.parametrize("seed", [3747, 745, 3273])
def test_a_detail_of_three_classes_beside_a_bound(seed):
    rng = np.random.default_rng(seed)
    n = 60
    y = np.r_[:3, rng.integers(0, 3, n - 3)]
    power = int(rng.integers(20, 37))
    side = np.where(y == 0, 1.0, -1.0)
    told = np.round((side * 0.5 + rng.standard_normal(n)) * 32) / 32
    told[:8] = side[:8] * 2.0 ** (power + rng.integers(-12, 4, 8))
    options = {"loss": "logistic", "penalty_factor": [0.0], "alphas": [1.0]}
    options["bounds"] = ([-np.inf], [0.0])
    path = clearning_path(told[:, None] * 2.0**-power, y, tol=1e-3, **options)
    rival = clearning_path(told[:, None], y, tol=1e-9, max_iter=1000, **options)
    assert_true(path, rival.objectives[0])


@pytest.mark.parametrize("loss", ["squared_hinge", "huberized_hinge"])
def test_columns_without_weight_in_blocks_excuse_no_others(loss):
    """Two that are equal, in rows without dual weight, beside a detail that such rows give away."""
    rng, n, far, small = np.random.default_rng(1), 1000, 40, 2.0**-44
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    told = dyadic_signal(rng, y)
    x = np.round((0.5 * y + rng.standard_normal(n)) * 128) / 128
    detail, twice = told * small, np.zeros(n)
    detail[:far], x[:far], twice[:far] = y[:far], 64 * y[:far], 1.0
    options = {"loss": loss, "fit_intercept": False}
    model = BlockwiseCLearningClassifier(alpha=1.0, penalty_factor=np.zeros(4), **options)
    model.fit(np.c_[x, x + detail, twice, twice], y)
    rival = clearning_path(
        np.c_[x, np.clip(told, -100, 100)], y, alphas=[1.0], penalty_factor=[0, 0], **options
    )
    assert_true_of(model, rival.objectives[0])


@pytest.mark.parametrize("m", [2, 3])
def test_repeated_dummies_in_blocks_are_proved_wherever_they_stand(m):
    rng = np.random.default_rng(0)
    dummies = np.eye(4)[rng.integers(0, 4, 900)]
    Z = rng.standard_normal((900, 2))
    y = np.digitize(Z[:, 0] + dummies[:, 1] + rng.logistic(size=900), [-0.5, 1.0][: m - 1])
    X = np.c_[dummies[:, :2].sum(axis=1), dummies, dummies[:, 0], Z]
    factors = np.r_[np.zeros(7), 1.0]
    model = BlockwiseCLearningClassifier(
        alpha=0.1, penalty_factor=factors, fit_intercept=False
    ).fit(X, y)
    assert model.dual_gap_ <= 1e-6


def test_a_column_at_its_threshold_but_for_rounding():
    """Just below the penalty at which it would come in, if its mean had not taken its digits."""
    rng, n = np.random.default_rng(183), 40
    y = np.where(rng.permutation(n) < n // 2 + 3, 1.0, -1.0)
    mean = 2.0 ** int(rng.integers(20, 43))
    unit = np.spacing(mean)
    w = np.round((y + rng.standard_normal(n)) * 0.5 / unit) * unit
    kappa = 1 / np.log1p(np.exp(LONG(1)))
    null = clearning_path(np.zeros((n, 1)), y, alphas=[1.0], l1_ratio=1.0, tol=1e-15)
    s = kappa / (1 + np.exp(y * LONG(null.intercepts[0]) - 1))
    top = abs((w.astype(LONG) * y * s).sum() / n)
    alpha = float(top * (1 - LONG(mean) * LONG(1e-16)))
    path = clearning_path((mean + w)[:, None], y, l1_ratio=1.0, alphas=[alpha])
    rival = clearning_path(w[:, None], y, l1_ratio=1.0, alphas=[alpha], tol=1e-13)
    b, a = LONG(rival.coefs[0, 0]), LONG(rival.intercepts[0])
    least = losses("coherence", y * (w * b + a)).mean() + LONG(alpha) * abs(b)
    assert path.objectives[0] - path.dual_gaps[0] <= float(least)


def test_a_large_kernel_matrix_with_a_negative_eigenvalue_is_refused():
    n = 2100
    basis = np.linalg.qr(np.random.default_rng(0).standard_normal((n, n)))[0]
    values = np.geomspace(1e-3, 1.0, n)
    values[0] = -3e-4
    K = (basis * values) @ basis.T
    with pytest.raises(ValueError, match=r"eigenvalue of -0\.0003"):
        check_kernel_matrix((K + K.T) / 2)

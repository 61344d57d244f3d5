"""Columns without a penalty that differ by next to nothing, and whose coefficients may go far.

The optimum is SciPy's, in an orthogonal basis of the same columns made in extended precision.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import logsumexp
from sklearn.exceptions import ConvergenceWarning

from clearning import (
    BlockwiseCLearningClassifier,
    CLearningClassifier,
    clearning_path,
    kernel_clearning_path,
)
from clearning._kernel_matrix import check_landmark_kernel

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def problem(seed, m):
    """Columns that are equal up to a share between 1e-13 and 1e-2 of them, and labels."""
    rng = np.random.default_rng(seed)
    n, k = rng.integers(12, 40), rng.integers(2, 5)
    base = rng.standard_normal((n, 1)) if rng.random() < 0.5 else np.ones((n, 1))
    X = 10 ** rng.uniform(-1, 3) * (base + 10 ** rng.uniform(-13, -2) * rng.standard_normal((n, k)))
    if rng.random() < 0.3:
        X = np.c_[rng.standard_normal(n), X]
    return X, np.r_[:m, rng.integers(0, m, n - m)], bool(rng.random() < 0.5)


def orthogonal(X, fit_intercept):
    """Columns of mean square one that span what those of X do, with the intercept's first."""
    basis = [np.ones(len(X), np.longdouble)] if fit_intercept else []
    for column in X.T.astype(np.longdouble):
        rest = column / np.sqrt(np.mean(column**2))
        for _ in range(3):
            for other in basis:
                rest = rest - other * np.mean(other * rest)
        size = np.sqrt(np.mean(rest**2))
        if size > 1e-17:
            basis.append(rest / size)
    return np.array(basis, dtype=float).T


def least_objective(X, y, fit_intercept):
    """The smallest mean logistic loss, or multinomial loss, by SciPy."""
    Q, m = orthogonal(X, fit_intercept), y.max() + 1
    own = np.arange(m) == y[:, None]

    def loss(flat):
        scores = Q @ flat.reshape(Q.shape[1], -1)
        scores = np.c_[np.zeros(len(Q)), scores]
        total = logsumexp(scores, axis=1)
        gradient = Q.T @ (np.exp(scores - total[:, None]) - own) / len(Q)
        return np.mean(total - scores[own]), gradient[:, 1:].ravel()

    start = np.zeros(Q.shape[1] * (m - 1))
    return minimize(loss, start, jac=True, method="BFGS", options={"gtol": 1e-9}).fun


def in_memory(X, y, fit_intercept):
    path = clearning_path(
        X,
        y,
        loss="logistic",
        alphas=[0.1],
        penalty_factor=np.zeros(X.shape[1]),
        fit_intercept=fit_intercept,
    )
    return path.objectives[0], path.dual_gaps[0]


def by_columns(X, y, fit_intercept):
    return in_memory(sparse.csc_array(X), y, fit_intercept)


def in_blocks(X, y, fit_intercept):
    model = BlockwiseCLearningClassifier(
        loss="logistic", alpha=0.1, penalty_factor=np.zeros(X.shape[1]), fit_intercept=fit_intercept
    ).fit(X, y)
    return model.objective_, model.dual_gap_


@pytest.mark.parametrize("m", [2, 3])
@pytest.mark.parametrize("fit", [in_memory, by_columns, in_blocks])
def test_no_optimum_lies_below_what_is_proved(fit, m):
    for seed in range(60 if fit is in_memory else 25):
        X, y, fit_intercept = problem(seed, m)
        objective, gap = fit(X, y, fit_intercept)
        least = least_objective(X, y, fit_intercept)
        assert np.isfinite(gap)
        assert objective - gap <= least + 1e-8, (seed, objective, gap, least)


@pytest.mark.parametrize("apart", [1e-6, 1e-7, 1e-8, 1e-9])
def test_the_gap_tells_how_much_is_lost(apart):
    """What the solver does not find the dual point does: its gap is not far above the error."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        base = 3.0 + rng.standard_normal(60)
        X = np.c_[base, base + apart * rng.standard_normal(60)]
        y = (base - 3.0 + rng.standard_normal(60) > 0).astype(int)
        objective, gap = in_memory(X, y, fit_intercept=False)
        error = objective - least_objective(X, y, fit_intercept=False)
        assert -1e-8 <= error <= gap <= 3.0 * error + 1e-5


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("m", [2, 3])
@pytest.mark.parametrize("estimator", [CLearningClassifier, BlockwiseCLearningClassifier])
def test_columns_that_depend_on_each_other_cost_no_proof(estimator, m):
    """An indicator for each group beside an intercept, a column twice, and the sum of two."""
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 12, 600)
    Z = rng.standard_normal((600, 3))
    X = np.c_[groups[:, None] == np.arange(12), Z, Z[:, 0], Z[:, 1] + Z[:, 2], Z[:, 0] / 3]
    y = (Z[:, 0] + groups / 6 + rng.standard_normal(600) > 1).astype(int)
    y += (m - 2) * (Z[:, 1] > 0.5)
    model = estimator(alpha=0.01, penalty_factor=np.r_[np.zeros(15), 0.0, 0.0, 0.0]).fit(X, y)
    assert model.dual_gap_ <= 1e-6


def columns_again(kind, x, size):
    """A column that the intercept and the first two of x make up."""
    made = {
        "constant": np.full(len(x), size),
        "scaled": size * x[:, 0],
        "sum": x[:, 0] + x[:, 1],
        "shifted": size + x[:, 0],
    }
    return made[kind]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kind", ["constant", "scaled", "sum", "shifted"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csc_array])
@pytest.mark.parametrize("groups", [None, "classes"])
def test_many_classes_with_columns_that_are_others_again(kind, form, groups):
    """Such columns change nothing: coefficients of 1e16 that cancel each other are no model."""
    for seed in range(5):
        rng = np.random.default_rng(seed)
        x = rng.standard_normal((60, 3))
        y = np.r_[:3, rng.integers(0, 3, 57)]
        X = np.c_[x, columns_again(kind, x, -(10 ** rng.uniform(-2, 3)))]
        factor = np.array([0.0, 0.0, rng.integers(0, 2), 0.0])
        given = {
            "l1_ratio": rng.choice([0.0, 0.5, 1.0]),
            "alphas": [0.01, 0.003],
            "sample_weight": rng.uniform(0.01, 1.0, 60),
            "groups": groups,
        }
        without = clearning_path(form(X[:, :3]), y, penalty_factor=factor[:3], **given)
        path = clearning_path(form(X), y, penalty_factor=factor, **given)
        np.testing.assert_allclose(path.null_objective, without.null_objective, rtol=1e-9)
        np.testing.assert_allclose(path.objectives, without.objectives, rtol=1e-5)
        assert np.abs(path.coefs).max() < 1e3


# --- Other ways to depend on each other ---


def logistic(y, scores, weight=None):
    losses = np.logaddexp(0.0, -np.where(y > 0, 1, -1) * np.asarray(scores, dtype=float))
    return np.average(losses, weights=weight)


def along(X, y, coef, weight=None):
    """The best objective along some coefficients, with scores in extended precision."""
    scores = X.astype(np.longdouble) @ np.asarray(coef, np.longdouble)
    return min(logistic(y, size * scores, weight) for size in (0.3, 0.5, 1.0, 1.5, 2.0, 3.0))


def proved(X, y, **options):
    given = {"loss": "logistic", "alphas": [0.1], "fit_intercept": False, **options}
    path = clearning_path(X, y, penalty_factor=np.zeros(X.shape[1]), **given)
    return path.objectives[0] - path.dual_gaps[0]


@pytest.mark.parametrize("seed", range(6))
def test_many_columns_that_depend_on_each_other_together(seed):
    """No two are near each other, and no pivot of their matrix is small: a triangle of ones."""
    rng = np.random.default_rng(seed)
    basis = np.sqrt(160) * np.linalg.qr(rng.standard_normal((160, 40)))[0]
    X = basis @ (np.eye(40) - np.triu(np.ones((40, 40)), 1))
    least = np.linalg.svd(X)[2][-1]
    scores = (X.astype(np.longdouble) @ least).astype(float)
    least = least / scores.std()
    y = (scores / scores.std() + 0.5 * rng.standard_normal(160) > 0).astype(int)
    assert proved(X, y) <= along(X, y, least)


@pytest.mark.parametrize("seed", range(10))
def test_bounds_on_one_side_let_coefficients_go_far(seed):
    rng = np.random.default_rng(seed)
    x, z = rng.standard_normal((2, 40))
    y = (z + 0.7 * rng.standard_normal(40) > 0).astype(int)
    bounds = ([-np.inf, 0.0], [0.0, np.inf])
    X = np.c_[x, x + 3e-12 * z]
    far = np.array([-1.0, 1.0]) / 3e-12
    assert proved(X, y, bounds=bounds) <= along(X, y, far)
    model = BlockwiseCLearningClassifier(
        loss="logistic", alpha=0.1, penalty_factor=[0, 0], fit_intercept=False, bounds=bounds
    ).fit(X + 3.0, y)
    assert model.objective_ - model.dual_gap_ <= along(X + 3.0, y, far) + 1e-9


@pytest.mark.parametrize("light", [0.0, 1e-24, 1e-12, 1e-6])
def test_samples_that_weigh_next_to_nothing_set_nothing_apart(light):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        x, z = rng.standard_normal((2, 50))
        X = np.c_[x, x + 1e-11 * z]
        X[:5, 1] = rng.standard_normal(5)
        weight = np.r_[np.full(5, light), np.ones(45)]
        y = (z + 0.7 * rng.standard_normal(50) > 0).astype(int)
        far = np.array([-1.0, 1.0]) / 1e-11
        assert proved(X, y, sample_weight=weight) <= along(X, y, far, weight)


def light_rows(seed):
    """Heavy samples of one class, and light ones that are told apart by next to nothing."""
    rng = np.random.default_rng(seed)
    heavy, light = rng.integers(1, 4, 2)
    x = rng.standard_normal(heavy + light)
    z = np.r_[np.zeros(heavy), rng.standard_normal(light)]
    weight = np.r_[10 ** rng.uniform(4, 8, heavy), 10 ** rng.uniform(-3, 0, light)]
    apart = 10 ** rng.uniform(-12.5, -11)
    y = np.r_[np.zeros(heavy, int), np.ones(light, int)]
    if light > 1:
        y[-1] = 0
    X = np.c_[x, x + apart * z]
    return X, y, weight, (X[:, 1] - X[:, 0])


@pytest.mark.parametrize("fit", ["in memory", "many classes", "in blocks"])
def test_samples_of_little_weight_may_be_what_sets_columns_apart(fit):
    for seed in range(40):
        X, y, weight, apart = light_rows(seed)
        if fit == "many classes":
            X, y, weight = np.r_[X, X[:1]], np.r_[y, 2], np.r_[weight, weight[0]]
            apart = np.r_[apart, 0.0]
        options = {"loss": "logistic", "penalty_factor": [0.0, 0.0]}
        if fit == "in blocks":
            model = BlockwiseCLearningClassifier(alpha=0.1, **options).fit(X, y, weight)
            objective, gap = model.objective_, model.dual_gap_
            scores = np.c_[np.zeros(len(y)), model.decision_function(X)]
        else:
            path = clearning_path(X, y, alphas=[0.1], sample_weight=weight, **options)
            objective, gap = path.objectives[0], path.dual_gaps[0]
            coefs, intercepts = np.atleast_2d(path.coefs[0]), np.atleast_1d(path.intercepts[0])
            scores = X @ coefs.T + intercepts
            if fit == "in memory":
                scores = np.c_[np.zeros(len(y)), scores]
        # Coefficients of any size along the difference fit the light samples, and no others.
        toward = apart / np.abs(apart).max()
        best = min(
            np.average(
                logsumexp(moved, axis=1) - moved[np.arange(len(y)), y],
                weights=weight,
            )
            for size in (-1e4, -1e2, -10.0, 0.0, 10.0, 1e2, 1e4)
            for moved in [scores + size * toward[:, None] * (np.arange(scores.shape[1]) == 1)]
        )
        assert objective - gap <= best * (1 + 1e-9) + 1e-18, (seed, objective, gap, best)


@pytest.mark.parametrize("seed", range(6))
def test_rows_that_were_not_drawn_may_set_columns_apart(seed):
    rng = np.random.default_rng(seed)
    x, z, y = rng.standard_normal(3000), np.zeros(3000), rng.integers(0, 2, 3000)
    few = rng.choice(3000, 5, replace=False)
    z[few] = rng.standard_normal(5)
    y[few] = z[few] > 0
    X = np.c_[x, x + 1e-11 * z]
    model = BlockwiseCLearningClassifier(
        loss="logistic", alpha=0.1, penalty_factor=[0, 0], fit_intercept=False
    ).fit(X, y)
    assert model.objective_ - model.dual_gap_ <= along(X, y, np.array([-3.0, 3.0]) / 1e-11)


@pytest.mark.parametrize("seed", range(8, 20))
def test_penalties_of_landmarks_of_many_scales(seed):
    """Landmarks whose kernels are 1e-15 to 1e-11 of another's are no rounding of it."""
    rng = np.random.default_rng(seed)
    q = int(rng.integers(2, 5))
    penalty = np.r_[1.0, 10 ** rng.uniform(-15, -11, q - 1)]
    size = np.sqrt(penalty * 10 ** rng.uniform(-3, 1))
    Z = rng.standard_normal((40, q)) * size / size
    y = np.r_[:2, (Z @ rng.standard_normal(q) + 0.5 * rng.standard_normal(40) > 0)[2:]]
    alpha = 10 ** rng.uniform(-5, -1)
    path = kernel_clearning_path(
        Z * size,
        y,
        penalty_kernel=np.diag(penalty),
        loss="logistic",
        alphas=[alpha],
        l1_ratio=0.0,
        max_iter=int(rng.choice([1, 2, 3, 5, 10000])),
    )

    def objective(c):
        ridge = 0.5 * alpha * np.sum(penalty / size**2 * c[1:] ** 2)
        return logistic(y, Z @ c[1:] + c[0]) + ridge

    least = minimize(objective, np.zeros(q + 1), method="BFGS").fun
    assert path.objectives[0] - path.dual_gaps[0] <= least + 1e-9


@pytest.mark.parametrize("seed", [17, 34, 35, 37])
def test_landmarks_whose_difference_costs_next_to_nothing(seed):
    """The kernel of two of 400 landmarks is one but for their rounding; scores tell them apart."""
    rng, q = np.random.default_rng(seed), 400
    apart = np.ldexp(np.round(np.ldexp(4.4e-16 * np.sqrt(q + 2) * rng.uniform(1.05, 2), 53)), -53)
    penalty = np.eye(q)
    penalty[0, 1] = penalty[1, 0] = 1 - apart
    z = rng.standard_normal(40)
    size = np.sqrt(apart * 10 ** rng.uniform(-2, 1))
    X = rng.standard_normal((40, q)) * rng.choice([0, 1e-3, 0.1])
    X[:, 1] = X[:, 0]
    X[:, :2] += size * z[:, None] * [1, -1]
    y = np.r_[:2, (z * rng.uniform(0.5, 3) + 0.5 * rng.standard_normal(40) > 0)[2:]]
    alpha = 10 ** rng.uniform(-5, -1)
    difference = X[:, 0] - X[:, 1]
    unit = np.abs(difference).max()
    lifted = check_landmark_kernel(penalty, "penalty_kernel")  # That is what is certified.
    cost = lifted[0, 0] - lifted[0, 1]
    assert apart < cost < 1e3 * apart

    def objective(c):
        ridge = alpha * cost * (c[0] / unit) ** 2
        return logistic(y, difference * (c[0] / unit) + c[1]) + ridge

    least = minimize(objective, np.zeros(2), method="BFGS").fun
    for max_iter in (1, 2, 3, 10000):
        path = kernel_clearning_path(
            X,
            y,
            penalty_kernel=penalty,
            loss="logistic",
            alphas=[alpha],
            l1_ratio=0.0,
            max_iter=max_iter,
        )
        assert path.objectives[0] - path.dual_gaps[0] <= least + 1e-9


@pytest.mark.parametrize("size", [1e-14, 1e-12, 1e-9])
def test_landmarks_without_a_penalty_are_proved_of_nothing(size):
    """No inverse tells what a pull at them costs."""
    X = size * np.random.default_rng(0).standard_normal((20, 2))
    y = (X[:, 0] > 0).astype(int)  # Their scores separate the classes.
    path = kernel_clearning_path(
        X,
        y,
        penalty_kernel=np.zeros((2, 2)),
        loss="logistic",
        alphas=[0.1],
        l1_ratio=0.0,
        max_iter=2,
    )
    assert path.objectives[0] - path.dual_gaps[0] <= 1e-9


def held_back(seed):
    """Free columns that differ by little, and penalised ones that are much like the difference."""
    rng = np.random.default_rng(seed)
    n, p = rng.integers(8, 60), rng.integers(2, 60)
    D = np.c_[np.zeros(n), rng.standard_normal(n)]
    F = rng.standard_normal((n, 1)) + 10 ** rng.uniform(-12, -1) * D
    Z = rng.standard_normal((n, p)) + D[:, 1:] * rng.standard_normal(p) * 10 ** rng.uniform(0, 4)
    y = (D[:, 1] * rng.uniform(0, 2) + rng.standard_normal(n) > 0).astype(int)
    y[:2] = 0, 1
    options = {
        "loss": str(rng.choice(["logistic", "squared_hinge", "huberized_hinge"])),
        "l1_ratio": float(rng.choice([1e-12, 0.1, 0.5, 0.9])),
        "fit_intercept": bool(rng.random() < 0.6),
        "tol": 10 ** rng.uniform(-6, -1),
    }
    top = np.abs((Z - Z.mean(axis=0)).T @ (y - y.mean())).max() / n
    alphas = np.sort(top / max(options["l1_ratio"], 0.1) * 10 ** rng.uniform(-3, 0, 2))[::-1]
    return F, Z, y, {"alphas": alphas, **options}


@pytest.mark.parametrize("form", [np.asarray, sparse.csc_array])
@pytest.mark.parametrize("seed", [94, 394, 1095, 1166, 1291, 1323, 1557, 2002, 2048])
def test_columns_with_a_penalty_may_take_back_what_free_ones_make(form, seed):
    """So that coefficients along the difference are far larger than the scores tell."""
    F, Z, y, options = held_back(seed)

    def fit(free, **changed):
        factor = np.r_[np.zeros(free.shape[1]), np.ones(Z.shape[1])]
        return clearning_path(
            form(np.c_[free, Z]), y, penalty_factor=factor, **{**options, **changed}
        )

    fit_intercept = options["fit_intercept"]
    least = fit(orthogonal(F, fit_intercept)[:, int(fit_intercept) :], tol=1e-8).objectives
    path = fit(F)
    assert np.all(path.objectives - path.dual_gaps <= least * (1 + 1e-9))


@pytest.mark.parametrize("form", [np.asarray, sparse.csc_array, sparse.csr_array])
@pytest.mark.parametrize(("apart", "shift"), [(1e-12, 3e2), (1e-10, 1e6), (1e-8, 1e8)])
def test_a_column_far_from_zero_hides_no_difference_of_others(form, apart, shift):
    """Drawn rows in blocks: mixed with the third column, the difference of two seemed none."""
    x, z, noise = np.random.default_rng(3).standard_normal((3, 30))
    y = (z + 0.5 * noise > 0).astype(int)
    X = np.c_[x, x + apart * z, x + shift]
    model = BlockwiseCLearningClassifier(
        loss="huberized_hinge", alpha=0.1, penalty_factor=[0, 0, 0]
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(form(X), y)
    # Along the difference the scores are z, up to the digits that it has.
    margins = np.where(y == 1, 1, -1) * ((X[:, 1] - X[:, 0]) / apart)
    rival = np.where(margins > -1, np.maximum(1 - margins, 0) ** 2 / 4, -margins).mean()
    assert model.objective_ - model.dual_gap_ <= rival


# --- Rows far out, whose scores on the right side cost nothing ---


def value(X, y, coefs, intercepts, penalty, weight=None):
    """The objective at some coefficients, with scores in extended precision."""
    scores = X.astype(np.longdouble) @ np.atleast_2d(coefs).T + np.atleast_1d(intercepts)
    if scores.shape[1] > 1:
        scores = scores - scores.max(axis=1, keepdims=True)
        losses = np.log(np.exp(scores).sum(axis=1)) - scores[np.arange(len(y)), y]
    else:
        margins = np.where(y > 0, 1, -1) * scores[:, 0]
        losses = np.maximum(1 - margins, 0) ** 2
    return float(np.average(losses, weights=weight)) + penalty


def three_classes_far_out(seed, far):
    """Two free columns that are nearly equal but in one row, and a penalised one like both."""
    rng = np.random.default_rng(seed)
    y = np.r_[:3, rng.integers(0, 3, 27)]
    D = rng.standard_normal((30, 2))
    F = rng.standard_normal((30, 1)) + 10 ** rng.uniform(-6, -4) * D
    X = np.c_[F, 100 * D[:, 1] + rng.standard_normal(30) + y]
    X[0] = np.r_[far * rng.standard_normal(2), 0.0]
    options = {"l1_ratio": float(rng.choice([0.5, 0.9, 1.0]))}
    return X, y, {**options, "fit_intercept": bool(rng.random() < 0.5)}


@pytest.mark.parametrize(
    ("seed", "far"), [(3, 1e5), (13, 1e5), (28, 1e5), (5, 1e7), (6, 1e7), (0, 1e9), (7, 1e9)]
)
def test_rows_far_out_hide_no_pull_of_others(seed, far):
    """Coefficients that only such a row is seen to hold may be millions of times the fit's own."""
    X, y, options = three_classes_far_out(seed, far)
    tamed = X.copy()
    tamed[0, :2] *= 1e3 / far
    options |= {"loss": "logistic", "penalty_factor": [0.0, 0.0, 1.0]}
    alphas = clearning_path(tamed, y, alphas=1, **options).alphas * np.array([0.9, 0.3])
    path = clearning_path(X, y, alphas=alphas, tol=1e-4, **options)
    for design in (tamed, X):
        rival = clearning_path(design, y, alphas=alphas, tol=1e-10, max_iter=2000, **options)
        for i, alpha in enumerate(alphas):
            b, ratio = rival.coefs[i][:, 2], options["l1_ratio"]
            penalty = alpha * np.sum(ratio * np.abs(b) + (1 - ratio) / 2 * b**2)
            least = value(X, y, rival.coefs[i], rival.intercepts[i], penalty)
            assert path.objectives[i] - path.dual_gaps[i] <= least * (1 + 1e-9)


def two_classes_far_out(seed, low, high):
    """The same of two classes, in many shapes."""
    rng = np.random.default_rng([4, seed])
    n, k, p = (int(rng.integers(*ends)) for ends in ((12, 60), (1, 4), (1, 6)))
    rng.choice([2, 2, 3])
    y = np.r_[1, 0, rng.integers(0, 2, n - 2)]
    far, apart = 10 ** rng.uniform(low, high), 10 ** rng.uniform(-6, 0)
    f, D = rng.standard_normal(n), rng.standard_normal((n, k))
    F = f[:, None] * (rng.random() < 0.8) + apart * D
    much = 10 ** rng.uniform(-1, 3.5)
    like = (F if rng.random() < 0.5 else D) @ rng.standard_normal((k, p)) * much
    Z = like + rng.standard_normal((n, p)) + (y - y.mean())[:, None] * rng.uniform(0, 2, p)
    Z[0] = rng.standard_normal(p) * rng.choice([0, 1])
    X = np.c_[F, Z]
    X[0, :k] = far * rng.standard_normal(k)
    if rng.random() < 0.2:
        X[1, :k] = far * rng.standard_normal(k)
    weight = np.ones(n)
    if rng.random() < 0.3:
        weight = 10 ** rng.uniform(-3, 3, n)
    if rng.random() < 0.3:
        weight[0] = 10 ** rng.uniform(-8, 2)
    return X, y, k, far, weight


@pytest.mark.parametrize("max_iter", [4, 6])
def test_rows_far_out_of_two_classes(max_iter):
    X, y, k, far, weight = two_classes_far_out(769, 6, 8)
    ratio = 0.9
    tamed = X.copy()
    tamed[0, :k] *= 1e3 / far
    options = {
        "loss": "squared_hinge",
        "l1_ratio": ratio,
        "penalty_factor": np.r_[np.zeros(k), np.ones(X.shape[1] - k)],
        "fit_intercept": False,
        "sample_weight": weight,
    }
    top = clearning_path(tamed, y, alphas=1, **options).alphas
    for share in (1.0, 0.999, 0.99, 0.9, 0.1, 1e-2, 1e-4):
        options["alphas"] = alpha = share * top
        path = clearning_path(X, y, tol=1e-4, max_iter=max_iter, **options)
        rival = clearning_path(tamed, y, tol=1e-10, **options)
        b = rival.coefs[0][k:]
        penalty = float(alpha[0] * np.sum(ratio * np.abs(b) + (1 - ratio) / 2 * b**2))
        least = value(X, y, rival.coefs[0], rival.intercepts[0], penalty, weight)
        assert path.objectives[0] - path.dual_gaps[0] <= least * (1 + 1e-9)


@pytest.mark.parametrize("seed", range(8))
def test_free_columns_far_from_zero_cost_no_proof(seed):
    """Their deviations are known to few digits, and these are enough."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((300, 4)) * 10.0 ** rng.integers(-3, 2) + 1e4
    options = {"loss": "logistic", "alphas": [1.0], "penalty_factor": np.zeros(4)}
    path = clearning_path(X, rng.integers(0, 3, 300), **options)
    assert path.dual_gaps[0] <= 1e-4

"""Levels of a category, a column each and without a penalty, some of which a class never meets.

The class's coefficients for such a level go on for ever; what is lost by stopping is proved.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import logsumexp

from clearning import clearning_path


def problem(seed, m=None):
    """Rows of some levels, beside columns with a penalty, and labels that avoid some of them."""
    rng = np.random.default_rng(seed)
    n, count, q = (int(rng.integers(*ends)) for ends in ((30, 300), (2, 7), (0, 4)))
    m = m or int(rng.integers(3, 6))
    level = rng.choice(count, n, p=rng.dirichlet(np.full(count, 2.0)))
    Z = rng.standard_normal((n, q))
    # The first level is not met by the last class, and others by chance.
    liking = 2.0 * rng.standard_normal((count, m))
    liking[0, -1] = -np.inf
    scores = liking[level] + Z @ rng.standard_normal((q, m)) + rng.gumbel(size=(n, m))
    _, y = np.unique(scores.argmax(axis=1), return_inverse=True)
    dummies = np.eye(count)[level][:, int(rng.random() < 0.5) :]
    options = {
        "loss": ("logistic", "coherence")[rng.integers(0, 2)],
        "l1_ratio": (0.0, 0.5, 1.0)[rng.integers(0, 3)],
        "groups": (None, "classes")[rng.integers(0, 2)],
        "penalty_factor": np.r_[np.zeros(dummies.shape[1]), np.ones(q)],
        "fit_intercept": bool(rng.random() < 0.8),
        "alphas": [0.05, 0.01],
    }
    return np.c_[dummies, Z], y, options


def smooth_least(X, y, alpha, ridge, fit_intercept):
    """The least mean multinomial loss under a ridge, by SciPy."""
    n, m = len(y), y.max() + 1
    Q = np.c_[X, np.ones(n)] if fit_intercept else X
    weight = alpha * np.r_[ridge, 0.0] if fit_intercept else alpha * ridge
    own = np.arange(m) == y[:, None]

    def value(flat):
        B = flat.reshape(Q.shape[1], m)
        scores = Q @ B
        total = logsumexp(scores, axis=1)
        gradient = Q.T @ (np.exp(scores - total[:, None]) - own) / n + weight[:, None] * B
        return np.mean(total - scores[own]) + 0.5 * weight @ (B**2).sum(axis=1), gradient.ravel()

    start = np.zeros(Q.shape[1] * m)
    return minimize(
        value, start, jac=True, method="L-BFGS-B", options={"maxiter": 5000, "gtol": 1e-10}
    ).fun


@pytest.mark.parametrize("seed", range(60))
def test_a_level_that_a_class_never_meets_costs_no_proof(seed):
    X, y, options = problem(seed)
    path = clearning_path(X, y, **options)
    assert path.converged.all(), path.dual_gaps / path.null_objective


def categories(seed, m, count, storage):
    """Several categories, all levels of each, and labels of which one avoids a level."""
    rng = np.random.default_rng(seed)
    n = 40 * (count + 4)
    levels = rng.integers(0, 4, (n, count))
    y = rng.integers(0, m, n)
    if m > 2:
        levels[y == 0, 0] = rng.integers(1, 4, (y == 0).sum())
    return storage(np.column_stack([np.eye(4)[level] for level in levels.T])), y


@pytest.mark.parametrize("storage", [np.asarray, sparse.csc_array, np.float32])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("m", [2, 3, 5])
def test_levels_of_several_categories_cost_no_proof(m, fit_intercept, storage):
    """They depend on each other exactly, and on the intercept."""
    for seed in range(8):
        X, y = categories(seed, m, int(2 + seed % 4), storage)
        free = {"penalty_factor": np.zeros(X.shape[1]), "fit_intercept": fit_intercept}
        path = clearning_path(X, y, alphas=[0.1], **free)
        assert path.converged.all(), seed
        assert np.abs(path.coefs).max() < 1e3


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("m", [2, 3])
def test_slopes_of_levels_cost_no_proof(m, fit_intercept):
    """A column and its products with the levels: rounding where it is small stays there."""
    for seed in range(12):
        rng = np.random.default_rng(seed)
        levels, x = np.eye(4)[rng.integers(0, 4, 300)], rng.standard_normal((300, 1))
        X, y = np.c_[levels, x, levels * x], rng.integers(0, m, 300)
        free = {"penalty_factor": np.zeros(X.shape[1]), "fit_intercept": fit_intercept}
        assert clearning_path(X, y, loss="logistic", alphas=[1.0], **free).converged.all(), seed


@pytest.mark.parametrize("m", [2, 5])
def test_many_categories_beside_columns_cost_no_proof(m):
    for seed in range(3):
        X, y = categories(seed, m, 14, np.asarray)
        X = np.c_[X, np.random.default_rng(seed).standard_normal((len(y), 3))]
        free = {"penalty_factor": np.zeros(X.shape[1]), "fit_intercept": False}
        assert clearning_path(X, y, alphas=[0.1], **free).converged.all(), seed


@pytest.mark.parametrize("seed", [*range(10), 49, 86])
def test_a_level_within_which_a_column_sets_classes_apart_costs_no_proof(seed):
    """Steps end before the weights there are next to none: what they cost is paid for."""
    rng = np.random.default_rng(seed)
    level, x = rng.integers(0, 4, 200), rng.standard_normal(200)
    y = rng.integers(0, 4, 200)
    few = np.flatnonzero(level == 0)
    level[few[6:]] = 1
    x[few[:6]] = 5 * rng.standard_normal(6)
    y[few[:6]] = np.digitize(x[few[:6]], [0, 3]) + rng.integers(0, 2)
    dummies, slope = np.eye(4)[level][:, 1:], x[:, None] * 2.0**-10
    X = np.c_[dummies, dummies * slope, slope]
    path = clearning_path(X, y, loss="logistic", alphas=[0.1], penalty_factor=np.zeros(7))
    assert path.converged.all()


@pytest.mark.parametrize("m", [3, 4, 5])
def test_what_is_proved_there_is_true(m):
    for seed in range(20):
        X, y, options = problem(1000 * m + seed, m)
        options |= {"loss": "logistic", "l1_ratio": 0.0}
        path = clearning_path(X, y, **options)
        for k, alpha in enumerate(options["alphas"]):
            factor = options["penalty_factor"]
            least = smooth_least(X, y, alpha, factor, options["fit_intercept"])
            assert path.objectives[k] - path.dual_gaps[k] <= least + 1e-12
            assert path.objectives[k] <= least + 1e-5


@pytest.mark.parametrize("seed", range(12))
def test_a_detail_that_tells_a_level_apart_is_not_proved_away(seed):
    """Beside levels that classes avoid, columns hide a detail that a few rows show."""
    rng = np.random.default_rng(seed)
    X, y, options = problem(seed)
    n, small = len(y), 2.0**-36
    side = np.where(y == 0, 1.0, -1.0)
    behind = np.round(rng.standard_normal(n) * 128) / 128
    detail = np.round((0.7 * side + rng.standard_normal(n)) * 32) / 32 * small
    detail[:8] = side[:8]
    told = np.clip(detail / small, -100, 100)
    free = np.r_[np.zeros(2), options.pop("penalty_factor")]
    path = clearning_path(np.c_[behind, behind + detail, X], y, penalty_factor=free, **options)
    rival = clearning_path(np.c_[behind, told, X], y, penalty_factor=free, **options)
    assert (path.objectives - path.dual_gaps <= rival.objectives + 1e-9).all()


@pytest.mark.parametrize("seed", [47, 66, 93, 101, 109, 128, 176, 229])
def test_levels_beside_a_hinge_cost_no_proof(seed):
    """Of whose few curved samples none may have room: then others make up for the pull."""
    X, y, options = problem(seed)
    options.pop("groups")
    path = clearning_path(X, y > 0, **options | {"loss": "hinge"})
    assert path.converged.all(), path.dual_gaps / path.null_objective


@pytest.mark.parametrize("loss", ["logistic", "coherence"])
def test_a_start_that_is_worse_than_the_null_model_is_left(loss):
    rng = np.random.default_rng(3)
    X, y = rng.standard_normal((40, 6)), rng.integers(0, 3, 40)
    start = 1e12 * rng.standard_normal((3, 6))
    path = clearning_path(X, y, loss=loss, alphas=[0.1], coef_init=start)
    assert path.converged.all()
    assert path.objectives[0] <= path.null_objective


@pytest.mark.parametrize("loss", ["hinge", "huberized_hinge"])
def test_a_far_start_of_two_classes_is_left(loss):
    for seed in range(10):
        X, y, options = problem(seed)
        options.pop("groups")
        start = 1e6 * np.random.default_rng(seed).standard_normal(X.shape[1])
        path = clearning_path(X, y > 0, **options | {"loss": loss, "coef_init": start})
        assert path.converged.all(), seed

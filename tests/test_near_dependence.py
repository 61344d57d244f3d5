"""Columns without a penalty that differ by next to nothing, and whose coefficients may go far.

The optimum is SciPy's, in an orthogonal basis of the same columns made in extended precision.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import logsumexp

from clearning import BlockwiseCLearningClassifier, CLearningClassifier, clearning_path

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

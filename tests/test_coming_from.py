"""What docs/from-*.md say of other packages' parameters: their objectives are ours, translated."""

import numpy as np
import pytest
from glmnet_cases import ALPHAS, FILE, PATHS, data_of
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from clearning import (
    CLearningClassifier,
    CLearningClassifierCV,
    KernelCLearningClassifier,
    clearning_path,
)

C = 0.1


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X), y


def _slack(y, scores):
    return np.maximum(1 - np.where(y == 1, 1, -1) * scores, 0)


def _glmnet_objective(X, y, intercept, b, lam, alpha, factors):
    """Glmnet's objective in glmnet's names; it scales factors to sum to the number of columns."""
    eta = intercept + X @ b
    factors = factors * len(b) / factors.sum()
    penalty = factors @ ((1 - alpha) / 2 * b**2 + alpha * np.abs(b))
    return np.mean(np.logaddexp(0, eta) - y * eta) + lam * penalty


@pytest.mark.parametrize("name", ["lasso", "elastic_net", "ridge", "penalty_factors"])
def test_glmnet_minimises_our_objective(name):
    with np.load(FILE) as kept:
        X, y, options = data_of(PATHS[name], kept)
        theirs = kept[f"path_{name}"]
    factors = options.pop("penalty_factor", np.ones(X.shape[1]))
    y, alpha = y == y.max(), options.pop("l1_ratio")
    lambdas = ALPHAS * factors.mean()  # what glmnet was asked for, see data/make_glmnet.py
    path = clearning_path(
        X,
        y,
        loss="logistic",
        alphas=lambdas,
        l1_ratio=alpha,
        penalty_factor=factors * len(factors) / factors.sum(),
        tol=1e-9,
        **options,
    )
    for k, lam in enumerate(lambdas):
        found, asked = (
            _glmnet_objective(X, y, a, b, lam, alpha, factors)
            for a, b in ((path.intercepts[k], path.coefs[k]), (theirs[k, 0], theirs[k, 1:]))
        )
        assert found == pytest.approx(path.objectives[k], rel=1e-12)
        assert asked == pytest.approx(found, rel=1e-6)
        assert asked >= found - path.dual_gaps[k]


def test_one_se_is_lambda_1se(cancer):
    model = CLearningClassifierCV(search="paper", selection="one_se").fit(*cancer)
    mean, sem = (model.cv_results_[f"{kind}_test_score"] for kind in ("mean", "sem"))
    within = mean >= mean.max() - sem[mean.argmax()]
    assert model.alpha_ == model.cv_results_["param_alpha"][within].max()


def test_logistic_regression_minimises_our_objective(cancer):
    X, y = cancer
    alpha = 1 / (C * len(y))
    theirs = LogisticRegression(C=C, tol=1e-10, max_iter=10_000).fit(X, y)
    ours = CLearningClassifier(loss="logistic", alpha=alpha, l1_ratio=0, tol=1e-12).fit(X, y)
    margin = np.where(y == 1, 1, -1) * theirs.decision_function(X)
    reached = np.logaddexp(0, -margin).mean() + alpha / 2 * (theirs.coef_**2).sum()
    assert reached == pytest.approx(ours.objective_, rel=1e-9)
    np.testing.assert_allclose(theirs.coef_, ours.coef_, atol=1e-5)


def test_logistic_regression_of_three_classes_minimises_our_objective():
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    alpha = 1 / (C * len(y))
    theirs = LogisticRegression(C=C, tol=1e-10, max_iter=10_000).fit(X, y)
    ours = CLearningClassifier(loss="logistic", alpha=alpha, l1_ratio=0, tol=1e-12).fit(X, y)
    own = np.log(theirs.predict_proba(X)[np.arange(len(y)), y])
    reached = -own.mean() + alpha / 2 * (theirs.coef_**2).sum()
    assert reached == pytest.approx(ours.objective_, rel=1e-9)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_linear_svc_minimises_our_objective(cancer, loss):
    X, y = cancer
    C = 0.01
    options = {"loss": loss, "fit_intercept": False}
    theirs = LinearSVC(C=C, tol=1e-8, max_iter=1_000_000, random_state=0, **options).fit(X, y)
    ours = CLearningClassifier(alpha=1 / (C * len(y)), l1_ratio=0, tol=1e-10, **options).fit(X, y)
    slack = _slack(y, theirs.decision_function(X))
    reached = 0.5 * (theirs.coef_**2).sum() + C * (slack ** (1 + (loss != "hinge"))).sum()
    assert reached / (C * len(y)) == pytest.approx(ours.objective_, rel=1e-6)


def test_svc_minimises_our_objective(cancer):
    X, y = cancer
    K = rbf_kernel(X, gamma=0.05)
    theirs = SVC(C=1.0, gamma=0.05, tol=1e-8).fit(X, y)
    ours = KernelCLearningClassifier(
        loss="hinge", gamma=0.05, l1_ratio=0, alpha=1 / len(y), tol=1e-8
    ).fit(X, y)
    beta = np.zeros(len(y))
    beta[theirs.support_] = theirs.dual_coef_[0]
    reached = 0.5 * beta @ K @ beta + _slack(y, theirs.decision_function(X)).sum()
    assert reached / len(y) == pytest.approx(ours.objective_, rel=1e-6)

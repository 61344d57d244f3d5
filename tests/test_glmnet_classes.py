"""Many classes against R's glmnet, at every margin: u enters glmnet as an offset."""

import numpy as np
import pytest
from glmnet_class_cases import ALPHAS, CASES, FILE
from scipy.special import logsumexp

from clearning import clearning_path
from clearning.losses import Coherence


@pytest.fixture(scope="module")
def kept():
    return np.load(FILE)


def objective(kept, case, alpha, coef, intercept):
    """ρ times glmnet's own objective, in the coefficients of our scores."""
    X, y, rho, u = kept["X"], kept["y"], case.get("rho", 1.0), case.get("u", 0.0)
    weight = kept["weights"] if case.get("weighted") else np.ones(len(y))
    factor = kept["factors"] if case.get("factors") else np.ones(X.shape[1])
    g = X @ coef.T + intercept + (kept["offsets"] if case.get("offset") else 0.0)
    lifted = (g + u * (np.arange(3) != y[:, None])) / rho
    losses = rho * (logsumexp(lifted, axis=1) - lifted[np.arange(len(y)), y])
    squares = (coef**2).sum(axis=0)
    norms = np.sqrt(squares) if case.get("groups") else np.abs(coef).sum(axis=0)
    penalty = factor @ (case["l1_ratio"] * norms + (1 - case["l1_ratio"]) / 2 * squares)
    return weight @ losses / weight.sum() + alpha * penalty


@pytest.mark.parametrize("name", CASES)
def test_path_agrees_with_glmnet(kept, name):
    case = CASES[name]
    rho, u = case.get("rho", 1.0), case.get("u", 0.0)
    path = clearning_path(
        kept["X"],
        kept["y"],
        loss=Coherence(rho, u),
        alphas=ALPHAS,
        l1_ratio=case["l1_ratio"],
        groups=case.get("groups"),
        fit_intercept=case.get("fit_intercept", True),
        sample_weight=kept["weights"] if case.get("weighted") else None,
        penalty_factor=kept["factors"] if case.get("factors") else None,
        offset=kept["offsets"] if case.get("offset") else None,
        tol=1e-11,
    )
    for k, alpha in enumerate(ALPHAS):
        theirs = rho * kept[name][k]
        value = objective(kept, case, alpha, theirs[:, 1:], theirs[:, 0])
        own = objective(kept, case, alpha, path.coefs[k], path.intercepts[k])
        assert path.objectives[k] == pytest.approx(own, rel=1e-13)
        assert own <= value + 1e-10
        assert value - own <= 2e-8
        if case["l1_ratio"] < 1.0 or case.get("groups"):
            np.testing.assert_allclose(path.coefs[k], theirs[:, 1:], atol=2e-3 * rho)

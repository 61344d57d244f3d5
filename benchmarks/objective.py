"""What a path of solutions is worth: objectives and, independently of any solver, lower bounds.

P(a, b) = (1/n) Σ log(1 + exp(−y_i (a + x_i'b))) + α [(1−ω)/2 ‖b‖² + ω ‖b‖₁],   y_i = ±1.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.special import entr, expit


def path_scores(X, coefs, intercepts) -> np.ndarray:
    """Scores of shape (n_samples, n_alphas); coefs may be dense or sparse, (n_alphas, p)."""
    product = X @ coefs.T
    if sp.issparse(product):
        product = product.toarray()
    return np.asarray(product) + np.asarray(intercepts)


def path_penalties(coefs, alphas, l1_ratio: float) -> np.ndarray:
    l1 = np.asarray(abs(coefs).sum(axis=1)).ravel()
    squares = coefs.multiply(coefs) if sp.issparse(coefs) else coefs * coefs
    l2 = np.asarray(squares.sum(axis=1)).ravel()
    return alphas * ((1.0 - l1_ratio) / 2.0 * l2 + l1_ratio * l1)


def logistic_objectives(scores, signs, penalties) -> np.ndarray:
    return np.logaddexp(0.0, -signs[:, None] * scores).mean(axis=0) + penalties


def logistic_bounds(X, scores, signs, alphas, l1_ratio: float, *, intercept: bool) -> np.ndarray:
    """Values of the dual at points made feasible from the scores: no solution is below them."""
    n = len(signs)
    s = expit(-signs[:, None] * scores)
    if intercept:
        s = _balanced(s, signs)
    v = np.abs(X.T @ (signs[:, None] * s)) / n
    if l1_ratio == 1.0:
        largest = np.maximum(v.max(axis=0), np.finfo(float).tiny)
        s = s * np.minimum(1.0, alphas / largest)
        return _entropy(s)
    excess = np.maximum(v - alphas * l1_ratio, 0.0)
    return _entropy(s) - (excess**2).sum(axis=0) / (2.0 * alphas * (1.0 - l1_ratio))


def _balanced(s, signs):
    """Shrink the heavier class so that both sums agree: the intercept's dual constraint."""
    up, down = s[signs > 0].sum(axis=0), s[signs < 0].sum(axis=0)
    common = np.minimum(up, down)
    return np.where(signs[:, None] > 0, s * (common / up), s * (common / down))


def _entropy(s):
    return (entr(s) + entr(1.0 - s)).mean(axis=0)


def worst_suboptimality(objectives, reference) -> float:
    """Largest relative distance to the reference along the path."""
    return float(np.max((np.asarray(objectives) - reference) / reference))

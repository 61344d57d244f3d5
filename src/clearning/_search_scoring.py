"""The judge of a cross-validation: from the scores f of test samples to one number per alpha."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.metrics import get_scorer

from clearning._designs import Array, Indices
from clearning._door import relative
from clearning._margin import MarginClassifierMixin
from clearning._problem import Target
from clearning._sklearn import safe_indexing, scores_probabilities
from clearning.losses import Loss

Metric = Callable[[Loss, Array, Indices], Array]


class FixedScores(MarginClassifierMixin, BaseEstimator):
    """A fitted classifier for scikit-learn's scorers, whose scores are known already."""

    def __init__(self, scores: Array, classes: NDArray[Any], loss: Loss) -> None:
        self.scores = scores
        self.classes_ = classes
        self.loss_ = loss

    def decision_function(self, X: Any, offset: None = None) -> Array:
        """Return the known scores, whatever X is."""
        return self.scores


def make_metric(
    scoring: str | Callable[..., float] | None,
    X: Any,
    target: Target,
    score_params: Mapping[str, Any],
    *,
    has_link: bool,
) -> Metric:
    """Return the metric: a function of (loss, scores, test) that gives one number per alpha.

    Larger is better. The default is "neg_log_loss" where the loss has a link, "accuracy"
    elsewhere; these two are computed for all alphas at once.
    """
    if scoring is None:
        scoring = "neg_log_loss" if has_link else "accuracy"
    scorer = get_scorer(scoring)
    if not has_link and scores_probabilities(scorer):
        raise ValueError(
            f"scoring={scoring!r} needs probabilities, to which the loss has no link. Use another "
            "score or calibrate=True, or wrap the classifier in CalibratedMarginClassifier."
        )
    pointwise = {"neg_log_loss": _log_likelihood, "accuracy": _hits}
    if isinstance(scoring, str) and scoring in pointwise and set(score_params) <= {"sample_weight"}:
        return _mean_metric(pointwise[scoring], target, score_params.get("sample_weight"))
    return _scorer_metric(scorer, X, target, score_params)


def _mean_metric(
    quality: Callable[[Loss, Indices, Array], Array], target: Target, weight: ArrayLike | None
) -> Metric:
    weights = np.ones(len(target.codes)) if weight is None else relative(np.asarray(weight))

    def metric(loss: Loss, scores: Array, test: Indices) -> Array:
        each = quality(loss, target.codes[test], scores)
        return np.average(each, axis=0, weights=weights[test])

    return metric


def _log_likelihood(loss: Loss, codes: Indices, scores: Array) -> Array:
    eps = np.finfo(scores.dtype).eps
    if scores.ndim == 3:
        own = np.take_along_axis(loss.inverse_link(scores), codes[:, None, None], axis=2)[..., 0]
    else:
        # η̃(−f) = 1 − η̃(f) lets one formula do.
        own = loss.inverse_link(np.where(codes[:, None] == 1, scores, -scores))
    # The clipping is that of scikit-learn's log_loss.
    return np.log(np.clip(own, eps, 1.0 - eps))


def _hits(loss: Loss, codes: Indices, scores: Array) -> Array:
    chosen = scores.argmax(axis=2) if scores.ndim == 3 else scores > 0
    return (chosen == codes[:, None]).astype(np.float64)


def _scorer_metric(
    scorer: Callable[..., float], X: Any, target: Target, score_params: Mapping[str, Any]
) -> Metric:
    labels = target.classes[target.codes]

    def metric(loss: Loss, scores: Array, test: Indices) -> Array:
        X_test, y_test = safe_indexing(X, test), labels[test]
        params = {name: safe_indexing(value, test) for name, value in score_params.items()}
        models = (FixedScores(column, target.classes, loss) for column in np.moveaxis(scores, 1, 0))
        return np.array([scorer(model, X_test, y_test, **params) for model in models])

    return metric

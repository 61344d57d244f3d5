"""Scores of any classifier, and probabilities of any calibrator, in one shape."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from clearning._sklearn import check_method_params, safe_split

Array = NDArray[np.float64]


def fit_fold(
    estimator: Any,
    X: Any,
    y: Any,
    classes: NDArray[Any],
    train: NDArray[np.intp],
    test: NDArray[np.intp],
    fit_params: dict[str, Any],
) -> tuple[Any, Array]:
    """Fit to the training part of a fold, and score its test part."""
    X_train, y_train = safe_split(estimator, X, y, train)
    X_test, _ = safe_split(estimator, X, y, test, train)
    params = check_method_params(X, params=fit_params, indices=train)
    estimator.fit(X_train, y_train, **params)
    return estimator, score(estimator, X_test, classes)


def score(estimator: Any, X: Any, classes: NDArray[Any]) -> Array:
    """The decision function: one column for two classes, else one for each."""
    known = np.asarray(getattr(estimator, "classes_", classes))
    if not np.array_equal(known, classes):
        raise ValueError(
            f"{type(estimator).__name__} knows the classes {known}, but y holds {classes}; each "
            "fold must hold every class."
        )
    scores = np.asarray(estimator.decision_function(X), dtype=float)
    expected = (len(scores),) if len(classes) == 2 else (len(scores), len(classes))
    if len(classes) == 2 and scores.ndim == 2 and scores.shape[1] == 1:
        return scores[:, 0]
    if scores.shape != expected:
        raise ValueError(
            f"The decision function of {type(estimator).__name__} has shape {scores.shape} for "
            f"{len(classes)} classes; {expected} is needed (decision_function_shape='ovr')."
        )
    return scores


def two_columns(calibrator: Any, scores: Array) -> Array:
    """A calibrator's probabilities as two columns, from two or from the second alone."""
    proba = np.asarray(calibrator.predict_proba(scores), dtype=float)
    return proba if proba.ndim == 2 else np.column_stack([1.0 - proba, proba])


def weight_name(estimator: Any) -> str | None:
    """What `fit` calls the sample weights of an estimator or of a pipeline's last step."""
    if isinstance(estimator, FrozenEstimator):
        return "sample_weight"
    if isinstance(estimator, Pipeline):
        step, last = estimator.steps[-1]
        inner = weight_name(last)
        return None if inner is None else f"{step}__{inner}"
    return "sample_weight" if has_fit_parameter(estimator, "sample_weight") else None

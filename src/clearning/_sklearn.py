"""Everything private that is taken from scikit-learn, in one place to mend when it moves."""

from __future__ import annotations

from collections.abc import Callable

from sklearn.base import BaseEstimator
from sklearn.base import _fit_context as fit_context
from sklearn.utils import _safe_indexing as safe_indexing
from sklearn.utils._param_validation import HasMethods, Hidden, Interval, StrOptions
from sklearn.utils.metadata_routing import _raise_for_params as raise_for_params
from sklearn.utils.metadata_routing import _routing_enabled as routing_enabled
from sklearn.utils.metaestimators import _safe_split as safe_split
from sklearn.utils.validation import _check_method_params as check_method_params
from sklearn.utils.validation import _get_feature_names as get_feature_names
from sklearn.utils.validation import _num_samples as num_samples

__all__ = [
    "HasMethods",
    "Hidden",
    "Interval",
    "StrOptions",
    "check_method_params",
    "fit_context",
    "get_feature_names",
    "num_samples",
    "raise_for_params",
    "routing_enabled",
    "safe_indexing",
    "safe_split",
    "scores_probabilities",
    "validate_params",
]


def scores_probabilities(scorer: Callable[..., float]) -> bool:
    """Whether a scorer asks an estimator for probabilities and takes nothing else."""
    return getattr(scorer, "_response_method", None) == "predict_proba"


def validate_params(estimator: BaseEstimator) -> None:
    """Check an estimator's parameters as its own `fit` would."""
    estimator._validate_params()

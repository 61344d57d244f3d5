"""Two classes have one score, many have one each: the one place that knows.

Everything else asks for scores as columns, for the classes they belong to, and for coefficients by
score.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def as_columns(scores: NDArray[Any]) -> NDArray[Any]:
    """Scores (n,) or (n, m) as (n, 1) or (n, m)."""
    return scores.reshape(len(scores), -1)


def scored_classes(classes: NDArray[Any]) -> NDArray[Any]:
    """The classes that scores and rows of coefficients belong to: the second of two, or all."""
    return classes[1:] if len(classes) == 2 else classes


def coefficients_by_score(coefs: NDArray[Any], n_features: int) -> NDArray[np.float64]:
    """A path's coefficients as (n_alphas, n_scores, n_features)."""
    return np.asarray(coefs, dtype=float).reshape(len(coefs), -1, n_features)


def strength(coefs: NDArray[np.float64]) -> NDArray[np.float64]:
    """One number a feature (the last axis): its coefficient, or their norm over many scores."""
    if coefs.shape[-2] == 1:
        return coefs[..., 0, :]
    return np.linalg.norm(coefs, axis=-2)

"""A search's cross-validation curve: the rows of the chosen combination, and its marks."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.intp]


def combination_rows(cv_results: dict[str, Any], best_index: int) -> list[Rows]:
    """Rows of each combination of hyperparameters but alpha; those of the chosen one first."""
    keys = [k for k in cv_results if k.startswith("param_") and k != "param_alpha"]
    table = np.array([cv_results[key] for key in keys], dtype=float)
    number = np.unique(table, axis=1, return_inverse=True)[1].reshape(-1)
    first = number[best_index]
    rest = [k for k in range(number.max() + 1) if k != first]
    return [np.flatnonzero(number == k) for k in (first, *rest)]


def marked_penalties(cv_results: dict[str, Any], rows: Rows) -> tuple[float, float]:
    """The best penalty, and the largest within one standard error of it."""
    alphas = cv_results["param_alpha"][rows]
    mean = cv_results["mean_test_score"][rows]
    best = int(np.nanargmax(mean))
    within = mean >= mean[best] - cv_results["sem_test_score"][rows][best]
    return float(alphas[best]), float(alphas[within].max())

"""What the two linear classifiers share: input, scores and the way to the path solver."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import _safe_indexing
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted, validate_data

from clearning._base import (
    COMMON_CONSTRAINTS,
    MarginClassifierMixin,
    Target,
    check_offset,
    target_rows,
)
from clearning.losses import Loss
from clearning.path import RegularizationPath, linear_path

LINEAR_CONSTRAINTS: dict[str, list[Any]] = {
    **COMMON_CONSTRAINTS,
    "standardize": ["boolean"],
    "penalty_factor": ["array-like", None],
    "bounds": [tuple, list, None],
}


class BaseLinearClassifier(MarginClassifierMixin, BaseEstimator):
    """What the two linear classifiers share: input, scores and the options of a path."""

    coef_: NDArray[np.float64]
    intercept_: NDArray[np.float64]

    def decision_function(self, X: Any, offset: ArrayLike | None = None) -> NDArray[np.float64]:
        """Return the scores f(x) = a + x'b.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples.
        offset : array-like of shape (n_samples,), default=None
            Added to the scores.

        Returns
        -------
        scores : ndarray of shape (n_samples,)
            Positive on the side of ``classes_[1]``.
        """
        check_is_fitted(self)
        X = self._validate_design(X, reset=False)
        scores = safe_sparse_dot(X, self.coef_[0]) + self.intercept_[0]
        return scores if offset is None else scores + check_offset(X, offset)

    def _validate_design(self, X: Any, *args: Any, reset: bool = True) -> Any:
        return validate_data(
            self,
            X,
            *args,
            reset=reset,
            accept_sparse=("csc", "csr"),
            dtype=(np.float64, np.float32),
        )

    def _path(
        self, X: Any, target: Target, loss: Loss, index: Any = None, **options: Any
    ) -> RegularizationPath:
        """Run the path solver on all samples, or on those of an index."""
        if index is not None:
            X, target = _safe_indexing(X, index), target_rows(target, index)
        return linear_path(
            X,
            target,
            loss,
            getattr(self, "feature_names_in_", None),
            fit_intercept=self.fit_intercept,
            standardize=self.standardize,
            penalty_factor=self.penalty_factor,
            bounds=self.bounds,
            **{"tol": self.tol, "max_iter": self.max_iter, **options},
        )

    def _take(self, path: RegularizationPath, index: int) -> None:
        """Set the fitted attributes from one point of a path."""
        self.coef_ = path.sparse_coefs[[index]].toarray()
        self.intercept_ = path.intercepts[index : index + 1].copy()
        self.n_iter_ = int(path.n_iters[index])
        self.objective_ = float(path.objectives[index])
        self.dual_gap_ = float(path.dual_gaps[index])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

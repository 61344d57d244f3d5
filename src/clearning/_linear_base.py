"""What the two linear classifiers share: input, scores and the way to the path solver."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted, validate_data

from clearning._designs import Features, column_scales
from clearning._door import check_labels, check_matrix, floats
from clearning._margin import COMMON_CONSTRAINTS, MarginClassifierMixin
from clearning._problem import Problem, check_offset, check_penalty, check_target
from clearning._sklearn import StrOptions
from clearning._summary import Summary, linear_summary
from clearning.path import RegularizationPath

LINEAR_CONSTRAINTS: dict[str, list[Any]] = {
    **COMMON_CONSTRAINTS,
    "standardize": ["boolean"],
    "penalty_factor": ["array-like", None],
    "bounds": [tuple, list, None],
    "groups": ["array-like", StrOptions({"classes"}), None],
}


class BaseLinearClassifier(MarginClassifierMixin, BaseEstimator):
    """What the two linear classifiers share: input, scores and the problem."""

    fit_intercept: bool
    standardize: bool
    penalty_factor: ArrayLike | None
    bounds: tuple[ArrayLike, ArrayLike] | None
    groups: ArrayLike | str | None = None  # models pickled by 0.1 have none
    class_weight: dict[Any, float] | str | None
    coef_: NDArray[np.float64]
    intercept_: NDArray[np.float64]

    def decision_function(self, X: Any, offset: ArrayLike | None = None) -> NDArray[np.float64]:
        """Return the scores f(x) = a + x'b, one for two classes and otherwise one a class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples.
        offset : array-like of shape (n_samples,) or (n_samples, n_classes), default=None
            Added to the scores.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            With two classes positive on the side of ``classes_[1]``.
        """
        check_is_fitted(self)
        X = self._validate_design(X, reset=False)
        if len(self.classes_) == 2:
            scores = safe_sparse_dot(X, self.coef_[0]) + self.intercept_[0]
        else:
            scores = safe_sparse_dot(X, self.coef_.T, dense_output=True) + self.intercept_
        return scores if offset is None else scores + check_offset(X, offset, len(self.classes_))

    def _validate_design(self, X: Any, *y: Any, reset: bool = True) -> Any:
        with floats("X"):
            return validate_data(
                self,
                check_matrix(X),
                *map(check_labels, y),
                reset=reset,
                accept_sparse=("csc", "csr"),
                dtype=(np.float64, np.float32),
            )

    def _problem(
        self, X: Any, y: Any, sample_weight: ArrayLike | None, offset: ArrayLike | None
    ) -> Problem:
        """Check everything that is given to fit; X and y are scikit-learn's check's."""
        target = check_target(
            X,
            y,
            sample_weight=sample_weight,
            class_weight=self.class_weight,
            offset=offset,
            many=True,
        )
        design = Features(X, self.standardize)
        penalty = check_penalty(
            self.penalty_factor,
            self.bounds,
            X.shape[1],
            n_classes=target.n_classes,
            groups=self.groups,
        )
        with np.errstate(over="ignore", invalid="ignore"):
            self.feature_scales_ = column_scales(design.columns, target.shares)
        names = getattr(self, "feature_names_in_", None)
        return Problem(design, target, penalty, self.fit_intercept, names)

    def summary(self) -> Summary:
        """Return the features that are kept, the weightiest first.

        Returns
        -------
        Summary
            A table that prints itself, with ``columns`` and ``to_frame()``: feature, coefficient,
            standardised coefficient (times the feature's standard deviation) and, where there is a
            path, the penalty at which the feature entered it.
        """
        check_is_fitted(self)
        return linear_summary(self)

    def _take(self, path: RegularizationPath, index: int) -> None:
        """Set the fitted attributes from one point of a path."""
        self.coef_, self.intercept_ = path.solution(index)
        self.n_iter_ = int(path.n_iters[index])
        self.objective_ = float(path.objectives[index])
        self.dual_gap_ = float(path.dual_gaps[index])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_class = True
        return tags

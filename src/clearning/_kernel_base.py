"""What the kernel classifiers share: checked inputs, support vectors, and scores from them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from clearning._auto_landmarks import AUTO, LandmarkFit, LandmarkRefinement
from clearning._door import check_labels, check_matrix, check_weight, floats
from clearning._expansion import Expansion
from clearning._margin import MarginClassifierMixin
from clearning._problem import (
    Problem,
    Target,
    check_kernel_groups,
    check_offset,
    check_target,
)
from clearning._ranges import LARGEST
from clearning._sklearn import Hidden, Interval, StrOptions
from clearning._summary import Summary, kernel_summary
from clearning.kernels import GAMMA_RULES, KERNELS, Kernel, kernel_width
from clearning.path import RegularizationPath

KERNEL_CONSTRAINTS: dict[str, list[Any]] = {
    "kernel": [StrOptions(set(KERNELS)), Hidden(StrOptions({"additive_chi2"})), callable],
    "gamma": [StrOptions(set(GAMMA_RULES)), Interval(Real, 0, LARGEST, closed="right")],
    "degree": [Interval(Real, 1, LARGEST, closed="both")],
    "coef0": [Interval(Real, -LARGEST, LARGEST, closed="both")],
    "kernel_params": [dict, None],
    "n_landmarks": [StrOptions({AUTO}), Interval(Integral, 1, None, closed="left"), None],
    "dtype": [StrOptions({"float64", "float32"})],
    "random_state": ["random_state"],
    "groups": [StrOptions({"classes"}), None],
}
WITH_GAMMA = ("rbf", "laplacian", "chi2", "polynomial", "poly", "sigmoid")


@dataclass(frozen=True)
class TrainingSet:
    """The samples that count: those whose weight is not zero.

    A sample without weight must not lend its kernel function to the others either, so that leaving
    it out and giving it no weight are the same.
    """

    X: Any
    target: Target
    sample_weight: NDArray[np.float64] | None
    rows: NDArray[np.intp]
    n_samples: int


def _canonical(X: Any) -> Any:
    """Return a sparse matrix with each entry once, as norms and distances read it.

    scikit-learn's distances of sparse rows know 32-bit indices only.
    """
    if not sparse.issparse(X):
        return X
    rows = X.tocsr()
    if not rows.has_canonical_format:
        rows = rows.copy() if rows is X else rows
        rows.sum_duplicates()
    if rows.indices.dtype == np.int64 and max(rows.nnz, *rows.shape) < 2**31:
        parts = rows.data, rows.indices.astype(np.int32), rows.indptr.astype(np.int32)
        rows = type(rows)(parts, shape=rows.shape)
    return rows


def _check_non_negative(X: Any) -> None:
    smallest = X.min()
    if smallest < 0:
        raise ValueError(
            f"kernel='chi2' needs samples >= 0, but X holds {smallest:.6g}. Shift X, or use "
            "kernel='rbf'."
        )


class BaseKernelClassifier(MarginClassifierMixin, BaseEstimator):
    """Score f(x) = α + Σ_j β_j k(x_j, x), with β non-zero at the support vectors only; of more than
    two classes one score a class."""

    groups: str | None = None  # models pickled by 0.1 have none
    kernel: Any
    degree: Any
    coef0: Any
    kernel_params: Any
    n_landmarks: Any
    dtype: str
    random_state: Any
    fit_intercept: bool
    class_weight: Any
    tol: float
    max_iter: int
    support_vectors_: Any
    # What n_landmarks="auto" stands for.
    _all_samples_up_to: ClassVar[int]
    _landmarks_at_first: ClassVar[int]

    def _check(
        self, X: Any, y: Any, sample_weight: ArrayLike | None, offset: ArrayLike | None
    ) -> tuple[Any, NDArray[Any], Target, NDArray[np.float64] | None]:
        """Check everything that is given to fit; return X, y, the target and the weights."""
        if self.kernel == "additive_chi2":
            raise ValueError(
                "kernel='additive_chi2' is not positive semidefinite, as k(x, x) = 0; use 'chi2', "
                "its exponential."
            )
        X, y = self._validate(X, y)
        target = check_target(
            X,
            y,
            sample_weight=sample_weight,
            class_weight=self.class_weight,
            offset=offset,
            many=True,
        )
        if self.kernel == "precomputed" and X.shape[1] != X.shape[0]:
            raise ValueError(
                "X must be a square kernel matrix with kernel='precomputed', got shape "
                f"{X.shape}: X.shape[0] should be equal to X.shape[1]."
            )
        return X, y, target, check_weight(sample_weight, X)

    def _training_set(
        self, X: Any, target: Target, sample_weight: NDArray[np.float64] | None
    ) -> TrainingSet:
        """Leave out samples of no weight."""
        n_samples = X.shape[0]
        rows = np.arange(n_samples)
        if target.weight is not None and not target.weight.all():
            rows = np.flatnonzero(target.weight)
            X = X[np.ix_(rows, rows)] if self.kernel == "precomputed" else X[rows]
            target = target.rows(rows)
        if self.n_landmarks not in (None, AUTO) and self.n_landmarks > len(rows):
            raise ValueError(
                f"n_landmarks must lie between 1 and the number of samples ({len(rows)}), "
                f"got {self.n_landmarks}."
            )
        weight = None if sample_weight is None else sample_weight[rows]
        return TrainingSet(X, target, weight, rows, n_samples)

    def _validate(self, X: Any, y: Any = "no_validation", reset: bool = True) -> Any:
        precomputed = self.kernel == "precomputed"
        with floats("X"):
            checked = validate_data(
                self,
                _canonical(check_matrix(X)),
                check_labels(y),
                accept_sparse=False if precomputed else "csr",
                dtype=self.dtype if precomputed else np.float64,
                reset=reset,
            )
        if self.kernel == "chi2":
            _check_non_negative(checked[0] if isinstance(checked, tuple) else checked)
        return checked

    def _resolve_kernel(self, training: TrainingSet, gamma: float | str) -> Kernel:
        if self.kernel in WITH_GAMMA:
            with np.errstate(over="ignore", invalid="ignore"):
                gamma = kernel_width(
                    gamma,
                    training.X,
                    training.target.codes,
                    training.sample_weight,
                    kernel=self.kernel,
                )
        else:
            gamma = np.nan
        return Kernel(
            self.kernel, gamma, self.degree, self.coef0, self.kernel_params or {}, self.dtype
        )

    def _first_landmarks(self, training: TrainingSet) -> int | None:
        """Return the number of landmarks to begin with; None for all samples."""
        if self.n_landmarks != AUTO:
            return self.n_landmarks
        return None if len(training.rows) <= self._all_samples_up_to else self._landmarks_at_first

    def _finish(
        self,
        training: TrainingSet,
        kernel: Kernel,
        expansion: Expansion,
        path: RegularizationPath,
        index: int,
    ) -> LandmarkFit:
        """Judge a path on landmarks by the full problem, with more of them where that is needed."""
        refinement = LandmarkRefinement(
            kernel,
            training.X,
            self._problem(expansion, training.target),
            self._settings(),
            self.n_landmarks == AUTO,
            self.random_state,
        )
        return refinement.finish(expansion, path, index)

    def _problem(self, expansion: Expansion, target: Target) -> Problem:
        penalty = check_kernel_groups(self.groups, expansion.n_columns, target.n_classes)
        return Problem(expansion, target, penalty, self.fit_intercept)

    def _take(
        self,
        training: TrainingSet,
        kernel: Kernel,
        fit: LandmarkFit,
        index: int,
    ) -> None:
        """Set the fitted attributes from one point of a path; support vectors by class, as SVC."""
        expansion, path, target = fit.expansion, fit.path, training.target
        (coef, self.intercept_), centres = path.solution(index), expansion.centres
        codes = target.codes[centres]
        order = np.argsort(codes, kind="stable")
        order = order[coef[:, order].any(axis=0)]
        self.classes_ = target.classes
        self.kernel_ = replace(kernel, dtype="float64")
        self.gamma_ = kernel.gamma
        self.support_ = training.rows[centres[order]].astype(np.int32)
        self.n_support_ = np.bincount(codes[order], minlength=target.n_classes).astype(np.int32)
        self.support_vectors_ = np.empty((0, 0))
        if not kernel.precomputed:
            self.support_vectors_ = training.X[centres[order]]
        self.dual_coef_ = coef[:, order]
        self.shape_fit_ = (training.n_samples, self.n_features_in_)
        self.landmarks_ = None if expansion.penalty_kernel is None else training.rows[centres]
        self.objective_ = float(path.objectives[index])
        self.dual_gap_ = float(path.dual_gaps[index])
        self.full_gap_ = fit.full_gap
        self.n_iter_ = int(path.n_iters[index])

    def decision_function(self, X: Any, offset: ArrayLike | None = None) -> NDArray[Any]:
        """Return the scores of each sample, one for two classes and otherwise one a class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples, or, for a precomputed kernel, the kernel matrix between them and the
            training samples.
        offset : array-like of shape (n_samples,) or (n_samples, n_classes), default=None
            Added to the scores.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            With two classes positive for ``classes_[1]``.
        """
        check_is_fitted(self)
        X = self._validate(X, reset=False)
        two = len(self.classes_) == 2
        coef = self.dual_coef_[0] if two else self.dual_coef_.T
        if self.kernel_.precomputed:
            full = self._full_coef()
            scores = X @ (full[0] if two else full.T).astype(X.dtype, copy=False)
        elif len(coef) == 0:
            scores = np.zeros((X.shape[0], *coef.shape[1:]))
        else:
            scores = self.kernel_.score(X, self.support_vectors_, coef)
        scores = scores + (self.intercept_[0] if two else self.intercept_)
        return scores if offset is None else scores + check_offset(X, offset, len(self.classes_))

    def summary(self) -> Summary:
        """Return the support vectors, the weightiest first.

        Returns
        -------
        Summary
            A table that prints itself, with ``columns`` and ``to_frame()``: training sample,
            coefficient and, where there is a path, the penalty at which the sample entered it.
        """
        check_is_fitted(self)
        return kernel_summary(self)

    def _full_coef(self) -> NDArray[np.float64]:
        """Return one coefficient per score and training sample, zeros included."""
        coef = np.zeros((len(self.dual_coef_), self.shape_fit_[0]))
        coef[:, self.support_] = self.dual_coef_
        return coef

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.input_tags.sparse = self.kernel != "precomputed"
        tags.input_tags.positive_only = self.kernel == "chi2"
        tags.classifier_tags.multi_class = True
        return tags

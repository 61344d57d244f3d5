"""A path of solutions: coefficients, intercepts and certificates, penalty by penalty."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from clearning._directions import as_columns, coefficients_by_score, scored_classes
from clearning._door import check_matrix
from clearning._problem import Start
from clearning._summary import Summary, make_frame
from clearning.losses import Loss


@dataclass(frozen=True)
class RegularizationPath:
    """Solutions along a descending grid of penalties, each with its certificate.

    Attributes
    ----------
    alphas : ndarray of shape (n_alphas,)
        The penalties, from the largest to the smallest.
    sparse_coefs : csr_array of shape (n_alphas, n_features)
        Coefficients; those that the penalty puts at zero are not stored.
    coefs : ndarray of shape (n_alphas, n_features)
        The same as an array, made when first asked for.
    intercepts : ndarray of shape (n_alphas,)
        Intercepts.
    objectives : ndarray of shape (n_alphas,)
        The penalised objective reached.
    dual_gaps : ndarray of shape (n_alphas,)
        Upper bounds on how far each objective is above its optimum.
    n_iters : ndarray of shape (n_alphas,)
        Newton iterations.
    converged : ndarray of bool, shape (n_alphas,)
        Whether the gap is at most `tol` times `null_objective`.
    null_objective : float
        Objective of the best model without penalised coefficients, or what is proved of it where
        that was not found.
    loss : Loss
        The loss.
    l1_ratio : float
        ω, the share of the ℓ₁ penalty.
    classes : ndarray of shape (2,)
        Class labels; the second is the positive one.
    feature_names : tuple of str or None
        Column names of the training frame, if it had any.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from clearning import clearning_path
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> path = clearning_path(X, y, standardize=True, alphas=[0.1, 0.01])
    >>> path.coefs.shape
    (2, 30)
    >>> path.predict_proba(X, alpha=0.01).shape
    (569, 2)
    >>> bool(path.converged.all())
    True
    """

    alphas: np.ndarray
    sparse_coefs: sparse.csr_array
    intercepts: np.ndarray
    objectives: np.ndarray
    dual_gaps: np.ndarray
    n_iters: np.ndarray
    converged: np.ndarray
    null_objective: float
    loss: Loss
    l1_ratio: float
    classes: np.ndarray
    feature_names: tuple[str, ...] | None = None

    def __repr__(self) -> str:
        return (
            f"RegularizationPath({len(self.alphas)} penalties from {self.alphas[0]:.4g} to "
            f"{self.alphas[-1]:.4g}, {self.sparse_coefs.shape[1]} coefficients, at most "
            f"{self.n_nonzero.max()} non-zero, {self.loss!r}, l1_ratio={self.l1_ratio:g})"
        )

    def _repr_html_(self) -> str:
        return self._table()._repr_html_()

    def _table(self) -> Summary:
        """The path as a table, a row for each penalty."""
        return Summary(
            repr(self),
            {
                "alpha": self.alphas.tolist(),
                "non-zero": self.n_nonzero.tolist(),
                "objective": self.objectives.tolist(),
                "dual gap": self.dual_gaps.tolist(),
                "iterations": self.n_iters.tolist(),
                "converged": self.converged.tolist(),
            },
        )

    def to_frame(self) -> Any:
        """Return the path as a pandas DataFrame, a row for each penalty.

        Returns
        -------
        pandas.DataFrame
            Penalties, what was reached at each, intercepts, and a column for each coefficient that
            is ever non-zero, by its feature's name or number.
        """
        told = {
            "alpha": self.alphas,
            "n_nonzero": self.n_nonzero,
            "objective": self.objectives,
            "dual_gap": self.dual_gaps,
            "n_iter": self.n_iters,
            "converged": self.converged,
        }
        coefs = coefficients_by_score(self.coefs, self.coefs.shape[-1])
        names = self.feature_names if self.feature_names is not None else range(coefs.shape[2])
        several = coefs.shape[1] > 1
        for k, label in enumerate(scored_classes(self.classes).tolist()):
            of = f" {label}" if several else ""
            told[f"intercept{of}"] = as_columns(self.intercepts)[:, k]
            ever = np.flatnonzero(coefs[:, k].any(axis=0))
            told |= {f"coef{of} {names[j]}": coefs[:, k, j] for j in ever.tolist()}
        return make_frame(told)

    @cached_property
    def coefs(self) -> np.ndarray:
        """Coefficients as a dense array."""
        return self.sparse_coefs.toarray()

    @property
    def n_nonzero(self) -> np.ndarray:
        """Number of non-zero coefficients at each penalty."""
        return np.diff(self.sparse_coefs.indptr)

    def solution(self, index: int) -> tuple[np.ndarray, np.ndarray]:
        """Coefficients and intercepts of one penalty, as a fitted classifier has them: by rows."""
        return self.sparse_coefs[[index]].toarray(), self.intercepts[index : index + 1].copy()

    def start(self, index: int) -> Start:
        """One penalty's solution, to start another solve from."""
        coef, intercept = self.solution(index)
        return Start(coef[0], float(intercept[0]))

    def coef_at(self, alpha: float) -> tuple[Any, Any]:
        """Coefficients and intercept at any penalty of the path's range.

        Between grid points they are interpolated linearly in log α.
        """
        coef, intercept = self._row_at(alpha)
        return coef, float(intercept)

    def _row_at(self, alpha: float) -> tuple[np.ndarray, Any]:
        low, high = self.alphas[-1], self.alphas[0]
        if not low * (1 - 1e-12) <= alpha <= high * (1 + 1e-12):
            raise ValueError(
                f"alpha={alpha!r} must lie on the path, between {low:.6g} and {high:.6g}."
            )
        position = np.interp(-np.log(alpha), -np.log(self.alphas), np.arange(len(self.alphas)))
        k = min(int(position), len(self.alphas) - 1)
        share = position - k
        coef, intercept = self.sparse_coefs[[k]], self.intercepts[k]
        if share > 0.0:
            coef = (1 - share) * coef + share * self.sparse_coefs[[k + 1]]
            intercept = (1 - share) * intercept + share * self.intercepts[k + 1]
        return coef.toarray()[0], intercept

    def decision_function(self, X: Any, alpha: float | None = None) -> np.ndarray:
        """Scores at one penalty, (n_samples,), or at all of them, (n_samples, n_alphas)."""
        X = self._check(X)
        if alpha is None:
            return self.scores(X)
        coef, intercept = self.coef_at(alpha)
        return np.asarray(X @ coef) + intercept

    def scores(self, X: Any) -> np.ndarray:
        """Scores at all penalties of a matrix that is checked already."""
        return np.asarray(X @ self.coefs.T) + self.intercepts

    @property
    def _n_features(self) -> int:
        return self.sparse_coefs.shape[1]

    def _check(self, X: Any) -> Any:
        X = check_matrix(X)
        if not sparse.issparse(X):
            X = np.asarray(X)
        if X.shape[1] != self._n_features:
            raise ValueError(
                f"X has {X.shape[1]} features, but the path was fitted with {self._n_features}."
            )
        return X

    def predict(self, X: Any, alpha: float | None = None) -> np.ndarray:
        """Class labels: the sign of the score."""
        return self.classes[(self.decision_function(X, alpha) > 0).astype(int)]

    def predict_proba(self, X: Any, alpha: float | None = None) -> np.ndarray:
        """Class probabilities, by the loss's inverse link; the last axis runs over the classes."""
        if not self.loss.has_link:
            raise AttributeError(
                f"The loss {self.loss.name!r} has no link to probabilities; "
                "wrap the classifier in CalibratedMarginClassifier."
            )
        return self.loss.probabilities(self.decision_function(X, alpha))

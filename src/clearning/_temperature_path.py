"""Solutions along temperatures: what :func:`clearning.temperature_path` returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from clearning._door import check_matrix
from clearning.losses import Coherence

Array = NDArray[np.float64]


@dataclass(frozen=True)
class HingeLimit:
    """The solution at temperature zero: the SVM with the hinge [u − z]₊.

    Attributes
    ----------
    coef : ndarray of shape (n_features,)
        Coefficients.
    intercept : float
        Intercept.
    objective : float
        The hinge's penalised objective.
    dual_gap : float
        Upper bound on how far it is above its optimum.
    error : float
        Weighted share of the training samples on the wrong side.
    converged : bool
        Whether the gap is at most `tol` times the null model's objective.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from clearning import temperature_path
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> limit = temperature_path(X, y, alpha=0.02, rhos=[1.0], standardize=True).hinge_limit
    >>> bool(limit.dual_gap <= 1e-6)
    True
    """

    def __repr__(self) -> str:
        return (
            f"HingeLimit({self.n_nonzero} of {len(self.coef)} coefficients, "
            f"objective={self.objective:.6g}, dual_gap={self.dual_gap:.2g}, "
            f"error={self.error:.4g}, converged={self.converged})"
        )

    coef: Array
    intercept: float
    objective: float
    dual_gap: float
    error: float
    converged: bool

    @property
    def n_nonzero(self) -> int:
        """Number of non-zero coefficients."""
        return int(np.count_nonzero(self.coef))


@dataclass(frozen=True)
class TemperaturePath:
    """Solutions along a descending grid of temperatures at one penalty, and their limit.

    Attributes
    ----------
    rhos : ndarray of shape (n_rhos,)
        The temperatures ρ, from hot to cold.
    coefs : ndarray of shape (n_rhos, n_features)
        Coefficients; for a kernel the β.
    intercepts : ndarray of shape (n_rhos,)
        Intercepts.
    objectives : ndarray of shape (n_rhos,)
        Penalised objective with the coherence function V_{ρ,u} of each temperature.
    dual_gaps : ndarray of shape (n_rhos,)
        Upper bounds on how far each objective is above its optimum.
    n_iters : ndarray of shape (n_rhos,)
        Newton iterations.
    converged : ndarray of bool, shape (n_rhos,)
        Whether the gap is at most `tol` times the null model's objective.
    hinge_objectives : ndarray of shape (n_rhos,)
        The hinge's penalised objective at each solution.
    errors : ndarray of shape (n_rhos,)
        Weighted share of the training samples on the wrong side.
    hinge_limit : HingeLimit
        The solution with the hinge itself.
    alpha : float
        The penalty.
    l1_ratio : float
        ω, the share of the ℓ₁ penalty.
    u : float
        The margin.
    classes : ndarray of shape (2,)
        Class labels; the second is the positive one.
    feature_names : tuple of str or None
        Column names of the training frame, if it had any.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from clearning import temperature_path
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> path = temperature_path(X, y, alpha=0.02, rhos=[1.0, 0.1], standardize=True)
    >>> path.predict_proba(X, rho=0.1).shape
    (569, 2)
    >>> bool(path.hinge_limit.converged)
    True
    """

    def __repr__(self) -> str:
        return (
            f"TemperaturePath({len(self.rhos)} temperatures from {self.rhos[0]:.4g} to "
            f"{self.rhos[-1]:.4g}, {self.coefs.shape[1]} coefficients, alpha={self.alpha:.4g}, "
            f"l1_ratio={self.l1_ratio:g}, u={self.u:g})"
        )

    rhos: Array
    coefs: Array
    intercepts: Array
    objectives: Array
    dual_gaps: Array
    n_iters: NDArray[np.intp]
    converged: NDArray[np.bool_]
    hinge_objectives: Array
    errors: Array
    hinge_limit: HingeLimit
    alpha: float
    l1_ratio: float
    u: float
    classes: NDArray[Any]
    feature_names: tuple[str, ...] | None = None

    @property
    def n_nonzero(self) -> NDArray[np.intp]:
        """Number of non-zero coefficients (features, or a kernel's support vectors)."""
        return np.count_nonzero(self.coefs, axis=1)

    @property
    def distances(self) -> Array:
        """How far the hinge's objective at each solution is above its limit."""
        return self.hinge_objectives - self.hinge_limit.objective

    @property
    def distance_bounds(self) -> Array:
        """ρ log 2 plus the duality gap; no distance is larger."""
        return self.rhos * np.log(2.0) + self.dual_gaps

    def loss_at(self, rho: float) -> Coherence:
        """The coherence function of a temperature."""
        return Coherence(rho, self.u)

    def coef_at(self, rho: float) -> tuple[Array, float]:
        """Coefficients and intercept at any temperature of the path's range.

        Between grid points they are interpolated linearly in log ρ.
        """
        low, high = self.rhos[-1], self.rhos[0]
        if not low * (1 - 1e-12) <= rho <= high * (1 + 1e-12):
            raise ValueError(f"rho={rho!r} must lie on the path, between {low:.6g} and {high:.6g}.")
        position = np.interp(-np.log(rho), -np.log(self.rhos), np.arange(len(self.rhos)))
        hotter, share = int(position), position % 1.0
        colder = min(hotter + 1, len(self.rhos) - 1)
        coef, intercept = (
            (1.0 - share) * values[hotter] + share * values[colder]
            for values in (self.coefs, self.intercepts)
        )
        return coef, float(intercept)

    def decision_function(self, X: Any, rho: float | None = None) -> Array:
        """Scores at one temperature, (n_samples,), or at all of them, (n_samples, n_rhos).

        For a kernel X holds the kernel between the samples and those the path was fitted on.
        """
        X = check_matrix(X)
        if not sparse.issparse(X):
            X = np.asarray(X)
        if X.shape[1] != self.coefs.shape[1]:
            raise ValueError(
                f"X has {X.shape[1]} features, but the path was fitted with {self.coefs.shape[1]}."
            )
        if rho is None:
            return np.asarray(X @ self.coefs.T) + self.intercepts
        coef, intercept = self.coef_at(rho)
        return np.asarray(X @ coef) + intercept

    def predict(self, X: Any, rho: float | None = None) -> NDArray[Any]:
        """Class labels: the sign of the score."""
        return self.classes[(self.decision_function(X, rho) > 0).astype(np.intp)]

    def predict_proba(self, X: Any, rho: float | None = None) -> Array:
        """Class probabilities, by each temperature's own inverse link; classes on the last axis."""
        scores = self.decision_function(X, rho)
        if rho is not None:
            return self.loss_at(rho).probabilities(scores)
        each = [self.loss_at(r).probabilities(f) for r, f in zip(self.rhos, scores.T)]
        return np.stack(each, axis=1)

"""Regularisation paths: the compiled solver's Python face.

Linear:  P(a, b) = (1/n) Σ wᵢ φ(yᵢ(oᵢ + a + xᵢ'b)) + α Σⱼ pⱼ [(1−ω)/2 bⱼ² + ω|bⱼ|]
Kernel:  P(a, β) = (1/n) Σ wᵢ φ(yᵢ(oᵢ + a + kᵢ'β)) + α [(1−ω)/2 β'Kβ + ω‖β‖₁]
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array

from clearning._core_input import core_request
from clearning._designs import Features
from clearning._directions import as_columns, coefficients_by_score, scored_classes
from clearning._door import check_flag, check_matrix
from clearning._expansion import Expansion
from clearning._kernel_matrix import check_kernel_matrix
from clearning._problem import (
    Grid,
    Penalty,
    Problem,
    Settings,
    Start,
    check_labelled,
    check_options,
    check_penalty,
    check_start,
)
from clearning._sklearn import get_feature_names
from clearning._summary import Summary, make_frame
from clearning.losses import Loss, make_loss

__all__ = ["RegularizationPath", "clearning_path", "kernel_clearning_path"]


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
        Objective of the best model without penalised coefficients.
    loss : Loss
        The loss.
    l1_ratio : float
        ω, the share of the ℓ₁ penalty.
    classes : ndarray of shape (2,)
        Class labels; the second is the positive one.
    feature_names : tuple of str or None
        Column names of the training frame, if it had any.
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


def solve_path(
    problem: Problem,
    loss: Loss,
    l1_ratio: float,
    grid: Grid,
    settings: Settings,
    start: Start | None = None,
) -> RegularizationPath:
    """Solve a problem that is checked already along its penalties."""
    if problem.target.n_classes > 2 or problem.penalty.groups is not None:
        # Not at the top: it builds on this module.
        from clearning._class_path import solve_class_path

        path = solve_class_path(problem, loss, l1_ratio, grid, settings, start)
        warn_unconverged(path, settings.tol)
        return path
    path = solve_two_classes(problem, loss, l1_ratio, grid, settings, start)
    warn_unconverged(path, settings.tol)
    return path


def solve_two_classes(
    problem: Problem,
    loss: Loss,
    l1_ratio: float,
    grid: Grid,
    settings: Settings,
    start: Start | None = None,
) -> RegularizationPath:
    """Solve a problem of two classes along its penalties, and warn of nothing."""
    raw = problem.design.solve(core_request(problem, loss, l1_ratio, grid, settings, start), loss)
    shape = (len(raw["alphas"]), problem.design.n_columns)
    starts = raw["starts"].astype(raw["columns"].dtype)
    return RegularizationPath(
        alphas=raw["alphas"],
        sparse_coefs=sparse.csr_array((raw["values"], raw["columns"], starts), shape),
        intercepts=raw["intercepts"],
        objectives=raw["objectives"],
        dual_gaps=raw["dual_gaps"],
        n_iters=raw["n_iters"],
        converged=raw["converged"].astype(bool),
        null_objective=raw["null_objective"],
        loss=loss,
        l1_ratio=l1_ratio,
        classes=problem.target.classes,
        feature_names=None if problem.names is None else tuple(problem.names),
    )


def warn_unconverged(path: RegularizationPath, tol: float) -> None:
    stalled = np.flatnonzero(~path.converged)
    if stalled.size == 0:
        return
    worst = stalled[np.argmax(path.dual_gaps[stalled])]
    warnings.warn(
        f"{stalled.size} of {len(path.alphas)} penalties did not converge; the worst is alpha="
        f"{path.alphas[worst]:.6g} with a duality gap of {path.dual_gaps[worst]:.3g}, above "
        f"tol * null objective = {tol * path.null_objective:.3g}. Increase max_iter or tol.",
        ConvergenceWarning,
        stacklevel=4,
    )


def clearning_path(
    X: Any,
    y: Any,
    *,
    loss: str | Loss = "coherence",
    rho: float = 1.0,
    u: float = 1.0,
    delta: float = 2.0,
    alphas: Any = 100,
    alpha_min_ratio: float | str = "auto",
    l1_ratio: float = 0.5,
    groups: Any = None,
    fit_intercept: bool = True,
    standardize: bool = False,
    penalty_factor: Any = None,
    bounds: Any = None,
    sample_weight: Any = None,
    class_weight: Any = None,
    offset: Any = None,
    tol: float = 1e-6,
    max_iter: int = 10_000,
    coef_init: Any = None,
    intercept_init: Any = None,
) -> RegularizationPath:
    """Solve linear C-learning along a path of penalties, each with a duality gap.

    Minimises, for each α of a descending grid,

    (1/n) Σ wᵢ φ(yᵢ(oᵢ + a + xᵢ'b)) + α Σⱼ pⱼ [(1−ω)/2 bⱼ² + ω|bⱼ|]

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Samples. Fortran-ordered float64 arrays, float32 ones and CSC matrices are used in place.
    y : array-like of shape (n_samples,)
        Labels of two or more classes. With m > 2 of them "coherence" and "logistic" are solved
        jointly, one row of coefficients a class (:class:`~clearning.losses.MultiCoherence`); the
        other losses one class against the rest, with gaps that are the sum of the m.
    loss : {"coherence", "logistic", "huberized_hinge", "squared_hinge", "hinge"} or Loss
        φ; "coherence" is the C-loss with temperature `rho` and margin `u`; at u = 0 the coherence
        function itself.
    rho, u, delta : float
        Parameters of the coherence and of the huberised hinge loss.
    alphas : int or array-like
        Number of penalties in an automatic grid, or the penalties.
    alpha_min_ratio : float or "auto"
        Smallest over largest penalty of an automatic grid; "auto" is 1e-2 where there are fewer
        samples than features and 1e-4 elsewhere.
    l1_ratio : float in [0, 1]
        ω.
    groups : None, "classes" or array-like of shape (n_features,)
        None penalises each coefficient alone; "classes" the row of a feature by its ℓ₂ norm, so
        that it is in for all classes or out; labels make groups of features, over all classes,
        whose factor is √(number of features) unless `penalty_factor` is given.
    fit_intercept : bool
        Whether to fit the (unpenalised) intercept a.
    standardize : bool
        Penalise as if columns had unit variance; coefficients are on the original scale.
    penalty_factor : array-like of shape (n_features,), optional
        pⱼ ≥ 0; 0 leaves a column unpenalised.
    bounds : pair of float or array-like, optional
        Lower and upper bounds on the coefficients, around zero; with m > 2 classes they broadcast
        to (m, n_features). Not to be had with groups.
    sample_weight, offset : array-like of shape (n_samples,), optional
        wᵢ ≥ 0, scaled to sum to n, and oᵢ, of shape (n_samples, m) for m > 2 classes.
    class_weight : dict, "balanced" or None
        Factors on the weights of the classes.
    tol : float
        A penalty is solved when its gap is at most `tol` times the null model's objective.
    max_iter : int
        Newton steps per penalty, or sweeps where an SVM without l1 part is solved on its dual.
    coef_init, intercept_init : array-like, optional
        Where to start.

    Returns
    -------
    RegularizationPath
    """
    problem = linear_problem(
        X,
        y,
        fit_intercept=fit_intercept,
        standardize=standardize,
        penalty_factor=penalty_factor,
        bounds=bounds,
        groups=groups,
        many=True,
        sample_weight=sample_weight,
        class_weight=class_weight,
        offset=offset,
    )
    options = check_options(l1_ratio, alphas, alpha_min_ratio, tol, max_iter)
    start = check_start(
        coef_init, intercept_init, problem.design.n_columns, problem.target.n_classes
    )
    return solve_path(problem, make_loss(loss, rho=rho, u=u, delta=delta), *options, start)


def linear_problem(
    X: Any,
    y: Any,
    *,
    fit_intercept: bool,
    standardize: bool,
    penalty_factor: Any,
    bounds: Any,
    groups: Any = None,
    many: bool = False,
    **samples: Any,
) -> Problem:
    """Check everything that makes a linear problem; `samples` are weights and offsets.

    More than two classes are let in where `many` says so.
    """
    names = get_feature_names(X)
    X = check_array(
        check_matrix(X),
        accept_sparse=["csc", "csr"],
        dtype=[np.float64, np.float32],
        order="F",
        input_name="X",
    )
    target = check_labelled(X, y, many=many, **samples)
    return Problem(
        Features(X, check_flag("standardize", standardize)),
        target,
        check_penalty(
            penalty_factor, bounds, X.shape[1], n_classes=target.n_classes, groups=groups
        ),
        check_flag("fit_intercept", fit_intercept),
        names,
    )


def kernel_clearning_path(
    K: Any,
    y: Any,
    *,
    penalty_kernel: Any = None,
    loss: str | Loss = "coherence",
    rho: float = 1.0,
    u: float = 1.0,
    delta: float = 2.0,
    alphas: Any = 100,
    alpha_min_ratio: float | str = "auto",
    l1_ratio: float = 0.5,
    fit_intercept: bool = True,
    sample_weight: Any = None,
    class_weight: Any = None,
    offset: Any = None,
    tol: float = 1e-6,
    max_iter: int = 10_000,
    coef_init: Any = None,
    intercept_init: Any = None,
) -> RegularizationPath:
    """Solve kernel C-learning along a path of penalties, each with a duality gap.

    Minimises, for each α of a descending grid,

    (1/n) Σ wᵢ φ(yᵢ(oᵢ + a + kᵢ'β)) + α [(1−ω)/2 β'Kβ + ω‖β‖₁]

    Parameters
    ----------
    K : array-like of shape (n_samples, n_samples) or (n_samples, n_landmarks)
        Symmetric positive semidefinite kernel matrix, or the one between samples and landmarks.
        A matrix is refused if it is asymmetric or has a negative eigenvalue beyond rounding; an
        eigenvalue that is negative by rounding is lifted to zero by adding its size to the
        diagonal, and the problem that is solved and certified is that of the lifted matrix.
    y : array-like of shape (n_samples,)
        Labels of two classes.
    penalty_kernel : array-like of shape (n_landmarks, n_landmarks), optional
        Kernel matrix of the landmarks, checked and lifted likewise; needed where K is not square.
    loss, rho, u, delta, alphas, alpha_min_ratio, l1_ratio, fit_intercept, sample_weight, \
class_weight, offset, tol, max_iter, coef_init, intercept_init
        As for :func:`clearning_path`; `alpha_min_ratio="auto"` is 1e-3.

    Returns
    -------
    RegularizationPath
        Its `coefs` are the β.
    """
    problem = kernel_problem(
        K,
        y,
        penalty_kernel=penalty_kernel,
        fit_intercept=fit_intercept,
        sample_weight=sample_weight,
        class_weight=class_weight,
        offset=offset,
    )
    options = check_options(l1_ratio, alphas, alpha_min_ratio, tol, max_iter)
    start = check_start(coef_init, intercept_init, problem.design.n_columns)
    return solve_path(problem, make_loss(loss, rho=rho, u=u, delta=delta), *options, start)


def kernel_problem(
    K: Any, y: Any, *, penalty_kernel: Any, fit_intercept: bool, **samples: Any
) -> Problem:
    """Check everything that makes a kernel problem; `samples` are weights and offsets."""
    K = check_array(check_matrix(K, "K"), dtype=[np.float64, np.float32], input_name="K")
    target = check_labelled(K, y, **samples)
    n, m = K.shape
    if penalty_kernel is None:
        if n != m:
            raise ValueError(f"K has shape {K.shape}; without penalty_kernel it must be square.")
        K = check_kernel_matrix(K)
    else:
        K = np.asfortranarray(K)
        penalty_kernel = check_array(
            check_matrix(penalty_kernel, "penalty_kernel"),
            dtype=K.dtype,
            order="F",
            input_name="penalty_kernel",
        )
        if penalty_kernel.shape != (m, m):
            raise ValueError(
                f"penalty_kernel has shape {penalty_kernel.shape}; K's {m} columns need ({m}, {m})."
            )
        penalty_kernel = check_kernel_matrix(penalty_kernel, "penalty_kernel")
    design = Expansion(K, penalty_kernel, np.arange(m))
    return Problem(design, target, Penalty(), check_flag("fit_intercept", fit_intercept))

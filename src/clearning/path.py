"""Regularisation paths: the compiled solver's Python face.

Linear:  P(a, b) = (1/n) Σ wᵢ φ(yᵢ(oᵢ + a + xᵢ'b)) + α Σⱼ pⱼ [(1−ω)/2 bⱼ² + ω|bⱼ|]
Kernel:  P(a, β) = (1/n) Σ wᵢ φ(yᵢ(oᵢ + a + kᵢ'β)) + α [(1−ω)/2 β'Kβ + ω‖β‖₁]
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array, check_consistent_length, column_or_1d, compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, _get_feature_names

from clearning import _core
from clearning.losses import Coherence, HuberizedHinge, Loss, make_loss

__all__ = ["RegularizationPath", "clearning_path", "kernel_clearning_path"]


@dataclass(frozen=True)
class RegularizationPath:
    """Solutions along a descending grid of penalties, each with its certificate.

    Attributes
    ----------
    alphas : ndarray of shape (n_alphas,)
        The penalties, from the largest to the smallest.
    coefs : ndarray of shape (n_alphas, n_features)
        Coefficients; those that the penalty puts at zero are exactly zero.
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
    coefs: np.ndarray
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

    @property
    def n_nonzero(self) -> np.ndarray:
        """Number of non-zero coefficients at each penalty."""
        return np.count_nonzero(self.coefs, axis=1)

    def coef_at(self, alpha: float) -> tuple[np.ndarray, float]:
        """Coefficients and intercept at any penalty of the path's range.

        Between grid points they are interpolated linearly in log α.
        """
        low, high = self.alphas[-1], self.alphas[0]
        if not low * (1 - 1e-12) <= alpha <= high * (1 + 1e-12):
            raise ValueError(
                f"alpha={alpha!r} must lie on the path, between {low:.6g} and {high:.6g}."
            )
        position = np.interp(-np.log(alpha), -np.log(self.alphas), np.arange(len(self.alphas)))
        k = min(int(position), len(self.alphas) - 1)
        share = position - k
        if share == 0.0:
            return self.coefs[k].copy(), float(self.intercepts[k])
        coef = (1 - share) * self.coefs[k] + share * self.coefs[k + 1]
        return coef, float((1 - share) * self.intercepts[k] + share * self.intercepts[k + 1])

    def decision_function(self, X: Any, alpha: float | None = None) -> np.ndarray:
        """Scores at one penalty, (n_samples,), or at all of them, (n_samples, n_alphas)."""
        if not sparse.issparse(X):
            X = np.asarray(X)
        if X.shape[1] != self.coefs.shape[1]:
            raise ValueError(
                f"X has {X.shape[1]} features, but the path was fitted with {self.coefs.shape[1]}."
            )
        if alpha is None:
            return np.asarray(X @ self.coefs.T) + self.intercepts
        coef, intercept = self.coef_at(alpha)
        return np.asarray(X @ coef) + intercept

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
        score = self.decision_function(X, alpha)
        return np.stack([self.loss.inverse_link(-score), self.loss.inverse_link(score)], axis=-1)


def core_loss(loss: Loss) -> dict[str, Any]:
    """Describe a loss to the compiled core."""
    described = {"kind": loss.name, "rho": 1.0, "u": 0.0, "delta": 2.0, "kappa": 1.0}
    if isinstance(loss, Coherence):
        described.update(kind="coherence", rho=loss.rho, u=loss.u, kappa=loss.scale)
    elif isinstance(loss, HuberizedHinge):
        described["delta"] = loss.delta
    elif loss.name not in ("squared_hinge", "hinge"):
        raise ValueError(f"loss={loss!r} has no solver.")
    return described


def _check_real(name: str, value: Any, low: float, high: float, closed: str) -> float:
    inside = isinstance(value, Real) and not isinstance(value, bool) and np.isfinite(float(value))
    if inside:
        v = float(value)
        inside = (low <= v if closed in ("left", "both") else low < v) and (
            v <= high if closed in ("right", "both") else v < high
        )
    if not inside:
        left, right = (
            ("[" if closed in ("left", "both") else "("),
            ("]" if closed in ("right", "both") else ")"),
        )
        raise ValueError(f"{name}={value!r} must be a number in {left}{low:g}, {high:g}{right}.")
    return float(value)


def _check_grid(alphas: Any, alpha_min_ratio: Any, auto: float) -> dict[str, Any]:
    """The penalties: given, or the recipe for a grid."""
    if isinstance(alphas, Integral) and not isinstance(alphas, bool):
        if alphas < 1:
            raise ValueError(
                f"alphas={alphas!r} must be a positive number of penalties or an array of them."
            )
        ratio = auto
        if not (isinstance(alpha_min_ratio, str) and alpha_min_ratio == "auto"):
            ratio = _check_real("alpha_min_ratio", alpha_min_ratio, 0.0, 1.0, "neither")
        return {"alphas": None, "n_alphas": int(alphas), "alpha_min_ratio": ratio}
    grid = np.array(column_or_1d(np.atleast_1d(np.asarray(alphas, dtype=float))), dtype=float)
    if grid.size == 0 or not np.all(np.isfinite(grid)) or np.any(grid <= 0):
        raise ValueError(f"alphas={alphas!r} must hold positive, finite penalties.")
    return {"alphas": np.sort(grid)[::-1].copy(), "n_alphas": grid.size, "alpha_min_ratio": 1.0}


def _check_bounds(bounds: Any, p: int) -> tuple[np.ndarray, np.ndarray]:
    if bounds is None:
        return np.full(p, -np.inf), np.full(p, np.inf)
    try:
        low, high = bounds
        lower = np.array(np.broadcast_to(np.asarray(low, dtype=float), (p,)), dtype=float)
        upper = np.array(np.broadcast_to(np.asarray(high, dtype=float), (p,)), dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"bounds={bounds!r} must be a pair (lower, upper) of numbers or arrays of {p} numbers."
        ) from error
    if np.isnan(lower).any() or np.isnan(upper).any() or (lower > 0).any() or (upper < 0).any():
        raise ValueError("bounds must satisfy lower <= 0 <= upper: zero has to stay possible.")
    return lower, upper


def _check_penalty_factor(penalty_factor: Any, p: int) -> np.ndarray:
    if penalty_factor is None:
        return np.ones(p)
    factor = np.array(penalty_factor, dtype=float)
    if factor.shape != (p,):
        raise ValueError(
            f"penalty_factor has shape {factor.shape}; one factor per feature, ({p},), is needed."
        )
    if not np.all(np.isfinite(factor)) or (factor < 0).any():
        raise ValueError("penalty_factor must hold finite numbers >= 0.")
    return factor


def _encode_labels(y: Any) -> tuple[np.ndarray, np.ndarray]:
    """Two class labels to their sorted values and signs −1, +1."""
    y = column_or_1d(y, warn=True)
    check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) != 2:
        raise ValueError(
            f"Only two classes are supported, got {len(classes)} class"
            f"{'' if len(classes) == 1 else 'es'}: {classes[:5].tolist()!r}."
        )
    return classes, np.where(codes == 1, 1.0, -1.0)


def _combine_weights(
    sample_weight: Any, class_weight: Any, X: Any, y: Any, classes: Any, signs: Any
) -> np.ndarray:
    """Sample times class weights, scaled to sum to one."""
    n = X.shape[0]
    weight = (
        np.ones(n)
        if sample_weight is None
        else _check_sample_weight(sample_weight, X, dtype=np.float64)
    )
    if (weight < 0).any():
        raise ValueError(
            f"sample_weight must not be negative, got a smallest value of {weight.min():g}."
        )
    if class_weight is not None:
        if isinstance(class_weight, str) and class_weight == "balanced":
            mass = np.array([weight[signs < 0].sum(), weight[signs > 0].sum()])
            if (mass == 0).any():
                raise ValueError("sample_weight must leave weight in both classes.")
            per_class = weight.sum() / (2 * mass)
        else:
            per_class = compute_class_weight(class_weight, classes=classes, y=y)
        weight = weight * np.where(signs > 0, per_class[1], per_class[0])
    if not (weight[signs > 0].sum() > 0 and weight[signs < 0].sum() > 0):
        raise ValueError("sample_weight must leave weight in both classes.")
    return weight / weight.sum()


def _check_offset(offset: Any, n: int) -> np.ndarray:
    if offset is None:
        return np.zeros(n)
    offset = np.array(column_or_1d(np.asarray(offset, dtype=float)), dtype=float)
    if offset.shape != (n,) or not np.all(np.isfinite(offset)):
        raise ValueError(f"offset must hold one finite number per sample, shape ({n},).")
    return offset


def _column_scales(X: Any, weight: np.ndarray) -> np.ndarray:
    """Weighted standard deviations of the columns; 1 where a column is constant."""
    mean = np.asarray(X.T @ weight, dtype=float).ravel()
    if sparse.issparse(X):
        square = np.asarray(X.multiply(X).T @ weight, dtype=float).ravel()
        variance = square - mean**2
    else:
        variance = np.array(
            [
                np.dot(weight, (np.asarray(X[:, j], dtype=float) - mean[j]) ** 2)
                for j in range(X.shape[1])
            ]
        )
        square = variance + mean**2
    flat = variance <= 1e-14 * np.maximum(square, np.finfo(float).tiny)
    return np.sqrt(np.where(flat, 1.0, variance))


def _solve_linear(X: Any, request: dict[str, Any]) -> dict[str, Any]:
    if sparse.issparse(X):
        X = X.tocsc()
        if not X.has_sorted_indices or not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        indices, indptr = X.indices, X.indptr
        if indices.dtype != indptr.dtype or indices.dtype not in (np.int32, np.int64):
            indices, indptr = indices.astype(np.int64), indptr.astype(np.int64)
        return _core.solve_sparse(X.data, indices, indptr, X.shape[0], request)
    return _core.solve_dense(np.asfortranarray(X), request)


def _to_path(
    raw: dict[str, Any],
    p: int,
    loss: Loss,
    l1_ratio: float,
    classes: np.ndarray,
    names: Any,
    tol: float,
) -> RegularizationPath:
    n_alphas = len(raw["alphas"])
    coefs = np.zeros((n_alphas, p))
    rows = np.repeat(np.arange(n_alphas), np.diff(raw["starts"]))
    coefs[rows, raw["columns"]] = raw["values"]
    path = RegularizationPath(
        alphas=raw["alphas"],
        coefs=coefs,
        intercepts=raw["intercepts"],
        objectives=raw["objectives"],
        dual_gaps=raw["dual_gaps"],
        n_iters=raw["n_iters"],
        converged=raw["converged"].astype(bool),
        null_objective=raw["null_objective"],
        loss=loss,
        l1_ratio=l1_ratio,
        classes=classes,
        feature_names=None if names is None else tuple(names),
    )
    _warn_unconverged(path, tol)
    return path


def _warn_unconverged(path: RegularizationPath, tol: float) -> None:
    stalled = np.flatnonzero(~path.converged)
    if stalled.size == 0:
        return
    worst = stalled[np.argmax(path.dual_gaps[stalled])]
    warnings.warn(
        f"{stalled.size} of {len(path.alphas)} penalties did not converge; the worst is alpha="
        f"{path.alphas[worst]:.6g} with a duality gap of {path.dual_gaps[worst]:.3g}, above "
        f"tol * null objective = {tol * path.null_objective:.3g}. Increase max_iter or tol.",
        ConvergenceWarning,
        stacklevel=3,
    )


def _check_start(coef_init: Any, intercept_init: Any, p: int) -> dict[str, Any]:
    if coef_init is None:
        return {"coef_init": None, "intercept_init": 0.0}
    coef = np.array(np.ravel(coef_init), dtype=float)
    if coef.shape != (p,) or not np.all(np.isfinite(coef)):
        raise ValueError(f"coef_init must hold {p} finite numbers.")
    intercept = float(np.ravel(0.0 if intercept_init is None else intercept_init)[0])
    return {"coef_init": coef, "intercept_init": intercept}


def _check_settings(l1_ratio: Any, tol: Any, max_iter: Any, fit_intercept: Any) -> dict[str, Any]:
    if not isinstance(max_iter, Integral) or max_iter < 1:
        raise ValueError(f"max_iter={max_iter!r} must be an integer >= 1.")
    return {
        "l1_ratio": _check_real("l1_ratio", l1_ratio, 0.0, 1.0, "both"),
        "tol": _check_real("tol", tol, 0.0, 1.0, "right"),
        "max_iter": int(max_iter),
        "fit_intercept": bool(fit_intercept),
    }


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
        Labels of two classes.
    loss : {"coherence", "logistic", "huberized_hinge", "squared_hinge", "hinge"} or Loss
        φ; "coherence" is the C-loss with temperature `rho` and margin `u`.
    rho, u, delta : float
        Parameters of the coherence and of the huberised hinge loss.
    alphas : int or array-like
        Number of penalties in an automatic grid, or the penalties.
    alpha_min_ratio : float or "auto"
        Smallest over largest penalty of an automatic grid; "auto" is 1e-2 where there are fewer
        samples than features and 1e-4 elsewhere.
    l1_ratio : float in [0, 1]
        ω.
    fit_intercept : bool
        Whether to fit the (unpenalised) intercept a.
    standardize : bool
        Penalise as if columns had unit variance; coefficients are on the original scale.
    penalty_factor : array-like of shape (n_features,), optional
        pⱼ ≥ 0; 0 leaves a column unpenalised.
    bounds : pair of float or array-like, optional
        Lower and upper bounds on the coefficients, around zero.
    sample_weight, offset : array-like of shape (n_samples,), optional
        wᵢ ≥ 0, scaled to sum to n, and oᵢ.
    class_weight : dict, "balanced" or None
        Factors on the weights of the classes.
    tol : float
        A penalty is solved when its gap is at most `tol` times the null model's objective.
    max_iter : int
        Newton iterations per penalty.
    coef_init, intercept_init : array-like, optional
        Where to start.

    Returns
    -------
    RegularizationPath
    """
    loss = make_loss(loss, rho=rho, u=u, delta=delta)
    settings = _check_settings(l1_ratio, tol, max_iter, fit_intercept)
    names = _get_feature_names(X)
    X = check_array(X, accept_sparse=["csc", "csr"], dtype=[np.float64, np.float32], order="F")
    check_consistent_length(X, y)
    n, p = X.shape
    classes, signs = _encode_labels(y)
    weight = _combine_weights(sample_weight, class_weight, X, y, classes, signs)
    factor = _check_penalty_factor(penalty_factor, p)
    scale = _column_scales(X, weight) if standardize else np.ones(p)
    lower, upper = _check_bounds(bounds, p)
    request = {
        **settings,
        **_check_grid(alphas, alpha_min_ratio, 1e-2 if n < p else 1e-4),
        **_check_start(coef_init, intercept_init, p),
        "loss": core_loss(loss),
        "y": signs,
        "weight": weight,
        "offset": _check_offset(offset, n),
        # A penalty on standardised columns is one on the columns themselves with other factors.
        "l1_factor": factor * scale,
        "l2_factor": factor * scale**2,
        "lower": lower,
        "upper": upper,
    }
    raw = _solve_linear(X, request)
    return _to_path(raw, p, loss, settings["l1_ratio"], classes, names, settings["tol"])


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
    y : array-like of shape (n_samples,)
        Labels of two classes.
    penalty_kernel : array-like of shape (n_landmarks, n_landmarks), optional
        Kernel matrix of the landmarks; needed where K is not square.
    loss, rho, u, delta, alphas, alpha_min_ratio, l1_ratio, fit_intercept, sample_weight, \
class_weight, offset, tol, max_iter, coef_init, intercept_init
        As for :func:`clearning_path`; `alpha_min_ratio="auto"` is 1e-3.

    Returns
    -------
    RegularizationPath
        Its `coefs` are the β.
    """
    loss = make_loss(loss, rho=rho, u=u, delta=delta)
    settings = _check_settings(l1_ratio, tol, max_iter, fit_intercept)
    K = check_array(K, dtype=[np.float64, np.float32])
    check_consistent_length(K, y)
    n, m = K.shape
    if penalty_kernel is None:
        if n != m:
            raise ValueError(f"K has shape {K.shape}; without penalty_kernel it must be square.")
        # A symmetric matrix is its own transpose, so no copy is needed in either memory order.
        K = K if K.flags.f_contiguous else (K.T if K.flags.c_contiguous else np.asfortranarray(K))
        penalty = K
    else:
        K = np.asfortranarray(K)
        penalty = np.asfortranarray(check_array(penalty_kernel, dtype=K.dtype))
        if penalty.shape != (m, m):
            raise ValueError(
                f"penalty_kernel has shape {penalty.shape}; K's {m} columns need ({m}, {m})."
            )
    classes, signs = _encode_labels(y)
    request = {
        **settings,
        **_check_grid(alphas, alpha_min_ratio, 1e-3),
        **_check_start(coef_init, intercept_init, m),
        "loss": core_loss(loss),
        "y": signs,
        "weight": _combine_weights(sample_weight, class_weight, K, y, classes, signs),
        "offset": _check_offset(offset, n),
        "l1_factor": np.ones(m),
        "l2_factor": np.ones(m),
        "lower": np.full(m, -np.inf),
        "upper": np.full(m, np.inf),
    }
    raw = _core.solve_kernel(K, penalty, request)
    return _to_path(raw, m, loss, settings["l1_ratio"], classes, None, settings["tol"])

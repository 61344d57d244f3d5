"""Temperature paths: one penalty, a loss that cools from nearly linear to the SVM's hinge.

P_ρ is the penalised objective with the coherence function V_{ρ,u}, and P_0 the one with the hinge
[u − z]₊. From 0 ≤ V_{ρ,u}(z) − [u − z]₊ ≤ ρ log 2 it follows for the minimiser of P_ρ that

    0 ≤ P_0(minimiser of P_ρ) − min P_0 ≤ ρ log 2.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array, check_consistent_length, column_or_1d
from sklearn.utils.validation import _get_feature_names

from clearning._base import Target, check_target, check_values
from clearning._path_options import check_real
from clearning._progress import progress
from clearning._temperature_path import Array, HingeLimit, TemperaturePath
from clearning.losses import Coherence, Hinge, Loss
from clearning.path import RegularizationPath, clearning_path, kernel_clearning_path

__all__ = ["HingeLimit", "TemperaturePath", "kernel_temperature_path", "temperature_path"]

# An automatic grid runs from ten margins, where the loss is nearly a line, to a thousandth of one.
_HOTTEST, _COLDEST = 10.0, 1e-3


def temperature_path(
    X: Any,
    y: Any,
    *,
    alpha: float,
    rhos: int | ArrayLike = 25,
    u: float = 1.0,
    l1_ratio: float = 0.5,
    fit_intercept: bool = True,
    standardize: bool = False,
    penalty_factor: ArrayLike | None = None,
    bounds: Any = None,
    sample_weight: ArrayLike | None = None,
    class_weight: Any = None,
    offset: ArrayLike | None = None,
    tol: float = 1e-6,
    max_iter: int = 10_000,
) -> TemperaturePath:
    """Cool a linear classifier at a fixed penalty down to the SVM.

    Minimises, for each ρ of a descending grid and started from the one before,

    (1/n) Σ wᵢ V_{ρ,u}(yᵢ(oᵢ + a + xᵢ'b)) + α Σⱼ pⱼ [(1−ω)/2 bⱼ² + ω|bⱼ|],

    and at last the same with the hinge [u − z]₊, the limit of V_{ρ,u} as ρ → 0.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Samples.
    y : array-like of shape (n_samples,)
        Labels of two classes.
    alpha : float
        The penalty α > 0.
    rhos : int or array-like, default=25
        The temperatures, or how many of them on a logarithmic grid from 10 u to u/1000.
    u : float, default=1.0
        The margin, > 0.
    l1_ratio, fit_intercept, standardize, penalty_factor, bounds, sample_weight, class_weight, \
offset, tol, max_iter
        As for :func:`clearning.clearning_path`.

    Returns
    -------
    TemperaturePath

    Notes
    -----
    V_{ρ,u} is used as it is, without the C-loss's factor κ, so that the objectives fall to the
    hinge's and 0 ≤ V_{ρ,u}(z) − [u − z]₊ ≤ ρ log 2 bounds how far they still are from it.

    Examples
    --------
    >>> from clearning import temperature_path
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> path = temperature_path(X, y, alpha=0.01, rhos=[1.0, 0.1, 0.01], standardize=True)
    >>> bool((path.distances <= path.distance_bounds).all())
    True
    """
    names = _get_feature_names(X)
    X = check_array(
        X,
        accept_sparse=["csc", "csr"],
        dtype=[np.float64, np.float32],
        order="F",
        input_name="X",
    )
    X = X.tocsc() if sparse.issparse(X) else X

    def solve(loss: Loss, scale: float, **settings: Any) -> RegularizationPath:
        return clearning_path(
            X,
            y,
            loss=loss,
            fit_intercept=fit_intercept,
            standardize=standardize,
            penalty_factor=penalty_factor,
            bounds=_scaled_bounds(bounds, scale),
            sample_weight=sample_weight,
            class_weight=class_weight,
            tol=tol,
            max_iter=max_iter,
            **settings,
        )

    target = _target(X, y, sample_weight, class_weight, offset)
    problem = _Problem(X, target, solve, alpha=alpha, l1_ratio=l1_ratio, u=u)
    return problem.cool(rhos, names)


def kernel_temperature_path(
    K: Any,
    y: Any,
    *,
    alpha: float,
    penalty_kernel: Any = None,
    rhos: int | ArrayLike = 25,
    u: float = 1.0,
    l1_ratio: float = 0.5,
    fit_intercept: bool = True,
    sample_weight: ArrayLike | None = None,
    class_weight: Any = None,
    offset: ArrayLike | None = None,
    tol: float = 1e-6,
    max_iter: int = 10_000,
) -> TemperaturePath:
    """Cool a kernel classifier at a fixed penalty down to the SVM.

    Minimises, for each ρ of a descending grid and started from the one before,

    (1/n) Σ wᵢ V_{ρ,u}(yᵢ(oᵢ + a + kᵢ'β)) + α [(1−ω)/2 β'Kβ + ω‖β‖₁],

    and at last the same with the hinge [u − z]₊, the limit of V_{ρ,u} as ρ → 0.

    Parameters
    ----------
    K : array-like of shape (n_samples, n_samples) or (n_samples, n_landmarks)
        Symmetric positive semidefinite kernel matrix, or the one between samples and landmarks.
    y : array-like of shape (n_samples,)
        Labels of two classes.
    alpha : float
        The penalty α > 0.
    penalty_kernel : array-like of shape (n_landmarks, n_landmarks), optional
        Kernel matrix of the landmarks; needed where K is not square.
    rhos, u
        As for :func:`temperature_path`.
    l1_ratio, fit_intercept, sample_weight, class_weight, offset, tol, max_iter
        As for :func:`clearning.kernel_clearning_path`.

    Returns
    -------
    TemperaturePath
        Its `coefs` are the β, and `n_nonzero` counts the support vectors.
    """
    order = None if penalty_kernel is None else "F"
    K = check_array(K, dtype=[np.float64, np.float32], order=order, input_name="K")
    if penalty_kernel is not None:
        penalty_kernel = check_array(
            penalty_kernel, dtype=K.dtype, order="F", input_name="penalty_kernel"
        )

    def solve(loss: Loss, scale: float, **settings: Any) -> RegularizationPath:
        return kernel_clearning_path(
            K,
            y,
            penalty_kernel=penalty_kernel,
            loss=loss,
            fit_intercept=fit_intercept,
            sample_weight=sample_weight,
            class_weight=class_weight,
            tol=tol,
            max_iter=max_iter,
            **settings,
        )

    target = _target(K, y, sample_weight, class_weight, offset)
    problem = _Problem(K, target, solve, alpha=alpha, l1_ratio=l1_ratio, u=u)
    return problem.cool(rhos, None)


class _Problem:
    """Everything but the temperature: a design, its target, a penalty and a margin.

    `solve(loss, scale, alphas=, l1_ratio=, offset=, coef_init=, intercept_init=)` runs the path
    solver; coefficients that it sees are the problem's over `scale`.
    """

    def __init__(
        self,
        design: Any,
        target: Target,
        solve: Callable[..., RegularizationPath],
        *,
        alpha: float,
        l1_ratio: float,
        u: float,
    ) -> None:
        self.design = design
        self.target = target
        self.solve = solve
        self.alpha = check_real("alpha", alpha, 0.0, np.inf, "neither")
        self.l1_ratio = l1_ratio
        self.u = check_real("u", u, 0.0, np.inf, "neither")
        n = len(target.signs)
        weight = np.ones(n) if target.weight is None else target.weight
        self.weight = weight / weight.sum()
        self.offset = np.zeros(n) if target.offset is None else target.offset

    def cool(self, rhos: int | ArrayLike, names: Any) -> TemperaturePath:
        """Solve at every temperature, hot to cold, then with the hinge."""
        grid = _check_temperatures(rhos, self.u)
        fits: list[RegularizationPath] = []
        with warnings.catch_warnings():
            # One warning for the whole path tells more than one for each temperature.
            warnings.simplefilter("ignore", ConvergenceWarning)
            for rho in progress(grid.tolist(), label="cooling"):
                fits.append(self._fit(Coherence(rho, self.u), fits[-1] if fits else None))
            limit = self._limit(fits[-1])
        scores = [self._scores(fit.coefs[0], fit.intercepts[0]) for fit in fits]
        path = TemperaturePath(
            rhos=grid,
            coefs=np.concatenate([fit.coefs for fit in fits]),
            intercepts=np.concatenate([fit.intercepts for fit in fits]),
            objectives=np.concatenate([fit.objectives for fit in fits]),
            dual_gaps=np.concatenate([fit.dual_gaps for fit in fits]),
            n_iters=np.concatenate([fit.n_iters for fit in fits]),
            converged=np.concatenate([fit.converged for fit in fits]),
            hinge_objectives=np.array([self._as_hinge(fit, f) for fit, f in zip(fits, scores)]),
            errors=np.array([self._error(f) for f in scores]),
            hinge_limit=limit,
            alpha=self.alpha,
            l1_ratio=fits[0].l1_ratio,
            u=self.u,
            classes=self.target.classes,
            feature_names=None if names is None else tuple(names),
        )
        _warn_unconverged(path)
        return path

    def _fit(self, loss: Loss, start: RegularizationPath | None) -> RegularizationPath:
        return self.solve(
            loss,
            1.0,
            alphas=[self.alpha],
            l1_ratio=self.l1_ratio,
            offset=self.offset,
            coef_init=None if start is None else start.coefs[0],
            intercept_init=None if start is None else start.intercepts[0],
        )

    def _limit(self, start: RegularizationPath) -> HingeLimit:
        """Solve with [u − z]₊ = u [1 − z/u]₊, which is the hinge itself of scores over u.

        In c = b/u the objective is u times the hinge's, with the penalty
        α Σ pⱼ [(1−ω) u/2 cⱼ² + ω|cⱼ|].
        """
        u, ridge = self.u, (1.0 - self.l1_ratio) * self.u
        fit = self.solve(
            Hinge(),
            u,
            alphas=[self.alpha * (ridge + self.l1_ratio)],
            l1_ratio=self.l1_ratio / (ridge + self.l1_ratio),
            offset=self.offset / u,
            coef_init=start.coefs[0] / u,
            intercept_init=start.intercepts[0] / u,
        )
        coef, intercept = u * fit.coefs[0], u * float(fit.intercepts[0])
        return HingeLimit(
            coef=coef,
            intercept=intercept,
            objective=u * float(fit.objectives[0]),
            dual_gap=u * float(fit.dual_gaps[0]),
            error=self._error(self._scores(coef, intercept)),
            converged=bool(fit.converged[0]),
        )

    def _scores(self, coef: Array, intercept: float) -> Array:
        return np.asarray(self.design @ coef) + intercept + self.offset

    def _as_hinge(self, fit: RegularizationPath, scores: Array) -> float:
        """The hinge's objective at a solution; the penalty is the same."""
        margins = self.target.signs * scores
        excess = fit.loss.value(margins) - np.maximum(self.u - margins, 0.0)
        return float(fit.objectives[0] - self.weight @ excess)

    def _error(self, scores: Array) -> float:
        return float(self.weight @ ((scores > 0) != (self.target.signs > 0)))


def _target(X: Any, y: Any, sample_weight: Any, class_weight: Any, offset: Any) -> Target:
    check_consistent_length(X, y)
    return check_target(
        X,
        column_or_1d(y, warn=True),
        sample_weight=sample_weight,
        class_weight=class_weight,
        offset=offset,
    )


def _check_temperatures(rhos: int | ArrayLike, u: float) -> Array:
    """Return the grid, from hot to cold."""
    if isinstance(rhos, Integral) and not isinstance(rhos, bool):
        if rhos < 1:
            raise ValueError(
                f"rhos={rhos!r} must be a positive number of temperatures or an array of them."
            )
        return u * np.geomspace(_HOTTEST, _COLDEST, int(rhos))
    return np.unique(check_values("rhos", rhos, 0.0, np.inf, closed=False))[::-1].copy()


def _scaled_bounds(bounds: Any, scale: float) -> Any:
    """Return the bounds on coefficients over `scale`; what is no pair is left for the solver."""
    if bounds is None or scale == 1.0:
        return bounds
    lower, upper = bounds
    return np.asarray(lower, dtype=float) / scale, np.asarray(upper, dtype=float) / scale


def _warn_unconverged(path: TemperaturePath) -> None:
    stalled = np.flatnonzero(~path.converged)
    parts = []
    if stalled.size:
        worst = stalled[np.argmax(path.dual_gaps[stalled])]
        parts.append(
            f"{stalled.size} of {len(path.rhos)} temperatures did not converge; the worst is "
            f"rho={path.rhos[worst]:.6g} with a duality gap of {path.dual_gaps[worst]:.3g}."
        )
    if not path.hinge_limit.converged:
        parts.append(
            "The hinge's limit did not converge; its duality gap is "
            f"{path.hinge_limit.dual_gap:.3g}."
        )
    if parts:
        message = " ".join([*parts, "Increase max_iter or tol."])
        warnings.warn(message, ConvergenceWarning, stacklevel=4)

"""Temperature paths: one penalty, a loss that cools from nearly linear to the SVM's hinge.

P_ρ is the penalised objective with the coherence function V_{ρ,u}, and P_0 the one with the hinge
[u − z]₊. From 0 ≤ V_{ρ,u}(z) − [u − z]₊ ≤ ρ log 2 it follows for the minimiser of P_ρ that

    0 ≤ P_0(minimiser of P_ρ) − min P_0 ≤ ρ log 2.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning

from clearning._problem import Grid, Problem, Settings, Start, check_settings
from clearning._progress import progress
from clearning._ranges import COUNT, POSITIVE, SHARE
from clearning._temperature_path import Array, HingeLimit, TemperaturePath
from clearning.losses import Coherence, Hinge, Loss
from clearning.path import RegularizationPath, kernel_problem, linear_problem, solve_path

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
    problem = linear_problem(
        X,
        y,
        fit_intercept=fit_intercept,
        standardize=standardize,
        penalty_factor=penalty_factor,
        bounds=bounds,
        sample_weight=sample_weight,
        class_weight=class_weight,
        offset=offset,
    )
    return _cool(problem, alpha, l1_ratio, u, rhos, check_settings(tol, max_iter))


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
        Symmetric positive semidefinite kernel matrix, or the one between samples and landmarks;
        checked and, where rounding made it indefinite, lifted as for
        :func:`clearning.kernel_clearning_path`.
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

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from sklearn.metrics.pairwise import rbf_kernel
    >>> from clearning import kernel_temperature_path
    >>> X, y = make_moons(100, noise=0.2, random_state=0)
    >>> path = kernel_temperature_path(rbf_kernel(X, gamma=2.0), y, alpha=0.01, rhos=[1.0, 0.1])
    >>> bool((path.distances <= path.distance_bounds).all())
    True
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
    return _cool(problem, alpha, l1_ratio, u, rhos, check_settings(tol, max_iter))


def _cool(
    problem: Problem,
    alpha: float,
    l1_ratio: float,
    u: float,
    rhos: int | ArrayLike,
    settings: Settings,
) -> TemperaturePath:
    """Check what a problem is cooled with, and cool it."""
    cooling = _Cooling(
        problem,
        POSITIVE.check("alpha", alpha),
        SHARE.check("l1_ratio", l1_ratio),
        POSITIVE.check("u", u),
        settings,
    )
    path = cooling.along(_check_temperatures(rhos, cooling.u))
    _warn_unconverged(path)
    return path


class _Cooling:
    """A problem at one penalty and one margin, to be solved at any temperature."""

    def __init__(
        self, problem: Problem, alpha: float, l1_ratio: float, u: float, settings: Settings
    ) -> None:
        self.problem = problem
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.u = u
        self.settings = settings
        self.shares, self.offsets = problem.target.shares, problem.target.offsets

    def along(self, rhos: Array) -> TemperaturePath:
        """Solve at every temperature, hot to cold, then with the hinge."""
        fits: list[RegularizationPath] = []
        with warnings.catch_warnings():
            # One warning for the whole path tells more than one for each temperature.
            warnings.simplefilter("ignore", ConvergenceWarning)
            for rho in progress(rhos.tolist(), label="cooling"):
                fits.append(self._fit(Coherence(rho, self.u), fits[-1] if fits else None))
            limit = self._limit(fits[-1])
        scores = [self._scores(fit.coefs[0], fit.intercepts[0]) for fit in fits]

        def all_of(name: str) -> Any:
            return np.concatenate([getattr(fit, name) for fit in fits])

        shared = ("coefs", "intercepts", "objectives", "dual_gaps", "n_iters", "converged")
        return TemperaturePath(
            rhos=rhos,
            **{name: all_of(name) for name in shared},
            hinge_objectives=np.array([self._as_hinge(fit, f) for fit, f in zip(fits, scores)]),
            errors=np.array([self._error(f) for f in scores]),
            hinge_limit=limit,
            alpha=self.alpha,
            l1_ratio=self.l1_ratio,
            u=self.u,
            classes=fits[0].classes,
            feature_names=fits[0].feature_names,
        )

    def _fit(self, loss: Loss, before: RegularizationPath | None) -> RegularizationPath:
        start = None
        if before is not None:
            start = Start(before.coefs[0], float(before.intercepts[0]))
        grid = Grid.of([self.alpha])
        return solve_path(self.problem, loss, self.l1_ratio, grid, self.settings, start)

    def _limit(self, before: RegularizationPath) -> HingeLimit:
        """Solve with [u − z]₊ = u [1 − z/u]₊, which is the hinge itself of scores over u.

        In c = b/u the objective is u times the hinge's, with the penalty
        α Σ pⱼ [(1−ω) u/2 cⱼ² + ω|cⱼ|].
        """
        u, ridge = self.u, (1.0 - self.l1_ratio) * self.u
        fit = solve_path(
            self._over_margin(),
            Hinge(),
            self.l1_ratio / (ridge + self.l1_ratio),
            Grid.of([self.alpha * (ridge + self.l1_ratio)]),
            self.settings,
            Start(before.coefs[0] / u, float(before.intercepts[0] / u)),
        )
        penalty = self.problem.penalty
        # A bound over u times u may be beyond it by a rounding.
        coef = np.clip(u * fit.coefs[0], penalty.lower, penalty.upper)
        intercept = u * float(fit.intercepts[0])
        return HingeLimit(
            coef=coef,
            intercept=intercept,
            objective=u * float(fit.objectives[0]),
            dual_gap=u * float(fit.dual_gaps[0]),
            error=self._error(self._scores(coef, intercept)),
            converged=bool(fit.converged[0]),
        )

    def _over_margin(self) -> Problem:
        """Return the problem of coefficients and scores over u."""
        target, penalty = self.problem.target, self.problem.penalty
        return replace(
            self.problem,
            target=replace(target, offset=self.offsets / self.u),
            penalty=replace(penalty, lower=penalty.lower / self.u, upper=penalty.upper / self.u),
        )

    def _scores(self, coef: Array, intercept: float) -> Array:
        return self.problem.design.scores(coef) + intercept + self.offsets

    def _as_hinge(self, fit: RegularizationPath, scores: Array) -> float:
        """The hinge's objective at a solution; the penalty is the same."""
        margins = self.problem.target.signs * scores
        excess = fit.loss.value(margins) - np.maximum(self.u - margins, 0.0)
        return float(fit.objectives[0] - self.shares @ excess)

    def _error(self, scores: Array) -> float:
        return float(self.shares @ ((scores > 0) != (self.problem.target.signs > 0)))


def _check_temperatures(rhos: int | ArrayLike, u: float) -> Array:
    """Return the grid, from hot to cold."""
    if isinstance(rhos, Integral) and not isinstance(rhos, bool):
        if rhos not in COUNT:
            raise ValueError(
                f"rhos={rhos!r} must be a positive number of temperatures or an array of them."
            )
        return u * np.geomspace(_HOTTEST, _COLDEST, int(rhos))
    return np.unique(POSITIVE.check_each("rhos", rhos))[::-1].copy()


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

"""Many classes: how their problems are drawn, their objective in plain NumPy, what is read off.

P(a, B) = Σ wᵢ κV(oᵢ + a + Bxᵢ, cᵢ) + α [ω Σ pⱼ ‖Bⱼ‖ + (1−ω)/2 Σ pⱼ ‖Bⱼ‖₂²] with
V(g, c) = ρ log Σ_j exp((g_j + u[j≠c] − g_c)/ρ), and ‖·‖ the ℓ₁ norm of a feature's coefficients
or, grouped over the classes, their ℓ₂ norm.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import problems as draws
from answers import Fit, View, probes
from numpy.typing import NDArray
from plain import EPS, LONG, Array, Point
from problems import Problem, Rng, chance, pick, power
from scipy.optimize import minimize

NAMES = ((0, 1, 2, 3, 4, 5, 6), ("a", "b", "c", "d", "e", "f", "g"), (-9, -1, 0, 5, 7, 8, 10**9))


def draw_classes_path(rng: Rng) -> Problem:
    """Samples of three to seven classes; now and then a class has one sample only."""
    n, p = draws.draw_shape(rng)
    m = int(rng.integers(3, 8))
    n = max(n, m)
    X, storage = draws.draw_storage(rng, draws.draw_matrix(rng, n, p))
    codes = rng.integers(0, m, n) if chance(rng, 0.7) else np.zeros(n, int)
    codes[:m] = np.arange(m)
    rows: dict[str, Any] = {}
    if chance(rng, 0.3):
        rows["sample_weight"] = power(rng, -2, 2, n)
    if chance(rng, 0.2):
        rows["offset"] = rng.standard_normal((n, m))
    options = {**draws.draw_solver(rng), "alphas": int(rng.integers(1, 6))}
    options["loss"] = pick(rng, ("coherence", "logistic"))
    if options["loss"] == "coherence":
        options |= {"rho": power(rng, -2, 2), "u": pick(rng, (0.0, 1.0, power(rng, -2, 1)))}
    if chance(rng, 0.5):
        options["groups"] = "classes"
    columns = {"penalty_factor": power(rng, -1, 1, p)} if chance(rng, 0.3) else {}
    return Problem(
        "classes_path",
        X,
        codes.astype(float),
        pick(rng, NAMES)[:m],
        storage,
        rows,
        columns,
        options,
    )


@dataclass(frozen=True, eq=False)
class ClassPlain:
    """A penalised problem of m classes: what `Plain` is for two, coefficients a row a class."""

    X: Array
    codes: NDArray[np.intp]
    weight: Array
    offset: Array
    rho: float
    u: float
    kappa: float
    l1_ratio: float
    factor: Array
    is_grouped: bool
    fit_intercept: bool
    private = False
    grain = 0.0

    @property
    def m(self) -> int:
        return self.offset.shape[1]

    @cached_property
    def known(self) -> dict[Point, tuple[NDArray, NDArray]]:
        """Loss and penalty of the points that were asked for."""
        return {}

    @cached_property
    def zero(self) -> Point:
        return Point(np.zeros((self.m, self.X.shape[1])), np.zeros(self.m))

    @property
    def lower(self) -> Array:
        return np.full((self.m, self.X.shape[1]), -np.inf)

    @property
    def upper(self) -> Array:
        return -self.lower

    @property
    def free(self) -> NDArray[np.bool_]:
        return self.factor == 0

    def losses(self, g: NDArray) -> NDArray:
        """κV of each sample."""
        own = np.arange(len(g)), self.codes
        lifted = (g + self.u * (np.arange(self.m) != self.codes[:, None])) / self.rho
        top = lifted.max(axis=1)
        total = np.log(np.exp(lifted - top[:, None]).sum(axis=1))
        return self.kappa * self.rho * (total + (top - lifted[own]))

    def scores(self, point: Point, dtype: type = LONG) -> NDArray:
        coef = np.asarray(point.coef, dtype)
        return self.offset + np.asarray(point.intercept, dtype) + self.X.astype(dtype) @ coef.T

    def penalty(self, coef: NDArray) -> NDArray:
        norms = np.sqrt((coef**2).sum(axis=0)) if self.is_grouped else np.abs(coef).sum(axis=0)
        ridge = (coef * self.pull(coef)).sum()
        return self.l1_ratio * (self.factor @ norms) + (1 - self.l1_ratio) / 2 * ridge

    def pull(self, coef: NDArray) -> NDArray:
        """The slope of the quadratic part, which is half of what it has with the coefficients."""
        return self.factor * coef

    def value(self, point: Point, alpha: float) -> float:
        with np.errstate(all="ignore"):
            if point not in self.known:
                loss = self.weight @ self.losses(self.scores(point))
                self.known[point] = loss, self.penalty(np.asarray(point.coef, LONG))
            loss, penalty = self.known[point]
            return float(loss + alpha * penalty)

    def rounding(self, point: Point, alpha: float) -> float:
        """How much P may differ in rounding, by the magnitudes that are added up in it."""
        n, p = self.X.shape
        size = np.abs(self.offset) + np.abs(point.intercept) + np.abs(self.X) @ np.abs(point.coef).T
        error = (p + 8) * EPS * (size.max(axis=1) + self.u)
        # A loss falls with one score and rises with others, by kappa at most.
        loss = self.weight @ (2 * self.kappa * error)
        return 4 * float(loss + (n + p + 32) * EPS * self.value(point, alpha))

    def doubt(self, point: Point, alpha: float) -> float:
        return 0.0

    @cached_property
    def best_constant(self) -> Point:
        if not self.fit_intercept:
            return self.zero
        bare = self.bare()
        heaviest = np.bincount(self.codes, self.weight, self.m).argmax()
        ways = [bare.newton(), self.u * (np.arange(self.m) == heaviest), np.zeros(self.m)]
        starts = [Point(bare.zero.coef, way) for way in ways]
        start = min(starts, key=lambda point: bare.value(point, 1.0))
        near = np.abs(bare._smooth(start.intercept, start.coef, 1.0, 1.0)[1]).max() <= 1e-13
        best = start if near else bare.descend(1.0, start)
        return Point(self.zero.coef, best.intercept)

    def newton(self) -> Array:
        """Intercepts without a model, by full steps: good if they settle, and judged by others."""
        a = np.zeros(self.m)
        for _ in range(30):
            s = self.shares(self.offset + a)
            own = self.kappa * self.weight[:, None] * s
            slope = own.sum(axis=0) - self.kappa * np.bincount(self.codes, self.weight, self.m)
            if np.abs(slope).max() <= 1e-15 or not np.isfinite(a).all():
                break
            curvature = (np.diag(own.sum(axis=0)) - own.T @ s) / self.rho
            # A constant added to all scores changes nothing: it is held.
            a = a - np.linalg.lstsq(curvature + np.ones_like(curvature), slope, rcond=None)[0]
        return np.where(np.isfinite(a).all(), a, 0.0)

    def shares(self, g: Array) -> Array:
        """The probabilities of V: what each score's slope is."""
        lifted = (g + self.u * (np.arange(self.m) != self.codes[:, None])) / self.rho
        s = np.exp(lifted - lifted.max(axis=1, keepdims=True))
        return s / s.sum(axis=1, keepdims=True)

    def bare(self) -> ClassPlain:
        """The problem without columns."""
        return replace(self, X=self.X[:, :0], factor=self.factor[:0])

    def descend(self, alpha: float, start: Point) -> Point:
        """L-BFGS on a norm that is rounded off at zero, less and less."""
        best, m, shape = start, self.m, start.coef.shape
        for smoothing in (1e-2, 1e-5):
            with np.errstate(all="ignore"):
                x = minimize(
                    lambda x, smooth=smoothing: self._smooth(
                        x[:m], x[m:].reshape(shape), alpha, smooth
                    ),
                    np.r_[np.ravel(best.intercept), np.ravel(best.coef)],
                    jac=True,
                    method="L-BFGS-B",
                    options={"maxiter": 150, "ftol": 0.0, "gtol": 1e-12},
                ).x
            found = Point(x[m:].reshape(shape), x[:m] * self.fit_intercept)
            best = min(best, found, key=lambda point: self.value(point, alpha))
        return best

    def _smooth(self, a: Array, coef: Array, alpha: float, smoothing: float) -> tuple[float, Array]:
        """The objective with sqrt(x² + smoothing²) for |x|, and its gradient."""
        g = self.scores(Point(coef, a * self.fit_intercept), float)
        s = self.shares(g)
        s[np.arange(len(g)), self.codes] -= 1.0
        s *= self.kappa * self.weight[:, None]
        squares = (coef**2).sum(axis=0) if self.is_grouped else coef**2
        norms = np.sqrt(squares + smoothing**2)
        held = alpha * self.factor
        lasso = float((self.l1_ratio * held * norms).sum())
        pull = (1 - self.l1_ratio) * alpha * self.pull(coef)
        ridge = float((pull * coef).sum()) / 2
        slope = s.T @ self.X + held * self.l1_ratio * coef / norms + pull
        value = float(self.weight @ self.losses(g)) + lasso + ridge
        return value, np.r_[s.sum(axis=0) * self.fit_intercept, slope.ravel()]


def class_plain(problem: Problem) -> ClassPlain:
    n, p = problem.X.shape
    options, m = problem.options, len(problem.labels)
    weight = problem.rows.get("sample_weight", np.ones(n))
    rho, u = options.get("rho", 1.0), options.get("u", 1.0)
    if options.get("loss") == "logistic":
        rho, u = 1.0, 0.0
    kappa = 1.0 if u == 0 else u / (rho * np.logaddexp(0.0, np.log(m - 1.0) + u / rho))
    return ClassPlain(
        X=problem.X,
        codes=problem.signs.astype(int),
        weight=weight / weight.sum(),
        offset=problem.rows.get("offset", np.zeros((n, m))),
        rho=rho,
        u=u,
        kappa=float(kappa),
        l1_ratio=options["l1_ratio"],
        factor=problem.columns.get("penalty_factor", np.ones(p)),
        is_grouped="groups" in options,
        fit_intercept=options.get("fit_intercept", True),
    )


def class_fits(problem: Problem, path: Any) -> list[Fit]:
    return class_fits_of(class_plain(problem), path)


def class_fits_of(plain: ClassPlain, path: Any) -> list[Fit]:
    """What a path claims of a problem."""
    return [
        Fit(
            plain,
            float(path.alphas[k]),
            Point(path.coefs[k], path.intercepts[k]),
            float(path.objectives[k]),
            float(path.dual_gaps[k]),
            bool(path.converged[k]),
            float(path.null_objective),
        )
        for k in range(len(path.alphas))
    ]


def class_views(problem: Problem, path: Any) -> list[View]:
    X = probes(problem)
    with np.errstate(all="ignore"):
        scores, proba, predicted = path.decision_function(X), path.predict_proba(X), path.predict(X)
    return [
        View(scores[:, k], path.classes, predicted[:, k], proba[:, k])
        for k in range(scores.shape[1])
    ]

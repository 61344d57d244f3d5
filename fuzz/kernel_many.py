"""Kernels of many classes: the problems of `many` with tr(BQB') in the place of the ridge."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from answers import Fit, lifted
from many import NAMES, ClassPlain, class_fits_of, class_plain
from numpy.typing import NDArray
from plain import EPS, LONG, Array, Point
from problems import Problem, Rng, chance, handed_over, pick, power


@dataclass(frozen=True, eq=False)
class KernelClassPlain(ClassPlain):
    """A kernel problem of m classes; Q is positive semidefinite up to `noise` times its largest."""

    Q: Array
    noise: float

    def pull(self, coef: NDArray) -> NDArray:
        return coef @ self.Q.astype(coef.dtype)

    def bare(self) -> ClassPlain:
        return replace(self, X=self.X[:, :0], factor=self.factor[:0], Q=self.Q[:0, :0])

    def rounding(self, point: Point, alpha: float) -> float:
        size = np.abs(np.asarray(point.coef, LONG))
        form = float((size @ np.abs(self.Q) * size).sum())
        lost = 4 * (self.X.shape[1] + 8) * EPS * alpha * (1 - self.l1_ratio) / 2 * form
        return super().rounding(point, alpha) + lost

    def doubt(self, point: Point, alpha: float) -> float:
        """What is unknown of P because Q is positive semidefinite up to noise only."""
        size = (
            self.noise
            * np.abs(self.Q).max(initial=0.0)
            * float(np.sum(np.square(point.coef, dtype=LONG)))
        )
        return float(alpha * (1 - self.l1_ratio) / 2 * size)


def many_classes(rng: Rng, problem: Problem) -> Problem:
    """Give a kernel path's problem three to five classes."""
    n, m = len(problem.X), int(rng.integers(3, 6))
    if n < m:
        return problem
    codes = rng.integers(0, m, n)
    codes[:m] = np.arange(m)
    options = {k: v for k, v in problem.options.items() if k in ("l1_ratio", "tol", "max_iter")}
    options |= {"alphas": int(rng.integers(1, 5)), "loss": pick(rng, ("coherence", "logistic"))}
    if options["loss"] == "coherence":
        options |= {"rho": power(rng, -1, 1), "u": pick(rng, (0.0, 1.0))}
    if chance(rng, 0.4):
        options["groups"] = "classes"
    rows: dict[str, Any] = {}
    if chance(rng, 0.3):
        rows["sample_weight"] = power(rng, -2, 2, n)
    if chance(rng, 0.2):
        rows["offset"] = rng.standard_normal((n, m))
    return Problem(
        "kernel_classes_path",
        problem.X,
        codes.astype(float),
        pick(rng, NAMES)[:m],
        problem.storage,
        rows,
        {},
        options,
        square=problem.square,
        refusable=problem.refusable,
    )


def kernel_class_plain(problem: Problem) -> KernelClassPlain:
    dtype = np.asarray(handed_over(problem.X, problem.storage)).dtype
    K = problem.X if problem.square is not None else lifted(problem.X, dtype)
    Q = K if problem.square is None else lifted(problem.square, dtype)
    plain = class_plain(problem)
    given = {field.name: getattr(plain, field.name) for field in fields(plain)} | {"X": K}
    eps = np.finfo(np.float32).eps if dtype == np.float32 else EPS
    noise = 4 * len(K) * float(eps) + 1e-11 * problem.refusable
    return KernelClassPlain(**given, Q=Q, noise=noise)


def kernel_class_fits(problem: Problem, path: Any) -> list[Fit]:
    return class_fits_of(kernel_class_plain(problem), path)

"""Landmarks by themselves: how many to begin with, and more of them until little is lost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from clearning._designs import Indices
from clearning._expansion import Expansion, expand_at
from clearning._full_gap import FullCertificate, Solution, full_certificate
from clearning._problem import Grid, Problem, Settings, Start, Target
from clearning._regularization_path import RegularizationPath
from clearning.kernels import Kernel
from clearning.landmarks import draw_more
from clearning.losses import MultiCoherence
from clearning.path import solve_path

AUTO = "auto"
# Of two classes; of m, as many coefficients: a share 1 / (m - 1) of it.
MOST_LANDMARKS = 2000
# Of many classes a solution in fewer landmarks is no start: which of the nearly collinear kernel
# functions count has to be found anew. A path from the top, each penalty this share of the one
# before, takes a tenth of the time (5000 samples of three classes, 800 landmarks: 10 s of 92).
STEP_OF_CLASSES = 1.0 / 1.5
# A full gap of this share of the null objective is small enough: the objective itself is then off
# by about a tenth of it.
ENOUGH = 3e-3
# A pass over n² kernel values takes two seconds, and a minute, at so many samples.
MOST_CERTIFIED, MOST_CERTIFIED_AUTO = 20_000, 100_000


@dataclass(frozen=True)
class LandmarkFit:
    """A path on landmarks, its chosen penalty on those of `expansion`, and what is proved of it."""

    expansion: Expansion
    path: RegularizationPath
    full_gap: float


@dataclass(frozen=True)
class LandmarkRefinement:
    """Fits on landmarks, judged by the full problem.

    Attributes
    ----------
    kernel : Kernel
    X : array-like
        The samples that count.
    problem : Problem
        The problem on landmarks.
    settings : Settings
    grows : bool
        Whether landmarks may be added.
    random_state : int, RandomState instance or None
    """

    kernel: Kernel
    X: Any
    problem: Problem
    settings: Settings
    grows: bool
    random_state: Any

    def finish(self, expansion: Expansion, path: RegularizationPath, index: int) -> LandmarkFit:
        """Certify one point of a path, and add landmarks until that is good enough.

        The rest of the path stays on the landmarks it was walked on.
        """
        if expansion.penalty_kernel is None:
            return LandmarkFit(expansion, path, float(path.dual_gaps[index]))
        limit = MOST_CERTIFIED_AUTO if self.grows else MOST_CERTIFIED
        if self.X.shape[0] > limit:
            return LandmarkFit(expansion, path, np.nan)
        first, point, at = expansion.centres, path, index
        certificate = self._certify(first, point, at)
        rng = check_random_state(self.random_state)
        while self.grows and certificate.gap > ENOUGH * path.null_objective:
            more = self._more(expansion.centres, certificate, rng)
            if len(more) == len(expansion.centres):
                break
            start = _start_at(more, expansion.centres, point.start(at))
            expansion = expand_at(self.kernel, self.X, more)
            point = self._solve(expansion, path, index, start)
            at = len(point.alphas) - 1
            certificate = self._certify(more, point, at)
        if point is not path:
            path = _grafted(path, index, point, first, expansion.centres)
        return LandmarkFit(expansion, path, certificate.gap)

    def _certify(self, centres: Indices, path: RegularizationPath, index: int) -> FullCertificate:
        start, problem = path.start(index), self.problem
        fit = Solution(
            centres,
            start.coef.T,
            start.intercept,
            float(path.objectives[index]),
            path.loss,
            float(path.alphas[index]),
            path.l1_ratio,
            problem.penalty.groups is not None,
        )
        target, intercept = problem.target, problem.fit_intercept
        if start.coef.ndim == 1 or isinstance(path.loss, MultiCoherence):
            return full_certificate(self.kernel, self.X, target, intercept, fit)
        parts = [
            full_certificate(self.kernel, self.X, one, intercept, of)
            for one, of in _against_rest(target, fit)
        ]
        return FullCertificate(
            sum(part.bound for part in parts),
            sum(part.objective for part in parts),
            np.max([part.slopes for part in parts], axis=0),
            parts[0].threshold,
        )

    def _more(
        self, centres: Indices, certificate: FullCertificate, rng: np.random.RandomState
    ) -> Indices:
        """Return twice as many landmarks, where so many are missing and allowed."""
        most = MOST_LANDMARKS // (self.problem.target.n_classes - 1)
        n_more = min(len(centres), most - len(centres))
        if n_more <= 0 or not np.isfinite(certificate.slopes).all():
            return centres
        return draw_more(self.kernel, self.X, centres, certificate.missing, n_more, rng)

    def _solve(
        self, expansion: Expansion, path: RegularizationPath, index: int, start: Start
    ) -> RegularizationPath:
        """Return a path that ends at one of the penalties, on other landmarks."""
        penalty = self.problem.penalty.on(expansion.n_columns)
        problem = replace(self.problem, design=expansion, penalty=penalty)

        def solve(grid: Grid, given: Start | None = None) -> RegularizationPath:
            return solve_path(problem, path.loss, path.l1_ratio, grid, self.settings, given)

        alpha = float(path.alphas[index])
        if problem.target.n_classes == 2:
            return solve(Grid.of([alpha]), start)
        top = max(float(solve(Grid(None, 1)).alphas[0]), alpha)
        n_steps = int(np.ceil(np.log(alpha / top) / np.log(STEP_OF_CLASSES)))
        return solve(Grid.of(np.append(np.geomspace(top, alpha, n_steps, endpoint=False), alpha)))


def _start_at(centres: Indices, old: Indices, start: Start) -> Start:
    """Return a start in other landmarks, the old ones among them."""
    coef = np.zeros((*start.coef.shape[:-1], len(centres)))
    coef[..., np.searchsorted(centres, old)] = start.coef
    return Start(coef, start.intercept)


def _against_rest(target: Target, fit: Solution) -> Iterator[tuple[Target, Solution]]:
    """Yield each class's problem and solution, where classes were solved one against the rest.

    Each has the objective that it has by itself; that of all is their sum.
    """
    for k in range(target.n_classes):
        intercept = float(fit.intercept[k])
        own = replace(fit, coef=fit.coef[:, k], intercept=intercept, objective=-np.inf)
        yield target.against_rest(k), own


def _grafted(
    path: RegularizationPath,
    index: int,
    point: RegularizationPath,
    first: Indices,
    centres: Indices,
) -> RegularizationPath:
    """Return a path in more landmarks, with one of its points replaced by a solution in them.

    The path was walked on the first landmarks; all are the centres.
    """
    kept = path.sparse_coefs
    # Coefficients come class by class where there are many.
    klass, place = np.divmod(kept.indices, len(first))
    n_landmarks = point.sparse_coefs.shape[1] * len(first) // kept.shape[1]
    wide = sparse.csr_array(
        (kept.data, klass * n_landmarks + np.searchsorted(centres, first)[place], kept.indptr),
        shape=(len(path.alphas), point.sparse_coefs.shape[1]),
    )
    rows = [wide[:index], point.sparse_coefs[-1:], wide[index + 1 :]]
    told = {}
    for name in ("intercepts", "objectives", "dual_gaps", "n_iters", "converged"):
        told[name] = getattr(path, name).copy()
        told[name][index] = getattr(point, name)[-1]
    return replace(path, sparse_coefs=sparse.csr_array(sparse.vstack(rows)), **told)

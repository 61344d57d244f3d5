"""Where a fit begins: the path of the rows that the first pass drew, solved in memory."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from clearning._blocks.engine import ONE_BLAS_THREAD
from clearning._blocks.measures import Measures
from clearning._blocks.problem import BlockProblem
from clearning._designs import Array, Features, Indices
from clearning._problem import Grid, Penalty, Problem, Settings, Target
from clearning.losses import Loss
from clearning.path import solve_path

# The sample's own error is larger than this.
SAMPLE_SETTINGS = Settings(tol=1e-5, max_iter=200)


@dataclass(frozen=True)
class Sample:
    """The rows drawn: sparse by rows, with weights that sum to one."""

    X: Any
    signs: Array
    share: Array
    offset: Array

    def curvature(self, loss: Loss, working: Indices, coef: Array, intercept: float) -> Array:
        """Return the loss's second derivatives in the scores, at some coefficients."""
        scores = np.asarray(self.X[:, working] @ coef).ravel() + intercept + self.offset
        return self.share * loss.hessian(self.signs * scores)


def sparse_sample(measures: Measures) -> Sample | None:
    """Return the rows drawn, less the columns' centres."""
    drawn = _drawn(measures)
    if drawn is None:
        return None
    X, target = drawn
    X = X if sparse.issparse(X) else sparse.csr_array(X - measures.centre)
    return Sample(X.tocsr(), target.signs, target.shares, target.offsets)


@dataclass(frozen=True)
class SamplePath:
    """Coefficients and intercepts of centred columns, and the columns that may carry more."""

    coefs: Array
    intercepts: Array
    candidates: NDArray[np.bool_]


def sample_path(measures: Measures, problem: BlockProblem) -> SamplePath | None:
    """Solve a problem's path on the rows drawn; None if they do not hold both classes."""
    drawn = _drawn(measures)
    if drawn is None:
        return None
    X, target = drawn
    # Standardised columns, whose ridge factors are the squares of their l1 factors.
    l1, l2 = problem.l1_factor[0], problem.l2_factor[0]
    scales = np.where(l1 > 0, l2 / np.where(l1 > 0, l1, 1.0), 1.0)
    if sparse.issparse(X):
        X = (X @ sparse.diags_array(1.0 / scales)).tocsc()
    else:
        X = np.asfortranarray((X - measures.centre) / scales)
    penalty = Penalty(l1 / scales, problem.lower * scales, problem.upper * scales)
    memory = Problem(Features(X), target, penalty, problem.fit_intercept)
    with ONE_BLAS_THREAD, warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        path = solve_path(
            memory, problem.loss, problem.l1_ratio, Grid.of(problem.alphas), SAMPLE_SETTINGS
        )
    scores = np.asarray(X @ path.coefs.T) + path.intercepts + target.offsets[:, None]
    signs = target.signs[:, None]
    residual = target.shares[:, None] * signs * problem.loss.gradient(signs * scores)
    gradients = np.asarray(X.T @ residual).T * scales
    candidates = (path.coefs != 0).any(axis=0)
    for k, v in enumerate(gradients):
        candidates |= problem.may_enter(0, k, v)
    return SamplePath(path.coefs / scales, path.intercepts, candidates)


def _drawn(measures: Measures) -> tuple[Any, Target] | None:
    """Return the rows drawn, weighted so that each class has its share of all rows."""
    classes = measures.encoding.classes
    drawn = [measures.scan.labels[label].drawn for label in classes.tolist()]
    if not all(each.weight.any() for each in drawn):
        return None
    weights = [
        each.weight * (total / each.weight.sum()) for each, total in zip(drawn, measures.weights[0])
    ]
    stack = sparse.vstack if sparse.issparse(drawn[0].X) else np.vstack
    signs = np.repeat([-1.0, 1.0], [len(each.weight) for each in drawn])
    offset = np.concatenate([each.offset for each in drawn])
    X = stack([each.X for each in drawn])
    return X, Target(classes, signs, np.concatenate(weights), offset)

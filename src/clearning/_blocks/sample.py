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
from clearning._blocks.scan import column_range, most_drawn
from clearning._designs import Array, Features
from clearning._problem import Grid, Penalty, Problem, Settings, Target
from clearning.losses import Loss, MultiCoherence
from clearning.path import solve_path

# The sample's own error is larger than this.
SAMPLE_SETTINGS = Settings(tol=1e-5, max_iter=200)


@dataclass(frozen=True)
class SamplePath:
    """Coefficients and intercepts of centred columns, and the columns that may carry more."""

    coefs: Array
    intercepts: Array
    candidates: NDArray[np.bool_]


def sample_path(measures: Measures, problem: BlockProblem) -> SamplePath | None:
    """Solve a problem's path on the rows drawn; None if they do not hold all classes."""
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
    lower, upper = (
        bound[0] if problem.encoding.width == 1 else bound
        for bound in _known(X[target.shares > 0], problem.lower * scales, problem.upper * scales)
    )
    penalty = Penalty(l1 / scales, lower, upper)
    memory = Problem(Features(X), target, penalty, problem.fit_intercept)
    with ONE_BLAS_THREAD, warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        path = solve_path(
            memory, problem.loss, problem.l1_ratio, Grid.of(problem.alphas), SAMPLE_SETTINGS
        )
    shape = (len(problem.alphas), problem.encoding.width)
    coefs, intercepts = path.coefs.reshape(*shape, -1), path.intercepts.reshape(shape)
    candidates = (coefs != 0).any(axis=(0, 1))
    for k, (b, a) in enumerate(zip(coefs, intercepts)):
        residual = _residual(problem.loss, target, np.asarray(X @ b.T) + a)
        candidates |= problem.may_enter(0, k, np.asarray(X.T @ residual).T * scales)
    return SamplePath(coefs / scales, intercepts, candidates)


def _known(X: Any, *bounds: Array) -> list[Array]:
    """Return bounds that keep columns at zero of which the rows drawn tell nothing."""
    lowest, highest = column_range(X)
    return [np.where(lowest == highest, 0.0, bound) for bound in bounds]


def _residual(loss: Loss | MultiCoherence, target: Target, scores: Array) -> Array:
    """Return the derivatives of the mean loss in the scores, to which offsets are added."""
    scores = scores + target.offsets.reshape(scores.shape)
    if isinstance(loss, MultiCoherence):
        return target.shares[:, None] * loss.gradient(scores, target.codes)
    slope = target.signs * loss.gradient(target.signs * scores[:, 0])
    return (target.shares * slope)[:, None]


def _drawn(measures: Measures) -> tuple[Any, Target] | None:
    """Return the rows drawn, weighted so that each class has its share of all rows."""
    classes = measures.encoding.classes
    labels = [measures.scan.labels[label].drawn for label in classes.tolist()]
    most = most_drawn(labels[0].X, len(classes))
    drawn = [each.first(most) for each in labels]
    if not all(each.weight.any() for each in drawn):
        return None
    weights = [
        each.weight * (total / each.weight.sum()) for each, total in zip(drawn, measures.weights[0])
    ]
    stack = sparse.vstack if sparse.issparse(drawn[0].X) else np.vstack
    codes = np.repeat(np.arange(len(classes)), [len(each.weight) for each in drawn])
    offset = np.concatenate([each.offset for each in drawn])
    width = measures.encoding.width
    offset = offset if offset.shape[1] else np.zeros((len(codes), width))
    X = stack([each.X for each in drawn])
    return X, Target(
        classes, codes, np.concatenate(weights), offset[:, 0] if width == 1 else offset
    )

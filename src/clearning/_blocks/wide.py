"""The step of a model whose matrix would be too large: curvature of rows kept here, by products.

Second derivatives come from those rows, at the task's own point, and are never made into a matrix;
gradients are those of all rows. A column that they hardly know borrows the curvature that its mean
square promises.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from clearning import _core
from clearning._blocks.certificate import Columns
from clearning._blocks.curvature import MODEL_ACCURACY, Step
from clearning._blocks.drawn_rows import Curvature, rows_kept
from clearning._blocks.problem import BlockProblem
from clearning._blocks.state import State
from clearning._designs import Array

# Beyond so many columns there is no matrix; and beyond so many none where the rows kept are all, or
# so many for each column.
LARGEST_GRAM = 5000
DEAR_GRAM = 1000
ROWS_A_COLUMN = 100
# After so many passes the tasks of two classes step by their own curvature, where the rows hold no
# more than so many numbers.
LONG_FIT = 20
FEW_NUMBERS = 1 << 20

# Rounds over the scores of many classes, which curvature couples: at most so many (3000x2000 in
# three classes takes 10 passes with 30, 26 with 5), and no more once one moves the scores by less
# than this share of what the first did.
ROUNDS = 8
SETTLED = 0.01


def is_wide(problem: BlockProblem, state: State) -> bool:
    """Whether steps should be taken by products with rows that are kept, without a matrix."""
    size = len(state.working) * problem.encoding.width
    enough = rows_kept(problem) >= min(problem.n_rows, ROWS_A_COLUMN * size)
    # Folds of few rows are too far from the full path for its curvature.
    few = problem.n_rows * problem.numbers_a_row <= FEW_NUMBERS and problem.encoding.width == 1
    tired = few and state.passes >= LONG_FIT
    return size > LARGEST_GRAM or (size > DEAR_GRAM and enough) or tired


@dataclass(frozen=True)
class RowModel:
    """Second derivatives X'HX of the loss, by rows of X, and more where those know too little.

    Attributes
    ----------
    X : csr_array of shape (n_drawn, n_working)
        The rows drawn, in the columns of the working set.
    curvature : Curvature
        That of their scores.
    more : ndarray of shape (n_working,)
        What is added to each column's curvature, by that of the scores: mean squares that the rows
        miss, and more after a step went too far.
    """

    X: Any
    curvature: Curvature
    more: Array

    def step(
        self, columns: Columns, b: Array, gradient: Array, slope: Array, fit_intercept: bool
    ) -> Step:
        """Minimise the model plus the penalty; all arrays have an entry a score and column."""
        own = self.curvature.own
        near = np.outer(own.sum(axis=1), self.more)
        moved, by, along = b.copy(), np.zeros(len(b)), np.zeros_like(own)
        moves: list[float] = []
        for _ in range(1 if len(b) == 1 else ROUNDS):
            before = along.copy()
            for k, h in enumerate(own):
                pull = h * along[k] - self.curvature.coupled(k, along)
                g = gradient[k] + near[k] * (moved[k] - b[k]) + self._products(pull)
                start, of = moved[k].copy(), columns.of_score(k)
                moved[k], shift = self._descend(
                    of, start, g, slope[k] + pull.sum(), h, near[k], fit_intercept
                )
                along[k] += np.asarray(self.X @ (moved[k] - start)).ravel() + shift
                by[k] += shift
            moves.append(float(np.abs(along - before).max(initial=0.0)))
            if moves[-1] <= SETTLED * moves[0]:
                break
        d = moved - b
        square = self.curvature.square(along) + float(np.vdot(near, d**2))
        change = float(np.vdot(gradient, d)) + float(slope @ by) + 0.5 * square
        change += columns.penalty(moved) - columns.penalty(b)
        total = own.sum() / min(len(own), 2)
        return Step(moved, by, -change, float(np.sqrt(square / total)) if total > 0 else np.inf)

    def _products(self, r: Array) -> Array:
        return np.asarray(self.X.T @ r).ravel()

    @cached_property
    def _design(self) -> Any:
        """The rows by columns, and a last row for what is linear in the coefficients."""
        design = sparse.vstack([self.X, sparse.csr_array(np.ones((1, self.X.shape[1])))]).tocsc()
        design.indices = design.indices.astype(np.int32, copy=False)
        design.indptr = design.indptr.astype(np.int32, copy=False)
        return design

    def _descend(
        self,
        columns: Columns,
        b: Array,
        gradient: Array,
        slope: float,
        h: Array,
        near: Array,
        fit_intercept: bool,
    ) -> tuple[Array, float]:
        """Return the coefficients of one score and what its intercept gains."""
        reduced, by = gradient - near * b, 0.0
        if fit_intercept:
            by = -slope / float(h.sum())
            reduced = reduced + self._products(h) * by
        design = self._design
        design.data[design.indptr[1:] - 1] = reduced
        worst = columns.violations(b, gradient).max(initial=0.0)
        moved, shift = _core.descend_by_rows(
            design.data,
            design.indices,
            design.indptr,
            np.append(h, 0.0),
            fit_intercept,
            {
                "coef": b,
                "gradient": np.zeros(len(b)),
                **columns.flat(),
                "ridge": columns.ridge + near,
                "allowed": np.full(len(b), max(MODEL_ACCURACY * worst, 1e-300)),
            },
        )
        return moved, by + shift

"""The step of a model whose matrix would be too large: curvature of the rows drawn, by products.

Second derivatives come from the sample, at the task's own point, and are never made into a matrix;
gradients are those of all rows. A column that the sample hardly knows borrows the curvature that
its mean square promises.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from clearning import _core
from clearning._blocks.certificate import Columns
from clearning._blocks.curvature import MODEL_ACCURACY, Step
from clearning._designs import Array

# Beyond so many columns there is no matrix.
LARGEST_GRAM = 5000


@dataclass(frozen=True)
class RowModel:
    """Second derivatives X'HX of the loss, by rows of X, and more where those know too little.

    Attributes
    ----------
    X : csr_array of shape (n_drawn, n_working)
        The rows drawn, in the columns of the working set.
    h : ndarray of shape (n_drawn,)
        Their curvatures.
    squares : ndarray of shape (n_working,)
        Mean squares of the columns over all rows.
    lift : float
        What curvature is raised by after a step went too far.
    """

    X: Any
    h: Array
    squares: Array
    lift: float

    def step(
        self, columns: Columns, b: Array, gradient: Array, slope: float, fit_intercept: bool
    ) -> Step:
        """Minimise the model plus the penalty; all arrays have an entry a working column."""
        total = float(self.h.sum())
        known = np.asarray(self.X.multiply(self.X).T @ self.h).ravel()
        expected = total * self.squares
        near = np.maximum(expected - known, 0.0) + self.lift * expected
        reduced = gradient - near * b
        by = 0.0
        if fit_intercept:
            by = -slope / total
            reduced = reduced + np.asarray(self.X.T @ self.h).ravel() * by
        design = sparse.vstack([self.X, sparse.csr_array(reduced[None])]).tocsc()
        worst = columns.violations(b, gradient).max(initial=0.0)
        moved, shift = _core.descend_by_rows(
            design.data,
            design.indices.astype(np.int32, copy=False),
            design.indptr.astype(np.int32, copy=False),
            np.append(self.h, 0.0),
            fit_intercept,
            {
                "coef": b,
                "gradient": np.zeros(len(b)),
                "l1": columns.l1,
                "ridge": columns.ridge + near,
                "lower": columns.lower,
                "upper": columns.upper,
                "allowed": np.full(len(b), max(MODEL_ACCURACY * worst, 1e-300)),
            },
        )
        d, by = moved - b, by + shift
        along = np.asarray(self.X @ d).ravel() + by
        square = float(self.h @ along**2) + float(near @ d**2)
        change = float(gradient @ d) + slope * by + 0.5 * square
        change += columns.penalty(moved) - columns.penalty(b)
        length = float(np.sqrt(square / total)) if total > 0 else np.inf
        return Step(moved, by, -change, length)

"""Curvature, shared: matrices at some penalties of the path, interpolated between them.

A matrix is made at the full path's solution of a knot and kept apart for each fold's rows. That of
the rows without a fold is the sum of the others, so that all folds cost one. Gradients are exact,
and so is the answer; a borrowed matrix only costs some digits a pass.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from clearning import _core
from clearning._blocks.certificate import Columns
from clearning._designs import Array

# A step is solved to this share of the violations that it starts from: its model is no better.
MODEL_ACCURACY = 1e-3


@dataclass(frozen=True)
class Knot:
    """Sums over rows of curvature times ..., a cell a fold, and where it was taken."""

    gram: Array
    curved: Array
    total: Array
    coef: Array
    intercept: float
    lift: float

    @property
    def size(self) -> int:
        """How many columns of the working set it knows."""
        return self.gram.shape[-1]

    def model(self, part: int, weight: Array) -> Model:
        """Return the model of a part's rows; `weight` are those of all rows and of the part."""
        if len(self.gram) == 1 or part < 0:
            gram, curved, total = self.gram.sum(0), self.curved.sum(0), self.total.sum()
            return Model(gram / weight[0], curved / weight[0], float(total / weight[0]))
        keep = np.arange(len(self.gram)) != part
        return Model(
            self.gram[keep].sum(0) / weight[1],
            self.curved[keep].sum(0) / weight[1],
            float(self.total[keep].sum() / weight[1]),
        )

    def moved(self, coef: Array, intercept: float, unit: float) -> float:
        """Return how far scores have moved since it was made, as a share of the loss's unit."""
        model = self.model(-1, np.ones(1))
        shift, by = coef[: self.size] - self.coef, intercept - self.intercept
        return model.length(shift, by) / unit


@dataclass(frozen=True)
class Model:
    """Second derivatives of the loss in the coefficients of the working set and the intercept."""

    gram: Array
    curved: Array
    total: float

    def length(self, shift: Array, by: float) -> float:
        """Return the root mean square of a change of the scores, by curvature."""
        square = self.square(shift, by)
        return float(np.sqrt(max(square, 0.0) / self.total)) if self.total > 0 else np.inf

    def square(self, shift: Array, by: float) -> float:
        """Return the second-order form of a step."""
        own = float(shift @ (self.gram @ shift))
        return own + by * (2.0 * float(self.curved @ shift) + by * self.total)

    def blended(self, other: Model, share: float) -> Model:
        """Return (1 − share) of this one and the rest of the other, on columns that both know."""
        if share == 0.0:
            return self
        k = min(len(self.curved), len(other.curved))
        return Model(
            (1 - share) * self.gram[:k, :k] + share * other.gram[:k, :k],
            (1 - share) * self.curved[:k] + share * other.curved[:k],
            (1 - share) * self.total + share * other.total,
        )

    def step(
        self, columns: Columns, b: Array, gradient: Array, slope: float, fit_intercept: bool
    ) -> Step:
        """Minimise the model plus the penalty; all arrays have an entry a working column."""
        ridged = gradient + columns.ridge * b
        gram, reduced = self.gram, ridged
        if fit_intercept:
            gram = gram - np.outer(self.curved, self.curved) / self.total
            # What rounding leaves of a constant column must not pass for curvature.
            diagonal = np.einsum("ii->i", gram)
            diagonal[diagonal <= 1e-12 * np.einsum("ii->i", self.gram)] = 0.0
            reduced = ridged - self.curved * (slope / self.total)
        worst = columns.violations(b, gradient).max(initial=0.0)
        floor = 1e-14 * max(np.abs(ridged).max(initial=0.0), 1e-300)
        moved = _core.descend(
            np.ascontiguousarray(gram).ravel(),
            {
                "coef": b,
                "gradient": np.ascontiguousarray(reduced),
                "l1": columns.l1,
                "ridge": columns.ridge,
                "lower": columns.lower,
                "upper": columns.upper,
                "allowed": np.full(len(b), max(MODEL_ACCURACY * worst, floor)),
            },
        )
        d = moved - b
        by = -(slope + float(self.curved @ d)) / self.total if fit_intercept else 0.0
        change = float(gradient @ d) + slope * by + 0.5 * self.square(d, by)
        change += columns.penalty(moved) - columns.penalty(b)
        return Step(moved, by, -change, self.length(d, by))


@dataclass(frozen=True)
class Step:
    """New coefficients, the intercept's change, the decrease promised and how far scores move."""

    coef: Array
    by: float
    promise: float
    length: float

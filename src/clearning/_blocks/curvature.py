"""Curvature, shared: matrices at some penalties of the path, interpolated between them.

A matrix is made at the full path's solution of a knot and kept apart for each fold's rows. That of
the rows without a fold is the sum of the others, so that all folds cost one. Gradients are exact,
and so is the answer; a borrowed matrix only costs some digits a pass.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from clearning import _core
from clearning._blocks.certificate import Columns
from clearning._designs import Array, Indices

# A step is solved to this share of the violations that it starts from: its model is no better.
MODEL_ACCURACY = 1e-3


@dataclass(frozen=True)
class Knot:
    """Sums over rows of curvature times ..., a cell a fold, and where it was taken.

    Each has an entry for every cell and every pair of scores.
    """

    gram: Array
    curved: Array
    total: Array
    coef: Array
    intercept: Array
    lift: float
    thin: int

    @property
    def size(self) -> int:
        """How many columns of the working set it knows."""
        return self.gram.shape[-1]

    def model(self, part: int, weight: Array) -> Model:
        """Return the model of a part's rows; `weight` are those of all rows and of the part."""
        keep, of = np.arange(len(self.gram)) != part, weight[-1]
        if len(self.gram) == 1 or part < 0:
            keep, of = np.ones(len(self.gram), dtype=bool), weight[0]
        gram, curved, total = (
            values[keep].sum(axis=0) / of for values in (self.gram, self.curved, self.total)
        )
        return Model.of_pairs(gram, curved, total, len(self.coef))

    def narrowed(self, kept: Indices) -> Knot:
        """Return what it knows of some columns, in the order of their places."""
        kept = kept[kept < self.size]
        gram = np.ascontiguousarray(self.gram[..., kept[:, None], kept])
        return replace(self, gram=gram, curved=self.curved[..., kept], coef=self.coef[..., kept])

    def moved(self, coef: Array, intercept: Array, unit: float) -> float:
        """Return how far scores have moved since it was made, as a share of the loss's unit."""
        model = self.model(-1, np.ones(1))
        shift, by = coef[:, : self.size] - self.coef, intercept - self.intercept
        return model.length(shift, by) / unit


@dataclass(frozen=True)
class Model:
    """Second derivatives of the loss in the coefficients of the working set and the intercepts.

    With q scores and k columns `gram` is of shape (q, k, q, k), `curved` (q, k, q), `total` (q, q).
    """

    gram: Array
    curved: Array
    total: Array

    @classmethod
    def of_pairs(cls, gram: Array, curved: Array, total: Array, width: int) -> Model:
        """Return the model of derivatives that were taken pair by pair, without their signs."""
        k = gram.shape[-1]
        model = cls(
            np.empty((width, k, width, k)), np.empty((width, k, width)), np.empty((width, width))
        )
        rows, columns = np.tril_indices(width)
        for pair, (a, b) in enumerate(zip(rows.tolist(), columns.tolist())):
            sign = 1.0 if a == b else -1.0
            for first, second in {(a, b), (b, a)}:
                model.gram[first, :, second] = sign * gram[pair]
                model.curved[first, :, second] = sign * curved[pair]
                model.total[first, second] = sign * total[pair]
        return model

    @property
    def size(self) -> int:
        """How many columns it knows."""
        return self.curved.shape[1]

    def length(self, shift: Array, by: Array) -> float:
        """Return the root mean square of a change of the scores, by curvature."""
        # Two scores that move apart have their curvature twice on the diagonal.
        total = np.trace(self.total) / min(len(self.total), 2)
        return float(np.sqrt(max(self.square(shift, by), 0.0) / total)) if total > 0 else np.inf

    def square(self, shift: Array, by: Array) -> float:
        """Return the second-order form of a step, which may lead beyond the range of a double."""
        with np.errstate(over="ignore", invalid="ignore"):
            own = float(np.vdot(shift, np.tensordot(self.gram, shift, 2)))
            return own + float(by @ (2.0 * np.tensordot(shift, self.curved, 2) + self.total @ by))

    def blended(self, other: Model, share: float) -> Model:
        """Return (1 − share) of this one and the rest of the other, on columns that both know."""
        if share == 0.0:
            return self
        k = min(self.size, other.size)
        return Model(
            (1 - share) * self.gram[:, :k, :, :k] + share * other.gram[:, :k, :, :k],
            (1 - share) * self.curved[:, :k] + share * other.curved[:, :k],
            (1 - share) * self.total + share * other.total,
        )

    def step(
        self, columns: Columns, b: Array, gradient: Array, slope: Array, fit_intercept: bool
    ) -> Step:
        """Minimise the model plus the penalty; all arrays have an entry a score and column."""
        ridged = gradient + columns.ridge * b
        gram, reduced = self.gram.reshape(b.size, b.size), ridged
        if fit_intercept:
            # Scores that all rise by the same change nothing: the inverse is that of the others.
            inverse = np.linalg.pinv(self.total, rcond=1e-13, hermitian=True)
            curved = self.curved.reshape(b.size, len(slope))
            own = np.einsum("ii->i", gram)
            gram = gram - curved @ inverse @ curved.T
            # What rounding leaves of a constant column must not pass for curvature.
            diagonal = np.einsum("ii->i", gram)
            diagonal[diagonal <= 1e-12 * own] = 0.0
            reduced = ridged - self.curved @ (inverse @ slope)
        worst = columns.violations(b, gradient).max(initial=0.0)
        floor = 1e-14 * max(np.abs(ridged).max(initial=0.0), 1e-300)
        moved = _core.descend(
            np.ascontiguousarray(gram).ravel(),
            {
                "coef": b.ravel(),
                "gradient": reduced.ravel(),
                **columns.flat(),
                "allowed": np.full(b.size, max(MODEL_ACCURACY * worst, floor)),
            },
        ).reshape(b.shape)
        moved = columns.levelled(moved)
        d, by = moved - b, np.zeros_like(slope)
        if fit_intercept:
            by = -inverse @ (slope + np.tensordot(d, self.curved, 2))
        change = float(np.vdot(gradient, d)) + float(slope @ by) + 0.5 * self.square(d, by)
        change += columns.penalty(moved) - columns.penalty(b)
        return Step(moved, by, -change, self.length(d, by))


@dataclass(frozen=True)
class Step:
    """New coefficients, the intercepts' change, the decrease promised and how far scores move."""

    coef: Array
    by: Array
    promise: float
    length: float

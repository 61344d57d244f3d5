"""Rows that are kept for their curvature where matrices would be too large: a pass draws them.

As many as a constant amount of memory holds: all rows of a small problem, whose steps are then
Newton's, and of a large one some share, whose curvature is as good as its rows are many.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from clearning._blocks.draws import folds_of, priorities
from clearning._blocks.engine import Engine
from clearning._blocks.plan import Encoding
from clearning._blocks.problem import BlockProblem
from clearning._blocks.rows import Rows, taken
from clearning._designs import Array, Indices
from clearning.losses import Loss, MultiCoherence

# Numbers that the rows hold together, of 12 bytes each.
MOST_NUMBERS = 1 << 24


@dataclass(frozen=True)
class Curvature:
    """Second derivatives of the loss in the scores of some rows: h, or h (diag(s) − ss').

    `base` is h, and `shares` are s with a row a score, None for a single one.
    """

    base: Array
    shares: Array | None = None

    @property
    def own(self) -> Array:
        """Those of each score, a row a score."""
        if self.shares is None:
            return self.base[None]
        return self.base * self.shares * (1.0 - self.shares)

    def coupled(self, k: int, along: Array) -> Array:
        """Return what changes of the other scores take off the derivatives in one of them."""
        if self.shares is None:
            return np.zeros_like(self.base)
        others = (self.shares * along).sum(axis=0) - self.shares[k] * along[k]
        return self.base * self.shares[k] * others

    def square(self, along: Array) -> float:
        """Return the second-order form of a change of the scores."""
        if self.shares is None:
            return float(self.base @ along[0] ** 2)
        centred = along - (self.shares * along).sum(axis=0)
        return float(self.base @ (self.shares * centred**2).sum(axis=0))


@dataclass(frozen=True)
class DrawnRows:
    """Some rows of all blocks: X sparse by rows, and what their scores and weights are made of."""

    X: Any
    codes: NDArray[np.int64]
    weight: Array
    offset: Array
    fold: NDArray[np.int32]

    def merged(self, other: DrawnRows) -> DrawnRows:
        """Return the rows of both, those of the other one below."""
        names = [each.name for each in fields(self)]
        X, *beside = [(getattr(self, name), getattr(other, name)) for name in names]
        return DrawnRows(sparse.vstack(X, "csr"), *map(np.concatenate, beside))

    @cached_property
    def squares(self) -> Array:
        """Mean squares of the columns."""
        shares = self.weight / self.weight.sum()
        return np.asarray(self.X.multiply(self.X).T @ shares).ravel()

    def lack(self, working: Indices, squares: Array) -> Array:
        """Return the share of some columns' mean squares over all rows that these rows miss."""
        own, all_ = self.squares[working], squares[working]
        return np.maximum(1.0 - np.divide(own, all_, out=np.ones_like(own), where=all_ > 0), 0.0)

    def curvature(
        self,
        loss: Loss | MultiCoherence,
        part: int,
        working: Indices,
        coef: Array,
        intercept: Array,
    ) -> Curvature:
        """Return the loss's second derivatives in the scores of a part's rows, at a point."""
        scores = np.asarray(self.X[:, working] @ coef.T) + intercept + self.offset
        weight = self.weight * (self.fold != part)
        shares = weight / weight.sum()
        if isinstance(loss, MultiCoherence):
            factor = loss.scale(scores.shape[1]) / loss.rho
            return Curvature(factor * shares, loss.weights(scores, self.codes).T)
        signs = np.where(self.codes == 1, 1.0, -1.0)
        return Curvature(shares * loss.hessian(signs * scores[:, 0]))


@dataclass(frozen=True)
class DrawPlan:
    """Which share of the rows is drawn."""

    encoding: Encoding
    share: float


def rows_kept(problem: BlockProblem) -> int:
    """Return how many of a problem's rows there is room for."""
    return min(problem.n_rows, int(MOST_NUMBERS / max(problem.numbers_a_row, 1.0)))


def draw_rows(engine: Engine, problem: BlockProblem, label: str) -> DrawnRows:
    """Pass over the rows and keep as many as there is room for."""
    plan = DrawPlan(problem.encoding, rows_kept(problem) / problem.n_rows)
    rows: DrawnRows = engine.run(block_draw, DrawnRows.merged, plan, label)
    return rows


def block_draw(rows: Rows, block: int, plan: DrawPlan) -> DrawnRows:
    """Return the rows that are drawn of one block."""
    encoding, n = plan.encoding, len(rows)
    rows = taken(rows)
    chosen = np.flatnonzero(priorities(encoding.seed, block, n) <= plan.share)
    codes = encoding.codes(rows.y)[chosen].astype(np.int64)
    X = rows.X[chosen]
    if not sparse.issparse(X):
        X = sparse.csr_array(X if encoding.centre is None else X - encoding.centre)
    return DrawnRows(
        X.tocsr(),
        codes,
        rows.weight[chosen] * encoding.factors[codes],
        encoding.offsets(rows.offset, n).reshape(n, -1)[chosen],
        folds_of(rows, encoding.seed, block, encoding.n_folds)[chosen],
    )

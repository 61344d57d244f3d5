"""Whether a pass reads the rows that the first one read: what they sum to in each class and fold.

Sums of passes over different rows bound nothing together, so that a certificate needs the same rows
in every pass: a function that draws its blocks anew, or a checkpoint of files that were replaced,
would have none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearning._blocks.rows import Array, BlockError

# Sums that differ by more than this share of the weight, for each column, are of other rows. It is
# far above rounding, and below what one row in some millions changes.
SLACK = 1e-9


@dataclass(frozen=True)
class Audit:
    """Sums over the rows of each class and fold of w (1 + x'v), as the first pass found them.

    Attributes
    ----------
    probe : ndarray of shape (n_features,)
        v: random signs by the largest entries of the columns.
    sums : ndarray of shape (n_classes, n_folds)
        The sums.
    slack : float
        How far others may be from them.
    """

    probe: Array
    sums: Array
    slack: float

    @classmethod
    def of_means(cls, weight: Array, mean: Array, largest: Array, seed: int) -> Audit:
        """Return the sums of rows of such weights (classes, folds) and means (.., .., columns)."""
        signs = np.random.default_rng([seed, 3]).choice([-1.0, 1.0], len(largest))
        # The reciprocals of what is smaller are no numbers.
        known = largest > 1.0 / np.finfo(float).max
        probe = np.divide(signs, largest, out=np.zeros_like(signs), where=known)
        slack = SLACK * len(largest) * float(weight.sum())
        return cls(probe, weight * (1.0 + mean @ probe), slack)

    def of_rows(self, X: Any, weight: Array, codes: Array, fold: NDArray[np.int32]) -> Array:
        """Return a block's share of the sums."""
        n_classes, n_folds = self.sums.shape
        cell = codes.astype(np.intp) * n_folds + fold
        each = weight * (1.0 + X @ self.probe)
        return np.asarray(np.bincount(cell, each, n_classes * n_folds), dtype=np.float64)

    def check(self, found: Array | None) -> None:
        """Raise if a pass has read other rows."""
        if found is None or not np.all(np.abs(found - self.sums.ravel()) <= self.slack):
            raise BlockError(
                "The blocks are not those of the first pass: their rows add up to other sums. "
                "Every pass needs the same rows in the same order; a checkpoint of rows that have "
                "changed since must be deleted."
            )

"""What is drawn at random for the rows of a block: a function of the seed and the block's number.

No state is kept between blocks or passes, so that every pass, every worker and every repetition
after a fault draws the same.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from clearning._blocks.rows import Rows
from clearning._designs import Array


def folds_of(rows: Rows, seed: int, block: int, n_folds: int) -> NDArray[np.int32]:
    """Return the folds that a block's rows were given, or those that are drawn for them."""
    if rows.fold is None:
        return fold_of_rows(seed, block, rows.y, n_folds)
    return np.ascontiguousarray(rows.fold, dtype=np.int32)


def fold_of_rows(seed: int, block: int, y: NDArray, n_folds: int) -> NDArray[np.int32]:
    """Deal the rows of each class out to the folds in turn, in random order."""
    fold = np.zeros(len(y), dtype=np.int32)
    if n_folds == 1:
        return fold
    rng = np.random.default_rng([seed, block, 1])
    for label in np.unique(y):
        members = rng.permutation(np.flatnonzero(y == label))
        first = rng.integers(n_folds)
        fold[members] = (np.arange(len(members)) + first) % n_folds
    return fold


def priorities(seed: int, block: int, n: int) -> Array:
    """Return a random number a row; the smallest of them are drawn."""
    return np.random.default_rng([seed, block, 2]).random(n)

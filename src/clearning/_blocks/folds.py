"""Folds that a user gives, by a splitter or as pairs of indices: for rows that can be numbered."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import check_cv

from clearning._blocks.arrays import ArraySource
from clearning._blocks.engine import Source

_DRAWN = "Pass a number of folds, which are drawn within each block."


def with_folds(source: Source, cv: Any) -> tuple[Source, int]:
    """Return a source whose rows know their folds, where those are given, and their number."""
    if isinstance(cv, Integral):
        return source, int(cv)
    if not isinstance(source, ArraySource):
        raise ValueError(
            f"cv={cv!r} needs rows that can be numbered, an array or a memory map; X is none. "
            f"{_DRAWN}"
        )
    n = source.X.shape[0]
    pairs = list(check_cv(cv, source.y, classifier=True).split(np.zeros((n, 1)), source.y))
    return replace(source, fold=_numbers(pairs, n, cv)), len(pairs)


def _numbers(pairs: list[Any], n: int, cv: Any) -> NDArray[np.int32]:
    """Return the fold that tests each row; the others must train on it."""
    fold, tested = np.full(n, -1, dtype=np.int32), np.zeros(n, dtype=int)
    every = np.arange(n)
    for number, (train, test) in enumerate(pairs):
        train, test = every[train], every[test]
        fold[test] = number
        tested[test] += 1
        if len(np.union1d(train, test)) != n or len(train) + len(test) != n:
            raise ValueError(
                f"Fold {number} of cv={cv!r} must test some rows and train on all others, as sums "
                f"over blocks are shared by the folds. {_DRAWN}"
            )
    if len(pairs) < 2 or (tested != 1).any():
        raise ValueError(
            f"cv={cv!r} must test each of the {n} rows in one fold, of which there are two or "
            f"more. {_DRAWN}"
        )
    return fold

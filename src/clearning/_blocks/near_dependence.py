"""Whether columns without a penalty nearly depend on each other, as the rows drawn tell.

Sums of products lose what sets such columns apart: a dual point that is orthogonal to them up to
the sums' rounding may still pull along their small differences, which coefficients without a
penalty can follow as far as they like. So nothing is proved then.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from clearning._blocks.measures import Measures
from clearning._designs import Array, Indices

# Sums of products tell columns apart that differ by more than this share of their length; columns
# that differ by less than the second are the same, for what double precision can say.
CLEARLY_APART = 2e-5
SAME_COLUMN = 2e-14
# Rounds in which a column is made orthogonal to those before it.
ROUNDS = 3


def nearly_dependent(measures: Measures, columns: Indices, fit_intercept: bool) -> bool:
    """Return whether a column differs from a combination of others by next to nothing."""
    if len(columns) < 2:
        return False
    drawn = [each.drawn for each in measures.scan.labels.values()]
    rows = np.vstack([_dense(each.X[each.weight > 0][:, columns]) for each in drawn])
    if not len(rows):
        return False
    # Sums are over columns less their centres, which lose nothing beside an intercept.
    centred = rows - rows.mean(axis=0) if fit_intercept else rows
    rests, lengths = _rests(centred), _lengths(centred)
    near = (rests < CLEARLY_APART * lengths) & (rests > SAME_COLUMN * _lengths(rows))
    return bool(near.any())


def _dense(X: Any) -> Array:
    return np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=float)


def _lengths(X: Array) -> Array:
    largest = np.abs(X).max(axis=0, initial=0.0)
    unit = np.where(largest > 0, largest, 1.0)
    return largest * np.sqrt(((X / unit) ** 2).sum(axis=0))


def _rests(X: Array) -> Array:
    """Return the lengths of what lies outside the span of the columns before."""
    lengths = _lengths(X)
    unit = X / np.where(lengths > 0, lengths, 1.0)
    basis, sizes = np.zeros_like(unit), np.zeros(X.shape[1])
    for j, rest in enumerate(unit.T):
        for _ in range(ROUNDS):
            rest = rest - basis @ (basis.T @ rest)
        sizes[j] = np.linalg.norm(rest)
        if sizes[j] > SAME_COLUMN:
            basis[:, j] = rest / sizes[j]
    return sizes * lengths

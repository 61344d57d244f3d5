"""Whether columns without a penalty nearly depend on each other.

Sums of products lose what sets such columns apart: a dual point that is orthogonal to them up to
the sums' rounding may still pull along their small differences, which coefficients without a
penalty can follow as far as they like. So nothing is proved then. The rows drawn tell which
combinations of columns are next to nothing by weight; whether they are nothing at all, only all
rows do, however little they weigh.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from clearning._blocks.engine import Engine
from clearning._blocks.measures import Measures
from clearning._blocks.rows import Rows, checked
from clearning._designs import Array, Indices, as_dense

# Sums of products tell columns apart of which no combination is below this share of their length;
# a combination below the second is nothing, for what double precision can say.
CLEARLY_APART = 2e-5
NOTHING = 5e-15
# Coefficients of a combination that are no more than rounding.
LEFTOVER = 1e-13
# A combination's own column is no smaller than this share of the largest there is. Combinations are
# several where none is nearer to one of the others than this.
LARGE_PIVOT = 0.1
CLEARLY_SEVERAL = 1e-3


@dataclass(frozen=True)
class Dependence:
    """What is known of some columns together.

    Attributes
    ----------
    count : int
        How many they are.
    is_near : bool
        Whether a combination of them is next to nothing, and not nothing.
    nothing : int
        How many independent combinations are nothing, for what double precision can say.
    """

    count: int
    is_near: bool = False
    nothing: int = 0


@dataclass(frozen=True)
class Combinations:
    """Combinations of columns, and what they are about in the rows drawn."""

    columns: Indices
    coefs: Array
    level: Array
    beside: Array


class NearDependence:
    """Looks at columns in the rows drawn, and where these do not tell in all rows, once."""

    def __init__(self, measures: Measures, engine: Engine) -> None:
        self.measures, self.engine = measures, engine
        self.passes = 0
        self._known: dict[tuple[Any, ...], Dependence] = {}

    def __call__(self, columns: Indices, fit_intercept: bool) -> Dependence:
        """Return how the columns depend on each other."""
        key = (*columns.tolist(), fit_intercept)
        if key not in self._known:
            several = len(columns) > 1
            self._known[key] = (
                self._look(columns, fit_intercept) if several else Dependence(len(columns))
            )
        return self._known[key]

    def _look(self, columns: Indices, fit_intercept: bool) -> Dependence:
        drawn = [each.drawn for each in self.measures.scan.labels.values()]
        rows = np.vstack([as_dense(each.X[:, columns]) for each in drawn])
        roots = np.sqrt(np.concatenate([each.weight for each in drawn]))[:, None]
        level = rows.mean(axis=0) if fit_intercept else np.zeros(len(columns))
        away = roots * (rows - level)
        lengths = _lengths(away)
        coefs = _next_to_nothing(away / lengths, np.abs(level) / lengths)
        if not len(coefs):
            return Dependence(len(columns))
        if not _are_apart(coefs):
            return Dependence(len(columns), is_near=True)
        coefs = coefs / lengths
        # Sums are over columns less their centres, which lose nothing beside an intercept.
        beside = np.abs(coefs) @ np.abs(level)
        plan = Combinations(columns, coefs, coefs @ level, beside)
        self.passes += 1
        (weight, sums, squares, sizes), largest = self.engine.run(
            block_sums, _joined, plan, "columns that may depend on each other"
        )
        spread = squares - (sums**2 / weight if fit_intercept else 0.0)
        shares = np.sqrt(np.maximum(spread, 0.0) / np.where(sizes > 0, sizes, 1.0))
        is_nothing = largest <= NOTHING
        is_near = bool(np.any(~is_nothing & (shares < CLEARLY_APART)))
        return Dependence(len(columns), is_near, int(is_nothing.sum()))


def block_sums(rows: Rows, block: int, plan: Combinations) -> tuple[tuple[Any, ...], Array]:
    """Sums over one block of combinations, of their squares, and of what they are made of.

    And the largest of any row that weighs, as a share of what it is made of.
    """
    rows = checked(rows)
    X, weight = as_dense(rows.X[:, plan.columns]), rows.weight
    values = X @ plan.coefs.T - plan.level
    sizes = np.abs(X) @ np.abs(plan.coefs).T
    beside = sizes + plan.beside
    shares = np.abs(values[weight > 0]) / np.where(beside > 0, beside, 1.0)[weight > 0]
    sums = (weight.sum(), weight @ values, weight @ values**2, weight @ sizes**2)
    return sums, shares.max(axis=0, initial=0.0)


def _joined(first: tuple[Any, ...], second: tuple[Any, ...]) -> tuple[Any, ...]:
    sums = tuple(a + b for a, b in zip(first[0], second[0]))
    return sums, np.maximum(first[1], second[1])


def _lengths(X: Array) -> Array:
    """Lengths of columns; one where there is none."""
    largest = np.abs(X).max(axis=0, initial=0.0)
    unit = np.where(largest > 0, largest, 1.0)
    lengths = unit * np.sqrt(((X / unit) ** 2).sum(axis=0))
    lengths[largest == 0] = 1.0
    return lengths


def _next_to_nothing(X: Array, level: Array) -> Array:
    """Combinations of columns of length one that are below a small share of that, a row each."""
    # With fewer rows than columns all combinations are wanted, of which many have no size.
    _, sizes, combinations = np.linalg.svd(X, full_matrices=X.shape[0] < X.shape[1])
    known = np.zeros(X.shape[1])
    known[: len(sizes)] = sizes
    rows = _disentangled(combinations[known < CLEARLY_APART], level)
    for row in rows:
        _refine(row, X)
    return _without_leftovers(rows)


def _disentangled(combinations: Array, roughness: Array) -> Array:
    """The same combinations, each with a column that the others do without.

    Of the columns that are about as large as any the roughest comes first: the digits that a column
    far from zero has lost would hide what others differ by.
    """
    rows = combinations.copy()
    left = np.ones(rows.shape[1], dtype=bool)
    for done in range(len(rows)):
        sizes = np.abs(rows[done:]) * left
        large = np.flatnonzero(sizes.max(axis=0) >= LARGE_PIVOT * sizes.max())
        column = int(large[np.argmax(roughness[large])])
        best = done + int(sizes[:, column].argmax())
        rows[[done, best]] = rows[[best, done]]
        others = np.arange(len(rows)) != done
        rows[others] -= np.outer(rows[others, column] / rows[done, column], rows[done])
        rows[others, column] = 0.0
        left[column] = False
    return _without_leftovers(rows)


def _are_apart(combinations: Array) -> bool:
    """Whether combinations are independent beyond doubt, and none is told twice."""
    lengths = np.linalg.norm(combinations, axis=1, keepdims=True)
    return bool(np.linalg.svd(combinations / lengths, compute_uv=False)[-1] > CLEARLY_SEVERAL)


def _without_leftovers(rows: Array) -> Array:
    """What rounding leaves of columns that are not looked at would be all of it in some rows."""
    return np.where(np.abs(rows) <= LEFTOVER * np.abs(rows).max(axis=1, keepdims=True), 0.0, rows)


def _refine(row: Array, X: Array) -> None:
    """Give a combination all its digits, for rows in which its larger parts are none."""
    used = np.flatnonzero(row)
    held = used[np.abs(row[used]).argmax()]
    others = used[used != held]
    size = np.abs(X[:, used]) @ np.abs(row[used])
    any_size = size > 0
    by_size = X[any_size] / size[any_size, None]
    left = by_size[:, used].astype(np.longdouble) @ row[used].astype(np.longdouble)
    row[others] -= np.linalg.lstsq(by_size[:, others], left.astype(float))[0]

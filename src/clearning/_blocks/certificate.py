"""The duality gap from the sums of one pass: nothing of the rows is needed beside them.

The dual point is the loss's own, s, with weights s'ᵢ = c sᵢ (1 + yᵢ ηᵢ) / (1 + e), where
η = z₀ + x_F'z makes it orthogonal to the intercept and to the columns F without a penalty,
e ≥ max |ηᵢ| follows from the largest entries of those columns, and c ≤ 1 puts the other columns
inside their constraints. As 0 ≤ s' ≤ s, it is in the domain of every loss. Its Fenchel–Young terms
are convex in s'/s and zero at 1: known at 1 − δ, they are at most (1 − min s'/s)/δ times that as
long as s'/s is no smaller; and at 0 they are the loss itself. What η does to the other columns is
bounded by Cauchy–Schwarz. All of it is small where violations are, and Newton steps square those.

With a score a class, s'ᵢⱼ = c sᵢⱼ (1 + ηᵢⱼ − ηᵢₖ) / (1 + e) for all classes j but the sample's own,
k, which keeps the rest: weights flow from class to class, and η evens out what flows in and out.
The terms are largest where all weights lose the most that one does, so that the same bound holds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from clearning._blocks.near_dependence import Dependence
from clearning._designs import Array, Indices

# Of one operation; sums over blocks are trees, whose errors grow with their height.
UNIT_ROUNDING = 2.3e-16
ROUNDING_OF_SUMS = 8 * UNIT_ROUNDING
# A direction with less than this share of the largest is none, and a sum of this size is zero.
SINGULAR = 1e-11
ORTHOGONAL = 1e-13
# Rounding of the matrix moves a solution by up to so many times itself, its least size being that.
CAUTION = 1.01


@dataclass(frozen=True)
class Columns:
    """The penalties of one task: thresholds, ridges and bounds of every score and column."""

    l1: Array
    ridge: Array
    lower: Array
    upper: Array

    def penalty(self, b: Array) -> float:
        """Return the penalty of the coefficients."""
        with np.errstate(over="ignore", invalid="ignore"):
            return float(np.vdot(self.l1, np.abs(b)) + 0.5 * np.vdot(self.ridge, b**2))

    def of(self, chosen: Indices) -> Columns:
        """Return the penalties of some columns."""
        return Columns(*(values[:, chosen] for values in vars(self).values()))

    def of_score(self, k: int) -> Columns:
        """Return the penalties of one score."""
        return Columns(*(values[k] for values in vars(self).values()))

    def flat(self) -> dict[str, Array]:
        """Return them by name, score by score."""
        return {name: values.ravel() for name, values in vars(self).items()}

    def levelled(self, b: Array) -> Array:
        """Return coefficients of mean zero over the scores, where a common shift changes nothing.

        Nothing but the scores' differences matters to the loss; a column without penalty and bounds
        would drift.
        """
        costs = self.l1 + self.ridge
        idle = (len(b) > 1) & (costs == 0) & np.isinf(self.lower) & np.isinf(self.upper)
        return np.where(idle.all(axis=0), b - b.mean(axis=0), b)

    def violations(self, b: Array, v: Array) -> Array:
        """Return how far zero is from the subdifferential in each coefficient."""
        g = v + self.ridge * b
        up, down = g + self.l1, g - self.l1
        at_zero = np.maximum(
            np.where(self.upper > 0, np.maximum(-up, 0), 0),
            np.where(self.lower < 0, np.maximum(down, 0), 0),
        )
        above = np.where(b >= self.upper, np.maximum(up, 0), np.abs(up))
        below = np.where(b <= self.lower, np.maximum(-down, 0), np.abs(down))
        return np.where(b > 0, above, np.where(b < 0, below, at_zero))


@dataclass(frozen=True)
class Reach:
    """How large columns can be: root mean squares, and largest entries of those without penalty.

    `dependence` is that of those without a penalty which bounds on both sides do not hold either.
    """

    rms: Array
    free: Indices
    largest_free: Array
    dependence: Dependence


@dataclass(frozen=True)
class Point:
    """The sums of a pass at one task's coefficients, by the weight of its rows."""

    b: Array
    loss: float
    v: Array
    slope: Array
    border: Array
    energy: Array
    shrink: float
    shrunk: float

    def samples_share(self, lost: float) -> float:
        """Return what dual weights that lose at most this share of themselves cost."""
        chord = lost * self.loss
        if lost > self.shrink:
            return chord
        return min(chord, self.shrunk * lost / self.shrink) if self.shrink > 0 else chord


def duality_gap(
    columns: Columns, reach: Reach, at: Point, fit_intercept: bool
) -> tuple[float, float]:
    """Return an upper bound on how far the point's objective is above its optimum.

    Beside it, the largest share of its weight that a sample loses on the way to the dual point.
    """
    # Sums of products do not tell such columns apart.
    if reach.dependence.is_near:
        return np.inf, 1.0
    root = np.sqrt(at.energy)[:, None]
    exact = ROUNDING_OF_SUMS * reach.rms * root
    loose = _loose(columns, reach, at, exact)
    of_sums = np.c_[ROUNDING_OF_SUMS * root, exact[:, reach.free]]
    e = _orthogonal(reach, at, np.c_[np.full(len(at.b), fit_intercept), loose], of_sums)
    if not e < 1.0:
        return np.inf, 1.0
    inside = np.ones(at.b.shape, dtype=bool)
    inside[:, reach.free] = ~loose
    noise = exact + e * reach.rms * root
    limit = _limits(columns, at.v, noise)
    size = (np.abs(at.v) + noise) / (1.0 + e)
    over = inside & np.isinf(limit) & (size > columns.l1)
    # Where there is a ridge a column may exceed its threshold; next to none makes that dear.
    hard = over & (columns.ridge == 0)
    scales = {float(np.min(columns.l1[c] / size[c], initial=1.0)) for c in (hard, over)}

    def at_scale(scale: float) -> tuple[float, float]:
        shrink = scale / (1.0 + e)
        with np.errstate(over="ignore", invalid="ignore"):
            terms = (
                _conjugate(scale * size, limit, columns)
                + columns.l1 * np.abs(at.b)
                + 0.5 * columns.ridge * at.b**2
                + shrink * (at.v * at.b + noise * np.abs(at.b))
            )
        lost = 1.0 - shrink * (1.0 - e)
        gap = float(terms[inside].sum()) + at.samples_share(lost)
        return (max(gap, 0.0) if np.isfinite(gap) else np.inf), lost

    return min(map(at_scale, scales))


def _loose(columns: Columns, reach: Reach, at: Point, exact: Array) -> NDArray[np.bool_]:
    """Return which columns without a penalty have to be orthogonal: those no bound holds."""
    limit = _limits(columns, at.v, exact)
    return np.isinf(limit[:, reach.free])


def _orthogonal(reach: Reach, at: Point, chosen: NDArray[np.bool_], of_sums: Array) -> float:
    """Return the bound e on |η| of the correction that makes the dual point orthogonal.

    `chosen` says for each score whether its intercept and which columns without a penalty count,
    `of_sums` what rounding may have made of their products. Infinite where nothing is known.
    """
    width, sizes = len(at.slope), np.concatenate([[1.0], reach.largest_free])
    # A column that is zero in all rows pulls at nothing, one without weight in its rows neither. Of
    # the combinations that are nothing as many may be made of such columns.
    system = _flows(at.border)
    is_whole = bool((chosen[:, 1:].sum(axis=1) == reach.dependence.count).all())
    asked = chosen
    chosen = chosen & (sizes > 0) & (np.einsum("jaja->ja", system) > 0)
    if not chosen.any():
        return 0.0
    dropped = int((asked & ~chosen).any(axis=0).sum())
    nothing = max(reach.dependence.nothing - dropped, 0) if is_whole else 0
    # What all scores share moves no weight from class to class.
    idle = nothing if width == 1 else nothing * (width - 1) + int(chosen.all(axis=0).sum())
    products = np.c_[at.slope, at.v[:, reach.free]]
    solved = _solve_regular(system[chosen][:, chosen], products[chosen], of_sums[chosen], idle)
    if solved is None:
        return np.inf
    z, off = np.zeros_like(products), np.zeros_like(products)
    z[chosen], off[chosen] = solved
    if width == 1:
        return float(((np.abs(z) + off) @ sizes).max())
    apart = np.abs(z[:, None] - z) + off[:, None] + off
    return float((apart @ sizes).max())


def _flows(border: Array) -> Array:
    """Return what η does to the sums that have to be zero, for each score and column.

    With more than one score that is the Laplacian of the weights that flow between the classes.
    """
    if len(border) == 1:
        return border.transpose(0, 2, 1, 3)
    between = border + border.swapaxes(0, 1)
    system = -between.transpose(0, 2, 1, 3)
    every = np.arange(len(border))
    system[every, :, every] += between.sum(axis=0)
    return system


def _solve_regular(
    border: Array, products: Array, of_products: Array, idle: int
) -> tuple[Array, Array] | None:
    """Return z with border z = products, and how far off it is; none if it is not known.

    As many combinations as are `idle`, in all rows, make the matrix singular. In exact arithmetic
    products lie in its range all the same; what rounding put outside is no larger than the sums'
    own error. Any other direction without a size is one in which weights have next to no room.
    """
    scale = np.sqrt(np.diag(border))
    values, vectors = np.linalg.eigh(border / np.outer(scale, scale))
    kept = values > SINGULAR * values[-1]
    if np.count_nonzero(~kept) > idle:
        return None
    inside = vectors[:, kept] / scale[:, None]
    inverse = (inside / values[kept]) @ inside.T
    z = inverse @ products
    left = np.abs(products - border @ z)
    if not np.all(left <= ORTHOGONAL * scale * scale.max()):
        return None
    return z, CAUTION * (np.abs(inverse) @ of_products) + (CAUTION - 1.0) * np.abs(z)


def _limits(columns: Columns, v: Array, noise: Array) -> Array:
    """Return how far a coefficient may go on the side to which its correlation pulls."""
    sides = np.where(v < 0, columns.upper, -columns.lower)
    either = np.maximum(columns.upper, -columns.lower)
    return np.where(np.abs(v) > noise, sides, either)


def _conjugate(size: Array, limit: Array, columns: Columns) -> Array:
    """Return the conjugates of the columns' penalties at correlations of that size."""
    excess = size - columns.l1
    # A point that was scaled to a constraint meets it up to rounding.
    excess = np.where(excess <= 1e-15 * columns.l1, 0.0, excess)
    ridge = np.where(columns.ridge > 0, columns.ridge, 1.0)
    with np.errstate(invalid="ignore"):
        curved = (columns.ridge > 0) & (excess <= columns.ridge * limit)
    with np.errstate(invalid="ignore", over="ignore"):
        straight = limit * excess - 0.5 * columns.ridge * limit**2
        values = np.where(curved, 0.5 * excess**2 / ridge, straight)
    return np.where((excess <= 0) | (limit == 0), 0.0, values)

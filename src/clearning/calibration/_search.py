"""The minima of the coherence link's cross-entropy: bracketed on a grid, polished by Newton."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clearning.calibration._numerics import (
    Derivatives,
    Folded,
    Sample,
    coherence_derivatives,
    coherence_grid,
    minimize,
    summary,
)

Array = NDArray[np.float64]

# Above this many scores the minima are looked for on a summary and polished on the scores.
MANY = 4096
_FEW = 64
_MOST_STARTS = 8
# Of many scores the surface is smooth: grid minima this far above the lowest are not worth a start.
_SLACK = 1.1
_REACH_OF_OFFSET = 50.0


class Minimum(NamedTuple):
    """θ = (log ρ, u₋, u₊, b) in units of the sample's scale, and the mean cross-entropy there."""

    theta: Array
    value: float
    at_end: bool


class Family(NamedTuple):
    """What of θ is given, in units of the sample's scale; None is free.

    `margins` is the number of free margins: two let those of negative and positive scores differ.
    """

    rho: float | None
    u: float | None
    offset: bool
    margins: int = 1

    @property
    def directions(self) -> Array:
        """The columns in which θ is free to move."""
        columns = [[1, 0, 0, 0]] if self.rho is None else []
        if self.u is None:
            columns += [[0, 1, 0, 0], [0, 0, 1, 0]] if self.margins == 2 else [[0, 1, 1, 0]]
        if self.offset:
            columns += [[0, 0, 0, 1]]
        return np.array(columns, dtype=float).reshape(-1, 4).T


def stages(sample: Sample) -> tuple[Folded, *tuple[Sample | Folded, ...]]:
    """What to fit to, one after the other: of many scores a summary, a closer one, all of them."""
    if len(sample.f) <= MANY:
        return (sample.folded(),)
    close = summary(sample, bits=9)
    return summary(close, bits=3), close, sample


def best_minimum(sample: Sample, family: Family, knees: list[float]) -> tuple[Minimum, float]:
    """The lowest minimum over all knees, and its knee; only the best knee sees many scores."""
    first, *middle = stages(sample)
    family = _feasible(family, first)
    rest = [middle.pop()] if middle else []
    rivals = []
    for knee in knees:
        start = first.bent(knee)
        box = _Box.around(start, family)
        found = _descend([start, *(data.bent(knee) for data in middle)], family, box)
        rivals.append((found, box, knee))
    found, box, knee = min(rivals, key=lambda rival: rival[0][0].value)
    return _polished([data.bent(knee) for data in rest], family, box, found)[0], knee


def minima(sample: Sample, family: Family) -> list[Minimum]:
    """The minima found, lowest first."""
    steps = stages(sample)
    family = _feasible(family, steps[0])
    return _descend(list(steps), family, _Box.around(steps[0], family))


def _feasible(family: Family, data: Folded) -> Family:
    """The family itself, but for one margin where all scores have one sign."""
    return family if len(np.unique(data.side)) == 2 else family._replace(margins=1)


class _Box(NamedTuple):
    """Where θ is searched for, and the grid it is first searched on."""

    rhos: Array
    us: Array

    @classmethod
    def around(cls, data: Folded, family: Family) -> _Box:
        return cls(*axes(data, family))

    @property
    def lower(self) -> Array:
        return np.array([np.log(self.rhos[0]), self.us[0], self.us[0], -_REACH_OF_OFFSET])

    @property
    def upper(self) -> Array:
        return np.array([np.log(self.rhos[-1]), self.us[-1], self.us[-1], _REACH_OF_OFFSET])


def _descend(steps: list[Any], family: Family, box: _Box) -> list[Minimum]:
    """Start from the grid's local minima on the first of the data, and polish on each in turn."""
    starts = _starts(steps[0], family, box.rhos, box.us)
    if len(steps) > 1:
        bound = _SLACK * min(start.value for start in starts)
        starts = [start for start in starts if start.value <= bound]
    return _polished(steps, family, box, [start._replace(value=np.inf) for start in starts])


def _polished(steps: list[Any], family: Family, box: _Box, found: list[Minimum]) -> list[Minimum]:
    for data in steps:
        # A summary's values are close to the sample's: what is far above its best is out.
        bound = found[0].value * (1.0 + 1e-3) if np.isfinite(found[0].value) else np.inf
        starts = [minimum.theta for minimum in found if minimum.value <= bound]
        found = _distinct([_polish(data, family, start, box) for start in starts])
    return found


def axes(data: Folded, family: Family) -> tuple[Array, Array]:
    """The grid: ρ evenly in log ρ over all scales the scores have, u at their quantiles."""
    z = np.sort(data.z[(data.z > 0) & (data.toward + data.away > 0)])
    z = z if len(z) else np.ones(1)
    if family.u is None:
        us, spacing = _margins(data, z), 0.7 if family.offset else 0.35
    else:
        # Without a margin the cross-entropy is convex in 1/ρ: there is one minimum to bracket.
        us, spacing = np.array([family.u]), 0.1 if family.u else 2.0
    if family.rho is not None:
        return np.array([family.rho]), us
    scales = [np.quantile(z, 0.01), z[-1]] + ([family.u] if family.u else [])
    # Nothing is told apart below the rounding of the largest, and its square is a number still.
    smallest = max(min(scales), 1e-16 * max(scales))
    low, high = np.log(1e-3 * smallest), np.log(1e3 * max(scales))
    return np.exp(np.linspace(low, high, int((high - low) / spacing) + 1)), us


def _margins(data: Folded, z: Array) -> Array:
    """Margins to try: of a few scores all that matter, of more some quantiles."""
    even = np.linspace(0.0, 2.0 * z[-1], 7)
    if len(z) <= _FEW:
        return np.unique(np.concatenate([even, z, (z[1:] + z[:-1]) / 2]))
    us = [*even, *np.quantile(z, np.linspace(0.0, 1.0, 11))]
    # Where ρ → 0 is best, u lies just above the largest score that points the wrong way.
    for side in (-1.0, 1.0):
        wrong = data.z[(data.away > data.toward) & (data.side == side)].max(initial=0.0)
        us += [(wrong + above) / 2 for above in z[np.searchsorted(z, wrong, side="right") :][:1]]
    return np.unique(us)


def _starts(data: Folded, family: Family, rhos: Array, us: Array) -> list[Minimum]:
    """The grid's local minima: over (ρ, u), and over ρ with the best margin on either side."""
    grid_rho, grid_u = (axis.ravel() for axis in np.meshgrid(rhos, us, indexing="ij"))
    values, offsets = coherence_grid(data, grid_rho, grid_u, offset=family.offset)
    both = values.sum(axis=1).reshape(len(rhos), len(us))
    starts = [
        _start(np.log(grid_rho[i]), grid_u[i], grid_u[i], offsets[i], value=values[i].sum())
        for i in _lowest_cells(both)[:_MOST_STARTS]
    ]
    if family.margins == 2:
        starts += _two_margin_starts(values.reshape(len(rhos), len(us), 2), rhos, us)
    return starts


def _start(*theta: float, value: float) -> Minimum:
    return Minimum(np.array(theta), float(value), False)


def _two_margin_starts(sides: Array, rhos: Array, us: Array) -> list[Minimum]:
    """The local minima in (ρ, u) of each side, with the other side's best margin at that ρ."""
    best = sides.argmin(axis=1)
    starts: dict[tuple[int, int, int], float] = {}
    for side in (0, 1):
        for cell in _lowest_cells(sides[:, :, side]):
            row, column = divmod(int(cell), len(us))
            below, above = (column if k == side else int(best[row, k]) for k in (0, 1))
            starts[row, below, above] = sides[row, below, 0] + sides[row, above, 1]
    for row in _lowest_cells(sides.min(axis=1).sum(axis=1, keepdims=True)):
        starts[int(row), int(best[row, 0]), int(best[row, 1])] = sides[row].min(axis=0).sum()
    lowest = sorted(starts, key=lambda start: starts[start])[:_MOST_STARTS]
    return [_start(np.log(rhos[i]), us[j], us[k], 0.0, value=starts[i, j, k]) for i, j, k in lowest]


def _polish(data: Sample | Folded, family: Family, start: Array, box: _Box) -> Minimum:
    """Newton's method in the directions that are free."""
    free = family.directions
    if free.size == 0:
        return Minimum(start, coherence_derivatives(data, start)[0], False)
    which = free.argmax(axis=0)
    fixed = np.where(free.any(axis=1), 0.0, start)

    def derivatives(point: Array) -> Derivatives:
        value, gradient, hessian = coherence_derivatives(data, fixed + free @ point)
        return value, free.T @ gradient, free.T @ hessian @ free

    lower, upper = box.lower, box.upper
    point, value, _ = minimize(derivatives, start[which], lower[which], upper[which], max_step=1.0)
    theta = fixed + free @ point
    at_end = family.rho is None and theta[0] in (lower[0], upper[0])
    return Minimum(theta, value, bool(at_end))


def _lowest_cells(values: Array) -> NDArray[np.intp]:
    """Flat indices of the grid's local minima, lowest first; of equal neighbours, the first."""
    padded = np.pad(values, 1, constant_values=np.inf)
    rows, columns = values.shape
    shifted = [padded[i : i + rows, j : j + columns] for i in range(3) for j in range(3)]
    before, after = np.min(shifted[:4], axis=0), np.min(shifted[5:], axis=0)
    lowest = np.flatnonzero(((values < before) & (values <= after)).ravel())
    return lowest[np.argsort(values.ravel()[lowest], kind="stable")]


def _distinct(minima: list[Minimum]) -> list[Minimum]:
    """Minima, lowest first, each once."""
    kept: list[Minimum] = []
    for minimum in sorted(minima, key=lambda minimum: minimum.value):
        if not any(np.allclose(minimum.theta, other.theta, rtol=1e-6, atol=1e-6) for other in kept):
            kept.append(minimum)
    return kept

"""The numerics of the score calibrators: logits that do not overflow, and their cross-entropy.

Letters: f score, z = |f|, ρ temperature, u margin, b offset, M logit, a = (z − u)/ρ and
c = −(z + u)/ρ. A sample may hold millions of scores, so whatever has its length is computed block
by block, and the blocks' temporaries stay in the cache.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Derivatives = tuple[float, Array, Array]

BLOCK = 8192
EPS = np.finfo(float).eps


def coherence_logit(f: Array, rho: float, u: float | Array) -> Array:
    """softplus((f − u)/ρ) − softplus(−(f + u)/ρ), odd in f, for scores of any size."""
    with np.errstate(over="ignore", under="ignore"):
        z = np.abs(f)
        a, c = (z - u) / rho, -(z + u) / rho
        size = np.maximum(a, 0.0) + (np.log1p(np.exp(-np.abs(a))) - np.log1p(np.exp(c)))
    return np.copysign(size, f)


def bend(z: Array, knee: float) -> Array:
    """z up to the knee and k (1 + log(z/k)) beyond it, without a kink; z ≥ 0."""
    if knee == np.inf:
        return z
    beyond = np.maximum(z, knee) / knee
    return np.minimum(z, knee) + knee * np.log(beyond, out=beyond)


def probabilities(logit: Array) -> tuple[Array, Array]:
    """σ(−M) and σ(M), neither of which loses digits near 0."""
    small = np.exp(-np.abs(logit))
    large = 1.0 / (1.0 + small)
    small *= large
    positive = logit >= 0
    return np.where(positive, small, large), np.where(positive, large, small)


def keep_sign(logit: Array, f: Array) -> Array:
    """Move a logit that would round to probability one half to the nearest that has f's sign."""
    return np.where(f == 0, 0.0, np.copysign(np.maximum(np.abs(logit), 2 * EPS), f))


@dataclass(frozen=True)
class Folded:
    """Scores folded to z = |f| ≥ 0, which an odd logit allows, with the mass of either outcome.

    A sample of weight w and target t puts wt on its positive and w(1 − t) on its negative outcome;
    `toward` is the mass on the outcome its score points to, `away` that on the other. `side` is
    the sign of the score, needed for an offset alone.
    """

    z: Array
    toward: Array
    away: Array
    side: Array

    @property
    def mass(self) -> float:
        return float(self.toward.sum() + self.away.sum())

    def bent(self, knee: float) -> Folded:
        return replace(self, z=bend(self.z, knee))

    def blocks(self) -> Iterator[Folded]:
        for start in range(0, len(self.z), BLOCK):
            cut = slice(start, start + BLOCK)
            yield Folded(self.z[cut], self.toward[cut], self.away[cut], self.side[cut])


@dataclass(frozen=True)
class Sample:
    """Scores, to be read in units of `scale`, and the classes they are to predict.

    `masses` are the weights and `targets` the probabilities aimed at, of the negative and the
    positive class; scores are bent at the `knee`.
    """

    f: Array
    scale: float
    positive: NDArray[np.bool_]
    weight: Array | None
    masses: tuple[float, float]
    targets: tuple[float, float]
    knee: float = np.inf

    @property
    def mass(self) -> float:
        return sum(self.masses)

    @property
    def typical(self) -> float:
        """A typical size of the scores, (mean of √|f|)²: for a normal sample about the median."""
        total = 0.0
        for start in range(0, len(self.f), BLOCK):
            cut = slice(start, start + BLOCK)
            root = np.sqrt(np.abs(self.f[cut]) / self.scale)
            total += float(root.sum() if self.weight is None else root @ self.weight[cut])
        return (total / self.mass) ** 2

    def bent(self, knee: float) -> Sample:
        return replace(self, knee=knee)

    @property
    def separable(self) -> bool:
        """Whether a threshold parts the classes, but for scores equal to it."""
        positive, negative = self.f[self.positive], self.f[~self.positive]
        return bool(positive.min() >= negative.max() or negative.min() >= positive.max())

    def blocks(self, size: int = BLOCK) -> Iterator[Folded]:
        low, high = self.targets
        for start in range(0, len(self.f), size):
            cut = slice(start, start + size)
            f = self.f[cut] / self.scale
            side = np.copysign(1.0, f)
            toward = 0.5 + side * ((low - 0.5) + (high - low) * self.positive[cut])
            away = 1.0 - toward
            if self.weight is not None:
                toward *= self.weight[cut]
                away *= self.weight[cut]
            yield Folded(bend(np.abs(f), self.knee), toward, away, side)

    def folded(self) -> Folded:
        """All of it at once."""
        return next(self.blocks(size=len(self.f)))


def summary(data: Sample | Folded, bits: int) -> Folded:
    """A few points whose cross-entropies are close to the data's own; scores are at most 1 in size.

    Scores that agree in sign, exponent and that many leading bits share a bin, and each outcome is
    put at its own mean score, so that whatever is linear in the score is kept exactly.
    """
    floor, drop = np.float64(2.0**-40), 52 - bits
    first, last = (int(x.view(np.int64)) >> drop for x in (floor, np.float64(1.0)))
    n_bins = 2 * (last - first + 1)
    totals = np.zeros((4, n_bins))
    blocks = data.blocks(8 * BLOCK) if isinstance(data, Sample) else [data]
    for part in blocks:
        bins = (np.maximum(part.z, floor).view(np.int64) >> drop) - first
        bins = 2 * bins + (part.side > 0)
        for row, mass in ((0, part.toward), (2, part.away)):
            totals[row] += np.bincount(bins, mass, n_bins)
            totals[row + 1] += np.bincount(bins, mass * part.z, n_bins)
    ahead, behind = np.flatnonzero(totals[0]), np.flatnonzero(totals[2])
    return Folded(
        np.append(totals[1, ahead] / totals[0, ahead], totals[3, behind] / totals[2, behind]),
        np.append(totals[0, ahead], np.zeros(len(behind))),
        np.append(np.zeros(len(ahead)), totals[2, behind]),
        np.where(np.append(ahead, behind) % 2, 1.0, -1.0),
    )


def binomial(logit: Array, toward: Array, away: Array) -> tuple[Array, Array, Array]:
    """−toward·log σ(M) − away·log σ(−M), with its first and second derivative in M."""
    mass, size = toward + away, np.abs(logit)
    small = np.exp(-size)
    value = mass * (np.log1p(small) + (size - logit) / 2) + away * logit
    small /= 1.0 + small
    # Folded logits are mostly ≥ 0, where this keeps its digits.
    slope = (
        away - mass * small
        if np.all(logit >= 0)
        else mass * (0.5 + np.copysign(0.5 - small, logit)) - toward
    )
    return value, slope, mass * (small * (1.0 - small))


def coherence_derivatives(data: Sample | Folded, theta: Array) -> Derivatives:
    """Mean cross-entropy at θ = (log ρ, u₋, u₊, b), its gradient and its Hessian.

    u₋ is the margin of negative scores and u₊ that of positive ones.
    """
    (log_rho, below, above, b), value = theta, 0.0
    gradient, hessian = np.zeros(4), np.zeros((4, 4))
    rho = np.exp(log_rho)
    for part in data.blocks():
        is_above = 0.5 + part.side / 2
        x, u = part.z / rho, (below + (above - below) * is_above) / rho
        a, c = x - u, -(x + u)
        size = np.abs(a)
        g, h = np.exp(-size), np.exp(c)
        g1, h1 = 1.0 + g, 1.0 + h
        logit = (a + size) / 2 + np.log(g1 / h1) + part.side * b
        losses, slope, curvature = binomial(logit, part.toward, part.away)

        g /= g1
        h /= h1
        sa, da, dc = 0.5 + np.copysign(0.5 - g, a), g * (1.0 - g), h * (1.0 - h)
        by_rho, by_u = c * h - a * sa, (h - sa) / rho
        by_above = by_u * is_above
        jacobian = np.stack([by_rho, by_u - by_above, by_above, part.side])
        value += losses.sum()
        gradient += jacobian @ slope
        hessian += (jacobian * curvature) @ jacobian.T
        a_da, c_dc = a * da, c * dc
        hessian[0, 0] += slope @ (a_da * a - c_dc * c - by_rho)
        slope_above = slope * is_above
        for k, slope_u in ((1, slope - slope_above), (2, slope_above)):
            hessian[k, k] += slope_u @ (da - dc) / rho**2
            hessian[0, k] += slope_u @ ((a_da - c_dc) / rho - by_u)
    hessian[1:3, 0] = hessian[0, 1:3]
    mass = data.mass
    return value / mass, gradient / mass, hessian / mass


def platt_derivatives(data: Sample | Folded, theta: Array) -> Derivatives:
    """Mean cross-entropy of σ(θ₀ f + θ₁), its gradient and its Hessian."""
    value, gradient, hessian = 0.0, np.zeros(2), np.zeros((2, 2))
    for part in data.blocks():
        logit = theta[0] * part.z + theta[1] * part.side
        losses, slope, curvature = binomial(logit, part.toward, part.away)
        jacobian = np.stack([part.z, part.side])
        value += losses.sum()
        gradient += jacobian @ slope
        hessian += (jacobian * curvature) @ jacobian.T
    mass = data.mass
    return value / mass, gradient / mass, hessian / mass


def coherence_grid(data: Folded, rho: Array, u: Array, *, offset: bool) -> tuple[Array, Array]:
    """Cross-entropy at each (ρ_i, u_i), with the offset b_i that minimises it (0 without).

    The first result has two columns, the shares of negative and positive scores, whose sum is the
    mean cross-entropy of one margin for both.
    """
    values, offsets = np.empty((len(rho), 2)), np.zeros(len(rho))
    mass = data.toward + data.away
    sides = np.column_stack([data.side < 0, data.side > 0]) / data.mass
    step = max(1, 2 * BLOCK // len(data.z))
    for start in range(0, len(rho), step):
        cut = slice(start, start + step)
        r, v = rho[cut, None], u[cut, None]
        a = (data.z - v) / r
        ratio = (1.0 + np.exp(-np.abs(a))) / (1.0 + np.exp(-(data.z + v) / r))
        logit = np.maximum(a, 0.0) + np.log(ratio)
        b = np.zeros_like(r)
        for _ in range(3 if offset else 0):
            with np.errstate(over="ignore"):
                p = 1.0 / (1.0 + np.exp(-logit - data.side * b))
            slope, curvature = (p * mass - data.toward) @ data.side, (p * (1.0 - p)) @ mass
            b += np.clip(-slope / (curvature + 1e-12 * data.mass), -2.0, 2.0)[:, None]
        if offset:
            logit += data.side * b
        # As in `binomial`, but the value alone.
        size = np.abs(logit)
        losses = np.log1p(np.exp(-size)) + (size - logit) / 2
        losses *= mass
        losses += logit * data.away
        values[cut], offsets[cut] = losses @ sides, b[:, 0]
    return values, offsets


def minimize(
    derivatives: Callable[[Array], Derivatives],
    start: Array,
    lower: Array,
    upper: Array,
    *,
    max_step: float = np.inf,
    max_iter: int = 100,
) -> tuple[Array, float, bool]:
    """Newton's method inside a box, damped: returns the point, its value, and whether it converged.

    Eigenvalues of the Hessian are taken by their size, so every step descends, negative curvature
    or not; a step that leaves the box is cut at its walls, one that does not descend is halved. The
    last step, which promises less than 1e-12, is taken unseen: Newton squares an error that small.
    """
    theta = np.clip(start, lower, upper)
    value, gradient, hessian = derivatives(theta)
    for _ in range(max_iter):
        free = ~(((theta <= lower) & (gradient >= 0)) | ((theta >= upper) & (gradient <= 0)))
        step = np.zeros_like(theta)
        step[free] = _descent(gradient[free], hessian[np.ix_(free, free)])
        step *= min(1.0, max_step / max(np.abs(step).max(), 1e-300))
        decrement = -float(gradient @ step)
        if decrement < 1e-12:
            return np.clip(theta + step, lower, upper), value - decrement / 2, True
        for _ in range(50):
            trial = np.clip(theta + step, lower, upper)
            trial_value, trial_gradient, trial_hessian = derivatives(trial)
            if trial_value <= value:
                break
            step /= 2.0
        else:
            return theta, value, False
        theta, value, gradient, hessian = trial, trial_value, trial_gradient, trial_hessian
    return theta, value, False


def _descent(gradient: Array, hessian: Array) -> Array:
    """−|H|⁻¹ g in units that make H's diagonal one, with a floor under the curvature."""
    unit = 1.0 / np.sqrt(np.maximum(np.abs(np.diag(hessian)), 1e-200))
    eigenvalues, vectors = np.linalg.eigh(hessian * unit * unit[:, None])
    size = np.maximum(np.abs(eigenvalues), 1e-10)
    return -unit * (vectors @ ((vectors.T @ (unit * gradient)) / size))

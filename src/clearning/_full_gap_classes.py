"""What landmarks cost where there are many classes: `_full_gap`, with a column a class.

The weights sᵢ are in the simplex, Rᵢ = κ pᵢ(sᵢ − e_c), and with intercepts each column of R sums to
zero. Scaling R by c leaves (1−c)e_c + c s in the simplex. The ℓ₁ penalty's threshold holds for
each entry of K(R + λH), or with groups for the ℓ₂ norm of each row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from clearning._full_gap import Array, Pair

# Turns of the scaling that evens out the classes' weights; what is left is made up for later.
_TURNS = 2000
_EVEN = 1e-17


@dataclass(frozen=True)
class ClassPair(Pair):
    """A primal point of the full problem of many classes, and the dual points made of it."""

    @property
    def offsets(self) -> Array:
        """What is added to the scores."""
        offset = self.target.offset
        return (
            np.zeros((len(self.target.codes), self.target.n_classes)) if offset is None else offset
        )

    @property
    def own(self) -> Array:
        """e_c for each sample."""
        return np.eye(self.target.n_classes)[self.target.codes]

    def weights(self) -> Array:
        """Return s, the loss's dual weights at the scores."""
        return self.fit.loss.weights(self.scores, self.target.codes)

    def balanced(self, s: Array) -> Array:
        """Return weights whose residual sums to zero over the samples, class by class.

        What flows from class to class, M_cj = Σ pᵢsᵢⱼ over the samples of class c, is balanced by a
        scaling d_c/d_j of it (Osborne).
        """
        if not self.fit_intercept:
            return s
        codes, shares, m = self.target.codes, self.target.shares, self.target.n_classes
        others = np.where(self.own > 0, 0.0, s)
        flow = np.zeros((m, m))
        np.add.at(flow, codes, shares[:, None] * others)
        d = _scaling(flow)
        others *= (d[:, None] / d)[codes]
        total = others.sum(axis=1)
        others /= max(1.0, float(total.max()))
        return others + self.own * (1.0 - others.sum(axis=1, keepdims=True))

    def residual(self, s: Array) -> Array:
        """Return R; what a sample's own class loses is what the others get, without rounding."""
        others = np.where(self.own > 0, 0.0, s)
        change = others - self.own * others.sum(axis=1, keepdims=True)
        return self.fit.loss.scale(self.target.n_classes) * self.target.shares[:, None] * change

    def losses(self) -> Array:
        """Return the loss of each sample."""
        return self.fit.loss.value(self.scores, self.target.codes)

    def conjugates(self, s: Array, c: float) -> Array:
        """Return φ* of each sample where R is scaled by c."""
        return self.fit.loss.conjugate((1.0 - c) * self.own + c * s, self.target.codes)

    def steepness(self, pulls: Array) -> Array:
        """Return the largest pull of each sample's function, or the norm of its pulls."""
        return np.linalg.norm(pulls, axis=1) if self.fit.grouped else np.abs(pulls).max(axis=1)

    def norm(self) -> float:
        """Return ‖B‖."""
        coef = self.fit.coef
        return float(np.linalg.norm(coef, axis=1).sum() if self.fit.grouped else np.abs(coef).sum())


def _scaling(flow: Array) -> Array:
    """Return d such that what each class gives of flow_cj d_c/d_j is what it gets."""
    d: Any = np.ones(len(flow))
    for _ in range(_TURNS):
        uneven = 0.0
        for k in range(len(flow)):
            gives, gets = d[k] * (flow[k] / d).sum(), (flow[:, k] * d).sum() / d[k]
            uneven = max(uneven, abs(gives - gets))
            if gives > 0 and gets > 0:
                d[k] *= np.sqrt(gets / gives)
        if uneven <= _EVEN * flow.sum():
            break
    return d
